"""Packages, modules and images that a change adds, as imports and dependencies, each with its
line.
"""

from collections.abc import Collection, Iterator
from typing import NamedTuple

from orbit_registry.errors import OrbitError
from orbit_registry.formats.encodings import UndecodableError, source_text
from orbit_registry.formats.images import commands_in, images_in, is_dockerfile
from orbit_registry.formats.manifests import ManifestError, dependencies, is_manifest
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


class AddedName(NamedTuple):
    """A package or module, and where the change adds it first."""

    name: str
    path: str
    line: int


class Added(NamedTuple):
    """What a change adds, and what was not looked at."""

    names: tuple[AddedName, ...] = ()
    unread: tuple[str, ...] = ()
    """Manifests that can't be read."""
    left_out: int = 0
    """How many files of code were not read, because there are too many."""


def added_names(workspace: Workspace, base: str, changed: Collection[str] | None) -> Added:
    """Return what the changed files import and depend on now, and none of them did at a commit."""
    paths = sorted(path for path in changed or () if not _is_left_out(path))
    left_out = 0
    if len(paths) > MOST_FILES:
        manifests = [path for path in paths if _is_declaration(path)]
        left_out = len(paths) - len(manifests)
        paths = manifests

    git = workspace.git
    blobs = {f"{base}:{git.prefix}{path}": path for path in paths}

    # Names of all files at once: what moves from one to another is not added.
    known: set[str] = set()
    for blob, content in git.blobs(blobs, check=False).items():
        path = blobs[blob]
        known.update(name for name, _ in _names(path, _text(content, path) or ""))

    added: list[AddedName] = []
    unread: list[str] = []
    for path in paths:
        text = _current(workspace, path)
        if text is None:
            unread += [path] if _is_declaration(path) else []
            continue

        for name, line in _names(path, text):
            if name not in known:
                known.add(name)
                added.append(AddedName(name, path, line))

    return Added(tuple(added), tuple(unread), left_out)


def _is_declaration(path: str) -> bool:
    return is_manifest(path) or is_dockerfile(path)


def _names(path: str, text: str) -> Iterator[tuple[str, int]]:
    """Yield the packages, modules and images that a file names, each with its line.

    A parser reads manifests and code where there is one; else the lines tell, as at the hook.
    """
    yield from images_in(path, text)
    for command, start in commands_in(path, text):
        yield from ((name, start) for name in installed_by(command))

    if is_manifest(path):
        try:
            yield from [(row.name, row.line) for row in dependencies(path, text)]
            return
        except ManifestError:
            pass  # half a manifest has lines, too

    if is_dockerfile(path) or path.endswith(_DATA):
        return

    # The parsers take 30 ms to import, and only a change to code needs them.
    from orbit_registry.enforce.kinds.imports import imports_with_lines

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


def _current(workspace: Workspace, path: str) -> str | None:
    """Return the text of a file; nothing of one that is gone, None of one that can't be read."""
    try:
        file = inside(workspace.root, path)
        if not file.exists():
            return ""
        return _text(read_bytes(file, limit=DOCUMENT_LIMIT), path)
    except OrbitError:
        return None


def _text(content: bytes, path: str) -> str | None:
    """Return a text in any encoding that can be read; None of data and of what is too large."""
    if len(content) > (DOCUMENT_LIMIT if _is_declaration(path) else SOURCE_LIMIT):
        return None

    try:
        text = source_text(content, path).removeprefix("\ufeff")
    except UndecodableError:
        return None

    return None if "\0" in text else text
