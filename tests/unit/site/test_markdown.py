"""Markdown for agents: of a document's own text, and of our pages of lists."""

import pytest
from markdown_it import MarkdownIt

from orbit_registry.site.markdown import markdown_of, plain, with_addresses

TEXTS = (
    ("See [a b](x.md) and ![p](p.png).", "See [a b](X.MD) and ![p](P.PNG)."),
    ("See [gone](gone), ![gone](gone) and [here](#why).", "See gone, gone and [here](#WHY)."),
    ("[![p](p.png)](x.md)", "[![p](P.PNG)](X.MD)"),
    ("[a][1] and [b]\n\n[1]: x.md 'A title'\n[b]: <y.md>\n", "[a](X.MD) and [b](Y.MD)"),
    ("[a](<x y.md>)", "[a](X%20Y.MD)"),
    ("a[^1]\n\n[^1]: Why.", "a[^1]\n\n[^1]: Why."),
    ("---\ntitle: a\n---\n# A {#kept}\n\n<!-- hidden -->b", '<a id="kept"></a>\n\n# A\n\nb'),
    ("`<b>` <b>x</b> List<String> a < b", "`<b>` <b>x</b> List&lt;String> a < b"),
    ("```\n[a](x.md) <script>\n```\n\n<https://example.org/>", "```\n[a](x.md) <script>\n```\n\n<https://example.org/>"),
    ('<a href="x.md" onclick="alert(1)">a</a>', '<a href="X.MD">a</a>'),
    ("<details><summary>a</summary>\n\nb\n\n</details>", "<details><summary>a</summary>\n\nb\n\n</details>"),
)  # fmt: skip
HOSTILE = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "[a](javascript:alert(1))",
    "[a]\n\n[a]: javascript:alert(1)",
    "[a][b]\n\n[b]: data:text/html,x",
    "<javascript:alert(1)>",
    "`` [a](javascript:alert(1)) `",
    "\\`[a](javascript:alert(1))`",
    '<a href="javascript:alert(1)">a</a>',
    "[a](<javascript:alert(1)>)",
    "[^1](javascript:alert(1))",
)
PAGES = (
    ('<h2>Two <em>words</em><a class="headerlink" href="#x">¶</a></h2>', "## Two *words*"),
    ('<p>a <a href="b/"><code>c`d</code></a>\n e</p>', "a [`c'd`](B/) e"),
    ("<ul><li>a<ul><li>b</li></ul></li><li><p>c</p><p>d</p></li></ul>", "- a\n  - b\n- c\n  d"),
    ("<table><caption>n</caption><tr><th>a</th><th>b|c</th></tr><tr><td><p>d</p><p>e</p></td><td></td></tr></table>",
     "n\n\n| a | b\\|c |\n| --- | --- |\n| d e |  |"),
    ("<dl><dt>a</dt><dd>b</dd><dd>c</dd></dl>", "- a\n  - b\n  - c"),
    ("<p>a</p><p>b</p><h2>c</h2><ul><li>d</li></ul>", "a\n\nb\n\n## c\n\n- d"),
    ("<p>1. *a* &lt;b&gt; [c] snake_case</p>", "1\\. \\*a\\* \\<b> \\[c\\] snake_case"),
    ('<p>a</p><script>b</script><svg><text>c</text></svg><form>d</form><nav>e</nav><p class="orbit-crumbs">f</p>', "a"),
    ('<p><a href="javascript:alert(1)">a</a></p>', "[a]()"),
)  # fmt: skip


def address(target: str, is_image: bool) -> str | None:
    return None if target == "gone" else target if target.startswith(("javascript:", "data:")) else target.upper()


@pytest.mark.parametrize(("text", "markdown"), TEXTS)
def test_a_text_has_the_addresses_of_the_site(text: str, markdown: str) -> None:
    assert with_addresses(text, address) == markdown


@pytest.mark.parametrize("text", HOSTILE)
def test_no_reader_of_a_hostile_text_runs_anything(text: str) -> None:
    lenient = MarkdownIt("commonmark", {"html": True})
    lenient.validateLink = lambda url: True  # type: ignore[method-assign]
    html = lenient.render(with_addresses(text, address))
    assert "<script" not in html
    assert "onerror=" not in html.replace("&lt;img src=x onerror=alert(1)&gt;", "")
    assert 'href="javascript:' not in html
    assert 'href="data:' not in html


def test_many_marks_of_code_take_no_longer_than_their_length() -> None:
    text = "[a](b) " + " ".join("`" * (1 + number % 300) for number in range(20_000))
    assert with_addresses(text, address).startswith("[a](B)")


@pytest.mark.parametrize(("html", "markdown"), PAGES)
def test_a_page_of_lists_becomes_its_markdown(html: str, markdown: str) -> None:
    assert markdown_of(html, str.upper) == markdown


@pytest.mark.parametrize("text", ["# a", "- a", "1) a", "===", "<b>a</b>", "&amp;", "`a`", "__a__", "~~a~~", "[a](b)"])
def test_text_of_a_page_stays_text(text: str) -> None:
    written = markdown_of(f"<p>{text.replace('&', '&amp;').replace('<', '&lt;')}</p>", str)
    html = MarkdownIt("gfm-like", {"linkify": False}).render(written)
    assert "<" not in html.removeprefix("<p>").removesuffix("</p>\n")


@pytest.mark.parametrize(
    ("text", "line"),
    [("a\n[b](c) <d>", "a \\[b\\](c) \\<d>"), ("`List<a>`", "`List<a>`"), ("\\`[a](b)`", "\\`\\[a\\](b)`"),
     ("``[a](b)`", "``\\[a\\](b)`")],
)  # fmt: skip
def test_a_line_has_no_link_and_no_tag(text: str, line: str) -> None:
    assert plain(text) == line
