"""`orbit learning`: the verbs of learnings."""

from orbit_registry.cli.kind import kind_group

group = kind_group("learning")
