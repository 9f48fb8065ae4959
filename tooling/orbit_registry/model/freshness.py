"""Freshness of a record, derived from what it states and what disk and git show; never stored."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import StrEnum

from orbit_registry.formats.dates import first_day
from orbit_registry.model.record import Record
from orbit_registry.model.review import has_review
from orbit_registry.model.votes import format_time, time_in

Windows = Mapping[str, int | None]
Evidence = tuple[str, str]  # its kind and its reference
Copied = tuple[str, str]  # the path of a file, and its hash when it was copied

WINDOWS: Windows = {"evergreen": None, "stable": 365, "volatile": 30}
"""Days until a record of a volatility is stale; None: never. A project can configure others."""
AHEAD = timedelta(days=1)  # how far ahead the clock of another machine may be


class State(StrEnum):
    """Freshness of a record."""

    FRESH = "fresh"
    STALE = "stale"
    EXPIRED = "expired"


class Cause(StrEnum):
    """Why a record is not fresh."""

    FINGERPRINT = "fingerprint"
    ANCHOR = "anchor"
    SOURCE = "source"
    AGE = "age"
    EXPIRED = "expired"


_WEIGHTIEST_FIRST = (Cause.EXPIRED, *Cause)


@dataclass(frozen=True, slots=True)
class Input:
    """One fingerprint entry: a file, a folder or a field of a file, and its hash then."""

    input: str
    hash: str | None = None


@dataclass(frozen=True, slots=True)
class InputState:
    """Current state of an input: its hash, or why it has none."""

    hash: str | None = None
    problem: str | None = None  # in words, with a line number where there is one
    is_missing: bool = False
    is_unknown: bool = False  # the input may be fine; this machine can't tell


@dataclass(frozen=True, slots=True)
class FilesystemView:
    """State of the files and commits that records depend on."""

    inputs: Mapping[str, InputState] = field(default_factory=dict)
    """Fingerprint inputs, by their text in records."""
    present: frozenset[Evidence] = frozenset()  # evidence that exists, as kind and reference
    missing: frozenset[Evidence] = frozenset()
    """Evidence that does not exist; what can't be checked is in neither set."""
    unanswered: tuple[tuple[str, str], ...] = ()
    """Questions without an answer here, and what would allow one."""
    changed_sources: Mapping[Copied, bool] = field(default_factory=dict)
    """Sources that no longer have the hash they were copied with, and whether they are missing."""


@dataclass(frozen=True, slots=True)
class Reason:
    """One reason why a record is stale or expired."""

    cause: Cause
    subject: str  # its input, reference, path or moment
    message: str
    is_gone: bool = False
    """What the record depends on does not exist any more, so verifying again does not help."""
    is_unreadable: bool = False
    """What the record depends on can't be read, so it can't be hashed or copied again."""


@dataclass(frozen=True, slots=True)
class Freshness:
    """The derived answer for one record, the weightiest reason first."""

    reasons: tuple[Reason, ...] = ()

    @property
    def state(self) -> State:
        """Whether the record is fresh, stale or expired."""
        if self.cause is None:
            return State.FRESH
        if self.cause is Cause.EXPIRED:
            return State.EXPIRED

        return State.STALE

    @property
    def cause(self) -> Cause | None:
        """The weightiest cause; None if the record is fresh."""
        if not self.reasons:
            return None

        return self.reasons[0].cause

    @property
    def is_gone(self) -> bool:
        """Whether it expired or lost its subject, so that it is to retire.

        A missing input alone is no reason.
        """
        return any(
            reason.is_gone and reason.cause is not Cause.FINGERPRINT for reason in self.reasons
        )


FRESH = Freshness()


def freshness_fields(record: Record) -> Mapping[str, object]:
    """Return the `freshness` field of a record, or an empty mapping."""
    value = record.data.get("freshness")
    if isinstance(value, Mapping):
        return value

    return {}


def fingerprint_inputs(record: Record) -> tuple[Input, ...]:
    """Return the fingerprint of a record, in the file's order."""
    listed = freshness_fields(record).get("fingerprint")
    if not isinstance(listed, list):
        return ()

    inputs = []
    for row in listed:
        if isinstance(row, Mapping):
            checksum = str(row["hash"]) if "hash" in row else None
            inputs.append(Input(str(row["input"]), checksum))

    return tuple(inputs)


def source_hash(record: Record) -> Copied | None:
    """Return the file that a record's text was copied from, or is, and its hash at that time."""
    path = record.text("path")
    checksum = record.text("content_hash")
    if not record.kind.in_file or path is None or checksum is None:
        return None

    return path, checksum


def freshness_time(record: Record, name: str) -> datetime | None:
    """Return a time of a record's freshness in UTC; None if absent or invalid."""
    return time_in(freshness_fields(record).get(name))


def last_reviewed(record: Record) -> datetime | None:
    """Return the time of a record's verification, else of its last change."""
    return freshness_time(record, "verified_at") or time_in(record.data.get("updated_at"))


def created_at(record: Record) -> datetime:
    """Return the time of a record's creation; 1970 if unknown."""
    return time_in(record.data.get("created_at")) or datetime(1970, 1, 1, tzinfo=UTC)


def stale_at(record: Record, windows: Windows = WINDOWS) -> datetime | None:
    """Return when a record's volatility makes it stale; None: never."""
    days = windows.get(str(freshness_fields(record).get("volatility")))
    if days is None:
        return None

    since = last_reviewed(record)
    if since is None:
        return None

    return _days_after(since, days)


def _days_after(since: datetime, days: int) -> datetime | None:
    try:
        return since + timedelta(days=days)
    except OverflowError:
        return None


def has_expiry(record: Record) -> bool:
    """Say whether a record can expire: it states its freshness, or its kind has a lifetime."""
    return "freshness" in record.data or "ttl_days" in record.kind.schema.document["properties"]


def expires_at(record: Record) -> datetime | None:
    """Return when a record expires.

    That is when it states, else its kind's `ttl_days` after its verification or creation. A record
    that is reviewed never ends: its date makes a review due.
    """
    if has_review(record.kind.schema.document["properties"]):
        return None

    stated_end = freshness_time(record, "expires_at")
    if stated_end is not None:
        return stated_end

    schema = record.kind.schema.document["properties"].get("ttl_days")
    if schema is None:
        return None

    days = record.data.get("ttl_days", schema.get("default"))
    if not isinstance(days, int) or days <= 0:
        return None

    return _days_after(freshness_time(record, "verified_at") or created_at(record), days)


def expiry_moments(record: Record, windows: Windows = WINDOWS) -> Iterator[datetime]:
    """Yield the times at which the clock alone changes a record's freshness."""
    ends = freshness_time(record, "expires_at") or expires_at(record)
    yield from filter(None, (ends, stale_at(record, windows)))

    review = first_day(record.review_terms.by)
    if review is not None:
        yield datetime(review.year, review.month, review.day, tzinfo=UTC)

    verified = freshness_time(record, "verified_at")
    if verified is not None and verified.year > 1:
        yield verified - AHEAD


def derive(
    record: Record,
    filesystem: FilesystemView,
    now: datetime,
    windows: Windows = WINDOWS,
    *,
    unmatched_scopes: Collection[str] = (),
    missing_documents: Collection[str] = (),
) -> Freshness:
    """Return the freshness of a record.

    `unmatched_scopes` holds the paths of records whose scope matches no file.
    """
    reasons = [
        *_expiry(record, now),
        *_fingerprint(record, filesystem),
        *_anchors(record, filesystem, unmatched_scopes),
        *_source(record, missing_documents),
        *_content(record, filesystem, missing_documents),
        *_age(record, now, windows),
    ]
    reasons.sort(key=lambda reason: _WEIGHTIEST_FIRST.index(reason.cause))
    return Freshness(tuple(reasons))


def _expiry(record: Record, now: datetime) -> Iterator[Reason]:
    at = expires_at(record)
    if at is not None and at <= now:
        yield Reason(Cause.EXPIRED, format_time(at), f"expired on {at:%Y-%m-%d}", is_gone=True)


def _fingerprint(record: Record, filesystem: FilesystemView) -> Iterator[Reason]:
    for entry in fingerprint_inputs(record):
        state = filesystem.inputs.get(entry.input)
        if state is None or state.is_unknown:
            continue

        if state.problem is not None:
            message = f"`{entry.input}` {state.problem}"
            is_missing = state.is_missing
            yield Reason(
                Cause.FINGERPRINT,
                entry.input,
                message,
                is_gone=is_missing,
                is_unreadable=not is_missing,
            )
        elif entry.hash is not None and entry.hash != state.hash:
            yield Reason(Cause.FINGERPRINT, entry.input, f"`{entry.input}` has changed")


def _anchors(
    record: Record, filesystem: FilesystemView, unmatched_scopes: Collection[str]
) -> Iterator[Reason]:
    if record.path in unmatched_scopes:
        message = "its scope matches no tracked file any more"
        yield Reason(Cause.ANCHOR, "scope.paths", message, is_gone=True)

    if not filesystem.missing or "evidence" not in record.data:
        return

    evidence = record.evidence
    if any(entry in filesystem.present for entry in evidence):
        return

    # A squashed or unfetched commit says nothing of what it showed: the gate notes it (ORB804).
    for kind, reference in evidence:
        if kind != "commit" and (kind, reference) in filesystem.missing:
            message = f"its evidence is gone: {kind} {reference}"
            yield Reason(Cause.ANCHOR, f"{kind}:{reference}", message, is_gone=True)


def _source(record: Record, missing_documents: Collection[str]) -> Iterator[Reason]:
    if not missing_documents:  # spares most records the look at their source
        return

    source = record.source
    if source is not None and source.path in missing_documents:
        message = f"its document {source.path} is not there"
        yield Reason(Cause.SOURCE, source.path, message, is_gone=True)


def _content(
    record: Record, filesystem: FilesystemView, missing_documents: Collection[str]
) -> Iterator[Reason]:
    if not filesystem.changed_sources:
        return

    source = source_hash(record)
    if source is None or source[0] in missing_documents:
        return

    is_lost = filesystem.changed_sources.get(source)
    if is_lost is not None:
        change = "is not there" if is_lost else "has changed since"
        message = f"{source[0]}, which it was taken from, {change}"
        yield Reason(Cause.SOURCE, source[0], message, is_unreadable=is_lost)


def _age(record: Record, now: datetime, windows: Windows) -> Iterator[Reason]:
    limit = stale_at(record, windows)
    if limit is None or limit > now:
        return

    since = last_reviewed(record)
    if since is not None:
        volatility = str(freshness_fields(record).get("volatility"))
        verb = "verified" if freshness_time(record, "verified_at") else "changed"
        days = windows[volatility]
        message = f"last {verb} on {since:%Y-%m-%d}; {volatility} records hold for {days} days"
        yield Reason(Cause.AGE, volatility, message)
