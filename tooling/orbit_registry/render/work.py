"""Answers about work: notes, failures and retros, as data and as text."""

from collections.abc import Mapping

from orbit_loop.retro.ensure import REFUSED, EnsureResult, counts
from orbit_loop.retro.failures import target_of
from orbit_loop.retro.keep import RetroResult
from orbit_loop.retro.note import NoteRequest, NoteResult
from orbit_registry.errors import plural
from orbit_registry.render.records import record_data

_BY_PERSON = "a script that shows that it is so: tell a person, who adds it"


def note_data(
    request: NoteRequest, result: NoteResult, *, for_agent: bool = False
) -> dict[str, object]:
    """Return the outcome of a note as data; `for_agent`: with calls of tools, not commands."""
    return {
        "attempts": request.attempts,
        "errors": request.errors,
        "failed": request.failed,
        "skip_reason": result.skip_reason or None,
        "turn": result.turn or None,
        "evidence": list(request.evidence),
        "asks": [
            {
                "kind": ask.kind,
                "why": ask.reason,
                "command": ask.call if for_agent else ask.command,
            }
            for ask in result.asks
        ],
        "known": [{"id": record.id, "title": record.title} for record in result.similar],
        "unsolved": record_data(result.unsolved) if result.unsolved is not None else None,
        "failure": record_data(result.failure) if result.failure is not None else None,
    }


def note_text(request: NoteRequest, result: NoteResult, *, for_agent: bool = False) -> str:
    """Return the outcome of a note as text; `for_agent`: with calls of tools, not commands."""
    lines = []
    if result.unsolved is not None:
        lines.append(f"{result.unsolved.id} says that this is unsolved\n  {result.unsolved.path}")

    if result.failure is not None:
        lines.append(
            f"{result.failure.id} keeps {target_of(result.failure)} from being tried\n  "
            f"{result.failure.path}"
        )

    if result.asks:
        how = f"{request.attempts} attempts" if request.attempts > 1 else "errors on the way"
        lines.append(f"{how}: keep what would have helped")
        for ask in result.asks:
            lines.append(f"  {ask.kind}: {ask.reason if not for_agent or ask.call else _BY_PERSON}")
            lines += filter(None, [f"    {ask.call if for_agent else ask.command}".rstrip()])

    lines += [f"known already: {record.id}  {record.title}" for record in result.similar]
    return "\n".join(lines) or "noted"


def failure_text(data: Mapping[str, object]) -> str:
    """Return whether a target may be tried, as text."""
    if not data["holds"]:
        return f"{data['target']} may be tried"

    until = (
        f"until {str(data['until'])[:16].replace('T', ' ')} UTC"
        if data["until"]
        else "until it is cleared"
    )

    tried = plural(int(str(data["attempts"])), "time")
    return f"{data['target']} failed {tried} and is left alone {until}: {data['reason']}"


def retro_data(result: RetroResult) -> dict[str, object]:
    """Return the outcome of a retro as data."""
    return {
        "outcome": result.outcome,
        "why": result.reason or None,
        "retro": record_data(result.record) if result.record is not None else None,
        "findings": [finding.as_data() for finding in result.findings],
        "counts": counts(result.findings),
        "opened": [
            {"id": failure.id, "target": str(target_of(failure))} for failure in result.opened
        ],
        "cleared": [
            {"id": failure.id, "target": str(target_of(failure))} for failure in result.cleared
        ],
        "notes": list(result.notes),
    }


def retro_text(result: RetroResult) -> str:
    """Return the outcome of a retro as text."""
    if result.record is None:
        return f"nothing was written: {result.reason}"

    lines = [f"{result.record.id} {result.outcome}  {result.record.title}\n  {result.record.path}"]
    lines += [f"  {result.reason}"] if result.reason else []
    lines += [entry_line(finding) for finding in result.findings]
    lines += [f"{target_of(failure)} is left alone: {failure.id}" for failure in result.opened]
    lines += [
        f"{target_of(failure)} may be tried again: {failure.id}" for failure in result.cleared
    ]

    return "\n".join([*lines, *(f"note: {note}" for note in result.notes)])


def entry_line(result: EnsureResult) -> str:
    """Return the outcome of one entry as a line."""
    name = result.record.id if result.record is not None else result.entry.key or result.entry.kind
    title = (
        result.record.title if result.record is not None else result.entry.fields.get("title", "")
    )
    text = result.reason or title
    position = (
        f"line {result.entry.line}: " if result.entry.line and result.outcome == REFUSED else ""
    )
    return f"{position}{name} {result.outcome}  {text}"
