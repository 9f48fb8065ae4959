"""Checks of freshness (8xx)."""

from collections.abc import Iterator
from shlex import quote

from orbit_registry.checks.check import check
from orbit_registry.checks.context import CheckContext
from orbit_registry.checks.rewriting import follow_moves, move_hint
from orbit_registry.formats.position import position_at
from orbit_registry.lifecycle.built import Built, State
from orbit_registry.model.diagnostic import Diagnostic, Location, Severity
from orbit_registry.model.freshness import (
    AHEAD,
    Cause,
    Input,
    InputState,
    fingerprint_inputs,
    freshness_fields,
    freshness_time,
    source_hash,
)
from orbit_registry.model.record import Record
from orbit_registry.model.review import meant_condition
from orbit_registry.model.scope import UNVERSIONED


@check(
    "ORB801",
    Severity.WARNING,
    "read it again: `orbit verify ID` if it is still true, else correct or retire it",
)
def changed_input(context: CheckContext) -> Iterator[Diagnostic]:
    """What a record was verified against has changed."""
    for record in context.with_expiry:
        for index, entry in enumerate(fingerprint_inputs(record)):
            state = context.filesystem.inputs.get(entry.input)
            if state is None or state.hash is None:
                continue

            if entry.hash not in (None, state.hash):
                message = f"`{entry.input}` has changed since {record.id} was verified"
                hint = (
                    f"read it again: `orbit verify {record.id}` if it is still true, else "
                    f"correct or retire it"
                )
                where = context.at(record, "freshness", "fingerprint", index, "hash")
                yield changed_input.at(where, message, record, hint=hint)


@check(
    "ORB802",
    Severity.WARNING,
    "correct the input, or take it out: `orbit verify ID --remove-input INPUT`",
    fix=follow_moves,
)
def unknown_input(context: CheckContext) -> Iterator[Diagnostic]:
    """What a record was verified against is not there, can't be read, or has no hash."""
    for record in context.with_expiry:
        for index, entry in enumerate(fingerprint_inputs(record)):
            problem = _input_problem(record, entry, context.filesystem.inputs.get(entry.input))
            if problem is not None:  # places cost a reading of the file
                where = context.at(record, "freshness", "fingerprint", index, "input")
                message, weight, hint = problem
                move = move_hint(context, record, entry.input)
                yield unknown_input.at(
                    where,
                    message,
                    record,
                    severity=weight,
                    hint=move or hint,
                    fixable=move is not None,
                )


def _input_problem(
    record: Record, entry: Input, state: InputState | None
) -> tuple[str, Severity, str] | None:
    if state is not None and state.is_unknown:
        return f"`{entry.input}` {state.problem}", Severity.NOTE, "run it in a git work tree"

    if state is not None and state.problem is not None:
        hint = (
            f"correct the input, or take it out: `orbit verify {record.id} --remove-input "
            f"{quote(entry.input)}`"
        )
        return f"`{entry.input}` {state.problem}", Severity.WARNING, hint

    if entry.hash is None:
        message = f"`{entry.input}` has no hash, so that no change of it is noticed"
        return message, Severity.NOTE, f"`orbit verify {record.id}` writes it"

    return None


@check(
    "ORB803", Severity.WARNING, "retire it, or let it hold longer: `orbit verify ID --expires DATE`"
)
def expired(context: CheckContext) -> Iterator[Diagnostic]:
    """A record has expired: it is not shown any more."""
    for record in context.with_expiry:
        freshness = context.report.freshness.get(record.path)
        if freshness is None or freshness.cause is not Cause.EXPIRED:
            continue

        where = context.at(record, "freshness", "expires_at")
        severity = Severity.WARNING
        hint = f"retire it, or let it hold longer: `orbit verify {record.id} --expires DATE`"
        # One that expired by its kind's rule leaves nothing to do.
        if freshness_time(record, "expires_at") is None:
            where = context.at(record)
            severity = Severity.NOTE
            hint = (
                f"`orbit show {record.id}`: close it if it is settled, note it again if "
                f"it happened again"
            )

        message = f"{record.id} {freshness.reasons[0].message}, and is not shown any more"
        yield expired.at(where, message, record, severity=severity, hint=hint)


_WORDS = {
    "commit": "the repository has no such commit:",
    "file": "no such file:",
    "task": "no such task:",
}


@check(
    "ORB804",
    Severity.NOTE,
    "correct the reference, remove it from `evidence`, or retire the record if it has no "
    "evidence left",
    fix=follow_moves,
)
def evidence_gone(context: CheckContext) -> Iterator[Diagnostic]:
    """A commit, file or task that a record names as evidence is not there."""
    missing = context.filesystem.missing
    if not missing:
        return

    for record in context.open_records:
        for index, (kind, reference) in enumerate(record.evidence):
            if (kind, reference) in missing:
                where = context.at(record, "evidence", index, "reference")
                message = f"{_WORDS[kind]} {reference}"
                move = move_hint(context, record, reference) if kind == "file" else None
                is_moved = move is not None
                yield evidence_gone.at(where, message, record, hint=move, fixable=is_moved)


@check("ORB805", Severity.NOTE, "`orbit verify ID` if it is still true, else correct or retire it")
def verified_long_ago(context: CheckContext) -> Iterator[Diagnostic]:
    """A record was last verified longer ago than its volatility allows."""
    for record in context.with_expiry:
        freshness = context.report.freshness.get(record.path)
        if freshness is None:
            continue

        for reason in freshness.reasons:
            if reason.cause is Cause.AGE:
                hint = f"`orbit verify {record.id}` if it is still true, else correct or retire it"
                name = "verified_at" if "verified_at" in freshness_fields(record) else "volatility"
                where = context.at(record, "freshness", name)
                yield verified_long_ago.at(
                    where, f"{record.id} was {reason.message}", record, hint=hint
                )


@check(
    "ORB806",
    Severity.ERROR,
    "correct the moment: RFC 3339 with a zone, such as 2027-01-31T00:00:00Z",
)
def impossible_moment(context: CheckContext) -> Iterator[Diagnostic]:
    """A record was verified at a moment that is yet to come."""
    for record in context.with_expiry:
        at = freshness_time(record, "verified_at")
        if at is not None and at - context.now > AHEAD:
            message = f"{record.id} was verified on {at:%Y-%m-%d}, which is yet to come"
            where = context.at(record, "freshness", "verified_at")
            yield impossible_moment.at(where, message, record)


@check(
    "ORB807",
    Severity.WARNING,
    "look at the difference: `orbit refresh ID --dry-run`, then take it over or leave it",
)
def changed_source(context: CheckContext) -> Iterator[Diagnostic]:
    """The file that a record's text was taken from has changed since."""
    moved = context.filesystem.changed_sources
    if not moved:
        return

    for record in context.open_records:
        source = source_hash(record)
        if source is None or source not in moved or source[0] in context.facts.documents_gone:
            continue

        if moved[source]:
            message = f"{source[0]}, from which {record.id} was taken, is not there"
            hint = (
                f"bring it back, or name its new path: `orbit refresh {record.id} --path "
                f"NEW`; else retire the record"
            )
        else:
            message = f"{source[0]} has changed since {record.id} was taken from it"
            hint = (
                f"`orbit refresh {record.id} --dry-run` shows the difference, without "
                f"--dry-run it takes it over"
            )
            # The copy may be all that is left of a version.
            versions = [version for version in record.words("versions") if version != UNVERSIONED]
            if versions and record.data.get("type") == "doc":
                again = (
                    f"`orbit import doc {quote(source[0])} --version NEW` keeps both, and "
                    f"leaves this copy"
                )
                hint = (
                    f"if it is for another version than {', '.join(versions)}, {again}; else {hint}"
                )

        yield changed_source.at(context.at(record, "content_hash"), message, record, hint=hint)


@check(
    "ORB808",
    Severity.NOTE,
    "`orbit verify ID` if it still holds, else change or replace it; later: `orbit review --snooze "
    "ID`",
)
def review_due(context: CheckContext) -> Iterator[Diagnostic]:
    """A decision or rule is to be looked at again: its date has come, or what it waits for."""
    for record in context.open_records:
        due = context.due.get(record.path)
        if due is None:
            continue

        end = " --expires DATE" if "expires_at" in freshness_fields(record) else ""
        hint = (
            f"`orbit verify {record.id}{end}` if it still holds, else change or replace it; later: "
            f"`orbit review --snooze {record.id}`"
        )
        where = _where_stated(context, record)
        yield review_due.at(where, f"{record.id}: {due}", record, hint=hint)

    for record in context.filled():
        unread = record.review_terms.unread
        if unread and record.phase != "closed":
            message = f"{record.id} states `{unread}` as the date of its review, which is none"
            hint = "write a month, a day or a quarter there: 2027-03, 2027-03-31 or 2027-Q1"
            where = _in_document(context, record, "review_by")
            yield review_due.at(where, message, record, hint=hint)

        for condition in record.review_terms.when if record.phase != "closed" else ():
            meant = meant_condition(condition.value) if condition.kind == "words" else ""
            if meant:
                message = f"{record.id} waits for a commit that says `{condition}`"
                hint = f"did you mean `{meant}`? Words of a commit are written without a colon"
                where = _where_condition(context, record)
                yield review_due.at(where, message, record, hint=hint)


def _where_condition(context: CheckContext, record: Record) -> Location:
    """Return where a record or its document states what makes it due."""
    if "revisit_when" in record.data:
        return context.at(record, "revisit_when")

    return _in_document(context, record, "revisit_when")


def _where_stated(context: CheckContext, record: Record) -> Location:
    """Return where a record states when it is due; its document, if only that says so."""
    for name in ("review_by", "revisit_when"):
        if name in record.data:
            return context.at(record, name)

    if "expires_at" in freshness_fields(record):
        return context.at(record, "freshness", "expires_at")

    return _in_document(context, record, "review_by", "revisit_when")


def _in_document(context: CheckContext, record: Record, *names: str) -> Location:
    """Return where a document states one of these fields of a review."""
    home = context.homes.get(record.path)
    if home is not None:
        document, entry = home
        for fact in entry.facts:
            if fact.key in names:
                return Location(document.path, position_at(document.text, fact.span.start))

    return context.in_entry(record)


@check("ORB811", Severity.NOTE, "`orbit accept ID` if it is decided, else take the code back")
def proposed_but_built(context: CheckContext) -> Iterator[Diagnostic]:
    """A decision that no person has accepted yet is in the code."""
    for record, in_code in _in_state(context, State.PROPOSED):
        if context.facts.against is not None and not _is_touched(context, record, in_code):
            continue

        message = f"{record.id} is {record.status.name}, but the code has it"
        accept = f"`orbit accept {record.id}`"
        hint = f"{accept} if it is decided: {in_code.evidence[0]}"
        yield proposed_but_built.at(context.at(record, "status"), message, record, hint=hint)


@check("ORB812", Severity.NOTE, "build it, or say where it is: `orbit adr update ID --path GLOB`")
def accepted_without_trace(context: CheckContext) -> Iterator[Diagnostic]:
    """An accepted decision names what code would have, and no file has it."""
    for record, in_code in _in_state(context, State.NO_TRACE):
        # What a change accepts is built by the next one.
        if context.facts.against is not None or context.is_changed(record):
            continue

        message = f"{record.id} is {record.status.name}, but there is no trace of it in the code"
        update = f"`orbit {record.kind.name} update {record.id} --path GLOB`"
        hint = f"{in_code.why}; build it, or say where it is: {update}"
        where = context.at(record, "status")
        yield accepted_without_trace.at(where, message, record, hint=hint)


@check("ORB813", Severity.NOTE, "`orbit adr deprecate ID`, or supersede it, if that was meant")
def taken_back(context: CheckContext) -> Iterator[Diagnostic]:
    """The commits that built an accepted decision were reverted."""
    for record, in_code in _in_state(context, State.TAKEN_BACK):
        if context.facts.against is not None:
            continue

        message = f"{record.id} is {record.status.name}, but what built it was taken back"
        hint = f"{in_code.why}; `orbit show {record.id}`, then deprecate or supersede it"
        yield taken_back.at(context.at(record, "status"), message, record, hint=hint)


def _in_state(context: CheckContext, state: State) -> Iterator[tuple[Record, Built]]:
    for record in context.open_records:
        in_code = context.built.get(record.path)
        if in_code is not None and in_code.state is state:
            yield record, in_code


def _is_touched(context: CheckContext, record: Record, in_code: Built) -> bool:
    """Say whether a change touches a decision, or a file that is evidence of it."""
    changed = context.facts.changed or ()
    files = {words.partition(":")[0] for words in in_code.evidence}
    return context.is_changed(record) or not files.isdisjoint(changed)
