"""Measure whether the right record is shown: at a prompt and in a brief; and silence elsewhere.

Questions come from a folder of `[{query, relevant, paths}]`, records from a collection that another
tool wrote.
"""

import argparse
import json
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.bench.recall import interval

from orbit_measure.prove import unrelated_texts
from orbit_registry.exchange.importers.importer import import_from
from orbit_registry.hook import client
from orbit_registry.hook.index import Index
from orbit_registry.hook.question import records_by_words
from orbit_registry.matching.match import current_index
from orbit_registry.model.fields import ID
from orbit_registry.registry import Registry
from orbit_registry.search.query import Query

LAUNCH = Path(client.__file__).with_name("launch.py")
COMMITS = 300
"""Newest commits of a collection's history that its repository gets."""
SENTENCES = Path(__file__).with_name("prompts")
"""Prompts of several sentences for the default collection, and texts of the same lengths that have
nothing to do with it; the score's parameters were chosen with all of them in view.
"""
LIMIT = 3
"""Records that a prompt may show."""
NEAR = 10
CHARACTERS_A_TOKEN = 4


@dataclass(frozen=True, slots=True)
class Question:
    """Words of a task, the files it touched, and the ids that answer it."""

    text: str
    paths: tuple[str, ...]
    answers: frozenset[str]


def repository(collection: Path, root: Path, newest: int = COMMITS) -> Registry:
    """Make a git repository of a collection in another tool's layout:
    empty files for those it tracked, and its newest commits.
    """
    shutil.copytree(collection, root, dirs_exist_ok=True)
    (root / "dot_orbit").rename(root / ".orbit")
    for name in (root / "files.txt").read_text("utf-8").splitlines():
        path = root / name
        if not path.exists() and not name.startswith(".orbit/"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("", "utf-8")
    lines = (root / "commits.jsonl").read_text("utf-8").splitlines()
    commits = [json.loads(line) for line in lines]
    for name in ("files.txt", "commits.jsonl"):
        (root / name).unlink()
    git(root, "init", "-q", "-b", "main")
    git(root, "fast-import", "--quiet", stdin=history(commits[-newest:]))
    git(root, "reset", "-q")
    git(root, "add", "-A", "-f")
    git(root, "commit", "-qm", "Begin")
    import_from(root / ".orbit", start=root)
    git(root, "add", "-A", "-f")
    git(root, "commit", "-qm", "Adopt")
    registry = Registry.open(root)
    registry.sync()
    return registry


def history(commits: Iterable[Mapping[str, Any]]) -> str:
    """Return commits that change some files, as `git fast-import` reads them."""
    lines: list[str] = []
    for number, commit in enumerate(commits):
        at = int(datetime.fromisoformat(commit["date"]).replace(tzinfo=UTC).timestamp())
        subject = commit["subject"]
        lines += ["commit refs/heads/main", f"committer Bench <bench@example.org> {at} +0000"]
        lines += [f"data {len(subject.encode())}", subject]
        lines += (
            f"M 644 inline {json.dumps(name)}\ndata {len(str(number))}\n{number}"
            for name in commit["files"]
        )
    return "\n".join([*lines, ""])


def git(root: Path, *arguments: str, stdin: str = "") -> str:
    """Return what git prints."""
    identity = (
        "-c",
        "user.name=Bench",
        "-c",
        "user.email=bench@example.org",
        "-c",
        "core.autocrlf=false",
    )
    command = ["git", *identity, *arguments]
    return subprocess.run(
        command, cwd=root, input=stdin, capture_output=True, text=True, check=True
    ).stdout


def questions(folder: Path, registry: Registry) -> list[Question]:
    """Return the questions of a folder, but for those whose records are not in the registry or not
    live.
    """
    result = []
    for file in sorted(folder.glob("*.json")):
        for entry in json.loads(file.read_text("utf-8")):
            candidates = [registry.records.candidates(any_id) for any_id in entry["relevant"]]
            answers = frozenset(
                records[0].id for records in candidates if records and records[0].phase == "live"
            )
            if answers:
                result.append(Question(entry["query"], tuple(entry.get("paths", ())), answers))
    return result


class Hook:
    """The hook as Claude Code starts it, one session a call unless told otherwise."""

    def __init__(self, root: Path) -> None:
        self._root, self._number = root, 0

    def __call__(self, event: str, **payload: object) -> tuple[list[str], int]:
        """Return the ids of the records shown, in their order,
        and the tokens that the reply takes.
        """
        self._number += 1
        body = {
            "session_id": f"s{self._number}",
            "cwd": str(self._root),
            "hook_event_name": event,
            **payload,
        }
        command = [sys.executable, "-I", "-S", "-E", str(LAUNCH), "claude"]
        done = subprocess.run(
            command,
            input=json.dumps(body).encode(),
            capture_output=True,
            cwd=self._root,
            check=True,
        )
        if not done.stdout:
            return [], 0
        text = json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]
        return re.findall(r"^- \[([^\]]+)\]", text, re.MULTILINE), len(text) // CHARACTERS_A_TOKEN


def figure(values: Sequence[float]) -> str:
    """Return a mean with its 95 % interval."""
    mean, low, high = interval(values)
    return f"{mean:.3f} [{low:.3f}, {high:.3f}]"


def reached(ids: Sequence[str], question: Question, limit: int | None = None) -> float:
    """Say whether an answer is among the records shown."""
    return float(bool(question.answers & {*ids[:limit]}))


def place(index: Index, question: Question) -> int:
    """Return the place of the first answer among all records with a word of the question;
    0 if there is none.
    """
    rows = (index.row(number) for number, _ in records_by_words(index, question.text))
    answers = (
        at
        for at, row in enumerate(rows, 1)
        if row is not None and row.values[ID] in question.answers
    )
    return next(answers, 0)


def prompts(hook: Hook, registry: Registry, requests: Sequence[Question]) -> list[str]:
    """Return the rows on prompts in words: right ones shown,
    and unrelated ones that show nothing.
    """
    replies = [hook("UserPromptSubmit", prompt=question.text)[0] for question in requests]
    texts = unrelated_texts()
    results = [
        [hit.record.id for hit in registry.search(Query(question.text, limit=LIMIT)).hits]
        for question in requests
    ]
    silent = [not hook("UserPromptSubmit", prompt=text)[0] for text in texts]
    index = current_index(registry.workspace)
    places = [place(index, question) for question in requests]
    right = [
        (ids, question)
        for at, ids, question in zip(places, replies, requests, strict=True)
        if 0 < at <= LIMIT
    ]
    pairs = list(zip(replies, requests, strict=True))
    tasks = [reached(ids, question, LIMIT) for ids, question in pairs if question.paths]
    lines = [reached(ids, question, LIMIT) for ids, question in pairs if not question.paths]
    rest = [reached(ids, question, LIMIT) for ids, question in pairs if '""' not in question.text]
    misses = [
        at
        for at, (ids, question) in zip(places, pairs, strict=True)
        if not reached(ids, question, LIMIT)
    ]
    shares = (
        misses.count(0),
        sum(at > NEAR for at in misses),
        sum(0 < at <= NEAR for at in misses),
    )
    return [
        f"| a right record among the first {LIMIT} at a prompt | ≥ .70 | "
        f"{figure([reached(ids, question, LIMIT) for ids, question in pairs])} |",
        f"| … at a task (the subject of a commit, {len(tasks)}) | | {figure(tasks)} |",
        f"| … at a sentence or line that cites the record ({len(lines)}) | | {figure(lines)} |",
        (
            f'| … without the lines of code whose id was a string, `""` ({len(rest)}) | | '
            f"{figure(rest)} |"
        ),
        f"| misses ({len(misses)}): no answer has a word of it, the first answer is past the "
        f"{NEAR}th, before it | | "
        f"{', '.join(map(str, shares))} |",
        f"| … among the first {LIMIT} of a search | | "
        f"{figure([reached(*pair) for pair in zip(results, requests, strict=True)])} |",
        f"| … of those that it shows without `push.min_relevance` ({len(right)}) | ≥ .95 | "
        f"{figure([reached(ids, question, LIMIT) for ids, question in right])} |",
        f"| records a prompt shows, at most | {LIMIT} | {max(map(len, replies), default=0)} |",
        f"| unrelated texts that show nothing | ≥ 24 of 30 | {sum(silent)} of {len(texts)} |",
    ]


def sentences(hook: Hook, registry: Registry) -> list[str]:
    """Return the rows on prompts of several sentences: right records, and silence."""
    requests = questions(SENTENCES, registry)
    texts = (SENTENCES / "unrelated.txt").read_text("utf-8").splitlines()
    replies = [hook("UserPromptSubmit", prompt=question.text)[0] for question in requests]
    silent = [not hook("UserPromptSubmit", prompt=text)[0] for text in texts]
    right = [reached(*pair, LIMIT) for pair in zip(replies, requests, strict=True)]
    return [
        f"| a right record among the first {LIMIT} at a prompt of several sentences "
        f"({len(requests)}) | ≥ .60 | {figure(right)} |",
        f"| unrelated prompts of the same lengths that show nothing | ≥ .80 | "
        f"{sum(silent)} of {len(texts)} |",
    ]


def briefs(registry: Registry, requests: Sequence[Question]) -> list[str]:
    """Return the rows on briefs: by words alone, with the files of the task, and first places."""
    rows = []
    with_files = [question for question in requests if question.paths]
    for label, target, chosen, use_paths in (
        ("a right record in a brief by words", "≥ .88", requests, False),
        ("the same of tasks that name files, by words", "", with_files, False),
        ("the same with their files", "not below", with_files, True),
    ):
        selections = [
            registry.brief(text=question.text, paths=question.paths if use_paths else ()).selection
            for question in chosen
        ]
        full = [[match.row.values[ID] for match in selection.matches] for selection in selections]
        every = [
            [*ids, *(match.row.values[ID] for match in selection.named)]
            for ids, selection in zip(full, selections, strict=True)
        ]
        for suffix, goal, lists, limit in (
            (label, target, every, None),
            ("… in full", "", full, None),
            ("… in the first place", "≥ .55", full, 1),
        ):
            values = [
                reached(ids, question, limit) for ids, question in zip(lists, chosen, strict=True)
            ]
            rows.append(f"| {suffix} | {goal} | {figure(values)} |")
        size = statistics.mean(map(len, every))
        rows.append(
            f"| … records of a brief: in full, by title too | 5 | "
            f"{statistics.mean(map(len, full)):.1f}, {size:.1f} |"
        )
    results = [
        [hit.record.id for hit in registry.search(Query(question.text, limit=5)).hits]
        for question in requests
    ]
    first = [reached(ids, question, 1) for ids, question in zip(results, requests, strict=True)]
    return [*rows, f"| search, first place | | {figure(first)} |"]


def main(words: Sequence[str]) -> int:
    """Print the table for one collection and its questions."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench right-record", description=__doc__)
    shared = Path(__file__).resolve().parents[3] / "shared" / "corpora"
    parser.add_argument("--collection", type=Path, default=shared / "orbit-2026-07")
    parser.add_argument("--questions", type=Path, default=shared / "recall")
    parser.add_argument("--only", action="append", choices=("prompts", "sentences", "briefs"))
    arguments = parser.parse_args(words)
    if not arguments.collection.is_dir():
        print(
            f"{arguments.collection} is not there: name a collection with --collection",
            file=sys.stderr,
        )
        return 2
    with tempfile.TemporaryDirectory() as folder:
        registry = repository(arguments.collection, Path(folder) / "project")
        requests = questions(arguments.questions, registry)
        hook = Hook(registry.workspace.root)
        print(f"{len(requests)} questions, {len(list(registry.records))} records\n")
        print("| question | wanted | measured |\n|---|---|---|")
        parts = {
            "prompts": lambda: prompts(hook, registry, requests),
            "sentences": lambda: sentences(hook, registry),
            "briefs": lambda: briefs(registry, requests),
        }
        for name in arguments.only or parts:
            print("\n".join(parts[name]()), flush=True)
    return 0
