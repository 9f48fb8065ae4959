"""Markdown of a text as agents read it: the author's lines, with links that lead to the site."""

import re
import time

import pytest
from markdown_it import MarkdownIt

from orbit_registry.site.markdown_words import code, escaped, inline, link
from orbit_registry.site.prose import TextOrigin, parsed, part_of, render
from orbit_registry.site.prose_markdown import markdown_of
from orbit_registry.site.sitemap import SiteMap

HERE = TextOrigin("docs/design/core/1_overview.md", 1, "design/core/1_overview/")
OTHER = "../../../adrs/ADR-0002/"
LOG = "../4_decisions/"


def written(text: str, site: SiteMap, top: int | None = None) -> str:
    part = part_of(text)
    return markdown_of(part, render(part, HERE, site, top=top), str)


CASES = (
    # links
    ("[a](https://example.org/x)", "[a](https://example.org/x)"),
    ('[a](https://example.org/x "hidden")', "[a](https://example.org/x)"),
    ("[a][b]\n\n[b]: https://example.org/x 'hidden'", "[a](https://example.org/x)"),
    ("[b]\n\n[b]: https://example.org/x\n[b]: https://example.org/y", "[b](https://example.org/x)"),
    ("[a](gone.md) b", "a b"),
    ("![a](gone.png) b", "a b"),
    ("![](gone.png)", "gone.png"),
    ("![a](https://example.org/p.png)", "[a](https://example.org/p.png)"),
    ('<a href="https://example.org/x" onclick="x">a</a>', '<a href="https://example.org/x">a</a>'),
    ('<img src="https://example.org/p.png" alt="a">', "[a](https://example.org/p.png)"),
    ("<https://example.org/x>", "<https://example.org/x>"),
    ("ADR-0002 and `ADR-0002`", f"[ADR-0002]({OTHER}) and [`ADR-0002`]({OTHER})"),
    ("see `x ADR-0002`", "see `x ADR-0002`"),
    ("https://example.org/ADR-0002", "https://example.org/ADR-0002"),
    ("https://github.com/a/b/issues/7.", "[a/b#7](https://github.com/a/b/issues/7)."),
    (
        "https://github.com/a/b/commit/0123456789abcdef0123456789abcdef01234567",
        "[a/b@0123456](https://github.com/a/b/commit/0123456789abcdef0123456789abcdef01234567)",
    ),
    (
        "https://github.com/a/b/pull/7#issuecomment-9",
        "[a/b#7](https://github.com/a/b/pull/7#issuecomment-9)",
    ),
    # what a page does not show
    ("---\ntitle: t\n---\na", "a"),
    ("a <!-- hidden --> b", "a  b"),
    ("<!-- hidden -->\n\na", "a"),
    ("a\n\n[//]: # (hidden)", "a"),
    ("a\n\n[^x]: hidden", "a"),
    ("import X from 'x'\n\na", "a"),
    ("<Badge status={s} />\n\na", "a"),
    ("[[4_decisions]] and ![[4_decisions|a *b*]]", f"[4_decisions]({LOG}) and [a \\*b\\*]({LOG})"),
    ("> [!info]- Title\n> a", "> **Title**  \n> a"),
    ("{% hint style='info' %}\na\n{% endhint %}", "> **Info**\n>\n> a"),
    # what must stay text
    ("<script>a</script>", "&lt;script&gt;a&lt;/script&gt;"),
    ("a <b>b</b> List<String>", "a <b>b</b> List&lt;String>"),
    ("[a](javascript:b)", "[a\\](javascript:b)"),
    ("[a\\\\](javascript:b)", "[a\\\\\\](javascript:b)"),
    ('<a href="javascript:b">a</a>', "<a>a</a>"),
    ("<javascript:b>", "\\<javascript:b>"),
    ("a\x07b", "ab"),
    ('```py"><img src=x>\na\n```', "```py\na\n```"),
    ('```python title="x"\na\n```', "```python\na\n```"),
    # what stays as it was written
    ("[[gone]], [[gone#a|words]], [[1, 2]]", "[[gone]], [[gone#a|words]], [[1, 2]]"),
    ("[[1]](https://example.org/x)", "[[1]](https://example.org/x)"),
    ("```python\na\n```", "```python\na\n```"),
    ("~~~ c++ \na\n~~~", "~~~ c++\na\n~~~"),
    ("- a\n  - b\n\n1. c", "- a\n  - b\n\n1. c"),
    ("| a | b |\n|---|---|\n| `c` | [d](gone.md) |", "| a | b |\n|---|---|\n| `c` | d |"),
    ("> [!NOTE]\n> a", "> [!NOTE]\n> a"),
    ("- [x] a", "- [x] a"),
    ("```\n<!-- a --> [b](gone.md) :tada:\n```", "```\n<!-- a --> [b](gone.md) :tada:\n```"),
    ("$a_b$ \\* c", "$a_b$ \\* c"),
    # headings and footnotes
    ("## A {#b}", '<a id="b"></a>\n\n## A'),
    ("A\n===", "# A"),
    ("a[^why]\n\n[^why]: b", "a[^1]\n\n[^1]: b"),
    (":tada:", "\U0001f389"),
    # notes of other dialects
    ("!!! note\n    a\n\n    b", "> [!NOTE]\n> a\n>\n> b"),
    ('??? danger "C"\n    a', "> **C**\n>\n> a"),
    ("::: tip\na\n:::", "> [!TIP]\n> a"),
    ("- a\n\n  ::: note T\n  b\n  :::", "- a\n\n  > **T**\n  >\n  > b"),
    ('=== "Tab"\n    a', "> **Tab**\n>\n> a"),
    ("!!! note\n    !!! tip\n        a", "> [!NOTE]\n> > [!TIP]\n> > a"),
)


@pytest.mark.parametrize(("text", "markdown"), CASES)
def test_a_text_is_written_as_its_author_wrote_it(text: str, markdown: str, site: SiteMap) -> None:
    assert written(text, site) == markdown


def test_headings_have_the_level_that_they_have_on_the_page(site: SiteMap) -> None:
    assert written("# A\n\nB\n\n## C\n", site, top=2) == "## A\n\nB\n\n### C"


def test_a_heading_that_repeats_has_the_anchor_of_its_page(site: SiteMap) -> None:
    assert '<a id="a-1"></a>\n\n## A' in written("## A\n\n## A\n", site)


@pytest.mark.parametrize(
    "text", ["# a", "- a", "1) a", "=", "<b>a</b>", "&amp;", "`a`", "__a__", "~~a~~", "[a](b)"]
)
def test_words_of_a_record_mean_themselves(text: str) -> None:
    html = MarkdownIt("gfm-like", {"linkify": False}).render(escaped(text))
    assert "<" not in html.removeprefix("<p>").removesuffix("</p>\n")


@pytest.mark.parametrize(
    ("words", "address", "markdown"),
    [
        ("a", "b/?c=d", "[a](b/?c=d)"),
        ("a", "https://example.org/(b) c", "[a](https://example.org/%28b%29%20c)"),
        ("a", "", "a"),
        ("a", "JavaScript:b", "a"),
        ("a", "data:text/html,b", "a"),
    ],
)
def test_a_link_leads_where_a_page_may_lead(words: str, address: str, markdown: str) -> None:
    assert link(words, address) == markdown


@pytest.mark.parametrize(
    ("text", "markdown"),
    [
        ("Keep `a_b` in **memory**, as [before](1.md)", "Keep `a_b` in **memory**, as before"),
        ("a *b* [c]", "a b \\[c\\]"),
    ],
)
def test_a_title_has_its_code_and_strong_words(text: str, markdown: str) -> None:
    assert inline(text) == markdown


def test_code_with_backticks_has_longer_ones_around_it() -> None:
    assert code("a`b") == "``a`b``"


@pytest.mark.parametrize(
    "last",
    [
        "- one\n- two",
        "1. one\n\n   more\n\n2. two",
        "> - quoted `code`",
        "| a | b |\n|---|---|\n| `c` | [d](https://example.org/d) |",
        "```yaml\nkey: value\n```",
        "    indented",
        "!!! note\n    Text",
        "Words",
    ],
)
def test_an_entry_of_a_log_is_not_parsed_again(last: str, site: SiteMap) -> None:
    above = "# Log\n\n## ADR-0001\n\nSee [a](https://example.org/a) and `code`.\n\n"
    entry = f"### Context\n\nSee [b](https://example.org/b), `code`, ADR-0002.\n\n{last}"
    document = f"{above}{entry}\n\n## ADR-0003\n\n### Context\n\n- [c](https://example.org/c)\n"
    part, alone = part_of(entry, document, above.count("\n")), part_of(entry)
    assert part.read is parsed(document)

    prose = render(part, HERE, site)
    assert prose == render(alone, HERE, site)
    assert markdown_of(part, prose, str) == markdown_of(alone, prose, str)


def log_of(count: int) -> tuple[str, list[tuple[str, int]]]:
    """Return a log whose entries have a footnote and a link each, and each entry with its line."""
    log = "# Log\n\n"
    entries = []
    for number in range(count):
        log += f"## ADR-{number:04d}\n\n"
        entry = f"Words {number},[^n{number}] and [more][m{number}].\n"
        entries.append((entry, log.count("\n")))
        log += f"{entry}\n"

    for number in range(count):
        log += f"[^n{number}]: Note {number}, see [source {number}].\n"
        log += f"\n[M{number}]: https://example.org/m{number}\n"
        log += f"[source {number}]: https://example.org/s{number}\n\n"

    return log, entries


def test_an_entry_of_a_log_has_the_notes_that_it_refers_to(site: SiteMap) -> None:
    log, entries = log_of(3)
    html = [render(part_of(entry, log, line), HERE, site).html for entry, line in entries]
    assert [re.findall("Note [0-9]|/[ms][0-9]", each) for each in html] == [
        [f"/m{number}", f"Note {number}", f"/s{number}"] for number in range(3)
    ]


@pytest.mark.timeout(60)
def test_the_time_for_a_log_grows_with_its_entries() -> None:
    """Each entry once had the notes of all others parsed with it: a thousand took 80 seconds."""
    log, entries = log_of(1_000)
    parsed(log)

    started = time.process_time()
    borrowed = [part_of(entry, log, line).borrowed for entry, line in entries]
    assert time.process_time() - started < 5
    assert max(borrowed) < 10
