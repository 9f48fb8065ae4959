"""Markdown made from HTML."""

import pytest
from markdown_it import MarkdownIt

from orbit_registry.site.html_to_markdown import markdown_of

CASES = (
    (
        "<h2 id='s-two-words'>Two <em>words</em><a class='headerlink' href='#x'>¶</a></h2>",
        "## Two *words*",
    ),
    ("<h2 id='kept-to'>Following</h2>", '<a id="kept-to"></a>\n\n## Following'),
    ("<p>a <a href='b/'><code>c`d</code></a>\n e</p>", "a [``c`d``](b/) e"),
    ("<ul><li>a<ul><li>b</li></ul></li><li><p>c</p><p>d</p></li></ul>", "- a\n  - b\n- c\n\n  d"),
    ("<ol start='3'><li>a</li><li>b</li></ol>", "3. a\n4. b"),
    ("<ul><li><input type='checkbox' checked disabled> a</li></ul>", "- [x] a"),
    ("<ul><li><span class='task-list-indicator orbit-done'></span>a</li></ul>", "- [x] a"),
    (
        "<table><tr><th>a</th><th>b|c</th></tr><tr><td><p>d</p><p>e</p></td></tr></table>",
        "| a | b\\|c |\n| --- | --- |\n| d<br>e |",
    ),
    ("<blockquote><p>a</p><p>b</p></blockquote>", "> a\n>\n> b"),
    (
        "<div class='admonition note'><p class='admonition-title'>Note</p><p>a</p></div>",
        "> [!NOTE]\n> a",
    ),
    (
        "<div class='admonition tip'><p class='admonition-title'>Mind</p><p>a</p></div>",
        "> **Mind**\n>\n> a",
    ),
    ("<dl><dt>a</dt><dd>b</dd><dd>c</dd></dl>", "- **a**: b; c"),
    ("<pre><code class='language-py'><span>a</span>\n```</code></pre>", "````py\na\n```\n````"),
    ("<pre class='mermaid'>graph</pre>", "```mermaid\ngraph\n```"),
    ("<details><summary>a</summary><p>b</p></details>", "**a**\n\nb"),
    ("<details><summary>a <b>b</b></summary></details>", "a **b**"),
    (
        "<p>a<sup class='footnote-ref'><a href='#fn1'>[1]</a></sup></p>"
        "<section class='footnotes'><ol><li id='fn1'>b <a class='footnote-backref' "
        "href='#'>x</a></li></ol></section>",
        "a[^1]\n\n[^1]: b",
    ),
    ("<p>1. *a* &lt;b&gt; [c] snake_case</p>", "1\\. \\*a\\* \\<b> \\[c\\] snake_case"),
    ("<p>a<br># b</p>", "a\\\n\\# b"),
    ("<p>a</p><script>b</script><svg><text>c</text></svg><form>d</form><nav>e</nav>", "a"),
    ("<p><a href='javascript:alert(1)'>a</a> <img src='data:x' alt='b'></p>", "a"),
)


@pytest.mark.parametrize(("html", "markdown"), CASES)
def test_an_element_becomes_its_markdown(html: str, markdown: str) -> None:
    assert "\n\n".join(markdown_of(html)) == markdown


def test_links_are_written_as_asked() -> None:
    assert markdown_of("<p><a href='a/'>b</a> <img src='c.png' alt='d'></p>", str.upper) == [
        "[b](A/) ![d](C.PNG)"
    ]


def test_elements_hundreds_deep_leave_their_text() -> None:
    assert markdown_of("<div>" * 3000 + "a *b*") == ["a \\*b\\*"]


@pytest.mark.parametrize(
    "text", ["# a", "- a", "1) a", "a\n===", "<b>a</b>", "&amp;", "`a`", "__a__", "~~a~~", "[a](b)"]
)
def test_text_stays_text(text: str) -> None:
    html = MarkdownIt("gfm-like", {"linkify": False}).render(
        "\n".join(markdown_of(f"<p>{text.replace('&', '&amp;').replace('<', '&lt;')}</p>"))
    )
    assert "<" not in html.removeprefix("<p>").removesuffix("</p>\n")
