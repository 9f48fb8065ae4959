"""Relations of records, read from both ends, and what is known of each."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime
from functools import cached_property
from itertools import chain, pairwise
from types import MappingProxyType
from typing import Any

from orbit_registry.lifecycle.built import Built
from orbit_registry.lifecycle.review_due import Due
from orbit_registry.model.freshness import Freshness, State
from orbit_registry.model.ids import INVERSES
from orbit_registry.model.kind import Kind
from orbit_registry.model.record import Record
from orbit_registry.model.record_set import RecordSet
from orbit_registry.model.votes import by_month, distinct_votes, format_time
from orbit_registry.operations.glob_counts import FilesByGlob
from orbit_registry.site.language import fact, relation_label, word
from orbit_registry.site.mentions import Citers
from orbit_registry.site.words import Age, ages_of

LOG = 13  # decisions that the page of one names next to it
MONTHS = 24  # how far back votes are counted month by month


class Relations:
    """Relations of records, read from both ends, their freshness and their order.

    `records` are in the order of lists. `freshness`, `matches`, `checks`, `due`, `sentences` and
    `built` are by the record's path; a record that is left out is fresh. `today` ends the months of
    votes.
    """

    def __init__(
        self,
        records: Iterable[Record],
        freshness: Mapping[str, Freshness] = MappingProxyType({}),
        today: date | None = None,
        citers: Citers | None = None,
        matches: Mapping[str, FilesByGlob] = MappingProxyType({}),
        checks: Mapping[str, dict[str, Any]] = MappingProxyType({}),
        sentences: Mapping[str, str] = MappingProxyType({}),
        due: Mapping[str, Due] = MappingProxyType({}),
        built: Mapping[str, Built] = MappingProxyType({}),
    ) -> None:
        self._freshness, self.due, self.built = freshness, due, built
        self.citers, self.matches, self.checks = citers or Citers(), matches, checks
        self.sentences = sentences
        self.today = today or datetime.now(UTC).date()
        in_order = list(records)
        self.records = RecordSet(in_order)

        often = Counter(record.id for record in in_order)
        self.by_id = {record.id: record for record in in_order if often[record.id] == 1}
        by_kind: dict[str, list[Record]] = defaultdict(list)
        for record in in_order:
            by_kind[record.kind.name].append(record)

        self._logs = {name: same for name, same in by_kind.items() if same[0].kind.in_document}
        self._places: dict[str, int] = {}
        for same in self._logs.values():
            self._places |= {record.path: place for place, record in enumerate(same)}

        pairs = [*chain.from_iterable(map(pairwise, by_kind.values()))]
        self._before = {later.path: earlier for earlier, later in pairs}
        self._after = {earlier.path: later for earlier, later in pairs}
        self._replaces: dict[str, list[str]] = defaultdict(list)
        self._inverse: dict[str, list[tuple[str, str]]] = defaultdict(list)

        for record in self.by_id.values():
            for other in record.superseded_by:
                self._replaces[other].append(record.id)
            for link in record.links:
                self._inverse[link.to].append((INVERSES.get(link.rel, "referenced_by"), record.id))

    def neighbours(self, record: Record) -> tuple[Record | None, Record | None]:
        """Return the records of its kind before and after it in lists."""
        return self._before.get(record.path), self._after.get(record.path)

    def sentence(self, record: Record) -> str:
        """Return a decision in one sentence, "" without one and for other records."""
        if not record.kind.in_document:
            return ""

        sentence = self.sentences.get(record.path, "")
        if sentence == record.title:
            return ""

        return sentence

    def log_around(self, record: Record) -> Sequence[Record]:
        """Return the decisions around one, the newest first, itself among them; none for records
        of other kinds.
        """
        log = self._logs.get(record.kind.name, [])
        if len(log) < 2:
            return ()

        place = self._places[record.path]
        first = max(0, min(place - LOG // 2, len(log) - LOG))
        return log[first : first + LOG][::-1]

    def log(self, kind: Kind) -> Sequence[Record]:
        """Return all decisions of a kind, the newest first, if the page of one names not all."""
        log = self._logs.get(kind.name, [])
        if len(log) > LOG:
            return log[::-1]

        return ()

    def doubts(self, record: Record) -> str:
        """Return why a live record may hold no longer, "" without a reason."""
        freshness = self._freshness.get(record.path) if record.phase == "live" else None
        if freshness is None:
            return ""
        is_over = freshness.state is State.EXPIRED
        words = word("record.expired" if is_over else "record.doubted")
        return f"{words}: {'; '.join(fact(reason.message) for reason in freshness.reasons)}"

    def votes(self, record: Record) -> dict[str, Any] | None:
        """Return count, day of the last one, and how many each of the last months had;
        None where there is none.
        """
        votes = distinct_votes(record.votes)
        if not votes:
            return None

        months = by_month(votes, self.today, MONTHS)
        return {
            "count": len(votes),
            "last": format_time(votes[-1].voted_at)[:10],
            "months": list(months),
            "until": f"{self.today:%Y-%m}",
        }

    @cached_property
    def ages(self) -> Mapping[str, Age]:
        """What the records are sorted by, the newest last, by path."""
        return ages_of(self.records)

    def replaces(self, record: Record) -> list[str]:
        """Return the ids this record replaces, as either end says."""
        return list(dict.fromkeys([*record.supersedes, *self._replaces.get(record.id, ())]))

    def replaced_by(self, record: Record) -> list[str]:
        """Return the ids that replace this record, as either end says."""
        return self.records.replaced_by(record)

    def successors(self, record: Record) -> Sequence[Record]:
        """Return the live records that took the place of a closed one."""
        if record.phase == "closed":
            return self.records.live_successors(record)

        return ()

    def successors_today(self, record: Record) -> list[str]:
        """Return the ids of these without its direct successors."""
        direct = self.replaced_by(record)
        return [successor.id for successor in self.successors(record) if successor.id not in direct]

    def links(self, record: Record) -> list[tuple[str, list[str]]]:
        """Return labels and ids of the links from and to this record."""
        by_label: dict[str, list[str]] = defaultdict(list)
        for link in record.links:
            by_label[relation_label(link.rel)].append(link.to)
        for rel, other in self._inverse.get(record.id, ()):
            by_label[relation_label(rel)].append(other)
        return [(label, list(dict.fromkeys(ids))) for label, ids in by_label.items()]
