"""Evidence of checks in `.orbit/enforcement.yaml`:
replays, labels, promotions, and what a level demands.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, cast

from orbit_registry.enforce.spec import LEVELS, DecisionCheck
from orbit_registry.errors import RefusedError, UsageError, plural
from orbit_registry.formats.position import YamlProblemError
from orbit_registry.formats.yaml import dump, load
from orbit_registry.formats.yaml_edit import rewrite
from orbit_registry.repository.guard import write_step
from orbit_registry.repository.writer import writing
from orbit_registry.workspace.author import Author
from orbit_registry.workspace.files import read_text, write_atomic
from orbit_registry.workspace.journal import FileChange
from orbit_registry.workspace.workspace import ORBIT, Workspace

FILE = f"{ORBIT}/enforcement.yaml"
MOST_FALSE_ALARMS, LEAST_PRECISION = 0.01, 0.8
FEWEST_EXCEPTIONS, MOST_EXCEPTIONS = 3, 0.2
"""Number and share of a check's matches that are allowed or labelled false from which on it counts
as advice.
"""
_COMMENT = (
    "What replays of checks found, and who promoted them; `orbit enforce` rewrites this file."
)
Evidence = Mapping[str, Any]
"""What a replay found of one check, and what people said of it."""
_FIELDS = {"digest", "relevant", "edited_away", "kept"}
_COUNTS = ("relevant", "edited_away", "introduced", "deleted", "replayed", "allowed")
_LARGEST = 1 << 53


def read_evidence(workspace: Workspace, base: str | None = None) -> dict[str, dict[str, Any]]:
    """Return the evidence in the work tree or in a commit by the name of the check;
    none where there is no file.
    """
    file = workspace.root / FILE
    if base is not None:
        text = (workspace.git.read(base, FILE) or b"").decode("utf-8", "replace")
    else:
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
        and isinstance(labels := entry.get("labels", {}), dict)
        and all(isinstance(value, bool) for value in labels.values())
    )


def _text(evidence: Mapping[str, Evidence]) -> str:
    return dump({"schema_version": 1, "checks": dict(sorted(evidence.items()))}, comment=_COMMENT)


def write_replay(workspace: Workspace, name: str, data: Evidence, keys: Collection[str]) -> None:
    """Write what a replay found into the evidence;
    labels of matches that are still there, by their keys, stay.
    """
    with writing(workspace):
        evidence = read_evidence(workspace)
        labels = {
            key: value
            for key, value in evidence.get(name, {}).get("labels", {}).items()
            if key in keys
        }
        evidence[name] = {**data, **({"labels": labels} if labels else {})}
        write_atomic(workspace.root / FILE, _text(evidence))


def label(workspace: Workspace, name: str, key: str, is_true: bool) -> None:
    """Note whether a match that is still there breaks the decision."""
    with writing(workspace):
        evidence = read_evidence(workspace)
        entry = evidence.get(name)
        if entry is None or key not in [row["key"] for row in entry["kept"]]:
            raise UsageError(
                f"no kept match of {name} has the key {key!r}",
                hint=f"`orbit enforce replay {name}`",
            )

        entry["labels"] = {**entry.get("labels", {}), key: is_true}
        write_atomic(workspace.root / FILE, _text(evidence))


def promote(workspace: Workspace, check: DecisionCheck, author: Author) -> str:
    """Raise a check by one level, if its evidence is enough; return the new level."""
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
    with writing(workspace):
        evidence = read_evidence(workspace)
        missing = refusal(check, level, evidence.get(check.name))
        if missing:
            hint = "see docs/guides/enforce.md in Orbit's documentation"
            hint = (
                f"`orbit enforce try {check.record.id}` shows what is wrong"
                if check.problems
                else hint
            )
            raise RefusedError(f"{check.name} can't have level {level}: {missing}", hint=hint)

        evidence[check.name]["promoted"] = {
            "to": level,
            "by": author.name,
            "at": f"{datetime.now(UTC):%Y-%m-%d}",
        }

        before = read_text(workspace.root / check.record.path)
        data = cast("dict[str, Any]", load(before))
        checks = [dict(row) for row in data["checks"]]
        checks[check.number]["level"] = level
        changes = [
            FileChange(check.record.path, before, rewrite(before, {**data, "checks": checks}))
        ]
        write_step(workspace, "enforce-promote", changes, author=author)

        write_atomic(workspace.root / FILE, _text(evidence))

    return level


def is_stale(check: DecisionCheck, files: Sequence[Mapping[str, Evidence]]) -> bool:
    """Say whether a check above advice has another digest than the evidence in each of some
    files.
    """
    entries = [file.get(check.name) for file in files]
    is_fresh = any(entry is None or entry["digest"] == check.digest for entry in entries)
    return (
        bool(entries)
        and not is_fresh
        and check.level != "advice"
        and check.library_version is not None
    )


def refusal(check: DecisionCheck, level: str, entry: Evidence | None) -> str:
    """Return why the evidence is not enough for a level; empty if it is."""
    if check.problems:
        return "its examples do not hold"
    if entry is None:
        return f"it was never replayed; run `orbit enforce replay {check.name}`"
    if entry["digest"] != check.digest:
        return f"it changed after its replay; run `orbit enforce replay {check.name}` again"

    if excess := exceptions_of(entry):
        return (
            f"{excess[0]} of its {excess[1]} matches are allowed or false alarms; narrow it, "
            f"and replay it again"
        )

    if level == "warning":
        return ""

    labels = entry.get("labels", {})
    unlabelled = [row["key"] for row in entry["kept"] if row["key"] not in labels]
    if unlabelled:
        count = plural(len(unlabelled), "kept match has", "kept matches have")
        return f"{count} no label: `orbit enforce label {check.name} {unlabelled[0]} true|false`"

    false = sum(not value for value in labels.values())
    true = entry["edited_away"] + len(labels) - false

    if not are_rare(false, entry["relevant"]):
        count = (
            f"{plural(false, 'false alarm')} in {plural(entry['relevant'], 'change')} of its files"
        )
        return (
            f"{count} may be a rate above {MOST_FALSE_ALARMS:.0%}; none in 299 changes is "
            f"enough, or 1 in 473"
        )

    total = true + false
    if total and least_precision(true, total) < LEAST_PRECISION:
        target = f"a precision of {least_precision(true, total):.2f} at least"
        return (
            f"{true} of {total} matches were right, which shows {target}; {LEAST_PRECISION} "
            f"is needed"
        )

    return ""


def exceptions_of(entry: Evidence, allowed: int = 0, matches: int = 0) -> tuple[int, int] | None:
    """Return exceptions and matches of a check that has too many of the first; None for any other.

    `allowed` and `matches` are what the files have now; what the last replay found counts where
    they are less.
    """
    allowed = max(allowed, entry.get("allowed", 0))
    exceptions = allowed + sum(not value for value in entry.get("labels", {}).values())
    total = max(entry.get("introduced", 0), matches, exceptions)
    is_many = exceptions >= FEWEST_EXCEPTIONS and exceptions >= MOST_EXCEPTIONS * total
    return (exceptions, total) if is_many else None


def replay_text(check: DecisionCheck, entry: Evidence) -> str:
    """Return in a line what a replay of a check found, and what people said of it."""
    labels = entry.get("labels", {})
    remaining = f"{len(entry['kept'])} kept"
    if labels:
        right = sum(labels.values())
        remaining += f" ({right} right, {len(labels) - right} false)"

    stale = "" if entry["digest"] == check.digest else "; the check changed since"
    return (
        f"{entry.get('replayed', 0):,} commits, {entry['relevant']:,} changed its files; of "
        f"{entry.get('introduced', 0):,} matches {entry['edited_away']:,} edited away, "
        f"{entry.get('deleted', 0):,} "
        f"deleted, {remaining}{stale}"
    )


def are_rare(events: int, trials: int) -> bool:
    """Say whether the upper 95 % bound of a rate is low enough:
    0 false alarms in 299 changes, 1 in 473.
    """
    rate = MOST_FALSE_ALARMS
    if events >= rate * trials:
        return False

    terms = (
        math.exp(
            math.lgamma(trials + 1)
            - math.lgamma(count + 1)
            - math.lgamma(trials - count + 1)
            + count * math.log(rate)
            + (trials - count) * math.log1p(-rate)
        )
        for count in range(events + 1)
    )
    return sum(terms) <= 0.05


def least_precision(true: int, total: int) -> float:
    """Return Wilson's lower 95 % bound of a share: 16 of 16 give 0.81."""
    z, share = 1.96, true / total
    centre = share + z * z / (2 * total)
    return (centre - z * math.sqrt(share * (1 - share) / total + z * z / (4 * total * total))) / (
        1 + z * z / total
    )
