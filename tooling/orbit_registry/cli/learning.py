"""`orbit learning`: the shared verbs, and by their old names those that every kind has elsewhere."""

from __future__ import annotations

from orbit_registry.cli.freshness import prune, verify
from orbit_registry.cli.kind_group import kind_group

group = kind_group("learning")
group.add_command(verify)
group.add_command(prune)
