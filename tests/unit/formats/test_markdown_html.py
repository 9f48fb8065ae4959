"""Markdown becomes HTML as GitHub makes it; a tag that is no tag of ours stays a word of the text."""

import re
from html import escape

import pytest

from orbit_registry.formats.markdown_html import render_html


def html_of(text: str) -> str:
    return render_html(text, lambda code, language: f"<pre>{language}: {escape(code)}</pre>")[0].strip()


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("---\na: 1\n---\n# T", "<h1>T</h1>"),
        ("a <kbd onclick=x class=y>b</kbd>", "<p>a <kbd>b</kbd></p>"),
        ("<IMG SRC=x>", "<p>&lt;IMG SRC=x></p>"),
        ("<img src=x onerror=y alt='a \"b\"'>", '<img src="x" alt="a &quot;b&quot;">'),
        ("Set<a> and <b>", "<p>Set&lt;a&gt; and &lt;b&gt;</p>"),
        ("<your name> and </b>", "<p>&lt;your name&gt; and &lt;/b&gt;</p>"),
        ("<script>x</script>", "<p>&lt;script&gt;x&lt;/script&gt;</p>"),
        ("<div>\n<script>x</script> a < b\n</div>", "<div>\n&lt;script&gt;x&lt;/script&gt; a &lt; b\n</div>"),
        ("<placeholder>\n*x*", "<p>&lt;placeholder&gt;\n<em>x</em></p>"),
        ("a <!-- b --> c", "<p>a  c</p>"),
        ("<!-- never\n\nclosed", "<p>&lt;!-- never</p>\n<p>closed</p>"),
        ("<picture><source srcset=x><img src=y></picture>", '<p><img src="y"></p>'),
        ("~~~C++ {.x}\na\n~~~", "<pre>c++: a\n</pre>"),
        ("> ## A { #b .c }", '<blockquote>\n<h2 id="b">A</h2>\n</blockquote>'),
    ],
)
def test_a_text_has_its_html(text: str, html: str) -> None:
    assert html_of(text) == html


@pytest.mark.parametrize(("text", "has_raw"), [("a <x> `<b>`", True), ("a < b `<b>`", False), ("<i>a</i>", True)])
def test_raw_tags_are_announced(text: str, has_raw: bool) -> None:
    assert render_html(text, lambda code, language: code)[1] is has_raw


@pytest.mark.parametrize(
    ("row", "cells"),
    [
        ("| x | `a | b` c |", ["x", "<code>a | b</code> c"]),
        ("| x | 1 | 2 |", ["x", "1 | 2"]),
        ("x | `a|b` | `c|d`", ["x", "<code>a|b</code> | <code>c|d</code>"]),
        ("| `a \\| b` | 1 |", ["<code>a | b</code>", "1"]),
        ("| x |", ["x", ""]),
        (f"| x {'| `' * 100_000}|", None),
    ],
)
def test_no_cell_of_a_row_is_lost(row: str, cells: list[str] | None) -> None:
    rendered = re.findall(r"<td>(.*?)</td>", html_of(f"| a | b |\n|---|---|\n{row}\n"))
    assert rendered == cells if cells else len(rendered[1]) > 400_000
