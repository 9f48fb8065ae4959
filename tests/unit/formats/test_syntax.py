"""What of a text is code: a guess never takes code for a string or a comment."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from orbit_registry.formats.syntax import comments_and_strings, part_at

CASES = Path(__file__).resolve().parents[2] / "cases" / "parts_of_code.yaml"
NAME = "MySQLdb"
OPENED = {
    "a.ts": "`${'",
    "b.ts": "(a)/'",
    "c.tsx": "/*>a",
    "d.rs": 'r#"',
    "e.rb": "<<A\n",
    "f.html": "<script>",
    "g.sql": "$a$'",
    "h.cpp": 'R"(x',
    "i.php": "<<<A\n",
    "j.py": "f'{",
}


def _cases() -> Iterator[Any]:
    for part, rows in yaml.safe_load(CASES.read_text("utf-8")).items():
        for row in rows:
            yield pytest.param(part, row["file"], row["text"], id=f"{part}: {row['text']}")


@pytest.mark.parametrize(("part", "file", "text"), [*_cases()])
def test_a_name_is_in_code_a_comment_or_a_string(part: str, file: str, text: str) -> None:
    spans = [*comments_and_strings(file, text)]

    assert (part_at(spans, text.index(NAME)) or "code") == part


@pytest.mark.parametrize(("file", "text"), OPENED.items(), ids=OPENED)
def test_what_opens_again_and_again_is_read_in_little_time(file: str, text: str) -> None:
    start = time.process_time()
    list(comments_and_strings(file, text * 20_000))

    assert time.process_time() - start < 5
