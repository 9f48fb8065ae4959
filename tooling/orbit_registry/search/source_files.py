"""What the tracked source files say of records: which they cite, and which packages they import.

Each file is read once; the cache keeps what it says until its content or the question changes.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from orbit_registry.errors import GitError, GitStoppedError
from orbit_registry.formats.citations import IdForms, numbered_name
from orbit_registry.formats.globs import Glob, matches, readable_globs
from orbit_registry.formats.sources import SOURCE_LIMIT, is_readable_source, is_source
from orbit_registry.model.record import Record
from orbit_registry.workspace.cache import digest
from orbit_registry.workspace.files import without_sites
from orbit_registry.workspace.workspace import ORBIT, Workspace, git_folder

if TYPE_CHECKING:
    from orbit_registry.search.named_records import NamedRecords


MANY = 5_000
"""Files from which on git is asked which of them changed: to look at each takes 10 µs."""


class SourceFile(NamedTuple):
    """What one file says: the names that it cites, each with its place, and what it imports."""

    names: Sequence[Sequence[Any]]
    """As JSON, the fields of a `SourceName`."""
    imports: Sequence[str]


class SourceCitation(NamedTuple):
    """A name that a file cites at a place."""

    path: str
    line: int
    column: int
    name: str
    is_sure: bool
    is_history: bool
    is_denial: bool


def packages_of(records: Iterable[Record]) -> tuple[str, ...]:
    """Return the packages and modules that the scopes of records which are not closed name."""
    names: set[str] = set()
    for record in records:
        if record.phase != "closed":
            names.update(record.uses)

    return tuple(sorted(names))


@dataclass(frozen=True)
class SourceFiles:
    """The tracked files of code and configuration, read for what they say of some records."""

    workspace: Workspace
    records: Sequence[Record]
    tracked: Sequence[str]

    @cached_property
    def imported(self) -> Mapping[str, Sequence[str]]:
        """The packages and modules of `packages_of` that each file imports, by its path."""
        if not self._packages:
            return {}

        return {path: file.imports for path, file in self._files.items() if file.imports}

    @cached_property
    def unimported(self) -> tuple[str, ...]:
        """The packages and modules of `packages_of` that no file imports."""
        imported = set().union(*self.imported.values())
        return tuple(name for name in self._packages if name not in imported)

    @cached_property
    def cited(self) -> Mapping[str, Sequence[Record]]:
        """The records that each file cites, by its path.

        A name that may mean several records cites none. Nor does a file with made-up ids, which
        the configuration excludes from the files that cite.
        """
        by_path = {record.path: record for record in self.records}
        cited: dict[str, Sequence[Record]] = {}
        for path, file in self._files.items():
            if self._has_made_up_ids(path):
                continue

            records = [by_path[name] for name in self._lines(file)]
            if records:
                cited[path] = records

        return cited

    def citations(self) -> Iterator[SourceCitation]:
        """Yield each name that a file cites, at each place; none of files with made-up ids."""
        for path, file in self._files.items():
            if file.names and not self._has_made_up_ids(path):
                for name, line, column, *flags in file.names:
                    yield SourceCitation(path, line, column, name, *flags)

    def find(self, name: str) -> Record | None:
        """Return the one record that a name means; None where none or several answer to it."""
        return self._named.find(name)

    def is_missing(self, name: str) -> bool:
        """Say whether a name has the form of this project's, and nothing in it answers to it."""
        return self._named.is_missing(name)

    def states(self) -> Iterator[str]:
        """Yield lines that change if a file cites or imports something else.

        Also if another file may be meant by the name of a document.
        """
        for path, file in self._files.items():
            names = sorted({str(each[0]) for each in file.names})
            yield "\0".join((path, *names, "", *file.imports))

        sources = (record.source for record in self.records if record.kind.in_document)
        documents = {source.path.rpartition("/")[2] for source in sources if source is not None}
        yield from (path for path in self.tracked if path.rpartition("/")[2] in documents)

    def lines(self, path: str) -> Mapping[str, int]:
        """Return the line at which a file first cites each record now, by the record's path."""
        file = self._file(path)
        if file is None or self._has_made_up_ids(path):
            return {}

        return self._lines(file)

    def imports(self, path: str) -> Sequence[str]:
        """Return the packages and modules of `packages_of` that a file imports now."""
        file = self._file(path)
        if file is None:
            return ()

        return file.imports

    def _file(self, path: str) -> SourceFile | None:
        row = self._rows([path]).get(path)
        if row:
            return SourceFile(*row)

        return None

    def _lines(self, file: SourceFile) -> dict[str, int]:
        lines: dict[str, int] = {}
        for name, line, *_ in file.names:
            record = self._named.find(name)
            if record is not None:
                lines.setdefault(record.path, line)
        return lines

    @cached_property
    def _files(self) -> Mapping[str, SourceFile]:
        rows = self._rows(self.tracked) if len(self.tracked) < MANY else self._rows_of_many()
        return {path: SourceFile(*row) for path, row in rows.items() if row}

    def _rows_of_many(self) -> Mapping[str, Sequence[Any]]:
        """Return the rows of many files: git says which of them are as the commit has them, and
        what those say is one value of the cache.
        """
        git = self.workspace.git
        try:
            head = git.head()
            changed = set(git.unlike_head(untracked=False)) if head is not None else set()
        except GitStoppedError:
            raise
        except GitError:
            head = None

        # Of a sparse checkout git does not say which files are there.
        folder = git_folder(self.workspace.root)
        if head is None or folder is None or (folder / "info/sparse-checkout").exists():
            return self._rows(self.tracked)

        def read() -> list[object]:
            rows = self._rows([path for path in self.tracked if path not in changed])
            return [sorted(changed), {path: row for path, row in rows.items() if row}]

        key = digest(head, self._namespace, self._design_folders)
        unread, rows = self.workspace.cache.memo("sources at a commit", key, read)
        tracked = set(self.tracked)
        again = changed.union(unread) & tracked
        settled = {path: row for path, row in rows.items() if path in tracked - again}
        return dict(sorted({**settled, **self._rows(sorted(again))}.items()))

    def _rows(self, paths: Sequence[str]) -> Mapping[str, Sequence[Any]]:
        """Return what source files say as rows, empty for nothing; others are left out."""
        sources = [path for path in paths if is_source(path) is not False]
        if sources:
            sources = without_sites(sources, self.workspace.root)

        return self._read([path for path in sources if self._is_outside(path)])

    def _is_outside(self, path: str) -> bool:
        """Say whether a file is in no folder of design documents, and behind no link."""
        return not path.startswith(self._design_folders) and self._is_real(posixpath.dirname(path))

    def _is_real(self, folder: str) -> bool:
        """Say whether neither a folder nor one above it, up to the root, is a link."""
        new: list[str] = []
        while folder and folder not in self._folders:
            new.append(folder)
            folder = posixpath.dirname(folder)

        is_real = self._folders.get(folder, True)
        root = self.workspace.root
        for name in reversed(new):
            is_real = is_real and not Path(f"{root}/{name}").is_symlink()
            self._folders[name] = is_real

        return is_real

    def _has_made_up_ids(self, path: str) -> bool:
        return any(matches(glob, path) for glob in self._excluding)

    @cached_property
    def _excluding(self) -> list[Glob]:
        """The globs of files that the configuration excludes from those that cite."""
        config = self.workspace.config
        return [glob for glob in readable_globs((*config.citations, *config.code)) if glob.exclude]

    @cached_property
    def _folders(self) -> dict[str, bool]:
        """What `_is_real` said of a folder."""
        return {}

    @cached_property
    def _design_folders(self) -> tuple[str, ...]:
        config = self.workspace.config
        folders = (ORBIT, config.design, config.adr.folder, *config.adr.folders)
        return tuple(f"{folder}/" for folder in folders if folder not in ("", "."))

    def _read(self, paths: Sequence[str]) -> Mapping[str, Sequence[Any]]:
        rows = self.workspace.cache.files(
            self._namespace,
            self.workspace.root,
            paths,
            partial(_row, self._forms, self._packages),
            limit=SOURCE_LIMIT,
        )
        return {path: row.value or () for path, row in rows.items()}

    @cached_property
    def _namespace(self) -> str:
        """What the cache calls the answers: it says what is asked."""
        has_parsers = bool(self._packages) and find_spec("ast_grep_py") is not None
        return f"source {digest(str(self._forms), self._packages, has_parsers)[:16]}"

    @cached_property
    def _packages(self) -> tuple[str, ...]:
        return packages_of(self.records)

    @cached_property
    def _forms(self) -> IdForms:
        """The forms of ids, and those of earlier names with numbers."""
        forms = self.workspace.kinds.id_forms
        words: set[str] = set()
        for record in self.records:
            names = map(numbered_name, record.legacy_ids)
            words.update(name.word for name in names if name is not None)

        series = sorted({f"{word}-" for word in words}.difference(forms.numbered, forms.coded))
        return replace(forms, numbered=(*forms.numbered, *series))

    @cached_property
    def _named(self) -> NamedRecords:
        # A sync that finds the same names as before has no use for it.
        from orbit_registry.search.named_records import NamedRecords

        return NamedRecords(self.workspace.git, self.records, self.tracked)


def _row(forms: IdForms, packages: Sequence[str], path: str, content: bytes) -> object:
    """Return what the cache keeps of a file: nothing where it says nothing."""
    if not is_readable_source(path, content):
        return []

    from orbit_registry.operations.citations import names_in_source  # few files are read anew

    text = content.decode("utf-8-sig", "replace").replace("\r\n", "\n")
    names = [list(each) for each in names_in_source(text, path, forms)]
    imports: list[str] = []
    if packages:
        # Few projects name packages, and the parsers take 30 ms to import.
        from orbit_registry.formats.imports import imported_names

        imports = imported_names(path, text, packages)

    if names or imports:
        return [names, imports]

    return []
