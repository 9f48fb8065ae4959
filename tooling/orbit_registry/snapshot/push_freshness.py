"""Says which compiled records may be out of date, by what they rest on; it judges nothing itself and writes no index.

What was seen is remembered with the stamps of the files it was seen in: only what changed is read and hashed again.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import chain
from pathlib import PurePosixPath

from orbit_registry.checks.matching import count_matches
from orbit_registry.errors import GitError
from orbit_registry.push import reader
from orbit_registry.push.compile import BETWEEN, EVIDENCE, INPUT, SOURCE, TAKEN
from orbit_registry.push.pack import SYMBOL, Part, resting_on, rests_near
from orbit_registry.push.reader import LIST, Index
from orbit_registry.records.freshness import Found, Sight, derive
from orbit_registry.records.record import Record
from orbit_registry.store.cache import NEVER, settled
from orbit_registry.store.facts import gone
from orbit_registry.store.freshness.fingerprints import Fingerprints
from orbit_registry.store.freshness.ground import Ground, files_named, look, moved
from orbit_registry.store.kept import KeptValue
from orbit_registry.store.manifest import Stamp
from orbit_registry.store.sealed import stamp_of
from orbit_registry.store.value_cache import code_version
from orbit_registry.store.workspace import Workspace

SEEN, INPUTS = "ground-seen", "ground-inputs"
GONE: Stamp = (0, 0, -2, 0)
"""Stands for the stamp of a file that is not there."""
_BEGINNING = datetime.min.replace(tzinfo=UTC)
"""Before it nothing has expired or aged: those two are told when an index is read."""


class Seen:
    """What was seen of all that records rest on when an index of a key was made."""

    def __init__(self, workspace: Workspace, key: str) -> None:
        self._workspace = workspace
        self._kept = KeptValue(workspace, SEEN, key)
        self._stamps = _unpacked(self._kept.value)
        self._now: Mapping[str, object] = {}

    def changed(self, known: Mapping[str, Stamp]) -> frozenset[str] | None:
        """Return the files that changed since; None where anything else did, or nothing is known.

        `known` are stamps that were asked for a moment ago.
        """
        workspace, seen, stamps = self._workspace, self._kept.value, self._stamps
        there, commits = (seen.get(name) for name in ("there", "commits"))
        if not (stamps is not None and isinstance(there, dict) and isinstance(commits, dict)):
            return None
        root = workspace.root
        if any(os.path.lexists(f"{root}/{path}") is not was for path, was in there.items()):
            return None
        if commits and _commits(look(workspace, Ground((), _of("commit", commits)), ())) != commits:
            return None
        if seen["strays"] is not None and _digest(_untracked(workspace)) != seen["strays"]:
            return None
        return frozenset(
            path
            for path, was in stamps.items()
            if known.get(path) != was and (was == NEVER or _stamp(f"{root}/{path}", None) != was)
        )

    def marked(self, index: Index, changed: frozenset[str]) -> dict[int, Part] | None:
        """Return the records of an index of the same key, by number, of which one made now would say something else,
        because these files changed; None where that is to be found out by making it.

        Only what rests on them is judged again, and only where they are the origin of a text.
        """
        began, workspace, stamps = time.time_ns(), self._workspace, self._stamps or {}
        bad = self._kept.value.get("bad")
        now = {path: _stamp(f"{workspace.root}/{path}", began) for path in changed}
        if not isinstance(bad, list) or any(GONE in (now[path], stamps.get(path, GONE)) for path in changed):
            return None
        near = rests_near(index, INPUT, changed)
        touched = {one for one in near if one[0] != EVIDENCE and _may_rest(one, changed)}
        if any(one[0] == INPUT for one in touched):
            return None
        taken = {(said, known) for known, said in (_pair(one) for one in touched if one[0] == TAKEN)}
        sight = Sight(moved=moved(workspace, taken))
        turned = {one for one in touched if (one in bad) is not _is_bad(one, sight, frozenset())}
        by_rest = {one: resting_on(index, one) for one in turned}
        turned = {one for one in turned if by_rest[one] or one in bad}
        judged = _Judged(sight, {one for one in touched if (one in bad) is not (one in turned)}, {}, frozenset())
        found = {}
        for number in {number for one in turned for number in by_rest[one]}:
            row = index.row(number)
            if row is None or row.flags & reader.LOST or not touched.issuperset(row.words(reader.RESTS)):
                return None
            found[number] = _judged(workspace, Part(tuple(row.values), row.flags, pushed=True), judged)
        self._now = {"bad": sorted(turned.symmetric_difference(bad)), **_packed({**stamps, **now})}
        return found

    def keep(self) -> None:
        """Remember what `marked` saw, once there is an index that says so."""
        self._kept.keep({**self._kept.value, **self._now})


def _packed(stamps: Mapping[str, Stamp]) -> dict[str, object]:
    return {"files": list(stamps), "stamps": list(chain.from_iterable(stamps.values()))}


def _unpacked(kept: Mapping[str, object]) -> dict[str, Stamp] | None:
    files, numbers = kept.get("files"), kept.get("stamps")
    if not (isinstance(files, list) and isinstance(numbers, list)):
        return None
    return dict(zip(files, zip(*(numbers[column::4] for column in range(4)), strict=True), strict=True))


def _may_rest(rest: str, changed: frozenset[str]) -> bool:
    said, _, subject = rest[1:].partition(BETWEEN)
    if rest[0] != INPUT:
        return (said if rest[0] == SOURCE else subject) in changed
    folder = f"{PurePosixPath(subject).as_posix()}/".removeprefix("./")
    return any(path in subject or path.startswith(folder) for path in changed)


def with_doubts(workspace: Workspace, parts: Sequence[Part], tracked: Sequence[str] | None, key: str) -> list[Part]:
    """Return the parts with the cause of those that are out of date, and remember under a key what was seen.

    `tracked` are the tracked files from the root, sorted; None outside git.
    """
    began = time.time_ns()
    pushed = [part for part in parts if part.pushed]
    rests = {one for part in pushed if part.row[reader.RESTS] for one in part.row[reader.RESTS].split(LIST)}
    inputs = sorted({one.partition(BETWEEN)[2] for one in rests if one[0] == INPUT})
    evidence = sorted((kind, said) for kind, said in (_pair(one) for one in rests if one[0] == EVIDENCE))
    documents = {one[1:] for one in rests if one[0] == SOURCE}
    taken = {(said, known) for known, said in (_pair(one) for one in rests if one[0] == TAKEN)}
    lost = {part.row[reader.PATH]: _globs(part) for part in pushed if part.flags & reader.LOST}

    seen = _Inputs(workspace, tracked or (), began)
    found = seen.found(inputs, tracked)
    sight = look(workspace, Ground((), tuple(evidence)), tracked)
    there = {path: os.path.lexists(f"{workspace.root}/{path}") for path in _places(evidence)}
    strays: Sequence[str] | None = None
    if tracked is not None and (lost or _may_be_untracked(sight, there)):
        strays = _untracked(workspace)
        sight = look(workspace, Ground((), tuple(evidence)), tracked, strays)
        counts = count_matches({glob for globs in lost.values() for glob in globs}, strays)
        lost = {path: globs for path, globs in lost.items() if not any(glob in counts for glob in globs)}
    homeless = frozenset(gone(workspace.root, documents))
    sight = replace(sight, inputs=found, moved=moved(workspace, taken))
    bad = {one for one in rests if _is_bad(one, sight, homeless)}
    stamps = {path: _stamp(f"{workspace.root}/{path}", began) for path in {*seen.paths, *documents, *dict(taken)}}
    kept = {**_packed(stamps), "there": there, "commits": _commits(sight), "bad": sorted(bad)}
    KeptValue(workspace, SEEN, key).keep({**kept, "strays": None if strays is None else _digest(strays)})
    judged = _Judged(sight, bad, lost, homeless)
    return [_judged(workspace, part, judged) if bad or lost or _is_marked(part) else part for part in parts]


@dataclass(frozen=True, slots=True)
class _Judged:
    sight: Sight
    bad: set[str]
    """What makes a record that rests on it stale, or may."""
    lost: Mapping[str, Sequence[str]]
    homeless: frozenset[str]


def _is_marked(part: Part) -> bool:
    """Say whether a part says of itself that it is out of date or may become it."""
    return bool(part.row[reader.STALE] or part.flags & reader.DOUBTED or part.row[reader.AGES_AT])


def _judged(workspace: Workspace, part: Part, seen: _Judged) -> Part:
    row = part.row
    rests = row[reader.RESTS].split(LIST) if row[reader.RESTS] and seen.bad else []
    cause = ""
    if part.pushed and (row[reader.PATH] in seen.lost or not seen.bad.isdisjoint(rests)):
        kind = workspace.kinds[row[reader.KIND]]
        record = Record(kind, _stated(rests, row[reader.PATH] if kind.in_file else ""), row[reader.PATH])
        freshness = derive(record, seen.sight, _BEGINNING, nowhere=seen.lost, homeless=seen.homeless)
        cause = freshness.cause.value if freshness.cause is not None else ""
    flags = part.flags & ~reader.DOUBTED | (reader.DOUBTED if cause or row[reader.AGES_AT] else 0)
    if row[reader.STALE] == cause and part.flags == flags:
        return part
    return part._replace(row=(*row[: reader.STALE], cause, *row[reader.STALE + 1 :]), flags=flags)


def _stated(rests: Iterable[str], own: str) -> Mapping[str, object]:
    """Return what a record's file says of what it rests on; `own` is that file where its text is a whole one."""
    inputs: list[dict[str, str]] = []
    evidence: list[dict[str, str]] = []
    data: dict[str, object] = {"freshness": {"fingerprint": inputs}}
    for one in rests:
        said, _, subject = one[1:].partition(BETWEEN)
        if one[0] == INPUT:
            inputs.append({"input": subject, "hash": said} if said else {"input": subject})
        elif one[0] == EVIDENCE:
            evidence.append({"kind": said, "reference": subject})
        elif one[0] == TAKEN:
            data |= {"path": subject, "content_hash": said}
        elif own:
            folder = f"{own.rpartition('/')[0]}/"
            data |= {"file": said.removeprefix(folder)} if said.startswith(folder) else {"path": said}
        else:
            data["source"] = {"path": said}
    return {**data, "evidence": evidence} if evidence else data


def _is_bad(rest: str, sight: Sight, homeless: frozenset[str]) -> bool:
    said, _, subject = rest[1:].partition(BETWEEN)
    if rest[0] == EVIDENCE:
        return (said, subject) in sight.gone
    if rest[0] == SOURCE:
        return said in homeless
    if rest[0] == TAKEN:
        return (subject, said) in sight.moved
    found = sight.inputs[subject]
    return not found.is_untold and (found.problem is not None or bool(said and said != found.hash))


def _globs(part: Part) -> list[str]:
    return [one for one in part.row[reader.GLOBS].split(LIST) if not one.startswith(("!", SYMBOL))]


# ------------------------------------------------------------------------------------------------------ what is seen


class _Inputs:
    """The inputs of fingerprints: hashed where their files changed, else as they were."""

    def __init__(self, workspace: Workspace, tracked: Sequence[str], began_ns: int) -> None:
        self._root, self._tracked, self._began = workspace.root, tracked, began_ns
        self._kept = KeptValue(workspace, INPUTS, code_version())
        self.paths: set[str] = set()
        """Every file whose change may change an input."""

    def found(self, inputs: Iterable[str], tracked: Sequence[str] | None) -> dict[str, Found]:
        """Return what each input is now."""
        reading = Fingerprints(self._root, tracked)
        found: dict[str, Found] = {}
        kept: dict[str, object] = {}
        for text in inputs:
            mark = self._mark(text)
            held = self._kept.value.get(text)
            if mark and isinstance(held, list) and held[0] == mark:
                found[text] = Found(*held[1:])
            else:
                found[text] = reading.find(text)
            if mark:
                one = found[text]
                kept[text] = [mark, one.hash, one.problem, one.is_missing, one.is_untold]
        if kept != self._kept.value:
            self._kept.keep(kept)
        return found

    def _mark(self, text: str) -> str:
        """Return what tells an input from its other selves; empty where its files may still change unseen."""
        paths = [text, *(text[:place] for place, character in enumerate(text) if character == "#")]
        if (self._root / text).is_dir():
            paths += self._below(text)
        self.paths.update(paths)
        stamps = [_stamp(f"{self._root}/{path}", self._began) for path in paths]
        return _digest([*paths, *stamps]) if NEVER not in stamps else ""

    def _below(self, folder: str) -> Iterator[str]:
        name = PurePosixPath(folder).as_posix()
        prefix = "" if name == "." else f"{name}/"
        for place in range(bisect_left(self._tracked, prefix), len(self._tracked)):
            if not self._tracked[place].startswith(prefix):
                return
            yield self._tracked[place]


def _stamp(path: str, began_ns: int | None) -> Stamp:
    """Return a file's stamp, or GONE; with a moment, NEVER where a write since could leave the same one."""
    try:
        stamp = stamp_of(os.lstat(path))
    except (OSError, ValueError):
        return GONE
    return stamp if began_ns is None else settled(stamp, began_ns) or NEVER


def _pair(rest: str) -> tuple[str, str]:
    kind, _, reference = rest[1:].partition(BETWEEN)
    return kind, reference


def _of(kind: str, references: Iterable[str]) -> tuple[tuple[str, str], ...]:
    return tuple((kind, reference) for reference in references)


def _commits(sight: Sight) -> dict[str, bool]:
    return {said: is_there for is_there, found in ((True, sight.there), (False, sight.gone))
            for kind, said in sorted(found) if kind == "commit"}  # fmt: skip


def _places(evidence: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Yield the paths that evidence may mean."""
    for kind, reference in evidence:
        if kind == "file":
            yield from files_named(reference)


def _may_be_untracked(sight: Sight, there: Mapping[str, bool]) -> bool:
    """Say whether evidence that git does not track may be a file that it would add."""
    return any(kind == "task" or any(there[path] for path in _places([(kind, said)])) for kind, said in sight.gone)


def _untracked(workspace: Workspace) -> Sequence[str]:
    """Return the files that git would add, sorted."""
    try:
        return workspace.git.untracked()
    except GitError:
        return ()


def _digest(texts: Iterable[object]) -> str:
    return hashlib.sha256(json.dumps(list(texts)).encode()).hexdigest()
