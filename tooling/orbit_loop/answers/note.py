"""`note`: how a piece of work went."""

from typing import Annotated

from orbit_loop.answers.failures import target_line
from orbit_loop.retro.note import NoteRequest, NoteResult, Suggestion
from orbit_loop.retro.note import note as noted
from orbit_registry.doors.answers.answer import Answer
from orbit_registry.doors.answers.arguments import Count, Form
from orbit_registry.doors.answers.call import Call
from orbit_registry.doors.answers.table import operation
from orbit_registry.doors.render.records import record_data
from orbit_registry.hook.events import NOTE_SKIPS
from orbit_registry.repository.guard import refuse_secrets

BY_PERSON = "a script that shows that it is so: tell a person, who adds it"


@operation("note", job="Write", tool="note", writes=True)
def note(
    call: Call,
    text: str = "",
    attempts: Count = 1,
    errors: bool = False,
    failed: bool = False,
    skip_reason: Annotated[str | None, Form(enum=(*NOTE_SKIPS,))] = None,
    task: str | None = None,
    paths: tuple[str, ...] = (),
    tags: tuple[str, ...] = (),
    turn: str = "",
    tools: Annotated[int | None, Form(minimum=0)] = None,
    heartbeat: bool = False,
    evidence: str = "",
) -> Answer:
    """Note how a piece of work went.

    After more than one attempt it suggests a learning, a script as proof, perhaps a rule.

    orbit note "Uploads fail without a retry key" --attempts 3 --errors
    orbit note --skip-reason no-new-information
    orbit note "Deploys need the token of the bot" --turn 12 --tools 3 --evidence 4f1c2d9,deploy.log

    Args:
        text [TEXT]: What happened, in a sentence or two.
        attempts: How often it was tried.
        errors: There were errors on the way.
        failed: It was given up; writes a learning labelled unsolved.
        skip_reason: Why there is nothing to note.
        task: The task of the work.
        paths GLOB: Files of the work.
        tags: Topic of the work.
        turn: The turn: its id, or a word that names it in its session.
        tools: How many tools the turn used.
        heartbeat: A timer started the turn.
        evidence A,B: Evidence: commits, files, runs.
    """
    references = [reference.strip() for reference in evidence.split(",")]
    request = NoteRequest(
        text,
        attempts,
        errors,
        failed,
        skip_reason or "",
        task or "",
        paths,
        tags,
        turn,
        tools,
        heartbeat,
        tuple(dict.fromkeys(filter(None, references))),
    )
    is_agents = call.caller is not None
    if is_agents:
        refuse_secrets("", {"text": text})

    records = call.registry.collection.records
    result = noted(call.workspace, records, request, call.author())

    following = [ask.call if is_agents else ask.command for ask in result.asks]
    if result.unsolved is not None and not is_agents:
        following = [f"orbit show {result.unsolved.id}"]

    data = _data(request, result, is_agents=is_agents)
    lines = _lines(request, result, is_agents=is_agents)
    return Answer(data, "\n".join(lines) or "noted", list(filter(None, following)))


def _data(request: NoteRequest, result: NoteResult, *, is_agents: bool) -> dict[str, object]:
    data: dict[str, object] = {
        "attempts": request.attempts,
        "errors": request.errors,
        "failed": request.failed,
        "skip_reason": result.skip_reason or None,
        "turn": result.turn or None,
        "evidence": list(request.evidence),
    }
    data["asks"] = [_ask_data(ask, is_agents=is_agents) for ask in result.asks]
    data["known"] = [{"id": record.id, "title": record.title} for record in result.similar]
    data["unsolved"] = result.unsolved and record_data(result.unsolved)
    data["failure"] = result.failure and record_data(result.failure)
    return data


def _ask_data(ask: Suggestion, *, is_agents: bool) -> dict[str, object]:
    command = ask.call if is_agents else ask.command
    return {"kind": ask.kind, "why": ask.reason, "command": command}


def _lines(request: NoteRequest, result: NoteResult, *, is_agents: bool) -> list[str]:
    lines = []
    if result.unsolved is not None:
        lines.append(f"{result.unsolved.id} says that this is unsolved\n  {result.unsolved.path}")

    if result.failure is not None:
        target = target_line(result.failure)
        lines.append(
            f"{result.failure.id} keeps {target} from being tried\n  {result.failure.path}"
        )

    if result.asks:
        tries = "errors on the way"
        if request.attempts > 1:
            tries = f"{request.attempts} attempts"
        lines.append(f"{tries}: keep what would have helped")

    for ask in result.asks:
        command = ask.call if is_agents else ask.command
        lines.append(f"  {ask.kind}: {ask.reason if command else BY_PERSON}")
        if command:
            lines.append(f"    {command}".rstrip())

    lines += [f"known already: {record.id}  {record.title}" for record in result.similar]
    return lines
