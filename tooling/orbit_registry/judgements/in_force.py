"""Whether records count: status and edges together, whichever record states an edge."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from orbit_registry.model.record import SUPERSEDED, Record
from orbit_registry.model.record_set import RecordSet


def read_together(records: Sequence[Record]) -> list[Record]:
    """Return the records, each marked if a live record takes its place.

    A chain is followed to its end. A circle replaces nothing: the gate reports it.
    """
    if not any(record.supersedes or record.superseded_by for record in records):
        return list(records)

    graph = RecordSet(records)
    following = {record.path: _following(record, graph) for record in records}
    return [_marked(record, following) for record in records]


def _following(record: Record, graph: RecordSet) -> Mapping[str, Record]:
    """Return the records that an edge of either end puts in a record's place, by path."""
    following = {}
    for name in graph.replaced_by(record):
        candidates = graph.candidates(name)
        if len(candidates) == 1 and candidates[0].kind.name == record.kind.name:
            following[candidates[0].path] = candidates[0]

    return following


def _marked(record: Record, following: Mapping[str, Mapping[str, Record]]) -> Record:
    status = record.stated_status
    counts = status.phase == "live" or (status.phase == "pending" and status.pushed)
    if not counts or not following[record.path] or SUPERSEDED not in record.kind.statuses:
        return record

    later = _reached(record.path, following)
    is_replaced = any(
        successor.stated_status.phase == "live" and record.path not in _reached(path, following)
        for path, successor in later.items()
    )
    return replace(record, is_replaced=True) if is_replaced else record


def _reached(path: str, following: Mapping[str, Mapping[str, Record]]) -> dict[str, Record]:
    reached: dict[str, Record] = {}
    stack = [path]
    while stack:
        for later, record in following[stack.pop()].items():
            if later not in reached:
                reached[later] = record
                stack.append(later)

    return reached
