"""Packages and modules that a change adds, as imports and dependencies, each with its line."""

from collections.abc import Collection, Iterator
from typing import NamedTuple

from orbit_registry.errors import OrbitError
from orbit_registry.formats.manifests import ManifestError, dependencies, is_manifest
from orbit_registry.formats.sources import SOURCE_LIMIT, is_foreign
from orbit_registry.hook.rejected_options import names_in
from orbit_registry.workspace.files import inside, read_bytes
from orbit_registry.workspace.workspace import ORBIT, Workspace

MOST_FILES = 2_000
"""Files of a change that are read; a larger change is a move or an import of others' code."""


class AddedName(NamedTuple):
    """A package or module, and where the change adds it first."""

    name: str
    path: str
    line: int


def added_names(
    workspace: Workspace, base: str, changed: Collection[str] | None
) -> tuple[AddedName, ...]:
    """Return what the changed files import and depend on now, and none of them did at a commit."""
    paths = sorted(path for path in changed or () if not _is_left_out(path))
    if not paths or len(paths) > MOST_FILES:
        return ()

    git = workspace.git
    blobs = {f"{base}:{git.prefix}{path}": path for path in paths}

    # Names of all files at once: what moves from one to another is not added.
    known: set[str] = set()
    for blob, content in git.blobs(blobs, check=False).items():
        known.update(name for name, _ in _names(blobs[blob], _text(content)))

    added: list[AddedName] = []
    for path in paths:
        for name, line in _names(path, _current(workspace, path)):
            if name not in known:
                known.add(name)
                added.append(AddedName(name, path, line))

    return tuple(added)


def _names(path: str, text: str) -> Iterator[tuple[str, int]]:
    """Yield the packages and modules that a file names, each with its line.

    A parser reads manifests and code where there is one; else the lines tell, as at the hook.
    """
    if is_manifest(path):
        try:
            yield from [(row.name, row.line) for row in dependencies(path, text)]
            return
        except ManifestError:
            pass  # half a manifest has lines, too

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


def _current(workspace: Workspace, path: str) -> str:
    try:
        return _text(read_bytes(inside(workspace.root, path), limit=SOURCE_LIMIT))
    except OrbitError:
        return ""


def _text(content: bytes) -> str:
    if len(content) > SOURCE_LIMIT or b"\0" in content:
        return ""

    return content.decode("utf-8-sig", "replace")
