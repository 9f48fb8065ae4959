"""`orbit stats`, `replay` and `events`: usage counted from the event log and from git history."""

import json
from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Annotated, Any

from orbit_measure.effect import effect
from orbit_measure.figures import percent
from orbit_measure.usage import Usage, stamp
from orbit_measure.usage import stats as counted
from orbit_registry.doors.answers.answer import Answer, answer_of
from orbit_registry.doors.answers.arguments import EARLIER, Form
from orbit_registry.doors.answers.call import Call
from orbit_registry.doors.answers.table import operation
from orbit_registry.errors import UsageError, plural
from orbit_registry.formats.untrusted import cut
from orbit_registry.hook.events import NAME, NAMES
from orbit_registry.registry import Registry
from orbit_registry.workspace.event_log import LogScan, follow, log_files, logged_events

LISTED, DAYS = 10, 14
Data = Mapping[str, Any]


@operation("stats", job="Measure")
def stats(
    call: Call,
    days: Annotated[int, Form(minimum=1, maximum=36500)] | None = None,
    is_effect: bool = False,
) -> Answer:
    """Report what agents were shown, and what it cost.

    The counts come from this machine's event log, which keeps about five megabytes.

    orbit stats
    orbit stats --since 7 --format json
    orbit stats --effect           # what became of sessions with a record, and of those without

    Args:
        days --since DAYS: Only the last DAYS days.
        is_effect --effect: Compare sessions with records and sessions without.
    """
    if is_effect:
        return answer_of(effect(call.workspace, days), "orbit stats")

    usage = counted(call.workspace, days)
    following = ["orbit doctor"] if usage.data["calls"] else ["orbit hook status", "orbit doctor"]
    return Answer(usage.as_data(), list(_page_lines(usage)), following)


def _page_lines(usage: Usage) -> Iterator[str]:
    yield from _head(usage.data)
    for title, rows in _sections(usage.data, usage.can_be_shown):
        yield ""
        yield title
        width = max(len(name) for name, _ in rows)
        yield from (f"  {name:<{width}}  {text}" for name, text in rows)


def _head(data: Data) -> Iterator[str]:
    if data["calls"]:
        yield from _counts(data)
    else:
        older = " of that time" if data["log"]["older"] else ""
        yield f"no call is in the event log{older}"

    prevention = data["prevention"]
    before, after = prevention["failed_before_shown"], prevention["failed_after_shown"]
    if before or after:
        yield (
            f"failures   that a record describes: {before} before it was shown to the "
            f"session, {after} after"
        )

    for fault, count in data["faults"].items():
        yield f"fault      {fault}: {count}"

    skipped = Counter(data["log"]["skipped"])
    for reason, count in skipped.most_common():
        yield f"skipped    {plural(count, 'line')} of the log: {reason}"


def _counts(data: Data) -> Iterator[str]:
    calls, sessions = data["calls"], data["sessions"]
    first, last = data["first"][:10], data["last"][:10]
    yield (f"{plural(calls, 'call')} in {plural(sessions['count'], 'session')}, {first} to {last}")
    yield f"silent     {_share_text(calls - data['speaking'], calls)}"
    yield (
        f"shown      {plural(data['shown'], 'record')} in {plural(data['speaking'], 'call')}, "
        f"{data['omitted']} waited for another call"
    )

    after = data["opened_after_shown"]
    yield (
        f"opened     {_share_text(after['count'], after['of'])} shown to a session; "
        f"{data['opened']} in all"
    )
    about = ", estimated" if data["tokens_estimated_calls"] else ""
    yield (f"tokens     {data['tokens']:,} in all, {data['tokens'] / calls:.1f} a call{about}")
    median, late = _ms_text(data["ms"]["p50"]), _ms_text(data["ms"]["p99"])
    yield f"time       half within {median}, 99 of 100 within {late}"

    if sessions["calls_without"]:
        yield (
            f"           {plural(sessions['calls_without'], 'call')} named no session: nothing "
            f"was held back there"
        )


def _sections(data: Data, can_be_shown: int) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    skips = [(name, str(count)) for name, count in data["skip_reasons"].items()]
    days: list[tuple[str, str]] = []
    for day in data["days"][-DAYS:]:
        if day["calls"]:
            days.append((day["day"], f"{day['shown']} in {plural(day['calls'], 'call')}"))

    most_shown = [row for row in data["records"][:LISTED] if row["shown"]]
    sections = {
        "why nothing was shown": skips,
        "by surface: calls": _slice_rows(data["surfaces"], "surface"),
        "by agent: calls": _slice_rows(data["agents"], "agent"),
        f"by day, the last {DAYS}: records shown": days,
        "most shown": [(row["id"], _record_text(row)) for row in most_shown],
    }
    yield from ((title, rows) for title, rows in sections.items() if rows)

    never = data["never_shown"]
    if never:
        rows = [(record["id"], record["title"][:60]) for record in never[:LISTED]]
        yield f"never shown: {len(never)} of {can_be_shown} that can be", rows


def _slice_rows(parts: Sequence[Data], name: str) -> list[tuple[str, str]]:
    return [
        (part[name] or "(no name)", _slice_text(part)) for part in parts[:LISTED] if part["calls"]
    ]


def _slice_text(part: Data) -> str:
    return (
        f"{plural(part['calls'], 'call')}, {100 * part['silent_share']:.0f} % silent, "
        f"{part['shown']} shown, {part['opened']} opened, p99 {_ms_text(part['ms']['p99'])}"
    )


def _record_text(row: Data) -> str:
    title = "(gone)" if row["title"] is None else row["title"][:60]
    return f"{row['shown']} shown, {row['opened']} opened  {title}"


def _share_text(part: int, total: int) -> str:
    return f"{percent(part, total)}, {part:,} of {total:,}"


def _ms_text(value: float | None) -> str:
    if value is None:
        return "-"

    return f"{value:g} ms"


@operation("replay", job="Measure")
def replay(
    call: Call,
    repo: Annotated[Path, Form(file_okay=False, exists=True)] | None = None,
    since: str | None = None,
    commits: Annotated[Path, Form(dir_okay=False, exists=True)] | None = None,
    is_effect: Annotated[bool, EARLIER] = False,
) -> Answer:
    """Replay past commits: what would have been shown.

    A file is one edit, a commit one session, with the records of that time. A shown record is right
    if the commit names it or one of its tasks; most commits name none, so the report gives the
    counts.

    orbit replay --since v1.0
    orbit replay --repo ../project --commits history.jsonl --format json

    Args:
        repo DIRECTORY: The workspace to read; else the current one.
        since REF: Only commits after this commit, tag or branch.
        commits FILE: Read commits from JSON lines of {commit, date, subject, files}.
        is_effect --effect: An earlier report.
    """
    from orbit_measure.replay import replay as replayed

    if is_effect:
        message = "a history shows no effect: nothing was withheld in it"
        raise UsageError(message, hint="`orbit stats --effect` compares sessions, by lot")

    workspace = call.workspace if repo is None else Registry.open(repo).workspace
    result = replayed(workspace, since, commits)
    return answer_of(result, "orbit scope suggest", "orbit coverage")


@operation("prove", job="Measure")
def prove(call: Call, count: Annotated[int, Form(minimum=1, maximum=5000)] = 300) -> Answer:
    """Measure whether records reach the work they are about.

    It compares hooks and search with `git log` and full-text search on this repository. It writes
    nothing, and takes less than a minute for 1,000 records.

    orbit prove
    orbit prove --commits 1000 --format json

    Args:
        count --commits: How many of the newest commits to ask about.
    """
    from orbit_measure.prove import prove as proved

    registry = call.registry
    with call.progress() as show:
        proof = proved(
            registry.workspace,
            registry.records,
            registry.searcher,
            count,
            lambda step: show(step, 0, 1),
        )

    return answer_of(proof, "orbit stats --effect", "orbit replay", "orbit scope suggest")


_MAIN_FIELDS = ("at", "event", "surface", "session")


@operation("events", job="Measure", is_group=True)
def events_group(call: Call) -> None:
    """Read or export the event log.

    orbit events tail -n 5
    orbit events stats
    """


@operation("events tail")
def tail(
    call: Call,
    count: Annotated[int, Form(minimum=0, maximum=100_000)] = 20,
    follows: bool = False,
) -> Answer:
    """Print the last events, the newest last.

    With --follow, --format json prints one object a line.

    orbit events tail -n 5
    orbit events tail --follow --format json

    Args:
        count -n: How many events.
        follows --follow -f: Print new events as they come; Ctrl-C ends it.
    """
    state = call.workspace.state
    parts = log_files(state)
    met = LogScan()
    newest = [part for part in parts if part.name == NAME]
    older = logged_events(parts[: -len(newest) or None])
    rows = deque((event.row for event in older), maxlen=count)
    number = newest[0].stat().st_ino if newest else 0
    rows.extend(event.row for event in logged_events(newest, scan=met))
    if follows:
        coming = chain(rows, follow(state, (number, met.offset)))
        return Answer(None, stream=((row, _event_line(row)) for row in coming))

    return Answer({"events": list(rows)}, list(map(_event_line, rows)), ["orbit events stats"])


@operation("events stats")
def count_events(call: Call) -> Answer:
    """Count events by name and surface.

    Lines that are no event are counted by reason.

    orbit events stats
    """
    met = LogScan()
    names: Counter[str] = Counter()
    surfaces: Counter[str] = Counter()
    first = last = None

    for event in logged_events(log_files(call.workspace.state), scan=met):
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
    files = plural(len(met.files), "file")
    summary = f"{plural(names.total(), 'event')} in {files}, {met.size:,} bytes"
    lines = [summary if first is None else f"{summary}, {stamp(first)} to {stamp(last)}"]
    lines += [f"  {count:>7}  {name}" for name, count in names.most_common()]
    if surfaces:
        lines.append("by surface:")

    lines += [f"  {count:>7}  {surface}" for surface, count in surfaces.most_common(100)]
    lines += [f"  {count:>7}  skipped: {reason}" for reason, count in met.skipped.most_common()]
    return Answer(data, lines, ["orbit stats", "orbit check --loop"])


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
