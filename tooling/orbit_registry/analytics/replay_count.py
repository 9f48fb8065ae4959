"""Counts what a replay came to: how much was shown, how often nothing, and how much of it the commits spoke of."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from orbit_registry.analytics.past import Past
from orbit_registry.analytics.replay_walk import Replay, Shown
from orbit_registry.records.record import Record
from orbit_registry.text.citations import IdForms, find_citations

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
    by_id: int = 0
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
        applied = _reached(replay, shown, past)
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
    pairs.by_id += sum(cited[uid] == BY_ID for uid in hit)
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


def _reached(replay: Replay, shown: Shown, past: Past) -> set[str]:
    """Return the records whose scope has a file of the commit, shown or not."""
    return set(_uids(past, replay.applying(shown.step)))


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
