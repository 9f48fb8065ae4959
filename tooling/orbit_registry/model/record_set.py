"""Collection of records: order, look-up by any id, and duplicate ids."""

import posixpath
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

from orbit_registry.errors import (
    AmbiguousIdError,
    EmptyIdError,
    RecordNotFoundError,
    UsageError,
    plural,
)
from orbit_registry.formats.citations import numbered_name
from orbit_registry.model.diagnostic import Diagnostic
from orbit_registry.model.ids import as_written_here
from orbit_registry.model.kind import Kind
from orbit_registry.model.record import SUPERSEDED, Record

_NUMBER = re.compile(r"(?:(?P<prefix>[A-Za-z]+)[-_ #]?)?0*(?P<number>\d{1,9})")
"""A number as people write it: `7`, `adr-7`, `ADR 007`."""

_ID_START = re.compile(r"[a-z]{1,4}-(?=[0-9a-z]*\Z)")
"""The prefix of what looks like an id: `l-` of `l-00001`."""

NAMED = 3  # examples in a hint about an unknown id


def _is_loosely(any_id: str, record_id: str) -> bool:
    """Say whether a loose id means a record.

    `1`, `ADR-1` and `adr-0001` mean ADR-0001, `l-7k3fq` means L-7k3fq.
    """
    number = _NUMBER.fullmatch(any_id)
    name = numbered_name(record_id)
    # L-00012 is a code of five letters and digits that happens to be all digits.
    is_code = as_written_here(record_id) != record_id
    if number is None or name is None or is_code:
        return any_id.casefold() == record_id.casefold()

    word = number["prefix"] or name.word
    return word.casefold() == name.word.casefold() and int(number["number"]) == name.number


@dataclass(frozen=True, slots=True)
class Retirement:
    """A record that is closed, and the live records that took its place; as text it says so."""

    record: Record
    successors: tuple[Record, ...] = ()

    def __str__(self) -> str:
        record = self.record
        if self.successors:
            successors = " and ".join(successor.id for successor in self.successors)
            return f"{record.id} was superseded by {successors}"

        if record.status.name == SUPERSEDED:
            return f"{record.id} was superseded, and no live record replaces it"

        return f"{record.id} is {record.status.name}"

    def as_data(self) -> dict[str, object]:
        """Return it for JSON."""
        successors = [successor.id for successor in self.successors]
        return {
            "id": self.record.id,
            "status": self.record.status.name,
            "successors": successors,
            "said": str(self),
        }


class RecordSet:
    """Records in the order of their ids; built once, never changed."""

    def __init__(self, records: Iterable[Record], problems: Sequence[Diagnostic] = ()) -> None:
        """Keep records, and problems of files without a record, to explain a failed look-up."""
        self._problems = problems
        self._records = sorted(records, key=lambda record: (record.sort_key, record.path))

    @cached_property
    def _by_id(self) -> Mapping[str, list[Record]]:
        by_id: defaultdict[str, list[Record]] = defaultdict(list)
        for record in self._records:
            by_id[record.id].append(record)

        return by_id

    @cached_property
    def _by_legacy(self) -> Mapping[str, list[Record]]:
        by_legacy: defaultdict[str, list[Record]] = defaultdict(list)
        for record in self._records:
            for name in record.legacy_ids:
                by_legacy[name].append(record)

        return by_legacy

    @cached_property
    def _by_tail(self) -> Mapping[str, list[Record]]:
        by_tail: defaultdict[str, list[Record]] = defaultdict(list)
        for record in self._records:
            for name in record.legacy_ids:
                by_tail[name.rpartition("/")[2]].append(record)

        return by_tail

    def __iter__(self) -> Iterator[Record]:
        return iter(self._records)

    def __len__(self) -> int:
        return len(self._records)

    def __contains__(self, any_id: str) -> bool:
        return bool(self.candidates(any_id))

    def of_kind(self, name: str) -> list[Record]:
        """Return the records of a kind, in order."""
        return [record for record in self._records if record.kind.name == name]

    def with_id(self, record_id: str) -> list[Record]:
        """Return every record with this id; more than one is a collision."""
        return list(self._by_id.get(record_id, ()))

    def with_legacy_id(self, name: str) -> list[Record]:
        """Return every record with this legacy id."""
        return list(self._by_legacy.get(name, ()))

    def with_former_name(self, name: str) -> list[Record]:
        """Return every record with this legacy id.

        A name without a namespace may also be the last part of one.
        """
        by_name = self._by_legacy if "/" in name else self._by_tail
        return list({id(record): record for record in by_name.get(name, ())}.values())

    def candidates(self, any_id: str) -> list[Record]:
        """Return the records that an id can mean.

        It is the id of a record, else a legacy id, else the last part of one.
        """
        return self.with_id(any_id) or self.with_legacy_id(any_id) or self.with_former_name(any_id)

    def _with_loose_id(self, any_id: str) -> list[Record]:
        """Return the records that `1`, `ADR-1` or `adr-0001` means."""
        return [record for record in self._records if _is_loosely(any_id, record.id)]

    def matches(self, any_id: str) -> list[Record]:
        """Return the records that an id means.

        It may be an id, a legacy id or a loose form of an id: `1`, `ADR-1`, `adr-0001`. A record
        that waits for review takes no such form from another one by a legacy id.
        """
        records = self.candidates(any_id)
        if len(records) == 1 and records[0].id != any_id and records[0].phase == "pending":
            return self._with_loose_id(any_id) or records

        return records or self._with_loose_id(any_id)

    def refuse_other_kind(self, any_id: str, kind: Kind, hint: str = "") -> None:
        """Raise where an id means records of other kinds alone; a `hint` names what takes it."""
        records = self.matches(any_id)
        if not records or any(record.kind.name == kind.name for record in records):
            return

        other = records[0].kind
        usual = f"`orbit {other.name} --help` lists what it can do"
        raise UsageError(f"{records[0].id} is {other.with_article}", hint=hint or usual)

    def get(self, any_id: str) -> Record:
        """Return the one record that an id means, in any of its forms, or the path of a file."""
        records = self.matches(any_id) or self._at_path(any_id)
        if len(records) == 1:
            return records[0]

        if not any_id.strip():
            raise EmptyIdError(
                "the id is empty", hint="`orbit list` shows ids; a shell variable may be unset"
            )

        if not records:
            self._refuse_unreadable(any_id)
            raise RecordNotFoundError(f"no record has the id {any_id!r}", hint=self._hint(any_id))

        ids = tuple(record.id for record in records)
        listed = "\n".join(f"  {record.id}  {record.title}  ({record.path})" for record in records)
        message = f"{any_id!r} means {plural(len(records), 'record')}:\n{listed}"
        raise AmbiguousIdError(message, candidates=ids, hint="name one by its own id")

    def _at_path(self, path: str) -> list[Record]:
        """Return the records whose file, folder or document a path from the root names."""
        path = path.removeprefix("./").rstrip("/")
        records = []
        for record in self._records:
            names = [record.path, posixpath.dirname(record.path)]
            if record.source is not None:
                names.append(record.source.path)

            if path in names:
                records.append(record)

        return records

    def _refuse_unreadable(self, any_id: str) -> None:
        """Raise if an id means a file that can't be read."""
        for problem in self._problems:
            for name in (problem.record or "", *problem.location.path.split("/")):
                if _is_loosely(any_id, name):
                    message = f"{name} can't be read: {problem.location}: {problem.message}"
                    hint = problem.hint or "correct it there; `orbit check` says more"
                    raise RecordNotFoundError(message, hint=hint)

    def _hint(self, any_id: str) -> str:
        hint = "`orbit list --all` shows the ids there are"
        near = self._near(any_id.lower())
        if not near:
            return hint

        examples = " or ".join(near[:NAMED])
        if len(near) == 1:
            from textwrap import shorten

            title = shorten(self.candidates(near[0])[0].title, 50, placeholder="…")
            examples += f" ({title})"

        return f"did you mean {examples}? {hint}"

    def _near(self, query: str) -> list[str]:
        """Return ids that an unknown one may mean: of a document, by its letters, by a title."""
        from difflib import get_close_matches  # most ids that are asked for are there

        documents = self._of_document(query)
        if documents:
            return documents

        names = {name.lower(): name for name in chain(self._by_legacy, self._by_id)}
        start = _ID_START.match(query)
        if start is not None and any(name.startswith(start[0]) for name in names):
            names = {name: names[name] for name in names if name.startswith(start[0])}

        number = query.rpartition("-")[2]
        if number.isdecimal():  # another number is another record, not a typing error
            names = {name: names[name] for name in names if name.rpartition("-")[2] == number}

        near = get_close_matches(query, names, n=1, cutoff=0.7)
        if near:
            return [names[near[0]]]

        prefixes = {name.partition("-")[0] for name in names}
        words = {word for word in query.replace("-", " ").split() if len(word) > 2} - prefixes
        shared = {
            record.id: len(words.intersection(record.title.lower().split()))
            for record in self._records
        }
        return sorted(filter(shared.get, shared), key=lambda name: -shared[name])

    def _of_document(self, query: str) -> list[str]:
        paths = [
            (record.id, record.source.path) for record in self._records if record.source is not None
        ]
        paths += [(record.id, record.path) for record in self._records]
        end = f"/{query.removeprefix('./')}"
        return [name for name, path in paths if f"/{path.lower()}".endswith(end)]

    def stated_successors(self, record_id: str) -> set[str]:
        """Return every id that `superseded_by` leads to, over any number of records."""
        visited = set()
        stack = [record_id]
        while stack:
            for record in self.with_id(stack.pop()):
                fresh = [other for other in record.superseded_by if other not in visited]
                visited.update(fresh)
                stack += fresh

        return visited

    def replaced_by(self, record: Record) -> list[str]:
        """Return the names of the records that replaced a record, as either end says."""
        return list(dict.fromkeys([*record.superseded_by, *self._replaced_by.get(record.id, ())]))

    @cached_property
    def _replaced_by(self) -> Mapping[str, list[str]]:
        replaced_by = defaultdict(list)
        for record in self._records:
            for name in record.supersedes:
                for replaced in self.candidates(name):
                    replaced_by[replaced.id].append(record.id)

        return replaced_by

    def live_successors(self, record: Record) -> list[Record]:
        """Return the live records that took a closed one's place, over any number of others."""
        successors = []
        visited = {record.id}
        stack = [record]
        while stack:
            for name in self.replaced_by(stack.pop()):
                candidates = self.candidates(name)
                if len(candidates) != 1 or candidates[0].id in visited:
                    continue

                later = candidates[0]
                visited.add(later.id)
                if later.phase == "live":
                    successors.append(later)
                else:
                    stack.append(later)

        return sorted(successors, key=lambda successor: successor.sort_key)

    def replacements(self, record: Record) -> frozenset[str]:
        """Return the ids of what replaced a record, at once or at the end of a chain."""
        last = (later.id for later in self.live_successors(record))
        return frozenset((*self.replaced_by(record), *last))

    def retirement(self, record: Record) -> Retirement | None:
        """Return that a record is closed, and what took its place, else None."""
        if record.phase != "closed":
            return None

        return Retirement(record, tuple(self.live_successors(record)))

    @property
    def collisions(self) -> dict[str, list[Record]]:
        """Ids that more than one record has."""
        return {
            record_id: records for record_id, records in self._by_id.items() if len(records) > 1
        }
