"""Records that documents mean by links, numbers and names, and the edges between them."""

import posixpath
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile

from orbit_registry.formats.adr.model import OTHER_KEY, AdrDocument, Rel, Relation
from orbit_registry.formats.links import is_markdown, path_from_root, split_link
from orbit_registry.model.ids import sequence_number
from orbit_registry.model.record import Record
from orbit_registry.repository.codec import list_in

FORWARD: Mapping[Rel, tuple[str, bool]] = {
    "supersedes": ("supersedes", False),
    "superseded_by": ("supersedes", True),
    "amends": ("amends", False),
    "amended_by": ("amends", True),
    "extends": ("extends", False),
    "extended_by": ("extends", True),
    "reverts": ("contradicts", False),
    "reverted_by": ("contradicts", True),
    "implements": ("implements", False),
    "related_to": ("related_to", False),
    "references": ("references", False),
}
"""The relation of the closed vocabulary that says it, and whether it is read from its other end."""

# the key that keeps what a document says of another decision and that leads to no record
UNRESOLVED = "x-unresolved"

_DIGITS = re.compile(r"\d{1,9}")
_NUMBER = re.compile(r"(?:(?:ADRs?|decision)[-_ #]{0,3}|#)?0*(?P<number>\d{1,9})\Z", re.IGNORECASE)
_IN_FRAGMENT = re.compile(r"adr[-_ ]?0*(?P<number>\d{1,9})", re.IGNORECASE)
_ZEROS = re.compile(r"\A(?P<code>[a-z]{1,8})[-_ #]{1,2}0*(?=\d{1,6}\Z)")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_PAGE = re.compile(
    r"https?://(?P<repository>[^?#]+?)/(?:-/)?(?:blob|tree|src/branch|src)/[^/?#]+/(?P<path>[^?]+)"
)
"""A file's page on a forge; of a branch with a slash in its name, the path is not known."""


@dataclass(frozen=True, slots=True)
class Edge:
    """One edge between two records of the registry."""

    rel: str
    subject: str
    target: str
    stated_by: str  # the record whose document says it
    as_written: str
    of_part: bool = False  # it replaces a part of the target alone


@dataclass(frozen=True, slots=True)
class Unresolved:
    """A statement about another decision that leads to no record, or to several."""

    rel: str
    target: str
    candidates: tuple[str, ...]
    reason: str

    def as_data(self) -> dict[str, object]:
        """Return it as the record keeps it, under `x-unresolved`."""
        data: dict[str, object] = {"rel": self.rel, "to": self.target}
        if self.candidates:
            return {**data, "candidates": list(self.candidates)}

        return data


def without_answered(
    data: Mapping[str, object], rel: str, other: Record, *, is_inverted: bool = False
) -> dict[str, object]:
    """Return a record's data without the open statements that a link to `other` answers;
    `is_inverted` if it states the link from its other end.
    """
    entries = list_in(data, UNRESOLVED)
    remaining = [entry for entry in entries if not _answers(entry, (rel, is_inverted), other)]
    others = {key: value for key, value in data.items() if key != UNRESOLVED}
    if remaining:
        return {**others, UNRESOLVED: remaining}

    return others


def _answers(entry: object, relation: tuple[str, bool], other: Record) -> bool:
    if not isinstance(entry, Mapping) or FORWARD.get(entry.get("rel", "")) != relation:
        return False

    if candidates := entry.get("candidates"):
        return other.id in candidates

    return str(entry.get("to", "")).casefold() in {
        name.casefold() for name in (other.id, *other.legacy_ids)
    }


@dataclass(frozen=True, slots=True)
class RecordLocation:
    """Path, number and names by which documents refer to a record."""

    id: str
    path: str | None
    number: int | None  # the number that the text is known by; not always that of the id
    names: tuple[str, ...] = ()


def location_of(record: Record) -> RecordLocation:
    """Return a record's path, number and names."""
    source = record.source
    numbers = [name for name in record.legacy_ids if name.isdigit()]
    digits = _DIGITS.search(source.heading) if source and source.heading else None
    number = sequence_number(record.id, "ADR-")
    if digits:
        number = int(digits[0])
    elif numbers:
        number = int(numbers[0])

    return RecordLocation(record.id, source.path if source else None, number, record.legacy_ids)


class Targets:
    """Finds the record that a document means by a link, a number or a name."""

    def __init__(
        self, locations: Iterable[RecordLocation], repositories: Collection[str] = ()
    ) -> None:
        """`repositories` are the web addresses of the one that the documents are in,
        without their scheme.
        """
        self._repositories = repositories
        self._paths: dict[str, str] = {}
        self._by_path: dict[str, dict[str, int | None]] = defaultdict(dict)
        self._by_folder: dict[tuple[str, int], list[str]] = defaultdict(list)
        self._by_number: dict[int, list[str]] = defaultdict(list)

        self._by_name: dict[str, list[str]] = defaultdict(list)

        for location in locations:
            if location.path is not None:
                self._paths[location.id] = location.path
                self._by_path[location.path][location.id] = location.number

            if location.number is not None:
                if location.path is not None:
                    self._by_folder[posixpath.dirname(location.path), location.number].append(
                        location.id
                    )
                self._by_number[location.number].append(location.id)

            for name in dict.fromkeys(map(_name_key, (location.id, *location.names))):
                self._by_name[name].append(location.id)

    def find(self, path: str, relation: Relation) -> tuple[tuple[str, ...], str]:
        """Return the ids that a statement in the document at `path` can mean,
        and why there is not one.
        """
        target = (
            relation.target_raw.strip().strip("<>").replace("\\", "/")
        )  # as Windows writes a path
        page = _PAGE.match(target)
        if page is not None and page["repository"].casefold() in self._repositories:
            target = f"/{page['path']}"
        elif _SCHEME.match(target) and not target.lower().startswith("adr:"):
            return (), "it is outside this repository"

        file, fragment = split_link(target)
        if fragment or "/" in file or is_markdown(file):
            ids = self._in_file(path, file, fragment, relation.text)
            if ids == ():  # a file that was moved is still known by its name
                ids = tuple(
                    self._by_name.get(
                        _name_key(posixpath.splitext(posixpath.basename(file))[0]), ()
                    )
                )

            if ids is not None:
                return ids, "the link's target holds several decisions" if len(
                    ids
                ) > 1 else "no decision is there"

        return self._named(path, target) or ((), "no decision has that number or name")

    def _in_file(self, path: str, file: str, fragment: str, text: str) -> tuple[str, ...] | None:
        """Return the records of the file a link names;
        None where the words are no link but a name with a slash.
        """
        target = path_from_root(file, posixpath.dirname(path)) if file else path
        if target not in self._by_path:
            if is_markdown(file):
                return ()

            return None
        return self.at(target, fragment, text)

    def held(self, path: str) -> Collection[str]:
        """Return all records that a file from the root holds."""
        return self._by_path.get(path, {})

    def at(self, path: str, fragment: str = "", text: str = "") -> tuple[str, ...]:
        """Return the records that a file from the root holds;
        of several, the one whose number anchor or words say.
        """
        records = self._by_path.get(path, {})
        if len(records) < 2:
            return tuple(records)

        number = _IN_FRAGMENT.search(fragment) or _IN_FRAGMENT.search(text)
        return tuple(
            record
            for record, own_number in records.items()
            if number and own_number == int(number["number"])
        )

    def _named(self, path: str, target: str) -> tuple[tuple[str, ...], str] | None:
        match = _NUMBER.match(target.strip("`[]() "))
        if match:
            number = int(match["number"])
            here = self._by_folder.get((posixpath.dirname(path), number), [])
            ids = here or self._nearest(path, self._by_number.get(number, []))
            if ids:
                return tuple(dict.fromkeys(ids)), "the number is that of several decisions"

        if "/" in target:
            of_a_page = target.partition("#")[0].rstrip("/").rpartition("/")[2]
        else:
            of_a_page = target

        names = (
            target,
            of_a_page,
            "-".join(of_a_page.split()),
        )  # `[[Use one queue]]` is a file with blanks
        ids = next(
            (matches for name in names if (matches := self._by_name.get(_name_key(name)))), []
        )
        if ids:
            return (tuple(dict.fromkeys(ids)), "several decisions have that name")

        return None

    def _nearest(self, path: str, ids: list[str]) -> list[str]:
        if len(ids) < 2:
            return ids

        here = posixpath.dirname(path)
        shared = [_shared_folders(here, self._paths.get(record, "")) for record in ids]
        return [record for record, depth in zip(ids, shared, strict=True) if depth == max(shared)]


def _name_key(name: str) -> str:
    """Return a name in the form in which it is looked up: `KEP-18` is `KEP-0018` too."""
    return _ZEROS.sub(r"\g<code>-", name.casefold())


def _shared_folders(folder: str, path: str) -> int:
    """Return how many folders at the start are those of a path too."""
    pairs = zip(folder.split("/"), posixpath.dirname(path).split("/"), strict=False)
    return len([*takewhile(lambda pair: pair[0] == pair[1], pairs)])


def read_edges(
    record: str,
    path: str,
    entry: AdrDocument,
    targets: Targets,
    successions: Collection[tuple[str, str]] = (),
) -> Iterator[Edge | Unresolved]:
    """Yield each statement of a decision's document about another decision.

    Mere mentions in prose are no edges: the text itself keeps them. Links to other decisions are
    `references`. `successions` are the (successor, predecessor) that documents state: one that the
    predecessor's states holds, be the successor only proposed.
    """
    linked: set[str] = set()
    for relation in entry.relations:
        is_link = relation.stated or is_markdown(relation.target_raw.partition("#")[0])
        if relation.weak or (relation.rel == "references" and not is_link):
            continue

        rel, inverted = FORWARD[relation.rel]
        ids, reason = targets.find(path, relation)
        if len(ids) != 1:
            if relation.rel != "references" or len(ids) > 1:
                yield Unresolved(relation.rel, _short_line(relation.target_raw), ids, reason)
            continue

        other = ids[0]
        if other == record or (rel == "references" and other in linked):
            continue

        linked.add(other)
        subject, target = (other, record) if inverted else (record, other)
        is_pending = relation.rel == "supersedes" and entry.status in ("proposed", "rejected")
        if is_pending and (record, other) not in successions:
            is_replaced = (other, record) in successions
            instead = "the other one replaces it" if is_replaced else "the two are related instead"
            reason = f"a {entry.status} decision replaces nothing; {instead}"
            yield Unresolved(relation.rel, _short_line(relation.target_raw), (), reason)

            if not is_replaced:
                yield Edge("related_to", record, other, record, _short_line(relation.target_raw))
            continue

        as_written = _short_line(f"{relation.rel} {relation.target_raw}")
        yield Edge(rel, subject, target, record, as_written, relation.of_part)


def other_links(
    path: str, entry: AdrDocument, targets: Targets
) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Yield (field, value, ids) of each field of the front matter that names records and that
    Orbit has no word for.
    """
    from orbit_registry.formats.adr.relations import value_phrases  # its patterns take 10 ms

    for fact in entry.facts:
        for value in fact.values if fact.key == OTHER_KEY else ():
            for phrase in value_phrases("related_to", value, 0, len(value)):
                relation = Relation(
                    "related_to", phrase.target, entry.position, phrase.span, phrase.text
                )
                ids, _ = targets.find(path, relation)
                if ids:
                    yield fact.raw, value, ids


def _short_line(text: str) -> str:
    return " ".join(text.split())[:400]


FieldsByRecord = Mapping[str, Mapping[str, list[object]]]
"""Record → field → entries."""


def tabulate(edges: Sequence[Edge]) -> FieldsByRecord:
    """Return the edges by record, each once, supersession at both ends."""
    table: dict[str, dict[str, list[object]]] = defaultdict(lambda: defaultdict(list))
    pairs = dict.fromkeys((edge.rel, edge.subject, edge.target) for edge in edges)
    of_part = {(edge.rel, edge.subject, edge.target) for edge in edges if edge.of_part}
    related = {(subject, target) for rel, subject, target in pairs if rel != "references"}
    for rel, subject, target in pairs:
        if rel == "references" and ((subject, target) in related or (target, subject) in related):
            continue
        if rel == "related_to" and (rel, target, subject) in pairs and target < subject:
            continue

        if rel == "supersedes":
            table[subject]["supersedes"].append(target)
            table[target]["superseded_by"].append(subject)
        else:
            link = {"rel": rel, "to": target}
            if (rel, subject, target) in of_part:
                link["reason"] = "replaces a part"

            table[subject]["links"].append(link)

    return table
