"""What agents read of a site: the Markdown of each page says what the page says,
and its links lead somewhere.
"""

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit

import pytest
from markdown_it import MarkdownIt
from tests.acceptance.conftest import ADDRESS, DemoSite

from orbit_registry.formats.markdown import slug

DROPPED = {"script", "style", "svg", "nav", "form", "button", "noscript"}
DROPPED_CLASSES = {
    "headerlink",
    "orbit-actions",
    "orbit-cards",
    "orbit-crumbs",
    "orbit-edit",
    "md-content__button",
}
VOID = {"br", "hr", "img", "input", "meta", "link", "wbr"}
TITLE = re.compile(r"> The Markdown of [^\n]*\n")


class Text(HTMLParser):
    """Letters and digits of some HTML, without navigation and forms."""

    def __init__(self) -> None:
        super().__init__()
        self.text, self.headings, self.anchors, self.links = (
            "",
            list[str](),
            set[str](),
            list[str](),
        )
        self._open: list[tuple[str, bool]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        if tag not in VOID:
            classes = set((attributes.get("class") or "").split())
            self._open.append((tag, tag in DROPPED or bool(classes & DROPPED_CLASSES)))
        if re.fullmatch("h[1-6]", tag):
            self.headings.append("")
        self.anchors |= {attributes.get("id") or ""} if tag == "a" else set()
        if tag == "a" and attributes.get("href"):
            self.links.append(attributes["href"] or "")

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop()[0] != tag:
            pass

    def handle_data(self, data: str) -> None:
        if not any(is_dropped for _, is_dropped in self._open):
            self.text += "".join(filter(str.isalnum, data)).casefold()
            if any(re.fullmatch("h[1-6]", tag) for tag, _ in self._open):
                self.headings[-1] += data


def read(html: str) -> Text:
    parser = Text()
    parser.feed(html)
    return parser


def rendered(markdown: str) -> Text:
    return read(MarkdownIt("gfm-like", {"linkify": False}).render(markdown))


def twins(site: Path) -> Iterator[tuple[Path, str]]:
    """Yield each page with its Markdown."""
    for page in sorted(site.rglob("*.html")):
        twin = page.with_suffix(".md")
        html = page.read_text("utf-8")
        if (
            'http-equiv="refresh"' not in html
            and page.name != "404.html"
            and "legacy" not in page.parts
        ):
            yield page, twin.read_text("utf-8")


@pytest.fixture(params=[False, True], ids=["without an address", "with an address"])
def site(request: pytest.FixtureRequest, demo_site: DemoSite) -> Path:
    return demo_site(every_kind=True, has_address=request.param)


def main_of(page: Path) -> str:
    html = page.read_text("utf-8")
    return html[html.index('<article class="md-content__inner') : html.rindex("</article>")]


def is_text(main: str) -> bool:
    """Say whether a page shows a record or a document, and no list of others."""
    return 'class="orbit-record"' in main or 'class="orbit-document"' in main


def test_the_markdown_of_a_text_says_what_its_page_says(site: Path) -> None:
    for page, markdown in twins(site):
        main = main_of(page)
        if is_text(main):
            assert rendered(TITLE.sub("", markdown, count=1)).text == read(main).text, page


def test_the_markdown_of_a_list_names_what_the_list_names(site: Path) -> None:
    def listed(file: Path, links: list[str]) -> set[Path]:
        leads = {led(site, file, link) for link in links}
        return {lead.with_suffix(".md") for lead in leads if lead and is_record(site, lead)}

    lists = [(page, markdown) for page, markdown in twins(site) if not is_text(main_of(page))]
    assert len(lists) > 10
    for page, markdown in lists:
        twin = page.with_suffix(".md")
        assert listed(page, read(main_of(page)).links) <= listed(twin, rendered(markdown).links)


def is_record(site: Path, file: Path) -> bool:
    return re.fullmatch(r"[A-Z]{1,5}-\w+", file.relative_to(site).parent.name) is not None


def test_each_page_names_its_markdown_and_the_list_of_pages(site: Path) -> None:
    for page, markdown in twins(site):
        html = page.read_text("utf-8")
        link = re.search(r'<link rel="alternate " type="text/markdown" href="([^"]+)">', html)
        assert link, page
        assert led(site, page, link[1]) == page.with_suffix(".md")
        note = re.search(
            r'<body[^>]*>(?:\s|<[^>]*>)*<p class="orbit-agents"[^>]*>[^<]* is at (\S+)\. '
            r"[^<]* listed in (\S+)\.</p>",
            html,
        )
        assert note, page
        assert [led(site, page, address) for address in note.groups()] == [
            page.with_suffix(".md"),
            site / "llms.txt",
        ]
        assert markdown.startswith("> The Markdown of ")


def led(site: Path, file: Path, link: str) -> Path | None:
    """Return the file that a link leads to; None for one that leads elsewhere."""
    base = ADDRESS + file.relative_to(site).as_posix()
    address = urljoin(base, link)
    if not address.startswith(ADDRESS):
        return None
    path = unquote(urlsplit(address).path.removeprefix(urlsplit(ADDRESS).path))
    return site / (f"{path}index.html" if not path or path.endswith("/") else path)


def assert_whole(site: Path) -> None:
    files = [
        path for path in site.rglob("*") if path.suffix == ".md" or path.name.startswith("llms")
    ]
    texts = {
        file: rendered(file.read_text("utf-8")) for file in files if file.name != "llms-full.txt"
    }
    anchors = {
        file: {slug(title) for title in text.headings} | text.anchors
        for file, text in texts.items()
    }
    for file, text in texts.items():
        for link in text.links:
            target = file if link.startswith("#") else led(site, file, link)
            assert target is None or target.is_file(), (file, link)
            if target in anchors and "#" in link:
                assert unquote(link.partition("#")[2]) in anchors[target], (file, link)


def test_links_of_files_for_agents_lead_to_files_and_headings(site: Path) -> None:
    assert_whole(site)


def test_llms_txt_names_every_page_once(site: Path) -> None:
    links = rendered((site / "llms.txt").read_text("utf-8")).links
    linked = [led(site, site / "llms.txt", link) for link in links]
    pages = [page.with_suffix(".md") for page, _ in twins(site)]
    pages.remove(site / "search/index.md")  # which says nothing without a question
    assert sorted(filter(None, linked)) == sorted(pages)
