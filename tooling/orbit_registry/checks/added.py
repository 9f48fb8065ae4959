"""Packages, modules and images that a change adds, as imports and dependencies, each with its
line.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from orbit_registry.errors import OrbitError
from orbit_registry.formats.encodings import UndecodableError, source_text
from orbit_registry.formats.images import commands_in, images_in, is_dockerfile
from orbit_registry.formats.manifests import (
    ManifestError,
    dependencies,
    files_included,
    is_manifest,
    is_requirements,
    script_dependencies,
)
from orbit_registry.formats.sources import SOURCE_LIMIT, is_foreign
from orbit_registry.hook.rejected_options import installed_by, names_in
from orbit_registry.workspace.files import DOCUMENT_LIMIT, inside, read_bytes
from orbit_registry.workspace.workspace import ORBIT, Workspace

MOST_FILES = 2_000
"""Files of code of a change that are read; a larger change is a move or an import of others'
code. Manifests are always read.
"""


_DATA = (".yml", ".yaml")
"""Files whose lines are no imports."""

_REQUIREMENTS = "requirements.txt"
"""The name by which a file is read that requirements name."""


class AddedName(NamedTuple):
    """A package or module, and where the change adds it first."""

    name: str
    path: str
    line: int


class Added(NamedTuple):
    """What a change adds, and what was not looked at."""

    names: tuple[AddedName, ...] = ()
    unread: tuple[str, ...] = ()
    """Manifests that can't be read or parsed."""
    left_out: int = 0
    """How many files of code were not read, because there are too many."""


def added_names(
    workspace: Workspace, base: str, changed: Collection[str] | None, files: Iterable[str] = ()
) -> Added:
    """Return what the changed files import and depend on now, and none of them did at a commit.

    Of `files`, those of the project, requirements are read for the files that they name.
    """

    def read_now(paths: Iterable[str]) -> Mapping[str, str]:
        return {path: _current(workspace, path, is_declaration=True) or "" for path in paths}

    def read_before(paths: Iterable[str]) -> Mapping[str, str]:
        return _texts_at(workspace, base, dict.fromkeys(paths, True))

    all_changed = {*(changed or ())}
    requirements = {
        path for path in (*files, *all_changed) if is_requirements(path) and not _is_left_out(path)
    }
    included = files_included(requirements, read_now)
    included_before = files_included(requirements, read_before)

    # A file that is named only now adds all that it has.
    candidates = {path for path in all_changed if path in included or not _is_left_out(path)}
    declares = {
        path: path in included or _is_declaration(path)
        for path in sorted(candidates | (included - included_before))
    }
    left_out = 0
    if len(declares) > MOST_FILES:
        left_out = sum(not is_declaration for is_declaration in declares.values())
        declares = {path: True for path, is_declaration in declares.items() if is_declaration}

    # Names of all files at once: what moves from one to another is not added.
    known: set[str] = set()
    for path, before in _texts_at(workspace, base, declares).items():
        declared = _declared(path, before, is_included=path in included_before)
        known.update(name for name, _ in _names(path, before, declared))

    added: list[AddedName] = []
    unread: list[str] = []
    for path, is_declaration in declares.items():
        text = _current(workspace, path, is_declaration=is_declaration)
        if not text:
            unread += [path] if text is None and is_declaration else []
            continue

        declared = _declared(path, text, is_included=path in included)
        if declared is None:
            unread.append(path)

        for name, line in _names(path, text, declared):
            if name not in known:
                known.add(name)
                added.append(AddedName(name, path, line))

    return Added(tuple(added), tuple(unread), left_out)


def _is_declaration(path: str) -> bool:
    return is_manifest(path) or is_dockerfile(path)


def _declared(path: str, text: str, *, is_included: bool) -> Sequence[tuple[str, int]] | None:
    """Return what a manifest names, each with its line; None of one that can't be parsed."""
    if not is_manifest(path):
        if not is_included:
            return ()
        path = _REQUIREMENTS

    try:
        return [(row.name, row.line) for row in dependencies(path, text)]
    except ManifestError:
        return None


def _names(
    path: str, text: str, declared: Sequence[tuple[str, int]] | None
) -> Iterator[tuple[str, int]]:
    """Yield the packages, modules and images that a file names, each with its line.

    A parser reads manifests and code where there is one; else the lines tell, as at the hook.
    """
    yield from images_in(path, text)
    for command, start in commands_in(path, text):
        yield from ((name, start) for name in installed_by(command))

    # Half a manifest has lines, too.
    yield from declared or ()
    if is_manifest(path) and declared is not None:
        return

    if is_dockerfile(path) or path.endswith(_DATA):
        return

    # The parsers take 30 ms to import, and only a change to code needs them.
    from orbit_registry.formats.imports import imports_with_lines

    if path.endswith(".py"):
        yield from script_dependencies(text)

    rows = imports_with_lines(path, text)
    if rows is not None:
        yield from rows
        return

    for number, line in enumerate(text.split("\n"), 1):
        is_comment = line.lstrip().startswith("#") and not line.lstrip().startswith("#include")
        for name in () if is_comment else names_in(path, line):
            yield name, number


def _is_left_out(path: str) -> bool:
    return path.startswith(f"{ORBIT}/") or is_foreign(path)


def _texts_at(workspace: Workspace, base: str, declares: Mapping[str, bool]) -> dict[str, str]:
    """Return the texts of files at a commit; `declares` says which of them are manifests."""
    contents = workspace.git.contents(base, declares)
    return {
        path: _text(content, path, is_declaration=declares[path]) or ""
        for path, content in contents.items()
    }


def _current(workspace: Workspace, path: str, *, is_declaration: bool) -> str | None:
    """Return the text of a file; nothing of one that is gone, None of one that can't be read."""
    try:
        file = inside(workspace.root, path)
        if not file.exists():
            if path in workspace.git.not_checked_out:
                return None

            return ""
        content = read_bytes(file, limit=DOCUMENT_LIMIT)
        return _text(content, path, is_declaration=is_declaration)
    except OrbitError:
        return None


def _text(content: bytes, path: str, *, is_declaration: bool) -> str | None:
    """Return a text in any encoding that can be read; None of data and of what is too large."""
    if len(content) > (DOCUMENT_LIMIT if is_declaration else SOURCE_LIMIT):
        return None

    try:
        text = source_text(content, path).removeprefix("\ufeff")
    except UndecodableError:
        return None

    if "\0" in text:
        return None

    return text
