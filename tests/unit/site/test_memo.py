"""What a page was made from is remembered; anything doubtful is made again."""

from __future__ import annotations

from pathlib import Path

import pytest

from orbit_registry.records.diagnostic import Diagnostic, Location, Severity
from orbit_registry.site.memo import Made, open_memo
from orbit_registry.text.position import Position

FOUND = Diagnostic("SITE390", Severity.WARNING, "gone", Location("a.md", Position(3, 4)), "mend it", "ADR-0001")


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


def test_what_is_taken_over_is_written_as_it_was_read(tmp_path: Path) -> None:
    """A page and a text that stay, one that is made again and one that goes: the next build knows those of now."""
    memo = open_memo(tmp_path / "m.json", "v1", "")
    for page in ("gone", "made", "stays"):
        memo.put(page, Made("k", "ä.md", (("id", "ADR-0002", "t"),), (FOUND,), [["x"], ["\n"]]))
    assert memo.noted("ä.md", "stamp", lambda: ["said", ["more"]]) == ["said", ["more"]]
    memo.save("s1")
    before = (tmp_path / "m.json").read_text("utf-8")
    again = open_memo(tmp_path / "m.json", "v1", "s1")
    stays = again.as_answered("stays", lambda kind, path, name: "t")
    again.put("made", Made("k2", "b.md"))
    assert again.noted("ä.md", "stamp", lambda: ["another"]) == ["said", ["more"]]
    again.save("s1")
    last = open_memo(tmp_path / "m.json", "v1", "s1")
    assert last.held == {"made": Made("k2", "b.md"), "stays": stays}
    assert last.notes_before == {"ä.md": ["stamp", "said", ["more"]]}
    after = (tmp_path / "m.json").read_text("utf-8")
    assert [line for line in before.splitlines() if "stays" in line or "stamp" in line] == after.splitlines()[2:]
