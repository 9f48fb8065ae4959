"""A repository's own navigation is kept, completed, and cleared of pages that do not exist."""

from __future__ import annotations

from pathlib import Path

import pytest

from orbit_registry.errors import ConfigError
from orbit_registry.site.own import completed_nav, read_own, without_missing

GENERATED: list[object] = [{"Decisions": "adrs/index.md"}, {"Health": "health/index.md"}]


def test_what_a_navigation_names_is_not_added_again() -> None:
    """Entries of ours that are already there stay where they are; the others come at the end."""
    own: list[object] = ["index.md", {"Why": [{"All": "adrs/index.md"}]}]
    assert completed_nav(own, [], GENERATED) == [*own, {"Health": "health/index.md"}]


def test_without_a_navigation_the_pages_make_one() -> None:
    """Pages at the top come first, folders become sections."""
    nav = completed_nav([], ["guide/a.md", "index.md", "z.md"], [])
    assert nav == ["index.md", "z.md", {"Guide": ["guide/a.md"]}]


def test_an_entry_without_a_page_is_left_out_and_named() -> None:
    """A dead entry does not stop the build; addresses elsewhere stay."""
    own: list[object] = ["index.md", {"A": ["a.md", "b.md"]}, {"C": "c.md"}, {"Web": "https://example.org"}]
    kept, missing = without_missing(own, {"index.md", "a.md"})
    assert kept == ["index.md", {"A": ["a.md"]}, {"Web": "https://example.org"}]
    assert missing == ["b.md", "c.md"]


def test_a_repository_without_a_configuration_has_none(tmp_path: Path) -> None:
    """No mkdocs.yml is an ordinary case."""
    assert read_own(tmp_path) is None


@pytest.mark.parametrize("text", ["docs_dir: ../elsewhere", "docs_dir: /tmp", "a: [", "docs_dir: ."])
def test_a_configuration_that_cant_be_used_is_one_error(tmp_path: Path, text: str) -> None:
    """Broken YAML and pages outside the repository are said so, with the file's name."""
    (tmp_path / "mkdocs.yml").write_text(text, "utf-8")
    with pytest.raises(ConfigError, match=r"mkdocs\.yml"):
        read_own(tmp_path)
