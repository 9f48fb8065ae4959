"""Makes of counted events what is printed; every share stands beside what it is a share of. It estimates nothing."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from orbit_registry.analytics.effect import RecordTitle, Report, report, signals
from orbit_registry.analytics.stats import Counting, Tally, UsageSlice, mark_reverted, pairs_of
from orbit_registry.formats.secrets import without_secrets
from orbit_registry.hook import index as reader
from orbit_registry.hook import render
from orbit_registry.hook.caps import tokens
from orbit_registry.hook.index import Index, Row
from orbit_registry.matching.match import current_index
from orbit_registry.model.votes import distinct_votes, format_time
from orbit_registry.repository.reader import read_collection
from orbit_registry.workspace.event_log import LogState, log_files, said_in
from orbit_registry.workspace.workspace import Workspace

DAY = 86_400


@dataclass(frozen=True, slots=True)
class RecordSummary:
    """A record of today: its title, what it costs in tokens, if it can be shown, if it says how an error reads."""

    title: str
    tokens: int
    pushed: bool
    has_pattern: bool


@dataclass(frozen=True, slots=True)
class Stats:
    """What the event logs hold; `since` is in seconds since 1970, None for all."""

    tally: Tally
    log: LogState
    known: Mapping[str, RecordSummary]
    since: float | None

    def as_data(self) -> dict[str, object]:
        """Return the counts as JSON shows them."""
        found = self.tally
        return {
            "since": _stamp(self.since),
            "first": _stamp(found.first),
            "last": _stamp(found.last),
            "log": {
                "files": self.log.files,
                "bytes": self.log.size,
                "lines": self.log.lines,
                "older": found.before,
                "skipped": dict(self.log.skipped),
                "clock_set_back": self.log.backwards,
            },
            **part_data(found.whole),
            "trials": found.trials,
            "tokens_estimated_calls": found.estimated,
            "sessions": {"count": len(found.sessions), "calls_without": found.without_session},
            "opened_after_shown": {
                "count": found.opened_after.total(),
                "of": found.pairs,
                "share": share(found.opened_after.total(), found.pairs),
            },
            "prevention": {
                "applied": sum(found.shown[one] for one in self._with_pattern),
                "records": len(self._with_pattern),
                "failed_before_shown": found.failed_before.total(),
                "failed_after_shown": found.failed_after.total(),
            },
            "surfaces": [{"surface": name, **part_data(part)} for name, part in by_calls(found.surfaces)],
            "agents": [{"agent": name or None, **part_data(part)} for name, part in by_calls(found.agents)],
            "days": [
                {"day": name, "calls": part.calls, "speaking": part.speaking, "shown": part.shown}
                for name, part in sorted(found.days.items())
            ],
            "records": [self._record(one) for one in self.ranked],
            "never_shown": [{"id": one, "title": self.known[one].title} for one in self.never],
        }

    @property
    def ranked(self) -> list[str]:
        """The records that anything happened to, the most shown first."""
        found = self.tally
        names = {*found.shown, *found.opened, *found.failed_before, *found.failed_after}
        return sorted(names, key=lambda one: (-found.shown[one], -found.opened[one], one))

    @property
    def never(self) -> list[str]:
        """The records that could be shown today and never were."""
        return sorted(one for one, known in self.known.items() if known.pushed and not self.tally.shown[one])

    @property
    def _with_pattern(self) -> list[str]:
        return [one for one, known in self.known.items() if known.has_pattern]

    def _record(self, record_id: str) -> dict[str, object]:
        found, known = self.tally, self.known.get(record_id)
        return {
            "id": record_id,
            "title": known.title if known else None,
            "shown": found.shown[record_id],
            "opened": found.opened[record_id],
            "opened_after_shown": found.opened_after[record_id],
            "failed_before_shown": found.failed_before[record_id],
            "failed_after_shown": found.failed_after[record_id],
        }


def stats(workspace: Workspace, days: int | None = None, now: float | None = None) -> Stats:
    """Return what the event logs of a workspace hold, of the last so many days; the index is brought up to date.

    Raises:
        UnreadableFileError: a log can't be read.
        SnapshotError: the index can't be made.
    """
    now = time.time() if now is None else now
    since = None if days is None else now - days * DAY
    known = _known(workspace)
    frame = tokens("\n".join((render.START, render.SAID, "omitted: 0", render.END)))
    met = LogState()
    counting = Counting(since, {one: record.tokens for one, record in known.items()}, frame)
    return Stats(counting.add_all(said_in(log_files(workspace.state), now, met)), met, known, since)


def effect(workspace: Workspace, days: int | None = None, now: float | None = None) -> Report:
    """Return what showing records did, by the event logs of the last so many days and by git.

    Raises:
        UnreadableFileError: a log can't be read.
        GitError: git fails.
    """
    now = time.time() if now is None else now
    since = None if days is None else now - days * DAY
    events = [one for one in said_in(log_files(workspace.state), now, LogState()) if since is None or one.at >= since]
    pairs = pairs_of(events)
    mark_reverted(workspace.git, pairs)
    span = max((one.at for one in events), default=0.0) - min((one.at for one in events), default=0.0)
    return replace(report(pairs, told_of(workspace)), days=span / DAY)


def outcome(workspace: Workspace, record_id: str) -> dict[str, float]:
    """Return what became of a record in the sessions here that were shown it: signals and score; empty for none.

    Reverts, which git knows, are left out.
    """
    files = log_files(workspace.state)
    if not any(record_id.encode() in file.read_bytes() for file in files):
        return {}
    pairs = pairs_of(said_in(files, time.time(), LogState()))
    mine = [one for one in pairs if one.record == record_id and not one.withheld]
    return {"sessions": len(mine), **signals(mine)} if mine else {}


def outcome_words(found: Mapping[str, float]) -> str:
    """Return an outcome in one line; empty where nobody was shown the record."""
    if not found:
        return ""
    said = {"opened": "opened it", "turned_green": "tests turned green", "edited": "its files were written",
            "failed_again": "it failed as it says"}  # fmt: skip
    told = [f"{words} in {found[name]:.0f}" for name, words in said.items() if found[name]]
    count = f"{found['sessions']:.0f} session{'' if found['sessions'] == 1 else 's'}"
    return f"shown in {count} here: {', '.join(told) or 'no sign of use'}; score {found['score']:.2f}"


def told_of(workspace: Workspace) -> dict[str, RecordTitle]:
    """Return what a report says of the records of today beside what became of them, by id."""
    return {
        record.id: RecordTitle(
            without_secrets(record.title), len(distinct_votes(record.votes)), bool(record.text("error_pattern"))
        )
        for record in read_collection(workspace).records
    }


def part_data(part: UsageSlice) -> dict[str, object]:
    """Return what some calls come to."""
    silent = part.calls - part.speaking
    return {
        "calls": part.calls,
        "speaking": part.speaking,
        "silent_share": share(silent, part.calls),
        "skip_reasons": dict(part.skips.most_common()),
        "shown": part.shown,
        "omitted": part.omitted,
        "opened": part.opened,
        "tokens": part.tokens,
        "faults": dict(part.faults.most_common()),
        "ms": {"p50": part.times.percentile(0.5), "p99": part.times.percentile(0.99)},
    }


def by_calls(parts: Mapping[str, UsageSlice]) -> Sequence[tuple[str, UsageSlice]]:
    """Return parts, the one with the most calls first."""
    return sorted(parts.items(), key=lambda pair: (-pair[1].calls, pair[0]))


def share(part: int, whole: int) -> float | None:
    """Return a share; None of nothing."""
    return round(part / whole, 4) if whole else None


def _known(workspace: Workspace) -> dict[str, RecordSummary]:
    index = current_index(workspace)
    patterns = {record.id for record in read_collection(workspace).records if record.text("error_pattern")}
    rows = [row for number in range(index.records) if (row := index.row(number)) is not None]
    return {row.values[reader.ID]: _row(row, index, patterns) for row in reversed(rows)}


def _row(row: Row, index: Index, patterns: set[str]) -> RecordSummary:
    record_id = row.values[reader.ID]
    title = row.teaser.partition("\n")[0].removeprefix(f"- [{record_id}] ")
    return RecordSummary(title, tokens(row.teaser) + 1, row.number < index.pushed, record_id in patterns)


def _stamp(at: float | None) -> str | None:
    return None if at is None else format_time(datetime.fromtimestamp(at, UTC))
