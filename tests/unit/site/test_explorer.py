"""The page that says which records apply to a path."""

from orbit_registry.site.curated import pages_with_content
from orbit_registry.site.explorer import page_html


def test_the_page_says_what_to_do_where_no_record_names_a_path() -> None:
    html = page_html([])
    assert "No record says which files it applies to" in html
    assert "orbit scope suggest" in html
    assert "<form" not in html


def test_a_site_without_records_has_no_page_of_paths() -> None:
    assert pages_with_content([], [], has_tasks=False, has_console=False) == []
