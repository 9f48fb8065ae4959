"""Renames that git knows, and the new names in the records that depend on the files."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from itertools import chain
from typing import Any

from orbit_registry.formats.globs import Glob, matches, parse_glob
from orbit_registry.model.freshness import created_at, fingerprint_inputs
from orbit_registry.model.record import Record
from orbit_registry.operations.freshness.evaluate import (
    PLACE_IN_FILE,
    FreshnessReport,
    dead_globs,
    evaluate_freshness,
)
from orbit_registry.operations.glob_counts import count_matches
from orbit_registry.repository.codec import list_in, mapping_in
from orbit_registry.repository.guard import write_step
from orbit_registry.workspace.git_log import commits, steps_since
from orbit_registry.workspace.journal import FileChange, unified_diff
from orbit_registry.workspace.workspace import Workspace

_LOST = ("--find-renames", "--diff-filter=DR")
"""Options for what was renamed or removed."""
_UNWRITABLE = re.compile("[\x00-\x1f\x7f\ud800-\udfff]")
"""What no record names: one such file would keep the names of all others from being corrected."""
_SPECIAL = re.compile(r"[*?\[\]{}]")
PATHS, SYMBOLS, CHECKS = "scope.paths", "scope.symbols", "checks"
INPUTS, EVIDENCE = "freshness.fingerprint", "evidence"
"""Fields of a record that name files."""


_NEARLY_ALL = 0.9
"""Share of the moved files that a new name has to lead to."""
_MOST_DESTINATIONS = 3
_MOST_COMMITS = 10_000
"""Newest commits in which renames are looked for: a comparison of all files takes its time."""


class Renames:
    """Which files were renamed, and to what in the end; `files` are those that are there now.

    A pair without a new name is a file that was removed.
    """

    def __init__(self, pairs: Iterable[tuple[str, str]], files: Iterable[str]) -> None:
        ends: dict[str, str] = {}
        starts: dict[str, set[str]] = {}
        self._lost: set[str] = set()
        for old, new in pairs:
            self._lost.add(old)
            if not new:
                continue

            carried = starts.pop(old, set()) | {old}
            ends.update(dict.fromkeys(carried, new))
            starts.setdefault(new, set()).update(carried)

        self._files = frozenset(files)
        self._ends = {
            old: new
            for old, new in ends.items()
            if new in self._files and old not in self._files and not _UNWRITABLE.search(new)
        }

    def __bool__(self) -> bool:
        return bool(self._ends)

    def path(self, text: str) -> str | None:
        """Return where a file or folder is now; None where git knows of no move,
        or it went several ways.
        """
        if text in self._ends:
            return self._ends[text]

        folder = text.rstrip("/")
        inside = {old: new for old, new in self._ends.items() if old.startswith(f"{folder}/")}
        target = _common_folder(folder, inside)
        if target is None or _is_above(target, folder):
            return None
        if not _is_nearly_all([new.startswith(f"{target}/") for new in inside.values()]):
            return None

        if text.endswith("/"):
            return f"{target}/"

        return target

    def glob(self, text: str) -> str | None:
        """Return the glob that matches what this one matched before;
        None where that can't be said.
        """
        moved = self._moved_from(text)
        for candidate in _candidates(text, moved) if moved else ():
            if self._leads_to(candidate, moved):
                return candidate.glob

        return None

    def destinations(self, text: str) -> list[tuple[str, int]]:
        """Return where the files of a glob are now, as globs with how many files each,
        the most first.
        """
        moved = self._moved_from(text)
        prefix = _literal_prefix(text)
        below = text.removeprefix(f"{prefix}/")
        globs: Counter[str] = Counter()
        for old, new in sorted(moved.items()):
            target = _folder_after(prefix, old, new)
            is_folder = target and below != text
            globs[f"{target}/{below}" if is_folder else new] += 1

        return globs.most_common(_MOST_DESTINATIONS)

    def has_lost(self, text: str) -> bool:
        """Say whether a file that a glob matched was removed or renamed."""
        glob = parse_glob(text)
        return isinstance(glob, Glob) and any(matches(glob, old) for old in self._lost)

    def has_moved(self, text: str) -> bool:
        """Say whether a file that a glob matched was renamed."""
        return bool(self._moved_from(text))

    def _moved_from(self, text: str) -> Mapping[str, str]:
        glob = parse_glob(text)
        if not isinstance(glob, Glob) or glob.exclude:
            return {}
        return {old: new for old, new in self._ends.items() if matches(glob, old)}

    def _leads_to(self, candidate: "_Candidate", moved: Mapping[str, str]) -> bool:
        glob = parse_glob(candidate.glob)
        if not isinstance(glob, Glob):
            return False
        if not _is_nearly_all([matches(glob, new) for new in moved.values()]):
            return False
        if candidate.may_match_others:
            return True

        others = self._files.difference(self._ends.values())
        return not any(matches(glob, file) for file in others)


def renames_since(workspace: Workspace, start: datetime | str, files: Sequence[str]) -> Renames:
    """Return git's renames and removals since a moment or a commit, in the history and the work
    tree.
    """
    memo, words = "lost-since-commit", ["HEAD", f"^{start}"]
    if isinstance(start, datetime):
        memo, words = "lost-since-moment", [f"--since={start.isoformat()}", "HEAD"]

    def history() -> list[list[str]]:
        counted = ("rev-list", "--max-count=1", f"--skip={_MOST_COMMITS}", *words, "--")
        words.extend(f"^{oldest}" for oldest in git.run(*counted, check=False).decode().split())
        listed = commits(git, "--topo-order", "--reverse", *_LOST, *words, "--")
        steps = chain.from_iterable(commit.steps for commit in listed)
        pairs = ([step.before, step.after] for step in steps)
        return [[old, new] for old, new in pairs if not _UNWRITABLE.search(f"{old}{new}")]

    git = workspace.git
    earlier = workspace.cache.memo(memo, f"{git.head()} {start}", history)
    steps = steps_since(git, "HEAD", *_LOST, check=False)
    uncommitted = [(step.before, step.after) for step in steps]
    return Renames(((old, new) for old, new in (*earlier, *uncommitted)), files)


@dataclass(frozen=True, slots=True)
class _Candidate:
    glob: str
    may_match_others: bool = False
    """Whether it may match files that were not moved: a folder that was there before."""


def _candidates(text: str, moved: Mapping[str, str]) -> Iterator[_Candidate]:
    """Yield globs that may match the files of a glob where they are now, the most likely first."""
    if not _SPECIAL.search(text) and text in moved:
        yield _Candidate(moved[text], may_match_others=True)

    prefix = _literal_prefix(text)
    folder = _common_folder(prefix, moved) if prefix else None
    if folder is not None and text.startswith(f"{prefix}/"):
        below = text.removeprefix(f"{prefix}/")
        is_apart = not _is_above(folder, prefix)
        yield _Candidate(f"{folder}/{below}" if folder else below, may_match_others=is_apart)

    names = {_changed_names(old, new) for old, new in moved.items()}
    before, after = names.pop()
    if not names and f"/{before}/" in f"/{text}/":
        yield _Candidate(f"/{text}/".replace(f"/{before}/", f"/{after}/", 1)[1:-1])


def _changed_names(old: str, new: str) -> tuple[str, str]:
    """Return the part of a path that a move changed, and what it is now: whole names."""
    before, after = old.split("/"), new.split("/")
    while len(before) > 1 and len(after) > 1 and before[0] == after[0]:
        del before[0], after[0]
    while len(before) > 1 and len(after) > 1 and before[-1] == after[-1]:
        del before[-1], after[-1]

    return "/".join(before), "/".join(after)


def _literal_prefix(text: str) -> str:
    glob = parse_glob(text)
    if isinstance(glob, Glob):
        return glob.literal_prefix

    return ""


def _is_nearly_all(fits: Sequence[bool]) -> bool:
    return bool(fits) and sum(fits) >= _NEARLY_ALL * len(fits)


def _is_above(target: str, folder: str) -> bool:
    """Say whether a folder holds another one, so that its files are not all the moved ones."""
    return not target or folder.startswith(f"{target}/")


def _folder_after(folder: str, old: str, new: str) -> str | None:
    """Return the folder that a file below a folder moved to; None where its name changed too."""
    start = len(folder) + 1 if folder else 0
    tail = f"/{old[start:]}"
    if f"/{new}".endswith(tail):
        return f"/{new}".removesuffix(tail)[1:]

    return None


def _common_folder(folder: str, moved: Mapping[str, str]) -> str | None:
    """Return the folder that most files of a folder moved to."""
    targets = Counter(_folder_after(folder, old, new) for old, new in moved.items())
    del targets[None]
    if not targets:
        return None

    target, _ = targets.most_common(1)[0]
    if target != folder:
        return target

    return None


@dataclass(frozen=True, slots=True)
class DanglingNames:
    """What a record names that is not there any more, each with its field."""

    record: Record
    names: Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Move:
    """One name in a record: its field, the old and the new name;
    None where the new one is unknown.
    """

    record: Record
    field: str
    old: str
    new: str | None
    destinations: Sequence[tuple[str, int]] = ()
    """Where the files of a glob are now that has no new name: globs with how many files each."""
    waits: bool = False
    """Whether it is a glob that never lost a file: it waits for its first one."""


@dataclass(frozen=True, slots=True)
class Relocation:
    """Every lost name with what became of it, and the changes of files that follow."""

    moves: tuple[Move, ...] = ()
    changes: tuple[FileChange, ...] = field(default=(), repr=False)

    @property
    def diff(self) -> str:
        """The changes as one unified diff."""
        return unified_diff(self.changes)


def moves_of(lost: DanglingNames, renames: Renames) -> Iterator[Move]:
    """Yield what became of the names that a record has lost."""
    for field_name, text in lost.names:
        new = _new_name(field_name, text, renames)
        if new is not None:
            yield Move(lost.record, field_name, text, new)
        elif not text.startswith("!"):  # what excludes nothing is no loss
            is_glob = field_name in (PATHS, CHECKS)
            destinations = renames.destinations(text) if is_glob else []
            waits = is_glob and not renames.has_lost(text)
            yield Move(lost.record, field_name, text, None, destinations, waits)


def _new_name(field_name: str, text: str, renames: Renames) -> str | None:
    if field_name in (PATHS, CHECKS):
        sign = "!" if text.startswith("!") else ""
        glob = renames.glob(text.removeprefix("!"))
        if glob is not None:
            return f"{sign}{glob}"

        return None

    path, tail = _split(field_name, text)
    new = renames.path(path)
    if new is not None:
        return f"{new}{tail}"

    return None


def _split(field_name: str, text: str) -> tuple[str, str]:
    """Return the path in a name, and what follows it."""
    if field_name == EVIDENCE:
        path = PLACE_IN_FILE.sub("", text)
        return path, text.removeprefix(path)

    mark = "::" if field_name == SYMBOLS else "#"
    path, separator, name = text.partition(mark)
    return path, f"{separator}{name}"


def with_moves(data: Mapping[str, object], moves: Iterable[Move]) -> Mapping[str, object]:
    """Return the data of a record with the new names of what moved."""
    names = {(move.field, move.old): move.new for move in moves if move.new is not None}
    fields = {field_name for field_name, _ in names}
    result = dict(data)

    def renamed(field_name: str, entry: Any, key: str) -> dict[str, object]:
        return {**entry, key: names.get((field_name, str(entry[key])), entry[key])}

    def all_renamed(field_name: str, texts: Iterable[object]) -> list[object]:
        return [*dict.fromkeys(names.get((field_name, str(text)), text) for text in texts)]

    for field_name in fields & {PATHS, SYMBOLS}:
        scope, key = mapping_in(result, "scope"), field_name.partition(".")[2]
        result["scope"] = {**scope, key: all_renamed(field_name, list_in(scope, key))}

    if INPUTS in fields:
        freshness = mapping_in(data, "freshness")
        inputs = list_in(freshness, "fingerprint")
        fingerprint = [renamed(INPUTS, entry, "input") for entry in inputs]
        result["freshness"] = {**freshness, "fingerprint": fingerprint}

    if EVIDENCE in fields:
        evidence = list_in(data, "evidence")
        for at, entry in enumerate(evidence):
            if isinstance(entry, Mapping) and entry["kind"] == "file":
                evidence[at] = renamed(EVIDENCE, entry, "reference")

        result["evidence"] = evidence

    if CHECKS in fields:
        checks: list[Any] = list_in(data, "checks")
        for at, entry in enumerate(checks):
            moved = dict(entry)
            for key in {"in", "except"} & moved.keys():
                moved[key] = all_renamed(CHECKS, moved[key])

            checks[at] = moved

        result["checks"] = checks

    return result


RenamesFrom = Callable[[datetime | str, Sequence[str]], Renames | None]
"""Returns the renames since a moment or a commit; None where git can't tell."""


def moves_by_record(
    records: Iterable[Record], state: FreshnessReport, renames_from: RenamesFrom
) -> Mapping[str, Sequence[Move]]:
    """Return what became of the names that records have lost, by the record's path."""
    lost = dangling_names(records, state)
    if not lost or state.tracked is None:
        return {}

    start = min(created_at(dangling.record) for dangling in lost)
    renames = renames_from(start, state.files)
    if renames is None:
        return {}

    return {dangling.record.path: [*moves_of(dangling, renames)] for dangling in lost}


def follow_renames(workspace: Workspace, records: Sequence[Record], *, write: bool) -> Relocation:
    """Return where git saw go, since the records were made, what they name;
    `write` puts the new names into them.
    """
    # This brings ruamel, which the gate does without.
    from orbit_registry.repository.writer import prepare_edit, writing

    state = evaluate_freshness(workspace, records)
    moves = moves_by_record(records, state, partial(renames_since, workspace))
    changes: list[FileChange] = []

    with writing(workspace) if write else nullcontext():
        for of_record in moves.values():
            if any(move.new is not None for move in of_record):
                # `updated_at` stays, because nothing was reviewed.
                edit, record = partial(with_moves, moves=of_record), of_record[0].record
                changes.append(prepare_edit(workspace, record, edit, touch=False)[0])

        if write and changes:
            write_step(workspace, "follow-renames", changes)

    return Relocation(tuple(chain.from_iterable(moves.values())), tuple(changes))


def dangling_names(records: Iterable[Record], state: FreshnessReport) -> list[DanglingNames]:
    """Return what pending and live records name that is not there."""
    filesystem = state.filesystem
    missing_inputs = {name for name, input_ in filesystem.inputs.items() if input_.is_missing}
    missing_files = {name for kind, name in filesystem.missing if kind == "file"}

    records = [record for record in records if record.phase != "closed"]
    in_checks = _globs_of_checks(records) if state.tracked is not None else {}
    of_checks = count_matches(set().union(*in_checks.values()), state.files)
    with_dead = [record for record in records if state.dead.get(record.path)]
    excluding = set(chain.from_iterable(map(_excluding, with_dead)))
    of_excluding = count_matches(excluding, state.files)

    lost: list[DanglingNames] = []
    for record in records:
        names = [(PATHS, text) for text in state.dead.get(record.path, ())]
        if names:  # what excludes counts with others alone
            dead = [text for text in _excluding(record) if text not in of_excluding]
            names += [(PATHS, f"!{text}") for text in dead]

        names += [(SYMBOLS, text) for text in state.dead_symbols.get(record.path, ())]
        inputs = (entry.input for entry in fingerprint_inputs(record))
        names += [(INPUTS, name) for name in inputs if name in missing_inputs]
        files = (name for kind, name in record.evidence if kind == "file")
        names += [(EVIDENCE, name) for name in files if name in missing_files]
        in_check = in_checks.get(record.path, ())
        names += [(CHECKS, text) for text in dead_globs(in_check, of_checks)]

        if names:
            lost.append(DanglingNames(record, names))

    return lost


def _excluding(record: Record) -> list[str]:
    """Return the globs that exclude files from a scope, without their sign."""
    return [text.removeprefix("!") for text in record.globs if text.startswith("!")]


def _globs_of_checks(records: Iterable[Record]) -> Mapping[str, tuple[str, ...]]:
    by_record: dict[str, tuple[str, ...]] = {}
    for record in records:
        globs: dict[str, None] = {}
        for entry in list_in(record.data, "checks"):
            if isinstance(entry, Mapping):
                globs |= dict.fromkeys(map(str, (*list_in(entry, "in"), *list_in(entry, "except"))))

        if globs:
            by_record[record.path] = tuple(globs)

    return by_record
