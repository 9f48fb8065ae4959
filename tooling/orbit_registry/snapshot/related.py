"""Records related to one record by stated and derived links."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from orbit_registry.model.ids import INVERSES, RELATED
from orbit_registry.model.record import Record
from orbit_registry.model.record_set import RecordSet
from orbit_registry.repository.reader import Reading
from orbit_registry.snapshot.references import NameResolver
from orbit_registry.snapshot.rows import citations_of
from orbit_registry.workspace.workspace import Workspace

_LINKS = """
SELECT l.record_id, l.rel, l.target, l.target_id, l.derived, c.breadcrumb, c.first_line, c.last_line
FROM links AS l LEFT JOIN cited_chunks AS c ON c.record_id = l.record_id AND c.target = l.target
"""


Other = tuple[str, tuple[str, ...]]  # a record's id, and the versions that it is for


@dataclass(frozen=True, slots=True)
class LinkedChunk:
    """The chunk that a link with a `#` leads to, at its target."""

    breadcrumb: str
    lines: tuple[int, int]

    def as_data(self) -> dict[str, object]:
        """Return it as JSON shows it."""
        return {"breadcrumb": self.breadcrumb, "lines": list(self.lines)}


@dataclass(frozen=True, slots=True)
class RelatedLink:
    """How a record is reached: from which one, and how the link reads from there;
    `derived` is not stated.
    """

    start: str
    rel: str
    derived: bool
    part: LinkedChunk | None = (
        None  # where in a long text the link leads; None where it leads to all of it
    )
    others: tuple[
        Other, ...
    ] = ()  # the records of the same file for other versions, where the link names the file

    def as_data(self) -> dict[str, object]:
        """Return it as JSON shows it."""
        part = self.part.as_data() if self.part is not None else None
        others = [
            {"id": record_id, "versions": list(versions)} for record_id, versions in self.others
        ]
        return {
            "from": self.start,
            "rel": self.rel,
            "derived": self.derived,
            "chunk": part,
            "others": others,
        }


@dataclass(frozen=True, slots=True)
class RelatedRecord:
    """A record that is reached after `depth` links,
    and every link from the records one step nearer.
    """

    record: Record
    depth: int
    ties: tuple[RelatedLink, ...]

    def links(self) -> str:
        """Return how it is reached, in words: stated relations first,
        and the lines that a link leads to.
        """
        ways = [
            (tie, f"lines {tie.part.lines[0]}-{tie.part.lines[1]}" if tie.part else "")
            for tie in self.ties
        ]
        ordered = sorted(ways, key=lambda way: (way[0].derived, way[0].rel, way[1]))
        return ", ".join(dict.fromkeys(f"{tie.rel} {lines}".rstrip() for tie, lines in ordered))


@dataclass(frozen=True, slots=True)
class Related:
    """What is related to a record: records by distance, names that no record has,
    and lines of files that cite it.
    """

    record: Record
    reached: tuple[RelatedRecord, ...]
    dangling: tuple[tuple[str, str, bool], ...]
    """Relation, name as written, and whether it is derived, of what the record itself leads to."""
    cited_in: tuple[tuple[str, int], ...]  # files that hold no record's text, with the lines


_Edge = tuple[RelatedLink, str, str | None]
"""A link from its start, its target as written, and the id of the record that this means."""


def related(
    workspace: Workspace,
    reading: Reading,
    record: Record,
    *,
    depth: int = 1,
    direction: str = "both",
) -> Related:
    """Return what is related to a record, up to so many links away;
    the snapshot is brought up to date first.
    """
    records = reading.collection.records
    edges = _edges(workspace, reading, NameResolver(tuple(records)))
    own = ((link, target) for link, target, end in edges if link.start == record.id and not end)
    dangling = (
        sorted({(link.rel, target, link.derived) for link, target in own})
        if direction != "in"
        else ()
    )

    citations = citations_of(workspace, tuple(records)) if direction != "out" else ()
    places = (
        (str(row["path"]), int(str(row["line"])))
        for row in citations
        if row["target_id"] == record.id
    )

    reached = _reached(records, edges, record.id, depth, direction)
    return Related(record, tuple(reached), tuple(dangling), tuple(dict.fromkeys(places)))


def _edges(workspace: Workspace, reading: Reading, names: NameResolver) -> list[_Edge]:
    from orbit_registry.snapshot.query import query_reading  # DuckDB

    edges: list[_Edge] = []
    for start, rel, target, end, derived, crumb, first, last in query_reading(
        workspace, _LINKS, reading
    ).rows:
        part = (
            LinkedChunk(str(crumb or ""), (int(str(first)), int(str(last))))
            if first is not None
            else None
        )

        file = (
            str(target).partition("#")[0]
            if derived and end is not None and "." in str(target)
            else ""
        )
        peers = names.of_file(file) if file else ()
        others = tuple(
            (record.id, record.words("versions")) for record in peers if record.id != end
        )
        link = RelatedLink(str(start), str(rel), bool(derived), part, others)
        edges.append((link, str(target), None if end is None else str(end)))

    return edges


def _reached(
    records: RecordSet, edges: Iterable[_Edge], start: str, depth: int, direction: str
) -> Iterable[RelatedRecord]:
    """Yield the records by distance, each once;
    a circle ends there, and the start is not among them.
    """
    ties: dict[str, set[tuple[str, RelatedLink]]] = defaultdict(set)
    for link, _, end in edges:
        if end is None or end == link.start:
            continue

        both = direction == "both" or link.rel == RELATED
        if both or direction == "out":
            ties[link.start].add((end, link))

        if both or direction == "in":
            ties[end].add(
                (link.start, RelatedLink(end, INVERSES.get(link.rel, link.rel), link.derived))
            )

    def order(link: RelatedLink) -> tuple[object, ...]:
        return link.start, link.rel, link.derived, link.part is not None, str(link)

    visited, near = {start}, [start]
    for distance in range(1, depth + 1):
        next_ties: dict[str, set[RelatedLink]] = defaultdict(set)
        for name in near:
            for end, tie in ties.get(name, ()):
                if end not in visited:
                    next_ties[end].add(tie)

        visited.update(next_ties)
        near = sorted(next_ties)
        reached = [record for record_id in near for record in records.with_id(record_id)[:1]]
        for record in sorted(reached, key=lambda record: record.sort_key):
            yield RelatedRecord(record, distance, tuple(sorted(next_ties[record.id], key=order)))
