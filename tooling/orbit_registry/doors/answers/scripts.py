"""Running a reviewed script for an agent."""

from orbit_registry.doors.answers.answer import Answer
from orbit_registry.doors.answers.call import Call
from orbit_registry.doors.answers.table import operation
from orbit_registry.errors import RefusedError
from orbit_registry.exchange.resources.run import RunOptions, run
from orbit_registry.workspace.trusted_commands import forced_by_environment
from orbit_registry.workspace.workspace import Workspace


@operation("run script", is_command=False, tool="run", writes=True)
def run_script(
    call: Call, any_id: str, arguments: tuple[str, ...] = (), seconds: float = 60.0
) -> Answer:
    """Run a reviewed script; an agent can't trust another.

    Args:
        any_id ID: The script.
        arguments: Arguments of the script.
        seconds: Time limit.
    """
    workspace = call.workspace
    if not may_run(workspace):
        raise RefusedError(
            "scripts are not run from here", hint="a person sets `mcp.run` and ORBIT_PROGRAMS=on"
        )

    record = call.registry.get(any_id)
    options = RunOptions(arguments, float(seconds), surface="mcp:run", captured=True)
    ran = run(workspace, record, call.author(), options)
    ended = f"ended after {seconds:g} s" if ran.is_over_time else f"exit code {ran.exit_code}"
    lines = [f"{record.id}: {ended}", ran.stdout.rstrip(), ran.stderr.rstrip()]
    return Answer(ran.as_data(record.id), [*filter(None, lines)], record_ids=[record.id])


def may_run(workspace: Workspace) -> bool:
    """Return whether configuration and environment both allow it:
    a cloned repository alone must not.
    """
    return workspace.config.setting("mcp", "run") is True and forced_by_environment() is True
