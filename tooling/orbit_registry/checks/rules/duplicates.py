"""Checks for duplicates (6xx)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain

from orbit_registry.checks.check import check
from orbit_registry.checks.context import CheckContext, grouped, is_ours
from orbit_registry.judgements.is_duplicate import (
    Likeness,
    Reason,
    Wording,
    alike_by_headline,
    is_duplicate,
    limits_of,
    repeated_texts,
)
from orbit_registry.model.diagnostic import Diagnostic, Severity
from orbit_registry.model.ids import OVERRIDES
from orbit_registry.model.record import Record
from orbit_registry.search.similarity import pairs_after_edits

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


_SETTLING = (OVERRIDES, "amends")
"""Links of a record with one that it says nearly the same as, for a reason."""

_ENDING = ("supersedes", "superseded_by")


def is_settled(
    context: CheckContext, first: Record, second: Record, *, is_copy: bool = False
) -> bool:
    """Say whether the two state that they are distinct, that one amends the other or takes its
    place, or share one text. That a copy is distinct from its original settles nothing.
    """
    homes = [context.homes.get(record.path) for record in (first, second)]
    if homes[0] is not None and homes[0] == homes[1]:
        return True

    for record, peer in ((first, second), (second, first)):
        names = {peer.id, *peer.legacy_ids}
        if any(link.rel in _SETTLING and link.to in names for link in record.links):
            return True

        for name in _ENDING if is_copy else (*_ENDING, "distinct_from"):
            matches = chain.from_iterable(map(context.records.candidates, record.words(name)))
            if any(match.uid == peer.uid for match in matches):
                return True

    return False


def _blamed_first(
    context: CheckContext, record_a: Record, record_b: Record
) -> tuple[Record, Record]:
    """Return the pair with the record first that a finding is about:
    the one whose text changed, else the later one.
    """
    first, second = sorted((record_a, record_b), key=lambda record: record.sort_key)
    if _is_text_changed(context, first) and not _is_text_changed(context, second):
        return first, second
    return second, first


def _is_text_changed(context: CheckContext, record: Record) -> bool:
    """Say whether what a record says changed; of an adopted one its document says it."""
    if record.source is not None and record.source.path not in (context.facts.changed or ()):
        return False

    return context.is_changed(record)


def _replacing(record: Record, other: Record) -> str:
    """Return the command by which the later one of two records replaces the other.

    Votes were given to one text: it stays, and takes the other's place.
    """
    first, second = sorted((record, other), key=lambda each: (len(each.votes), each.sort_key))
    return f"`orbit {record.kind.name} supersede {first.id} --with {second.id}`"


def _can_be_error(context: CheckContext, record: Record) -> bool:
    """Say whether a duplicate is an error: in a changed record written with this tool,
    not in an adopted one.
    """
    return is_ours(record) and context.is_changed(record)


# An error only where the record changed.
@check("ORB601", Severity.ERROR, "delete one of them, or let one replace the other")
def same_text(context: CheckContext) -> Iterator[Diagnostic]:
    """Two records say the same, word for word, or have the same headline."""
    for kind, records in groups(context.records).items():
        for same in _copies(context, records):
            for index, record in enumerate(same[1:], start=1):
                finding = _copy(context, same[:index], record)
                if finding is not None:
                    yield finding

        for pair in _pairs_by_kind(context)[kind]:
            if pair.likeness.reason == "headline":
                yield _same(context, pair.neighbour, pair.record, "headline")

    yield from _rejected_before(context)


def _copy(context: CheckContext, earlier: Sequence[Record], record: Record) -> Diagnostic | None:
    """Return the finding of a record that repeats others.

    That a copy is distinct is for a reviewer to judge: it is a warning in the change that says so.
    """
    for other in earlier:
        if not is_settled(context, other, record):
            return _same(context, other, record, "copy")

    for other in earlier:
        finding = _same(context, other, record, "copy")
        is_new = finding.severity is Severity.ERROR
        if is_new and not is_settled(context, other, record, is_copy=True):
            message = f"{finding.message}; `distinct_from` says that they differ"
            return replace(finding, severity=Severity.WARNING, message=message)

    return None


def _rejected_before(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield the changed records that say what a review rejected."""
    rejected = [
        record for record in context.records if record.is_rejected and not record.kind.in_file
    ]
    for record in context.open_records if rejected else ():
        if record.kind.in_file or not _can_be_error(context, record):
            continue

        for other in rejected:
            if other.kind is record.kind and _says_again(context, record, other):
                message = f"{record.id} says what {other.id} said, which a review rejected"
                where = context.at(record, record.kind.headline)
                hint = f"delete it; if the two differ: {_differ(record, other)}"
                yield same_text.at(where, message, record, severity=Severity.WARNING, hint=hint)
                break


def _says_again(context: CheckContext, record: Record, other: Record) -> bool:
    wording, rejected = context.compared[record.path], context.compared[other.path]
    if wording.plain and wording.plain == rejected.plain:
        return not is_settled(context, record, other, is_copy=True)

    is_titled_so = (
        bool(wording.plain_headline) and wording.plain_headline == rejected.plain_headline
    )
    return is_titled_so and not is_settled(context, record, other)


def _copies(context: CheckContext, records: Iterable[Record]) -> list[list[Record]]:
    """Return the records that say the same but for case, punctuation and spaces,
    in groups of two and more.
    """
    by_form = grouped(records, lambda record: context.compared[record.path].plain)
    return [same for form, same in by_form.items() if form and len(same) > 1]


_SAYINGS = {
    "copy": "says the same as {other}, word for word",
    "headline": "has the same headline as {other}",
}


def _same(context: CheckContext, first: Record, second: Record, reason: Reason) -> Diagnostic:
    blamed, other = _blamed_first(context, first, second)
    name = blamed.kind.headline
    replacing = _replacing(blamed, other)
    hint = f"delete one of them, or let one replace the other: {replacing}"
    if reason == "headline":
        hint += f"; if they differ: {_differ(blamed, other)}"

    message = f"{blamed.id} {_SAYINGS[reason].format(other=other.id)}: {other.title}"
    severity = Severity.ERROR if _can_be_error(context, blamed) else Severity.WARNING
    related = [context.at(other, name)]
    where = context.at(blamed, name)
    return same_text.at(where, message, blamed, severity=severity, related=related, hint=hint)


def _differ(record: Record, other: Record) -> str:
    return f"`orbit {record.kind.name} update {record.id} --distinct-from {other.id}`"


# From the warning threshold up; an error from the higher one up, where the record changed.
@check(
    "ORB602",
    Severity.ERROR,
    "merge them, let one replace the other, or say in `distinct_from` that they differ",
)
def near_duplicate(context: CheckContext) -> Iterator[Diagnostic]:
    """Two records say nearly the same."""
    for pairs in _pairs_by_kind(context).values():
        near = (pair for pair in pairs if pair.likeness.reason not in ("copy", "headline"))
        for of_record in grouped(near, lambda pair: pair.record.path).values():
            yield from _nearest(context, of_record)


@lru_cache(maxsize=1)  # two checks ask
def _pairs_by_kind(context: CheckContext) -> Mapping[str, Sequence[_Pair]]:
    by_kind = groups(context.records)
    return {kind: list(_judged_pairs(context, records)) for kind, records in by_kind.items()}


def _judged_pairs(context: CheckContext, records: Sequence[Record]) -> Iterator[_Pair]:
    """Yield the pairs among records of one kind that say the same or nearly so,
    but for copies after the first.
    """
    copies: set[str] = set()
    for _, *others in _copies(context, records):
        copies.update(record.path for record in others)

    alone = {record.path: record for record in records if record.path not in copies}
    wordings = {path: context.compared[path] for path in alone}
    texts = {path: wording.text for path, wording in wordings.items()}
    namespace = f"pairs {records[0].kind.name}"
    threshold = context.config.duplicates["warning"]
    clean = context.without_secrets
    pairs = pairs_after_edits(context.cache, namespace, texts, threshold, clean)
    scores = {(pair.a, pair.b): pair.score for pair in pairs}
    nearness = context.config.duplicates["meaning"]
    meanings = context.meanings(records[0].kind, wordings, nearness)
    changed = [path for path, record in alone.items() if context.is_changed(record)]
    repeated = repeated_texts(wordings, changed)
    candidates = {*scores, *repeated, *_of_headlines(alone, wordings, meanings)}

    limits = limits_of(context.config.duplicates, len(records))
    for first, second in sorted(candidates):
        score = scores.get((first, second), 0.0)
        meaning = meanings.get((first, second), 0.0)
        record, neighbour = _blamed_first(context, alone[first], alone[second])
        compared = wordings[record.path], wordings[neighbour.path]
        likeness = is_duplicate(*compared, score, limits, meaning)
        if not likeness.level or is_settled(context, record, neighbour):
            continue

        yield _Pair(record, neighbour, likeness, _can_be_error(context, record))


def _of_headlines(
    records: Mapping[str, Record],
    wordings: Mapping[str, Wording],
    meanings: Iterable[tuple[str, str]],
) -> Iterator[tuple[str, str]]:
    """Yield the pairs by their headlines; series of adopted documents may share theirs."""
    for first, second in chain(alike_by_headline(wordings), meanings):
        if is_ours(records[first]) or is_ours(records[second]):
            yield first, second


@dataclass(frozen=True, slots=True)
class _Pair:
    record: Record
    neighbour: Record
    likeness: Likeness
    may_be_error: bool

    @property
    def is_error(self) -> bool:
        return self.may_be_error and self.likeness.level == "error"


def _nearest(context: CheckContext, pairs: Sequence[_Pair]) -> Iterator[Diagnostic]:
    """Yield the findings of one record: its nearest pairs,
    an error among them where any pair is one.
    """
    ranked = sorted(pairs, key=lambda pair: (-pair.likeness.score, pair.neighbour.sort_key))
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
    alike = pair.likeness.words
    message = f"{record.id} says nearly the same as {neighbour.id} ({alike}): {neighbour.title}"

    supersede = _replacing(record, neighbour)
    return near_duplicate.at(
        context.at(record, kind.headline),
        message,
        record,
        severity=Severity.ERROR if pair.is_error else Severity.WARNING,
        hint=f"merge them, or {supersede}; if they differ: {_differ(record, neighbour)}{more}",
        related=[context.at(neighbour, kind.headline)],
    )
