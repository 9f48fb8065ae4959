"""Prints the CPU seconds of bringing the push index up to date; run in a repository."""

from __future__ import annotations

import gc
import time
from pathlib import Path

from orbit_registry.cli.main import FEWER_COLLECTIONS
from orbit_registry.snapshot.push_index import sync_index
from orbit_registry.store.workspace import open_workspace

gc.set_threshold(FEWER_COLLECTIONS, 20, 100)  # as the command line does, whose work this is
workspace = open_workspace(Path.cwd())
began = time.process_time()
sync_index(workspace)
print(time.process_time() - began)
