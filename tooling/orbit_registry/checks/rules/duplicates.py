"""Checks for duplicates (6xx)."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from orbit_registry.checks.check import check
from orbit_registry.checks.context import CheckContext, is_ours
from orbit_registry.checks.duplicates import FEWEST_TO_ERR, error_threshold, is_apart
from orbit_registry.model.diagnostic import Diagnostic, Severity
from orbit_registry.model.ids import OVERRIDES
from orbit_registry.model.record import Record
from orbit_registry.search.similarity import (
    Contrast,
    Pair,
    Words,
    contrast,
    normalised,
    similar_pairs,
)
from orbit_registry.workspace.cache import digest, row_reader, to_row

MOST_NAMED = 3
"""So many of those that say nearly the same are named for a record:
of documents made alike each is near all others.
"""


def groups(records: Iterable[Record]) -> Mapping[str, list[Record]]:
    """Return the open records by kind; texts that are files may be versions of one another,
    and are left out.
    """
    by_kind: dict[str, list[Record]] = {}
    for record in records:
        if record.phase != "closed" and not record.kind.in_file:
            by_kind.setdefault(record.kind.name, []).append(record)
    return by_kind


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
            matches = (
                match
                for target in record.words(name)
                for match in context.records.candidates(target)
            )
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
    return (
        (first, second)
        if context.is_changed(first) and not context.is_changed(second)
        else (second, first)
    )


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
                other = next(
                    (
                        earlier
                        for earlier in same[:index]
                        if not is_settled(context, earlier, record)
                    ),
                    None,
                )
                if other is not None:
                    yield _pair(context, other, record)


def _copies(context: CheckContext, records: Iterable[Record]) -> list[list[Record]]:
    """Return the records that say the same but for case, punctuation and spaces,
    in groups of two and more.
    """
    by_form: dict[str, list[Record]] = defaultdict(list)
    for record in records:
        by_form[normalised(context.wordings[record.path])].append(record)
    return [same for form, same in by_form.items() if form and len(same) > 1]


def _pair(context: CheckContext, first: Record, second: Record) -> Diagnostic:
    blamed, other = _blamed_first(context, first, second)
    name = blamed.kind.headline
    replace = f"`orbit {blamed.kind.name} supersede {other.id} --with {blamed.id}`"

    return same_text.at(
        context.at(blamed, name),
        f"{blamed.id} says the same as {other.id}, word for word: {other.title}",
        severity=Severity.ERROR if _can_be_error(context, blamed) else Severity.WARNING,
        record=blamed,
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
    upper = context.config.duplicates["error"]
    for records in groups(context.records).values():
        copies = {
            record.path for _, *repeated in _copies(context, records) for record in repeated
        }  # ORB601's
        alone = {record.path: record for record in records if record.path not in copies}
        pairs: dict[str, list[_Pair]] = defaultdict(list)
        words_of = cache(lambda path: Words.of(context.wordings[path]))
        least = error_threshold(upper, is_enough=len(records) >= FEWEST_TO_ERR)

        texts = {path: context.wordings[path] for path in alone}
        for pair in _similar_pairs(context, f"pairs {records[0].kind.name}", texts):
            if not is_settled(context, alone[pair.a], alone[pair.b]):
                record, neighbour = _blamed_first(context, alone[pair.a], alone[pair.b])
                may_be_error = pair.score >= least and _can_be_error(context, record)
                pairs[record.path].append(
                    _Pair(record, neighbour, pair.score, may_be_error, words_of)
                )

        for of_record in pairs.values():
            yield from _nearest(context, of_record)


def _similar_pairs(
    context: CheckContext, namespace: str, texts: Mapping[str, str]
) -> Iterator[Pair]:
    """Yield the similar pairs; an edit that leaves all texts alone leaves the pairs,
    a fifth of a check's time.
    """
    threshold = context.config.duplicates["warning"]
    rows = context.memo(
        namespace,
        digest(texts, threshold),
        lambda: list(map(to_row, similar_pairs(texts, threshold))),
    )
    return map(row_reader(Pair), rows)


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

    more = len(ranked) - len(listed)
    for pair in listed:
        yield _finding(
            context,
            pair,
            f"; {more} more say nearly the same" if more and pair is listed[-1] else "",
        )


def _finding(context: CheckContext, pair: _Pair, more: str) -> Diagnostic:
    record, neighbour, name = pair.record, pair.neighbour, pair.record.kind.headline
    but = pair.contrast.sentence_end if pair.contrast is not None else ""
    # Votes were given to one text: it stays, and takes the other's place.
    keeper, replaced = (
        (record, neighbour) if len(record.votes) >= len(neighbour.votes) else (neighbour, record)
    )
    supersede = f"`orbit {record.kind.name} supersede {replaced.id} --with {keeper.id}`"
    differ = f"`orbit {record.kind.name} update {record.id} --distinct-from {neighbour.id}`"

    return near_duplicate.at(
        context.at(record, name),
        f"{record.id} says nearly the same as {neighbour.id} ({pair.score:.0%} alike{but}): "
        f"{neighbour.title}",
        severity=Severity.ERROR if pair.is_error else Severity.WARNING,
        hint=f"merge them, or {supersede}; if they differ: {differ}{more}",
        record=record,
        related=[context.at(neighbour, name)],
    )
