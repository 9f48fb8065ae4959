"""`orbit stats`, `replay` and `events`: usage counted from the event log and from git history."""

import json
import time
from collections import Counter, deque
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import Any

import click

from orbit_registry.analytics.figures import percent
from orbit_registry.analytics.report import Stats, by_calls, effect, stamp
from orbit_registry.analytics.report import stats as counted
from orbit_registry.analytics.stats import Tally, UsageSlice
from orbit_registry.cli.output import emit, format_option, open_registry, progress_display
from orbit_registry.cli.writer import give, say
from orbit_registry.errors import UsageError, plural
from orbit_registry.formats.untrusted import cut
from orbit_registry.hook.events import NAME, NAMES
from orbit_registry.registry import Registry
from orbit_registry.workspace.event_log import LogScan, follow, log_files, rows_in

LISTED, DAYS = 10, 14


@click.command()
@click.option(
    "--since",
    "days",
    type=click.IntRange(1, 36_500),
    metavar="DAYS",
    help="Only the last DAYS days.",
)
@click.option(
    "--effect",
    "is_effect",
    is_flag=True,
    help="Compare sessions with records and sessions without.",
)
@format_option
def stats(days: int | None, is_effect: bool, output: str) -> None:
    """Report what agents were shown, and what it cost.

    The counts come from this machine's event log, which keeps about five megabytes.

    orbit stats
    orbit stats --since 7 --format json
    orbit stats --effect           # what became of sessions with a record, and of those without
    """
    if is_effect:
        measured = effect(open_registry().workspace, days, transcripts=True)
        emit(
            output,
            measured.as_data(),
            measured.text(),
            next_commands=["orbit stats", "orbit replay --effect"],
        )

        return

    result = counted(open_registry().workspace, days)
    nothing = not result.tally.total.calls
    following = ["orbit hook status", "orbit doctor"] if nothing else ["orbit doctor"]
    emit(output, result.as_data(), "\n".join(_page_lines(result)), next_commands=following)


def _page_lines(result: Stats) -> Iterator[str]:
    yield from _head(result)
    for title, rows in _sections(result):
        yield ""
        yield title
        width = max(len(name) for name, _ in rows)
        yield from (f"  {name:<{width}}  {text}" for name, text in rows)


def _head(result: Stats) -> Iterator[str]:
    total, tally = result.tally.total, result.tally
    if not total.calls:
        yield (
            "no call is in the event log"
            if not tally.before
            else "no call is in the event log of that time"
        )
    else:
        yield from _counts(total, tally)

    before, after = tally.failed_before.total(), tally.failed_after.total()
    if before or after:
        yield (
            f"failures   that a record describes: {before} before it was shown to the "
            f"session, {after} after"
        )

    for fault, count in total.faults.most_common():
        yield f"fault      {fault}: {count}"

    for reason, count in result.log.skipped.most_common():
        yield f"skipped    {plural(count, 'line')} of the log: {reason}"


def _counts(total: UsageSlice, tally: Tally) -> Iterator[str]:
    calls, sessions = plural(total.calls, "call"), plural(len(tally.sessions), "session")
    yield f"{calls} in {sessions}, {_day(tally.first)} to {_day(tally.last)}"
    yield f"silent     {_share_text(total.silent, total.calls)}"
    waited = f"{total.omitted} waited for another call"
    yield (
        f"shown      {plural(total.shown, 'record')} in {plural(total.speaking, 'call')}, {waited}"
    )

    yield (
        f"opened     {_share_text(tally.opened_after.total(), tally.pairs)} shown to a "
        f"session; {total.opened} in all"
    )
    about = ", estimated" if tally.estimated else ""
    yield (
        f"tokens     {total.tokens:,} in all, {_mean_text(total.tokens, total.calls)} a call{about}"
    )
    median, late = _ms_text(total.time_of(0.5)), _ms_text(total.time_of(0.99))
    yield f"time       half within {median}, 99 of 100 within {late}"

    if tally.without_session:
        yield (
            f"           {plural(tally.without_session, 'call')} named no session: nothing "
            f"was held back there"
        )


def _day(at: float | None) -> str:
    return "-" if at is None else datetime.fromtimestamp(at, UTC).date().isoformat()


def _sections(result: Stats) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    tally = result.tally
    days = sorted(tally.days.items())[-DAYS:]
    ranked = [record_id for record_id in result.ranked[:LISTED] if tally.shown[record_id]]
    sections = {
        "why nothing was shown": [
            (name, str(count)) for name, count in tally.total.skips.most_common()
        ],
        "by surface: calls": _slice_rows(tally.surfaces),
        "by agent: calls": _slice_rows(tally.agents),
        f"by day, the last {DAYS}: records shown": [
            (name, f"{part.shown} in {plural(part.calls, 'call')}")
            for name, part in days
            if part.calls
        ],
        "most shown": [(record_id, _record_text(result, record_id)) for record_id in ranked],
    }
    yield from ((title, rows) for title, rows in sections.items() if rows)

    never = result.never
    if never:
        rows = [(record_id, result.records[record_id].title[:60]) for record_id in never[:LISTED]]
        pushed = sum(record.pushed for record in result.records.values())
        yield f"never shown: {len(never)} of {pushed} that can be", rows


def _slice_rows(parts: Mapping[str, UsageSlice]) -> list[tuple[str, str]]:
    return [
        (name or "(no name)", _slice_text(part))
        for name, part in by_calls(parts)[:LISTED]
        if part.calls
    ]


def _slice_text(part: UsageSlice) -> str:
    quiet = part.silent_share
    silent = "-" if quiet is None else f"{100 * quiet:.0f} %"
    late = _ms_text(part.time_of(0.99))
    return (
        f"{plural(part.calls, 'call')}, {silent} silent, {part.shown} shown, {part.opened} "
        f"opened, p99 {late}"
    )


def _record_text(result: Stats, record_id: str) -> str:
    record = result.records.get(record_id)
    title = record.title[:60] if record else "(gone)"
    return (
        f"{result.tally.shown[record_id]} shown, {result.tally.opened[record_id]} opened  {title}"
    )


def _share_text(part: int, total: int) -> str:
    return f"{percent(part, total)}, {part:,} of {total:,}"


def _mean_text(part: int, total: int) -> str:
    return f"{part / total:.1f}" if total else "-"


def _ms_text(value: float | None) -> str:
    return "-" if value is None else f"{value:g} ms"


@click.command()
@click.option(
    "--repo",
    type=click.Path(file_okay=False, exists=True, path_type=Path),
    default=".",
    help="The workspace to read; else the current one.",
)
@click.option("--since", metavar="REF", help="Only commits after this commit, tag or branch.")
@click.option(
    "--commits",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Read commits from JSON lines of {commit, date, subject, files}.",
)
@click.option(
    "--effect", "is_effect", is_flag=True, help="Compare commits before and after a record."
)
@format_option
def replay(
    repo: Path, since: str | None, commits: Path | None, is_effect: bool, output: str
) -> None:
    """Replay past commits: what would have been shown.

    A file is one edit, a commit one session, with the records of that time. A shown record is right
    if the commit names it or one of its tasks; most commits name none, so the report gives the
    counts.

    orbit replay --since v1.0
    orbit replay --repo ../project --commits history.jsonl --format json
    orbit replay --effect          # whether commits needed fewer fixes once a record existed
    """
    from orbit_registry.analytics.replay import effect
    from orbit_registry.analytics.replay_report import replay as replayed

    if is_effect:
        measured = effect(Registry.open(repo).workspace, since, commits)
        emit(
            output,
            measured.as_data(),
            measured.text(),
            next_commands=["orbit stats --effect", "orbit replay"],
        )

        return

    result = replayed(Registry.open(repo).workspace, since, commits)
    emit(
        output,
        result.as_data(),
        result.text(),
        next_commands=["orbit scope suggest", "orbit coverage"],
    )


@click.command()
@click.option(
    "--commits",
    "count",
    type=click.IntRange(1, 5_000),
    default=300,
    show_default=True,
    help="How many of the newest commits to ask about.",
)
@format_option
def prove(count: int, output: str) -> None:
    """Measure whether records reach the work they are about.

    It compares hooks and search with `git log` and full-text search on this repository. It writes
    nothing, and takes less than a minute for 1,000 records.

    orbit prove
    orbit prove --commits 1000 --format json
    """
    from orbit_registry.analytics.prove import prove as proved

    registry = open_registry()
    with progress_display() as show:
        proof = proved(
            registry.workspace,
            registry.records,
            registry.searcher,
            count,
            lambda step: show(step, 0, 1),
        )

    following = ["orbit stats --effect", "orbit replay", "orbit scope suggest"]
    emit(output, proof.as_data(), proof.text(), next_commands=following)


_MAIN_FIELDS = ("at", "event", "surface", "session")


@click.group("events")
def events_group() -> None:
    """Read or export the event log.

    orbit events tail -n 5
    orbit events stats
    """


@events_group.command("tail")
@click.option(
    "-n",
    "count",
    type=click.IntRange(0, 100_000),
    default=20,
    show_default=True,
    help="How many events.",
)
@click.option(
    "--follow", "-f", "follows", is_flag=True, help="Print new events as they come; Ctrl-C ends it."
)
@format_option
def tail(count: int, follows: bool, output: str) -> None:
    """Print the last events, the newest last.

    With --follow, --format json prints one object a line.

    orbit events tail -n 5
    orbit events tail --follow --format json
    """
    state = open_registry().workspace.state
    parts, met = log_files(state), LogScan()
    newest = [part for part in parts if part.name == NAME]
    rows = deque(
        (row for _, row in rows_in(parts[: -len(newest) or None], time.time(), LogScan())),
        maxlen=count,
    )
    number = newest[0].stat().st_ino if newest else 0

    rows.extend(row for _, row in rows_in(newest, time.time(), met))

    if not follows:
        emit(
            output,
            {"events": list(rows)},
            "\n".join(map(_event_line, rows)),
            next_commands=["orbit events stats"],
        )

        return

    for row in chain(rows, follow(state, (number, met.offset))):
        if output == "json":
            give(json.dumps(row))
        else:
            say(_event_line(row))


@events_group.command("stats")
@format_option
def count_events(output: str) -> None:
    """Count events by name and surface.

    Lines that are no event are counted by reason.

    orbit events stats
    """
    met = LogScan()
    names: Counter[str] = Counter()
    surfaces: Counter[str] = Counter()
    first = last = None

    for event, _ in rows_in(log_files(open_registry().workspace.state), time.time(), met):
        names[event.kind if event.kind in NAMES else "(unknown)"] += 1
        surfaces[event.surface] += 1
        first = event.at if first is None else min(first, event.at)
        last = event.at if last is None else max(last, event.at)

    data = {
        "first": stamp(first),
        "last": stamp(last),
        "files": met.files,
        "bytes": met.size,
        "events": dict(names.most_common()),
        "surfaces": dict(surfaces.most_common(100)),
        "skipped": dict(met.skipped),
    }

    summary = (
        f"{plural(names.total(), 'event')} in {plural(len(met.files), 'file')}, {met.size:,} bytes"
    )
    lines = [summary if first is None else f"{summary}, {stamp(first)} to {stamp(last)}"]
    lines += [f"  {count:>7}  {name}" for name, count in names.most_common()]
    lines += ["by surface:"] if surfaces else []
    lines += [f"  {count:>7}  {surface}" for surface, count in surfaces.most_common(100)]
    lines += [f"  {count:>7}  skipped: {reason}" for reason, count in met.skipped.most_common()]
    emit(output, data, "\n".join(lines), next_commands=["orbit stats", "orbit check --loop"])


@events_group.command("export")
@click.option(
    "--endpoint",
    metavar="URL",
    help="Address of an OTLP/HTTP collector; else OTEL_EXPORTER_OTLP_….",
)
@click.option("--all", "everything", is_flag=True, help="Send events again that were sent before.")
@format_option
def export(endpoint: str | None, everything: bool, output: str) -> None:
    """Send new events as OpenTelemetry spans.

    It sends ids, counts, reasons and times, no path and no text. It needs the extra
    `orbit-registry[otel]`.

    orbit events export --endpoint http://localhost:4318
    """
    from orbit_registry.exporters.otlp import endpoint_of, send

    where = endpoint_of(endpoint)
    if not where:
        raise UsageError(
            "no address to send to", hint="orbit events export --endpoint http://localhost:4318"
        )

    sent = send(open_registry().workspace, where, everything=everything)
    data = {"sent": sent, "endpoint": where}
    emit(output, data, f"{plural(sent, 'span')} sent", next_commands=["orbit events stats"])


def _event_line(row: Mapping[str, Any]) -> str:
    at, name, surface, session = (str(row.get(key) or "-") for key in _MAIN_FIELDS)
    others = [
        pair
        for pair in row.items()
        if pair[0] not in (*_MAIN_FIELDS, "ms") and pair[1] not in (None, [], "")
    ]
    text = " ".join(f"{key}={_short(value)}" for key, value in others)
    return f"{at}  {name:<13} {surface}  {session}  {text}".rstrip()


def _short(value: object) -> str:
    plain = ",".join(map(str, value)) if isinstance(value, list) else value
    return cut(plain if isinstance(plain, str) else json.dumps(plain), 80)
