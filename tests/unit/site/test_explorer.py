"""The page that says which records apply to a path."""

from __future__ import annotations

from typing import Any

import pytest

from orbit_registry.model.kind import load_kinds
from orbit_registry.model.record import Record
from orbit_registry.site.curated import pages_with_content
from orbit_registry.site.explorer import example_of, page_html, unscoped

ADR = load_kinds()["adr"]


def _decision(number: int, status: str = "accepted", **scope: Any) -> Record:
    name = f"ADR-{number:04}"
    data = {"id": name, "title": "T", "status": status, "scope": scope}
    return Record(ADR, data, f".orbit/adrs/{name}/adr.yaml")


@pytest.mark.parametrize(
    ("records", "sentence"),
    [
        ([], ""),
        ([_decision(1, paths=["a/**"])], ""),
        ([_decision(1, uses=["flask"]), _decision(2, symbols=["a.py#f"])], ""),
        ([_decision(1, tags=["a"])], "the only current decision names no files"),
        (
            [_decision(1), _decision(2, status="unknown"), _decision(3, status="superseded")],
            "none of the 2 current decisions names files",
        ),
        (
            [_decision(1), _decision(2, paths=["a/**"]), _decision(3, status="rejected")],
            "1 of the 2 current decisions names no files",
        ),
    ],
)
def test_decisions_that_no_path_leads_to_are_counted(records: list[Record], sentence: str) -> None:
    assert unscoped(records) == sentence


def test_the_page_asks_and_says_what_to_do_where_no_record_names_a_path() -> None:
    html = page_html([_decision(1), _decision(2)])
    assert html.count("None of the 2 current decisions names files") == 1
    assert "orbit scope suggest" in html
    assert "<form" in html


def test_the_page_says_in_one_sentence_what_no_edit_shows() -> None:
    overlooked = "2 of 2 accepted decisions are shown at no edit"
    html = page_html([_decision(1), _decision(2)], overlooked)
    note = html.partition('<p class="orbit-overlooked">')[2].partition("</p>")[0]
    sentence = note.partition(". ")[0]
    assert sentence.startswith(f'<a href="../health/#unscoped">{overlooked}</a>; ')
    assert "files" in sentence


@pytest.mark.parametrize(
    ("files", "example"),
    [
        ([".github/ci.yml", "README", "docs/a.md", "modules/vpc/main.tf"], "modules/vpc/main.tf"),
        (["docs/a.md", "setup.py"], "src/app.py"),
        (["docs/plan.rst", "img/a.png", "pkg/run.go"], "pkg/run.go"),
    ],
)
def test_the_box_asks_for_a_file_that_a_project_has(files: list[str], example: str) -> None:
    assert example_of(files) == example
    assert f'placeholder="{example}"' in page_html([_decision(1)], files=files)
    scoped = page_html([_decision(1, paths=["lib/**"])], files=files)
    assert 'placeholder="lib/"' in scoped


def test_a_site_without_records_has_no_page_of_paths() -> None:
    assert pages([]) == []


def test_records_of_which_a_text_alone_names_another_have_a_map() -> None:
    alone = _decision(1)
    later = _decision(2)
    later.data["supersedes"] = ["ADR-0001"]
    assert "map" not in pages([alone])
    assert "map" in pages([alone], cites=True)
    assert "map" in pages([alone, later])


def pages(records: list[Record], *, cites: bool = False) -> list[str]:
    return pages_with_content(
        records, [], has_tasks=False, has_console=False, has_citations=lambda: cites
    )
