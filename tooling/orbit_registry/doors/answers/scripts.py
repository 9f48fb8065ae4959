"""`run`: a reviewed script."""

from typing import Annotated

from orbit_registry.doors.answers.answer import Answer
from orbit_registry.doors.answers.arguments import Form
from orbit_registry.doors.answers.call import Call
from orbit_registry.doors.answers.table import operation
from orbit_registry.errors import RefusedError
from orbit_registry.exchange.resources.run import SECONDS, RunOptions, RunResult, run
from orbit_registry.workspace.trusted_commands import forced_by_environment
from orbit_registry.workspace.workspace import Workspace

LONGEST_FOR_AGENTS = 60.0
"""The time limit of a script that an agent runs over MCP, if it names none."""


@operation("run", tool="run", writes=True)
def run_script(
    call: Call,
    any_id: str,
    arguments: tuple[str, ...] = (),
    timeout: Annotated[float, Form(exclusiveMinimum=0, over_mcp="seconds")] | None = None,
    passed: tuple[str, ...] = (),
    trust: bool = False,
) -> Answer:
    """Run a reviewed script that is a resource.

    It runs in the project's root, and its exit code is that of this command. Script and record must
    be as committed, and the script as it was reviewed. A copy runs with a small environment. After
    the time limit it ends with exit code 124.

    orbit run RES-7k3fq -- --verbose staging

    Args:
        any_id ID: The script.
        arguments [-- ARGUMENTS]: Arguments of the script.
        timeout --timeout: Time limit in seconds; 600 if not given.
        passed --env NAME: One more variable for the script.
        trust: Run it although it differs from the reviewed script.
    """
    if call.caller is None:
        is_captured = call.form == "json"
        order = RunOptions(arguments, timeout or SECONDS, trust, passed, captured=is_captured)
    else:
        order = _order_of_agent(call, arguments, timeout)

    record = call.registry.get(any_id)
    ran = run(call.workspace, record, call.author(), order)
    late = [f"ended after {order.seconds:g} s"] if ran.is_over_time else []
    return Answer(
        ran.as_data(any_id),
        _lines(record.id, ran, late) if order.captured else "",
        notes=late,
        ok=ran.exit_code == 0,
        exit_code=ran.exit_code,
        record_ids=[record.id],
    )


def _order_of_agent(call: Call, arguments: tuple[str, ...], timeout: float | None) -> RunOptions:
    """Return how an agent has a script run over MCP: it can't trust another one."""
    if not may_run(call.workspace):
        raise RefusedError(
            "scripts are not run from here", hint="a person sets `mcp.run` and ORBIT_PROGRAMS=on"
        )

    seconds = float(timeout or LONGEST_FOR_AGENTS)
    return RunOptions(arguments, seconds, surface="mcp:run", captured=True)


def _lines(record_id: str, ran: RunResult, late: list[str]) -> list[str]:
    """Return how a script ended, and what it printed."""
    ended = late[0] if late else f"exit code {ran.exit_code}"
    lines = [f"{record_id}: {ended}", ran.stdout.rstrip(), ran.stderr.rstrip()]
    return [*filter(None, lines)]


def may_run(workspace: Workspace) -> bool:
    """Return whether configuration and environment both allow it:
    a cloned repository alone must not.
    """
    return workspace.config.setting("mcp", "run") is True and forced_by_environment() is True
