"""The one tool that starts a program; it is offered where the project and whoever started the server both allow it."""

from __future__ import annotations

from orbit_registry.errors import RefusedError
from orbit_registry.mcp.tool import Answer, Asked
from orbit_registry.resources.run import Order, run
from orbit_registry.workspace.trusted_commands import forced_by_environment
from orbit_registry.workspace.workspace import Workspace

_USUAL_SECONDS = 60.0


def may_run(workspace: Workspace) -> bool:
    """Say whether the configuration allows it and the environment of the server does: a clone alone decides nothing."""
    return workspace.config.setting("mcp", "run") is True and forced_by_environment() is True


def run_script(asked: Asked) -> Answer:
    """Run a reviewed script; an agent can trust no other."""
    workspace = asked.registry.workspace
    if not may_run(workspace):
        raise RefusedError("scripts are not run from here", hint="a person sets `mcp.run` and ORBIT_PROGRAMS=on")
    record = asked.registry.get(asked.text("id"))
    said = asked.arguments.get("seconds")
    seconds = float(said) if isinstance(said, int | float) else _USUAL_SECONDS
    ran = run(
        workspace,
        record,
        asked.caller.author(),
        Order(asked.words("arguments"), seconds, surface="mcp:run", captured=True),
    )
    data = {
        "id": record.id,
        "exit_code": ran.exit_code,
        "seconds": round(ran.seconds, 3),
        "timed_out": ran.is_over_time,
    }
    ended = f"ended after {seconds:g} s" if ran.is_over_time else f"exit code {ran.exit_code}"
    text = "\n".join(filter(None, (f"{record.id}: {ended}", ran.stdout.rstrip(), ran.stderr.rstrip())))
    return Answer({**data, "stdout": ran.stdout, "stderr": ran.stderr}, text, shown=[record.id])
