"""Diffs of files whose names and texts come from a stranger."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from orbit_registry.workspace.journal import FileChange, unified_diff


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
def test_git_applies_the_diff_to_that_file_alone(tmp_path: Path, path: str, texts: tuple[str, str]) -> None:
    """Whatever a name and a text hold, the diff turns the one text into the other, and no other file is named."""
    (tmp_path / path).write_bytes(texts[0].encode())

    said = unified_diff([FileChange(path, *texts)])

    subprocess.run(["git", "apply", "-"], cwd=tmp_path, input=said.encode(), check=True)
    assert (tmp_path / path).read_bytes() == texts[1].encode()
    assert len(list(tmp_path.iterdir())) == 1
