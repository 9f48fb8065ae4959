"""Coverage of tracked files: for each folder, how many of its files are in the scope of an accepted record.

A broad scope, one of more than 15 % of recent edits, counts for none. The list of files is git's; no file is opened.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from html import escape
from urllib.parse import quote

from orbit_registry.errors import GitError
from orbit_registry.formats.globs import Glob, GlobIndex, parse_glob
from orbit_registry.model.record import Record
from orbit_registry.operations.glob_counts import recent_edits
from orbit_registry.site import explorer
from orbit_registry.site.drawing import bar
from orbit_registry.site.urls import relative
from orbit_registry.snapshot.publication import Publication

MOST = 16  # most rows; the smallest folders share the last one
LARGE = 0.15  # a folder with a larger share of all files has a row for each of its folders


@dataclass(slots=True)
class Folder:
    """A folder by its path ("" is the root): the number of all files in it, and of those in a record's scope."""

    name: str
    files: int = 0
    covered: int = 0
    inner: dict[str, Folder] = field(default_factory=dict)


def coverage_of(publication: Publication, records: Iterable[Record], page: str) -> str:
    """Return the bars for a page; "" outside git, and if no live record names a path.

    Files that may not be named are not counted either.
    """
    workspace = publication.workspace
    scopes = {record.globs for record in records if record.phase == "live" and record.globs}
    try:
        tracked = workspace.git.tracked() if scopes else None
    except GitError:
        tracked = None
    orbit_folder = f"{workspace.relative(workspace.orbit)}/"
    files = [path for path in tracked or () if not path.startswith(orbit_folder) and not publication.leaves_out(path)]
    scopes -= recent_edits(workspace, tracked or ()).broad_scopes(scopes).keys()
    return coverage_html(folders(files, scopes), page)


def folders(files: Iterable[str], scopes: Iterable[Sequence[str]]) -> Folder:
    """Return the folders of some files; `scopes` are the globs of records."""
    index = GlobIndex((None, [glob for glob in map(parse_glob, globs) if isinstance(glob, Glob)]) for globs in scopes)
    root = Folder("")
    for path in files:
        covered = bool(index.match(path))
        chain = [root]
        for part in path.split("/")[:-1]:
            chain.append(chain[-1].inner.setdefault(part, Folder(f"{chain[-1].name}{part}/")))
        for folder in chain:
            folder.files += 1
            folder.covered += covered
    return root


def coverage_html(root: Folder, page: str) -> str:
    """Return a table with a bar for each folder; "" where there is no file."""
    if not root.files:
        return ""
    folders = sorted(_rows(root, root.files), key=lambda folder: (-folder.files, folder.name))
    if smaller := folders[MOST:]:
        files, covered = sum(folder.files for folder in smaller), sum(folder.covered for folder in smaller)
        folders[MOST:] = [Folder(f"{len(smaller):,} smaller folders", files, covered)]
    most = folders[0].files
    rows = "".join(_row(folder, page, most) for folder in folders)
    heads = "".join(f'<th scope="col">{name}</th>' for name in ("Folder", "Files", "With a record", "Share"))
    return (
        f'<h2 id="coverage">Coverage</h2><p>An accepted record applies to {root.covered:,} of {root.files:,} tracked '
        f"files ({_percent(root)}). Each bar is as long as its folder has files; the filled part has a record.</p>"
        f'<table class="orbit-index orbit-bars"><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>'
    )


def _percent(folder: Folder) -> str:
    return f"{round(100 * folder.covered / folder.files)} %"


def _rows(folder: Folder, total: int) -> Iterable[Folder]:
    """Yield folders that have each file once: a large one is divided into its folders and its own files."""
    inner = folder.inner.values()
    own_files = folder.files - sum(part.files for part in inner)
    is_step = len(inner) == 1 and not own_files
    if folder.name and not (is_step or (inner and folder.files > LARGE * total)):
        yield folder
        return
    for part in inner:
        yield from _rows(part, total)
    if own_files:
        yield Folder(f"{folder.name}*", own_files, folder.covered - sum(part.covered for part in inner))


def _row(folder: Folder, page: str, most: int) -> str:
    is_folder = folder.name.endswith(("/", "*"))
    path = quote(folder.name.removesuffix("*"), safe="/")
    href = relative(page, explorer.PAGE) + (f"?path={path}" if path else "")
    name = f'<a href="{escape(href)}"><code>{escape(folder.name)}</code></a>' if is_folder else folder.name
    drawing = bar(folder.covered, folder.files, most) if is_folder else ""
    numbers = f"{folder.covered:,} of {folder.files:,}"
    return f"<tr><td>{name}</td><td>{drawing}</td><td>{numbers}</td><td>{_percent(folder)}</td></tr>"
