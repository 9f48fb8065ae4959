"""MCP tools that propose, vote and run."""

import json
from datetime import UTC, datetime

from orbit_loop.retro.failures import fail as mark_failed
from orbit_loop.retro.failures import read_target
from orbit_loop.retro.failures import state as failure_state
from orbit_loop.retro.form import read_retro
from orbit_loop.retro.keep import record_retro
from orbit_loop.retro.note import NoteRequest
from orbit_loop.retro.note import note as work_note
from orbit_registry.errors import RefusedError
from orbit_registry.mcp.tool import (
    ToolCall,
    ToolResult,
)
from orbit_registry.render.work import failure_text, note_data, note_text, retro_data, retro_text
from orbit_registry.repository.guard import refuse_secrets
from orbit_registry.resources.run import RunOptions, run
from orbit_registry.workspace.trusted_commands import forced_by_environment
from orbit_registry.workspace.workspace import Workspace

Fields = dict[str, object]


def note(call: ToolCall) -> ToolResult:
    """Note how a piece of work went; it suggests records worth keeping."""
    registry = call.registry
    request = NoteRequest(
        call.text("text"),
        call.number("attempts", 1),
        call.is_set("errors"),
        call.is_set("failed"),
        call.text("skip_reason"),
        call.text("task"),
        tuple(call.words("paths")),
        tuple(call.words("tags")),
    )
    refuse_secrets("", {"text": request.text})
    result = work_note(
        registry.workspace, registry.collection.records, request, call.caller.author()
    )

    return ToolResult(
        note_data(request, result, for_agent=True),
        note_text(request, result, for_agent=True),
        next=[ask.call for ask in result.asks if ask.call],
    )


def fail(call: ToolCall) -> ToolResult:
    """Mark a target that failed."""
    now = datetime.now(UTC)
    target = read_target(call.text("target"))
    fields: Fields = {"reason": call.text("reason"), "attempts": call.arguments.get("attempts")}
    if call.words("paths"):
        fields["scope"] = {"paths": call.words("paths")}

    refuse_secrets("", fields)
    record, is_new = mark_failed(call.registry.workspace, target, fields, call.caller.author(), now)
    data = {**failure_state(record, now), "new": is_new}
    return ToolResult(data, f"{failure_text(data)}\n  {record.path}", record_ids=[record.id])


def retro(call: ToolCall) -> ToolResult:
    """Write down what came of a run; an agent's retro waits for review."""
    refuse_secrets("", dict(call.arguments))
    read = read_retro(json.dumps(dict(call.arguments)), "the call")
    result = record_retro(
        call.registry.workspace, read, call.caller.author(), datetime.now(UTC), pending=True
    )
    return ToolResult(retro_data(result), retro_text(result))


_USUAL_SECONDS = 60.0


def may_run(workspace: Workspace) -> bool:
    """Return whether configuration and environment both allow it:
    a cloned repository alone must not.
    """
    return workspace.config.setting("mcp", "run") is True and forced_by_environment() is True


def run_script(call: ToolCall) -> ToolResult:
    """Run a reviewed script; an agent can't trust another."""
    workspace = call.registry.workspace
    if not may_run(workspace):
        raise RefusedError(
            "scripts are not run from here", hint="a person sets `mcp.run` and ORBIT_PROGRAMS=on"
        )

    record = call.registry.get(call.text("id"))
    time_limit = call.arguments.get("seconds")
    seconds = float(time_limit) if isinstance(time_limit, int | float) else _USUAL_SECONDS
    options = RunOptions(call.words("arguments"), seconds, surface="mcp:run", captured=True)
    ran = run(workspace, record, call.caller.author(), options)
    ended = f"ended after {seconds:g} s" if ran.is_over_time else f"exit code {ran.exit_code}"
    text = "\n".join(
        filter(None, (f"{record.id}: {ended}", ran.stdout.rstrip(), ran.stderr.rstrip()))
    )

    return ToolResult(ran.as_data(record.id), text, record_ids=[record.id])
