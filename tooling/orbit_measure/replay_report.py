"""Counts of a replay: what was shown, what commits cite, and why records were never shown."""

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from orbit_measure.figures import percent, percentile, ratio
from orbit_measure.history import History, load_history
from orbit_measure.replay import BY_ID, NameResolver, Replay, ReplayedCommit
from orbit_measure.stats import UsageSlice
from orbit_registry.errors import listed, plural
from orbit_registry.formats.secrets import without_secrets
from orbit_registry.model.drops import DROPS
from orbit_registry.model.record import Record
from orbit_registry.repository.votes import half_life_days
from orbit_registry.workspace.workspace import Workspace

SESSIONS = (1, 5, 20)  # lengths of a session in commits that are compared


@dataclass(slots=True)
class Citations:
    """Pairs of a commit and a record that it cites;
    each further count is a part of an earlier one.
    """

    commits: int = 0  # commits that cite a record that could be shown then
    cited: int = 0
    not_yet: int = (
        0  # cited, but not live before the commit: what the commit itself adds is among them
    )
    standing: int = 0
    scoped: int = 0  # of those standing, the ones whose scope names a path
    reached: int = 0  # of those scoped, the ones whose scope has a file of the commit
    shown: int = 0
    shown_by_id: int = 0  # of those shown, the ones cited by id and not by task
    shown_in_citing: int = 0  # all that was shown in these commits
    expected: float = (
        0.0  # how many of those would be cited if as many scoped records were drawn at random
    )


@dataclass(slots=True)
class Tally:
    """Counts of a replay."""

    without_files: int = 0
    calls: UsageSlice = field(default_factory=UsageSlice)  # one for each file of a commit
    shown: list[int] = field(default_factory=list)  # records shown, for each commit with files
    tokens: list[int] = field(default_factory=list)
    drops: Counter[str] = field(default_factory=Counter)
    by_record: Counter[str] = field(
        default_factory=Counter
    )  # commits in which a record was shown, by uid
    cited_by_record: Counter[str] = field(default_factory=Counter)
    citations: Citations = field(default_factory=Citations)
    sessions: dict[int, UsageSlice] = field(default_factory=dict)
    """What commits would have been shown, by how many of them are one session."""
    never: Mapping[str, str] = field(
        default_factory=dict
    )  # reason why a record was never shown, by uid

    @property
    def commits(self) -> int:
        """Commits with files."""
        return len(self.shown)


NEVER = {
    "no path": "its scope names no path",
    "never touched": "no commit touched a file of its scope while it could be shown",
    "too broad": "only wide globs led to it, and other records with such globs came first",
    "left out": "it applied, and each time something else left it out",
}
"""All reasons why a record was never shown."""


def count(replay: Replay, names: NameResolver) -> Tally:
    """Replay a history for each length of a session, and count."""
    tally = Tally()
    reached: set[str] = set()
    broad: set[str] = set()
    for replayed in replay.walk():
        if not replayed.step.commit.files:
            tally.without_files += 1
            continue

        tally.calls.calls += replayed.calls
        tally.calls.speaking += replayed.speaking
        tally.shown.append(len(replayed.versions))
        tally.tokens.append(replayed.tokens)
        tally.drops.update(replayed.drops)

        tally.by_record.update(replay.uids(replayed.versions))
        applied = replay.applying(replayed.step.commit.files, replayed.step.standing)
        reached |= applied
        broad |= replay.uids(replayed.broad)

        if cited := names.cited(replayed.step.commit.message):
            _cite(tally, replayed, cited, replay, applied)

    tally.sessions = {commits: _session(replay, commits) for commits in SESSIONS}
    tally.never = {
        uid: reason for uid, reason in _never(replay, reached, broad) if uid not in tally.by_record
    }
    return tally


def _cite(
    tally: Tally,
    replayed: ReplayedCommit,
    cited: Mapping[str, str],
    replay: Replay,
    applied: set[str],
) -> None:
    pairs = tally.citations
    standing = {
        uid
        for uid in cited
        if replay.versions_of(uid) & replay.can_be_shown & replayed.step.standing
    }
    scoped = {
        uid for uid in standing if replay.versions_of(uid) & replay.scoped & replayed.step.standing
    }
    pairs.cited += len(cited)
    pairs.not_yet += len(cited) - len(standing)

    pairs.standing += len(standing)
    pairs.scoped += len(scoped)
    pairs.reached += len(scoped & applied)
    hit = standing & replay.uids(replayed.versions)
    pairs.shown += len(hit)

    pairs.shown_by_id += sum(cited[uid] == BY_ID for uid in hit)
    tally.cited_by_record.update(hit)

    if standing:
        pairs.commits += 1
        pairs.shown_in_citing += len(replayed.versions)
        there = (replay.scoped & replayed.step.standing).bit_count()
        pairs.expected += len(replayed.versions) * len(scoped) / there if there else 0.0


def _session(replay: Replay, commits: int) -> UsageSlice:
    usage = UsageSlice()
    for replayed in replay.walk(commits):
        if replayed.step.commit.files:
            usage.count(len(replayed.versions), replayed.tokens)
    return usage


def _never(replay: Replay, reached: set[str], broad: set[str]) -> Iterable[tuple[str, str]]:
    for uid in replay.past.latest:
        mine = replay.versions_of(uid) & replay.can_be_shown
        if mine:
            scoped = mine & replay.scoped
            if not scoped:
                reason = "no path"
            elif uid not in reached:
                reason = "never touched"
            else:
                reason = "too broad" if uid in broad else "left out"

            yield uid, reason


LISTED, LONGEST_TITLE = 10, 70  # limits of the text; JSON lists all records


@dataclass(frozen=True, slots=True)
class Report:
    """Replay with its source, skipped lines and duration."""

    past: History
    tally: Tally
    commits_from: str
    files: int  # number of files that decide which globs are wide
    skipped: Sequence[tuple[int, str]]
    skipped_count: int
    seconds: float

    def as_data(self) -> dict[str, object]:
        """Return the report for JSON."""
        tally, records = self.tally, self.past.latest
        data: dict[str, object] = {
            "commits_from": self.commits_from,
            "records_by": self.past.records_by,
            "notes": list(self.past.notes),
        }
        data["skipped"] = {
            "count": self.skipped_count,
            "lines": [{"line": line, "why": reason} for line, reason in self.skipped],
        }
        data["commits"] = {
            "with_files": tally.commits,
            "without_files": tally.without_files,
            "silent": self._silent,
        }
        data["silent_share"] = ratio(self._silent, tally.commits)
        data["calls"] = {
            "count": tally.calls.calls,
            "speaking": tally.calls.speaking,
            "silent_share": tally.calls.silent_share,
        }
        by_count = sorted(Counter(tally.shown).items())
        data["shown"] = _spread(tally.shown) | {
            "by_count": {str(count): times for count, times in by_count}
        }
        data["tokens"] = _spread(tally.tokens)
        data["left_out"] = dict(sorted(tally.drops.items()))
        data["citations"] = _citations(tally.citations)
        data["sessions"] = [_session_data(*each) for each in tally.sessions.items()]
        data["breadth_files"] = self.files

        never = sorted(tally.never.items(), key=lambda pair: records[pair[0]].sort_key)
        never_shown = [
            {"id": records[uid].id, "title": _title(records[uid]), "why": reason}
            for uid, reason in never
        ]
        data["records"] = {
            "could_be_shown": len(tally.by_record) + len(tally.never),
            "shown": len(tally.by_record),
            "top": [self._record(records, uid, count) for uid, count in self._top],
            "never_shown": never_shown,
        }
        data["seconds"] = round(self.seconds, 2)
        return data

    def text(self) -> str:
        """Return the report as text."""
        return "\n".join(
            [*self._head(), *self._shown(), *self._cited(), *self._sessions(), *self._records()]
        )

    @property
    def _silent(self) -> int:
        return self.tally.shown.count(0)

    @property
    def _top(self) -> list[tuple[str, int]]:
        records = self.past.latest
        return sorted(
            self.tally.by_record.items(), key=lambda pair: (-pair[1], records[pair[0]].sort_key)
        )

    def _record(self, records: Mapping[str, Record], uid: str, commits: int) -> dict[str, object]:
        cited = self.tally.cited_by_record[uid]
        return {
            "id": records[uid].id,
            "title": _title(records[uid]),
            "commits": commits,
            "cited": cited,
        }

    def _head(self) -> Iterator[str]:
        tally = self.tally
        commits = "commit" if tally.commits == 1 else "commits"
        yield (
            f"{tally.commits:,} {commits} with files from {self.commits_from}; {self.seconds:.1f} s"
        )
        yield f"records count as there by: {self.past.records_by}"
        yield from (f"  {note}" for note in self.past.notes)

        if tally.without_files:
            others = plural(tally.without_files, "more commit touches", "more commits touch")
            yield f"  {others} no file and count nowhere"

        if self.skipped_count:
            lines = plural(
                self.skipped_count, "line is no commit and was", "lines are not commits and were"
            )
            yield f"  {lines} skipped:"
            yield from (f"    line {line}: {reason}" for line, reason in self.skipped)

    def _shown(self) -> Iterator[str]:
        tally = self.tally
        yield ""
        yield f"silent      {_of(self._silent, tally.commits, 'commits')}"
        yield (
            f"            {_of(tally.calls.silent, tally.calls.calls, 'calls')}: one for each "
            f"file of a commit"
        )

        for name, values in (("shown", tally.shown), ("tokens", tally.tokens)):
            spread = _spread(values)
            if spread["mean_speaking"] is None:
                yield f"{name:<12}nothing"
                continue

            yield (
                f"{name:<12}{spread['total']:,}: {spread['mean']} a commit, "
                f"{spread['mean_speaking']} if any; "
                f"half of commits at most {spread['p50']}, nine in ten {spread['p90']}, the "
                f"most {spread['most']}"
            )

        for reason, times in sorted(tally.drops.items()):
            yield f"left out    {times:,} × {DROPS.get(reason, reason)}"

    def _cited(self) -> Iterator[str]:
        pairs, everywhere = self.tally.citations, sum(self.tally.shown)
        yield ""
        yield (
            f"{plural(pairs.commits, 'commit names', 'commits name')} a record that could be shown "
            f"then, by its id or by one of its tasks"
        )
        yield f"precision   {_of(pairs.shown, pairs.shown_in_citing, 'shown in them')} are named"
        yield (
            f"            {percent(pairs.expected, pairs.shown_in_citing):<7} by chance, of "
            f"records with a scope"
        )

        yield (
            f"            {_of(pairs.shown, everywhere, 'shown anywhere')}; a commit that "
            f"names none does not count"
        )
        yield f"recall      {_of(pairs.shown, pairs.scoped, 'named that had a scope')} were shown"
        yield (
            f"            "
            f"{_of(pairs.shown, pairs.reached, 'of these whose scope has a file of the commit')}"
        )
        yield (
            f"            {pairs.standing} named could be shown, {pairs.not_yet} could not "
            f"yet or no longer"
        )

    def _sessions(self) -> Iterator[str]:
        yield ""

        for commits, usage in self.tally.sessions.items() if self.tally.commits else ():
            records, tokens = (
                ratio(usage.shown, usage.calls, 2),
                ratio(usage.tokens, usage.calls, 2),
            )
            silent = percent(usage.silent, usage.calls)
            head = f"sessions of {commits:>2} commit{'s' if commits > 1 else ' '}"
            yield f"{head}: {records} records and {tokens} tokens a commit, silent {silent}"

    def _records(self) -> Iterator[str]:
        records, tally = self.past.latest, self.tally
        could = len(tally.by_record) + len(tally.never)
        yield ""
        yield f"{len(tally.by_record)} of {plural(could, 'record')} that could be shown were"

        for uid, commits in self._top[:LISTED]:
            cited = tally.cited_by_record[uid]
            record = records[uid]
            yield (
                f"  {commits:>5,} commits, {cited:>3} cite it  {record.id}  "
                f"{_title(record)[:LONGEST_TITLE]}"
            )

        for never_reason, label in NEVER.items():
            missed = [
                records[uid]
                for uid, uid_reason in tally.never.items()
                if uid_reason == never_reason
            ]
            if missed:
                ids = [record.id for record in sorted(missed, key=lambda record: record.sort_key)]
                yield f"  never shown, {label}: {listed(ids, LISTED)}"


def _session_data(commits: int, usage: UsageSlice) -> dict[str, object]:
    return {
        "commits": commits,
        "shown": usage.shown,
        "shown_per_commit": ratio(usage.shown, usage.calls, 2),
        "tokens": usage.tokens,
        "tokens_per_commit": ratio(usage.tokens, usage.calls, 2),
        "silent_share": usage.silent_share,
    }


def _citations(pairs: Citations) -> dict[str, object]:
    counts = asdict(pairs)
    del counts["expected"]
    return {
        **counts,
        "precision": ratio(pairs.shown, pairs.shown_in_citing),
        "precision_by_chance": ratio(pairs.expected, pairs.shown_in_citing),
        "recall": ratio(pairs.shown, pairs.scoped),
        "recall_reached": ratio(pairs.shown, pairs.reached),
    }


def _spread(values: Sequence[int]) -> dict[str, object]:
    ordered, total = sorted(values), sum(values)
    means = {
        "mean": ratio(total, len(values), 2),
        "mean_speaking": ratio(total, len(values) - values.count(0), 2),
    }
    percentiles = {f"p{part}": percentile(ordered, part / 100) for part in (50, 90, 99)}
    return {"total": total, **means, **percentiles, "most": max(ordered, default=0)}


def _of(part: int, total: int, what: str) -> str:
    return f"{percent(part, total):<7} {part:,} of {total:,} {what}"


def _title(record: Record) -> str:
    return without_secrets(record.title)


def replay(workspace: Workspace, since: str | None = None, commits: Path | None = None) -> Report:
    """Replay the commits of the current branch, or of a file of JSON lines,
    with the records that were live then.
    """
    started = time.monotonic()
    past, tracked, commit_file = load_history(workspace, since, commits)
    names = NameResolver(past.latest.values(), workspace.kinds.id_forms)
    replay = Replay(past, tracked, half_life_days())
    tally = count(replay, names)

    source = f"{since}..HEAD" if since else "HEAD"
    if commits is not None:
        source = str(commits)

    took = time.monotonic() - started
    return Report(
        past,
        tally,
        source,
        len(replay.files),
        commit_file.skipped,
        commit_file.skipped_count,
        took,
    )
