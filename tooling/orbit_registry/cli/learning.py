"""`orbit learning`: the shared verbs; none is a learning's alone."""

from __future__ import annotations

from orbit_registry.cli.kind_group import kind_group

group = kind_group("learning")
