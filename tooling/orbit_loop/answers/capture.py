"""`capture`: what the transcripts of sessions teach."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

from orbit_loop.capture.candidates import Candidate
from orbit_loop.capture.run import EVENTS, READERS, CaptureResult, transcripts_of
from orbit_loop.capture.run import capture as captured
from orbit_registry.doors.answers.answer import Answer
from orbit_registry.doors.answers.arguments import EARLIER, Form
from orbit_registry.doors.answers.call import Call
from orbit_registry.doors.answers.table import operation
from orbit_registry.doors.render.records import record_data
from orbit_registry.errors import listed, plural
from orbit_registry.workspace.event_log import log_files, logged_events

MOST_NAMED = 5


@operation("capture", job="Learn from work", writes=True)
def capture(
    call: Call,
    path: Annotated[Path | None, Form(dir_okay=False, exists=True)] = None,
    agent: Annotated[str | None, Form(enum=(*READERS, EVENTS))] = None,
    dry_run: bool = False,
    at_session_end: Annotated[bool, EARLIER] = False,
) -> Answer:
    """Find learnings in the transcript of a session.

    It finds commands of this project that failed and what worked in their place, repeated searches,
    habits of the session, and corrections in the user's words. Candidates wait for review. Without
    PATH it reads the newest transcript. Sessions of Cursor and OpenCode are not read.

    orbit capture --dry-run
    orbit capture --from codex ~/.codex/sessions/2026/11/20/rollout-….jsonl

    Args:
        path [PATH]: The transcript.
        agent --from: The agent of the transcript; events: all sessions of the event log.
        dry_run: Print the candidates; write nothing.
        at_session_end: Called by a hook: run only if the configuration allows it.
    """
    workspace = call.workspace
    if at_session_end and workspace.config.setting("capture", "at_session_end") is not True:
        return Answer(None)

    sessions = _logged_sessions(call, path) if agent == EVENTS else set()
    file = None if path is None else path.absolute()
    transcripts = transcripts_of(workspace, agent or "", file, sessions)
    megabytes = sum(each.stat().st_size for _, each in transcripts) // 1_000_000
    learnings = call.registry.records.of_kind("learning")

    with call.progress() as show:
        result = captured(
            workspace,
            learnings,
            transcripts,
            dry_run=dry_run,
            on_progress=lambda done: show("MB read", done // 1_000_000, megabytes),
        )

    data = {
        "transcripts": [read.as_data() for read in result.reads],
        "candidates": [_candidate_data(candidate) for candidate in result.candidates],
        "left": dict(result.skipped),
        "unknown": result.unknown,
        "written": not dry_run,
    }
    following = []
    if result.candidates and not dry_run:
        first = result.candidates[0].record.id
        following = [f"orbit show {first}", f"orbit accept {first}", "orbit review"]

    text = "\n".join(_lines(result, dry_run=dry_run))
    return Answer(data, text, following, [f"warning: {warning}" for warning in result.warnings])


def _logged_sessions(call: Call, path: Path | None) -> set[str]:
    """Return the sessions of the event log, or of a file of events."""
    files = log_files(call.workspace.state) if path is None else [path]
    events = logged_events(files)
    return {event.session.partition(".")[0] for event in events if event.session}


def _candidate_data(candidate: Candidate) -> dict[str, object]:
    old = candidate.instead_of
    return {**record_data(candidate.record), "instead_of": None if old is None else old.id}


def _lines(result: CaptureResult, *, dry_run: bool) -> Iterator[str]:
    for read in result.reads:
        skipped = f"; {read.skipped}" if read.skipped else ""
        turns = plural(read.session.turns, "turn")
        yield f"{read.agent}: {turns} in {read.size / 1e6:.1f} MB{skipped}"

        if read.broken:
            yield f"  {plural(read.broken, 'line')} can't be read"

    for candidate in result.candidates:
        name = "" if dry_run else f"{candidate.record.id}  "
        waits = "would wait" if dry_run else "waits"
        instead = ""
        if candidate.instead_of is not None:
            instead = f", in the place of {candidate.instead_of.id}, which is stale"

        yield f"{name}{candidate.record.title}"
        yield f"  {waits} for review{instead}"

    for skipped, count in sorted(result.skipped.items()):
        yield f"left out: {plural(count, 'finding')}: {skipped}"

    if result.unknown:
        names = listed(result.unknown, MOST_NAMED)
        yield f"not judged: {names} failed and later worked, and Orbit does not know what they do"
        yield "  if there is something to learn: `orbit learning new`"

    elif not result.candidates and not result.skipped:
        yield "nothing was found that is worth keeping"
