"""One run of checks over the files of a project, of today and before a change."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib.util import find_spec
from itertools import chain
from pathlib import Path

from orbit_enforce.allowances import Allow
from orbit_enforce.change import CodeChange
from orbit_enforce.kind import FILE_LIMIT, Survey, Tree, decoded
from orbit_enforce.matches import (
    Break,
    FileMatches,
    Readers,
    Scopes,
    Side,
    new_breaks,
    read_file,
    scopes_of,
)
from orbit_enforce.report import Report
from orbit_enforce.spec import DecisionCheck
from orbit_registry.formats.code_tree import NotRunError, UnreadableError
from orbit_registry.formats.syntax import syntax_of
from orbit_registry.workspace.cache import digest

TIME_LIMIT_SECONDS = 60.0
_LFS_POINTER = "version https://git-lfs.github.com/spec/"
"""What a file begins with whose content is not checked out."""


@dataclass
class Run:
    """One run over the tree."""

    checks: Mapping[str, DecisionCheck]
    """By their names."""
    tree: Tree
    report: Report
    change: CodeChange | None = None
    paths: Collection[str] | None = None
    """The files to read, without the cache; else those of the change, or all."""
    needed: set[tuple[str, Allow]] = field(default_factory=set)
    """The allowances that allow something, each with its file."""
    added: dict[str, set[int]] = field(default_factory=dict)
    """The lines that the change adds, by file."""

    def breaks(self) -> Iterator[tuple[DecisionCheck, list[Break]]]:
        """Yield each check with what breaks it, and did not before the change;
        what can't be run is reported.
        """
        for name, check in self.checks.items():
            if name in self.blind and not self.change:
                continue

            try:
                rows = [*self.side.breaks(check)]
                self.needed.update((row.path, row.allow) for row in rows if row.allow)
                if rows and self._before is not None and not check.is_reference:
                    rows = new_breaks(rows, self._before.breaks(check), self._is_added)
            except NotRunError as error:
                self.report.add(check, "ORB1004", f"{name} is not run: {error}")
            else:
                yield check, rows

    @cached_property
    def scopes(self) -> Scopes:
        """Which files each check is about."""
        return scopes_of(self.checks, self.tree.paths)

    @cached_property
    def blind(self) -> frozenset[str]:
        """The checks that look at no file, and should."""
        read = set(chain.from_iterable(self.scopes.readers.values()))
        blind: set[str] = set()
        for name, check in self.checks.items():
            if isinstance(check.finder, Survey):
                may_find_none = check.must == "have" or check.is_reference
                looks = may_find_none or bool(self.scopes.files[name])
            else:
                looks = name in read

            if not looks:
                blind.add(name)

        return frozenset(blind)

    @cached_property
    def side(self) -> Side:
        """The files of today."""
        earlier = self.change.earlier if self.change is not None else {}
        paths = self.paths
        if paths is None and self.change is not None:
            paths = earlier

        readers = self.scopes.readers
        if paths is not None:
            readers = {path: names for path, names in readers.items() if path in paths}

        if self.paths is None:
            values = self._stored(readers)
        else:
            values = self._read(readers, self.tree.text)

        def files_of(check: DecisionCheck) -> Sequence[str]:
            return self.scopes.files[check.name]

        return Side(self.tree, readers, values, files_of, earlier)

    @cached_property
    def _before(self) -> Side | None:
        """The files before the change; in a moved one also what the checks of its name now find."""
        change = self.change
        if change is None:
            return None

        readers = scopes_of(self.checks, change.before).readers
        moved = [path for path, old in change.earlier.items() if old not in ("", path)]
        for path, names in scopes_of(self.checks, moved).readers.items():
            old = change.earlier[path]
            readers[old] = list(dict.fromkeys([*readers.get(old, ()), *names]))

        readers = {path: names for path, names in readers.items() if path in change.texts}
        tree = change.tree_before(self.tree)

        def files_of(check: DecisionCheck) -> Sequence[str]:
            return list(filter(check.covers, tree.paths))

        return Side(tree, readers, self._read(readers, tree.text), files_of)

    def _read(self, readers: Readers, text: Callable[[str], str | None]) -> dict[str, FileMatches]:
        return {
            path: read_file(map(self.checks.__getitem__, names), path, text(path) or "")
            for path, names in readers.items()
        }

    def _stored(self, readers: Readers) -> dict[str, FileMatches]:
        """Return what the checks find in each file;
        unchanged files and checks are answered by the cache.
        """
        # Of the processor: a busy machine is no reason.
        deadline = time.process_time() + TIME_LIMIT_SECONDS
        reasons: dict[str, str] = {}
        """Why files are not read."""

        def parse(path: str, content: bytes) -> object:
            if time.process_time() > deadline:
                reasons[path] = f"not reached in {TIME_LIMIT_SECONDS:.0f} s"
                return None

            names = readers[path]
            try:
                text = decoded(content, path)
                if text.startswith(_LFS_POINTER):
                    raise UnreadableError("Git LFS has its content: `git lfs pull` brings it")
            except UnreadableError as error:
                return FileMatches({}, not_run=dict.fromkeys(names, str(error))).as_json()

            return read_file(map(self.checks.__getitem__, names), path, text).as_json()

        workspace = self.report.workspace
        digests = {name: check.digest for name, check in self.checks.items()}
        key = [find_spec("ast_grep_py") is None, digests]
        namespace = f"enforce {digest(key)[:16]}"
        states = workspace.cache.files(namespace, workspace.root, readers, parse, limit=FILE_LIMIT)

        values: dict[str, FileMatches] = {}
        for path, state in states.items():
            is_large = state.error is not None and state.size > FILE_LIMIT
            if state.value is not None:
                values[path] = FileMatches.from_json(state.value)
            elif is_large and _is_text(workspace.root / path):
                reasons[path] = f"larger than {FILE_LIMIT:,} bytes"

        absent = readers.keys() - values.keys() - reasons.keys()
        if absent and self.change is not None:
            left_out = absent & workspace.git.not_checked_out
            reasons |= dict.fromkeys(left_out, "a sparse checkout leaves it out")

        for path, reason in reasons.items():
            values[path] = FileMatches({}, not_run=dict.fromkeys(readers[path], reason))

        return values

    def _is_added(self, row: Break) -> bool:
        if row.match is None or self.change is None:
            return True
        if row.path not in self.added:
            text = self.tree.text(row.path) or ""
            self.added[row.path] = self.change.added_lines(row.path, text)

        return not self.added[row.path].isdisjoint(range(row.match.line, row.match.end_line + 1))

    def allows_before(self, path: str) -> Sequence[Allow]:
        """Return the allowances that a file had before the change."""
        before = self._before
        old = before.values.get(self.side.earlier.get(path, "")) if before is not None else None
        if old is not None:
            return old.allows

        return ()

    def is_unread(self, path: str) -> bool:
        """Say whether a file that checks should read is too large, in an unknown encoding, or left
        out of the checkout.
        """
        workspace = self.report.workspace
        file = workspace.root / path
        if not file.exists() and path in workspace.git.not_checked_out:
            return True
        if file.is_symlink() or not file.is_file() or self.tree.text(path) is not None:
            return False
        return file.stat().st_size <= FILE_LIMIT or _is_text(file)


def _is_text(file: Path) -> bool:
    """Say whether a file is code by its name, or has no NUL in its beginning."""
    if syntax_of(file.name) is not None:
        return True

    with file.open("rb") as stream:
        return b"\0" not in stream.read(8_000)
