"""Conflicts of git in a text: real ones, examples, and what only looks like one."""

import pytest

from orbit_registry.formats.conflicts import conflict_line

CONFLICT = "<<<<<<< HEAD\na\n=======\nb\n>>>>>>> topic\n"


@pytest.mark.parametrize(
    ("text", "line", "line_in_code"),
    [
        (CONFLICT, 1, 1),
        (f"# A\n\n{CONFLICT}", 3, 3),
        (f"# A\n\n{CONFLICT}".replace("\n", "\r\n"), 3, 3),
        (CONFLICT.replace("=======", "||||||| base\nc\n======="), 1, 1),
        (f"```text\n{CONFLICT}```\n", 0, 2),
        (f"```text\n{CONFLICT}```\n\n{CONFLICT}", 9, 2),
        (CONFLICT.replace("a\n", "```\n"), 1, 1),
        ("Title\n=======\n\n>>>>>>> quoted\n", 0, 0),
        ("<<<<<<< HEAD\na\n", 0, 0),
        (">>>>>>> topic\n=======\n<<<<<<< HEAD\n", 0, 0),
        (f"    {CONFLICT}", 0, 0),
        ("", 0, 0),
    ],
)
def test_a_conflict_begins_on_its_line(text: str, line: int, line_in_code: int) -> None:
    assert conflict_line(text) == line
    assert conflict_line(text, in_code=True) == line_in_code
