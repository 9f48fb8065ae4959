"""Sites of real collections: nothing of the text is lost, every link leads somewhere,
no record is far away.
"""

import re
import shutil
from collections import Counter
from dataclasses import dataclass, field
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag, urljoin

from tests.acceptance.conftest import real_repository

from orbit_registry.exchange.importers.importer import import_from
from orbit_registry.model.kind import load_kinds
from orbit_registry.operations.init import setup_workspace
from orbit_registry.registry import Registry
from orbit_registry.site.build import build_site
from orbit_registry.site.npm import MISSING
from orbit_registry.site.words import without_restated

DEAD_ANCHOR = "SITE395"
OURS = {"SITE393", "SITE394", "SITE396", "SITE397"}
"""What would be our own fault: findings of the generator,
and links on finished pages that lead nowhere.
"""
HOME = "http://site.example/"
_NOT_SHOWN = re.compile(
    r"\A---\n.*?\n---\n"  # front matter
    # the language of a block, where a reference leads
    r"|^\s*[>-]?\s*(?:`{3,}|~{3,}).*?$|^\[[^\]\n]+\]:.*?$"
    r"|\](?:\([^)]*\)|\[[^\]\n]*\])|<!--.*?-->|<[^>\n]*>|https?://\S+",
    re.DOTALL | re.MULTILINE,
)
_WORD = re.compile(r"[^\W_]{4,}")


@dataclass
class Page(HTMLParser):
    """What a reader of one page has: the words, the places in it, and where its links lead."""

    url: str
    ids: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)
    text: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        self.ids.add(attributes.get("id") or "")
        leads = attributes.get("href") if tag in ("a", "link", "use") else attributes.get("src")
        if leads is not None and attributes.get("rel") != "canonical":
            self.links.append(urljoin(HOME + self.url, leads))

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def read(out: Path) -> dict[str, Page]:
    pages = {}
    for file in sorted(out.rglob("*.html")):
        url = file.relative_to(out).as_posix().removesuffix("index.html")
        pages[url] = Page(url)
        pages[url].feed(file.read_text("utf-8"))
    return pages


def dead(out: Path, pages: dict[str, Page]) -> list[tuple[str, str]]:
    """Return the links within a site that lead to no file, or to a place that their page lacks."""
    links = []
    for page in pages.values():
        if page.url == "404.html":  # answers at any depth, with addresses from the top of the host
            continue
        for link in page.links:
            address, anchor = urldefrag(link)
            if not address.startswith(HOME):
                continue
            url = unquote(address.removeprefix(HOME)).partition("?")[0]
            there = pages.get(url)
            if there is None and not (out / url).is_file():
                links.append((page.url, url))
            elif there is not None and anchor and unquote(anchor) not in there.ids:
                links.append((page.url, f"{url}#{anchor}"))
    return links


def near(pages: dict[str, Page], clicks: int) -> set[str]:
    reached, edge = {""}, {""}
    for _ in range(clicks):
        links = {
            unquote(urldefrag(link)[0].removeprefix(HOME))
            for url in edge
            for link in pages[url].links
        }
        edge = {url for url in links if url in pages} - reached
        reached |= edge
    return reached


def words(text: str) -> Counter[str]:
    """Return the words of four letters or more, and how often they stand in a text."""
    return Counter(_WORD.findall(text))


def shown(source: str) -> Counter[str]:
    return words(unescape(_NOT_SHOWN.sub(" ", source)))


def assert_complete(root: Path, out: Path) -> int:
    """Build the site and hold each page against the text that it is made of;
    return how many records there are.
    """
    registry = Registry.open(root)
    result = build_site(registry, out, snapshot=False)
    problems = [
        problem for problem in result.diagnostics if problem.code != MISSING
    ]  # no test fetches a package
    assert [
        problem for problem in problems if problem.code in OURS or problem.location.position is None
    ] == []
    pages = read(out)
    theirs = [
        problem for problem in result.diagnostics if problem.code == DEAD_ANCHOR
    ]  # a heading that the source reworded
    known_dead = {
        f"{problem.message.split('page ')[1].split(' ')[0]}{problem.message.split('`')[1]}"
        for problem in theirs
    }
    assert [
        link for link in dead(out, pages) if link[1].replace("#s-", "#") not in known_dead
    ] == []
    close = near(pages, 2)
    for record in registry.records:
        url = f"{record.kind.plural}/{record.id}/"
        assert url in close
        prose = without_restated(
            record.prose, record
        )  # the page has these facts in its status line
        assert shown(prose) - words(" ".join(pages[url].text)) == Counter(), record.id
    mirrored = {
        url: re.search(r"Mirrored from\s+(\S+)\.\s", " ".join(page.text))
        for url, page in pages.items()
    }
    for url, known_dead in mirrored.items():
        if known_dead:
            assert (
                shown((root / known_dead[1]).read_text("utf-8")) - words(" ".join(pages[url].text))
                == Counter()
            ), url
    return len(registry.records)


def test_a_real_registry_becomes_a_site(corpora: Path, tmp_path: Path) -> None:
    assert assert_complete(real_repository(corpora, tmp_path), tmp_path / "site") == 190


def test_an_adopted_collection_becomes_a_site(corpora: Path, tmp_path: Path) -> None:
    root = Path(shutil.copytree(corpora / "adr/thomvaill__log4brains", tmp_path / "repo"))
    setup_workspace(root, load_kinds())
    import_from(root, start=root)
    assert assert_complete(root, tmp_path / "site") > 10
