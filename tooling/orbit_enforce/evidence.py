"""What replays of checks found, in `.orbit/enforcement.yaml`, and how a person raises a level.

No level depends on the file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast

from orbit_enforce.spec import LEVELS, DecisionCheck
from orbit_registry.errors import OrbitError, RefusedError, UsageError, plural
from orbit_registry.formats.position import YamlProblemError
from orbit_registry.formats.yaml import dump, load
from orbit_registry.formats.yaml_edit import rewrite
from orbit_registry.model.diagnostic import Diagnostic, Location, Severity
from orbit_registry.repository.guard import write_step
from orbit_registry.repository.writer import writing
from orbit_registry.workspace.author import Author
from orbit_registry.workspace.files import read_text, write_atomic
from orbit_registry.workspace.journal import FileChange
from orbit_registry.workspace.workspace import ORBIT, Workspace

FILE = f"{ORBIT}/enforcement.yaml"
_COMMENT = "What replays of checks found; `orbit enforce replay` rewrites this file."
Evidence = Mapping[str, Any]
"""What a replay found of one check."""
_WITHOUT_EFFECT = ("labels", "promoted", "allowed")
"""Fields that an earlier version wrote, by which it raised and lowered levels."""
_FIELDS = {"digest", "relevant", "edited_away", "kept"}
_COUNTS = ("relevant", "edited_away", "introduced", "deleted", "replayed", "allowed")
_LARGEST = 1 << 53


def read_evidence(workspace: Workspace) -> dict[str, dict[str, Any]]:
    """Return the evidence by the name of the check; none where there is no file."""
    file = workspace.root / FILE
    text = read_text(file) if file.is_file() else ""

    try:
        value = load(text)
    except YamlProblemError as error:
        raise UsageError(
            f"{FILE}: {error.problem.message}", hint="correct it, or delete it and replay again"
        ) from None

    checks = value.get("checks") if isinstance(value, dict) else None
    entries = checks.items() if isinstance(checks, dict) else ()
    return {
        name: dict(entry) for name, entry in entries if isinstance(name, str) and _is_entry(entry)
    }


def _is_entry(entry: object) -> bool:
    return (
        isinstance(entry, dict)
        and entry.keys() >= _FIELDS
        and all(
            isinstance(count := entry.get(name, 0), int) and 0 <= count < _LARGEST
            for name in _COUNTS
        )
        and isinstance(entry["kept"], list)
        and all(isinstance(row, dict) and isinstance(row.get("key"), str) for row in entry["kept"])
    )


def _text(evidence: Mapping[str, Evidence]) -> str:
    return dump({"schema_version": 1, "checks": dict(sorted(evidence.items()))}, comment=_COMMENT)


def write_replay(workspace: Workspace, name: str, data: Evidence) -> None:
    """Write what a replay found into the evidence."""
    with writing(workspace):
        evidence = read_evidence(workspace)
        evidence[name] = dict(data)
        write_atomic(workspace.root / FILE, _text(evidence))


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


def evidence_notes(workspace: Workspace, checks: Iterable[DecisionCheck]) -> Iterator[Diagnostic]:
    """Yield notes on the evidence: what says nothing any more. No level depends on it."""
    hint = "run `orbit enforce replay ID/CHECK` again; it writes the file anew"
    try:
        evidence = read_evidence(workspace)
    except OrbitError as error:
        message = f"could not read the replays of checks: {error.message}"
        yield Diagnostic("ORB1010", Severity.NOTE, message, Location(FILE), error.hint)
        return

    by_name = {check.name: check for check in checks}
    for name, entry in sorted(evidence.items()):
        check = by_name.get(name)
        if check is None or check.library_version is None:
            continue

        record = check.record.id
        if entry["digest"] != check.digest:
            message = f"{name} changed after its replay, so its figures are of another check"
            yield Diagnostic("ORB1010", Severity.NOTE, message, Location(FILE), hint, record)

        unused = [field for field in _WITHOUT_EFFECT if field in entry]
        if unused:
            fields = " and ".join(f"`{field}`" for field in unused)
            message = f"{fields} of {name} no longer do anything: a person sets the level"
            more = "remove them, or leave them: the record's `level` counts"
            yield Diagnostic("ORB1010", Severity.NOTE, message, Location(FILE), more, record)


def replay_text(check: DecisionCheck, entry: Evidence) -> str:
    """Return in a line what a replay of a check found."""
    stale = "" if entry["digest"] == check.digest else "; the check changed since"
    commits = plural(entry.get("replayed", 0), "commit")
    introduced = plural(entry.get("introduced", 0), "match", "matches")
    return (
        f"{commits}, {entry['relevant']:,} changed its files; of {introduced} "
        f"{entry['edited_away']:,} edited away, "
        f"{entry.get('deleted', 0):,} deleted, {len(entry['kept'])} kept{stale}"
    )
