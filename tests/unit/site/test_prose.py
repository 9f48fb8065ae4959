"""A text becomes a page's HTML: links, ids, headings and pictures resolved,
everything else inert.
"""

import re
import time
from dataclasses import replace
from html import unescape
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orbit_registry.formats.citations import IdForms
from orbit_registry.formats.hosting import Forge
from orbit_registry.formats.markdown import slug
from orbit_registry.site.prose import TextOrigin, render
from orbit_registry.site.sanitize import clean
from orbit_registry.site.sitemap import SiteMap

HERE = TextOrigin("docs/design/core/1_overview.md", 1, "design/core/1_overview/")


def shown(text: str, site: SiteMap) -> str:
    return clean(render(text, HERE, site).html).strip()


@pytest.mark.parametrize(
    ("text", "href"),
    [
        ("[x](4_decisions.md)", "../4_decisions/"),
        ("[x](4_decisions.md#Cost-and-more)", "../4_decisions/#s-cost-and-more"),
        ("[x](/docs/design/core/4_decisions.md)", "../4_decisions/"),
        ("[x](../../../src/a.py)", "https://github.com/acme/demo/blob/main/src/a.py"),
        ("[x](../../../src/)", "https://github.com/acme/demo/tree/main/src"),
        ("[x](https://example.org/a?b=1&c=2)", "https://example.org/a?b=1&amp;c=2"),
        ("[x][ref]\n\n[ref]: 4_decisions.md", "../4_decisions/"),
        ("ADR-0002 says so", "../../../adrs/ADR-0002/"),
        ("see ADR 2", "../../../adrs/ADR-0002/"),
        ("(L-7k3fq)", "../../../learnings/L-7k3fq/"),
        ("once ADR-001", "../../../adrs/ADR-0002/"),
        ("`ADR-0002`", "../../../adrs/ADR-0002/"),
        ("[x](4_decisions.md#adr-0002--a-title)", "../../../adrs/ADR-0002/"),
        ("[TASK-7] asks", "../../../tasks/#task-TASK-7"),
        ("`L20260517-4`", "../../../learnings/L-7k3fq/"),
        ("once core/ADR-001", "../../../adrs/ADR-0002/"),
    ],
)
def test_a_link_or_id_leads_to_its_page(text: str, href: str, site: SiteMap) -> None:
    assert f'href="{href}"' in shown(text, site)


@pytest.mark.parametrize(
    "text",
    [
        "`see ADR-0002`",
        "    ADR-0002",
        "```\nADR-0002\n```",
        "[ADR-0002](https://example.org)",
        "ADR-003",
        "ADR-9999",
        "L-shaped",
    ],
)
def test_ids_in_code_and_links_are_left_alone(text: str, site: SiteMap) -> None:
    assert "orbit-cite" not in shown(text, site)


def test_the_line_of_a_finding_counts_from_the_documents_start(site: SiteMap) -> None:
    prose = render("two [x](gone.md)\n", TextOrigin(HERE.path, 40, HERE.page), site)
    assert [
        problem.location.position.line for problem in prose.diagnostics if problem.location.position
    ] == [40]


def test_a_heading_has_an_id_of_its_own(site: SiteMap) -> None:
    """Ids carry a prefix, so that no heading takes the theme's ids,
    and repeated ones are counted.
    """
    prose = render("# __search\n\n## Same\n\n## Same\n\n[x](#same-1)\n", HERE, site)
    assert [heading.id for heading in prose.headings] == ["s-search", "s-same", "s-same-1"]
    assert 'href="#s-same-1"' in prose.html


def test_a_heading_is_found_by_the_anchor_it_states(site: SiteMap) -> None:
    text = (
        "# Top { #Peak .big }\n\n## A & *b* {: #why }\n\n## C {: .small }\n\n## `d {#e}`\n\n"
        "[x](#Peak) [y](#why)\n"
    )
    prose = render(text, HERE, site)

    assert [(heading.id, heading.text) for heading in prose.headings] == [
        ("s-peak", "Top"),
        ("s-why", "A & b"),
        ("s-c", "C"),
        ("s-d-e", "d {#e}"),
    ]
    assert '<h2 id="s-why">A &amp; <em>b</em><a class="headerlink"' in prose.html
    assert ('href="#s-peak"' in prose.html, 'href="#s-why"' in prose.html) == (True, True)
    assert prose.diagnostics == ()


def test_what_a_heading_in_a_quote_states_is_not_shown(site: SiteMap) -> None:
    quoted = "> ## Told { #told .big }\n\n- ### Listed {: #list title=x }\n\n- ### Kept \\{x}\n\n"
    text = quoted + "[x](#told)\n\n## Use \\{ #x \\}\n"
    prose = render(text, HERE, site)

    assert [(heading.id, heading.text) for heading in prose.headings] == [
        ("s-told", "Told"),
        ("s-list", "Listed"),
        ("s-kept-x", "Kept {x}"),
        ("s-use--x-", "Use { #x }"),
    ]
    assert ('href="#s-told"' in prose.html, prose.diagnostics) == (True, ())


@pytest.mark.parametrize(
    ("link", "href"),
    [
        ("#take-the-first--second", "."),
        ("#1-take-the-first--second", "."),
        ("#adr-0001--take-the-first--second", "."),
        ("0002-b.md#2-two", "../ADR-0002/"),
        ("0002-b.md#s", "../ADR-0002/#s-s"),
    ],
)
def test_an_anchor_of_a_decisions_title_leads_to_its_page(
    link: str, href: str, site: SiteMap
) -> None:
    url, other = "adrs/ADR-0001/", "adrs/ADR-0002/"
    documents = {"docs/adr/0001-a.md": url, "docs/adr/0002-b.md": other}
    titles = {
        ("docs/adr/0001-a.md", slug('Take the "first" & second')): url,
        ("docs/adr/0002-b.md", "two"): other,
    }
    there = replace(site, documents=documents, titles=titles)

    prose = render(f"[x]({link})\n", TextOrigin("docs/adr/0001-a.md", 3, url), there)

    assert (f'href="{href}"' in prose.html, prose.diagnostics) == (True, ())


def test_a_forges_anchor_leads_to_the_heading(site: SiteMap) -> None:
    prose = render(
        "## Why not\n\n[x](#user-content-why-not) "
        "[y](/docs/design/core/1_overview.md#user-content-context)\n",
        HERE,
        site,
    )
    plain = render(
        "## Why not\n\n[x](#why-not) [y](/docs/design/core/1_overview.md#context)\n", HERE, site
    )
    assert (prose.html, prose.diagnostics) == (plain.html, ())
    assert [
        problem.code for problem in render("[x](#user-content-nowhere)", HERE, site).diagnostics
    ] == ["SITE390"]


def test_a_browsers_anchor_leads_to_the_heading(site: SiteMap) -> None:
    prose = render("## Über uns\n\n[x](#%C3%BCber-uns)\n", HERE, site)
    assert ('href="#s-über-uns"' in prose.html, prose.diagnostics) == (True, ())


def test_an_anchor_that_the_page_lacks_is_reported(site: SiteMap) -> None:
    assert [problem.code for problem in render("[x](#nowhere)", HERE, site).diagnostics] == [
        "SITE390"
    ]


@pytest.mark.parametrize(
    ("text", "levels"),
    [
        ("### A\n\n#### B\n", [2, 3]),
        ("# A\n\n## B\n", [2, 3]),
        ("## A\n\n# B\n\n### C\n", [2, 2, 3]),
    ],
    ids=["lower", "titles", "a second title"],
)
def test_headings_are_moved_below_a_pages_title(
    text: str, levels: list[int], site: SiteMap
) -> None:
    prose = render(text, HERE, site, top=2)
    assert [heading.level for heading in prose.headings] == levels
    assert "<h2 " in prose.html
    assert "</h3>" in prose.html


FORMS = (
    *(
        "{}",
        "**{}**",
        "`{}`",
        "~~{}~~",
        "\\[{}\\]",
        "&lt;{}&gt;",
        "<bold {}>",
        "ADR-0002{}",
        "By (TASK-7, {})",
    ),
    *(
        "[{}](4_decisions.md)",
        "[{}](gone.md)",
        "[{}](ADR-0002 'ADR-0002')",
        "[{}][ref]\n\n[ref]: 4_decisions.md#adr-2",
    ),
    *(
        "![{}](../../p.png)",
        "![{}](gone.png)",
        "[![{}](https://example.org/p.png)](gone.md)",
        "ADR-0002 {}",
    ),
    *("# {}", "{}\n===", "> {}", "- {}", "1. ADR 2 {}", "`ADR-0002`{}", "```\n{}\n```", "    {}"),
    "| a | b |\n|---|---|\n| `x|y` and `z` | {} |",
    "| {} | ADR-0002 |\n|---|---|\n| ADR-0777 | {} |",
)


@given(st.lists(st.sampled_from(FORMS), min_size=1, max_size=12), st.sampled_from(("\n\n", "\n")))
def test_no_word_of_a_text_is_lost(forms: list[str], between: str) -> None:
    words = [f"word{number}x" for number in range(len(forms))]
    text = between.join(form.replace("{}", word) for form, word in zip(forms, words, strict=True))
    site = SiteMap(
        root=Path("/nowhere"),
        forge=Forge(None, "main"),
        forms=IdForms(("ADR-",), ("L-",)),
        records={"ADR-0002": "adrs/ADR-0002/"},
        legacy={},
        documents={"docs/design/core/4_decisions.md": "design/core/4_decisions/"},
        names={"TASK-7": "tasks/#task-TASK-7"},
        labels={"adrs/ADR-0002/": "Use <files> (accepted)"},
    )
    visible = re.findall(
        r"word\d+x", re.sub(r'<(?!img)[^<>]*>|aria-describedby="[^"]*"', "", shown(text, site))
    )
    assert list(dict.fromkeys(visible)) == words


GITHUB = "https://github.com"


COMMIT = "1a2b3c4" + "d" * 33


@pytest.fixture
def forge_site(site: SiteMap) -> SiteMap:
    """Return a map whose repository has one commit."""
    return replace(site, commit_of=lambda name: COMMIT if COMMIT.startswith(name) else None)


@pytest.mark.parametrize(
    ("text", "address", "words"),
    [
        ("See #12.", f"{GITHUB}/acme/demo/issues/12", "#12"),
        ("(#7)", f"{GITHUB}/acme/demo/issues/7", "#7"),
        ("GH-7", f"{GITHUB}/acme/demo/issues/7", "GH-7"),
        ("GH-123456", f"{GITHUB}/acme/demo/issues/123456", "GH-123456"),
        ("## After #12", f"{GITHUB}/acme/demo/issues/12", "#12"),
        ("| #12 | a |\n|---|---|", f"{GITHUB}/acme/demo/issues/12", "#12"),
        ("1a" * 20, f"{GITHUB}/acme/demo/commit/{'1a' * 20}", "1a" * 20),
        ("since 1a2b3c4.", f"{GITHUB}/acme/demo/commit/{COMMIT}", "1a2b3c4"),
        ("1a2b3c4ddd", f"{GITHUB}/acme/demo/commit/{COMMIT}", "1a2b3c4ddd"),
        (f"{GITHUB}/o/r/issues/147", f"{GITHUB}/o/r/issues/147", "o/r#147"),
        (f"<{GITHUB}/o/r/pull/147>", f"{GITHUB}/o/r/pull/147", "o/r#147"),
        (f"[words]({GITHUB}/o/r/pull/147)", f"{GITHUB}/o/r/pull/147", "words"),
        (
            "https://gitlab.com/g/h/r/-/merge_requests/9",
            "https://gitlab.com/g/h/r/-/merge_requests/9",
            "g/h/r#9",
        ),
        ("https://gitlab.com/g/r/-/issues/9", "https://gitlab.com/g/r/-/issues/9", "g/r#9"),
        ("https://codeberg.org/o/r/pulls/3", "https://codeberg.org/o/r/pulls/3", "o/r#3"),
    ],
)
def test_what_a_forge_links_leads_to_the_forge(
    text: str, address: str, words: str, forge_site: SiteMap
) -> None:
    link = f'<a href="{address}" rel="noopener noreferrer">{words}</a>'
    assert link in shown(text, forge_site)


@pytest.mark.parametrize(
    "text",
    [
        *("`#12`", "a#12", "#x", "#0", "# 12", "&#12;", "#123456", "#12-a", "## A {#12}"),
        *("`1a2b3c4`", "9f8e7d6", "1234567", "abcdefa", "1a2b3c4.txt", "v1a2b3c4", "a/1a2b3c4"),
        *("#1a2b3c4", "1a2b3c", "```\n#12 1a2b3c4\n```"),
    ],
)
def test_what_only_looks_like_it_is_text(text: str, forge_site: SiteMap) -> None:
    html = shown(text, forge_site)
    assert "<a href" not in html.replace('<a class="headerlink"', "")


def test_without_a_repository_numbers_are_text(site: SiteMap) -> None:
    assert "<a" not in shown("#12 GH-7 " + "1a" * 20, replace(site, forge=Forge(None, "main")))


@pytest.mark.parametrize(
    ("text", "href"),
    [
        ("[[4_decisions]]", "../4_decisions/"),
        ("[[core/4_Decisions.md|the log]]", "../4_decisions/"),
        ("<b>[[gone|x]]</b> [[4_decisions|the & log]]", "../4_decisions/"),
        ("[[ADR-0002]]", "../../../adrs/ADR-0002/"),
        ("[[ADR-2]] and [[TASK-7]]", "../../../adrs/ADR-0002/"),
        ("[[core/ADR-001|before]]", "../../../adrs/ADR-0002/"),
        ("[[ADR-001]]", "../../../adrs/ADR-0002/"),
        ("[[TASK-7]]", "../../../tasks/#task-TASK-7"),
        ("[[gone]]", None),
        ("Set [[tool.uv.index]] once", None),
        ("[[1, 2]], [[gone#Part|words]] & ![[p.png]]", None),
        ("[[1]](https://example.org)", "https://example.org"),
        ("See [[1]]\n\n[1]: https://example.org", "https://example.org"),
        ("\\[[4_decisions]]", None),
    ],
)
def test_a_link_by_a_files_name_leads_to_its_page(
    text: str, href: str | None, site: SiteMap
) -> None:
    prose = render(text, HERE, site)
    assert prose.diagnostics == ()
    found = re.search(r'href="([^"]*)"', prose.html)
    assert (found[1] if found else None) == href
    if not found:  # then it is what was written
        assert unescape(re.sub("<[^>]*>", "", prose.html)).strip() == text.removeprefix("\\")


def test_a_name_is_looked_up_in_no_more_time_where_documents_are_many(site: SiteMap) -> None:
    documents = {f"docs/notes/{number}/note-{number}.md": f"n/{number}/" for number in range(4_000)}
    site = replace(site, documents=documents)

    started = time.process_time()
    pages = [site.target(HERE.path, f"#wiki:[[note-{number}]]").url for number in range(4_000)]
    assert pages == list(documents.values())
    assert time.process_time() - started < 2
