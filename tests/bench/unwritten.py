"""Measure whether a decision is named on the day that its code comes, and silence at other commits.

It walks the first parents of public repositories that have decision documents. A dependency counts
if a document that came later names it in its title or decision, and no document of that day named
it. Each pair is printed: whether the document is about it, a person has to read.
"""

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from orbit_registry.formats.adr.reader import read_document
from orbit_registry.formats.adr.sentence import section_of
from orbit_registry.lifecycle.history import Step, first_parents, steps
from orbit_registry.lifecycle.signs import Sign, SignKind
from orbit_registry.lifecycle.unwritten import (
    MOST_NAMES,
    Candidate,
    candidates,
    is_named,
    name_of,
    plain_name,
    shortlist,
)
from orbit_registry.workspace.git import Git
from orbit_registry.workspace.git_log import commits_touching

MOST_COMMITS = 50_000
LONGEST_DECISION = 1_500
"""Characters of a decision that are read for names, as where Orbit suggests packages."""


@dataclass(frozen=True, slots=True)
class Document:
    """A decision: the position of the commit that brought it, and what it decides."""

    position: int
    title: str
    decides: str


@dataclass(frozen=True, slots=True)
class Pair:
    """A dependency, and the first later document that names it."""

    position: int
    sign: Sign
    document: Document
    is_named: bool


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was measured of one repository."""

    name: str
    commits: int
    pairs: Sequence[Pair]
    others: int
    silent: int

    @property
    def named(self) -> int:
        """The dependencies that were named on their day."""
        return sum(pair.is_named for pair in self.pairs)


class Folder:
    """The documents of a repository's folder, commit by commit."""

    def __init__(self, git: Git, folder: str, positions: Mapping[str, int]) -> None:
        commits = [*commits_touching(git, [folder], "HEAD")]
        self._changes: dict[int, list[tuple[str, str]]] = {}
        for commit in reversed(commits):
            rows = [row for row in commit.changes if row[0].endswith((".md", ".adoc"))]
            self._changes[positions[commit.name]] = rows

        blobs = [blob for rows in self._changes.values() for _, blob in rows if blob]
        contents = git.blobs(blobs).items()
        self._texts = {blob: content.decode("utf-8", "replace") for blob, content in contents}

    def texts_at(self, count: int) -> Iterator[str]:
        """Yield the text of all documents after each of so many commits."""
        current: dict[str, str] = {}
        text = ""
        for position in range(count):
            for path, blob in self._changes.get(position, ()):
                current[path] = self._texts.get(blob, "")
                text = "\n".join(current.values())
            yield text

    def decisions(self) -> list[Document]:
        """Return the decisions with the last text of each, at the commit that brought its title."""
        first: dict[str, int] = {}
        latest: dict[str, str] = {}
        for position, rows in self._changes.items():
            for path, blob in rows:
                first.setdefault(path, position)
                latest[path] = self._texts.get(blob) or latest.get(path, "")

        by_title: dict[str, Document] = {}
        for path, text in latest.items():
            for entry in read_document(text, path).entries[:1]:
                decision = section_of(text, "decision")[:LONGEST_DECISION]
                document = Document(first[path], entry.title, f"# {entry.title}\n{decision}")
                earlier = by_title.get(entry.title.lower())
                if earlier is None or document.position < earlier.position:
                    by_title[entry.title.lower()] = document

        return list(by_title.values())


def measure(root: Path, folder: str) -> Outcome:
    """Return what is named and silent over the history of a repository."""
    git = Git(root)
    names = first_parents(git, MOST_COMMITS)
    positions = {name: position for position, name in enumerate(names)}
    documents = Folder(git, folder, positions)
    by_position = {
        positions[step.commit.name]: step for step in steps(git, names, None, lambda done, of: None)
    }

    shown: dict[int, list[Candidate]] = {}
    first: dict[str, tuple[int, Sign]] = {}
    explained: set[str] = set()
    for position, text in enumerate(documents.texts_at(len(names))):
        step = by_position.get(position)
        if step is None:
            continue

        news = [sign for sign in step.news if not is_named(sign, text)]
        if news:
            shown[position] = shortlist(candidates(news))
        for sign in _direct(step):
            if name_of(sign) not in first:
                first[name_of(sign)] = (position, sign)
                if is_named(sign, text):
                    explained.add(name_of(sign))

    decisions = documents.decisions()
    pairs: list[Pair] = []
    own = set(chain.from_iterable(map(_own, by_position.values())))
    for name, (position, sign) in first.items():
        if plain_name(sign.name) in own:
            continue

        naming = [document for document in decisions if is_named(sign, document.decides)]
        earliest = min(naming, key=lambda document: document.position, default=None)
        if earliest is None or name in explained or earliest.position <= position:
            continue

        said: list[str] = []
        for candidate in shown.get(position, ()):
            said += [*candidate.names[:MOST_NAMES], *candidate.more[:MOST_NAMES]]

        pairs.append(Pair(position, sign, earliest, name in said))

    brought = {pair.position for pair in pairs}
    others = len(names) - len(brought)
    silent = others - len(shown.keys() - brought)
    return Outcome(root.name, len(names), pairs, others, silent)


def _own(step: Step) -> list[str]:
    """Return the names that the project gives to packages."""
    return [plain_name(sign.name) for sign in step.first if sign.kind is SignKind.OWN]


def _direct(step: Step) -> list[Sign]:
    dependencies = [sign for sign in step.first if sign.kind is SignKind.DEPENDENCY]
    return [sign for sign in dependencies if sign.group != "indirect"]


def _row(outcome: Outcome) -> str:
    share = 100 * outcome.silent / outcome.others
    counts = f"{outcome.named} of {len(outcome.pairs)}"
    return f"| {outcome.name} | {outcome.commits:,} | {counts} | {share:.1f} % |"


def main(arguments: Sequence[str]) -> int:
    """Print a table, and each pair."""
    parser = argparse.ArgumentParser("python -m tests.bench unwritten", description=__doc__)
    parser.add_argument(
        "--repo",
        action="append",
        required=True,
        metavar="FOLDER=DOCUMENTS",
        help="a clone with its history, and where it has its decisions",
    )
    given = parser.parse_args(arguments)

    outcomes: list[Outcome] = []
    for text in given.repo:
        root, _, folder = text.partition("=")
        outcome = measure(Path(root), folder)
        outcomes.append(outcome)
        for pair in outcome.pairs:
            mark = "named " if pair.is_named else "missed"
            print(f"{mark} {pair.sign.name} ({outcome.name}): {pair.document.title}")

    print("| repository | commits | named on its day | silent otherwise |")
    print("|---|---|---|---|")
    for outcome in outcomes:
        print(_row(outcome))

    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
