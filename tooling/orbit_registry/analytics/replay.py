"""Replay: what each commit of a history would have been shown, counted and reported.

Each file of a commit is one call of an editing tool, in the order of their names; a few commits in a row are one
session. In a history nothing was withheld: what `effect` compares in its place are the commits that a record applies
to and that came before it stood, each as one session. That proves less, for much else changes with time.
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
    CommitFile,
    Past,
    Step,
    Touch,
    has_history,
    past_by_dates,
    past_of,
    read_commits,
    touch_of,
)
from orbit_registry.analytics.report import told_of
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
from orbit_registry.workspace.git_log import since as commits_since
from orbit_registry.workspace.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Shown:
    """What one commit would have been shown: places of versions, in order, and what its calls came to."""

    step: Step
    versions: tuple[int, ...]
    tokens: int
    calls: int
    speaking: int
    """Calls in which something was shown."""
    drops: dict[str, int]
    """Why records that applied were not shown in the whole commit, and how many for each reason."""


class Replay:
    """A history made ready to be walked: one index of all versions, of which each commit sees those that stood."""

    def __init__(self, past: Past, files: Sequence[str], half_life_days: float) -> None:
        """`files` are those by which a scope is called broad."""
        self.past = past
        self._then = _then(past, files, half_life_days)

    def walk(self, session: int = 1) -> Iterator[Shown]:
        """Yield what each commit would have been shown, so many commits being one session; those without files too."""
        ledger = _Session()
        for place, step in enumerate(self.past.steps):
            if place % session == 0:
                ledger = _Session()
            self._then.see(step.standing)
            yield self._asked(step, ledger)

    def applying(self, step: Step) -> set[int]:
        """Return the versions that stood before a commit and whose scope has one of its files."""
        self._then.see(step.standing)
        return {self._then.version_of(hit >> 32) for file in step.touch.files for hit in self._then.match(file)}

    def reaching(self, step: Step) -> set[int]:
        """Return the versions, standing or not, whose scope has one of a commit's files."""
        self._then.see(self._then.whole)
        return {self._then.version_of(hit >> 32) for file in step.touch.files for hit in self._then.match(file)}

    def can_be_shown(self) -> int:
        """Return the versions that can be shown at all: a bit for each."""
        return self._then.whole

    def broad(self) -> int:
        """Return the versions that no tool call shows because they apply to too much: a bit for each."""
        return self._then.broad

    def _asked(self, step: Step, ledger: Ledger) -> Shown:
        versions: list[int] = []
        drops: dict[tuple[int, str], None] = {}
        used = speaking = 0
        for file in step.touch.files:
            found = select(self._then, Context(TOOL, step.touch.at, paths=(file,), task_class=CODE), ledger)
            drops.update(((int(row.values[ORIGIN]), reason), None) for row, reason in found.drops)
            if found.matches:
                speaking += 1
                used += tokens(render(found))
                versions += [int(one.row.values[ORIGIN]) for one in found.matches]
        counts: dict[str, int] = {}
        for place, reason in drops:
            if place not in versions:
                counts[reason] = counts.get(reason, 0) + 1
        return Shown(step, tuple(versions), used, len(step.touch.files), speaking, counts)


class _Session(Ledger):
    """What a session was shown, in memory."""

    def __init__(self) -> None:
        super().__init__("", "replay")
        self._ids: list[str] = []

    def begin(self) -> list[str]:
        return list(self._ids)

    def add(self, ids: list[str]) -> None:
        self._ids += ids

    def end(self) -> None:
        return


class _Then(Index):
    """An index of every version, which answers with those alone that stand at the time that is looked at."""

    def __init__(self, content: bytes, words: list[int]) -> None:
        super().__init__(content, words, "")
        rows = [super(_Then, self).row(number) for number in range(self.records)]
        self._rows = {row.number: row for row in rows if row is not None}
        self._versions = [int(row.values[ORIGIN]) for row in self._rows.values()]
        self.whole = sum(1 << place for place in self._versions)
        self.broad = sum(1 << place for place, row in zip(self._versions, self._rows.values(), strict=True)
                         if row.flags & reader.BROAD)  # fmt: skip
        self._paths: dict[str, list[int]] = {}
        self._standing = b""
        self._seen = -1

    def see(self, standing: int) -> None:
        """Look at the time when these versions stood."""
        if standing != self._seen:
            self._seen = standing
            self._standing = standing.to_bytes((self.whole | standing).bit_length() // 8 + 1, "little")

    def match(self, path: str, limit: int | None = None, everything: bool = False) -> list[int]:
        known = self._paths.get(path)
        if known is None:
            known = self._paths[path] = super().match(path, None, everything)
        found = [hit for hit in known if self._stands(self._versions[hit >> 32])]
        return found if limit is None else found[:limit]

    def under(self, axis: str, word: str, limit: int | None = None, everything: bool = False) -> list[int]:
        found = [hit for hit in super().under(axis, word, None, everything) if self._stands(self._versions[hit >> 32])]
        return found if limit is None else found[:limit]

    def row(self, number: int) -> Row | None:
        return self._rows.get(number)

    def difference(self, row: Row) -> str:
        return ""

    def version_of(self, number: int) -> int:
        """Return the version that a row is."""
        return self._versions[number]

    def _stands(self, place: int) -> bool:
        return bool(self._standing[place >> 3] >> (place & 7) & 1)


def _then(past: Past, files: Sequence[str], half_life_days: float) -> _Then:
    parts = sorted(_parts(past, half_life_days), key=lambda part: (order_in(part), int(part.row[reader.ORIGIN])))
    entries = entries_of(parts)
    content = pack(with_breadth(parts, Breadth(files, entries)), entries)
    index = read_index(content, "")
    if not isinstance(index, Index):
        raise SnapshotError(f"the records of then: {index.reason}", hint="this is a bug, please report it")
    return _Then(content, memoryview(content)[: reader.HEADER_WORDS * 8].cast("Q").tolist())


def _parts(past: Past, half_life_days: float) -> Iterator[Part]:
    """Yield each version that could be shown, compiled as for the index; its place stands where a hash does there."""
    for place, record in _cleaned(past):
        version = past.versions[place]
        origin = Origin(has_body=version.has_body, label=str(place))
        part = part_of(record, origin, half_life_days)
        if part.pushed:
            yield part


def _cleaned(past: Past) -> Iterable[tuple[int, Record]]:
    """Return the versions with their places, free of secrets."""
    held = [(place, one.record) for place, one in enumerate(past.versions) if one.record is not None]
    live = [(place, record) for place, record in held if record.phase == "live"]
    # Records are told apart by their paths there, and versions of one record share theirs.
    apart = [replace(record, path=f"{place}/{record.path}") for place, record in live]
    clean = free_of_secrets(apart)
    return [(place, replace(one, path=record.path)) for (place, record), one in zip(live, clean, strict=True)]


BY_ID, BY_TASK = "id", "task"
_WORD = re.compile(r"[^\s\[\](){},;:'\"`<>|=]+")
_AROUND = ".!?*_/"
_SHORTEST = 3


class Names:
    """What records are called: their ids, else their earlier ids, else the last part of those; and their tasks."""

    def __init__(self, records: Iterable[Record], forms: IdForms) -> None:
        self._forms = forms
        held = list(records)
        legacy: dict[str, set[str]] = {}
        tails: dict[str, set[str]] = {}
        self._ids: dict[str, set[str]] = {}
        self._tasks: dict[str, set[str]] = {}
        for record in held:
            self._ids.setdefault(_plain(record.id), set()).add(record.uid)
            for name in record.legacy_ids:
                legacy.setdefault(_plain(name), set()).add(record.uid)
                tails.setdefault(_plain(name.rpartition("/")[2]), set()).add(record.uid)
            for name in tasks_of(record):
                self._tasks.setdefault(name, set()).add(record.uid)
        for earlier in (legacy, tails):
            self._ids = {**earlier, **self._ids}

    def cited(self, message: str) -> Mapping[str, str]:
        """Return the lasting ids of the records that a message speaks of, and by what: `BY_ID` or `BY_TASK`."""
        found: dict[str, str] = {}
        words = {whole.strip(_AROUND) for whole in _WORD.findall(message)}
        words |= {part for word in words for part in word.split("/")}
        for word in words:
            for uid in self._tasks.get(word, ()):
                found[uid] = BY_TASK
        ids = {_plain(word) for word in words} | {_plain(one.id) for one in find_citations(message, self._forms)}
        for name in ids:
            for uid in self._ids.get(name, ()):
                found[uid] = BY_ID
        return found


def tasks_of(record: Record) -> list[str]:
    """Return the ids of tasks that a record names: its own, its scope's, its evidence's; words that may be anything
    are left out."""
    evidence = [reference for kind, reference in record.evidence if kind == "task"]
    named = dict.fromkeys([*record.words("tasks"), *record.scope.tasks, *evidence])
    return [name for name in named if len(name) >= _SHORTEST and any(map(str.isdigit, name)) and not name.isdigit()]


def _plain(name: str) -> str:
    """Return an id without the zeros before its number: `ADR 12` means ADR-0012."""
    word, dash, rest = name.rpartition("-")
    return f"{word}{dash}{int(rest)}" if dash and rest.isdecimal() and rest.isascii() else name


SESSIONS = (1, 5, 20)
"""Commits in a row that are one session: what the same history costs where a session does more than one commit."""


@dataclass(slots=True)
class Citations:
    """Pairs of a commit and a record. `cited` is what messages speak of; each further count is a part of one before."""

    commits: int = 0
    """Commits that speak of a record that could be shown then."""
    cited: int = 0
    not_yet: int = 0
    """Cited, but not there or not in force before the commit: what a commit itself adds is among them."""
    standing: int = 0
    scoped: int = 0
    """Of those standing, the ones whose scope names a path: no other can lead to a file."""
    reached: int = 0
    """Of those scoped, the ones whose scope has a file of the commit."""
    shown: int = 0
    shown_by_id: int = 0
    """Of those shown, the ones that are cited by an id; the others by a task."""
    shown_in_citing: int = 0
    """All that was shown in commits that speak of a record that could be shown then."""
    expected: float = 0.0
    """How many of those would be cited if as many scoped records had been drawn at random."""


@dataclass(slots=True)
class Session:
    """What sessions of so many commits come to."""

    commits: int
    shown: int = 0
    tokens: int = 0
    silent: int = 0


@dataclass(slots=True)
class Tally:
    """What a replay came to; shares are made from these counts where they are printed."""

    commits: int = 0
    without_files: int = 0
    calls: int = 0
    speaking_calls: int = 0
    shown: list[int] = field(default_factory=list)
    """Records shown, for each commit that touched a file."""
    tokens: list[int] = field(default_factory=list)
    drops: Counter[str] = field(default_factory=Counter)
    by_record: Counter[str] = field(default_factory=Counter)
    """Commits in which a record was shown, by its lasting id."""
    cited_by_record: Counter[str] = field(default_factory=Counter)
    citations: Citations = field(default_factory=Citations)
    sessions: list[Session] = field(default_factory=list)
    never: Mapping[str, str] = field(default_factory=dict)
    """Why a record that could be shown never was, by its lasting id."""


NEVER = {
    "no path": "its scope names no path",
    "never touched": "no commit touched a file of its scope while it stood",
    "too broad": "it applies to more than a fifth of all files, so no tool call shows it",
    "left out": "it applied, and each time something else left it out",
}
"""Why a record was never shown: all reasons there are."""


def count(past: Past, replay: Replay, names: Names) -> Tally:
    """Walk a history, once for each length of a session, and count."""
    found = Tally()
    masks = _Masks(past, replay)
    reached: set[str] = set()
    for shown in replay.walk():
        if not shown.step.touch.files:
            found.without_files += 1
            continue
        _add(found, shown, past)
        cited = names.cited(shown.step.touch.message)
        applied = set(_uids(past, replay.applying(shown.step)))
        reached |= applied
        _cite(found, shown, cited, masks, applied)
    found.sessions = [_session(replay, commits) for commits in SESSIONS]
    found.never = {uid: why for uid, why in _never(past, masks, reached) if uid not in found.by_record}
    return found


def _add(found: Tally, shown: Shown, past: Past) -> None:
    found.commits += 1
    found.calls += shown.calls
    found.speaking_calls += shown.speaking
    found.shown.append(len(shown.versions))
    found.tokens.append(shown.tokens)
    found.drops.update(shown.drops)
    found.by_record.update(dict.fromkeys(_uids(past, shown.versions), 1))


def _cite(found: Tally, shown: Shown, cited: Mapping[str, str], masks: _Masks, applied: set[str]) -> None:
    if not cited:
        return
    pairs = found.citations
    standing = {uid for uid in cited if masks.of(uid) & masks.can_be_shown & shown.step.standing}
    seen = set(_uids(masks.past, shown.versions))
    scoped = {uid for uid in standing if masks.of(uid) & masks.scoped & shown.step.standing}
    pairs.cited += len(cited)
    pairs.not_yet += len(cited) - len(standing)
    pairs.standing += len(standing)
    pairs.scoped += len(scoped)
    pairs.reached += len(scoped & applied)
    hit = standing & seen
    pairs.shown += len(hit)
    pairs.shown_by_id += sum(cited[uid] == BY_ID for uid in hit)
    found.cited_by_record.update(hit)
    if standing:
        pairs.commits += 1
        pairs.shown_in_citing += len(shown.versions)
        there = (masks.scoped & shown.step.standing).bit_count()
        pairs.expected += len(shown.versions) * len(scoped) / there if there else 0.0


def _session(replay: Replay, commits: int) -> Session:
    found = Session(commits)
    for shown in replay.walk(commits):
        if shown.step.touch.files:
            found.shown += len(shown.versions)
            found.tokens += shown.tokens
            found.silent += not shown.versions
    return found


def _uids(past: Past, places: Iterable[int]) -> list[str]:
    records = (past.versions[place].record for place in places)
    return [record.uid for record in records if record is not None]


class _Masks:
    """Which versions are of which record, and which of them could be shown: numbers with a bit for each version."""

    def __init__(self, past: Past, replay: Replay) -> None:
        self.past = past
        self.can_be_shown, self.broad = replay.can_be_shown(), replay.broad()
        self.scoped = 0
        self._by_uid: dict[str, int] = {}
        for place, version in enumerate(past.versions):
            if version.record is not None:
                uid = version.record.uid
                self._by_uid[uid] = self._by_uid.get(uid, 0) | 1 << place
                self.scoped |= _has_path(version.record) << place
        self.scoped &= self.can_be_shown

    def of(self, uid: str) -> int:
        """Return the versions of a record."""
        return self._by_uid.get(uid, 0)


def _never(past: Past, masks: _Masks, reached: set[str]) -> Iterable[tuple[str, str]]:
    """Yield records that could be shown at some time, and why they were not if they were not."""
    for uid in past.latest:
        mine = masks.of(uid) & masks.can_be_shown
        if mine:
            scoped = mine & masks.scoped
            if not scoped:
                why = "no path"
            elif not scoped & ~masks.broad:
                why = "too broad"
            else:
                why = "left out" if uid in reached else "never touched"
            yield uid, why


def _has_path(record: Record) -> bool:
    return bool(record.scope.paths or record.scope.symbols)


def percentile(values: Sequence[int], share: float) -> int:
    """Return the value below which a share of the values lies, the nearest one that occurs; 0 of none."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0


LISTED, LONGEST_TITLE = 10, 70
"""So many records are named in the text; the data name all."""


@dataclass(frozen=True, slots=True)
class Report:
    """A replay: what was walked, what it came to, which lines of a file were no commits (line, why), and seconds."""

    past: Past
    tally: Tally
    commits_from: str
    files: int
    """By so many files a scope was called broad."""
    skipped: Sequence[tuple[int, str]]
    skipped_count: int
    seconds: float

    def as_data(self) -> dict[str, object]:
        """Return the report as JSON shows it."""
        found, records = self.tally, self.past.latest
        return {
            "commits_from": self.commits_from,
            "records_by": self.past.records_by,
            "notes": list(self.past.notes),
            "skipped": {
                "count": self.skipped_count,
                "lines": [{"line": line, "why": why} for line, why in self.skipped],
            },
            "commits": {"with_files": found.commits, "without_files": found.without_files, "silent": self._silent},
            "silent_share": _share(self._silent, found.commits),
            "calls": {
                "count": found.calls,
                "speaking": found.speaking_calls,
                "silent_share": _share(found.calls - found.speaking_calls, found.calls),
            },
            "shown": {**_spread(found.shown), "by_count": _histogram(found.shown)},
            "tokens": _spread(found.tokens),
            "left_out": dict(sorted(found.drops.items())),
            "citations": _citations(found.citations),
            "sessions": [
                {
                    "commits": one.commits,
                    "shown": one.shown,
                    "shown_per_commit": _share(one.shown, found.commits),
                    "tokens": one.tokens,
                    "tokens_per_commit": _share(one.tokens, found.commits),
                    "silent_share": _share(one.silent, found.commits),
                }
                for one in found.sessions
            ],
            "breadth_files": self.files,
            "records": {
                "could_be_shown": len(found.by_record) + len(found.never),
                "shown": len(found.by_record),
                "top": [self._record(records, uid, count) for uid, count in self._top],
                "never_shown": [
                    {"id": records[uid].id, "title": _title(records[uid]), "why": why}
                    for uid, why in sorted(found.never.items(), key=lambda pair: records[pair[0]].sort_key)
                ],
            },
            "seconds": round(self.seconds, 2),
        }

    def text(self) -> str:
        """Return the report as a page for people."""
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
        found = self.tally
        yield f"{found.commits:,} commits with files from {self.commits_from}; {self.seconds:.1f} s"
        yield f"records count as there by: {self.past.records_by}"
        yield from (f"  {note}" for note in self.past.notes)
        if found.without_files:
            yield f"  {found.without_files} more commits touch no file and count nowhere"
        if self.skipped_count:
            yield f"  {self.skipped_count} lines are no commits and were skipped:"
            yield from (f"    line {line}: {why}" for line, why in self.skipped)

    def _shown(self) -> Iterator[str]:
        found = self.tally
        quiet = found.calls - found.speaking_calls
        yield ""
        yield f"silent      {_of(self._silent, found.commits, 'commits')}"
        yield f"            {_of(quiet, found.calls, 'calls')}: one for each file of a commit"
        for name, values in (("shown", found.shown), ("tokens", found.tokens)):
            spread = _spread(values)
            if spread["mean_speaking"] is None:
                yield f"{name:<12}nothing"
                continue
            yield (
                f"{name:<12}{spread['total']:,}: {spread['mean']} a commit, {spread['mean_speaking']} where any; "
                f"half of commits at most {spread['p50']}, nine in ten {spread['p90']}, the most {spread['most']}"
            )
        for reason, times in sorted(found.drops.items()):
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
        for one in self.tally.sessions if self.tally.commits else ():
            yield (
                f"sessions of {one.commits:>2} commit{'s' if one.commits > 1 else ' '}: "
                f"{_share(one.shown, self.tally.commits)} records and "
                f"{_share(one.tokens, self.tally.commits)} tokens a commit, "
                f"silent {_percent(one.silent, self.tally.commits)}"
            )

    def _records(self) -> Iterator[str]:
        records, found = self.past.latest, self.tally
        could = len(found.by_record) + len(found.never)
        yield ""
        yield f"{len(found.by_record)} of {could} records that could be shown were"
        for uid, commits in self._top[:LISTED]:
            cited = found.cited_by_record[uid]
            record = records[uid]
            yield f"  {commits:>5,} commits, {cited:>3} cite it  {record.id}  {_title(record)[:LONGEST_TITLE]}"
        for why, said in NEVER.items():
            missed = [records[uid] for uid, reason in found.never.items() if reason == why]
            if missed:
                named = ", ".join(one.id for one in sorted(missed, key=lambda one: one.sort_key)[:LISTED])
                more = f" and {len(missed) - LISTED} more" if len(missed) > LISTED else ""
                yield f"  never shown, {said}: {named}{more}"


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


def _share(part: float, whole: int) -> float | None:
    """Return a share, or a mean; None where there is nothing to share."""
    return round(part / whole, 3 if part < whole else 2) if whole else None


def _of(part: int, whole: int, what: str) -> str:
    return f"{_percent(part, whole):<7} {part:,} of {whole:,} {what}"


def _percent(part: float, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "-"


def _title(record: Record) -> str:
    return without_secrets(record.title)


FOLLOWED = 50
"""What became of a commit is looked for in so many after it; the last ones of a history, which have fewer, are left
out: they would look as if nothing had to be done again."""
_MENDS = re.compile(r"\b(?:(?:hot|bug)?fix(?:e[sd])?\b|revert)", re.IGNORECASE)
"""A word of a message's first line that says that the commit mends something."""


def pairs_in(past: Past, replay: Replay) -> Iterator[Pair]:
    """Yield a pair for each commit and record that was shown for it, or that applies to it and did not stand yet."""
    uids = [version.record.uid if version.record is not None else "" for version in past.versions]
    ids = {uid: record.id for uid, record in past.latest.items()}
    stood: set[str] = set()
    seen = 0
    fates = _Fates([step.touch for step in past.steps])
    for place, shown in enumerate(replay.walk()):
        standing = shown.step.standing
        stood |= {uids[number] for number in places_of(standing & ~seen)}
        seen |= standing
        if not shown.step.touch.files or place + FOLLOWED >= len(past.steps):
            continue
        told = {uids[number] for number in shown.versions}
        before = {uids[number] for number in replay.reaching(shown.step)} - stood
        uids_due = sorted((told | before) - {""})
        fate = fates.of(place) if uids_due else (False, 0, 0)
        for uid in uids_due:
            tokens = 0 if uid in before else shown.tokens
            pair = Pair(shown.step.touch.name, ids[uid], uid in before, tokens=tokens)
            pair.reverted, pair.failed_again, pair.retries = fate
            yield pair


class _Fates:
    """What became of each commit: whether later ones revert it, mend it or come back to its files."""

    def __init__(self, touches: list[Touch]) -> None:
        self._touches = touches
        self._reverted = tuple(name[:12] for name in reverted_of(one.message for one in touches))
        self._of_file: dict[str, list[int]] = {}
        for place, one in enumerate(touches):
            for file in one.files:
                self._of_file.setdefault(file, []).append(place)

    def of(self, place: int) -> tuple[bool, int, int]:
        """Return whether a commit is reverted, whether it had to be mended, and how many come back to its files."""
        one = self._touches[place]
        later: set[int] = set()
        for file in one.files:
            held = self._of_file[file]
            for other in held[bisect_right(held, place) :]:
                if other > place + FOLLOWED:
                    break
                later.add(other)
        mended = any(_MENDS.search(self._touches[other].message.partition("\n")[0]) for other in later)
        reverted = one.name.startswith(self._reverted)
        return reverted, int(reverted or mended), len(later)


def replay(workspace: Workspace, since: str | None = None, commits: Path | None = None) -> Report:
    """Return what would have been shown for each commit of a history, with the records that were there then.

    The commits are those of the branch checked out, or those of a file of JSON lines; `since` leaves out those up to
    the one it names. Where git holds the records and no file is given, git says which of them stood when.

    Raises:
        UsageError: `since` names no commit, or there is no history.
        UnreadableFileError: the file can't be read.
        GitError: git fails.
    """
    begun = time.monotonic()
    past, tracked, given = _history(workspace, since, commits)
    names = Names(past.latest.values(), workspace.kinds.id_forms)
    tally = count(past, Replay(past, tracked, half_life_days()), names)
    source = str(commits) if commits is not None else f"{since}..HEAD" if since else "HEAD"
    took = time.monotonic() - begun
    return Report(past, tally, source, len(tracked), given.skipped, given.skipped_count, took)


def _history(workspace: Workspace, since: str | None, commits: Path | None) -> tuple[Past, list[str], CommitFile]:
    """Return the history, the files by which a scope is called broad, and what a file of commits gave."""
    tracked = workspace.git.tracked() or []
    if commits is None:
        return _past(workspace, since), tracked, CommitFile((), (), 0)
    given = read_commits(commits, since)
    past = past_by_dates(given.commits, _records(workspace))
    return past, list({*tracked, *(file for touch in given.commits for file in touch.files)}), given


def effect(workspace: Workspace, since: str | None = None, commits: Path | None = None) -> EffectReport:
    """Return what records did in a history, as `stats.effect` tells it: commits that had one beside those before it.

    Raises:
        UsageError, UnreadableFileError, GitError: as `replay`.
    """
    past, tracked, _ = _history(workspace, since, commits)
    pairs = list(pairs_in(past, Replay(past, tracked, half_life_days())))
    return report(pairs, told_of(workspace), TIME)


def _past(workspace: Workspace, since: str | None) -> Past:
    git = workspace.git
    if git.head() is None:
        raise UsageError("there is no commit here", hint="name a file of commits with --commits")
    if has_history(git):
        return past_of(workspace, since)
    if since is not None and git.commit(since) is None:
        raise UsageError(f"{since!r} names no commit", hint="name a commit, a tag or a branch")
    touches = [touch_of(one) for one in commits_since(git, since) if len(one.parents) < 2]
    return past_by_dates(touches, _records(workspace))


def _records(workspace: Workspace) -> list[tuple[Record, bool]]:
    """Return the records of today, without the inbox, and whether a file beside each holds its prose."""
    reading = Reading(workspace)
    shared = [entry for entry in reading.entries if not entry.pending]
    found = [(reading.record(entry), entry.has_body) for entry in shared]
    return [(record, has_body) for record, has_body in found if record is not None]
