"""Walks the links between records, stated and derived, to those a record has to do with; it states none."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from orbit_registry.checks.citing import in_text
from orbit_registry.records.link import INVERSES, RELATED
from orbit_registry.records.record import Record
from orbit_registry.records.record_set import RecordSet
from orbit_registry.snapshot.current import answer_all
from orbit_registry.store.facts import citing_files, read_citing
from orbit_registry.store.reader import Reading
from orbit_registry.store.walk import walk
from orbit_registry.store.workspace import Workspace


@dataclass(frozen=True, slots=True, order=True)
class Tie:
    """How a record is reached: from which one, and how the link reads from there; `derived` is not stated."""

    start: str
    rel: str
    derived: bool

    def as_data(self) -> dict[str, object]:
        """Return it as JSON shows it."""
        return {"from": self.start, "rel": self.rel, "derived": self.derived}


@dataclass(frozen=True, slots=True)
class Reached:
    """A record that is reached after `depth` links, and every link from the records one step nearer."""

    record: Record
    depth: int
    ties: tuple[Tie, ...]


@dataclass(frozen=True, slots=True)
class Related:
    """What a record has to do with: records by distance, names that no record has, and lines of files that cite it."""

    record: Record
    reached: tuple[Reached, ...]
    dangling: tuple[tuple[str, str, bool], ...]
    """Relation, name as written, and whether it is derived, of what the record itself leads to."""
    cited_in: tuple[tuple[str, int], ...]
    """Files that hold no record's text, with the lines."""


@dataclass(frozen=True, slots=True)
class _Edge:
    start: str
    rel: str
    target: str
    end: str | None
    derived: bool


def related(
    workspace: Workspace, reading: Reading, record: Record, *, depth: int = 1, direction: str = "both"
) -> Related:
    """Return what a record has to do with, up to so many links away; the snapshot is brought up to date first.

    Raises:
        SnapshotError: it can't be made or asked.
    """
    edges = _edges(workspace, reading)
    records = reading.collection.records
    dangling = sorted({(one.rel, one.target, one.derived) for one in edges if one.start == record.id and not one.end})
    cited = tuple(_cited_in(workspace, records, record)) if direction != "out" else ()
    return Related(
        record,
        tuple(_reached(records, edges, record.id, depth, direction)),
        tuple(dangling) if direction != "in" else (),
        cited,
    )


def _edges(workspace: Workspace, reading: Reading) -> list[_Edge]:
    sql = "SELECT record_id, rel, target, target_id, derived FROM links"
    rows = answer_all(workspace, sql, reading).rows
    return [
        _Edge(str(start), str(rel), str(target), None if end is None else str(end), bool(derived))
        for start, rel, target, end, derived in rows
    ]


def _reached(records: RecordSet, edges: Iterable[_Edge], start: str, depth: int, direction: str) -> Iterable[Reached]:
    """Yield the records by distance, each once; a circle ends there, and the start is not among them."""
    ties: dict[str, set[tuple[str, Tie]]] = defaultdict(set)
    for edge in edges:
        if edge.end is None or edge.end == edge.start:
            continue
        both = direction == "both" or edge.rel == RELATED
        if both or direction == "out":
            ties[edge.start].add((edge.end, Tie(edge.start, edge.rel, edge.derived)))
        if both or direction == "in":
            ties[edge.end].add((edge.start, Tie(edge.end, INVERSES.get(edge.rel, edge.rel), edge.derived)))
    seen, near = {start}, [start]
    for distance in range(1, depth + 1):
        found: dict[str, set[Tie]] = defaultdict(set)
        for one in near:
            for end, tie in ties.get(one, ()):
                if end not in seen:
                    found[end].add(tie)
        seen.update(found)
        near = sorted(found)
        held = [(record, found[one]) for one in near for record in records.with_id(one)[:1]]
        for record, how in sorted(held, key=lambda pair: pair[0].sort_key):
            yield Reached(record, distance, tuple(sorted(how)))


def _cited_in(workspace: Workspace, records: RecordSet, record: Record) -> Iterable[tuple[str, int]]:
    """Yield the lines of documents and code that cite a record by its id; files with records' texts are left out."""
    homes = {one.source.path for one in records if one.source is not None}
    tracked = workspace.git.tracked()
    files = tracked if tracked is not None else walk(workspace.root, hidden=False)
    forms = workspace.kinds.id_forms
    for path in citing_files(workspace, files):
        text = read_citing(workspace, path) if path not in homes else None
        if text is not None and record.id in text:
            lines = (one.position.line for one in in_text(text, path, forms) if one.id == record.id)
            yield from ((path, line) for line in dict.fromkeys(lines))


def words(ties: Sequence[Tie]) -> str:
    """Return how a record is reached, in words: stated relations first."""
    return ", ".join(dict.fromkeys(tie.rel for tie in sorted(ties, key=lambda one: (one.derived, one.rel))))
