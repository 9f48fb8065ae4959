"""`orbit events`: the event log of this machine, line by line or counted; it changes nothing."""

from __future__ import annotations

import json
import time
from collections import Counter, deque
from collections.abc import Mapping
from datetime import UTC, datetime
from itertools import chain
from typing import Any

import click

from orbit_registry.cli.output import emit, format_option, plural
from orbit_registry.cli.places import open_registry
from orbit_registry.cli.terminal import visible
from orbit_registry.errors import UsageError
from orbit_registry.hook.events import NAME, NAMES
from orbit_registry.model.votes import format_time
from orbit_registry.workspace.event_log import LogScan, follow, log_files, rows_in

_TOLD = ("at", "event", "surface", "session")


@click.group("events")
def group() -> None:
    """The event log: what was shown, opened, noted and done, on this machine.

    \b
    orbit events tail -n 5
    orbit events stats
    """


@group.command("tail")
@click.option("-n", "count", type=click.IntRange(0, 100_000), default=20, show_default=True, help="How many.")
@click.option("--follow", "-f", "follows", is_flag=True, help="Go on with what is written from now on, until ended.")
@format_option
def tail(count: int, follows: bool, output: str) -> None:
    """Print the last events, the newest last; lines that are no event are left out.

    With --follow, --format json prints one object a line.

    \b
    orbit events tail -n 5
    orbit events tail --follow --format json
    """
    state = open_registry().workspace.state
    parts, met = log_files(state), LogScan()
    newest = [part for part in parts if part.name == NAME]
    rows = deque((row for _, row in rows_in(parts[: -len(newest) or None], time.time(), LogScan())), maxlen=count)
    number = newest[0].stat().st_ino if newest else 0
    rows.extend(row for _, row in rows_in(newest, time.time(), met))
    if not follows:
        emit(output, {"events": list(rows)}, "\n".join(map(_line, rows)), next_commands=["orbit events stats"])
        return
    for row in chain(rows, follow(state, (number, met.offset))):
        click.echo(json.dumps(row) if output == "json" else visible(_line(row)))


@group.command("stats")
@format_option
def stats(output: str) -> None:
    """Count the events by name and by surface, and the lines that are none by why.

    \b
    orbit events stats
    """
    met = LogScan()
    names: Counter[str] = Counter()
    surfaces: Counter[str] = Counter()
    first = last = None
    for said, _ in rows_in(log_files(open_registry().workspace.state), time.time(), met):
        names[said.kind if said.kind in NAMES else "(unknown)"] += 1
        surfaces[said.surface] += 1
        first = said.at if first is None else min(first, said.at)
        last = said.at if last is None else max(last, said.at)
    data = {
        "first": _stamp(first),
        "last": _stamp(last),
        "files": met.files,
        "bytes": met.size,
        "events": dict(names.most_common()),
        "surfaces": dict(surfaces.most_common(100)),
        "skipped": dict(met.skipped),
    }
    held = f"{plural(names.total(), 'event')} in {plural(len(met.files), 'file')}, {met.size:,} bytes"
    lines = [held if first is None else f"{held}, {_stamp(first)} to {_stamp(last)}"]
    lines += [f"  {count:>7}  {name}" for name, count in names.most_common()]
    lines += ["by surface:"] if surfaces else []
    lines += [f"  {count:>7}  {surface}" for surface, count in surfaces.most_common(100)]
    lines += [f"  {count:>7}  skipped: {why}" for why, count in met.skipped.most_common()]
    emit(output, data, "\n".join(lines), next_commands=["orbit stats", "orbit check --loop"])


@group.command("export")
@click.option(
    "--endpoint", metavar="URL", help="Where a collector listens for OTLP over HTTP; else OTEL_EXPORTER_OTLP_…."
)
@click.option("--all", "everything", is_flag=True, help="What was sent before too.")
@format_option
def export(endpoint: str | None, everything: bool, output: str) -> None:
    """Send a span for each selection, capture and sync that was not sent before; needs `orbit-registry[otel]`.

    Ids, counts, reasons and times are sent, no path and no word that somebody wrote.

    \b
    orbit events export --endpoint http://localhost:4318
    """
    from orbit_registry.exporters.otlp import endpoint_of, send

    where = endpoint_of(endpoint)
    if not where:
        raise UsageError("nobody says where to send to", hint="orbit events export --endpoint http://localhost:4318")
    sent = send(open_registry().workspace, where, everything=everything)
    emit(
        output, {"sent": sent, "endpoint": where}, f"{plural(sent, 'span')} sent", next_commands=["orbit events stats"]
    )


def _line(row: Mapping[str, Any]) -> str:
    """Return an event as people read it: when, what, where, in which session, then what else it says."""
    at, name, surface, session = (str(row.get(key) or "-") for key in _TOLD)
    rest = {key: value for key, value in row.items() if key not in (*_TOLD, "ms") and value not in (None, [], "")}
    said = " ".join(f"{key}={_short(value)}" for key, value in rest.items())
    return f"{at}  {name:<13} {surface}  {session}  {said}".rstrip()


def _short(value: object) -> str:
    plain = ",".join(map(str, value)) if isinstance(value, list) else value
    text = plain if isinstance(plain, str) else json.dumps(plain)
    return text if len(text) <= 80 else f"{text[:79]}…"


def _stamp(at: float | None) -> str | None:
    return None if at is None else format_time(datetime.fromtimestamp(at, UTC))
