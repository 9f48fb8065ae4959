"""The structure of Markdown is what a second, independent parser of CommonMark sees in the same text."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from orbit_registry.text.html import render_html
from orbit_registry.text.markdown import parse_markdown

REFERENCE = MarkdownIt("commonmark", {"html": False}).enable("table")
BLOCKS = (
    "# Title *of* `it`\n",
    "## Again ##\n",
    "Under\nlined\n-----\n",
    "Some **text** with [a link](to/a.md#b 'title') and `code [no](link)`.\n",
    "![picture](a%20b.png) <https://example.org/ä> [by name][r], [r][] \\[no](x)\n",
    "- one\n- two [x](y.md)\n\n  # in a list\n",
    "> quoted\n> [q](<a b.md>)\n",
    "```py\n# code\n[no](link)\n```\t\n",
    "    # indented\n",
    "| a | b |\n|---|:-:|\n| [c](d.md) | `x \\| y` |\n| é |\n",
    "<div>\n# block\n</div>\n",
    "***\n",
    "é — “quoted” 漢字\n",
)


@given(st.lists(st.sampled_from(BLOCKS), max_size=8), st.sampled_from(["\n", "\r\n", "\r"]))
def test_both_see_the_same_structure(blocks: list[str], ending: str) -> None:
    """Headings, code, links and cells are those of the reference, and every span says what it should in the text."""
    text = "\n".join([*blocks, "[r]: https://example.org/r\n"]).replace("\n", ending)
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    inline = [child for token in tokens for child in token.children or ()]
    found = parse_markdown(text)

    assert [one.level for one in found.headings] == [
        int(one.tag[1]) for one in tokens if one.type == "heading_open" and one.level == 0
    ]
    assert len(found.code) == sum(one.type in ("fence", "code_block") for one in tokens)
    assert [one.target for one in found.links] == [
        str(one.attrGet("href") or one.attrGet("src")) for one in inline if one.type in ("link_open", "image")
    ]
    cells = [cell for table in found.tables for row in table.rows for cell in row]
    assert len(cells) == sum(one.type in ("th_open", "td_open") for one in tokens)
    assert all(cell.span is None or cell.span.of(text).strip() == cell.span.of(text) != "" for cell in cells)
    for link in found.links:
        written = link.target_span.of(text) if link.target_span else ""
        assert written.replace(" ", "%20").replace("ä", "%C3%A4") == link.target


@given(st.lists(st.sampled_from(BLOCKS), max_size=8))
def test_both_make_the_same_html(blocks: list[str]) -> None:
    """A page has what the reference makes of a text, raw HTML escaped, but for blanks between blocks."""
    text = "\n".join([*blocks, "[r]: https://example.org/r\n"])
    assert _bare(render_html(text)) == _bare(REFERENCE.render(text.replace("\t", "")))


def _bare(html: str) -> str:
    plain = (
        html.replace(" />", ">").replace("&quot;", '"').replace("&#x27;", "'").replace("text-align: ", "text-align:")
    )
    return "".join(plain.split()).replace("<tbody></tbody>", "")
