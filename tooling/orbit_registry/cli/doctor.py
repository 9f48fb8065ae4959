"""`orbit doctor`: whether what is shown arrives, and what to do where it does not."""

from __future__ import annotations

from pathlib import Path

import click

from orbit_registry.cli.output import emit, format_option
from orbit_registry.hooks.agents import NAMES


@click.command()
@click.option("--agent", type=click.Choice(NAMES), help="Only the hooks and transcripts of this agent.")
@format_option
def doctor(agent: str | None, output: str) -> None:
    """Examine the workspace, the installed hooks and what arrived of what they showed; exits 1 on a problem.

    Each hook is run as its agent runs it and its answer judged; what the event log says was shown is looked for in the
    agents' own transcripts. Ids and counts are printed, nothing of what a transcript says.

    \b
    orbit doctor
    orbit doctor --agent claude --format json
    """
    from orbit_registry.doctor.examination import examine

    found = examine(Path.cwd(), agent)
    emit(output, found.as_data(), found.text(), ok=found.healthy, next_commands=found.next_steps)
    if not found.healthy:
        raise click.exceptions.Exit(1)
