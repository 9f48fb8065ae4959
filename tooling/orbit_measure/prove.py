"""Proof on this repository: what reaches an edit and a prompt,
and what `git log` and FTS5 find instead.
"""

import random
import re
import statistics
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import not_
from pathlib import Path

from orbit_measure.figures import Share
from orbit_measure.history import Step, live_since
from orbit_measure.names import NameResolver
from orbit_measure.tables import tables
from orbit_measure.walk import walk
from orbit_measure.without_orbit import FullText, GitLog
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
from orbit_registry.workspace.git import Commit, newest_commits
from orbit_registry.workspace.workspace import ORBIT, Workspace

WAYS = ("orbit", "git log", "fts5")
MOST_FILES, MOST_TITLES = 2_000, 300
"""Files that live records apply to, and superseded records, that are asked about;
of more a sample is drawn.
"""
# Records of a search, at a prompt and at an edit that count; FTS5 may give as many.
FIRST, AT_PROMPT, AT_EDIT = 5, 3, 5
SEED = 20_261
UNRELATED = Path(__file__).with_name("unrelated.txt")
"""Texts, one a line, that have nothing to do with a repository of code."""
LONGEST_BODY = 600  # characters of a message's body that make a prompt of several sentences
_TRAILER = re.compile(r"[A-Za-z][A-Za-z-]*: \S")
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
    tokens: dict[str, list[int]] = field(default_factory=dict)  # by way, those of each first edit
    shares: Mapping[tuple[str, str], Share] = field(default_factory=dict)  # by measure and way
    missed: Counter[str] = field(default_factory=Counter)
    """Why first edits did not show a record in whose scope the file is: pairs by reason."""
    without_case: dict[str, str] = field(default_factory=dict)  # by measure without a case: why
    notes: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def as_data(self) -> dict[str, object]:
        """Return the proof for JSON; the schema is docs/schemas/prove.schema.json."""
        samples = self.samples.items()
        return {
            "records": self.records,
            "live": self.live,
            "commits": self.commits,
            "samples": {name: {"asked": size, "of": of} for name, (size, of) in samples},
            "measures": [self._measure(name) for name in MEASURES],
            "missed": dict(sorted(self.missed.items())),
            "tokens": {way: _token_data(counts) for way, counts in self.tokens.items()},
            "notes": self.notes,
            "seconds": round(self.seconds, 2),
        }

    def _measure(self, name: str) -> dict[str, object]:
        better, what = MEASURES[name]
        return {
            "name": name,
            "what": what,
            "better": better,
            "without_case": self.without_case.get(name),
            "ways": {way: self.share(name, way).as_data() for way in WAYS},
        }

    def share(self, name: str, way: str = WAYS[0]) -> Share:
        """Return the share of a measure that a way has."""
        return self.shares.get((name, way), Share())

    def text(self) -> str:
        """Return the proof as text: what was asked, a table that Markdown takes too,
        and what its rows count.
        """
        notes = [
            f"records: {self.records}, live: {self.live}; newest commits: {self.commits}",
            *self.notes,
        ]
        return "\n".join(["; ".join(notes), "", *self._table(), "", *self._legend()])

    def _table(self) -> Iterator[str]:
        rows = [("measure", "better", *WAYS), ("---",) * (2 + len(WAYS))]
        for name, (better, _) in MEASURES.items():
            rows.append((name, better, *(self.share(name, way).text() for way in WAYS)))

        rows.append(("tokens", "less", *(_token_text(self.tokens.get(way, ())) for way in WAYS)))
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        for row in rows:
            yield f"| {' | '.join(map(str.ljust, row, widths))} |"

    def _legend(self) -> Iterator[str]:
        for name, (_, what) in MEASURES.items():
            because = f"; no case: {self.without_case[name]}" if name in self.without_case else ""
            yield f"{name}: {what}{because}"

        yield TOKENS
        if self.missed:
            yield "pairs that an edit does not show:"

        for name, count in sorted(self.missed.items(), key=lambda entry: (-entry[1], entry[0])):
            yield f"  {count:,} × {DROPS.get(name, name)}"


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

    prover.proof.shares = _shares(prover.cases)
    prover.proof.seconds = time.monotonic() - started
    return prover.proof


def _shares(cases: Iterable[tuple[str, str, bool]]) -> dict[tuple[str, str], Share]:
    with tables("asked") as asked:
        asked.fill("cases", cases)
        rows = asked.ask("shares")

    return {(row.pop("measure"), row.pop("way")): Share(**row) for row in rows}


class _Hook:
    """What the hook of an agent shows, by today's index."""

    def __init__(self, workspace: Workspace, uids: Mapping[str, str]) -> None:
        self._root, self._uids = str(workspace.root), uids
        self._index: Index = current_index(workspace)
        self._now = time.time()

    def edit(self, file: str, log: SessionLog | None = None) -> Selection:
        """Return what an edit of a file shows."""
        tool_input = {"file_path": f"{self._root}/{file}"}
        return self._called("PreToolUse", log, tool_name="Edit", tool_input=tool_input)

    def prompt(self, text: str) -> Selection:
        """Return what a prompt shows."""
        return self._called("UserPromptSubmit", None, prompt=text)

    def _called(self, event: str, log: SessionLog | None, **payload: object) -> Selection:
        call = load_agent("claude").read({"hook_event_name": event, "cwd": self._root, **payload})
        if call is None:
            return Selection([], 0, [])
        paths, _ = project_paths(self._root, self._root, call)
        return select(self._index, context_of(call, paths, self._now), log)

    def uids(self, selection: Selection) -> frozenset[str]:
        """Return the records that a reply names."""
        names = ids_in(render(selection))
        return frozenset(self._uids[record_id] for record_id in names if record_id in self._uids)

    def applying(self, file: str) -> frozenset[str]:
        """Return the live records of the project in whose scope a file is."""
        uids: set[str] = set()
        for hit in self._index.match(file):
            row = self._index.row(hit >> 32)
            is_ours = row.id in self._uids and not row.values[PATH].startswith("~/")
            if is_ours and row.values[PHASE] == "live":
                uids.add(self._uids[row.id])

        return frozenset(uids)


class _Prover:
    """Asks Orbit, `git log` and full-text search the same, and notes each case."""

    def __init__(
        self, workspace: Workspace, records: RecordSet, searcher: Searcher, commits: int
    ) -> None:
        self._workspace, self._records, self._searcher = workspace, list(records), searcher
        self._uids = {record.id: record.uid for record in self._records}
        self._live = {record.uid for record in self._records if record.phase == "live"}
        self._hook = _Hook(workspace, self._uids)

        newest = list(newest_commits(workspace.git))
        self._asked = newest[:commits]
        self._names = NameResolver(self._records, workspace.kinds.id_forms)
        self._git = GitLog(newest, self._names)
        self._fts = FullText(self._records)

        self.cases: list[tuple[str, str, bool]] = []
        self.proof = Proof(len(self._records), len(self._live), len(self._asked))
        if not newest:
            self.proof.notes.append(
                "there is no commit: no record can be named by one, and git log prints nothing"
            )

        if workspace.git.is_shallow:
            self.proof.notes.append("the clone is shallow: git log has only what it holds")

    def edits(self) -> None:
        """Ask for the first edit of each file that a live record applies to."""
        files = self._workspace.git.tracked() or []
        applying = ((file, self._hook.applying(file)) for file in files if not _is_own(file))
        due = {file: uids for file, uids in applying if uids}
        by_orbit: list[int] = []
        by_git: list[int] = []

        for file in self._sample("files", due, MOST_FILES):
            logged = self._git.of_files([file])
            selection = self._hook.edit(file)
            shown = self._hook.uids(selection)
            ways = shown, self._git.uids(logged), self._fts.of_file(file, AT_EDIT)
            for uid in due[file]:
                self._note("delivery", [uid in uids for uids in ways])

            for way, uids in zip(WAYS, ways, strict=True):
                self.cases += [("retired", way, uid not in self._live) for uid in uids]

            missed = due[file] - shown
            for row, reason in selection.drops:
                self.proof.missed[reason] += self._uids.get(row.id) in missed

            by_orbit.append(tokens(render(selection)))
            by_git.append(self._git.tokens(logged))

        self.proof.missed = +self.proof.missed
        self.proof.tokens = {"orbit": by_orbit, "git log": by_git}
        self._explain("delivery", self._why_no_pair())
        self._explain("retired", "no edit shows a record")

    def commits(self) -> None:
        """Ask with the words and files of each commit that names a record from before."""
        right_of: dict[str, frozenset[str]] = {}
        for position, commit in enumerate(self._asked):
            subject, _, body = commit.message.partition("\n")
            text = self._without_ids(subject)
            right = self._named_before(commit) if Query(text).words else frozenset()
            if not right:
                continue

            right_of[commit.name] = right
            by_git, texts = self._by_words(text, position)
            self._note("related", _reached(right, self._hits(text), by_git, texts))
            self._prompt("prompt", text, right, by_git, texts)

            if sentences := self._without_ids(_prose_of(body)[:LONGEST_BODY]):
                paragraph = f"{text}\n\n{sentences}"
                self._prompt("paragraph", paragraph, right, *self._by_words(paragraph, position))

        self._files(right_of)
        reason = "no commit names a live record that is older than it"
        if not self._git.commits:
            reason = "there is no commit"
        for name in ("related", "prompt"):
            self._explain(name, reason)

        bodies, files = "none of these commits has a body", "has a file outside `.orbit`"
        self._explain("paragraph", bodies if right_of else reason)
        self._explain("files", f"none of these commits {files}" if right_of else reason)

    def _prompt(
        self,
        name: str,
        text: str,
        right: Collection[str],
        by_git: Iterable[str],
        texts: Sequence[str],
    ) -> None:
        shown = self._hook.uids(self._hook.prompt(text))
        self._note(name, _reached(right, shown, by_git, texts[:AT_PROMPT]))

    def _files(self, right_of: Mapping[str, Collection[str]]) -> None:
        """Ask for the edits of each commit's files, one by one in a session."""

        def edit(step: Step, file: str, log: SessionLog) -> Selection:
            return Selection([], 0, []) if _is_own(file) else self._hook.edit(file, log)

        positions = {commit.name: position for position, commit in enumerate(self._asked)}
        steps = [Step(commit, 0) for commit in self._asked if commit.name in right_of]
        for step, selections in walk(steps, edit):
            commit = step.commit
            files = [file for file in commit.files if not _is_own(file)]
            if not files:
                continue

            shown = frozenset[str]().union(*map(self._hook.uids, selections))
            texts = frozenset[str]().union(*(self._fts.of_file(file, AT_EDIT) for file in files))
            by_git = self._git.uids(self._git.of_files(commit.files, positions[commit.name]))
            self._note("files", _reached(right_of[commit.name], shown, by_git, texts))

    def unrelated(self) -> None:
        """Ask what has nothing to do with a repository."""
        for text in unrelated_texts():
            reply = render(self._hook.prompt(text))
            answers = reply, self._git.with_words(text), self._fts.search(text, 1)
            self._note("silence", list(map(not_, answers)))

    def titles(self) -> None:
        """Ask with the titles of superseded records."""
        records = {record.uid: record for record in self._records}
        successors: dict[str, frozenset[str]] = {}
        for record in self._records:
            names = filter(self._uids.__contains__, record.superseded_by)
            live = self._live.intersection(map(self._uids.__getitem__, names))
            if record.phase == "closed" and live and Query(record.title).words:
                successors[record.uid] = frozenset(live)

        for uid in self._sample("superseded", successors, MOST_TITLES):
            record, right = records[uid], successors[uid]
            hits, texts = self._hits(record.title), self._fts.search(record.title, FIRST)
            files = [record.path]
            if record.source:
                files.append(record.source.path)

            by_git = self._git.uids(self._git.of_files(files))
            first = hits[:1] == [uid], right.isdisjoint(by_git), texts[:1] == [uid]
            self._note("superseded", first)
            self._note("successor", _reached(right, hits, by_git, texts))

        for name in ("superseded", "successor"):
            self._explain(name, "no superseded record has a live successor")

    def _note(self, measure: str, ways: Sequence[bool]) -> None:
        """Note a case of a measure: whether each way has it."""
        self.cases += zip([measure] * len(WAYS), WAYS, ways, strict=True)

    def _explain(self, measure: str, reason: str) -> None:
        """Say why Orbit has no case of a measure, if it has none."""
        if (measure, WAYS[0]) not in {case[:2] for case in self.cases}:
            self.proof.without_case[measure] = reason

    def _why_no_pair(self) -> str:
        if not self._live:
            return "no record is live"

        live = [record for record in self._records if record.uid in self._live]
        if not any(record.globs or record.symbols for record in live):
            return "no live record has a path in its scope: `orbit scope suggest` proposes some"
        return "no tracked file is in the scope of a live record"

    def _without_ids(self, text: str) -> str:
        return " ".join(word for word in text.split() if not self._names.cited(word))

    def _by_words(self, text: str, position: int) -> tuple[frozenset[str], list[str]]:
        """Return what `git log` and FTS5 find for the words of a commit at a position."""
        of_files = self._git.of_files(self._asked[position].files, position)
        logged = {*of_files, *self._git.with_words(text, position)}
        return self._git.uids(logged), self._fts.search(text, FIRST)

    def _hits(self, text: str) -> list[str]:
        return [hit.record.uid for hit in self._searcher.search(Query(text, limit=FIRST)).hits]

    def _named_before(self, commit: Commit) -> frozenset[str]:
        cited = self._live.intersection(self._names.cited(commit.message))
        uids: set[str] = set()
        for record in self._records:
            is_older = record.uid in cited and live_since(record) < commit.at
            if is_older and not _touches(commit, record):
                uids.add(record.uid)

        return frozenset(uids)

    def _sample(self, name: str, cases: Iterable[str], most: int) -> list[str]:
        names = sorted(cases)
        chosen = names if len(names) <= most else sorted(random.Random(SEED).sample(names, most))
        self.proof.samples[name] = (len(chosen), len(names))
        if len(chosen) < len(names):
            self.proof.notes.append(
                f"{len(chosen)} of {len(names)} {name} were asked about, drawn at random"
            )
        return chosen


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
