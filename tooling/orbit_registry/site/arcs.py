"""A drawing of decisions in the order of their age, with an arc for each relation.

It is made when the site is built and runs no script. Small screens have the lists below it.
"""

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import NamedTuple

from orbit_registry.model.record import Record
from orbit_registry.site.filling import macros
from orbit_registry.site.language import counted, status_word, word
from orbit_registry.site.sitemap import url_of
from orbit_registry.site.urls import relative
from orbit_registry.site.words import status_css, title_of

STEP, RADIUS, MARGIN = 22, 5, 14
"""Pixels between two dots, of a dot's radius, and around the drawing."""
TALLEST = 170
"""Pixels of the highest arc."""
LABEL, SLANT = 66, 28
"""Pixels for the ids below the dots, and for what the last one has to the right of its dot."""
SUPERSEDES, RELATES, CITES = "supersedes", "relates", "cites"
_VERBS = {SUPERSEDES: "map.supersedes", RELATES: "map.relates", CITES: "map.cites"}
FEWEST, MOST, MOST_IN_SKETCH = 3, 60, 14
"""Fewer records make no drawing; of more than so many, the newest are drawn."""


class Edge(NamedTuple):
    """An arc from one record to another, by their ids; what it says is one of the words above."""

    source: str
    target: str
    word: str
    rel: str = ""
    """What a relation is called in the record."""


def edges_of(
    records: Sequence[Record],
    replaced_by: dict[str, list[str]],
    cited_by: dict[str, list[str]],
) -> list[Edge]:
    """Return one edge a pair of records: a supersession before a relation before a citation.

    `replaced_by` and `cited_by` have ids by id.
    """
    ids = {record.id for record in records}
    by_pair: dict[frozenset[str], Edge] = {}
    candidates: list[Edge] = []
    for old, later in replaced_by.items():
        candidates += [Edge(new, old, SUPERSEDES) for new in later]
    for record in records:
        candidates += [Edge(record.id, link.to, RELATES, link.rel) for link in record.links]
    for cited, citers in cited_by.items():
        candidates += [Edge(citer, cited, CITES) for citer in citers]

    for edge in candidates:
        if edge.source != edge.target and {edge.source, edge.target} <= ids:
            by_pair.setdefault(frozenset(edge[:2]), edge)

    return list(by_pair.values())


class Dot(NamedTuple):
    """A record in a drawing: its address, its look, what is said of it, and where it is."""

    href: str
    css: str
    name: str
    x: int
    id: str


def drawing(records: Iterable[Record], edges: Sequence[Edge], page: str) -> str:
    """Return the drawing of the newest records that edges join, in their order; "" for too few."""
    joined = set(chain.from_iterable(edge[:2] for edge in edges))
    chosen = [record for record in records if record.id in joined][-MOST:]
    ids = {record.id for record in chosen}
    edges = [edge for edge in edges if ids.issuperset(edge[:2])]
    if len(chosen) < FEWEST or not edges:
        return ""

    places = {record.id: MARGIN + STEP * number for number, record in enumerate(chosen)}
    widest = max(abs(places[edge.source] - places[edge.target]) for edge in edges)
    tallest = min(TALLEST, widest // 2)
    base = MARGIN + tallest
    width = 2 * MARGIN + STEP * (len(chosen) - 1) + SLANT
    arcs = [_arc(edge, places, base, tallest / widest**0.6) for edge in edges]
    dots = [_dot(record, places[record.id], page) for record in chosen]
    size = {"width": width, "height": base + LABEL, "base": base, "radius": RADIUS}
    label = counted("map.drawing", len(chosen))
    return str(macros("map.html").arcs(label, size, base + RADIUS + 8, arcs, dots))


def _arc(edge: Edge, places: dict[str, int], base: int, scale: float) -> tuple[str, str, str]:
    left, right = sorted((places[edge.source], places[edge.target]))
    height = round(scale * (right - left) ** 0.6)  # a far arc grows less in height than in width
    top = base - RADIUS - height * 4 // 3
    start = base - RADIUS
    path = f"M{left} {start}C{left} {top} {right} {top} {right} {start}"
    return edge.word, path, f"{edge.source} {verb_of(edge)} {edge.target}"


def _dot(record: Record, x: int, page: str) -> Dot:
    name = f"{record.id} {title_of(record)} ({status_word(record.status)})"
    return Dot(relative(page, url_of(record)), status_css(record.status), name, x, record.id)


def is_sketched(related: Sequence[object]) -> bool:
    """Say whether so many records make a small drawing."""
    return FEWEST <= len(related) <= MOST_IN_SKETCH


def sketch(related: Sequence[tuple[str, str]]) -> str:
    """Return a small drawing of a record among those that it is joined with.

    Each is the class of a dot and what joins it with the record, "" for the record itself. The list
    below the drawing says who they are.
    """
    if not is_sketched(related):
        return ""

    places = [RADIUS + 2 + (STEP - 4) * number for number in range(len(related))]
    here = places[[joint for _, joint in related].index("")]
    tallest = max(abs(place - here) for place in places) // 3
    base = tallest + RADIUS + 4
    foot = base - RADIUS
    arcs = []
    dots = []
    for (css, joint), place in zip(related, places, strict=True):
        dots.append((css, place, base, RADIUS if joint else RADIUS + 2))
        if joint:
            distance = abs(here - place)
            arc = f"A{distance / 2:g} {distance / 3:g} 0 0 {int(place < here)} {here} {foot}"
            arcs.append((joint, f"M{place} {foot}{arc}"))

    width, height = places[-1] + RADIUS + 2, base + RADIUS + 2
    return str(macros("map.html").sketch(width, height, arcs, dots))


def verb_of(edge: Edge) -> str:
    """Return what an arc says of its records, as a word for readers."""
    return word(_VERBS[edge.word])


def key_of(edges: Iterable[Edge]) -> list[tuple[str, str]]:
    """Return the words that the arcs of some edges mean, each with how readers say it."""
    used = {edge.word for edge in edges}
    names = _VERBS | {RELATES: "map.related"}
    return [(name, word(key)) for name, key in names.items() if name in used]
