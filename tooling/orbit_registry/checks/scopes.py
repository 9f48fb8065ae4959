"""Dead globs of a scope: they match no file, with the folders that may have been meant."""

import difflib
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from orbit_registry.formats.globs import Glob, parse_glob
from orbit_registry.model.record import Record
from orbit_registry.operations.freshness.evaluate import dead_globs
from orbit_registry.operations.glob_counts import count_matches
from orbit_registry.workspace.workspace import Workspace


def folders_of(files: Sequence[str]) -> dict[str, list[str]]:
    """Return the names of the folders in each folder, the root's under the empty name."""
    names_by_folder: dict[str, list[str]] = {"": []}
    for file in files:
        folder = file.rpartition("/")[0]
        while folder not in names_by_folder:
            names_by_folder[folder] = []
            folder = folder.rpartition("/")[0]

    for folder in names_by_folder:
        if folder:
            parent, _, name = folder.rpartition("/")
            names_by_folder[parent].append(name)

    return names_by_folder


_SIGNS = "[{"
_SIGN = re.compile(r"[\[{}]")
_FROM_ROOT = "globs are named from the project's root"


@dataclass(frozen=True, slots=True)
class Unmatched:
    """A glob, or a package that is imported, of a scope for which there is no file.

    Tracked files count, and those that git would add. `hint` says what may have been meant;
    `meant` is the same glob from the project's root, where that matches.
    """

    glob: str
    hint: str
    package: str = ""
    meant: str = ""

    def __str__(self) -> str:
        if self.package:
            return f"no file imports `{self.package}`: {self.hint}"
        return f"`{self.glob}` matches no file: {self.hint}"


def unmatched(
    workspace: Workspace, records: Iterable[Record], record: Record, below: str = ""
) -> list[Unmatched]:
    """Return a record's globs that match no file, and its packages that none imports.

    `records` are those of the project. `below` is the current folder, from which a glob may match.
    """
    if not (record.globs or record.uses):
        return []

    tracked, untracked = workspace.git.files()
    files = [*(tracked or ()), *untracked]
    if not files:
        return []

    dead = dead_globs(record.globs, count_matches(record.globs, files))
    folders = folders_of(files) if dead else {}
    names = frozenset(files)
    result: list[Unmatched] = []
    for text in dead:
        from_root = f"{below}/{text}"
        if below and count_matches([from_root], files):
            hint = f"{_FROM_ROOT}; did you mean `{from_root}`?"
            result.append(Unmatched(text, hint, meant=from_root))
        else:
            result.append(Unmatched(text, glob_hint(text, folders, _FROM_ROOT, names)))

    if not record.uses:
        return result

    from orbit_registry.search.source_files import SourceFiles  # few records name packages

    others = (other for other in records if other.path != record.path)
    unimported = SourceFiles(workspace, [*others, record], files).unimported
    hint = "it leads to this record once code does"
    return [
        *result,
        *(Unmatched("", hint, package=name) for name in record.uses if name in unimported),
    ]


def literal_glob(
    text: str, folders: Mapping[str, list[str]], files: Collection[str] = ()
) -> str | None:
    """Return a glob with its brackets and braces escaped where a folder or a file has such
    characters in its name: `app/[[]slug]/**` for `app/[slug]/**`; None if there is none.
    """
    parts: list[str] = []
    here = ""
    is_other = False

    for part in text.split("/"):
        path = f"{here}/{part}" if here else part
        is_name = path in folders or path in files
        is_written = is_name and any(sign in part for sign in _SIGNS)
        parts.append(_SIGN.sub(r"[\g<0>]", part) if is_written else part)
        is_other = is_other or is_written
        here = path if is_name else "\0"

    if is_other:
        return "/".join(parts)

    # Below a wildcard no folder says so: `**/[slug]/**`.
    escaped = text.replace("[", "[[]")
    if escaped != text and count_matches([escaped], [*files]):
        return escaped

    return None


def glob_hint(
    text: str, folders: Mapping[str, list[str]], otherwise: str, files: Collection[str]
) -> str:
    """Return what to write in place of a glob that matches no file;
    `otherwise` where nothing is like it.
    """
    if "," in text and "{" not in text:
        return "a comma is part of the name: name each glob on its own"

    literal = literal_glob(text, folders, files)
    if text in folders:
        return f"it is a folder: write `{literal or text}/**` for the files in it"

    if literal:
        return f"`[…]` is a class of letters, and `{{…}}` a choice: write `{literal}`"

    glob = parse_glob(text)
    prefix = glob.literal_prefix if isinstance(glob, Glob) else ""
    if not prefix or prefix in folders:
        return otherwise

    parent, _, name = prefix.rpartition("/")
    while parent and parent not in folders:
        parent, _, name = parent.rpartition("/")

    inside = f"{parent}/" if parent else ""
    if f"{inside}{name}" in files:
        return (
            f"`{inside}{name}` is a file: write `{inside}{name}`; of a submodule, whose files git "
            "does not list here, nothing is to do"
        )

    near = difflib.get_close_matches(name, folders[parent], n=1, cutoff=0.6)
    if near:
        otherwise = f"did you mean `{inside}{near[0]}`?"
    return f"`{inside}{name}` is not there; {otherwise}"
