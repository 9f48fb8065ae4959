"""Measures how well searches find what people meant: known answers taken from a repository's own
history.

A commit that names a record, or a line of code or prose that cites one, is a question whose answer
is known: its words, without the ids. Who searches is in `retrievers`. What this can't show: the
questions come from one project at a time, share words with what they ask for, and a few dozen more
or less of them move a figure by a hundredth; the intervals say how much, and two rows are compared
question by question.
"""

import argparse
import json
import math
import random
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.bench.report import RECALL
from tests.bench.retrievers import Run, Texts, ours, retrievers

from orbit_registry.errors import OrbitError
from orbit_registry.formats.citations import IdForms, find_citations
from orbit_registry.model.record_set import RecordSet
from orbit_registry.registry import Registry
from orbit_registry.search.text import terms
from orbit_registry.search.texts import parts_of

FEWEST_TERMS = 3
"""A question of fewer terms asks for nothing in particular."""
DEPTH, NEAR = 10, 5
SAMPLES = 2000
_FRAME = re.compile(r"^[\s#/*<!\-;:%.,]+|[\[\](){}:,;.\-–—\s]+$")


@dataclass(frozen=True)
class Question:
    """Words, and the records that answer them: paths. `source` says where the words are from."""

    text: str
    answers: frozenset[str]
    source: str


@dataclass(frozen=True)
class Quality:
    """What a retriever reached, question by question:
    recall among the first five, reciprocal rank, nDCG.
    """

    recall: Sequence[float]
    rank: Sequence[float]
    gain: Sequence[float]


def without_ids(text: str, forms: IdForms) -> str:
    """Return a text without the ids in it, and without what frames a comment."""
    parts, at = [], 0
    for cited in find_citations(text, forms):
        parts.append(text[at : cited.span.start])
        at = cited.span.end
    return _FRAME.sub("", " ".join("".join([*parts, text[at:]]).split()))


def answers_in(text: str, records: RecordSet, forms: IdForms) -> frozenset[str]:
    """Return the paths of the records that a text names beyond doubt."""
    cited_ids = {cited.id for cited in find_citations(text, forms) if not cited.weak}
    return frozenset(
        matches[0].path for any_id in cited_ids if len(matches := records.candidates(any_id)) == 1
    )


def of_history(registry: Registry, without: Sequence[str] = ()) -> Iterator[Question]:
    """Yield the questions of a repository: its commits' subjects, and the lines that cite,
    but for some folders.
    """
    forms, records, root = (
        registry.workspace.kinds.id_forms,
        registry.records,
        registry.workspace.root,
    )
    log = _git(root, "log", "--no-merges", "--format=%x1e%s%x1f%b")
    for entry in log.split("\x1e")[1:]:
        subject, _, body = entry.partition("\x1f")
        yield from _question(
            subject, answers_in(f"{subject}\n{body}", records, forms), "commits", forms
        )
    left_out = {
        ".orbit",
        *without,
        *(record.source.path for record in records if record.source is not None),
    }
    prefixes = [word for prefix in forms.prefixes for word in ("-e", prefix)]
    cited = _git(
        root, "grep", "-IF", "-h", *prefixes, "--", ".", *(f":!{path}" for path in sorted(left_out))
    )
    for line in cited.splitlines():
        yield from _question(line, answers_in(line, records, forms), "citations", forms)


def _question(
    text: str, answers: frozenset[str], source: str, forms: IdForms
) -> Iterator[Question]:
    words = without_ids(text, forms)
    if answers and len(set(terms(words))) >= FEWEST_TERMS:
        yield Question(words, answers, source)


def _git(root: Path, *arguments: str) -> str:
    """Return what git prints; where nothing is found it ends with 1."""
    return subprocess.run(
        ["git", *arguments], cwd=root, capture_output=True, check=False
    ).stdout.decode("utf-8", "replace")


def of_files(folder: Path, records: RecordSet) -> Iterator[Question]:
    """Yield the questions of a folder of JSON files, `[{query, relevant}]`;
    an id may be one that a record had.
    """
    for file in sorted(folder.glob("*.json")):
        for entry in json.loads(file.read_text("utf-8")):
            candidates = [records.candidates(any_id) for any_id in entry["relevant"]]
            answers = frozenset(matches[0].path for matches in candidates if matches)
            if answers:
                yield Question(entry["query"], answers, file.stem.partition("-")[0])


def quality(run: Run, questions: Sequence[Question]) -> Quality:
    """Return how well a retriever answers."""
    recall, rank, gain = [], [], []
    for question in questions:
        paths = run(question.text)[:DEPTH]
        hits = [position for position, path in enumerate(paths, 1) if path in question.answers]
        recall.append(sum(position <= NEAR for position in hits) / len(question.answers))
        rank.append(1 / hits[0] if hits else 0.0)
        best = sum(
            1 / math.log2(position + 1)
            for position in range(1, min(DEPTH, len(question.answers)) + 1)
        )
        gain.append(sum(1 / math.log2(position + 1) for position in hits) / best)
    return Quality(recall, rank, gain)


def interval(values: Sequence[float]) -> tuple[float, float, float]:
    """Return the mean of values and the 95 % interval of it by resampling, the same each time."""
    chance = random.Random(7)
    size = len(values)
    means = sorted(math.fsum(chance.choices(values, k=size)) / size for _ in range(SAMPLES))
    return math.fsum(values) / size, means[SAMPLES // 40], means[-SAMPLES // 40]


def table(qualities: Mapping[str, Quality], kinds: Mapping[str, Sequence[int]]) -> list[str]:
    """Return the rows of a Markdown table; `kinds` has the places of the questions that each kind
    answers.
    """
    heads = [f"{kind} recall@{NEAR}, MRR ({len(places)})" for kind, places in kinds.items()]
    lines = [
        (
            f"| by | recall@{NEAR} | MRR@{DEPTH} | nDCG@{DEPTH} | MRR less the first row's | "
            f"{' | '.join(heads)} |"
        ),
        f"|---|---|---|---|---|{'---|' * len(heads)}",
    ]
    first = next(iter(qualities.values()))
    for name, measured in qualities.items():
        cells = [_figure(values) for values in (measured.recall, measured.rank, measured.gain)]
        apart = [now - then for now, then in zip(measured.rank, first.rank, strict=True)]
        cells.append("" if measured is first else _figure(apart))
        for places in kinds.values():
            means = [
                sum(values[at] for at in places) / len(places)
                for values in (measured.recall, measured.rank)
            ]
            cells.append(f"{means[0]:.3f}, {means[1]:.3f}")
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return lines


def _figure(values: Sequence[float]) -> str:
    mean, low, high = interval(values)
    return f"{mean:.3f} [{low:.3f}, {high:.3f}]"


def ranked(run: Run, questions: Sequence[Question]) -> dict[str, list[str]]:
    """Return what is found for each question, by its words: paths, the best first."""
    return {question.text: run(question.text)[:DEPTH] for question in questions}


def shadow(
    served: Mapping[str, Sequence[str]],
    new: Mapping[str, Sequence[str]],
    questions: Sequence[Question],
) -> tuple[list[str], bool]:
    """Return what a new ranking would change, and whether it may serve: its MRR is not surely
    lower.

    `served` is the ranking that answers today, kept from an earlier run; questions it does not know
    are left out.
    """
    shared = [question for question in questions if question.text in served]
    if not shared:
        return ["the kept ranking knows none of these questions"], False
    before, after = (quality(lambda text, by=by: list(by[text]), shared) for by in (served, new))
    apart = [now - then for now, then in zip(after.rank, before.rank, strict=True)]
    same = [
        len({*served[question.text][:NEAR]} & {*new[question.text][:NEAR]}) for question in shared
    ]
    moved = sorted(
        zip(apart, (question.text for question in shared), strict=True),
        key=lambda pair: -abs(pair[0]),
    )
    better, worse = sum(step > 0 for step in apart), sum(step < 0 for step in apart)
    lines = [
        f"{len(shared)} questions: {better} answered better, {worse} worse; "
        f"{sum(same) / len(shared):.2f} of the first {NEAR} are the same",
        f"recall@{NEAR} "
        f"{_figure([now - then for now, then in zip(after.recall, before.recall, strict=True)])}, "
        f"MRR@{DEPTH} {_figure(apart)}, each less that of the ranking that serves",
        *(f"{by:+.2f}  {text[:100]}" for by, text in moved[:DEPTH] if by),
    ]
    return lines, interval(apart)[2] >= 0


def main(words: Sequence[str]) -> int:
    """Measure one repository and print the table; `--page` puts it into the page of figures."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench recall", description=__doc__)
    parser.add_argument(
        "--repo", type=Path, default=Path.cwd(), help="the repository; by default this one"
    )
    parser.add_argument(
        "--without", action="append", default=[], help="a folder that cites ids which mean nothing"
    )
    parser.add_argument(
        "--questions", type=Path, help="a folder of questions instead of the repository's history"
    )
    parser.add_argument(
        "--page", type=Path, help="the Markdown page whose part on recall is replaced"
    )
    parser.add_argument(
        "--keep", type=Path, help="keep what is found now in this file, for a later --shadow"
    )
    parser.add_argument(
        "--shadow", type=Path, help="compare with a kept ranking instead; 1 where this one is worse"
    )
    arguments = parser.parse_args(words)
    try:
        return measure(arguments)
    except (OrbitError, OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 2


def measure(arguments: argparse.Namespace) -> int:
    """Do what was asked for; 1 where there is nothing to ask, or the new ranking is worse."""
    registry = Registry.open(arguments.repo)
    questions = list(
        of_history(registry, arguments.without)
        if arguments.questions is None
        else of_files(arguments.questions, registry.records)
    )
    if not questions:
        print("nothing in this history names a record")
        return 1
    if arguments.keep is not None or arguments.shadow is not None:
        now = ranked(ours(registry), questions)
        lines, is_fit = [f"{len(now)} questions kept in {arguments.keep}"], True
        if arguments.shadow is not None:
            lines, is_fit = shadow(json.loads(arguments.shadow.read_text("utf-8")), now, questions)
        if arguments.keep is not None:
            arguments.keep.write_text(json.dumps(now, indent=1, ensure_ascii=False) + "\n", "utf-8")
        print("\n".join(lines))
        return 0 if is_fit else 1
    records = {record.path: record for record in registry.records}
    texts: Texts = {path: parts_of(record) for path, record in records.items()}
    measured = {name: quality(run, questions) for name, run in retrievers(registry, texts).items()}
    kinds: dict[str, list[int]] = {}
    for position, question in enumerate(questions):
        for kind in sorted({records[path].kind.name for path in question.answers}):
            kinds.setdefault(kind, []).append(position)
    counts = Counter(question.source for question in questions)
    sources = ", ".join(f"{number} {name}" for name, number in sorted(counts.items()))
    lines = [
        (
            f"{len(questions)} questions ({sources}) for {len(records)} records. Means, and 95 "
            f"% of "
            f"2,000 resamplings."
        ),
        "",
        *table(measured, dict(sorted(kinds.items()))),
    ]
    print("\n".join(lines))
    if arguments.page is not None:
        before, _, after = arguments.page.read_text("utf-8").partition(f"\n{RECALL}\n")
        section = after.partition("\n## ")
        tail = f"\n## {section[2]}" if section[1] else ""
        arguments.page.write_text(
            f"{before}\n{RECALL}\n\n" + "\n".join(lines) + f"\n{tail}", "utf-8"
        )
    return 0
