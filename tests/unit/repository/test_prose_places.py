"""Position of a decision's prose: the quick look at headings and the full reader agree."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orbit_registry.repository.documents import Document, entry_span

ROOT = Path(__file__).parents[3]
PATHS = ("docs/decisions/0001-queues.md", "docs/adr.md", "docs/adr/README.md", "docs/adr/template.md", "adr/1.txt", "x")
LINES = (
    "---", "status: accepted", "# Title", "# Status", "# Title:", "# ADR", "Queues", "## Context", "## ADR-0001 — One",
    "## ADR-0002 — Two", "Status: Accepted", "Accepted", "===", "```", "> # quoted", "", "\ufeff",
)  # fmt: skip


def same(path: str, text: str) -> bool:
    document = Document(path, text)
    entry = document.entry(None)
    return document.locate(None) == (None if entry is None else (entry.span.start, entry_span(entry)))


@given(st.sampled_from(PATHS), st.lists(st.sampled_from(LINES), max_size=12).map("\n".join))
def test_prose_of_any_text_is_where_the_reader_finds_it(path: str, text: str) -> None:
    assert same(path, text)


@pytest.mark.parametrize("folder", ["docs", "tests/cases"])
def test_prose_of_our_documents_is_where_the_reader_finds_it(folder: str) -> None:
    files = list((ROOT / folder).rglob("*.md"))
    assert len(files) > 10
    for file in files:
        assert same(file.relative_to(ROOT).as_posix(), file.read_bytes().decode("utf-8", "replace")), file
