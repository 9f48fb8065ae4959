"""Proof on this repository: what reaches an edit and a prompt,
and what `git log` and FTS5 find instead.
"""

import random
import re
import sqlite3
import statistics
import time
import weakref
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import not_
from pathlib import Path
from typing import TypeVar

from orbit_measure.figures import Share
from orbit_measure.history import live_since
from orbit_measure.replay import MemorySession, NameResolver
from orbit_registry.agents.transcripts import ids_in
from orbit_registry.errors import UsageError
from orbit_registry.hook.client import context_of, load_agent
from orbit_registry.hook.context import Selection
from orbit_registry.hook.project import project_paths
from orbit_registry.hook.render import render
from orbit_registry.hook.select import select
from orbit_registry.hook.session import SessionLog, tokens
from orbit_registry.matching.index import Index
from orbit_registry.matching.match import current_index
from orbit_registry.model.drops import DROPS
from orbit_registry.model.fields import PATH, PHASE
from orbit_registry.model.record import Record
from orbit_registry.model.record_set import RecordSet
from orbit_registry.search.query import Query
from orbit_registry.search.search import Searcher
from orbit_registry.search.texts import parts_of
from orbit_registry.workspace.git import Commit, newest_commits
from orbit_registry.workspace.workspace import ORBIT, Workspace

LOGGED = 20  # commits of `git log` that are read, the newest first
_WORD = re.compile(r"[^\W_]+")
_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+|[^\W\da-zA-Z_]+")
_SHORTEST = 4  # letters of a word that `git log --grep` is asked for
_TRAILER = re.compile(r"[A-Za-z][A-Za-z-]*: \S")
LONGEST_BODY = 600  # characters of a message's body that make a prompt of several sentences


class FullText:
    """Records in an FTS5 table in memory: porter stems, ranked by BM25,
    with no idea of a status.
    """

    def __init__(self, records: Iterable[Record]) -> None:
        self._db = sqlite3.connect(":memory:")
        weakref.finalize(self, self._db.close)  # Python 3.13 warns of one that stays open

        try:
            self._db.execute(
                "CREATE VIRTUAL TABLE texts USING fts5(uid UNINDEXED, text, tokenize='porter "
                "unicode61')"
            )
        except sqlite3.OperationalError as error:
            raise UsageError(
                f"SQLite has no full-text search here: {error}", hint="use a Python with FTS5"
            ) from None

        texts = ((record.uid, "\n".join((*parts_of(record), record.prose))) for record in records)
        rows = [(uid, text.encode("utf-8", "replace").decode()) for uid, text in texts]
        self._db.executemany("INSERT INTO texts VALUES (?, ?)", rows)

    def search(self, text: str, most: int) -> list[str]:
        """Return the uids of the records that have one of the words, the best first."""
        words = dict.fromkeys(word.lower() for word in _WORD.findall(text))
        statement = "SELECT uid FROM texts WHERE texts MATCH ? ORDER BY rank, rowid LIMIT ?"
        query = " OR ".join(f'"{word}"' for word in words)
        return [uid for (uid,) in self._db.execute(statement, (query, most))] if words else []

    def of_file(self, path: str, most: int) -> list[str]:
        """Return the uids of the records that fit the words of a path."""
        return self.search(" ".join(_PART.findall(path.rpartition(".")[0] or path)), most)


class GitLog:
    """Commits, and the records that their messages name."""

    def __init__(self, commits: Sequence[Commit], names: NameResolver) -> None:
        """`commits` are the newest first."""
        self._commits = commits
        self._cited = [frozenset(names.cited(commit.message)) for commit in commits]
        self._folded = [commit.message.casefold() for commit in commits]
        self._positions: dict[str, list[int]] = {}
        for position, commit in enumerate(commits):
            for path in commit.files:
                self._positions.setdefault(path, []).append(position)

    def of_files(self, paths: Iterable[str], before: int = -1) -> list[int]:
        """Return the commits that `git log -- PATH …` prints,
        those older than the one at `before`.
        """
        positions: set[int] = set()
        for path in paths:
            positions.update(self._positions.get(path, ()))

        return sorted(position for position in positions if position > before)[:LOGGED]

    def with_words(self, text: str, before: int = -1) -> list[int]:
        """Return the commits that `git log -i --grep=WORD …` prints,
        for the long words of a text.
        """
        words = [word for word in _WORD.findall(text.casefold()) if len(word) >= _SHORTEST]
        positions = range(before + 1, len(self._commits) if words else 0)
        matches = (
            position
            for position in positions
            if any(map(self._folded[position].__contains__, words))
        )
        return [position for position, _ in zip(matches, range(LOGGED), strict=False)]

    def uids(self, positions: Iterable[int]) -> frozenset[str]:
        """Return the records that the messages of commits name."""
        return frozenset().union(*map(self._cited.__getitem__, positions))

    def tokens(self, positions: Iterable[int]) -> int:
        """Return the tokens of commits, each with its message."""
        return sum(
            tokens(f"{self._commits[position].short} {self._commits[position].message}")
            for position in positions
        )


WAYS = ("orbit", "git log", "fts5")
MOST_FILES, MOST_TITLES = 2_000, 300
"""Files that live records apply to, and superseded records, that are asked about;
of more a sample is drawn.
"""
FIRST, AT_PROMPT, AT_EDIT = (
    5,
    3,
    5,
)  # records of a search, at a prompt and at an edit that count; FTS5 may give as many
SEED = 20_261
UNRELATED = Path(__file__).with_name("unrelated.txt")
"""Texts, one a line, that have nothing to do with a repository of code."""
Item = TypeVar("Item")
OnProgress = Callable[[str], object]
Measures = Mapping[str, tuple[str, str]]

MEASURES: Measures = {
    "delivery": (
        "more",
        (
            "pairs of a file and a live record in whose scope it is that the first edit of the "
            "file "
            "shows"
        ),
    ),
    "retired": ("less", "records shown at these edits that are not live"),
    "related": (
        "more",
        f"commits that name a record: it is among the first {FIRST} for the commit's subject",
    ),
    "prompt": ("more", f"the same, among the {AT_PROMPT} that a prompt of these words shows"),
    "paragraph": (
        "more",
        f"the same for commits with a body, among the {AT_PROMPT} that a prompt of subject and "
        "body shows",
    ),
    "files": ("more", "the same commits: edits of their files, one by one in a session, show it"),
    "silence": ("more", "prompts that have nothing to do with the repository, and show nothing"),
    "superseded": (
        "less",
        "superseded records that are the first hit for their title, and not their successor",
    ),
    "successor": ("more", f"the same titles: a successor is among the first {FIRST}"),
}
"""What is measured: whether more or less is better, and the words for it."""
TOKENS = "tokens: what such an edit costs, the median and the most"


@dataclass(slots=True)
class Proof:
    """Figures of one repository."""

    records: int
    live: int
    commits: int
    samples: dict[str, tuple[int, int]] = field(default_factory=dict)
    """By measure: how many cases were asked about, and how many there are."""
    tokens: dict[str, Sequence[int]] = field(
        default_factory=dict
    )  # by way, those of each first edit
    shares: dict[str, Sequence[Share]] = field(
        default_factory=dict
    )  # by measure, one for each of `WAYS`
    missed: Counter[str] = field(default_factory=Counter)
    """Why first edits did not show a record in whose scope the file is: pairs by reason."""
    without_case: dict[str, str] = field(default_factory=dict)  # by measure without a case: why
    notes: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def as_data(self) -> dict[str, object]:
        """Return the proof for JSON; the schema is docs/schemas/prove.schema.json."""
        samples = self.samples.items()
        data: dict[str, object] = {
            "records": self.records,
            "live": self.live,
            "commits": self.commits,
        }
        data["samples"] = {name: {"asked": size, "of": of} for name, (size, of) in samples}
        data["measures"] = list(map(self._measure, MEASURES))
        data["missed"] = dict(sorted(self.missed.items()))
        data["tokens"] = {way: _token_data(counts) for way, counts in self.tokens.items()}
        data["notes"] = self.notes
        data["seconds"] = round(self.seconds, 2)
        return data

    def _measure(self, name: str) -> dict[str, object]:
        better, what = MEASURES[name]
        ways = zip(WAYS, self.shares[name], strict=True)
        return {
            "name": name,
            "what": what,
            "better": better,
            "without_case": self.without_case.get(name),
            "ways": {way: share.as_data() for way, share in ways},
        }

    def text(self) -> str:
        """Return the proof as text: what was asked, a table that Markdown takes too,
        and what its rows count.
        """
        rows = [("measure", "better", *WAYS), ("---",) * (2 + len(WAYS))]
        for name, (better, _) in MEASURES.items():
            rows.append((name, better, *map(Share.text, self.shares[name])))

        rows.append(("tokens", "less", *(_token_text(self.tokens.get(way, ())) for way in WAYS)))
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        table = [" | ".join(map(str.ljust, row, widths)) for row in rows]

        notes = [
            f"records: {self.records}, live: {self.live}; newest commits: {self.commits}",
            *self.notes,
        ]
        lines = ["; ".join(notes), "", *(f"| {row} |" for row in table), ""]
        for name, (_, what) in MEASURES.items():
            because = f"; no case: {self.without_case[name]}" if name in self.without_case else ""
            lines.append(f"{name}: {what}{because}")

        lines.append(TOKENS)
        if self.missed:
            lines.append("pairs that an edit does not show:")
            reasons = sorted(self.missed.items(), key=lambda entry: (-entry[1], entry[0]))
            lines += [f"  {count:,} × {DROPS.get(name, name)}" for name, count in reasons]

        return "\n".join(lines)


def _token_data(counts: Sequence[int]) -> dict[str, object]:
    return {
        "edits": len(counts),
        "median": statistics.median(counts) if counts else None,
        "most": max(counts, default=None),
    }


def _token_text(counts: Sequence[int]) -> str:
    return f"{statistics.median(counts):.0f}, {max(counts)}" if counts else "-"


def unrelated_texts() -> list[str]:
    """Return the texts that have nothing to do with a repository of code."""
    return [line for line in UNRELATED.read_text("utf-8").splitlines() if line]


def prove(
    workspace: Workspace,
    records: RecordSet,
    searcher: Searcher,
    commits: int,
    on_progress: OnProgress = lambda step: None,
) -> Proof:
    """Measure what the hook and the search show;
    `records` have their prose, `commits` are the newest that count.
    """
    if not records:
        raise UsageError(
            "there is no record to prove anything with", hint="orbit adr new, or orbit learning new"
        )

    if workspace.git.top is None:
        raise UsageError(
            "this is not a git repository", hint="run `git init`, and commit the records and files"
        )

    started = time.monotonic()
    prover = _Prover(workspace, records, searcher, commits)
    for step in (prover.edits, prover.commits, prover.unrelated, prover.titles):
        on_progress(step.__name__)
        step()

    prover.proof.seconds = time.monotonic() - started
    return prover.proof


class _Prover:
    def __init__(
        self, workspace: Workspace, records: RecordSet, searcher: Searcher, commits: int
    ) -> None:
        self._root = str(workspace.root)
        self._workspace, self._records, self._searcher = workspace, list(records), searcher
        self._index: Index = current_index(workspace)
        self._uids = {record.id: record.uid for record in self._records}
        self._live = {record.uid for record in self._records if record.phase == "live"}

        self._newest = list(newest_commits(workspace.git))
        self._names = NameResolver(self._records, workspace.kinds.id_forms)
        self._git = GitLog(self._newest, self._names)
        self._fts = FullText(self._records)
        self._now = time.time()

        self.proof = Proof(len(self._records), len(self._live), len(self._newest[:commits]))

        if not self._newest:
            self.proof.notes.append(
                "there is no commit: no record can be named by one, and git log prints nothing"
            )

        if workspace.git.is_shallow:
            self.proof.notes.append("the clone is shallow: git log has only what it holds")

    def edits(self) -> None:
        """Ask for the first edit of each file that a live record applies to."""
        files = self._workspace.git.tracked() or []
        applying = ((file, self._applying(file)) for file in files if not _is_own(file))
        due = {file: uids for file, uids in applying if uids}
        pairs: list[Sequence[bool]] = []

        displayed: list[list[str]] = [[] for _ in WAYS]
        costs: tuple[list[int], list[int]] = [], []
        for file in self._sample("files", due, MOST_FILES):
            logged = self._git.of_files([file])
            selection = self._edit(file)
            text = render(selection)
            ways = self._shown(text), self._git.uids(logged), self._fts.of_file(file, AT_EDIT)
            for uid in due[file]:
                pairs.append([uid in uids for uids in ways])

            missed = due[file].difference(ways[0])
            for row, reason in selection.drops:
                self.proof.missed[reason] += self._uids.get(row.id) in missed

            for total, more in zip(displayed, ways, strict=True):
                total += more

            costs[0].append(tokens(text))
            costs[1].append(self._git.tokens(logged))

        self.proof.missed = +self.proof.missed
        self._put("delivery", pairs, self._why_no_pair())
        self.proof.shares["retired"] = [
            Share(sum(map(self._is_retired, uids)), len(uids)) for uids in displayed
        ]
        if not displayed[0]:
            self.proof.without_case["retired"] = "no edit shows a record"

        self.proof.tokens.update(zip(WAYS, costs, strict=False))

    def commits(self) -> None:
        """Ask with the words and files of each commit that names a record from before."""
        rows: dict[str, list[Sequence[bool]]] = {
            name: [] for name in ("related", "prompt", "paragraph", "files")
        }
        for position, commit in enumerate(self._newest[: self.proof.commits]):
            subject, _, body = commit.message.partition("\n")
            text = self._without_ids(subject)
            right = self._named_before(commit) if Query(text).words else frozenset()
            if not right:
                continue

            of_files = self._git.of_files(commit.files, position)
            by_git, texts = self._by_words(text, position, of_files)
            rows["related"].append(_reached(right, self._found(text), by_git, texts))
            by_hook = self._prompt(text)
            rows["prompt"].append(_reached(right, by_hook, by_git, texts[:AT_PROMPT]))

            if sentences := self._without_ids(_prose_of(body)[:LONGEST_BODY]):
                paragraph = f"{text}\n\n{sentences}"
                by_git, texts = self._by_words(paragraph, position, of_files)
                by_hook = self._prompt(paragraph)
                rows["paragraph"].append(_reached(right, by_hook, by_git, texts[:AT_PROMPT]))

            if files := [file for file in commit.files if not _is_own(file)]:
                by_path: set[str] = set()
                for file in files:
                    by_path.update(self._fts.of_file(file, AT_EDIT))

                by_log = self._git.uids(of_files)
                rows["files"].append(_reached(right, self._session(files), by_log, by_path))

        reason = "no commit names a live record that is older than it"
        if not self._newest:
            reason = "there is no commit"

        for name, reached in rows.items():
            self._put(name, reached, reason)

        if rows["related"]:
            self.proof.without_case.update(
                {
                    name: reason
                    for name, reason in (
                        ("paragraph", "none of these commits has a body"),
                        ("files", "none of these commits has a file outside `.orbit`"),
                    )
                    if not rows[name]
                }
            )

    def unrelated(self) -> None:
        """Ask what has nothing to do with a repository."""
        texts = unrelated_texts()
        answers = [
            (
                render(self._hook("UserPromptSubmit", prompt=text)),
                self._git.with_words(text),
                self._fts.search(text, 1),
            )
            for text in texts
        ]
        self._put("silence", [list(map(not_, ways)) for ways in answers], "")

    def titles(self) -> None:
        """Ask with the titles of superseded records."""
        records = {record.uid: record for record in self._records}
        successors: dict[str, frozenset[str]] = {}
        for record in self._records:
            uids = frozenset(
                self._uids[name] for name in record.superseded_by if name in self._uids
            )
            if record.phase == "closed" and uids & self._live and Query(record.title).words:
                successors[record.uid] = uids & self._live

        first: list[Sequence[bool]] = []
        reached: list[Sequence[bool]] = []
        for uid in self._sample("superseded", successors, MOST_TITLES):
            record, right = records[uid], successors[uid]
            hits, texts = self._found(record.title), self._fts.search(record.title, FIRST)
            files = [record.path]
            if record.source:
                files.append(record.source.path)

            by_git = self._git.uids(self._git.of_files(files))
            first.append((hits[:1] == [uid], right.isdisjoint(by_git), texts[:1] == [uid]))
            reached.append(_reached(right, hits, by_git, texts))

        reason = "no superseded record has a live successor"
        self._put("superseded", first, reason)
        self._put("successor", reached, reason)

    def _is_retired(self, uid: str) -> bool:
        return uid not in self._live

    def _applying(self, file: str) -> frozenset[str]:
        """Return the live records of the project in whose scope a file is."""
        rows = (self._index.row(hit >> 32) for hit in self._index.match(file))
        return frozenset(
            self._uids[row.id]
            for row in rows
            if row.id in self._uids
            and row.values[PHASE] == "live"
            and not row.values[PATH].startswith("~/")
        )

    def _why_no_pair(self) -> str:
        if not self._live:
            return "no record is live"

        has_scope = any(
            record.globs or record.symbols for record in self._records if record.uid in self._live
        )
        if not has_scope:
            return "no live record has a path in its scope: `orbit scope suggest` proposes some"
        return "no tracked file is in the scope of a live record"

    def _edit(self, file: str, log: SessionLog | None = None) -> Selection:
        """Return what an edit of a file shows."""
        tool_input = {"file_path": f"{self._root}/{file}"}
        return self._hook("PreToolUse", log, tool_name="Edit", tool_input=tool_input)

    def _session(self, files: Iterable[str]) -> frozenset[str]:
        """Return the records that edits of some files show, one by one in a session."""
        log = MemorySession()
        uids: set[str] = set()
        for file in files:
            uids |= self._shown(render(self._edit(file, log)))

        return frozenset(uids)

    def _prompt(self, text: str) -> frozenset[str]:
        """Return the records that a prompt shows."""
        return self._shown(render(self._hook("UserPromptSubmit", prompt=text)))

    def _hook(self, event: str, log: SessionLog | None = None, **payload: object) -> Selection:
        call = load_agent("claude").read({"hook_event_name": event, "cwd": self._root, **payload})
        if call is None:
            return Selection([], 0, [])
        paths, _ = project_paths(self._root, self._root, call)
        return select(self._index, context_of(call, paths, self._now), log)

    def _without_ids(self, text: str) -> str:
        return " ".join(word for word in text.split() if not self._names.cited(word))

    def _by_words(
        self, text: str, position: int, of_files: Iterable[int]
    ) -> tuple[frozenset[str], list[str]]:
        """Return what `git log` and FTS5 find for the words of a commit at a position."""
        logged = {*of_files, *self._git.with_words(text, position)}
        return self._git.uids(logged), self._fts.search(text, FIRST)

    def _shown(self, text: str) -> frozenset[str]:
        return frozenset(
            self._uids[record_id] for record_id in ids_in(text) if record_id in self._uids
        )

    def _found(self, text: str) -> list[str]:
        return [hit.record.uid for hit in self._searcher.search(Query(text, limit=FIRST)).hits]

    def _named_before(self, commit: Commit) -> frozenset[str]:
        cited = self._live.intersection(self._names.cited(commit.message))
        there = (
            record
            for record in self._records
            if record.uid in cited and live_since(record) < commit.at
        )
        return frozenset(record.uid for record in there if not _touches(commit, record))

    def _sample(self, name: str, cases: Mapping[str, Item], most: int) -> list[str]:
        names = sorted(cases)
        chosen = names if len(names) <= most else sorted(random.Random(SEED).sample(names, most))
        self.proof.samples[name] = (len(chosen), len(names))
        if len(chosen) < len(names):
            self.proof.notes.append(
                f"{len(chosen)} of {len(names)} {name} were asked about, drawn at random"
            )
        return chosen

    def _put(self, name: str, rows: Sequence[Sequence[bool]], reason: str) -> None:
        """Keep the shares of a measure, or the reason why it has no case."""
        if not rows:
            self.proof.without_case[name] = reason

        shares: list[Share] = []
        for way in range(len(WAYS)):
            shares.append(Share(sum(row[way] for row in rows), len(rows)))

        self.proof.shares[name] = shares


def _is_own(file: str) -> bool:
    return file.startswith(f"{ORBIT}/")


def _prose_of(body: str) -> str:
    """Return the body of a message without its trailers, such as `Signed-off-by: …`."""
    return "\n".join(line for line in body.splitlines() if not _TRAILER.match(line))


def _reached(right: Collection[str], *ways: Iterable[str]) -> list[bool]:
    return [not frozenset(right).isdisjoint(uids) for uids in ways]


def _touches(commit: Commit, record: Record) -> bool:
    document = record.source.path if record.source else ""
    return any(path == document or path.startswith(f"{record.folder}/") for path in commit.files)
