"""Nothing that runs, frames or loads survives the sanitiser, in text or attribute."""

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orbit_registry.site.check import facts_of
from orbit_registry.site.sanitize import clean, headline, inline_scripts

TAGS = {
    "script",
    "svg",
    "math",
    "iframe",
    "form",
    "input",
    "button",
    "style",
    "meta",
    "base",
    "object",
    "embed",
}
CODE = re.compile(r"javascript:|.*url\(", re.IGNORECASE)


class Acting(HTMLParser):
    """Reads markup as a browser would, and keeps what could act;
    what is only written in a value could not.
    """

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep an element that acts by itself, an event's handler, an address that is code."""
        self.found += [tag] if tag in TAGS else []
        self.found += [
            name
            for name, value in attrs
            if name.startswith("on") or CODE.match("".join((value or "").split()))
        ]


@pytest.mark.parametrize(
    "html",
    [
        "<script>x</script>",
        "<img src=x onerror=x>",
        "<svg onload=x></svg>",
        "<a href='javascript:x'>a</a>",
        "<a href='&#106;avascript:x'>a</a>",
        "<a href='java\tscript:x'>a</a>",
        "<iframe src='https://example.org'></iframe>",
        "<form action='https://example.org'><button>b</button></form>",
        "<input id='__search' autofocus onfocus=x>",
        "<style>*{}</style>",
        "<p style='background:url(https://example.org)'>a</p>",
        "<meta http-equiv='refresh' content='0;url=https://example.org'>",
        "<base href='https://example.org'>",
        "<math><mi xlink:href='javascript:x'>a</mi></math>",
        "<object data='x'></object><embed src='x'>",
    ],
)
def test_what_could_act_is_gone(html: str) -> None:
    assert Acting(html).found != []
    assert Acting(clean(html)).found == []


@given(
    st.lists(
        st.sampled_from(
            [
                "<script>",
                "</script>",
                "<a href=",
                "'javascript:x'",
                '"',
                ">",
                "<b onclick=x>",
                "</div>",
                "<!--",
                "-->",
                "&",
                "x",
            ]
        )
    )
)
def test_any_mix_of_tags_comes_out_without_scripts(parts: list[str]) -> None:
    cleaned = clean("".join(parts))
    assert inline_scripts(cleaned) == []
    assert facts_of(cleaned, "").foreign == ()
    assert Acting(cleaned).found == []


def test_ordinary_prose_is_kept() -> None:
    html = '<h2 id="s-a">A</h2><p>b <code>c</code> <a href="../x/">d</a></p>'
    html += '<table><tbody><tr><td style="text-align:right">1</td></tr></tbody></table>'
    assert clean(html) == html


@pytest.mark.parametrize(
    ("title", "html"),
    [
        ("Keep `a/**` and `b/**`", "Keep <code>a/**</code> and <code>b/**</code>"),
        ("Adopt it **later**, not now", "Adopt it <strong>later</strong>, not now"),
        ("Refuse (supersedes [0133](0133-lever.md))", "Refuse (supersedes 0133)"),
        ("[<b>](javascript:x)", "&lt;b&gt;"),
        ("Say *why*, in *.md and **/*.py files", "Say <em>why</em>, in *.md and **/*.py files"),
        ("2 ** 3 ** 4, a[0](x y)", "2 ** 3 ** 4, a[0](x y)"),
        (
            "Call handlers[event](payload) once, ![a](b)",
            "Call handlers[event](payload) once, ![a](b)",
        ),
    ],
)
def test_a_title_has_no_marks_of_markdown(title: str, html: str) -> None:
    assert headline(title) == html


@pytest.mark.parametrize(
    "address",
    [
        "data:text/html,<b>x</b>",
        "data:text/html;base64,PHNjcmlwdD4=",
        "DATA:image/svg+xml,<svg/>",
        "&#100;ata:text/html,x",
        "javascript:alert(1)",
        "vbscript:x",
        "blob:https://example.org/1",
        "file:///etc/passwd",
    ],
)
def test_a_link_leads_nowhere_by_another_scheme(address: str) -> None:
    html = clean(
        f'<a href="{address}">a</a><a href="https://example.org/">b</a><img src="{address}">'
    )
    assert html.count("href=") == 1
    assert 'href="https://example.org/"' in html
    assert "src=" not in html
