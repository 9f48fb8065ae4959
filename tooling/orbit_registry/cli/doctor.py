"""`orbit doctor` and `orbit watchdog`: whether everything works, looked at once or again and again."""

from __future__ import annotations

import json
import re
import time
from datetime import timedelta
from pathlib import Path

import click

from orbit_registry.cli.output import emit, format_option
from orbit_registry.cli.places import open_registry
from orbit_registry.cli.terminal import visible
from orbit_registry.errors import UsageError
from orbit_registry.install.agents import NAMES
from orbit_registry.model.diagnostic import envelope


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
    from orbit_registry.doctor.examine import examine

    found = examine(Path.cwd(), agent)
    emit(output, found.as_data(), found.text(), ok=found.healthy, next_commands=found.next_steps)
    if not found.healthy:
        raise click.exceptions.Exit(1)


@click.command()
@click.option("--once", is_flag=True, help="Look once and end; so it does without --every too.")
@click.option("--every", metavar="TIME", help="Look again and again: 30m, 4h, 1d. With --once the time looked back on.")
@click.option("--strict", is_flag=True, help="Exit 1 on warnings as well.")
@click.option("--notify", "notifies", is_flag=True, help="Tell what is newly found to ORBIT_NOTIFY_URLS.")
@format_option
def watchdog(once: bool, every: str | None, strict: bool, notifies: bool, output: str) -> None:
    """Look at what nobody looks at: the store, its derived files, the log, the queue; exits 1 on a problem.

    Derived files that are missing, damaged or older than two days are made anew. Of the event log the last four hours
    count, or those of --every. With --format json and without --once, one object a line.

    \b
    orbit watchdog --once --strict
    orbit watchdog --every 4h
    """
    from orbit_registry.doctor.watchdog import watch

    window = _time(every or "4h")
    while True:
        workspace = open_registry().workspace
        found = watch(workspace, window)
        if notifies:
            from orbit_registry.exporters.notify import notify, plain

            told = {one.topic: "\n".join(map(plain, one.lines())) for one in found.findings if one.level != "ok"}
            notify(workspace, "watchdog", told)
        if once or every is None:
            steps = [one.next_step for one in found.findings if one.next_step.startswith("orbit ")]
            emit(output, found.as_data(), found.text(), ok=not found.failed(strict=strict), next_commands=steps)
            if found.failed(strict=strict):
                raise click.exceptions.Exit(1)
            return
        said = json.dumps(envelope(found.as_data(), ok=not found.failed(strict=strict))) if output == "json" else None
        click.echo(said or f"{found.as_data()['at']}\n{visible(found.text())}")
        time.sleep(window.total_seconds())  # for a machine without a timer: between two looks there is nothing to do


def _time(said: str) -> timedelta:
    """Return the time that a text names.

    Raises:
        UsageError: it names none.
    """
    found = re.fullmatch(r"([1-9]\d{0,5})([smhd])", said)
    if found is None:
        raise UsageError(f"{said!r} is no time", hint="30m, 4h or 1d")
    return int(found[1]) * {"s": 1, "m": 60, "h": 3600, "d": 86_400}[found[2]] * timedelta(seconds=1)
