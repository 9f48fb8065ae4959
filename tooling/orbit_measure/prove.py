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
from orbit_measure.history import Step
from orbit_measure.sources import FIRST, Sources, is_own
from orbit_measure.tables import tables
from orbit_measure.walk import walk
from orbit_registry.errors import UsageError
from orbit_registry.hook.context import Selection
from orbit_registry.hook.render import render
from orbit_registry.hook.session import SessionLog, tokens
from orbit_registry.model.drops import DROPS
from orbit_registry.model.record_set import RecordSet
from orbit_registry.search.query import Query
from orbit_registry.search.search import Searcher
from orbit_registry.workspace.git_log import Commit
from orbit_registry.workspace.workspace import Workspace

WAYS = ("orbit", "git log", "fts5")
MOST_FILES, MOST_TITLES = 2_000, 300
"""Files that live records apply to, and superseded records, that are asked about;
of more a sample is drawn.
"""
AT_PROMPT, AT_EDIT = 3, 5  # records at a prompt and at an edit that count; FTS5 may give as many
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
    shares: dict[tuple[str, str], Share] = field(default_factory=dict)  # by measure and way
    missed: Counter[str] = field(default_factory=Counter)
    """Why first edits did not show a record in whose scope the file is: pairs by reason."""
    without_case: dict[str, str] = field(default_factory=dict)  # by measure without a case: why
    notes: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def as_data(self) -> dict[str, object]:
        """Return the proof for JSON; the schema is docs/schemas/prove.schema.json."""
        samples = {name: {"asked": size, "of": of} for name, (size, of) in self.samples.items()}
        by_way = {way: _token_data(counts) for way, counts in self.tokens.items()}
        return {
            "records": self.records,
            "live": self.live,
            "commits": self.commits,
            "samples": samples,
            "measures": [self._measure(name) for name in MEASURES],
            "missed": dict(sorted(self.missed.items())),
            "tokens": by_way,
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
    if counts:
        return f"{statistics.median(counts):.0f}, {max(counts)}"

    return "-"


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
    sources = Sources(workspace, records, searcher)
    newest = sources.newest[:commits]
    proof = Proof(len(sources.records), len(sources.live), len(newest), notes=sources.notes())
    steps: Mapping[str, Callable[[], Iterator[Case]]] = {
        "edits": lambda: _edits(sources, proof),
        "commits": lambda: _commits(sources, newest),
        "unrelated": lambda: _unrelated(sources),
        "titles": lambda: _titles(sources, proof),
    }
    cases: list[Case] = []
    for name, step in steps.items():
        on_progress(name)
        cases += step()

    with tables("asked") as database:
        database.fill("cases", cases)
        for row in database.ask("shares"):
            key = row.pop("measure"), row.pop("way")
            proof.shares[key] = Share(**row)

    reasons = _reasons(sources, {measure for measure, _, _ in cases})
    asked_of = {measure for measure, way in proof.shares if way == WAYS[0]}
    proof.without_case = {name: reasons[name] for name in reasons if name not in asked_of}
    proof.seconds = time.monotonic() - started
    return proof


Case = tuple[str, str, bool]
"""A measure, a way, and whether the way has what was looked for."""


def _cases(measure: str, answers: Iterable[object]) -> Iterator[Case]:
    """Yield a case of a measure for each way."""
    for way, answer in zip(WAYS, answers, strict=True):
        yield measure, way, bool(answer)


def _edits(sources: Sources, proof: Proof) -> Iterator[Case]:
    """Ask for the first edit of each file that a live record applies to."""
    due: dict[str, frozenset[str]] = {}
    for file in sources.tracked:
        if uids := sources.hook.applying(file):
            due[file] = uids

    proof.tokens = {"orbit": [], "git log": []}
    for file in _sample(proof, "files", due, MOST_FILES):
        logged = sources.git.of_files([file])
        selection = sources.hook.edit(file)
        shown = sources.hook.uids(selection)
        ways: tuple[Collection[str], ...] = (
            shown,
            sources.git.uids(logged),
            sources.texts.of_file(file, AT_EDIT),
        )
        for uid in due[file]:
            yield from _cases("delivery", (uid in uids for uids in ways))

        for way, names in zip(WAYS, ways, strict=True):
            for uid in names:
                yield "retired", way, uid not in sources.live

        missed = due[file] - shown
        for row, reason in selection.drops:
            if sources.uids.get(row.id) in missed:
                proof.missed[reason] += 1

        proof.tokens["orbit"].append(tokens(render(selection)))
        proof.tokens["git log"].append(sources.git.tokens(logged))


def _commits(sources: Sources, newest: Sequence[Commit]) -> Iterator[Case]:
    """Ask with the words and files of each commit that names a record from before."""
    right_of: dict[int, frozenset[str]] = {}
    for position, commit in enumerate(newest):
        subject, _, body = commit.message.partition("\n")
        text = sources.without_ids(subject)
        right = sources.named_before(commit) if Query(text).words else frozenset()
        if not right:
            continue

        right_of[position] = right
        by_git, texts = sources.by_words(text, position)
        yield from _reached("related", right, sources.hits(text), by_git, texts)
        shown = sources.hook.uids(sources.hook.prompt(text))
        yield from _reached("prompt", right, shown, by_git, texts[:AT_PROMPT])

        if sentences := sources.without_ids(_prose_of(body)[:LONGEST_BODY]):
            paragraph = f"{text}\n\n{sentences}"
            by_git, texts = sources.by_words(paragraph, position)
            shown = sources.hook.uids(sources.hook.prompt(paragraph))
            yield from _reached("paragraph", right, shown, by_git, texts[:AT_PROMPT])

    yield from _files(sources, newest, right_of)


def _files(
    sources: Sources, newest: Sequence[Commit], right_of: Mapping[int, Collection[str]]
) -> Iterator[Case]:
    """Ask for the edits of each commit's files, one by one in a session."""

    def edit(step: Step, file: str, log: SessionLog) -> Selection:
        if is_own(file):
            return Selection([], 0, [])

        return sources.hook.edit(file, log)

    steps = [Step(newest[position], 0) for position in right_of]
    for position, (step, selections) in zip(right_of, walk(steps, edit), strict=True):
        files = [file for file in step.commit.files if not is_own(file)]
        if not files:
            continue

        by_git = sources.git.uids(sources.git.of_files(step.commit.files, position))
        shown: set[str] = set()
        texts: set[str] = set()
        for selection in selections:
            shown |= sources.hook.uids(selection)
        for file in files:
            texts.update(sources.texts.of_file(file, AT_EDIT))

        yield from _reached("files", right_of[position], shown, by_git, texts)


def _unrelated(sources: Sources) -> Iterator[Case]:
    """Ask what has nothing to do with a repository."""
    for text in unrelated_texts():
        reply = render(sources.hook.prompt(text))
        answers = reply, sources.git.with_words(text), sources.texts.search(text, 1)
        yield from _cases("silence", map(not_, answers))


def _titles(sources: Sources, proof: Proof) -> Iterator[Case]:
    """Ask with the titles of superseded records."""
    successors: dict[str, frozenset[str]] = {}
    for record in sources.records.values():
        uids = frozenset(sources.uids.get(name, "") for name in record.superseded_by)
        if record.phase == "closed" and uids & sources.live and Query(record.title).words:
            successors[record.uid] = uids & sources.live

    for uid in _sample(proof, "superseded", successors, MOST_TITLES):
        record, right = sources.records[uid], successors[uid]
        hits, texts = sources.hits(record.title), sources.texts.search(record.title, FIRST)
        files = [record.path]
        if record.source:
            files.append(record.source.path)

        by_git = sources.git.uids(sources.git.of_files(files))
        first = hits[:1] == [uid], right.isdisjoint(by_git), texts[:1] == [uid]
        yield from _cases("superseded", first)
        yield from _reached("successor", right, hits, by_git, texts)


def _reached(measure: str, right: Collection[str], *ways: Iterable[str]) -> Iterator[Case]:
    """Yield whether each way leads to one of the right records."""
    return _cases(measure, (not frozenset(right).isdisjoint(uids) for uids in ways))


def _sample(proof: Proof, name: str, cases: Iterable[str], most: int) -> list[str]:
    names = sorted(cases)
    chosen = names if len(names) <= most else sorted(random.Random(SEED).sample(names, most))
    proof.samples[name] = (len(chosen), len(names))
    if len(chosen) < len(names):
        proof.notes.append(
            f"{len(chosen)} of {len(names)} {name} were asked about, drawn at random"
        )
    return chosen


def _reasons(sources: Sources, measures: Collection[str]) -> dict[str, str]:
    """Return why each measure has no case, should it have none; `measures` have one."""
    commits = "no commit names a live record that is older than it"
    body, files = "none of these commits has a body", "none of these commits has a file outside"
    if not sources.newest:
        commits = "there is no commit"
    if "related" not in measures:
        body = commits

    no_successor = "no superseded record has a live successor"
    return {
        "delivery": sources.why_no_pair(),
        "retired": "no edit shows a record",
        "related": commits,
        "prompt": commits,
        "paragraph": body,
        "files": f"{files} `.orbit`" if "related" in measures else commits,
        "superseded": no_successor,
        "successor": no_successor,
    }


def _prose_of(body: str) -> str:
    """Return the body of a message without its trailers, such as `Signed-off-by: …`."""
    return "\n".join(line for line in body.splitlines() if not _TRAILER.match(line))
