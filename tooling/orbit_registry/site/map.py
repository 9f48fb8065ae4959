"""Map of the records: clusters of those that supersede, name or cite each other, each as a drawing
and as lists of links, without a script.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from itertools import chain

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
    verb_of,
)
from orbit_registry.site.areas import areas_of
from orbit_registry.site.clusters import Cluster, clusters_of
from orbit_registry.site.language import counted, digits, relation_within, word
from orbit_registry.site.relations import Relations
from orbit_registry.site.sitemap import url_of
from orbit_registry.site.words import chip, record_link

PAGE = "map/"


def map_html(records: Sequence[Record], relations: Relations) -> str:
    """Return the page's content."""
    by_age = sorted(
        (record for record in records if relations.by_id.get(record.id) is record),
        key=lambda record: relations.ages[record.path],
        reverse=True,
    )
    edges = related_edges(by_age, relations)
    if not edges:
        supersede = "<code>orbit adr supersede</code>"
        return f"<p>{word('map.empty', link='<code>orbit link</code>', supersede=supersede)}</p>"

    areas = areas_of([record for record in by_age if record.kind.in_document])
    clusters = clusters_of(by_age, edges, areas)
    lists = _lists(by_age, edges, relations)
    large = [cluster for cluster in clusters if len(cluster.records) >= FEWEST]
    sections = [_cluster(cluster, number, lists) for number, cluster in enumerate(large, start=1)]
    small = (cluster.records for cluster in clusters if len(cluster.records) < FEWEST)
    pairs = list(chain.from_iterable(small))
    if pairs:
        heading = f'<h2 id="pairs">{word("map.pairs")} <small>{len(pairs) // 2}</small></h2>'
        sections.append(f"{heading}{_listed(pairs, lists)}")

    linked = set(chain.from_iterable(edge[:2] for edge in edges))
    summary = _summary(edges, len(linked), len(by_age))
    return f"{summary}{_drawings(large, edges)}{''.join(sections)}"


def _drawings(clusters: Sequence[Cluster], edges: Sequence[Edge]) -> str:
    """Return the drawing of each cluster below its name, which leads to its lists, and what its
    arcs mean; pairs alone have none.
    """
    if not clusters:
        return ""

    drawn: set[str] = set()
    for cluster in clusters:
        drawn.update(record.id for record in cluster.records)

    arcs = [edge for edge in edges if drawn.issuperset(edge[:2])]
    key = f'<p class="orbit-note orbit-arcs-key">{key_of(arcs)}</p>'
    figures = [
        f'<figure><figcaption><a href="#cluster-{number}">{escape(cluster.name)}</a>&nbsp;'
        f"<small>{digits(len(cluster.records))}</small></figcaption>"
        f"{drawing(cluster.records[::-1], edges, PAGE)}</figure>"
        for number, cluster in enumerate(clusters, start=1)
    ]
    return f'{key}<div class="orbit-clusters">{"".join(figures)}</div>'


def _summary(edges: Sequence[Edge], linked: int, total: int) -> str:
    counts = Counter(edge.word for edge in edges)
    names = {SUPERSEDES: "map.supersession", RELATES: "map.link", CITES: "map.citation"}
    parts = [counted(key, counts[name]) for name, key in names.items() if counts[name]]
    what = parts[0]
    if parts[1:]:
        what = word("map.and", first=", ".join(parts[:-1]), last=parts[-1])

    note = f" {counted('map.alone', total - linked)}" if total > linked else ""
    return (
        f'<p id="superseded"><span id="links"></span>'
        f"{counted('map.between', linked, what=what)}{note}</p>"
    )


def related_edges(records: Sequence[Record], relations: Relations) -> list[Edge]:
    """Return what joins the records of a map."""
    ids = {url_of(record): record.id for record in records}
    cited_by = {}
    for url, citers in relations.citers.records.items():
        if url in ids:
            cited_by[ids[url]] = [citer.id for citer in citers]

    replaced_by = {record.id: relations.replaced_by(record) for record in records}
    return edges_of(records, replaced_by, cited_by)


def _lists(
    records: Sequence[Record], edges: Sequence[Edge], relations: Relations
) -> dict[str, str]:
    """Return a list for each record that supersedes, names or cites others, by its id."""
    lines: dict[str, list[str]] = defaultdict(list)
    for edge in edges:
        other = relations.by_id[edge.target]
        status = chip(other) if other.phase != "live" and edge.word != SUPERSEDES else ""
        line = f"<small>{escape(verb_within(edge))}</small> {record_link(other, PAGE)} {status}"
        lines[edge.source].append(f'<li class="orbit-depth-1"><div>{line}</div></li>')

    lists = {}
    for record in records:
        if record.id in lines:
            status = chip(record) if record.phase != "live" else ""
            head = f'<li class="orbit-depth-0"><div>{record_link(record, PAGE)} {status}</div></li>'
            below = "".join(lines[record.id])
            lists[record.id] = f'<ul class="orbit-layers">{head}{below}</ul>'

    return lists


def verb_within(edge: Edge) -> str:
    """Return how a relation reads within a sentence."""
    return relation_within(edge.rel) if edge.rel else verb_of(edge)


def _cluster(cluster: Cluster, number: int, lists: Mapping[str, str]) -> str:
    count = f"<small>{digits(len(cluster.records))}</small>"
    heading = f'<h2 id="cluster-{number}">{escape(cluster.name)} {count}</h2>'
    return f"{heading}{_listed(cluster.records, lists)}"


def _listed(records: Iterable[Record], lists: Mapping[str, str]) -> str:
    listed = "".join(lists.get(record.id, "") for record in records)
    return f'<div class="orbit-maps">{listed}</div>'
