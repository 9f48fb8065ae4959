"""Map of the records: which supersede which, and which records name which,
as small trees of links without a script.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from typing import NamedTuple

from orbit_registry.errors import plural
from orbit_registry.model.ids import INVERSES, OVERRIDES
from orbit_registry.model.record import Record
from orbit_registry.site.arcs import drawing, edges_of
from orbit_registry.site.sanitize import headline
from orbit_registry.site.sitemap import url_of
from orbit_registry.site.urls import relative
from orbit_registry.site.views import RELATIONS, Relations
from orbit_registry.site.words import chip, date_of

PAGE = "map/"
SUPERSEDES = "supersedes"
DEEPEST = 4  # deeper lines are drawn as far to the right as these


class Line(NamedTuple):
    """A record in a tree: how deep, what the record above does to it, and its id.

    Trees begin at depth 0.
    """

    depth: int
    word: str
    record: Record


def map_html(records: Sequence[Record], relations: Relations) -> str:
    """Return the page's content."""
    by_age = sorted(
        (record for record in records if relations.by_id.get(record.id) is record),
        key=_age,
        reverse=True,
    )
    superseded, links = (
        list(superseded_lines(by_age, relations)),
        list(linked_lines(by_age, relations)),
    )
    lines = [*superseded, *links]
    if not lines:
        return (
            "<p>No record names another yet. <code>orbit link</code> links two records, "
            "<code>orbit adr supersede</code> replaces a decision.</p>"
        )

    numbers = [sum(line.depth > 0 for line in section) for section in (superseded, links)]
    counts = [
        plural(number, name)
        for number, name in zip(numbers, ("supersession", "link"), strict=True)
        if number
    ]

    linked = len({line.record.id for line in lines})
    unlinked = len(records) - linked
    note = f" {plural(unlinked, 'record has', 'records have')} none." if unlinked else ""

    return (
        f"<p>{' and '.join(counts)} between {plural(linked, 'record')}.{note}</p>"
        f"{_drawn(by_age[::-1], relations)}"
        f"{_section('Superseded', 'Below each record are those that it supersedes.', superseded)}"
        f"{_section('Links', 'Below each record are those that it names.', links)}"
    )


def _drawn(records: Sequence[Record], relations: Relations) -> str:
    ids = {url_of(record): record.id for record in records}
    cited_by = {
        ids[url]: [citer.id for citer in citers]
        for url, citers in relations.citers.records.items()
        if url in ids
    }
    replaced_by = {record.id: relations.replaced_by(record) for record in records}
    return drawing(records, edges_of(records, replaced_by, cited_by), PAGE)


def _age(record: Record) -> tuple[str, tuple[object, ...]]:
    return date_of(record) or "9999", record.sort_key


def superseded_lines(records: Sequence[Record], relations: Relations) -> Iterator[Line]:
    """Yield a tree for each record that only supersedes; of a circle, for one of its records."""
    earlier: dict[str, list[Record]] = defaultdict(list)
    for record in records:
        for later in relations.replaced_by(record):
            if later != record.id and later in relations.by_id:
                earlier[later].append(record)

    superseded = {record.id for some in earlier.values() for record in some}
    last = [record for record in records if record.id in earlier]
    visited: set[str] = set()
    for root in [*(record for record in last if record.id not in superseded), *last]:
        stack = [] if root.id in visited else [Line(0, "", root)]
        while stack:
            line = stack.pop()
            yield line
            if line.record.id not in visited:
                visited.add(line.record.id)
                below = reversed(earlier.get(line.record.id, ()))
                stack += [Line(line.depth + 1, SUPERSEDES, record) for record in below]


def linked_lines(records: Iterable[Record], relations: Relations) -> Iterator[Line]:
    """Yield a tree for each record that names others;
    two that name each other alike are listed once.
    """
    visited: set[tuple[str, str, str]] = set()
    for record in records:
        below = []
        for link in dict.fromkeys(record.links):
            other = relations.by_id.get(link.to)
            if (
                other is None
                or other is record
                or (other.id, INVERSES.get(link.rel, ""), record.id) in visited
            ):
                continue

            if link.rel == OVERRIDES and record.id in relations.replaced_by(
                other
            ):  # a supersession
                continue

            visited.add((record.id, link.rel, other.id))
            below.append(Line(1, RELATIONS.get(link.rel, link.rel).lower(), other))

        if below:
            yield from [Line(0, "", record), *below]


def _section(title: str, about: str, lines: Sequence[Line]) -> str:
    if not lines:
        return ""

    trees: list[str] = []
    for line in lines:
        if line.depth == 0:
            trees.append("")
        trees[-1] += _line(line)

    drawing = "".join(f'<ul class="orbit-layers">{tree}</ul>' for tree in trees)
    return (
        f'<h2 id="{title.lower()}">{title}</h2><p>{about}</p><div '
        f'class="orbit-maps">{drawing}</div>'
    )


def _line(line: Line) -> str:
    record = line.record
    href = escape(relative(PAGE, url_of(record)))
    word = f"<small>{escape(line.word)}</small> " if line.word else ""
    status = chip(record) if record.phase != "live" and line.word != SUPERSEDES else ""
    name = f'<span class="orbit-id">{escape(record.id)}</span> {headline(record.title)}'
    inner = f'{word}<a href="{href}">{name}</a> {status}'
    return f'<li class="orbit-depth-{min(line.depth, DEEPEST)}"><div>{inner}</div></li>'
