"""The frame of pages: where it is cut, and what is put there."""

import pytest

from orbit_registry.site.frame import FrameError, Frames, frame_of, marked
from orbit_registry.site.page import SitePage
from orbit_registry.site.sanitize import policy_of

EMPTY = """<html>
  <head><meta charset="utf-8"><title>@@orbit:title@@</title>
    <link rel="canonical" href="https://example.org/orbit-shell/1/">
    @@orbit:head@@</head>
  <body>
    @@orbit:note@@
    @@orbit:content@@<h1>of the theme</h1>@@orbit:end@@
    <a href="@@orbit:lists@@">up</a>
  </body>
</html>
"""
ADDRESS = "https://example.org/orbit-shell/1/"
PAGE = SitePage("adrs/ADR-0001/", "Use <b> & files", "<h1>@@orbit:title@@</h1>", listed=("adrs/",))


def put(html: str, page: SitePage = PAGE) -> str:
    frame = frame_of(html, policy_of([html]), ADDRESS)
    return Frames({}, {2: frame}, "https://example.org/").put(page)


def test_a_page_is_put_between_the_marks() -> None:
    html = put(EMPTY)
    assert "<title>Use &lt;b&gt; &amp; files</title>" in html
    assert '<link rel="canonical" href="https://example.org/adrs/ADR-0001/">' in html
    assert 'href="https://example.org/adrs/ADR-0001/index.md"' in html
    assert '<a href="../">up</a>' in html
    assert "Content-Security-Policy" in html


def test_what_a_page_says_is_no_mark() -> None:
    assert "<h1>@@orbit:title@@</h1>" in put(EMPTY)


def test_what_the_theme_shows_of_an_empty_page_is_left_out() -> None:
    assert "of the theme" not in put(EMPTY)


def test_indentation_goes_but_not_where_spaces_count() -> None:
    assert "\n    <a" not in put(EMPTY)
    verbatim = EMPTY.replace("<a href", "<pre>\n    a</pre>\n    <a href")
    assert "\n    a</pre>" in put(verbatim)


def test_a_theme_without_a_place_for_content_is_an_error() -> None:
    with pytest.raises(FrameError, match="no place for records"):
        put(EMPTY.replace("@@orbit:content@@", ""))


@pytest.mark.parametrize(
    "html",
    [
        "<head></head><body class=x>Text</body>",
        "<head>@@orbit:head@@</head><body class=x>@@orbit:note@@Text</body>",
    ],
)
def test_a_template_that_prints_no_marks_has_them_in_head_and_body(html: str) -> None:
    expected = "<head>@@orbit:head@@</head><body class=x>@@orbit:note@@Text</body>"
    assert marked(html) == expected
