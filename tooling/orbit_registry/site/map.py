"""Map of the records: clusters of those that supersede, name or cite each other, each as a drawing
and as lists of links, without a script.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
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
from orbit_registry.site.clusters import clusters_of
from orbit_registry.site.filling import html_part
from orbit_registry.site.language import counted, relation_within, word
from orbit_registry.site.relations import Relations
from orbit_registry.site.sitemap import url_of

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
        return html_part("map.html")

    areas = areas_of([record for record in by_age if record.kind.in_document])
    clusters = clusters_of(by_age, edges, areas)
    large = [cluster for cluster in clusters if len(cluster.records) >= FEWEST]
    small = (cluster.records for cluster in clusters if len(cluster.records) < FEWEST)
    by_id = _edges_by_id(edges)
    drawings = []
    for each in large:
        near = chain.from_iterable([by_id[record.id] for record in each.records])
        drawings.append((each, drawing(each.records[::-1], list(dict.fromkeys(near)), PAGE)))

    in_large = chain.from_iterable([each.records for each in large])
    drawn = {record.id for record in in_large}
    linked = set(chain.from_iterable(edge[:2] for edge in edges))
    return html_part(
        "map.html",
        summary=_summary(edges, len(linked), len(by_age)),
        verbs=key_of(edge for edge in edges if drawn.issuperset(edge[:2])),
        clusters=drawings,
        pairs=list(chain.from_iterable(small)),
        joined=_joined(edges, relations),
        page=PAGE,
    )


def _edges_by_id(edges: Iterable[Edge]) -> Mapping[str, list[Edge]]:
    """Return the edges that begin or end at each record, by its id."""
    by_id: dict[str, list[Edge]] = defaultdict(list)
    for edge in edges:
        by_id[edge.source].append(edge)
        by_id[edge.target].append(edge)

    return by_id


def _summary(edges: Sequence[Edge], linked: int, total: int) -> str:
    counts = Counter(edge.word for edge in edges)
    names = {SUPERSEDES: "map.supersession", RELATES: "map.link", CITES: "map.citation"}
    parts = [counted(key, counts[name]) for name, key in names.items() if counts[name]]
    what = parts[0]
    if parts[1:]:
        what = word("map.and", first=", ".join(parts[:-1]), last=parts[-1])

    note = f" {counted('map.alone', total - linked)}" if total > linked else ""
    return f"{counted('map.between', linked, what=what)}{note}"


def related_edges(records: Sequence[Record], relations: Relations) -> list[Edge]:
    """Return what joins the records of a map."""
    ids = {url_of(record): record.id for record in records}
    cited_by = {}
    for url, citers in relations.citers.records.items():
        if url in ids:
            cited_by[ids[url]] = [citer.id for citer in citers]

    replaced_by = {record.id: relations.replaced_by(record) for record in records}
    return edges_of(records, replaced_by, cited_by)


def _joined(
    edges: Sequence[Edge], relations: Relations
) -> Mapping[str, list[tuple[str, Record, bool]]]:
    """Return what each record supersedes, names or cites, by its id: the verb, the other record,
    and whether the list says its status.
    """
    joined: dict[str, list[tuple[str, Record, bool]]] = defaultdict(list)
    for edge in edges:
        other = relations.by_id[edge.target]
        has_chip = other.phase != "live" and edge.word != SUPERSEDES
        joined[edge.source].append((verb_within(edge), other, has_chip))

    return joined


def verb_within(edge: Edge) -> str:
    """Return how a relation reads within a sentence."""
    if edge.rel:
        return relation_within(edge.rel)

    return verb_of(edge)
