"""Reads and validates the learnings named as arguments:
what the gate's schema part does, without the rest.
"""

import sys
from pathlib import Path

from orbit_registry.formats.yaml import load
from orbit_registry.model.kind import load_kinds
from orbit_registry.workspace.files import read_text

schema = load_kinds()["learning"].schema
broken = [path for path in sys.argv[1:] if not schema.is_valid(load(read_text(Path(path))))]
sys.exit(f"invalid: {broken[0]}" if broken else 0)
