"""Writes a made-up repository of any size, the same for the same number and seed; measures nothing.

Shapes follow what real collections showed: records of about 1.3 kB, words in a Zipf distribution,
three globs a record (directories, extensions, files, few with a star inside, one in a hundred
without a root; three in a hundred match no file any more), one record in ten a decision with two
rejected options and its prose in a document (a file of its own, or an entry of a log), one in five
voted for.
"""

import hashlib
import json
import os
import random
import subprocess
import time
from collections.abc import Iterator
from csv import DictReader
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from pathlib import Path
from typing import Any

ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
EXTENSIONS = ("py", "ts", "rs", "go", "sql", "md", "yaml")
TOP_FOLDERS = ("src", "lib", "services", "web", "tools", "infra")
AREAS = (
    "auth",
    "billing",
    "cache",
    "deploy",
    "events",
    "files",
    "graph",
    "http",
    "index",
    "jobs",
    "keys",
    "logs",
)
START = datetime(2024, 1, 1, tzinfo=UTC)
YESTERDAY = time.time() - 86_400
ADR_EVERY = 10
LOG_SIZE = 40
DEAD_GLOBS = 0.03
SHAPES = Path(__file__).with_name("shapes.csv")
MADR = (
    "## Context and Problem Statement",
    "## Considered Options",
    "## Decision Outcome",
    "### Consequences",
)
MARKED = {
    "code": "`{word}`",
    "strong": "**{word}**",
    "links": "[{word}](https://example.org/{word})",
    "relative": "[{word}]({other:04d}-decision.md)",
    "citations": "ADR-{other:04d}",
}
"""How a word of a made-up decision is marked up, by what is counted."""


class Words:
    """Text whose word frequencies fall as in prose; a seed gives the same text every time."""

    def __init__(self, chance: random.Random, size: int = 6000) -> None:
        self._chance = chance
        starts = [a + b for a in "bcdfghklmnprstvw" for b in ("a", "e", "i", "o", "u")]
        ends = ("n", "r", "s", "ter", "ling", "ment", "x", "tion", "ly", "d")
        unique: dict[str, None] = {}
        while len(unique) < size:
            unique[
                "".join(chance.choice(starts) for _ in range(chance.randint(1, 3)))
                + chance.choice(ends)
            ] = None
        self._words = list(unique)
        self._weights = list(accumulate(1 / (rank + 2.7) for rank in range(size)))

    def take(self, count: int) -> list[str]:
        """Return some words."""
        return self._chance.choices(self._words, cum_weights=self._weights, k=count)

    def sentence(self, count: int) -> str:
        """Return a sentence of some words."""
        return " ".join(self.take(count)).capitalize() + "."

    def paragraph(self, characters: int) -> str:
        """Return sentences of at least so many characters."""
        parts: list[str] = []
        while sum(map(len, parts)) < characters:
            parts.append(self.sentence(self._chance.randint(7, 16)))
        return " ".join(parts)


def make_repository(root: Path, number: int, *, seed: int = 7, commit: bool = True) -> None:
    """Write a git repository with `number` records below an empty or missing folder."""
    chance = random.Random(f"{seed}/{number}")
    words = Words(chance)
    root.mkdir(parents=True, exist_ok=True)
    tree = _tree(chance, max(20, number // 20))
    _write(
        root / ".orbit/config.yaml",
        "format: orbit-registry\nschema_version: 1\nproject: synthetic\n",
    )
    _write(root / ".gitignore", ".orbit/state/\n")
    _write(root / ".gitattributes", ".orbit/**/votes.jsonl merge=union\n")
    for folder, files in tree.items():
        for name in files:
            _write(root / folder / name, "")
    logs: dict[str, list[str]] = {}
    decisions = 0
    for position in range(number):
        if position % ADR_EVERY == 0:
            decisions += 1
            _decision(root, chance, words, tree, decisions, logs)
        else:
            _learning(root, chance, words, tree)
    for path, entries in logs.items():
        _write(root / path, "# Decisions\n\n" + "\n".join(entries))
    if commit:
        commit_all(root)


def make_many_files(root: Path, number: int, *, seed: int = 7) -> None:
    """Write a repository of 200 records and `number` small files of code, a hundred a folder."""
    make_repository(root, 200, seed=seed, commit=False)
    for position in range(number):
        _write(root / f"many/{position // 100}/{position % 100}.py", f"value = {position}\n")

    commit_all(root)


def make_resting(root: Path, number: int, *, seed: int = 7) -> None:
    """Write the repository of `make_repository` with two inputs, files of their own,
    under each learning.
    """
    make_repository(root, number, seed=seed, commit=False)
    for position, file in enumerate(sorted((root / ".orbit/learnings").glob("*/learning.yaml"))):
        entries = ""
        for name in (f"inputs/{position % 200:03d}/{position}_{side}.py" for side in "ab"):
            text = f"value = '{name}'\n" * 40
            _write(root / name, text)
            digest = hashlib.sha256(text.rstrip("\n").encode()).hexdigest()
            entries += f'    - {{input: {name}, hash: "sha256:{digest}"}}\n'
        _write(file, f"{file.read_text('utf-8')}freshness:\n  fingerprint:\n{entries}")
    commit_all(root)


def make_resources(root: Path, number: int, *, seed: int = 7) -> None:
    """Write a git repository with `number` scripts that are resources,
    of some twenty chunks each.
    """
    chance = random.Random(f"{seed}/{number}/resources")
    words = Words(chance)
    _write(
        root / ".orbit/config.yaml",
        "format: orbit-registry\nschema_version: 1\nproject: synthetic\n",
    )
    _write(root / ".gitignore", ".orbit/state/\n")
    for position in range(number):
        path = f"tools/{position % 100:02d}/{position}.sh"
        text = "#!/bin/sh\n" + "".join(f"# {words.sentence(14)}\n" for _ in range(100))
        _write(root / path, text)
        uid = f"{chance.getrandbits(128):032x}"
        created, updated = _times(chance)
        record_id = "RES-" + "".join(chance.choice(ALPHABET) for _ in range(8))
        _write(
            root / f".orbit/resources/{record_id}/resource.yaml",
            f"schema_version: 1\nid: {record_id}\nuid: {uid}\ntitle: "
            f"{words.sentence(6)}\nstatus: active\n"
            f"type: script\nversions: [unversioned]\npath: {path}\n"
            f'content_hash: "sha256:{hashlib.sha256(text.encode()).hexdigest()}"\n'
            f"chunking: {{strategy: fixed, min_tokens: 20, fixed_tokens: {len(text) // 80 + 1}, "
            f"overlap_tokens: 0}}\n"
            f"created_at: {created}\nupdated_at: {updated}\ncreated_by: {{name: ada, role: "
            f"human}}\n",
        )
    commit_all(root)


def make_foreign(root: Path, number: int, *, seed: int = 7) -> None:
    """Write a git repository with `number` MADR documents and no `.orbit/`.

    Each follows the measures of a real decision, one of 65 in turn (`shapes.csv`: five of each of
    13 public collections, at one, three, five, seven and nine tenths of their sizes): its
    characters of text, headings, paragraphs, list items, table rows, blocks and lines of code,
    links, links to other decisions, citations of them, spans of code and of emphasis. The mean is
    5.6 kB, the median 3.2; of all 856 documents there 7.4 and 5.9.
    """
    chance = random.Random(f"{seed}/{number}/foreign")
    words = Words(chance)
    with SHAPES.open(encoding="utf-8", newline="") as file:
        shapes = [
            {name: int(value) if value.isdigit() else value for name, value in row.items()}
            for row in DictReader(file)
        ]
    chance.shuffle(shapes)
    for position in range(1, number + 1):
        head = (
            f"---\nstatus: accepted\ndate: "
            f"2025-{position % 12 + 1:02d}-{position % 28 + 1:02d}\n---\n"
        )
        text = _like(shapes[position % len(shapes)], chance, words, number)
        _write(root / f"docs/decisions/{position:04d}-decision.md", head + text)
    commit_all(root)


def _like(shape: dict[str, Any], chance: random.Random, words: Words, number: int) -> str:
    """Return a decision with the measures of `shape`, which cites some of `number` others."""
    cells = shape["rows"] * shape["columns"]
    parts = shape["paragraphs"] * 3 + shape["items"] + cells / 4
    share = max(40, (shape["characters"] - 25 * shape["headings"]) / parts)
    sizes = [share * 3] * shape["paragraphs"] + [share] * shape["items"] + [share / 4] * cells
    texts = [words.paragraph(size)[: round(size)].split() for size in sizes]
    for measure, marked in MARKED.items():
        for _ in range(shape[measure]):
            text = chance.choice(texts)
            at = chance.randrange(len(text))
            if text[at].isalpha():
                text[at] = marked.format(word=text[at], other=chance.randint(1, number))
    sentences = [" ".join(text) for text in texts]
    paragraphs, items = (
        sentences[: shape["paragraphs"]],
        sentences[shape["paragraphs"] : len(sentences) - cells],
    )
    blocks = paragraphs + [
        "\n".join(f"* {item}" for item in items[at : at + 5]) for at in range(0, len(items), 5)
    ]
    if cells:
        rows = [
            " | ".join(sentences[at : at + shape["columns"]])
            for at in range(len(sentences) - cells, len(sentences), shape["columns"])
        ]
        blocks.append(
            "\n".join(
                f"| {row} |" for row in [rows[0], " | ".join(["---"] * shape["columns"]), *rows[1:]]
            )
        )
    for block in range(shape["fences"]):
        lines = (
            shape["code_lines"] * (block + 1) // shape["fences"]
            - shape["code_lines"] * block // shape["fences"]
        )
        code = "".join("{} = {}({}, 7)\n".format(*words.take(3)) for _ in range(lines))
        blocks.append(f"```{shape['language']}\n{code}```")
    chance.shuffle(blocks)
    more = [
        f"### {' '.join(words.take(3)).capitalize()}"
        for _ in range(shape["headings"] - len(MADR) - 1)
    ]
    headings = [*MADR[:2], *more, *MADR[2:]]
    out = [f"# {' '.join(words.take(6)).capitalize()}"]
    for at, heading in enumerate(headings):
        out += [
            heading,
            *blocks[len(blocks) * at // len(headings) : len(blocks) * (at + 1) // len(headings)],
        ]
    return "\n\n".join(out) + "\n"


def paths(number: int, *, seed: int = 7) -> list[str]:
    """Return paths to ask about: the files of the repository that `make_repository` writes for the
    same arguments.
    """
    chance = random.Random(f"{seed}/{number}")
    Words(chance)
    return [
        f"{folder}/{files[0]}" for folder, files in _tree(chance, max(20, number // 20)).items()
    ]


def commit_all(root: Path) -> None:
    """Make a folder a repository with one commit.

    Its files get an older time: git reads those again at each question that are as young as its
    index, which no repository has for long.
    """
    for folder, _, names in os.walk(root):
        for name in names:
            os.utime(Path(folder, name), (YESTERDAY, YESTERDAY))

    for line in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-q", "-m", "Start"]):
        identity = (
            "-c",
            "user.name=Ada Example",
            "-c",
            "user.email=ada@example.org",
            "-c",
            "gc.auto=0",
        )
        subprocess.run(["git", *identity, *line], cwd=root, check=True, capture_output=True)


def _tree(chance: random.Random, count: int) -> dict[str, list[str]]:
    """Return folders, each with the names of its files."""
    unique: dict[str, list[str]] = {}
    while len(unique) < count:
        parts = [chance.choice(TOP_FOLDERS), chance.choice(AREAS)]
        parts += [
            f"{chance.choice(AREAS)}{chance.randint(1, 30)}" for _ in range(chance.randint(0, 2))
        ]
        path = "/".join(parts)
        if path not in unique:
            unique[path] = [
                f"{name}.{chance.choice(EXTENSIONS)}"
                for name in ("main", "model", "store", "view_test")
            ]
    return unique


def scopes(number: int, *, seed: int = 7) -> tuple[list[str], Iterator[list[str]]]:
    """Return the folders of a repository and the globs of `number` records, without writing any."""
    chance = random.Random(f"{seed}/{number}/scopes")
    tree = _tree(chance, max(20, number // 20))
    folders = list(tree)
    globs_of = (
        list(dict.fromkeys(_glob(chance, tree, folders) for _ in range(3))) for _ in range(number)
    )
    return [f"{folder}/{files[0]}" for folder, files in tree.items()], globs_of


def _glob(
    chance: random.Random, tree: dict[str, list[str]], folders: list[str] | None = None
) -> str:
    folders = folders or list(tree)
    folder = folders[min(int(chance.paretovariate(0.6)) - 1, len(folders) - 1)]
    main, *_, test = tree[folder]
    extension = main.rpartition(".")[2]
    kind = chance.random()
    if chance.random() < DEAD_GLOBS:
        return f"{folder}/removed/**"
    if kind < 0.45:
        return f"{folder}/**"
    if kind < 0.65:
        return f"{folder}/*.{extension}"
    if kind < 0.80:
        return f"{folder}/**/*.{extension}"
    if kind < 0.94:
        return f"{folder}/{main}"
    if kind < 0.99:
        top, _, tail = folder.split("/", 2) if folder.count("/") > 1 else (*folder.split("/"), "")
        return "/".join(part for part in (top, "*", tail, f"*_{test.rpartition('_')[2]}") if part)
    return f"**/*.{extension}"


def _file(chance: random.Random, tree: dict[str, list[str]]) -> str:
    folder = chance.choice(list(tree))
    return f"{folder}/{tree[folder][0]}"


def _scope(chance: random.Random, tree: dict[str, list[str]]) -> str:
    globs = dict.fromkeys(_glob(chance, tree) for _ in range(3))
    tags = dict.fromkeys(chance.choice(AREAS) for _ in range(chance.randint(1, 3)))
    listed = "\n".join(f'    - "{glob}"' for glob in globs)
    return f"scope:\n  paths:\n{listed}\n  tags: [{', '.join(tags)}]\n"


def _times(chance: random.Random) -> tuple[str, str]:
    created = START + timedelta(seconds=chance.randint(0, 60_000_000))
    updated = created + timedelta(seconds=chance.randint(0, 10_000_000))
    return f"{created:%Y-%m-%dT%H:%M:%SZ}", f"{updated:%Y-%m-%dT%H:%M:%SZ}"


def _learning(root: Path, chance: random.Random, words: Words, tree: dict[str, list[str]]) -> None:
    uid = f"{chance.getrandbits(128):032x}"
    record_id = "L-" + "".join(chance.choice(ALPHABET) for _ in range(8))
    created, updated = _times(chance)
    body = "".join(f"  {words.paragraph(260)}\n" for _ in range(2))
    status = chance.choices(("active", "retired"), (95, 5))[0]
    text = (
        f"schema_version: 1\nid: {record_id}\nuid: {uid}\nstatus: {status}\nsummary: "
        f"{words.sentence(14)}\n"
        f"body: |\n{body}category: {chance.choice(AREAS)}\nconfidence: "
        f"{chance.choice(('low', 'medium', 'high'))}\n"
        f"{_scope(chance, tree)}"
        f"evidence:\n  - {{kind: task, reference: T-{chance.randint(1, 9999)}}}\n"
        f"  - {{kind: file, reference: {_file(chance, tree)}}}\n"
        f"priority: {chance.choice((0, 0, 0, 10, 100))}\n"
        f"created_at: {created}\nupdated_at: {updated}\ncreated_by: {{name: ada, role: human}}\n"
    )
    folder = root / ".orbit/learnings" / record_id
    _write(folder / "learning.yaml", text)
    if chance.random() < 0.2:
        rows = []
        for task in range(chance.randint(1, 6)):
            at = START + timedelta(seconds=chance.randint(0, 70_000_000))
            rows.append(
                f'{{"learning_id": "{record_id}", "voter_model": "model-{chance.randint(1, 3)}", '
                f'"voted_at": "{at:%Y-%m-%dT%H:%M:%SZ}", "task_id": "T-{task}"}}\n'
            )
        _write(folder / "votes.jsonl", "".join(rows))


def _decision(
    root: Path,
    chance: random.Random,
    words: Words,
    tree: dict[str, list[str]],
    number: int,
    logs: dict[str, list[str]],
) -> None:
    record_id = f"ADR-{number:04d}"
    created, updated = _times(chance)
    title = " ".join(words.take(6)).capitalize()
    in_log = (number // LOG_SIZE) % 2 == 1
    feature = f"feature{number // LOG_SIZE}"
    path = (
        f"docs/design/{feature}/4_decisions.md" if in_log else f"docs/adr/{number:04d}-decision.md"
    )
    level = "###" if in_log else "##"
    sections = (
        f"{level} Context\n\n{words.paragraph(300)}\n\n{level} "
        f"Decision\n\n{words.paragraph(250)}\n\n"
        f"{level} Consequences\n\n{words.paragraph(200)}\n\nCost: {words.sentence(9)}\n"
    )
    if in_log:
        entry = f"## {record_id} — {title}\n\nStatus: Accepted · {created[:10]}\n\n{sections}"
        logs.setdefault(path, []).append(entry)
    else:
        _write(
            root / path,
            f"# {record_id} — {title}\n\nStatus: Accepted · {created[:10]}\n\n{sections}",
        )
    heading = f", heading: {record_id}, format: log" if in_log else ", format: file"
    text = (
        f"schema_version: 1\nid: {record_id}\nuid: {chance.getrandbits(128):032x}\ntitle: "
        f"{title}\nstatus: accepted\n"
        f"date: '{created[:10]}'\nfeature: {feature}\nsource: {{path: {path}{heading}, "
        f"authority: record}}\n"
        f"{_scope(chance, tree)}"
        f"rejected:\n{_rejected(words)}{_rejected(words)}"
        f"created_at: {created}\nupdated_at: {updated}\ncreated_by: {{name: ada, role: human}}\n"
    )
    _write(root / ".orbit/adrs" / record_id / "adr.yaml", text)


def _rejected(words: Words) -> str:
    return f"  - {{option: {' '.join(words.take(2)).capitalize()}, reason: {words.sentence(9)}}}\n"


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="\n")


def make_loop(root: Path, number: int, *, seed: int = 7) -> None:
    """Write the repository of `make_repository`,
    one record in twenty a failure that holds or the retro of a loop.
    """
    runs = number // 50
    make_repository(root, number - 2 * runs - runs // 2, seed=seed, commit=False)
    chance = random.Random(f"{seed}/{number}/loop")
    words = Words(chance)
    for kind, prefix, count in (("failure", "F", runs + runs // 2), ("retro", "RT", runs)):
        for index in range(count):
            record_id = f"{prefix}-{''.join(chance.choice(ALPHABET) for _ in range(8))}"
            target = f"{{type: story, project: shop, id: S-{index}}}"
            created, updated = _times(chance)
            fields = (
                (
                    f"status: open\ntarget: {target}\nreason: {words.sentence(9)}\nattempts: "
                    f"3\nttl_days: 0\n"
                )
                if kind == "failure"
                else f"status: recorded\ntrigger: {{type: loop, project: shop, id: "
                f"L-{index}}}\ndate: '{updated}'\n"
                f"summary: {words.sentence(12)}\nkey: loop:shop:L-{index}\nfile: retro.md\n"
                f"outcomes:\n  - {{target: {target}, result: completed, attempts: 2, tools: "
                f"[codex]}}\n"
            )
            text = (
                f"schema_version: 1\nid: {record_id}\nuid: "
                f"{chance.getrandbits(128):032x}\ntitle: {words.sentence(8)}\n"
                f"{fields}created_at: {created}\nupdated_at: {updated}\ncreated_by: {{name: "
                f"ada, role: human}}\n"
            )
            folder = root / f".orbit/{kind}s/{record_id}"
            _write(folder / f"{kind}.yaml", text)
            if kind == "retro":
                _write(
                    folder / "retro.md",
                    f"# Loop {index}\n\n## What worked\n\n- {words.sentence(14)}\n",
                )
    commit_all(root)


def make_session(root: Path, megabytes: int) -> None:
    """Make a workspace, and a transcript of a session in it of as many megabytes, as an agent
    writes it: `t.jsonl`.

    A turn reads a file, searches, edits, and runs tests, the first time in a way that fails; most
    bytes are what tools printed, and one line in a thousand is a megabyte long.
    """
    make_repository(root, 100)
    (root / "noxfile.py").write_text("def tests(session): ...\n", "utf-8")
    printed = "".join(f"{number:>6}\tvalue_{number} = compute({number})\n" for number in range(80))
    calls = (
        ("Read", {"file_path": f"{root}/src/a.py"}, printed, False),
        ("Grep", {"pattern": "compute"}, printed, False),
        (
            "Edit",
            {"file_path": f"{root}/src/a.py", "old_string": "a", "new_string": "b"},
            "updated",
            False,
        ),
        ("Bash", {"command": "pytest -q tests"}, f"{printed}No module named 'shop'", True),
        ("Bash", {"command": "nox -s tests 2>&1 | tail -5"}, f"{printed}12 passed in 0.1s", False),
    )
    with (root / "t.jsonl").open("w", encoding="utf-8") as file:
        number = 0
        while file.tell() < megabytes * 1_000_000:
            base = {
                "cwd": str(root),
                "sessionId": "s",
                "parentUuid": str(number) if number else None,
            }
            prompt = {"role": "user", "content": f"Make step {number} better."}
            file.write(json.dumps({"type": "user", "message": prompt, **base}) + "\n")
            for tool, arguments, answer, failed in calls:
                number += 1
                use = {"type": "tool_use", "id": f"t{number}", "name": tool, "input": arguments}
                output = answer * 300 if number % 1000 == 1 else answer
                result = {
                    "type": "tool_result",
                    "tool_use_id": f"t{number}",
                    "content": output,
                    "is_error": failed,
                }
                file.write(
                    json.dumps({"type": "assistant", "message": {"content": [use]}, **base}) + "\n"
                )
                entry = {
                    "type": "user",
                    "message": {"content": [result]},
                    "toolUseResult": {"stdout": output},
                    **base,
                }
                file.write(json.dumps(entry) + "\n")
