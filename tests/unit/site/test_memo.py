"""A file of a site is made again exactly when something that it was made from changed."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from orbit_registry.records.diagnostic import Diagnostic, Location, Severity
from orbit_registry.site.memo import Content, PageCache
from orbit_registry.site.output import open_output
from orbit_registry.store.cache import Cache
from orbit_registry.text.position import Position

PROBLEM = Diagnostic("SITE390", Severity.WARNING, "gone", Location("a.md", Position(3, 4)), "mend it", "ADR-0001")


def built(values: Cache, folder: Path, *, inputs: str = "i", answer: str = "u", version: str = "v") -> list[str]:
    """Build a site of one page, which asks what an id means; return the pages that were made."""
    site: Any = SimpleNamespace(questions={}, answer=lambda question: f"{question[0]} {answer}")
    out = open_output(folder)
    pages = PageCache(values, "site", version, out, site)
    out.begin()
    made: list[str] = []

    def make() -> Content:
        site.questions["cited", "ADR-0001", ""] = None
        made.append("page")
        return Content("text", ("facts",), (PROBLEM,))

    assert pages.page("p/index.html", inputs, make) == ["facts"] or made
    assert pages.value("text", inputs, lambda: ("said",)) == ["said"]
    assert pages.diagnostics == [PROBLEM]
    out.finish()
    pages.save()
    return made


@pytest.mark.parametrize(
    ("changed", "is_made"),
    [({}, False), ({"inputs": "j"}, True), ({"answer": "w"}, True), ({"version": "x"}, True)],
)
def test_a_page_is_made_again_where_something_changed(tmp_path: Path, changed: dict[str, str], is_made: bool) -> None:
    """The same inputs and the same answers of the site map take it over, with its value and what is wrong in it."""
    values = Cache(None, "1")
    assert built(values, tmp_path / "o") == ["page"]
    assert built(values, tmp_path / "o", **cast("dict[str, Any]", changed)) == ["page"] * is_made


def test_a_page_that_is_gone_or_of_another_build_is_made_again(tmp_path: Path) -> None:
    """Neither a deleted file, nor a folder that another cache wrote to meanwhile, is taken for what it was."""
    values = Cache(None, "1")
    built(values, tmp_path / "o")
    (tmp_path / "o/p/index.html").unlink()
    assert built(values, tmp_path / "o") == ["page"]
    out = open_output(tmp_path / "o")
    out.write("p/index.html", "of another")
    out.finish()
    assert built(values, tmp_path / "o") == ["page"]
