"""Report on the event log: usage, records and the outcome of one record."""

import time
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from orbit_measure.effect import RecordTitle, Report, report, signals
from orbit_measure.figures import ratio
from orbit_measure.stats import (
    DAY,
    EventCounter,
    Tally,
    UsageSlice,
    mark_reverted,
    pairs_of,
)
from orbit_registry.agents.agent import TranscriptReader, transcript_readers
from orbit_registry.agents.transcripts import Progress, entries_in
from orbit_registry.errors import plural
from orbit_registry.formats.secrets import without_secrets
from orbit_registry.hook import render
from orbit_registry.hook.session import safe_name, tokens
from orbit_registry.matching.index import Index
from orbit_registry.matching.match import current_index
from orbit_registry.model import fields
from orbit_registry.model.fields import Row
from orbit_registry.model.votes import distinct_votes, format_time, parse_time
from orbit_registry.repository.reader import read_collection
from orbit_registry.workspace.event_log import LogScan, log_files, logged_events
from orbit_registry.workspace.workspace import Workspace

MOST_SESSIONS = 500  # sessions whose transcripts are looked for, the newest
READERS = transcript_readers("usage")


@dataclass(frozen=True, slots=True)
class SessionUsage:
    """Answers of the model in one session and its subagents, by time in seconds since 1970,
    each with its tokens.
    """

    answers: Sequence[tuple[float, int]]

    def since(self, at: float) -> tuple[int, int]:
        """Return the turns and tokens from a time on."""
        start = bisect_left(self.answers, (at, 0))
        return len(self.answers) - start, sum(tokens for _, tokens in self.answers[start:])


def usage_of(workspace: Workspace, sessions: Sequence[str]) -> Mapping[str, SessionUsage]:
    """Return the usage of the sessions that have a transcript with any, the newest of them;
    `sessions` are in order.
    """
    usages: dict[str, SessionUsage] = {}
    for session in sessions[-MOST_SESSIONS:]:
        if safe_name(session) != session:
            continue  # unsafe as part of a path

        for name, agent in READERS.items():
            path = agent.transcript(workspace.root, session)
            if path is None:
                continue

            answers: list[tuple[float, int]] = []
            for file in (path, *agent.subagents(path)):
                answers += _answers(workspace, name, agent, file)

            if answers:
                usages[session] = SessionUsage(sorted(answers))
            break

    return usages


def _answers(
    workspace: Workspace, agent: str, reader: TranscriptReader, path: Path
) -> Iterable[tuple[float, int]]:
    try:
        status = path.stat()
    except OSError:
        return []
    key = f"{status.st_size} {status.st_mtime_ns}"
    rows = workspace.cache.memo(f"usage {agent} {path}", key, lambda: _read(path, reader))
    return [(float(timestamp), int(tokens)) for timestamp, tokens in rows]


def _read(path: Path, reader: TranscriptReader) -> list[list[float]]:
    """Return when each answer of a transcript began, and its tokens;
    one that is written again counts with the most.
    """
    answers: dict[str, list[float]] = {}
    try:
        for usage in entries_in(path, reader.usage, Progress()):
            try:
                timestamp = parse_time(usage.timestamp).timestamp()
            except (ValueError, OverflowError):
                continue

            if not usage.tokens:
                continue  # the agent's own message about an error

            first, tokens = answers.get(usage.answer, (timestamp, 0.0))
            answers[usage.answer] = [first, max(tokens, float(usage.tokens))]
    except OSError:
        return []

    return list(answers.values())


@dataclass(frozen=True, slots=True)
class RecordSummary:
    """Title of a record, its tokens, whether it can be shown, and whether it describes an error."""

    title: str
    tokens: int
    pushed: bool
    has_pattern: bool


@dataclass(frozen=True, slots=True)
class Stats:
    """Counts of the event log, since a time in seconds since 1970 or in all."""

    tally: Tally
    log: LogScan
    records: Mapping[str, RecordSummary]
    since: float | None

    def as_data(self) -> dict[str, object]:
        """Return the counts for JSON."""
        tally = self.tally
        opened_after = tally.opened_after.total()
        with_pattern = [
            record_id for record_id, summary in self.records.items() if summary.has_pattern
        ]

        times = {"since": self.since, "first": tally.first, "last": tally.last}
        data: dict[str, object] = {name: stamp(at) for name, at in times.items()}
        data["log"] = {
            "files": self.log.files,
            "bytes": self.log.size,
            "lines": self.log.lines,
            "older": tally.before,
            "skipped": dict(self.log.skipped),
            "clock_set_back": self.log.backwards,
        }
        data |= _part_data(tally.total)
        data["trials"] = tally.trials
        data["tokens_estimated_calls"] = tally.estimated
        data["sessions"] = {
            "count": len(tally.sessions),
            "calls_without": tally.without_session,
        }
        data["opened_after_shown"] = {
            "count": opened_after,
            "of": tally.pairs,
            "share": ratio(opened_after, tally.pairs),
        }
        data["prevention"] = {
            "applied": sum(tally.shown[record_id] for record_id in with_pattern),
            "records": len(with_pattern),
            "failed_before_shown": tally.failed_before.total(),
            "failed_after_shown": tally.failed_after.total(),
        }
        data["surfaces"] = [
            {"surface": name, **_part_data(part)} for name, part in by_calls(tally.surfaces)
        ]
        data["agents"] = [
            {"agent": name or None, **_part_data(part)} for name, part in by_calls(tally.agents)
        ]
        data["days"] = [
            {"day": name, "calls": part.calls, "speaking": part.speaking, "shown": part.shown}
            for name, part in sorted(tally.days.items())
        ]
        data["records"] = [self._record(record_id) for record_id in self.ranked]
        data["never_shown"] = [
            {"id": record_id, "title": self.records[record_id].title} for record_id in self.never
        ]
        return data

    @property
    def ranked(self) -> list[str]:
        """Ids of the records with any event, the most shown first."""
        tally = self.tally
        names = {*tally.shown, *tally.opened, *tally.failed_before, *tally.failed_after}
        return sorted(
            names,
            key=lambda record_id: (-tally.shown[record_id], -tally.opened[record_id], record_id),
        )

    @property
    def never(self) -> list[str]:
        """Ids of the records that can be shown and never were."""
        pushed = (record_id for record_id, summary in self.records.items() if summary.pushed)
        return sorted(record_id for record_id in pushed if not self.tally.shown[record_id])

    def _record(self, record_id: str) -> dict[str, object]:
        tally, summary = self.tally, self.records.get(record_id)
        counts = {
            "shown": tally.shown,
            "opened": tally.opened,
            "opened_after_shown": tally.opened_after,
            "failed_before_shown": tally.failed_before,
            "failed_after_shown": tally.failed_after,
        }

        title = summary.title if summary else None
        return {
            "id": record_id,
            "title": title,
            **{name: count[record_id] for name, count in counts.items()},
        }


def stats(workspace: Workspace, days: int | None = None) -> Stats:
    """Count the events of the last days; the index is brought up to date."""
    now = time.time()
    since = None if days is None else now - days * DAY
    index = current_index(workspace)
    patterns = {
        record.id for record in read_collection(workspace).records if record.text("error_pattern")
    }
    rows = map(index.row, reversed(range(index.records)))
    summaries = {row.id: _record_summary(row, index, patterns) for row in rows}

    frame = tokens("\n".join((render.START, render.INTRODUCTION, render.END)))
    log = LogScan()
    counting = EventCounter(
        since, {record_id: record.tokens for record_id, record in summaries.items()}, frame
    )

    return Stats(
        counting.add_all(logged_events(log_files(workspace.state), now, log)), log, summaries, since
    )


def effect(workspace: Workspace, days: int | None = None, *, transcripts: bool = False) -> Report:
    """Estimate the effect of showing records, from the events of the last days,
    from git and from `transcripts`.
    """
    now = time.time()
    since = 0.0 if days is None else now - days * DAY
    events = [
        event
        for event in logged_events(log_files(workspace.state), now, LogScan())
        if event.at >= since
    ]
    pairs = pairs_of(events)
    mark_reverted(workspace.git, pairs)

    usages = (
        usage_of(workspace, list(dict.fromkeys(pair.session for pair in pairs)))
        if transcripts
        else {}
    )
    for pair in pairs:
        if pair.session in usages:
            pair.turns, pair.used_tokens = usages[pair.session].since(pair.at)

    times = [event.at for event in events] or [0.0]
    return replace(report(pairs, record_titles(workspace)), days=(max(times) - min(times)) / DAY)


def outcome(workspace: Workspace, record_id: str) -> tuple[dict[str, float], str]:
    """Return the signals and the score of a record in the sessions that were shown it, without
    reverts, and the same as a line; nothing if none was shown it.
    """
    files = log_files(workspace.state)
    if not any(record_id.encode() in file.read_bytes() for file in files):
        return {}, ""

    pairs = pairs_of(logged_events(files, time.time(), LogScan()))
    mine = [pair for pair in pairs if pair.record == record_id and not pair.withheld]
    if not mine:
        return {}, ""

    counts = {"sessions": len(mine), **signals(mine)}
    return counts, _outcome_words(counts)


def _outcome_words(counts: Mapping[str, float]) -> str:
    phrases = {
        "opened": "opened it",
        "turned_green": "tests turned green",
        "edited": "its files were written",
        "failed_again": "it failed as it says",
    }
    parts = [f"{words} in {counts[name]:.0f}" for name, words in phrases.items() if counts[name]]
    count = plural(round(counts["sessions"]), "session")

    return (
        f"shown in {count} here: {', '.join(parts) or 'no sign of use'}; score "
        f"{counts['score']:.2f}"
    )


def record_titles(workspace: Workspace) -> dict[str, RecordTitle]:
    """Return the titles of today's records, by id."""
    return {
        record.id: RecordTitle(
            without_secrets(record.title),
            len(distinct_votes(record.votes)),
            bool(record.text("error_pattern")),
        )
        for record in read_collection(workspace).records
    }


def _part_data(part: UsageSlice) -> dict[str, object]:
    return {
        "calls": part.calls,
        "speaking": part.speaking,
        "silent_share": part.silent_share,
        "skip_reasons": dict(part.skips.most_common()),
        "shown": part.shown,
        "omitted": part.omitted,
        "opened": part.opened,
        "tokens": part.tokens,
        "faults": dict(part.faults.most_common()),
        "ms": {"p50": part.time_of(0.5), "p99": part.time_of(0.99)},
    }


def by_calls(parts: Mapping[str, UsageSlice]) -> Sequence[tuple[str, UsageSlice]]:
    """Return slices, the one with the most calls first."""
    return sorted(parts.items(), key=lambda pair: (-pair[1].calls, pair[0]))


def _record_summary(row: Row, index: Index, patterns: set[str]) -> RecordSummary:
    record_id = row.values[fields.ID]
    title = row.teaser.partition("\n")[0].removeprefix(f"- [{record_id}] ")
    return RecordSummary(
        title, tokens(row.teaser) + 1, row.number < index.pushed, record_id in patterns
    )


def stamp(at: float | None) -> str | None:
    """Return a time of the event log as JSON shows it."""
    return None if at is None else format_time(datetime.fromtimestamp(at, UTC))
