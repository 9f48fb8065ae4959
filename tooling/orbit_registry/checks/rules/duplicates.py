"""Checks for duplicates (6xx)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain

from orbit_registry.checks.check import check
from orbit_registry.checks.context import CheckContext, grouped, is_ours
from orbit_registry.checks.duplicates import FEWEST_TO_ERR, error_threshold, is_apart
from orbit_registry.model.diagnostic import Diagnostic, Severity
from orbit_registry.model.ids import OVERRIDES
from orbit_registry.model.record import Record
from orbit_registry.search.similarity import (
    Contrast,
    Words,
    contrast,
    normalised,
    pairs_after_edits,
)

MOST_NAMED = 3
"""So many of those that say nearly the same are named for a record:
of documents made alike each is near all others.
"""


def groups(records: Iterable[Record]) -> Mapping[str, list[Record]]:
    """Return the open records by kind; texts that are files may be versions of one another,
    and are left out.
    """
    compared = (
        record for record in records if record.phase != "closed" and not record.kind.in_file
    )
    return grouped(compared, lambda record: record.kind.name)


def is_settled(context: CheckContext, first: Record, second: Record) -> bool:
    """Say whether the two state that they are distinct or that one takes the other's place,
    or share one text.
    """
    homes = [context.homes.get(record.path) for record in (first, second)]
    if homes[0] is not None and homes[0] == homes[1]:
        return True

    for record, peer in ((first, second), (second, first)):
        if any(link.rel == OVERRIDES and link.to == peer.id for link in record.links):
            return True

        for name in ("distinct_from", "supersedes", "superseded_by"):
            matches = chain.from_iterable(map(context.records.candidates, record.words(name)))
            if any(match.uid == peer.uid for match in matches):
                return True

    return False


def _blamed_first(
    context: CheckContext, record_a: Record, record_b: Record
) -> tuple[Record, Record]:
    """Return the pair with the record first that a finding is about:
    the one that changed, else the later one.
    """
    first, second = sorted((record_a, record_b), key=lambda record: record.sort_key)
    if context.is_changed(first) and not context.is_changed(second):
        return first, second
    return second, first


def _can_be_error(context: CheckContext, record: Record) -> bool:
    """Say whether a duplicate is an error: in a changed record written with this tool,
    not in an adopted one.
    """
    return is_ours(record) and context.is_changed(record)


# An error only where the record changed.
@check("ORB601", Severity.ERROR, "delete one of them, or let one replace the other")
def same_text(context: CheckContext) -> Iterator[Diagnostic]:
    """Two records say the same, word for word."""
    for records in groups(context.records).values():
        for same in _copies(context, records):
            for index, record in enumerate(same[1:], start=1):
                for earlier in same[:index]:
                    if not is_settled(context, earlier, record):
                        yield _pair(context, earlier, record)
                        break


def _copies(context: CheckContext, records: Iterable[Record]) -> list[list[Record]]:
    """Return the records that say the same but for case, punctuation and spaces,
    in groups of two and more.
    """
    by_form = grouped(records, lambda record: normalised(context.wordings[record.path]))
    return [same for form, same in by_form.items() if form and len(same) > 1]


def _pair(context: CheckContext, first: Record, second: Record) -> Diagnostic:
    blamed, other = _blamed_first(context, first, second)
    name = blamed.kind.headline
    replace = f"`orbit {blamed.kind.name} supersede {other.id} --with {blamed.id}`"

    return same_text.at(
        context.at(blamed, name),
        f"{blamed.id} says the same as {other.id}, word for word: {other.title}",
        blamed,
        severity=Severity.ERROR if _can_be_error(context, blamed) else Severity.WARNING,
        related=[context.at(other, name)],
        hint=f"delete one of them, or let it replace the other: {replace}",
    )


# From the warning threshold up; an error from the higher one up, where the record changed.
@check(
    "ORB602",
    Severity.ERROR,
    "merge them, let one replace the other, or say in `distinct_from` that they differ",
)
def near_duplicate(context: CheckContext) -> Iterator[Diagnostic]:
    """Two records say nearly the same."""
    for records in groups(context.records).values():
        pairs = grouped(_near_pairs(context, records), lambda pair: pair.record.path)
        for of_record in pairs.values():
            yield from _nearest(context, of_record)


def _near_pairs(context: CheckContext, records: Sequence[Record]) -> Iterator[_Pair]:
    """Yield the pairs among records of one kind that say nearly the same."""
    copies: set[str] = set()  # ORB601's
    for _, *repeated in _copies(context, records):
        copies.update(record.path for record in repeated)

    alone = {record.path: record for record in records if record.path not in copies}
    texts = {path: context.wordings[path] for path in alone}
    words_of = cache(lambda path: Words.of(texts[path]))

    upper = context.config.duplicates["error"]
    least = error_threshold(upper, is_enough=len(records) >= FEWEST_TO_ERR)
    namespace = f"pairs {records[0].kind.name}"
    threshold = context.config.duplicates["warning"]
    for pair in pairs_after_edits(context.cache, namespace, texts, threshold):
        first = alone[pair.a]
        second = alone[pair.b]
        if is_settled(context, first, second):
            continue

        record, neighbour = _blamed_first(context, first, second)
        may_be_error = pair.score >= least and _can_be_error(context, record)
        yield _Pair(record, neighbour, pair.score, may_be_error, words_of)


@dataclass(frozen=True, slots=True)
class _Pair:
    record: Record
    neighbour: Record
    score: float
    may_be_error: bool
    words_of: Callable[[str], Words]

    @property
    def contrast(self) -> Contrast | None:
        return contrast(self.words_of(self.record.path), self.words_of(self.neighbour.path))

    @property
    def is_error(self) -> bool:
        return self.may_be_error and not is_apart(self.contrast)


def _nearest(context: CheckContext, pairs: Sequence[_Pair]) -> Iterator[Diagnostic]:
    """Yield the findings of one record: its nearest pairs,
    an error among them where any pair is one.
    """
    ranked = sorted(pairs, key=lambda pair: (-pair.score, pair.neighbour.sort_key))
    listed = ranked[:MOST_NAMED]
    error = next((pair for pair in ranked if pair.is_error), None)
    if error is not None and error not in listed:
        listed[-1] = error

    for pair in listed[:-1]:
        yield _finding(context, pair, "")

    more = len(ranked) - len(listed)
    end = f"; {more} more say nearly the same" if more else ""
    yield _finding(context, listed[-1], end)


def _finding(context: CheckContext, pair: _Pair, more: str) -> Diagnostic:
    record = pair.record
    neighbour = pair.neighbour
    kind = pair.record.kind
    alike = f"{pair.score:.0%} alike"
    differs = pair.contrast
    if differs is not None:
        alike += differs.sentence_end
    message = f"{record.id} says nearly the same as {neighbour.id} ({alike}): {neighbour.title}"

    # Votes were given to one text: it stays, and takes the other's place.
    keeper, replaced = record, neighbour
    if len(record.votes) < len(neighbour.votes):
        keeper, replaced = neighbour, record

    supersede = f"`orbit {kind.name} supersede {replaced.id} --with {keeper.id}`"
    differ = f"`orbit {kind.name} update {record.id} --distinct-from {neighbour.id}`"

    return near_duplicate.at(
        context.at(record, kind.headline),
        message,
        record,
        severity=Severity.ERROR if pair.is_error else Severity.WARNING,
        hint=f"merge them, or {supersede}; if they differ: {differ}{more}",
        related=[context.at(neighbour, kind.headline)],
    )
