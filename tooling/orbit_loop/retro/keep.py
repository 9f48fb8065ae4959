"""Record of a retro, with pending learnings for its findings and failures for what failed."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from orbit_loop.capture.candidates import propose
from orbit_loop.retro import failures
from orbit_loop.retro.ensure import (
    INSERTED,
    UNCHANGED,
    UPDATED,
    EnsureRequest,
    EnsureResult,
    ensure_all,
)
from orbit_loop.retro.form import (
    COMMAND_PURPOSE,
    COMPLETED,
    FAILED,
    REQUEUED,
    Outcome,
    Retro,
    read_retro,
    recorded_outcome,
)
from orbit_loop.retro.gather import GatheredRetro
from orbit_loop.retro.note import LEARNING
from orbit_registry.errors import OrbitError, RefusedError, UsageError, plural
from orbit_registry.formats.untrusted import cut
from orbit_registry.formats.wording import normalised
from orbit_registry.hook import events
from orbit_registry.model.freshness import created_at, last_reviewed
from orbit_registry.model.record import Record
from orbit_registry.model.record_set import RecordSet
from orbit_registry.model.votes import format_time, parse_time
from orbit_registry.repository.reader import read_collection
from orbit_registry.workspace.author import Author
from orbit_registry.workspace.event_log import write_event
from orbit_registry.workspace.files import document_text
from orbit_registry.workspace.workspace import Workspace

KIND, FILE = "retro", "retro.md"
BELOW = "below the noise bar"
LONGEST_SUMMARY = 500
ALIKE = (
    0.85  # share of words that makes a finding the same as a learning, unless a negation differs
)
_DAYS = 7


@dataclass(frozen=True, slots=True)
class RetroResult:
    """Result of a retro: its record, findings, and changed failures."""

    outcome: str
    record: Record | None = None
    reason: str = ""
    findings: tuple[EnsureResult, ...] = ()
    opened: tuple[Record, ...] = ()
    cleared: tuple[Record, ...] = ()
    notes: tuple[str, ...] = field(default=())

    @property
    def is_written(self) -> bool:
        """Whether anything was written."""
        has_written_finding = any(
            finding.outcome in (INSERTED, UPDATED) for finding in self.findings
        )
        return (
            self.outcome in (INSERTED, UPDATED)
            or has_written_finding
            or bool(self.opened or self.cleared)
        )


def record_retro(
    workspace: Workspace,
    retro: Retro,
    author: Author,
    now: datetime,
    *,
    pending: bool = False,
    scope: Mapping[str, Sequence[str]] | None = None,
    gathered: GatheredRetro | None = None,
    dry_run: bool = False,
) -> RetroResult:
    """Write a retro, merged with the earlier one of the same run;
    `scope` is that of its findings.
    """
    if retro.trigger is None:
        hint = "orbit retro --loop L-17 --from retro.md; or --session, --incident"
        raise UsageError("of which run is it", hint=hint)

    key = str(retro.trigger)
    records = read_collection(workspace).records
    same = (record for record in records.of_kind(KIND) if record.text("key") == key)
    before = next((record for record in same if record.phase != "closed"), None)
    merged = _completed(_existing_retro(workspace, before).joined(retro), now)

    noise = merged.noise(workspace.config.setting("loop", "retro_targets"))
    if noise:
        if not dry_run:
            skipped = {"trigger": key, "skip_reason": "below-noise-bar"}
            write_event(workspace, events.RETRO, [], skipped)
        # A target that succeeded may be tried again, however little there is to tell.
        changes = _FailureChanges(workspace, merged, before, author, now, dry_run=dry_run)
        changes.apply(merged.outcomes)
        reason = f"{BELOW}: {noise}"
        cleared, notes = tuple(changes.cleared), tuple(changes.notes)
        return RetroResult(UNCHANGED, reason=reason, cleared=cleared, notes=notes)

    def joined(current: Record) -> EnsureRequest:  # another process may have added to it meanwhile
        return _entry(_completed(_existing_retro(workspace, current).joined(retro), now), key)

    entry = replace(_entry(merged, key), join=joined)
    ensured = ensure_all(workspace, [entry], author, pending=pending, dry_run=dry_run)[0]
    record = ensured.record or before
    if record is None:
        raise RefusedError(ensured.reason, hint="nothing was written; correct what it says")
    if record.phase == "closed":
        return RetroResult(ensured.outcome, record, ensured.reason)

    if gathered is not None:
        findings = _propose_findings(workspace, gathered, record, dry_run=dry_run)
    else:
        entries = [*_findings(workspace, merged, key, record, scope or {})]
        findings = ensure_all(workspace, entries, author, pending=True, dry_run=dry_run)

    changes = _FailureChanges(
        workspace, merged, record, author, now, is_gathered=gathered is not None, dry_run=dry_run
    )
    changes.apply(merged.outcomes)
    done = RetroResult(
        ensured.outcome,
        record,
        ensured.reason,
        tuple(findings),
        tuple(changes.opened),
        tuple(changes.cleared),
        tuple(changes.notes),
    )
    if done.is_written and not dry_run:
        details = {"trigger": key, "findings": len(findings)}
        write_event(workspace, events.RETRO, [record.id], details)

    return done


def _retro_of(record: Record, text: str = "") -> Retro:
    data: Mapping[str, Any] = record.data
    parsed = read_retro(text, FILE) if text.lstrip().startswith("#") else Retro()
    retro = replace(
        parsed,
        trigger=failures.target_from(data.get("trigger")),
        date=str(data.get("date", "")),
        title="",
        summary=str(data.get("summary", "")),
        outcomes=tuple(map(recorded_outcome, data.get("outcomes", ()))),
        durable_behavior=record.words("durable_behavior"),
        recommendations=record.words("recommendations"),
    )
    if record.title == _title(retro):
        return retro

    return replace(retro, title=record.title)


def recorded_retros(workspace: Workspace, records: RecordSet) -> Iterator[tuple[Record, Retro]]:
    """Yield the live retro records with their content."""
    for record in records.of_kind(KIND):
        if record.phase == "live":
            yield record, _existing_retro(workspace, record)


def _existing_retro(workspace: Workspace, record: Record | None) -> Retro:
    if record is None or record.source is None:
        return Retro()
    text = document_text(
        workspace.root, record.source.path
    )  # without it, the record's fields remain
    return _retro_of(record, text or "")


def _completed(retro: Retro, now: datetime) -> Retro:
    date = retro.date or format_time(now)
    try:
        if len(date) == len("2026-11-22"):  # the end of the day, but not after now
            date = min(format_time(now), f"{date}T23:59:59Z")
        parse_time(date)
    except ValueError:
        hint = "a day or a moment with its zone: 2026-11-22, 2026-11-22T07:00:00Z"
        raise UsageError(f"{date[:80]!r} is not a date", hint=hint) from None

    summary, text = retro.summary, retro.text
    if len(summary) > LONGEST_SUMMARY:
        if summary not in text:
            text = "\n\n".join(filter(None, (f"## In full\n\n{summary}", text)))
        else:
            text = text

        summary = cut(summary, LONGEST_SUMMARY)

    dated = replace(retro, date=date, summary=summary, text=text)
    return replace(dated, title=(dated.title or _title(dated))[:300])


def _title(retro: Retro) -> str:
    results = [outcome.came_to for outcome in retro.outcomes]
    counts = ", ".join(f"{results.count(name)} {name}" for name in dict.fromkeys(results))
    return f"{retro.trigger}: {counts or retro.summary or plural(len(retro.findings), 'finding')}"[
        :300
    ]


def _entry(retro: Retro, key: str) -> EnsureRequest:
    trigger = retro.trigger.as_data() if retro.trigger is not None else {}
    values = {
        "title": retro.title,
        "trigger": trigger,
        "date": retro.date,
        "summary": retro.summary,
        "outcomes": [outcome.as_data() for outcome in retro.outcomes],
        "durable_behavior": list(retro.durable_behavior),
        "recommendations": list(retro.recommendations),
        "file": FILE,
    }
    fields = {name: value for name, value in values.items() if value not in ("", [])}
    return EnsureRequest(KIND, key, fields, text=retro.body())


def _findings(
    workspace: Workspace, retro: Retro, key: str, record: Record, scope: Mapping[str, Sequence[str]]
) -> Iterable[EnsureRequest]:
    longest = workspace.kinds[LEARNING].schema.longest("summary")
    axes = {axis: list(words) for axis, words in scope.items() if words}
    trigger = retro.trigger
    if trigger and trigger.type == "session":
        session = [{"kind": "session", "reference": trigger.id}]
    else:
        session = []

    for word, text in retro.findings:
        summary = cut(text, longest)
        values = {
            "summary": summary,
            "body": text if summary != text else "",
            "labels": [word],
            "scope": axes,
            "links": [{"rel": "derived_from", "to": record.id}],
            "evidence": session,
        }
        fields = {name: value for name, value in values.items() if value}
        digest = hashlib.sha256(
            normalised(text).replace(" ", "").encode("utf-8", "surrogatepass")
        ).hexdigest()[:12]
        yield EnsureRequest(LEARNING, f"{key}/{digest}", fields, share=ALIKE)


def _propose_findings(
    workspace: Workspace, gathered: GatheredRetro, retro: Record, *, dry_run: bool
) -> list[EnsureResult]:
    existing = read_collection(workspace).records.of_kind(LEARNING)
    result = propose(
        workspace,
        existing,
        gathered.lessons,
        gathered.recalled,
        sources=[retro.id],
        dry_run=dry_run,
    )
    return [
        EnsureResult(EnsureRequest(LEARNING, candidate.record.id), INSERTED, candidate.record)
        for candidate in result.candidates
    ]


class _FailureChanges:
    def __init__(
        self,
        workspace: Workspace,
        retro: Retro,
        record: Record | None,
        author: Author,
        now: datetime,
        *,
        is_gathered: bool = False,
        dry_run: bool,
    ) -> None:
        """Take the record of a retro; without one, nothing is kept but what was cleared."""
        self.workspace, self.record, self.author, self.now = workspace, record, author, now
        self.is_gathered, self.dry_run = is_gathered, dry_run
        self.until = min(parse_time(str(record.data["date"] if record else retro.date)), now)
        self.opened: list[Record] = []
        self.cleared: list[Record] = []
        self.notes: list[str] = []

    def apply(self, outcomes: Iterable[Outcome]) -> None:
        """Open failures of targets that failed when tried;
        clear those that succeeded or were requeued.
        """
        for outcome in outcomes:
            records = read_collection(self.workspace).records
            active = failures.open_failure(records, outcome.target, self.now)
            try:
                if outcome.result == FAILED and self.record is not None:
                    self._failed(outcome, self.record, records, active)
                elif (
                    outcome.result in (COMPLETED, REQUEUED)
                    and active is not None
                    and not self._is_anothers(active)
                ):
                    name = events.REQUEUED if outcome.result == REQUEUED else events.CLEARED
                    if not self.dry_run:
                        active = failures.clear(
                            self.workspace, outcome.target, self.author, self.now, name
                        )
                    self.cleared.append(active)
            except OrbitError as error:
                self.notes.append(f"{outcome.target}: {error.message}")

    def _failed(
        self, outcome: Outcome, retro: Record, records: RecordSet, active: Record | None
    ) -> None:
        target, attempts = outcome.target, outcome.attempts
        if target.type == COMMAND_PURPOSE:
            return
        if attempts == 0:
            self.notes.append(f"{target} was never tried, so it did not fail")
            return
        if self.until + timedelta(days=_DAYS) <= self.now:
            self.notes.append(f"{target} failed more than {_DAYS} days ago and may be tried again")
            return

        is_same = active is not None and active.data.get("attempts", 1) == (attempts or 1)
        mine = filter(self._is_mine, records.of_kind(failures.KIND))
        if any(failures.target_of(failure) == target for failure in mine):
            if active is None or not self._is_mine(active) or is_same:
                return  # already recorded; its later status is newer
        elif active is not None and is_same and (self.is_gathered or self._is_anothers(active)):
            return  # the same failure from the events, or a later one

        reason = outcome.reason or f"failed in {retro.data['key']}"
        link = {"rel": "derived_from", "to": retro.id}
        fields = {"reason": reason, "attempts": attempts or 1, "links": [link]}
        opened = failures.fail(
            self.workspace, target, fields, self.author, self.now, dry_run=self.dry_run
        )[0]
        self.opened.append(opened)

    def _is_mine(self, failure: Record) -> bool:
        return self.record is not None and self.record.id in failure.linked("derived_from")

    def _is_anothers(self, failure: Record) -> bool:
        met_at = last_reviewed(failure) or created_at(failure)
        return not self._is_mine(failure) and met_at.astimezone(UTC) > self.until
