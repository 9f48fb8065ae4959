"""The sections of a page that search finds."""

import pytest

from orbit_registry.site.prose import Heading
from orbit_registry.site.search_data import Section, sections_in

HTML = '<p>a</p><h2 id="s-b">B</h2><p>b</p><h2 id="s-c">C</h2><p>c</p>'
B, C = Heading(2, "s-b", "B"), Heading(2, "s-c", "C")
GONE, OPEN = Heading(2, "s-gone", "Gone"), Heading(3, "s-open", "Open")


@pytest.mark.parametrize("headings", [(B, C), (GONE, B, C), (B, GONE, C), (B, C, GONE)])
def test_each_word_of_a_page_is_in_one_section(headings: tuple[Heading, ...]) -> None:
    assert list(sections_in(HTML, headings, "p/", "P")) == [
        Section("p/", "", "P", "a"),
        Section("p/", "s-b", "B", "b"),
        Section("p/", "s-c", "C", "c"),
    ]


def test_a_heading_without_an_end_begins_no_section() -> None:
    sections = sections_in(f'{HTML}<h3 id="s-open">d', (B, C, OPEN), "p/", "P")
    assert [section.text for section in sections] == ["a", "b", "c d"]
