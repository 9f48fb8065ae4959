"""Map of the records: clusters of those that supersede, name or cite each other, each as a drawing
and as small trees of links, without a script.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from typing import NamedTuple

from orbit_registry.errors import plural
from orbit_registry.model.ids import INVERSES, OVERRIDES
from orbit_registry.model.record import Record
from orbit_registry.site.arcs import (
    CITES,
    FEWEST,
    RELATES,
    SUPERSEDES,
    Edge,
    drawing,
    edges_of,
    key_of,
)
from orbit_registry.site.areas import areas_of
from orbit_registry.site.clusters import Cluster, clusters_of
from orbit_registry.site.relations import RELATIONS, Relations
from orbit_registry.site.sanitize import headline
from orbit_registry.site.sitemap import url_of
from orbit_registry.site.urls import relative
from orbit_registry.site.words import chip, date_of

PAGE = "map/"
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
    edges = _edges(by_age, relations)
    if not edges:
        return (
            "<p>No record names another yet. <code>orbit link</code> links two records, "
            "<code>orbit adr supersede</code> replaces a decision.</p>"
        )

    areas = areas_of([record for record in by_age if record.kind.in_document])
    clusters = clusters_of(by_age, edges, areas)
    trees = _trees(by_age, edges, relations)
    large = [cluster for cluster in clusters if len(cluster.records) >= FEWEST]
    sections = [
        _cluster(cluster, number, edges, trees) for number, cluster in enumerate(large, start=1)
    ]
    pairs = [
        record
        for cluster in clusters
        if len(cluster.records) < FEWEST
        for record in cluster.records
    ]
    if pairs:
        heading = f'<h2 id="pairs">Pairs <small>{len(pairs) // 2}</small></h2>'
        sections.append(f"{heading}{_listed(pairs, trees)}")

    linked = {name for edge in edges for name in edge[:2]}
    summary = _summary(edges, len(linked), len(by_age))
    return f"{summary}{_overview(large)}{''.join(sections)}"


def _overview(clusters: Sequence[Cluster]) -> str:
    """Return the names of clusters as links to them; "" for one alone."""
    if len(clusters) < 2:
        return ""

    links = [
        f'<a href="#cluster-{number}">{escape(cluster.name)}</a> {len(cluster.records):,}'
        for number, cluster in enumerate(clusters, start=1)
    ]
    return f'<p class="orbit-line orbit-clusters">{" · ".join(links)}</p>'


def _summary(edges: Sequence[Edge], linked: int, total: int) -> str:
    counts = Counter(edge.word for edge in edges)
    names = {SUPERSEDES: "supersession", RELATES: "link", CITES: "citation"}
    parts = [plural(counts[word], name) for word, name in names.items() if counts[word]]
    listed = parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
    alone = plural(total - linked, "record is", "records are")
    note = f" {alone} alone." if total > linked else ""
    return (
        f'<p id="superseded">{listed} between {linked:,} records.{note}</p>'
        f'<p class="orbit-note orbit-arcs-key" id="links">{key_of(edges)}</p>'
    )


def _edges(records: Sequence[Record], relations: Relations) -> list[Edge]:
    ids = {url_of(record): record.id for record in records}
    cited_by = {
        ids[url]: [citer.id for citer in citers]
        for url, citers in relations.citers.records.items()
        if url in ids
    }
    replaced_by = {record.id: relations.replaced_by(record) for record in records}
    return edges_of(records, replaced_by, cited_by)


def _trees(
    records: Sequence[Record], edges: Sequence[Edge], relations: Relations
) -> dict[str, list[Line]]:
    """Return what each record supersedes, names and cites, by its id; none of those below it."""
    trees: dict[str, list[Line]] = defaultdict(list)
    root = ""
    for line in (*superseded_lines(records, relations), *linked_lines(records, relations)):
        if line.depth == 0:
            root = line.record.id
        else:
            trees[root].append(line)

    for edge in edges:
        if edge.word == CITES:
            trees[edge.source].append(Line(1, CITES, relations.by_id[edge.target]))

    return trees


def _cluster(
    cluster: Cluster, number: int, edges: Sequence[Edge], trees: Mapping[str, Sequence[Line]]
) -> str:
    name = escape(cluster.name)
    heading = f'<h2 id="cluster-{number}">{name} <small>{len(cluster.records):,}</small></h2>'
    drawn = drawing(cluster.records[::-1], edges, PAGE)
    return f"{heading}{drawn}{_listed(cluster.records, trees)}"


def _listed(records: Iterable[Record], trees: Mapping[str, Sequence[Line]]) -> str:
    """Return a small tree for each record that supersedes, names or cites others."""
    lists = []
    for record in records:
        if record.id in trees:
            lines = [Line(0, "", record), *trees[record.id]]
            lists.append(f'<ul class="orbit-layers">{"".join(map(_line, lines))}</ul>')

    return f'<div class="orbit-maps">{"".join(lists)}</div>'


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


def _line(line: Line) -> str:
    record = line.record
    href = escape(relative(PAGE, url_of(record)))
    word = f"<small>{escape(line.word)}</small> " if line.word else ""
    status = chip(record) if record.phase != "live" and line.word != SUPERSEDES else ""
    name = f'<span class="orbit-id">{escape(record.id)}</span> {headline(record.title)}'
    inner = f'{word}<a href="{href}">{name}</a> {status}'
    return f'<li class="orbit-depth-{min(line.depth, DEEPEST)}"><div>{inner}</div></li>'
