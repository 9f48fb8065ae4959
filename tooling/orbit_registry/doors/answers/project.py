"""`doctor` and `leave`: whether Orbit works in a project, and how it is removed."""

from pathlib import Path
from typing import Annotated

from orbit_registry.agents.agent import hook_agents
from orbit_registry.doors.answers.answer import Answer
from orbit_registry.doors.answers.arguments import Form
from orbit_registry.doors.answers.call import Call
from orbit_registry.doors.answers.table import operation
from orbit_registry.errors import OrbitError, RefusedError
from orbit_registry.workspace.author import acting_role


@operation("doctor", job="Set up")
def doctor(
    call: Call, agent: Annotated[str, Form(enum=tuple(hook_agents()))] | None = None
) -> Answer:
    """Test hooks and derived files, and explain problems.

    It runs each installed hook as its agent would, and looks for the shown records in the agents'
    transcripts. It prints ids and counts, no text of a transcript. It exits 1 on a problem.

    orbit doctor
    orbit doctor --agent claude --format json

    Args:
        agent: Only the hooks and transcripts of this agent.
    """
    from orbit_registry.doors.doctor.examine import examine

    try:
        folder = call.workspace.root
    except OrbitError:  # it is one of the problems that this explains
        folder = Path.cwd()

    result = examine(folder, agent)
    return Answer(result.as_data(), result.text(), result.next_steps, ok=not result.failed())


@operation("leave", job="Set up", writes=True)
def leave(call: Call, records: bool = False, dry_run: bool = False, yes: bool = False) -> Answer:
    """Remove what Orbit wrote in this repository.

    It removes hooks, MCP servers, rule files, skills and Orbit's lines in git's files. All other
    bytes of a file stay, and so do your documents. The records stay unless you give --records.

    orbit leave --dry-run
    orbit leave --records

    Args:
        records: Remove .orbit/ too, with every record in it.
        dry_run: Print what would be removed; remove nothing.
        yes -y --yes: Do not ask.
    """
    from orbit_registry.agents.install.leave import leave as take_back

    workspace = call.workspace
    if dry_run:
        planned = take_back(workspace, records=records, dry_run=True)
        return Answer(planned.as_data(), planned.result_text(), ["orbit leave"])

    if acting_role() == "agent":
        raise RefusedError(
            "an agent can't remove Orbit", hint="a person runs `orbit leave` in a terminal"
        )

    if not yes:
        if call.person is None:
            raise RefusedError(
                "there is no terminal to ask in; nothing was removed",
                hint="look with `orbit leave --dry-run`, then `orbit leave --yes`",
            )

        planned = take_back(workspace, records=records, dry_run=True)
        call.person.confirm(planned.result_text(), "Go on?")

    result = take_back(workspace, records=records)
    following = ["pip uninstall orbit-registry"]
    return Answer(result.as_data(), result.result_text(), following, ok=not result.problems)
