"""Renames that git knows, and the new names in the records that depend on the files."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any

from orbit_registry.formats.globs import Glob, matches, parse_glob
from orbit_registry.model.freshness import created_at, fingerprint_inputs
from orbit_registry.model.record import Record
from orbit_registry.operations.freshness.evaluate import FreshnessReport, evaluate_freshness
from orbit_registry.repository.codec import list_in, mapping_in
from orbit_registry.repository.guard import write_step
from orbit_registry.workspace.git import Git
from orbit_registry.workspace.journal import FileChange, unified_diff
from orbit_registry.workspace.workspace import Workspace

_RENAME = re.compile(r"R\d*\Z")
_UNWRITABLE = re.compile("[\x00-\x1f\x7f\ud800-\udfff]")
"""What no record names: one such file would keep the names of all others from being corrected."""
_SPECIAL = re.compile(r"[*?\[\]{}]")


class Renames:
    """Which files were renamed, and to what in the end; `files` are those that are there now."""

    def __init__(self, pairs: Iterable[tuple[str, str]], files: Iterable[str]) -> None:
        ends: dict[str, str] = {}
        starts: dict[str, set[str]] = {}
        for old, new in pairs:
            carried = starts.pop(old, set()) | {old}
            ends.update(dict.fromkeys(carried, new))
            starts.setdefault(new, set()).update(carried)

        there = frozenset(files)
        self._ends = {
            old: new
            for old, new in ends.items()
            if new in there and old not in there and not _UNWRITABLE.search(new)
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
        if target is not None and text.endswith("/"):
            return f"{target}/"

        return target

    def glob(self, text: str) -> str | None:
        """Return the glob that matches what this one matched before;
        None where that can't be said.
        """
        parsed = parse_glob(text)
        if not isinstance(parsed, Glob) or parsed.exclude:
            return None

        matched = {old: new for old, new in self._ends.items() if matches(parsed, old)}
        for candidate in _candidates(text, parsed, matched):
            glob = parse_glob(candidate)
            if isinstance(glob, Glob) and any(matches(glob, file) for file in matched.values()):
                return candidate

        return None


def renames_since(git: Git, since: datetime, files: Iterable[str]) -> Renames:
    """Return git's renames since a moment, in the history and the work tree, oldest first."""
    options = ("-M", "--diff-filter=R", "--name-status", "-z", "--relative")
    history = git.run_fields(
        "log",
        "--reverse",
        f"--since={since.isoformat()}",
        "--format=",
        *options,
        "HEAD",
        check=False,
    )

    present = git.run_fields("diff", *options, "HEAD", check=False)
    return Renames((*_pairs(history), *_pairs(present)), files)


def _pairs(answer: Sequence[str]) -> Iterator[tuple[str, str]]:
    words = (word.strip("\n") for word in answer)
    for word in words:
        if _RENAME.match(word):
            yield next(words, ""), next(words, "")


def _candidates(text: str, glob: Glob, matched: Mapping[str, str]) -> Iterator[str]:
    if not _SPECIAL.search(text) and text in matched:
        yield matched[text]

    prefix = glob.literal_prefix
    folder = _common_folder(prefix, matched) if prefix else None
    if folder is not None and text.startswith(f"{prefix}/"):
        below = text.removeprefix(f"{prefix}/")
        yield f"{folder}/{below}" if folder else below

    start, slash, name = text.rpartition("/")
    if name and not _SPECIAL.search(name) and matched:
        names = {new.rpartition("/")[2] for new in matched.values()}
        if len(names) == 1:
            yield f"{start}{slash}{names.pop()}"


def _common_folder(folder: str, moved: Mapping[str, str]) -> str | None:
    targets: Counter[str] = Counter()
    start = len(folder) + 1 if folder else 0
    for old, new in moved.items():
        tail = f"/{old[start:]}"
        if new.endswith(tail):
            targets[new.removesuffix(tail)] += 1

    if not targets:
        return None

    target, count = targets.most_common(1)[0]
    return target if count * 2 > len(moved) and target != folder else None


@dataclass(frozen=True, slots=True)
class DanglingNames:
    """What a record names that is not there any more."""

    record: Record
    globs: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()
    files: tuple[str, ...] = ()  # references of its evidence


@dataclass(frozen=True, slots=True)
class Move:
    """One name in a record: its field, the old and the new name;
    None where the new one is unknown.
    """

    record: Record
    field: str
    old: str
    new: str | None


@dataclass(frozen=True, slots=True)
class Relocation:
    """Every lost name with what became of it, and the changes of files that follow."""

    moves: tuple[Move, ...] = ()
    changes: tuple[FileChange, ...] = field(default=(), repr=False)

    @property
    def diff(self) -> str:
        """The changes as one unified diff."""
        return unified_diff(self.changes)


def _moves(lost: DanglingNames, renames: Renames) -> Iterator[Move]:
    for text in lost.globs:
        yield Move(lost.record, "scope.paths", text, renames.glob(text))

    for text in lost.inputs:
        path, mark, step = text.partition("#")
        new = renames.path(path)
        if new is not None:
            new = f"{new}{mark}{step}"

        yield Move(lost.record, "freshness.fingerprint", text, new)

    for text in lost.files:
        yield Move(lost.record, "evidence", text, renames.path(text))


def _moved(names: Mapping[tuple[str, str], str], data: dict[str, object]) -> Mapping[str, object]:
    result = dict(data)
    fields = {field for field, _ in names}

    def renamed(field: str, entry: Any, name: str) -> dict[str, object]:
        return {**entry, name: names.get((field, str(entry[name])), entry[name])}

    if "scope.paths" in fields:
        scope = mapping_in(data, "scope")
        paths = (names.get(("scope.paths", str(text)), text) for text in list_in(scope, "paths"))
        result["scope"] = {**scope, "paths": [*dict.fromkeys(paths)]}

    if "freshness.fingerprint" in fields:
        freshness = mapping_in(data, "freshness")
        inputs = list_in(freshness, "fingerprint")
        fingerprint = [renamed("freshness.fingerprint", entry, "input") for entry in inputs]
        result["freshness"] = {**freshness, "fingerprint": fingerprint}

    if "evidence" in fields:
        evidence = list_in(data, "evidence")
        for at, entry in enumerate(evidence):
            if isinstance(entry, Mapping) and entry["kind"] == "file":
                evidence[at] = renamed("evidence", entry, "reference")

        result["evidence"] = evidence

    return result


def follow_renames(workspace: Workspace, records: Sequence[Record], *, write: bool) -> Relocation:
    """Return where git saw go, since the records were made, what they name;
    `write` puts the new names into them.
    """
    # This brings ruamel, which the gate does without.
    from orbit_registry.repository.writer import prepare_edit, writing

    state = evaluate_freshness(workspace, records)
    lost = _dangling_names(records, state)
    if not lost:
        return Relocation()

    since = min(created_at(dangling.record) for dangling in lost)
    renames = renames_since(workspace.git, since, state.files)
    moves: list[Move] = []
    changes: list[FileChange] = []

    with writing(workspace) if write else nullcontext():
        for dangling in lost:
            names: dict[tuple[str, str], str] = {}
            for move in _moves(dangling, renames):
                moves.append(move)
                if move.new is not None:
                    names[move.field, move.old] = move.new

            if names:  # `updated_at` stays, because nothing was reviewed
                edit = partial(_moved, names)
                changes.append(prepare_edit(workspace, dangling.record, edit, touch=False)[0])

        if write:
            write_step(workspace, "follow-renames", changes)

    return Relocation(tuple(moves), tuple(changes))


def _dangling_names(records: Iterable[Record], state: FreshnessReport) -> list[DanglingNames]:
    lost: list[DanglingNames] = []
    dead, filesystem = state.dead, state.filesystem
    missing_inputs = {name for name, input_ in filesystem.inputs.items() if input_.is_missing}
    missing_files = {name for kind, name in filesystem.missing if kind == "file"}

    for record in records:
        if record.phase == "closed":
            continue

        globs = dead.get(record.path, ())
        names = (entry.input for entry in fingerprint_inputs(record))
        inputs = tuple(name for name in names if name in missing_inputs)
        references = (name for kind, name in record.evidence if kind == "file")
        files = tuple(name for name in references if name in missing_files)

        if globs or inputs or files:
            lost.append(DanglingNames(record, globs, inputs, files))

    return lost
