"""`orbit watchdog`: store, log and queue, once or on a schedule."""

import json
import re
import time
from datetime import timedelta

import click

from orbit_registry.cli.output import emit, format_option, open_registry
from orbit_registry.cli.writer import give, say
from orbit_registry.errors import UsageError
from orbit_registry.model.diagnostic import envelope


@click.command()
@click.option("--once", is_flag=True, help="Check once; the default without --every.")
@click.option(
    "--every", metavar="TIME", help="Repeat: 30m, 4h, 1d. With --once: how far back to look."
)
@click.option("--strict", is_flag=True, help="Exit 1 on warnings too.")
@click.option("--notify", "notifies", is_flag=True, help="Send new findings to ORBIT_NOTIFY_URLS.")
@format_option
def watchdog(once: bool, every: str | None, strict: bool, notifies: bool, output: str) -> None:
    """Check store, log and queue, once or on a schedule.

    Derived files that are missing, damaged or older than two days are rebuilt. It reads the events
    of the last four hours, or of --every. It exits 1 on a problem. Without --once, --format json
    prints one object a line.

    orbit watchdog --once --strict
    orbit watchdog --every 4h
    """
    from orbit_loop.watchdog import watch

    window = _duration(every or "4h")
    while True:
        workspace = open_registry().workspace
        result = watch(workspace, window)
        if notifies:
            from orbit_notify.notify import notify, plain

            grave = [finding for finding in result.findings if finding.level != "ok"]
            notify(
                workspace,
                "watchdog",
                {entry.topic: "\n".join(map(plain, entry.lines())) for entry in grave},
            )

        if once or every is None:
            ok = not result.failed(strict=strict)
            emit(output, result.as_data(), result.text(), ok=ok, next_commands=result.next_steps)
            return

        if output == "json":
            give(json.dumps(envelope(result.as_data(), ok=not result.failed(strict=strict))))
        else:
            say(f"{result.as_data()['at']}\n{result.text()}")

        time.sleep(
            window.total_seconds()
        )  # for a machine without a timer: between two looks there is nothing to do


def _duration(value: str) -> timedelta:
    match = re.fullmatch(r"([1-9]\d{0,5})([smhd])", value)
    if match is None:
        raise UsageError(f"{value!r} is not a time", hint="30m, 4h or 1d")
    return (
        int(match[1]) * {"s": 1, "m": 60, "h": 3600, "d": 86_400}[match[2]] * timedelta(seconds=1)
    )
