"""Replay of a history: what each commit would have been shown, and what that predicts.

Each file of a commit is one call of an editing tool; a few commits in a row are one session. Nothing was withheld in a
history, so `effect` compares with the commits before a record was live, which proves less than a lot.
"""

from __future__ import annotations

import re
import time
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from orbit_registry.analytics.effect import TIME, report
from orbit_registry.analytics.effect import Report as EffectReport
from orbit_registry.analytics.history import (
    CommitChanges,
    CommitFile,
    History,
    Step,
    commit_changes,
    has_history,
    history_by_dates,
    history_from_git,
    read_commits,
)
from orbit_registry.analytics.report import record_titles
from orbit_registry.analytics.stats import Pair, reverted_of
from orbit_registry.errors import SnapshotError, UsageError
from orbit_registry.formats.citations import IdForms, find_citations
from orbit_registry.formats.secrets import without_secrets
from orbit_registry.hook import index as reader
from orbit_registry.hook.breadth import Breadth
from orbit_registry.hook.caps import tokens
from orbit_registry.hook.context import CODE, DROPS, TOOL, Context
from orbit_registry.hook.index import ORIGIN, Index, Row, read_index
from orbit_registry.hook.pack import Part, pack
from orbit_registry.hook.render import render
from orbit_registry.hook.select import select
from orbit_registry.hook.session import Ledger
from orbit_registry.matching.compile import Origin, entries_of, order_in, part_of, with_breadth
from orbit_registry.model.record import Record
from orbit_registry.repository.reader import Reading
from orbit_registry.repository.redaction import free_of_secrets
from orbit_registry.repository.votes import half_life_days
from orbit_registry.search.bits import places_of
from orbit_registry.workspace.git_log import commits_since
from orbit_registry.workspace.workspace import Workspace


@dataclass(frozen=True, slots=True)
class ReplayedCommit:
    """Versions that one commit would have been shown, and the cost of its calls."""

    step: Step
    versions: tuple[int, ...]
    tokens: int
    calls: int
    speaking: int
    """Calls that showed something."""
    drops: dict[str, int]
    """Number of records that applied and were not shown, by reason."""


class Replay:
    """History with one index of all versions, of which each commit sees those that were live."""

    def __init__(self, past: History, files: Sequence[str], half_life_days: float) -> None:
        """`files` decide which scopes are broad."""
        self.past = past
        self._then = _version_index(past, files, half_life_days)

    def walk(self, session: int = 1) -> Iterator[ReplayedCommit]:
        """Yield what each commit would have been shown, with `session` commits in a session."""
        ledger = _Session()
        for position, step in enumerate(self.past.steps):
            if position % session == 0:
                ledger = _Session()
            self._then.see(step.standing)
            yield self._asked(step, ledger)

    def applying(self, step: Step) -> set[int]:
        """Return the versions that were live before a commit and apply to one of its files."""
        self._then.see(step.standing)
        return {self._then.version_of(hit >> 32) for file in step.touch.files for hit in self._then.match(file)}

    def reaching(self, step: Step) -> set[int]:
        """Return the versions, live or not, that apply to one of a commit's files."""
        self._then.see(self._then.whole)
        return {self._then.version_of(hit >> 32) for file in step.touch.files for hit in self._then.match(file)}

    def can_be_shown(self) -> int:
        """Return the versions that can be shown at all, as a bit mask."""
        return self._then.whole

    def broad(self) -> int:
        """Return the versions that apply to too much for a tool call, as a bit mask."""
        return self._then.broad

    def _asked(self, step: Step, ledger: Ledger) -> ReplayedCommit:
        versions: list[int] = []
        drops: dict[tuple[int, str], None] = {}
        used = speaking = 0
        for file in step.touch.files:
            selection = select(self._then, Context(TOOL, step.touch.at, paths=(file,), task_class=CODE), ledger)
            drops.update(((int(row.values[ORIGIN]), reason), None) for row, reason in selection.drops)
            if selection.matches:
                speaking += 1
                used += tokens(render(selection))
                versions += [int(match.row.values[ORIGIN]) for match in selection.matches]
        counts: dict[str, int] = {}
        for version, reason in drops:
            if version not in versions:
                counts[reason] = counts.get(reason, 0) + 1
        return ReplayedCommit(step, tuple(versions), used, len(step.touch.files), speaking, counts)


class _Session(Ledger):
    """Session in memory."""

    def __init__(self) -> None:
        super().__init__("", "replay")
        self._ids: list[str] = []

    def begin(self) -> list[str]:
        return list(self._ids)

    def add(self, ids: list[str]) -> None:
        self._ids += ids

    def end(self) -> None:
        return


class _VersionIndex(Index):
    """Index of all versions that answers with those of one time."""

    def __init__(self, content: bytes, words: list[int]) -> None:
        super().__init__(content, words, "")
        rows = [super(_VersionIndex, self).row(number) for number in range(self.records)]
        self._rows = {row.number: row for row in rows if row is not None}
        self._versions = [int(row.values[ORIGIN]) for row in self._rows.values()]
        self.whole = sum(1 << version for version in self._versions)
        self.broad = sum(1 << version for version, row in zip(self._versions, self._rows.values(), strict=True)
                         if row.flags & reader.BROAD)  # fmt: skip
        self._paths: dict[str, list[int]] = {}
        self._standing = b""
        self._seen = -1

    def see(self, standing: int) -> None:
        """Answer with these versions from now on."""
        if standing != self._seen:
            self._seen = standing
            self._standing = standing.to_bytes((self.whole | standing).bit_length() // 8 + 1, "little")

    def match(self, path: str, limit: int | None = None, everything: bool = False) -> list[int]:
        hits = self._paths.get(path)
        if hits is None:
            hits = self._paths[path] = super().match(path, None, everything)
        standing_hits = [hit for hit in hits if self._stands(self._versions[hit >> 32])]
        return standing_hits if limit is None else standing_hits[:limit]

    def under(self, axis: str, word: str, limit: int | None = None, everything: bool = False) -> list[int]:
        hits = [hit for hit in super().under(axis, word, None, everything) if self._stands(self._versions[hit >> 32])]
        return hits if limit is None else hits[:limit]

    def row(self, number: int) -> Row | None:
        return self._rows.get(number)

    def difference(self, row: Row) -> str:
        return ""

    def version_of(self, number: int) -> int:
        """Return the version of a row."""
        return self._versions[number]

    def _stands(self, version: int) -> bool:
        return bool(self._standing[version >> 3] >> (version & 7) & 1)


def _version_index(past: History, files: Sequence[str], half_life_days: float) -> _VersionIndex:
    parts = sorted(_parts(past, half_life_days), key=lambda part: (order_in(part), int(part.row[reader.ORIGIN])))
    entries = entries_of(parts)
    content = pack(with_breadth(parts, Breadth(files, entries)), entries)
    index = read_index(content, "")
    if not isinstance(index, Index):
        raise SnapshotError(f"the records of then: {index.reason}", hint="this is a bug, please report it")
    return _VersionIndex(content, memoryview(content)[: reader.HEADER_WORDS * 8].cast("Q").tolist())


def _parts(past: History, half_life_days: float) -> Iterator[Part]:
    """Yield each version that could be shown, compiled for the index, with its number in place of a hash."""
    for number, record in _without_secrets(past):
        version = past.versions[number]
        origin = Origin(has_body=version.has_body, label=str(number))
        part = part_of(record, origin, half_life_days)
        if part.pushed:
            yield part


def _without_secrets(past: History) -> Iterable[tuple[int, Record]]:
    recorded = [(number, version.record) for number, version in enumerate(past.versions) if version.record is not None]
    live = [(number, record) for number, record in recorded if record.phase == "live"]
    # Records are told apart by their paths there, and versions of one record share theirs.
    apart = [replace(record, path=f"{number}/{record.path}") for number, record in live]
    clean = free_of_secrets(apart)
    return [(number, replace(cleaned, path=record.path)) for (number, record), cleaned in zip(live, clean, strict=True)]


BY_ID, BY_TASK = "id", "task"
_WORD = re.compile(r"[^\s\[\](){},;:'\"`<>|=]+")
_AROUND = ".!?*_/"
_SHORTEST = 3


class NameResolver:
    """Records by id, earlier id, last part of an earlier id, and task."""

    def __init__(self, records: Iterable[Record], forms: IdForms) -> None:
        self._forms = forms
        legacy: dict[str, set[str]] = {}
        tails: dict[str, set[str]] = {}
        self._ids: dict[str, set[str]] = {}
        self._tasks: dict[str, set[str]] = {}
        for record in records:
            self._ids.setdefault(_plain(record.id), set()).add(record.uid)
            for name in record.legacy_ids:
                legacy.setdefault(_plain(name), set()).add(record.uid)
                tails.setdefault(_plain(name.rpartition("/")[2]), set()).add(record.uid)
            for name in tasks_of(record):
                self._tasks.setdefault(name, set()).add(record.uid)
        for earlier in (legacy, tails):
            self._ids = {**earlier, **self._ids}

    def cited(self, message: str) -> Mapping[str, str]:
        """Return the uids of the records that a message cites, and how: `BY_ID` or `BY_TASK`."""
        matches: dict[str, str] = {}
        words = {token.strip(_AROUND) for token in _WORD.findall(message)}
        words |= {part for word in words for part in word.split("/")}
        for word in words:
            for uid in self._tasks.get(word, ()):
                matches[uid] = BY_TASK
        ids = {_plain(word) for word in words} | {
            _plain(citation.id) for citation in find_citations(message, self._forms)
        }
        for name in ids:
            for uid in self._ids.get(name, ()):
                matches[uid] = BY_ID
        return matches


def tasks_of(record: Record) -> list[str]:
    """Return the ids of tasks that a record names, without words that could be anything."""
    evidence = [reference for kind, reference in record.evidence if kind == "task"]
    task_ids = dict.fromkeys([*record.words("tasks"), *record.scope.tasks, *evidence])
    return [name for name in task_ids if len(name) >= _SHORTEST and any(map(str.isdigit, name)) and not name.isdigit()]


def _plain(name: str) -> str:
    """Return an id without leading zeros: `ADR 12` means ADR-0012."""
    word, dash, number = name.rpartition("-")
    return f"{word}{dash}{int(number)}" if dash and number.isdecimal() and number.isascii() else name


SESSIONS = (1, 5, 20)
"""Lengths of a session in commits that are compared."""


@dataclass(slots=True)
class Citations:
    """Pairs of a commit and a record that it cites; each further count is a part of an earlier one."""

    commits: int = 0
    """Commits that cite a record that could be shown then."""
    cited: int = 0
    not_yet: int = 0
    """Cited, but not live before the commit: what the commit itself adds is among them."""
    standing: int = 0
    scoped: int = 0
    """Of those standing, the ones whose scope names a path."""
    reached: int = 0
    """Of those scoped, the ones whose scope has a file of the commit."""
    shown: int = 0
    shown_by_id: int = 0
    """Of those shown, the ones cited by id and not by task."""
    shown_in_citing: int = 0
    """All that was shown in these commits."""
    expected: float = 0.0
    """How many of those would be cited if as many scoped records were drawn at random."""


@dataclass(slots=True)
class Session:
    """Totals for sessions of so many commits."""

    commits: int
    shown: int = 0
    tokens: int = 0
    silent: int = 0


@dataclass(slots=True)
class Tally:
    """Counts of a replay."""

    commits: int = 0
    without_files: int = 0
    calls: int = 0
    speaking_calls: int = 0
    shown: list[int] = field(default_factory=list)
    """Records shown, for each commit with files."""
    tokens: list[int] = field(default_factory=list)
    drops: Counter[str] = field(default_factory=Counter)
    by_record: Counter[str] = field(default_factory=Counter)
    """Commits in which a record was shown, by uid."""
    cited_by_record: Counter[str] = field(default_factory=Counter)
    citations: Citations = field(default_factory=Citations)
    sessions: list[Session] = field(default_factory=list)
    never: Mapping[str, str] = field(default_factory=dict)
    """Reason why a record was never shown, by uid."""


NEVER = {
    "no path": "its scope names no path",
    "never touched": "no commit touched a file of its scope while it stood",
    "too broad": "it applies to more than a fifth of all files, so no tool call shows it",
    "left out": "it applied, and each time something else left it out",
}
"""All reasons why a record was never shown."""


def count(past: History, replay: Replay, names: NameResolver) -> Tally:
    """Replay a history for each length of a session, and count."""
    tally = Tally()
    masks = _Masks(past, replay)
    reached: set[str] = set()
    for replayed in replay.walk():
        if not replayed.step.touch.files:
            tally.without_files += 1
            continue
        _add(tally, replayed, past)
        cited = names.cited(replayed.step.touch.message)
        applied = set(_uids(past, replay.applying(replayed.step)))
        reached |= applied
        _cite(tally, replayed, cited, masks, applied)
    tally.sessions = [_session(replay, commits) for commits in SESSIONS]
    tally.never = {uid: reason for uid, reason in _never(past, masks, reached) if uid not in tally.by_record}
    return tally


def _add(tally: Tally, replayed: ReplayedCommit, past: History) -> None:
    tally.commits += 1
    tally.calls += replayed.calls
    tally.speaking_calls += replayed.speaking
    tally.shown.append(len(replayed.versions))
    tally.tokens.append(replayed.tokens)
    tally.drops.update(replayed.drops)
    tally.by_record.update(dict.fromkeys(_uids(past, replayed.versions), 1))


def _cite(tally: Tally, replayed: ReplayedCommit, cited: Mapping[str, str], masks: _Masks, applied: set[str]) -> None:
    if not cited:
        return
    pairs = tally.citations
    standing = {uid for uid in cited if masks.of(uid) & masks.can_be_shown & replayed.step.standing}
    shown_uids = set(_uids(masks.past, replayed.versions))
    scoped = {uid for uid in standing if masks.of(uid) & masks.scoped & replayed.step.standing}
    pairs.cited += len(cited)
    pairs.not_yet += len(cited) - len(standing)
    pairs.standing += len(standing)
    pairs.scoped += len(scoped)
    pairs.reached += len(scoped & applied)
    hit = standing & shown_uids
    pairs.shown += len(hit)
    pairs.shown_by_id += sum(cited[uid] == BY_ID for uid in hit)
    tally.cited_by_record.update(hit)
    if standing:
        pairs.commits += 1
        pairs.shown_in_citing += len(replayed.versions)
        there = (masks.scoped & replayed.step.standing).bit_count()
        pairs.expected += len(replayed.versions) * len(scoped) / there if there else 0.0


def _session(replay: Replay, commits: int) -> Session:
    session = Session(commits)
    for replayed in replay.walk(commits):
        if replayed.step.touch.files:
            session.shown += len(replayed.versions)
            session.tokens += replayed.tokens
            session.silent += not replayed.versions
    return session


def _uids(past: History, numbers: Iterable[int]) -> list[str]:
    records = (past.versions[number].record for number in numbers)
    return [record.uid for record in records if record is not None]


class _Masks:
    """Bit masks of the versions by record, and of those that could be shown."""

    def __init__(self, past: History, replay: Replay) -> None:
        self.past = past
        self.can_be_shown, self.broad = replay.can_be_shown(), replay.broad()
        self.scoped = 0
        self._by_uid: dict[str, int] = {}
        for number, version in enumerate(past.versions):
            if version.record is not None:
                uid = version.record.uid
                self._by_uid[uid] = self._by_uid.get(uid, 0) | 1 << number
                self.scoped |= _has_path(version.record) << number
        self.scoped &= self.can_be_shown

    def of(self, uid: str) -> int:
        """Return the versions of a record."""
        return self._by_uid.get(uid, 0)


def _never(past: History, masks: _Masks, reached: set[str]) -> Iterable[tuple[str, str]]:
    """Yield each record that could be shown, with the reason why it might not have been."""
    for uid in past.latest:
        mine = masks.of(uid) & masks.can_be_shown
        if mine:
            scoped = mine & masks.scoped
            if not scoped:
                reason = "no path"
            elif not scoped & ~masks.broad:
                reason = "too broad"
            else:
                reason = "left out" if uid in reached else "never touched"
            yield uid, reason


def _has_path(record: Record) -> bool:
    return bool(record.scope.paths or record.scope.symbols)


def percentile(values: Sequence[int], share: float) -> int:
    """Return the nearest value below which a share of the values lies; 0 without values."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0


LISTED, LONGEST_TITLE = 10, 70
"""Limits of the text; JSON lists all records."""


@dataclass(frozen=True, slots=True)
class Report:
    """Replay with its source, skipped lines and duration."""

    past: History
    tally: Tally
    commits_from: str
    files: int
    """Number of files that decide which scopes are broad."""
    skipped: Sequence[tuple[int, str]]
    skipped_count: int
    seconds: float

    def as_data(self) -> dict[str, object]:
        """Return the report for JSON."""
        tally, records = self.tally, self.past.latest
        return {
            "commits_from": self.commits_from,
            "records_by": self.past.records_by,
            "notes": list(self.past.notes),
            "skipped": {
                "count": self.skipped_count,
                "lines": [{"line": line, "why": reason} for line, reason in self.skipped],
            },
            "commits": {"with_files": tally.commits, "without_files": tally.without_files, "silent": self._silent},
            "silent_share": _share(self._silent, tally.commits),
            "calls": {
                "count": tally.calls,
                "speaking": tally.speaking_calls,
                "silent_share": _share(tally.calls - tally.speaking_calls, tally.calls),
            },
            "shown": {**_spread(tally.shown), "by_count": _histogram(tally.shown)},
            "tokens": _spread(tally.tokens),
            "left_out": dict(sorted(tally.drops.items())),
            "citations": _citations(tally.citations),
            "sessions": [
                {
                    "commits": session.commits,
                    "shown": session.shown,
                    "shown_per_commit": _share(session.shown, tally.commits),
                    "tokens": session.tokens,
                    "tokens_per_commit": _share(session.tokens, tally.commits),
                    "silent_share": _share(session.silent, tally.commits),
                }
                for session in tally.sessions
            ],
            "breadth_files": self.files,
            "records": {
                "could_be_shown": len(tally.by_record) + len(tally.never),
                "shown": len(tally.by_record),
                "top": [self._record(records, uid, count) for uid, count in self._top],
                "never_shown": [
                    {"id": records[uid].id, "title": _title(records[uid]), "why": reason}
                    for uid, reason in sorted(tally.never.items(), key=lambda pair: records[pair[0]].sort_key)
                ],
            },
            "seconds": round(self.seconds, 2),
        }

    def text(self) -> str:
        """Return the report as text."""
        return "\n".join([*self._head(), *self._shown(), *self._cited(), *self._sessions(), *self._records()])

    @property
    def _silent(self) -> int:
        return self.tally.shown.count(0)

    @property
    def _top(self) -> list[tuple[str, int]]:
        records = self.past.latest
        return sorted(self.tally.by_record.items(), key=lambda pair: (-pair[1], records[pair[0]].sort_key))

    def _record(self, records: Mapping[str, Record], uid: str, commits: int) -> dict[str, object]:
        cited = self.tally.cited_by_record[uid]
        return {"id": records[uid].id, "title": _title(records[uid]), "commits": commits, "cited": cited}

    def _head(self) -> Iterator[str]:
        tally = self.tally
        yield f"{tally.commits:,} commits with files from {self.commits_from}; {self.seconds:.1f} s"
        yield f"records count as there by: {self.past.records_by}"
        yield from (f"  {note}" for note in self.past.notes)
        if tally.without_files:
            yield f"  {tally.without_files} more commits touch no file and count nowhere"
        if self.skipped_count:
            yield f"  {self.skipped_count} lines are no commits and were skipped:"
            yield from (f"    line {line}: {reason}" for line, reason in self.skipped)

    def _shown(self) -> Iterator[str]:
        tally = self.tally
        quiet = tally.calls - tally.speaking_calls
        yield ""
        yield f"silent      {_of(self._silent, tally.commits, 'commits')}"
        yield f"            {_of(quiet, tally.calls, 'calls')}: one for each file of a commit"
        for name, values in (("shown", tally.shown), ("tokens", tally.tokens)):
            spread = _spread(values)
            if spread["mean_speaking"] is None:
                yield f"{name:<12}nothing"
                continue
            yield (
                f"{name:<12}{spread['total']:,}: {spread['mean']} a commit, {spread['mean_speaking']} where any; "
                f"half of commits at most {spread['p50']}, nine in ten {spread['p90']}, the most {spread['most']}"
            )
        for reason, times in sorted(tally.drops.items()):
            yield f"left out    {times:,} × {DROPS.get(reason, reason)}"

    def _cited(self) -> Iterator[str]:
        pairs, everywhere = self.tally.citations, sum(self.tally.shown)
        yield ""
        yield f"{pairs.commits:,} commits speak of a record that could be shown then, by its id or by one of its tasks"
        yield f"precision   {_of(pairs.shown, pairs.shown_in_citing, 'shown in them')} are spoken of"
        yield f"            {_percent(pairs.expected, pairs.shown_in_citing):<7} by chance, of records with a scope"
        yield f"            {_of(pairs.shown, everywhere, 'shown anywhere')}; where a commit names none nobody knows"
        yield f"recall      {_of(pairs.shown, pairs.scoped, 'spoken of that had a scope')} were shown"
        yield f"            {_of(pairs.shown, pairs.reached, 'of these whose scope has a file of the commit')}"
        yield f"            {pairs.standing} spoken of could be shown, {pairs.not_yet} could not yet or no longer"

    def _sessions(self) -> Iterator[str]:
        yield ""
        for session in self.tally.sessions if self.tally.commits else ():
            yield (
                f"sessions of {session.commits:>2} commit{'s' if session.commits > 1 else ' '}: "
                f"{_share(session.shown, self.tally.commits)} records and "
                f"{_share(session.tokens, self.tally.commits)} tokens a commit, "
                f"silent {_percent(session.silent, self.tally.commits)}"
            )

    def _records(self) -> Iterator[str]:
        records, tally = self.past.latest, self.tally
        could = len(tally.by_record) + len(tally.never)
        yield ""
        yield f"{len(tally.by_record)} of {could} records that could be shown were"
        for uid, commits in self._top[:LISTED]:
            cited = tally.cited_by_record[uid]
            record = records[uid]
            yield f"  {commits:>5,} commits, {cited:>3} cite it  {record.id}  {_title(record)[:LONGEST_TITLE]}"
        for never_reason, label in NEVER.items():
            missed = [records[uid] for uid, uid_reason in tally.never.items() if uid_reason == never_reason]
            if missed:
                listed = ", ".join(record.id for record in sorted(missed, key=lambda record: record.sort_key)[:LISTED])
                more = f" and {len(missed) - LISTED} more" if len(missed) > LISTED else ""
                yield f"  never shown, {label}: {listed}{more}"


def _citations(pairs: Citations) -> dict[str, object]:
    counts = asdict(pairs)
    del counts["expected"]
    return {
        **counts,
        "precision": _share(pairs.shown, pairs.shown_in_citing),
        "precision_by_chance": _share(pairs.expected, pairs.shown_in_citing),
        "recall": _share(pairs.shown, pairs.scoped),
        "recall_reached": _share(pairs.shown, pairs.reached),
    }


def _spread(values: Sequence[int]) -> dict[str, object]:
    speaking = [value for value in values if value]
    return {
        "total": sum(values),
        "mean": _share(sum(values), len(values)),
        "mean_speaking": _share(sum(speaking), len(speaking)),
        "p50": percentile(values, 0.5),
        "p90": percentile(values, 0.9),
        "p99": percentile(values, 0.99),
        "most": max(values, default=0),
    }


def _histogram(values: Sequence[int]) -> dict[str, int]:
    return {str(count): values.count(count) for count in sorted(set(values))}


def _share(part: float, total: int) -> float | None:
    """Return a share or a mean; None of nothing."""
    return round(part / total, 3 if part < total else 2) if total else None


def _of(part: int, total: int, what: str) -> str:
    return f"{_percent(part, total):<7} {part:,} of {total:,} {what}"


def _percent(part: float, total: int) -> str:
    return f"{100 * part / total:.1f} %" if total else "-"


def _title(record: Record) -> str:
    return without_secrets(record.title)


FOLLOWED = 50
"""Commits in which the fate of one is looked for; the last ones of a history have fewer and are left out."""
_MENDS = re.compile(r"\b(?:(?:hot|bug)?fix(?:e[sd])?\b|revert)", re.IGNORECASE)
"""First line of a message that fixes something."""


def pairs_in(past: History, replay: Replay) -> Iterator[Pair]:
    """Yield a pair for each commit and record that was shown for it, or that applies to it before it was live."""
    uids = [version.record.uid if version.record is not None else "" for version in past.versions]
    ids = {uid: record.id for uid, record in past.latest.items()}
    stood: set[str] = set()
    seen_mask = 0
    fates = _CommitOutcomes([step.touch for step in past.steps])
    for position, replayed in enumerate(replay.walk()):
        standing = replayed.step.standing
        stood |= {uids[number] for number in places_of(standing & ~seen_mask)}
        seen_mask |= standing
        if not replayed.step.touch.files or position + FOLLOWED >= len(past.steps):
            continue
        shown_uids = {uids[number] for number in replayed.versions}
        before = {uids[number] for number in replay.reaching(replayed.step)} - stood
        uids_due = sorted((shown_uids | before) - {""})
        fate = fates.of(position) if uids_due else (False, 0, 0)
        for uid in uids_due:
            tokens = 0 if uid in before else replayed.tokens
            pair = Pair(replayed.step.touch.name, ids[uid], uid in before, tokens=tokens)
            pair.reverted, pair.failed_again, pair.retries = fate
            yield pair


class _CommitOutcomes:
    """Fate of each commit: later ones revert it, fix it, or change its files again."""

    def __init__(self, touches: list[CommitChanges]) -> None:
        self._touches = touches
        self._reverted = tuple(name[:12] for name in reverted_of(touch.message for touch in touches))
        self._of_file: dict[str, list[int]] = {}
        for position, touch in enumerate(touches):
            for file in touch.files:
                self._of_file.setdefault(file, []).append(position)

    def of(self, position: int) -> tuple[bool, int, int]:
        """Return whether a commit is reverted, whether it was fixed, and how many commits change its files again."""
        touch = self._touches[position]
        later: set[int] = set()
        for file in touch.files:
            positions = self._of_file[file]
            for other in positions[bisect_right(positions, position) :]:
                if other > position + FOLLOWED:
                    break
                later.add(other)
        mended = any(_MENDS.search(self._touches[other].message.partition("\n")[0]) for other in later)
        reverted = touch.name.startswith(self._reverted)
        return reverted, int(reverted or mended), len(later)


def replay(workspace: Workspace, since: str | None = None, commits: Path | None = None) -> Report:
    """Replay the commits of the current branch, or of a file of JSON lines, with the records that were live then."""
    started = time.monotonic()
    past, tracked, commit_file = _history(workspace, since, commits)
    names = NameResolver(past.latest.values(), workspace.kinds.id_forms)
    tally = count(past, Replay(past, tracked, half_life_days()), names)
    source = str(commits) if commits is not None else f"{since}..HEAD" if since else "HEAD"
    took = time.monotonic() - started
    return Report(past, tally, source, len(tracked), commit_file.skipped, commit_file.skipped_count, took)


def _history(workspace: Workspace, since: str | None, commits: Path | None) -> tuple[History, list[str], CommitFile]:
    """Return the history, the files that decide which scopes are broad, and the file of commits."""
    tracked = workspace.git.tracked() or []
    if commits is None:
        return _past(workspace, since), tracked, CommitFile((), (), 0)
    commit_file = read_commits(commits, since)
    past = history_by_dates(commit_file.commits, _records(workspace))
    return past, list({*tracked, *(file for touch in commit_file.commits for file in touch.files)}), commit_file


def effect(workspace: Workspace, since: str | None = None, commits: Path | None = None) -> EffectReport:
    """Return the effect of records in a history: commits that had one against those before it."""
    past, tracked, _ = _history(workspace, since, commits)
    pairs = list(pairs_in(past, Replay(past, tracked, half_life_days())))
    return report(pairs, record_titles(workspace), TIME)


def _past(workspace: Workspace, since: str | None) -> History:
    git = workspace.git
    if git.head() is None:
        raise UsageError("there is no commit here", hint="name a file of commits with --commits")
    if has_history(git):
        return history_from_git(workspace, since)
    if since is not None and git.commit(since) is None:
        raise UsageError(f"{since!r} names no commit", hint="name a commit, a tag or a branch")
    touches = [commit_changes(commit) for commit in commits_since(git, since) if len(commit.parents) < 2]
    return history_by_dates(touches, _records(workspace))


def _records(workspace: Workspace) -> list[tuple[Record, bool]]:
    """Return today's records without the inbox, and whether a separate file holds their prose."""
    reading = Reading(workspace)
    shared = [entry for entry in reading.entries if not entry.pending]
    pairs = [(reading.record(entry), entry.has_body) for entry in shared]
    return [(record, has_body) for record, has_body in pairs if record is not None]
