"""What a page was made from is remembered; anything doubtful is made again."""

from __future__ import annotations

from pathlib import Path

import pytest

from orbit_registry.records.diagnostic import Diagnostic, Location, Severity
from orbit_registry.site.memo import Made, open_memo
from orbit_registry.text.position import Position

FOUND = Diagnostic("ORB390", Severity.WARNING, "gone", Location("a.md", Position(3, 4)), "mend it", "ADR-0001")


def remembered(tmp_path: Path) -> Path:
    """Return the file of a memo that holds one page."""
    memo = open_memo(tmp_path / "m.json", "v1", "")
    memo.put("p", Made("k", "a.md", (("id", "ADR-0002", "adrs/ADR-0002/"),), (FOUND,), ["x"]))
    memo.save("s1")
    return tmp_path / "m.json"


def test_a_page_with_the_same_inputs_is_taken_over(tmp_path: Path) -> None:
    """Key and answers unchanged: the page and what was found on it come back."""
    memo = open_memo(remembered(tmp_path), "v1", "s1")
    made = memo.fresh("p", "k", lambda kind, path, name: "adrs/ADR-0002/")
    assert made is not None
    assert (made.diagnostics, made.extra) == ((FOUND,), ["x"])


@pytest.mark.parametrize(
    ("version", "seal", "page", "key", "answer"),
    [
        ("v2", "s1", "p", "k", "adrs/ADR-0002/"),
        ("v1", "s2", "p", "k", "adrs/ADR-0002/"),
        ("v1", "s1", "q", "k", ""),
        ("v1", "s1", "p", "other", "adrs/ADR-0002/"),
        ("v1", "s1", "p", "k", ""),
    ],
)
def test_anything_else_is_made_again(tmp_path: Path, version: str, seal: str, page: str, key: str, answer: str) -> None:
    """Other code, another build's files, another page, key or answer: nothing is taken over."""
    memo = open_memo(remembered(tmp_path), version, seal)
    assert memo.fresh(page, key, lambda kind, path, name: answer) is None


@pytest.mark.parametrize("text", ["", "[]", '{"version": "v1"}', '{"version": "v1", "pages": {"p": []}}', "\x00"])
def test_a_damaged_memo_is_an_empty_one(tmp_path: Path, text: str) -> None:
    """A cache that can't be read costs time, nothing else."""
    (tmp_path / "m.json").write_text(text, "utf-8")
    assert open_memo(tmp_path / "m.json", "v1", "s1").held == {}
