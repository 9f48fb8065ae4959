"""Areas of decisions: the names by which the start page and the map group them.

A project has areas if something of it divides its decisions: a feature, a tag, a folder of
documents, or a folder that scopes begin with.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import NamedTuple
from urllib.parse import quote

from orbit_registry.model.record import Record
from orbit_registry.site.explorer import PAGE as PATHS
from orbit_registry.site.words import own_columns, tags_of, texts_of

FEWEST = 2
"""A name with fewer decisions is no area."""
LARGEST = 0.7
"""An area with a larger share of the decisions divides nothing."""
COVERED = 0.5
"""So many of the decisions have an area, or there are none."""
DEEPEST = 4
_WILD = re.compile(r"[*?\[{!]")


class Area(NamedTuple):
    """A name for readers, and the address of its page from the site's top; "" without one."""

    name: str
    url: str = ""


Way = Callable[[Record], Sequence[Area]]


def areas_of(records: Sequence[Record]) -> Mapping[str, Area]:
    """Return the area of each record that has one, by the record's path; of the ways to divide
    records the first that does.
    """
    for way in _ways():
        areas = _divided(records, way)
        if areas:
            return areas

    return {}


def _ways() -> Iterator[Way]:
    yield _columns
    yield _tags
    for place in (_document, _scope):
        for depth in range(1, DEEPEST + 1):
            yield partial(place, depth=depth)


def _divided(records: Sequence[Record], way: Way) -> Mapping[str, Area]:
    candidates = {record.path: way(record) for record in records}
    counts = Counter(chain.from_iterable(map(set, candidates.values())))
    most = LARGEST * len(records)
    usable = {area: count for area, count in counts.items() if FEWEST <= count <= most}

    chosen: dict[str, Area] = {}
    for path, areas in candidates.items():
        fitting = [area for area in areas if area in usable]
        if fitting:
            chosen[path] = max(fitting, key=lambda area: (usable[area], area.name))

    if len(set(chosen.values())) < FEWEST or len(chosen) < COVERED * len(records):
        return {}

    return chosen


def _columns(record: Record) -> list[Area]:
    areas = []
    for column in own_columns(record.kind):
        for word in texts_of([record], column):
            areas.append(Area(word, _filtered(record, column, word)))

    return areas


def _tags(record: Record) -> list[Area]:
    return [Area(tag, _filtered(record, "tag", tag)) for tag in tags_of(record)]


def _filtered(record: Record, name: str, word: str) -> str:
    return f"{record.kind.plural}/?{name}={quote(word)}"


def _document(record: Record, depth: int) -> list[Area]:
    source = record.source
    folders = source.path.split("/")[:-1] if source else []
    if len(folders) >= depth:
        return [Area(folders[depth - 1])]

    return []


def _scope(record: Record, depth: int) -> list[Area]:
    counts: dict[Area, int] = defaultdict(int)
    for glob in record.globs:
        folders = _WILD.split(glob, maxsplit=1)[0].split("/")[:-1]
        if len(folders) >= depth:
            address = quote("/".join(folders[:depth]))
            counts[Area(folders[depth - 1], f"{PATHS}?path={address}/")] += 1

    return sorted(counts, key=lambda area: -counts[area])
