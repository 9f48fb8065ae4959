"""What both YAML readers raise, and how they name a value; reads nothing, so that neither reader needs the other."""

from __future__ import annotations

from orbit_registry.text.position import Problem

Pointer = tuple[str | int, ...]
"""The way to a value: mapping keys and list indexes, from the root."""

MALFORMED = "ORB102"


class YamlProblemError(ValueError):
    """A text is not the YAML we accept; `problem` says what and where."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.message)
        self.problem = problem
