"""Writes a made-up code base with decisions that state fifty checks; measures nothing."""

import random
from pathlib import Path
from typing import Any

import yaml
from tests.bench.synthetic import Words, commit_all, make_repository
from tests.files import make_workspace, write

LINES = 500  # of a file
KINDS = (
    (
        20,
        "**/*.{py,ts,java}",
        "text",
        lambda word: {"words": [f"{word}_now", f"{word}Legacy"]},
        "x = {0}_now",
        "x = 1",
    ),
    (
        10,
        "**/*.py",
        "text",
        lambda word: {"regex": rf"\b{word}\s*=\s*None\b"},
        "{0} = None",
        "x = 1",
    ),
    (
        8,
        "**/*.py",
        "import",
        lambda word: {"of": [f"{word}.internal"]},
        "import {0}.internal",
        "import os",
    ),
    (
        8,
        "**/*.ts",
        "pattern",
        lambda word: {"language": "typescript", "find": f"$A.{word}Legacy($$$B)"},
        "a.{0}Legacy(1)",
        "a.b(1)",
    ),
    (4, "", "dependency", lambda word: {"of": [f"{word}-*"]}, "{0}-core", "click"),
)
"""Number, files, kind, fields, and texts that break and keep to each check."""
FORMS = {
    "py": (
        "import {0}.{1}",
        "def {0}_{1}({2}):",
        "    {0} = {1}({2}, '{0}')  # {1} {2}",
        "    return {0}.{1}",
    ),
    "ts": (
        "import { A } from '{0}/{1}';",
        "export const {0} = ({1}) => {",
        "  {0}.{1}({2}, `{0}`); // {1}",
        "};",
    ),
    "java": ("import org.{0}.{1};", "class {0} {", '    int {1} = this.{2}("{0}"); // {1}', "}"),
}


def make_code(root: Path, thousands: int) -> None:
    """Make a repository with so many thousand lines of code in three languages and fifty checks."""
    chance = random.Random(7)
    words = Words(chance)
    make_workspace(root)
    names = words.take(60)
    number = 0
    for count, files, kind, fields, fails, passes in KINDS:
        for _ in range(count):
            number += 1
            word = f"{names[number]}{number}"
            scope = {"in": [files]} if files else {}
            check: dict[str, Any] = {
                "id": "a",
                "level": "error",
                **scope,
                kind: fields(word),
                "passes": [passes],
                "fails": [fails.format(word)],
            }
            _decide(root, number, check)
    extensions = ("py", "py", "ts", "java")
    for file in range(thousands * 1000 // LINES):
        extension = extensions[file % len(extensions)]
        forms = FORMS[extension]
        lines = []
        for line in range(LINES):
            text = forms[line % len(forms)]
            for position, word in enumerate(words.take(3)):
                text = text.replace(f"{{{position}}}", word)
            lines.append(text)
        write(root, f"src/{file % 40}/{file}.{extension}", "\n".join(lines) + "\n")
    write(root, "requirements.txt", "click\n")
    commit_all(root)


RECORDS, SOURCE_LINES, CITING = 1000, 200, 50


def make_sources(root: Path, files: int) -> None:
    """Make a repository of a thousand records and so many files of code, one in fifty cites one.

    Ten records name a package in their scope; one file in ten imports it.
    """
    chance = random.Random(7)
    words = Words(chance)
    make_repository(root, RECORDS, commit=False)
    for number, record in enumerate(sorted((root / ".orbit/learnings").glob("*/*.yaml"))[:10]):
        text = record.read_text("utf-8")
        record.write_text(text.replace("scope:\n", f"scope:\n  uses: [package{number}]\n"), "utf-8")

    for file in range(files):
        lines = [f"import package{file % 100}"]
        if file % CITING == 0:
            lines.append(f"# See ADR-{file // CITING % (RECORDS // 10) + 1:04}.")
        for line in range(SOURCE_LINES):
            text = FORMS["py"][1 + line % 3]
            for position, word in enumerate(words.take(3)):
                text = text.replace(f"{{{position}}}", word)
            lines.append(text)
        write(root, f"src/{file % 40}/{file}.py", "\n".join(lines) + "\n")

    commit_all(root)


def _decide(root: Path, number: int, check: dict[str, Any]) -> None:
    moment = "2026-01-01T00:00:00Z"
    data = {
        "schema_version": 1,
        "id": f"ADR-{number:04}",
        "uid": f"{number:032x}",
        "title": f"Decision {number}",
        "status": "accepted",
        "created_at": moment,
        "updated_at": moment,
        "checks": [check],
    }
    write(root, f".orbit/adrs/ADR-{number:04}/adr.yaml", yaml.safe_dump(data))
    text = (
        f"## Context\n\nCase {number}.\n\n## Decision\n\nSo be it.\n\n## Consequences\n\n- "
        f"Cost: work.\n"
    )
    write(root, f".orbit/adrs/ADR-{number:04}/body.md", text)
