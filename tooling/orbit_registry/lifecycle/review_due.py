"""Whether a decision or rule is to be looked at again: record, day and facts in, verdict out.

Nothing changes a record here, and a record that is due still counts.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime

from orbit_registry.formats.dates import first_day
from orbit_registry.formats.globs import matches, readable_globs
from orbit_registry.model.freshness import created_at, freshness_time
from orbit_registry.model.record import Record
from orbit_registry.model.review import Condition, has_review
from orbit_registry.model.votes import time_in

LONGEST_QUOTE = 60  # characters of a commit's subject in a reason


@dataclass(frozen=True, slots=True)
class Change:
    """One commit: its short hash, when it was made, what it says, and the files that it changed."""

    commit: str
    at: datetime
    message: str
    files: Sequence[str]


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of the project apart from its records."""

    changes: Sequence[Change] | None = None
    """The commits, the oldest first; None where there is no history."""
    files: frozenset[str] = frozenset()
    importers: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """The files that import each package or module now."""
    known: frozenset[tuple[str, str]] = frozenset()
    """Pairs of a record's path and a package that was used when someone last looked at it."""


NO_FACTS = Facts()


@dataclass(frozen=True, slots=True)
class Due:
    """Since when a review is due, and why."""

    since: str
    """The month or day, in the words of the record."""
    reasons: tuple[str, ...]

    @property
    def mark(self) -> str:
        """What a line of the record says, to people and to agents."""
        return f"review due since {self.since}"

    def __str__(self) -> str:
        return f"{self.mark}: {'; '.join(self.reasons)}"

    def as_data(self) -> dict[str, object]:
        """Return the verdict as JSON shows it."""
        return {"since": self.since, "reasons": list(self.reasons)}


def review_due(record: Record, today: date, facts: Facts = NO_FACTS) -> Due | None:
    """Judge whether a record that is not closed is due; None: it is not.

    A date counts from its first day on, until someone looks at the record on that day or later.
    A condition counts commits since the last look that leave the record and its document alone.
    """
    if record.phase == "closed" or not has_review(record.kind.schema.document["properties"]):
        return None

    verdicts: list[tuple[date, str, str]] = []
    date_to_review = dated(record)
    if date_to_review is not None and date_to_review[0] <= today:
        day, text = date_to_review
        verdicts.append((day, text, f"its date, {text}, has come"))

    for condition in record.review_terms.when:
        sign = _sign(condition, record, facts)
        if sign is not None:
            day, reason = sign
            verdicts.append((day, f"{day}", reason))

    if not verdicts:
        return None

    verdicts.sort(key=lambda verdict: verdict[0])
    return Due(verdicts[0][1], tuple(reason for _, _, reason in verdicts))


def has_terms(record: Record) -> bool:
    """Say whether a record states when to look at it again; a review of others is never due."""
    terms = record.review_terms
    return bool(terms.by or terms.when or _end(record))


def dated(record: Record) -> tuple[date, str] | None:
    """Return the first day on which a record's date makes it due, and the date in its words.

    None where it states none, or someone has looked at it since.
    """
    days = []
    dates = ((record.review_terms.by, last_look(record)), (_end(record), _answered_at(record)))
    for text, last in dates:
        day = first_day(text)
        if day is not None and (last is None or last.date() < day):
            days.append((day, text))

    return min(days, default=None)


def _answered_at(record: Record) -> datetime | None:
    """Return when someone answered the end of a record: `orbit verify` can give another one."""
    return time_in(record.data.get("reviewed_at"))


def _end(record: Record) -> str:
    """Return the day of `freshness.expires_at`: a decision does not end, it is looked at again."""
    end = freshness_time(record, "expires_at")
    if end is None:
        return ""

    return f"{end.date()}"


def last_look(record: Record) -> datetime | None:
    """Return when someone last looked at a record: at a review, a verification, its approval."""
    looks = (
        time_in(record.data.get("reviewed_at")),
        freshness_time(record, "verified_at"),
        time_in(record.approval.get("approved_at")),
    )
    return max((look for look in looks if look is not None), default=None)


def looked_at(record: Record) -> datetime:
    """Return the moment from which on commits count: the last look, else the record's creation."""
    return last_look(record) or created_at(record)


def _sign(condition: Condition, record: Record, facts: Facts) -> tuple[date, str] | None:
    """Return the day on which a condition was fulfilled, and what shows it."""
    if condition.kind == "uses" and (record.path, condition.value) in facts.known:
        return None
    if facts.changes is None:
        return _sign_without_history(condition, record, facts)

    own = {record.path, record.body_path}
    if record.source is not None:
        own.add(record.source.path)

    since = looked_at(record)
    for change in facts.changes:
        if change.at <= since or not own.isdisjoint(change.files):
            continue

        what = _fulfilled_by(condition, change, facts)
        if what:
            return change.at.astimezone(UTC).date(), f"{what} ({_quoted(change)})"

    return None


def _fulfilled_by(condition: Condition, change: Change, facts: Facts) -> str:
    """Return in words how a commit fulfils a condition; empty if it does not."""
    if condition.kind == "words":
        is_said = _says(condition.value, change.message)
        if is_said:
            return f"a commit says `{condition.value}`"

        return ""

    if condition.kind == "uses":
        importers = facts.importers.get(condition.value, ())
        file = next((file for file in change.files if file in importers), None)
        if file:
            return f"{file} uses `{condition.value}`"

        return ""

    present = facts.files.intersection(change.files)
    file = next(_matching(condition.value, sorted(present)), None)
    if file:
        return f"{file} came or changed"

    return ""


def _sign_without_history(
    condition: Condition, record: Record, facts: Facts
) -> tuple[date, str] | None:
    """Without git the only fact is what is there now, which a look at the record answers."""
    if last_look(record) is not None:
        return None

    day = looked_at(record).astimezone(UTC).date()
    if condition.kind == "path":
        file = next(_matching(condition.value, sorted(facts.files)), None)
        if file:
            return (day, f"{file} is there")

        return None

    file = next(iter(facts.importers.get(condition.value, ())), None)
    is_used = condition.kind == "uses" and file
    if is_used:
        return (day, f"{file} uses `{condition.value}`")

    return None


def _matching(text: str, files: Iterable[str]) -> Iterator[str]:
    """Yield the files that a glob matches; the name of a folder means everything below it."""
    bare = text.removeprefix("./").rstrip("/")
    globs = readable_globs([bare, f"{bare}/**"])
    for file in files:
        if any(matches(glob, file) for glob in globs):
            yield file


def _says(words: str, message: str) -> bool:
    """Say whether a message has some words in a row, whatever their case and the space between."""
    pattern = r"\s+".join(map(re.escape, words.split()))
    return re.search(rf"(?<!\w){pattern}(?!\w)", message, re.IGNORECASE) is not None


def _quoted(change: Change) -> str:
    subject = change.message.partition("\n")[0].strip()
    if len(subject) > LONGEST_QUOTE:
        subject = f"{subject[:LONGEST_QUOTE].rstrip()}…"

    return f"{change.commit}: {subject}"
