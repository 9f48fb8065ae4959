"""`orbit learning`: the verbs of learnings."""

from orbit_registry.doors.cli.kind import kind_group

group = kind_group("learning")
