"""Merges three versions of one record field by field, and of its votes by line; it reads and writes no file."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from orbit_registry.formats.position import YamlProblemError
from orbit_registry.formats.yaml import load
from orbit_registry.formats.yaml_edit import means, rewrite
from orbit_registry.model.kind import Kind
from orbit_registry.operations.merge.state import SIDES, data_in
from orbit_registry.repository.codec import decode_record
from orbit_registry.repository.votes import FIELDS
from orbit_registry.workspace.git import merge_lines

_ABSENT = object()
_LATEST = ("updated_at",)
_UNMERGED_LISTS = ("freshness.fingerprint",)
_VERIFIED = ("fingerprint", "verified_at", "verified_by")
_FAILURE, _ATTEMPTS = "failure", "attempts"
_FAILURE_FIELDS = ("title", "reason", "ttl_days")
"""What a failure says anew each time its target fails."""


@dataclass(frozen=True, slots=True)
class RecordMerge:
    """A merged record file; None where it can't be told, with why, in words."""

    text: str | None
    contested: tuple[str, ...] = ()


def merge_records(base: str | None, ours: str, theirs: str, kind: Kind, path: str) -> RecordMerge:
    """Return the merge of two versions of one record's file.

    A field that one side changed is taken from it; lists take what either side added and lose what either removed;
    of two times of change the later one stands, and of two verifications the later. A failure that both met again
    says what the later one says, and counts the attempts of both. What else both changed differently is contested, and
    named. A base that can't be read counts as none.

    Raises:
        GitError: git is missing.
    """
    if ours == theirs or theirs == base:
        return RecordMerge(ours)
    if ours == base:
        return RecordMerge(theirs)
    try:
        old, here, there = data_in(base) or {}, load(ours), load(theirs)
    except YamlProblemError as error:
        return RecordMerge(None, (f"one side is not valid YAML: {error.problem.message}",))
    if not isinstance(here, dict) or not isinstance(there, dict):
        return RecordMerge(None, ("one side is not a mapping",))
    contested: list[str] = []
    _take_later(old, here, there, kind)
    merged = _merged(old, here, there, "", contested)
    if contested or not isinstance(merged, dict):
        return RecordMerge(None, tuple(contested))
    text = _text(base, ours, theirs, merged, kind)
    if text is None:
        return RecordMerge(None, ("a comment was added or changed on both sides",))
    record, problems = decode_record(text, kind, path)
    if record is None:
        return RecordMerge(None, tuple(f"the merge is not valid: {problem.message}" for problem in problems))
    return RecordMerge(text)


def _take_later(base: Mapping[str, object], ours: dict[str, object], theirs: dict[str, object], kind: Kind) -> None:
    """Where both sides verified a record, let both say what the later one says, as if it had followed the other."""
    old, here, there = _freshness(base), _freshness(ours), _freshness(theirs)
    if old.get("verified_at") in (here.get("verified_at"), there.get("verified_at")):
        return
    earlier, later = sorted((ours, theirs), key=lambda data: (str(_freshness(data).get("verified_at", "")), str(data)))
    freshness = {**_freshness(earlier)}
    _replace(old, freshness, _freshness(later), _VERIFIED)
    earlier["freshness"] = freshness
    if kind.name == _FAILURE:
        _replace(base, earlier, later, _FAILURE_FIELDS)
        counts = [count for data in (base, ours, theirs) if isinstance(count := data.get(_ATTEMPTS), int)]
        if len(counts) == len(SIDES) and counts[0] not in counts[1:]:
            ours[_ATTEMPTS] = theirs[_ATTEMPTS] = counts[1] + counts[2] - counts[0]


def _freshness(data: Mapping[str, object]) -> Mapping[str, object]:
    value = data.get("freshness")
    return value if isinstance(value, Mapping) else {}


def _replace(
    base: Mapping[str, object], earlier: dict[str, object], later: Mapping[str, object], names: Iterable[str]
) -> None:
    """Put the later side's values of what both sides changed in place of the earlier ones."""
    for name in names:
        if base.get(name) not in (earlier.get(name), later.get(name)):
            if name in later:
                earlier[name] = later[name]
            else:
                earlier.pop(name)


def _merged(base: object, ours: object, theirs: object, name: str, contested: list[str]) -> object:
    """Return the merge of one value; `_ABSENT` stands for a field that is not there."""
    if ours == theirs or theirs == base:
        return ours
    if ours == base:
        return theirs
    if isinstance(ours, Mapping) and isinstance(theirs, Mapping):
        old = base if isinstance(base, Mapping) else {}
        result: dict[str, object] = {}
        for key in dict.fromkeys((*ours, *theirs)):
            sides = [side.get(key, _ABSENT) for side in (old, ours, theirs)]
            value = _merged(sides[0], sides[1], sides[2], f"{name}.{key}".lstrip("."), contested)
            if value is not _ABSENT:
                result[key] = value
        return result
    if isinstance(ours, list) and isinstance(theirs, list) and name not in _UNMERGED_LISTS:
        base_items = base if isinstance(base, list) else []
        own_items = [entry for entry in ours if entry in theirs or entry not in base_items]
        return own_items + [entry for entry in theirs if entry not in ours and entry not in base_items]
    if name in _LATEST and isinstance(ours, str) and isinstance(theirs, str):
        return max(ours, theirs)
    contested.append(f"`{name}` is {_excerpt(ours)} in ours, {_excerpt(theirs)} in theirs")
    return ours


def _excerpt(value: object) -> str:
    if value is _ABSENT:
        return "removed"
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 80 else f"{text[:79]}…"


def _text(base: str | None, ours: str, theirs: str, merged: dict[str, object], kind: Kind) -> str | None:
    """Return the merged values as a text that keeps the comments of both sides; None where it can't."""
    if base is not None:
        lines, conflict = merge_lines(base, ours, theirs)
        if not conflict and means(lines, merged):
            return lines
    try:
        text = rewrite(ours, merged, order=kind.schema.properties)
    except YamlProblemError:
        return None
    kept_comments = {*_comments(text), *_comments(base or "")}
    return text if all(comment in kept_comments for comment in _comments(theirs)) else None


def _comments(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.lstrip().startswith("#")]


def merge_votes(ours: str, theirs: str) -> str:
    """Return the votes of both sides, each once, the earliest of those that are the same; a torn line is kept too."""
    newline = "\r\n" if "\r\n" in ours else "\n"
    votes: dict[object, str] = {}
    for line in (*ours.splitlines(), *theirs.splitlines()):
        if not line.strip():
            continue
        key, at = _vote_key(line)
        earlier = votes.get(key)
        if earlier is None or at < _vote_key(earlier)[1]:
            votes[key] = line
    return "".join(f"{line}{newline}" for line in votes.values())


def _vote_key(line: str) -> tuple[object, str]:
    """Return what makes two lines the same vote, and when it was given."""
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return line, ""
    if not isinstance(row, dict) or set(row) != set(FIELDS) or not all(isinstance(row[name], str) for name in FIELDS):
        return line, ""
    return (row["learning_id"], row["voter_model"], row["task_id"]), row["voted_at"]
