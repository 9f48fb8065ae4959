"""Treemap of tracked files: the share of each folder that is in the scope of a live record.

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
from orbit_registry.site.urls import relative
from orbit_registry.snapshot.publication import Publication

WIDTH, LOW, HIGH, EACH = 960.0, 96.0, 400.0, 16.0
"""Of the drawing: how wide, how low and how high at most, and how much higher for each cell."""
TALL, SMALLER = 340.0, 0.6
"""Of the drawing for a phone: how wide it is, and how much of the other's area it has."""
MOST, LEAST = 60, 0.012
"""So many cells at most; a folder is divided further where it holds more than this share of all files."""
STEPS = 5
_LETTER, _LINE = 6.8, 15

Rectangle = tuple[float, float, float, float]
"""Left, top, width, height."""


@dataclass(slots=True)
class Folder:
    """A folder by its path ("" is the root): the number of all files in it, and of those in a record's scope."""

    name: str
    files: int = 0
    covered: int = 0
    inner: dict[str, Folder] = field(default_factory=dict)


def coverage_of(publication: Publication, records: Iterable[Record], page: str) -> str:
    """Return the drawing and its table for a page; "" outside git, and if no live record names a path.

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
    """Return the drawing and its table; "" where there is no file."""
    if not root.files:
        return ""
    divided = _divided(root)
    count = sum(1 for _ in _cells(root, (0.0, 0.0, WIDTH, HIGH), divided))
    height = min(HIGH, LOW + EACH * count)
    cells = list(_cells(root, (0.0, 0.0, WIDTH, height), divided))
    high = SMALLER * WIDTH * height / TALL
    tall = _cells(root, (0.0, 0.0, TALL, high), divided)
    share = f"{root.covered:,} of {root.files:,} tracked files ({_percent(root)}) are in the scope of a live record."
    drawings = "".join(
        f'<svg class="orbit-drawing orbit-treemap {css}" role="group" aria-label="{escape(share)}" '
        f'viewBox="0 0 {width:g} {down:g}">{"".join(_cell(folder, area, page) for folder, area in placed)}</svg>'
        for css, width, down, placed in (("orbit-wide", WIDTH, height, cells), ("orbit-tall", TALL, round(high), tall))
    )
    rows = "".join(_row(folder, page) for folder, _ in sorted(cells, key=lambda cell: cell[0].name))
    heads = "".join(f'<th scope="col">{name}</th>' for name in ("Folder", "Files", "In a scope", "Share"))
    return (
        f'<h2 id="coverage">Coverage</h2><p>{share} Each field is a folder, as large as it has files; '
        "the fuller its colour, the more of them a record speaks of.</p>"
        f"{drawings}"
        f'<details class="orbit-more"><summary>The same as a table</summary><table class="orbit-index">'
        f"<thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></details>"
    )


def _percent(folder: Folder) -> str:
    return f"{round(100 * folder.covered / folder.files)} %"


def _divided(root: Folder) -> set[str]:
    """Return the folders that are divided into those they hold: the largest ones, as long as the cells can be seen."""
    divided: set[str] = set()
    cells = 1
    waiting = [root]
    while waiting:
        waiting.sort(key=lambda folder: (-folder.files, folder.name))
        folder = waiting.pop(0)
        added = len(_parts(folder)) - 1
        if not folder.inner or folder.files < LEAST * root.files or cells + added > MOST:
            continue
        divided.add(folder.name)
        cells += added
        waiting += folder.inner.values()
    return divided


def _parts(folder: Folder) -> list[Folder]:
    """Return what a folder is divided into: its folders, and its own files as one more."""
    inner = list(folder.inner.values())
    direct = folder.files - sum(part.files for part in inner)
    covered = folder.covered - sum(part.covered for part in inner)
    return [*inner, Folder(f"{folder.name}*", direct, covered)] if direct else inner


def _cells(folder: Folder, area: Rectangle, divided: set[str]) -> Iterable[tuple[Folder, Rectangle]]:
    if folder.name not in divided:
        yield folder, area
        return
    parts = sorted(_parts(folder), key=lambda part: (-part.files, part.name))
    for part, rectangle in zip(parts, squarified([part.files for part in parts], area), strict=True):
        yield from _cells(part, rectangle, divided)


def squarified(sizes: Sequence[int], area: Rectangle) -> list[Rectangle]:
    """Return a place for each size, from the largest down, in a rectangle that they fill, as square as rows allow."""
    x, y, width, height = area
    scale = width * height / sum(sizes)
    rectangles: list[Rectangle] = []
    start = 0
    while start < len(sizes):
        side = min(width, height)
        end = start + 1
        while end < len(sizes) and _worst(sizes[start : end + 1], side, scale) <= _worst(sizes[start:end], side, scale):
            end += 1
        row = sizes[start:end]
        depth = sum(row) * scale / side if side else 0.0
        offset = 0.0
        for size in row:
            length = size * scale / depth if depth else 0.0
            if width >= height:
                rectangles.append((x, y + offset, depth, length))
            else:
                rectangles.append((x + offset, y, length, depth))
            offset += length
        if width >= height:
            x, width = x + depth, width - depth
        else:
            y, height = y + depth, height - depth
        start = end
    return rectangles


def _worst(row: Sequence[int], side: float, scale: float) -> float:
    total = sum(row) * scale
    if not side or not total:
        return float("inf")
    return max(side * side * max(row) * scale / total**2, total**2 / (side * side * min(row) * scale))


def _cell(folder: Folder, area: Rectangle, page: str) -> str:
    x, y, width, height = area
    step = -(-folder.covered * STEPS // folder.files)  # only where there is none it is the lowest
    title = f"{folder.name or 'everything'}: {folder.covered:,} of {folder.files:,} files ({_percent(folder)})"
    room = int((width - 12) / _LETTER)
    words = [] if height < _LINE + 6 else [_short(folder.name, room)]
    if height >= 2 * _LINE + 8 and room >= 5 and words[0]:
        words.append(_percent(folder))
    text = "".join(
        f'<text{quiet} x="{x + 7:.1f}" y="{y + 16 + number * _LINE:.1f}">{escape(word)}</text>'
        for number, (word, quiet) in enumerate(zip(words, ("", ' class="orbit-quiet"'), strict=False))
        if word
    )
    rect = (
        f'<rect class="orbit-share-{step}" x="{x + 0.75:.1f}" y="{y + 0.75:.1f}" '
        f'width="{max(width - 1.5, 0.5):.1f}" height="{max(height - 1.5, 0.5):.1f}" rx="3"/>'
    )
    return f'<a href="{escape(_explorer_link(folder, page))}"><title>{escape(title)}</title>{rect}{text}</a>'


def _short(name: str, room: int) -> str:
    parts = (name or "everything").rstrip("/").split("/")
    for count in (3, 2, 1)[: 2 if parts[-1] == "*" else 3]:
        words = "/".join(parts[-count:])
        if len(words) <= room:
            return words
    return f"{parts[-1][: room - 1]}…" if room >= 4 and parts[-1] != "*" else ""


def _explorer_link(folder: Folder, page: str) -> str:
    path = quote(folder.name.removesuffix("*"), safe="/")
    return f"{relative(page, explorer.PAGE)}?path={path}" if path else relative(page, explorer.PAGE)


def _row(folder: Folder, page: str) -> str:
    name = f'<a href="{escape(_explorer_link(folder, page))}"><code>{escape(folder.name or "everything")}</code></a>'
    return f"<tr><td>{name}</td><td>{folder.files:,}</td><td>{folder.covered:,}</td><td>{_percent(folder)}</td></tr>"
