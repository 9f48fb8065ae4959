"""Unified diffs of one file."""

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orbit_loop.patch import Conflict, added_lines, apply_diff, removes_lines
from orbit_registry.formats.diff import unified_diff
from orbit_registry.workspace import journal

TEXTS = st.text(st.sampled_from("ab \n\r\u2028-+@\\"), max_size=40)
PAGE = "".join(f"line {number}\n" for number in range(20))


@given(TEXTS, TEXTS)
def test_a_diff_makes_one_text_the_other(before: str, after: str) -> None:
    diff = unified_diff("a/b.md", before, after)
    assert (diff == "") == (before == after)
    if diff:
        assert apply_diff(diff, "a/b.md", before) == after
        assert isinstance(apply_diff(diff, "c.md", before), Conflict)


@given(TEXTS, TEXTS)
def test_added_and_removed_lines_are_those_of_the_diff(before: str, after: str) -> None:
    diff = unified_diff("b.md", before, after)
    if not removes_lines(diff):
        assert len(after) >= len(before)
    assert all(line in after for line in added_lines(diff))


def test_it_follows_lines_that_moved_and_refuses_to_guess() -> None:
    diff = unified_diff("b.md", PAGE, PAGE.replace("line 9\n", "line 9\nnew\n"))
    assert apply_diff(diff, "b.md", f"above\n{PAGE}") == f"above\n{PAGE}".replace(
        "line 9\n", "line 9\nnew\n"
    )
    missing = apply_diff(diff, "b.md", PAGE.replace("line 10", "line ten"))
    assert missing == Conflict(11, "expected `line 10`, found `line ten`")
    twice = apply_diff(diff, "b.md", f"above\n{PAGE}{PAGE}")
    assert isinstance(twice, Conflict)
    assert "2 lines" in twice.message
    assert apply_diff(diff, "b.md", "") == Conflict(
        8, "expected `line 7`, found `the end of the file`"
    )


@pytest.mark.parametrize(
    "diff",
    [
        "",
        "x",
        "--- a/b.md\n+++ b/b.md\n",
        "--- a/b.md\n+++ b/b.md\n@@ -1,9 +1,9 @@\n line 0\n",
        (
            "--- a/b.md\n+++ b/b.md\n@@ -1 +1 @@\n-line 0\n+x\n--- a/c.md\n+++ b/c.md\n@@ -1 +1 "
            "@@\n"
            "-a\n+b\n"
        ),
        "--- a/b.md\n+++ b/b.md\n@@ -99999999999999999999 +1 @@\n-line 0\n+x\ngarbage\n",
    ],
)
def test_an_invalid_diff_is_a_conflict(diff: str) -> None:
    assert isinstance(apply_diff(diff, "b.md", PAGE), Conflict)


@pytest.mark.parametrize(
    "path", ["a.txt", "with space.txt", 'q"uote.txt', "back\\slash.txt", "brök.txt", "x\n+++ b.txt"]
)
@pytest.mark.parametrize(
    "texts",
    [
        ("a\nb\n", "a\nc\n"),
        ("a\u2028b\x85c\x0cd\n", "a\u2028b\x85c\x0ce\n"),
        ("a\r\nb\r\n", "a\r\nc\r\n"),
        ("a", "a\nb"),
    ],
)
def test_git_applies_the_diff_to_that_file_alone(
    tmp_path: Path, path: str, texts: tuple[str, str]
) -> None:
    (tmp_path / path).write_bytes(texts[0].encode())

    diff = journal.unified_diff([journal.FileChange(path, *texts)])

    subprocess.run(["git", "apply", "-"], cwd=tmp_path, input=diff.encode(), check=True)
    assert (tmp_path / path).read_bytes() == texts[1].encode()
    assert len(list(tmp_path.iterdir())) == 1
