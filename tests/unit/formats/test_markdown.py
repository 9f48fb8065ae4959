"""Markdown: its structure with positions in the original text,
and the HTML that GitHub would make of it.
"""

import re
from html import escape

import pytest

from orbit_registry.formats.markdown import parse_markdown
from orbit_registry.formats.markdown_html import render_html

NEWLINES = pytest.mark.parametrize("newline", ["\n", "\r\n"], ids=["lf", "crlf"])


def test_headings_have_text_title_id_and_section() -> None:
    text = "# One *big* `thing` {#one-x}\n\na\n\n## Two ##\n\nb\n\nThree\n=====\nc"
    first, second, third = parse_markdown(text).headings

    assert (first.level, first.text, first.id, first.title.of(text)) == (
        1,
        "One big thing",
        "one-x",
        "One *big* `thing`",
    )
    assert (second.level, second.text, second.id, second.position.line) == (2, "Two", None, 5)
    assert second.section.of(text) == "## Two ##\n\nb\n\n"
    assert first.section.of(text) == text[: text.index("Three")]
    assert (third.text, third.body.of(text)) == ("Three", "c")


@pytest.mark.parametrize(
    ("heading", "text", "anchor"),
    [
        ("# One { #x .big }", "One", "x"),
        ("## One {: #x-1 .big key='a b' } ##", "One", "x-1"),
        ("One {: .big }\n===", "One", None),
        ("# One {#x:y.z}", "One", "x:y.z"),
        (r"# One \{#x}", "One {#x}", None),
        ("# One {x}", "One {x}", None),
        ("# One {a=b}", "One {a=b}", None),
        ("# One {{ #x }}", "One {{ #x }}", None),
        ("# One {#x y}", "One {#x y}", None),
        ("# `One {#x}`", "One {#x}", None),
    ],
)
def test_attributes_of_a_heading_are_none_of_its_words(
    heading: str, text: str, anchor: str | None
) -> None:
    (parsed,) = parse_markdown(f"{heading}\n\na\n").headings

    assert (parsed.text, parsed.id) == (text, anchor)


@NEWLINES
@pytest.mark.parametrize("bom", ["", "\ufeff"])
def test_offsets_count_characters_of_the_text_as_given(newline: str, bom: str) -> None:
    text = bom + "# A\t b\n\n>\t[q](q.md)\n\n-\tx [l](l.md)".replace("\n", newline)
    document = parse_markdown(text)

    assert document.headings[0].title.of(text) == "A\t b"
    assert [link.span.of(text) for link in document.links] == ["[q](q.md)", "[l](l.md)"]
    assert [(link.position.line, link.position.column) for link in document.links] == [
        (3, 3),
        (5, 5),
    ]


def test_code_and_html_have_no_structure() -> None:
    text = (
        "````\n```\n# no\n```\n````\n\n    # no\n\n<!--\n# no\n[n](n.md)\n-->\n\n"
        "`[n](n.md)`\n\n~~~\n# no"
    )
    document = parse_markdown(text)

    assert document.headings == ()
    assert document.links == ()
    assert [span.of(text)[:4] for span in document.code] == ["````", "    ", "~~~\n"]
    assert [span.of(text)[:4] for span in document.html] == ["<!--"]


@pytest.mark.parametrize(
    ("text", "kind", "label", "target", "source"),
    [
        ('see [a b](x\\(1.md "t") there', "inline", "a b", "x(1.md", "x\\(1.md"),
        ("[a](<x y.md>)", "inline", "a", "x%20y.md", "x y.md"),
        ("[a](x(1).md)", "inline", "a", "x(1).md", "x(1).md"),
        ("[a](\nx.md\n)", "inline", "a", "x.md", "x.md"),
        ("[*a* `b`][R]\n\n[r]:  x.md 'T'", "reference", "a b", "x.md", "x.md"),
        ("[r][]\n\n[r]: <x.md>", "reference", "r", "x.md", "x.md"),
        ("[r]\n\n[r]: x.md", "reference", "r", "x.md", "x.md"),
        (
            "<https://example.org/a>",
            "autolink",
            "https://example.org/a",
            "https://example.org/a",
            "https://example.org/a",
        ),
        ("![alt](p.png)", "image", "alt", "p.png", "p.png"),
    ],
)
def test_links_know_where_their_target_is_written(
    text: str, kind: str, label: str, target: str, source: str
) -> None:
    """So that a rewrite of the target changes those characters alone."""
    (link,) = parse_markdown(text).links

    assert (link.kind, link.text, link.target) == (kind, label, target)
    assert link.target_span is not None
    assert link.target_span.of(text) == source


def test_an_image_inside_a_link_gives_both() -> None:
    text = "[![b](b.svg)](c.md)"

    assert [
        (link.kind, link.target, link.span.of(text)) for link in parse_markdown(text).links
    ] == [
        ("inline", "c.md", text),
        ("image", "b.svg", "![b](b.svg)"),
    ]


@NEWLINES
def test_tables_have_cells_with_places(newline: str) -> None:
    text = "x\n\n| A | B |\n|---|:--|\n| a \\| b | x \\| [l](l.md) |\n| c |\n".replace(
        "\n", newline
    )
    document = parse_markdown(text)
    (table,) = document.tables

    assert [[cell.text for cell in row] for row in table.rows] == [
        ["A", "B"],
        ["a | b", "x | l"],
        ["c", ""],
    ]
    sources = [[cell.span.of(text) if cell.span else None for cell in row] for row in table.rows]
    assert sources == [["A", "B"], ["a \\| b", "x \\| [l](l.md)"], ["c", None]]
    assert document.links[0].span.of(text) == "[l](l.md)"


@pytest.mark.parametrize(
    ("text", "inner"),
    [
        ("---\na: 1\n---\n# T\n", "a: 1\n"),
        ("\ufeff---\r\na: 1\r\n---\r\n# T\r\n", "a: 1\r\n"),
        ("---\n# only a comment\n---\n# T\n", "# only a comment\n"),
        ("---\n---\n# T\n", ""),
        ("a: 1\nb: 2\n---\n\n# T\n", "a: 1\nb: 2\n"),
        ("---\na: 1\n# T\n", None),
        ("---\nJust a line between rules\n---\n# T\n", None),
        ("---\nNote:this is a paragraph\n---\n# T\n", None),
        ("---\n12:30 meeting\n---\n# T\n", None),
        ("---\ntag:the web\n---\n# T\n", "tag:the web\n"),
        ("a: one line\n---\n\n# T\n", None),
        ("\n---\na: 1\n---\n# T\n", None),
    ],
)
def test_front_matter_is_found_only_where_it_is_one(text: str, inner: str | None) -> None:
    document = parse_markdown(text)

    assert (document.front_matter.of(text) if document.front_matter else None) == inner
    assert document.headings[-1].text == "T"
    assert document.headings[-1].position.line == text.count("\n", 0, text.index("# T")) + 1


@pytest.mark.parametrize(
    ("heading", "anchor"),
    [
        ("ADR-0108 — Keep one log", "adr-0108--keep-one-log"),
        ("ADR-0108: Use C++ (not C#)", "adr-0108-use-c-not-c"),
        ("ADR-0108 — `orbit check` is *the* gate", "adr-0108--orbit-check-is-the-gate"),
        ("ADR-0108 — Über_Größe & Co.", "adr-0108--über_größe--co"),
        ("ADR-0108 — Keep it {#the-log}", "the-log"),
    ],
)
def test_an_anchor_is_the_heading_in_lower_case_without_signs(heading: str, anchor: str) -> None:
    text = f"# Decisions\n\n## {heading}\n\nText.\n"
    assert parse_markdown(text).anchors.get(text.index("##")) == anchor


def test_headings_with_the_same_words_are_numbered() -> None:
    text = "# D\n\n## Same\n\nA.\n\n## Same\n\nB.\n"
    assert parse_markdown(text).anchors.get(text.index("## Same")) == "same"
    assert parse_markdown(text).anchors.get(text.rindex("## Same")) == "same-1"
    assert parse_markdown(text).anchors.get(1) is None


def html_of(text: str) -> str:
    return render_html(text, lambda code, language: f"<pre>{language}: {escape(code)}</pre>")[
        0
    ].strip()


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
        (
            "<div>\n<script>x</script> a < b\n</div>",
            "<div>\n&lt;script&gt;x&lt;/script&gt; a &lt; b\n</div>",
        ),
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


@pytest.mark.parametrize(
    ("text", "has_raw"), [("a <x> `<b>`", True), ("a < b `<b>`", False), ("<i>a</i>", True)]
)
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
