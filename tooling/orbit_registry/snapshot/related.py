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
    """How a record is reached: from which one, and how the link reads from there."""

    start: str
    rel: str
    derived: bool  # not stated
    part: LinkedChunk | None = None
    """Where in a long text the link leads; None where it leads to all of it."""
    others: tuple[Other, ...] = ()
    """The records of the same file for other versions, where the link names the file."""

    def as_data(self) -> dict[str, object]:
        """Return it as JSON shows it."""
        return {
            "from": self.start,
            "rel": self.rel,
            "derived": self.derived,
            "chunk": self.part and self.part.as_data(),
            "others": [{"id": name, "versions": list(versions)} for name, versions in self.others],
        }


@dataclass(frozen=True, slots=True)
class RelatedRecord:
    """A record that is reached after `depth` links, and every link from the records one step
    nearer.
    """

    record: Record
    depth: int
    ties: tuple[RelatedLink, ...]

    def links(self) -> str:
        """Return how it is reached, in words: stated relations first, and the lines that a link
        leads to.
        """
        ways: list[tuple[bool, str, str]] = []
        for tie in self.ties:
            lines = ""
            if tie.part is not None:
                first, last = tie.part.lines
                lines = f"lines {first}-{last}"
            ways.append((tie.derived, tie.rel, lines))

        words = (f"{rel} {lines}".rstrip() for _, rel, lines in sorted(ways))
        return ", ".join(dict.fromkeys(words))


@dataclass(frozen=True, slots=True)
class Related:
    """What is related to a record: records by distance, names that no record has, and lines of
    files that cite it.
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
    """Return what is related to a record, up to so many links away.

    The snapshot is brought up to date first.
    """
    records = reading.collection.records
    edges = _edges(workspace, reading, NameResolver(tuple(records)))
    reached = tuple(_reached(records, edges, record.id, depth, direction))

    dangling: set[tuple[str, str, bool]] = set()
    if direction != "in":
        for link, target, end in edges:
            if link.start == record.id and not end:
                dangling.add((link.rel, target, link.derived))

    lines: list[tuple[str, int]] = []
    if direction != "out":
        for row in citations_of(workspace, tuple(records), workspace.git.tracked()):
            if row["target_id"] == record.id:
                lines.append((str(row["path"]), int(str(row["line"]))))

    return Related(record, reached, tuple(sorted(dangling)), tuple(dict.fromkeys(lines)))


def _edges(workspace: Workspace, reading: Reading, names: NameResolver) -> list[_Edge]:
    from orbit_registry.snapshot.query import query_reading  # DuckDB

    edges: list[_Edge] = []
    links = query_reading(workspace, _LINKS, reading).rows
    for start, rel, target, end, derived, crumb, first, last in links:
        part = None
        if first is not None:
            part = LinkedChunk(str(crumb or ""), (int(str(first)), int(str(last))))

        peers: list[Record] = []
        if derived and end is not None and "." in str(target):
            peers = names.of_file(str(target).partition("#")[0])

        others = [(record.id, record.words("versions")) for record in peers if record.id != end]
        link = RelatedLink(str(start), str(rel), bool(derived), part, tuple(others))
        edges.append((link, str(target), None if end is None else str(end)))

    return edges


def _reached(
    records: RecordSet, edges: Iterable[_Edge], start: str, depth: int, direction: str
) -> Iterable[RelatedRecord]:
    """Yield the records by distance, each once; a circle ends, and the start is not among them."""
    ties: dict[str, set[tuple[str, RelatedLink]]] = defaultdict(set)
    for link, _, end in edges:
        if end is None or end == link.start:
            continue

        both = direction == "both" or link.rel == RELATED
        if both or direction == "out":
            ties[link.start].add((end, link))

        if both or direction == "in":
            back = RelatedLink(end, INVERSES.get(link.rel, link.rel), link.derived)
            ties[end].add((link.start, back))

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
        reached: list[Record] = []
        for name in near:
            reached += records.with_id(name)[:1]

        for record in sorted(reached, key=lambda record: record.sort_key):
            yield RelatedRecord(record, distance, tuple(sorted(next_ties[record.id], key=order)))
