"""The finished pages are read like a browser would: dead links, missing anchors, other hosts."""

import pytest

from orbit_registry.model.diagnostic import Diagnostic, Location, Severity
from orbit_registry.site.check import (
    DEAD_ANCHOR,
    DEAD_TARGET,
    FOREIGN,
    PageFacts,
    check_pages,
    facts_of,
    located,
)

NOTHING = PageFacts(frozenset(), (), ())


def codes(html: str) -> list[str]:
    """Return the codes found on a page `a/b/` beside a page `a/c/` with one anchor."""
    pages = {"a/b/": facts_of(html, "a/b/"), "a/c/": facts_of('<h2 id="x">x</h2>', "a/c/")}
    files = {"a/b/index.html", "a/c/index.html", "files/p.png"}
    shell = PageFacts(frozenset({"__search"}), (), ())
    return [problems.code for problems in check_pages(pages, files, {}, shell)]


@pytest.mark.parametrize(
    "html",
    [
        '<a href="../c/">x</a>',
        '<a href="../c/#x">x</a>',
        "<a href='../c/?q=1#x'>x</a>",
        '<label for="__search"></label><a href="#__search">x</a>',
        '<img src="../../files/p.png">',
        '<a href="https://example.org/">x</a>',
        '<a href="mailto:a@example.org">x</a>',
        '<link rel="canonical" href="https://example.org/a/b/">',
        "<p>href=&quot;gone&quot;</p>",
    ],
)
def test_a_sound_page_has_no_finding(html: str) -> None:
    assert codes(html) == []


@pytest.mark.parametrize(
    ("html", "code"),
    [
        ('<a href="../d/">x</a>', DEAD_TARGET),
        ('<a href="/a/c/">x</a>', DEAD_TARGET),
        ('<a href="../../../a/">x</a>', DEAD_TARGET),
        ('<img src="../../files/q.png">', DEAD_TARGET),
        ('<a href="../c/#y">x</a>', DEAD_ANCHOR),
        ('<a href="#y">x</a>', DEAD_ANCHOR),
        ('<img src="https://example.org/p.png">', FOREIGN),
        ('<script src="//example.org/x.js"></script>', FOREIGN),
        ('<link rel="stylesheet" href="https://example.org/x.css">', FOREIGN),
        ('<link rel="preconnect" href="https://example.org">', FOREIGN),
        ('<iframe src="https://example.org"></iframe>', FOREIGN),
    ],
)
def test_what_leads_nowhere_or_elsewhere_is_found(html: str, code: str) -> None:
    assert codes(html) == [code]


def test_a_finding_names_the_source_document() -> None:
    pages = {"a/": facts_of('<a href="gone/">x</a>', "a/")}
    (problem,) = check_pages(pages, {"a/index.html"}, {"a/": Location("docs/a.md")}, NOTHING)
    assert problem.location.path == "docs/a.md"


@pytest.mark.parametrize(
    "link", ["[a](b.md#no)", '[a](b.md#No "T")', "[a][r]\n\n[r]: b.md#no", "[a](<b c.md#no>)"]
)
def test_a_missing_heading_is_found_where_it_is_written(link: str) -> None:
    problem = Diagnostic(
        DEAD_ANCHOR, Severity.WARNING, "a link leads to `#no`, which is not there", Location("a.md")
    )
    text = f"# A\n\n[a](b.md#no-more)\n{link}\n"
    at = located(problem, text).location.position
    assert at is not None
    assert text.splitlines()[at.line - 1][at.column - 1 :].lower().startswith("#no")
    assert at.line > 3
