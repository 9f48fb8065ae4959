"""Measure what first edits show, and how much of what a commit sees is about its topic.

The census: each tracked file in the scope of a live record, and what the first edit of a fresh
session shows of these records. The topic: commits whose answers are known, and what an agent sees
that edits their files one by one in a session. A record is about the topic if it answers the
commit, or has a feature, label, tag or task in common with an answer. By words, it is about the
topic if it is among the first live records of a search for the commit's subject and the words of
its paths.
"""

import argparse
import io
import json
import random
import re
import shutil
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

from tests.bench.recall import SAMPLES
from tests.bench.right_record import COMMITS, git, questions
from tests.bench.right_record import repository as repository_of
from tests.files import make_workspace, write, write_learning

from orbit_measure.names import tasks_of
from orbit_measure.walk import MemorySession
from orbit_registry.agents.transcripts import ids_in
from orbit_registry.doors.cli.main import run
from orbit_registry.exchange.importers.importer import import_from
from orbit_registry.formats.globs import GlobIndex, readable_globs
from orbit_registry.hook.context import Context
from orbit_registry.hook.render import render
from orbit_registry.hook.select import select
from orbit_registry.hook.session import SessionLog, tokens
from orbit_registry.matching.match import current_index
from orbit_registry.matching.sync import sync_index
from orbit_registry.model.reach import CODE, TOOL
from orbit_registry.model.record import Record
from orbit_registry.model.scope import symbol_glob
from orbit_registry.registry import Registry
from orbit_registry.search.query import Query
from orbit_registry.workspace.git_log import newest_commits
from orbit_registry.workspace.workspace import ORBIT

ROOT = Path(__file__).resolve().parents[2]
SHARED = ROOT.parent / "shared" / "corpora"
NEWEST, MOST_FILES = 400, 40
"""Commits that are asked about by words, the newest with at most so many files."""
FIRST = 5
"""Records of a search for a commit's words that count as about its topic."""
CROWDED = "made up"
BUSY = 0.15
"""Share of the newest commits above which the rule of busy globs withholds."""
_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+|[^\W\da-zA-Z_]+")
_ID = re.compile(r"\[?\b[A-Z]+-\d+\b\]?")

Change = tuple[object, str, object]
"""An object, one of its names, and what that is replaced by."""
Rule = Callable[[Sequence[Sequence[str]]], list[Change]]
"""Makes the changes of a rule from the files of a repository's commits."""


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository with records, and the commits of which something is known."""

    name: str
    registry: Registry
    commits: Sequence[tuple[str, Sequence[str]]]
    """Subject and files of each commit, the oldest first."""
    recall: Path | None = None
    """Folder of the commits whose answers are known."""


class Edits:
    """What edits of a collection show."""

    def __init__(self, collection: Repository) -> None:
        workspace = collection.registry.workspace
        self._index = current_index(workspace)
        self._now = time.time()
        self.live = {
            record.id: record for record in collection.registry.records if record.phase == "live"
        }
        tracked = workspace.git.tracked() or ()
        self.files = [file for file in tracked if not file.startswith(f"{ORBIT}/")]
        scopes = ((name, _globs(record)) for name, record in self.live.items())
        self._scopes = GlobIndex((name, readable_globs(globs)) for name, globs in scopes)

    def due(self, path: str) -> set[str]:
        """Return the ids of the live records in whose scope a file is."""
        return {name for name, _ in self._scopes.match(path)}

    def shown(self, path: str, session: SessionLog | None = None) -> tuple[set[str], int]:
        """Return the ids that an edit shows, in full or by title, and the tokens of the reply."""
        context = Context(TOOL, self._now, paths=(path,), task_class=CODE)
        text = render(select(self._index, context, session))
        return set(ids_in(text)), tokens(text) if text else 0

    def owners(self, paths: Sequence[str]) -> int:
        """Return how many files of a session show, in full, a record whose scope is this file."""
        session = MemorySession()
        count = 0
        for path in paths:
            context = Context(TOOL, self._now, paths=(path,), task_class=CODE)
            matches = select(self._index, context, session).matches
            count += any(self.live[match.row.id].globs == (path,) for match in matches)

        return count

    def walk(self, paths: Iterable[str]) -> tuple[set[str], int]:
        """Return what edits of some files show, one by one in a session, and their tokens."""
        session = MemorySession()
        ids: set[str] = set()
        total = 0
        for path in paths:
            more, count = self.shown(path, session)
            ids |= more
            total += count

        return ids, total


def _globs(record: Record) -> list[str]:
    return [*record.globs, *map(symbol_glob, record.symbols)]


def census(edits: Edits) -> dict[str, str]:
    """Return the figures of the first edits, by their headings."""
    pairs = delivered = silent = retired = files = 0
    costs: list[int] = []
    for file in edits.files:
        due = edits.due(file)
        if not due:
            continue

        ids, cost = edits.shown(file)
        files += 1
        pairs += len(due)
        delivered += len(due & ids)
        silent += not due & ids
        retired += len(ids - edits.live.keys())
        costs.append(cost)

    return {
        "pairs": f"{pairs:,}",
        "delivered": f"{100 * delivered / pairs:.1f} %",
        "files with nothing": f"{silent:,} of {files:,}",
        "tokens a file: median, mean, most": (
            f"{statistics.median(costs):.0f}, {statistics.mean(costs):.0f}, {max(costs)}"
        ),
        "not live": f"{retired}",
    }


def topics_of(record: Record) -> set[str]:
    """Return the words by which a record states its topic."""
    stated = {record.text("feature") or "", *record.words("labels"), *record.scope.tags}
    return {word for word in (*stated, *tasks_of(record)) if word}


def answered(collection: Repository, edits: Edits, recall: Path) -> dict[str, str]:
    """Return the figures of commits whose answers are known."""
    topics = {name: topics_of(record) for name, record in edits.live.items()}
    shares: list[tuple[int, int]] = []
    chances: list[float] = []
    reached: list[bool] = []
    costs: list[int] = []
    for question in questions(recall, collection.registry):
        if not question.paths:
            continue

        words: set[str] = set()
        for name in question.answers:
            words |= topics[name]

        about = {name for name in topics if name in question.answers or topics[name] & words}
        ids, cost = edits.walk(question.paths)
        shares.append((len(ids & about), len(ids)))
        chances.append(len(about) / len(topics))
        reached.append(bool(ids & question.answers))
        costs.append(cost)

    return {
        f"topic of {len(shares)} commits (by chance {statistics.mean(chances):.3f})": ratio(shares),
        "commits that see an answer": f"{statistics.mean(reached):.3f}",
        "records, tokens a commit": (
            f"{sum(size for _, size in shares) / len(shares):.1f}, {statistics.mean(costs):.0f}"
        ),
    }


def by_words(collection: Repository, edits: Edits) -> dict[str, str]:
    """Return the figure of the newest commits, whose topic is what a search finds for them."""
    shares: list[tuple[int, int]] = []
    few = [commit for commit in collection.commits if 0 < len(commit[1]) <= MOST_FILES]
    for subject, files in few[-NEWEST:]:
        parts = [part for file in files for part in _PART.findall(file)]
        query = Query(" ".join((_ID.sub("", subject), *parts)), limit=4 * FIRST)
        hits = (hit.record.id for hit in collection.registry.search(query).hits)
        about = [name for name in hits if name in edits.live][:FIRST]
        ids, _ = edits.walk(files)
        shares.append((len(ids.intersection(about)), len(ids)))

    chance = FIRST / len(edits.live)
    return {f"by words, {len(shares)} commits (by chance {chance:.3f})": ratio(shares)}


def ratio(pairs: Sequence[tuple[int, int]]) -> str:
    """Return the share of all that was shown, and 95 % of its resamplings by commit."""
    drawn = random.Random(SAMPLES)

    def share(sample: Sequence[tuple[int, int]]) -> float:
        size = sum(of for _, of in sample)
        return sum(part for part, _ in sample) / size if size else 0.0

    values = sorted(share(drawn.choices(pairs, k=len(pairs))) for _ in range(SAMPLES))
    low, high = values[SAMPLES // 40], values[-SAMPLES // 40]
    return f"{share(pairs):.3f} [{low:.3f}, {high:.3f}]"


def places(count: int, share: float | None = None) -> Rule:
    """Return the rule with another number of places, and another share that is wide."""

    def changes(commits: Sequence[Sequence[str]]) -> list[Change]:
        from orbit_registry.hook import select as selection
        from orbit_registry.operations import breadth

        wide = breadth.SHARE if share is None else share
        return [
            (selection, "WIDE_PLACES", count),
            (breadth, "WIDE_PLACES", count),
            (breadth, "SHARE", wide),
        ]

    return changes


def busy(commits: Sequence[Sequence[str]]) -> list[Change]:
    """Withhold where each matching glob is in more than `BUSY` of the newest commits."""
    from orbit_registry.operations.breadth import Breadth

    newest = commits[-COMMITS:]

    def of(scopes: Iterable[tuple[str, ...]], tracked: Iterable[str]) -> Breadth:
        records = Counter(scopes)
        globs = {text for scope in records for text in scope if not text.startswith("!")}
        index = GlobIndex([(text, readable_globs([text])) for text in sorted(globs)])
        touched: Counter[str] = Counter()
        for files in newest:
            touched.update({text for file in files for text, _ in index.match(file)})

        wide = {text: count for text, count in touched.items() if count > BUSY * len(newest)}
        by_scope = {
            scope: {text: wide[text] for text in scope if text in wide} for scope in records
        }
        return Breadth(len(list(tracked)), by_scope, {})

    return [*places(0)(commits), (Breadth, "of", of)]


RULES: Mapping[str, Rule | None] = {
    "as installed": None,
    "no place: each wide glob waits": places(0),
    "a busy glob waits (15 % of 300 commits)": busy,
    "3 places": places(3),
    "3 places, wide from 5 % on": places(3, 0.05),
    "caps alone": places(1_000_000),
}
"""Rules that are compared: `None` is the installed one."""


@contextmanager
def under(rule: Rule | None, repository: Repository) -> Iterator[None]:
    """Make the index of a repository by a rule, and choose by it."""
    changes = [] if rule is None else rule([files for _, files in repository.commits])
    before = [(owner, name, vars(owner)[name]) for owner, name, _ in changes]
    try:
        for owner, name, value in changes:
            setattr(owner, name, value)

        sync_index(repository.registry.workspace, rebuild=True)
        yield
    finally:
        for owner, name, value in before:
            setattr(owner, name, value)


def collections(folder: Path, names: Collection[str]) -> Iterator[Repository]:
    """Yield the collections whose records have paths, and this repository."""
    if "orbit-2026-07" in names:
        lines = (SHARED / "orbit-2026-07/commits.jsonl").read_text("utf-8").splitlines()
        commits = [(row["subject"], row["files"]) for row in map(json.loads, lines)]
        registry = repository_of(SHARED / "orbit-2026-07", folder / "orbit-2026-07")
        yield Repository("orbit-2026-07", registry, commits, SHARED / "recall")

    for source in sorted((SHARED / "adr").iterdir()):
        if source.name in names:
            registry = adopted(source, folder / source.name)
            if any(record.globs for record in registry.records):
                yield Repository(source.name, registry, ())
            else:
                print(f"{source.name}: no record has a path", file=sys.stderr)

    if CROWDED in names:
        yield Repository(CROWDED, crowded(folder / "crowded"), ())

    if "this repository" in names:
        git(folder, "clone", "-q", str(ROOT), str(folder / "own"))
        registry = Registry.open(folder / "own")
        newest = list(newest_commits(registry.workspace.git))[:COMMITS]
        commits = [(commit.message, commit.files) for commit in reversed(newest)]
        yield Repository("this repository", registry, commits)


def crowded(root: Path) -> Registry:
    """Return a made-up project: 40 records about all of it, and 20 about one file each."""
    for number in range(200):
        write(root, f"src/m{number:03}.py")
    make_workspace(root)
    for number in range(40):
        write_learning(root, number, scope={"paths": ["**"]}, priority=9)
    for number in range(20):
        write_learning(root, 100 + number, scope={"paths": [f"src/m{number:03}.py"]})
    git(root, "init", "-q", "-b", "main")
    git(root, "add", "-A")
    return Registry.open(root)


def adopted(source: Path, root: Path) -> Registry:
    """Return a collection of decisions, imported into a repository of its own."""
    shutil.copytree(source, root)
    git(root, "init", "-q", "-b", "main")
    git(root, "add", "-A", "-f")
    git(root, "commit", "-qm", "Begin")
    with redirect_stdout(io.StringIO()):
        run(["-C", str(root), "init", "--yes"])

    import_from(root, start=root)
    git(root, "add", "-A", "-f")
    return Registry.open(root)


def main(words: Sequence[str]) -> int:
    """Print a table for each collection, a row a rule."""
    if not SHARED.is_dir():
        print(f"{SHARED} is not there", file=sys.stderr)
        return 2

    every = ["orbit-2026-07", *sorted(path.name for path in (SHARED / "adr").iterdir())]
    every += [CROWDED, "this repository"]
    parser = argparse.ArgumentParser(prog="python -m tests.bench first-edits", description=__doc__)
    parser.add_argument("--collection", action="append", choices=every)
    parser.add_argument("--rule", action="append", choices=RULES)
    arguments = parser.parse_args(words)

    with tempfile.TemporaryDirectory() as folder:
        for collection in collections(Path(folder), arguments.collection or every):
            print(f"\n{collection.name}\n", flush=True)
            names = arguments.rule or RULES
            for number, name in enumerate(names):
                if RULES[name] is busy and not collection.commits:
                    continue

                figures = measured(collection, RULES[name])
                if not number:
                    print(f"| rule | {' | '.join(figures)} |")
                    print(f"|---|{'---|' * len(figures)}")

                print(f"| {name} | {' | '.join(figures.values())} |", flush=True)

    return 0


def measured(collection: Repository, rule: Rule | None) -> dict[str, str]:
    """Return the figures of a collection under a rule."""
    with under(rule, collection):
        edits = Edits(collection)
        figures = census(edits)
        if collection.name == CROWDED:
            files = edits.files[-200:-180]
            figures["files of 20 that show a record about them alone"] = f"{edits.owners(files)}"

        if collection.recall is not None:
            figures |= answered(collection, edits, collection.recall)
            figures |= by_words(collection, edits)

        return figures
