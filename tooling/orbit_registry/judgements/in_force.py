"""Whether records count: status and edges together, whichever record states an edge."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain

from orbit_registry.model.record import SUPERSEDED, Record
from orbit_registry.model.record_set import RecordSet

Following = Mapping[str, Collection[str]]
"""The records that come in the place of each, by their paths."""


def read_together(records: Sequence[Record]) -> list[Record]:
    """Return the records, each marked if a live record takes its place.

    A chain is followed to its end. A circle replaces nothing: the gate reports it.
    """
    if not any(record.supersedes or record.superseded_by for record in records):
        return list(records)

    graph = RecordSet(records)
    following = {record.path: _following(record, graph) for record in records}
    replaced = _replaced(following, {record.path for record in records if _is_live(record)})
    return [_marked(record) if record.path in replaced else record for record in records]


def _following(record: Record, graph: RecordSet) -> Collection[str]:
    """Return the records that an edge of either end puts in a record's place."""
    following: dict[str, None] = {}
    for name in graph.replaced_by(record):
        candidates = graph.candidates(name)
        if len(candidates) == 1 and candidates[0].kind.name == record.kind.name:
            following[candidates[0].path] = None

    return following


def _marked(record: Record) -> Record:
    status = record.stated_status
    counts = status.phase == "live" or (status.phase == "pending" and status.pushed)
    if not counts or SUPERSEDED not in record.kind.statuses:
        return record

    return replace(record, is_replaced=True)


def _is_live(record: Record) -> bool:
    return record.stated_status.phase == "live"


def _replaced(following: Following, live: Collection[str]) -> Collection[str]:
    """Return the records after which a live one comes that is not in a circle with them."""
    replaced: set[str] = set()
    leads_to_live: set[str] = set()
    for circle in _circles(following):
        successors = set(chain.from_iterable(following[path] for path in circle))
        if not leads_to_live.isdisjoint(successors.difference(circle)):
            replaced.update(circle)
            leads_to_live.update(circle)
        elif not circle.isdisjoint(live):
            leads_to_live.update(circle)

    return replaced


def _circles(following: Following) -> Iterator[set[str]]:
    """Yield the records that lead to each other, most of them alone, the last ones of chains
    first: Tarjan's algorithm, which visits each edge once.
    """
    order: dict[str, int] = {}
    lowest: dict[str, int] = {}
    open_paths: dict[str, None] = {}
    for start in following:
        visits = [] if start in order else [(start, iter(following[start]))]
        while visits:
            path, successors = visits[-1]
            if path not in order:
                order[path] = lowest[path] = len(order)
                open_paths[path] = None

            later = next((name for name in successors if name not in order), None)
            if later is not None:
                visits.append((later, iter(following[later])))
                continue

            visits.pop()
            reached = [lowest[name] for name in following[path] if name in open_paths]
            lowest[path] = min([lowest[path], *reached])
            if lowest[path] < order[path]:
                continue

            circle = {path}
            while (last := open_paths.popitem()[0]) != path:
                circle.add(last)
            yield circle
