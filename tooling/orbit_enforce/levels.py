"""How a person raises the level of a check."""

from __future__ import annotations

from typing import Any, cast

from orbit_enforce.spec import LEVELS, DecisionCheck
from orbit_registry.errors import RefusedError
from orbit_registry.formats.yaml import load
from orbit_registry.formats.yaml_edit import rewrite
from orbit_registry.repository.guard import write_step
from orbit_registry.repository.writer import writing
from orbit_registry.workspace.author import Author
from orbit_registry.workspace.files import read_text
from orbit_registry.workspace.journal import FileChange
from orbit_registry.workspace.workspace import Workspace


def promote(workspace: Workspace, check: DecisionCheck, author: Author) -> str:
    """Raise a check by one level, as a person decides; return the new level."""
    levels = list(LEVELS)

    if author.role == "agent":
        raise RefusedError(
            "an agent may not raise the level of a check",
            hint="a person runs `orbit enforce promote`",
        )

    if check.level == levels[-1]:
        raise RefusedError(
            f"{check.name} is at level {check.level} already", hint="nothing is above it"
        )

    level = levels[levels.index(check.level) + 1]
    if check.problems:
        hint = f"`orbit enforce try {check.record.id}` shows what is wrong"
        message = f"{check.name} can't have level {level}: its examples do not hold"
        raise RefusedError(message, hint=hint)

    with writing(workspace):
        before = read_text(workspace.root / check.record.path)
        data = cast("dict[str, Any]", load(before))
        checks = [dict(row) for row in data["checks"]]
        checks[check.number]["level"] = level
        text = rewrite(before, {**data, "checks": checks})
        changes = [FileChange(check.record.path, before, text)]
        write_step(workspace, "enforce-promote", changes, author=author)

    return level
