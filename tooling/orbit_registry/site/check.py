"""Check of the finished pages: dead links, missing anchors, other hosts."""

import posixpath
import re
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, replace
from html import unescape
from itertools import chain
from urllib.parse import unquote, urlsplit

from orbit_registry.formats.position import position_at
from orbit_registry.model.diagnostic import Diagnostic, Location, Severity
from orbit_registry.site.destinations import HEADING_PREFIX

DEAD_TARGET = "SITE394"
DEAD_ANCHOR = "SITE395"
FOREIGN = "SITE396"
SCRIPT = "SITE397"
_TAG = re.compile(r"<([a-zA-Z][a-zA-Z0-9]*+)((?:[^<>\"']++|\"[^\"]*\"|'[^']*')++)>")
_TELLING = re.compile(
    r"(?:id|href|src|data)\s*=", re.IGNORECASE
)  # attributes that matter for links
_ATTRIBUTE = re.compile(r"([a-zA-Z][\w-]*)\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")
_LOADING = {
    "script": "src",
    "img": "src",
    "iframe": "src",
    "source": "src",
    "embed": "src",
    "object": "data",
}
_LOADING_RELS = {
    "stylesheet",
    "icon",
    "preload",
    "preconnect",
    "dns-prefetch",
    "modulepreload",
    "manifest",
}
_ELSEWHERE = re.compile(r"(?:https?:)?//", re.IGNORECASE)
_ANCHOR = re.compile(r"`(#[^`]*)`")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_PLAIN = re.compile(
    r"((?:\.\./)*)((?:\w[\w-]*(?:\.[\w-]+)*/)*(?:\w[\w-]*(?:\.[\w-]+)*)?)", re.ASCII
)
"""The form of nearly all links: up some folders, then down to a page."""


@dataclass(frozen=True, slots=True)
class PageFacts:
    """Ids, links and foreign addresses of one page."""

    ids: frozenset[str]
    targets: tuple[str, ...]
    """Site URLs, with fragments, that its links mean;
    one that leads out of the site starts with `..`.
    """
    foreign: tuple[str, ...]


def facts_of(html: str, url: str) -> PageFacts:
    """Return the ids, the pages linked to, and the addresses of other hosts that the page at `url`
    would load.
    """
    ids: set[str] = set()
    targets: dict[str, None] = {}
    foreign: dict[str, None] = {}
    for name, inside in dict.fromkeys(
        _TAG.findall(html)
    ):  # most tags of a page are the same as an earlier one
        if _TELLING.search(inside) is None:
            continue

        attributes = {
            key.lower(): unescape(double or single)
            for key, double, single in _ATTRIBUTE.findall(inside)
        }
        if "id" in attributes:
            ids.add(attributes["id"])

        tag = name.lower()
        address = attributes.get(_LOADING.get(tag, "href"))
        if address is None:
            continue

        loads = tag in _LOADING or (
            tag == "link" and attributes.get("rel", "").lower() in _LOADING_RELS
        )
        if loads and _ELSEWHERE.match(address):
            foreign[address] = None
        elif (
            not _SCHEME.match(address)
            and not address.startswith("//")
            and attributes.get("rel") != "canonical"
        ):
            targets[_target(url, address)] = None

    return PageFacts(frozenset(ids), tuple(targets), tuple(foreign))


def check_pages(
    pages: Mapping[str, PageFacts],
    files: Set[str],
    origins: Mapping[str, Location],
    shell: PageFacts,
) -> list[Diagnostic]:
    """Return what is wrong with the links of pages, by site URL; `shell` is what every page has in
    common.

    `files` are all outputs, `origins` has the source file of each page.
    """
    diagnostics: list[Diagnostic] = []
    diagnostics += [_foreign(address, Location("mkdocs.yml")) for address in shell.foreign]
    problems: dict[str, tuple[str, str] | None] = {}
    for url, facts in pages.items():
        where = origins.get(url, Location(url or "index.html"))
        diagnostics += [
            _foreign(address, where) for address in facts.foreign if address not in shell.foreign
        ]
        for target in facts.targets:
            if target not in problems:
                problems[target] = _dead(target, pages, files, shell)

            if problem := problems[target]:
                diagnostics.append(
                    Diagnostic(
                        problem[0],
                        Severity.WARNING,
                        problem[1],
                        where,
                        "correct or remove the link",
                    )
                )

    return diagnostics


def located(diagnostic: Diagnostic, text: str) -> Diagnostic:
    """Return a finding of a missing heading with the place in its document's text where the heading
    is named.
    """
    anchor = _ANCHOR.search(diagnostic.message)
    if anchor is None or diagnostic.location.position is not None:
        return diagnostic

    at = re.search(re.escape(anchor[1]) + r"(?![\w-])", text, re.IGNORECASE)
    position = position_at(text, at.start()) if at else None
    return replace(diagnostic, location=replace(diagnostic.location, position=position))


def _foreign(address: str, where: Location) -> Diagnostic:
    message = f"the page loads {address} from another host; browsers are told not to"
    return Diagnostic(FOREIGN, Severity.WARNING, message, where, "put a copy next to the pages")


def _dead(
    target: str, pages: Mapping[str, PageFacts], files: Set[str], shell: PageFacts
) -> tuple[str, str] | None:
    url, _, anchor = target.partition("#")
    if url.startswith(".."):
        return DEAD_TARGET, f"a link leads out of the site: {url}"

    file = f"{url}index.html" if not url or url.endswith("/") else url
    if file not in files and f"{file}/index.html" not in files:
        return DEAD_TARGET, f"a link leads to {url}, where nothing is"

    there = pages.get(url) if anchor else None
    if there is not None and anchor not in there.ids and anchor not in shell.ids:
        heading = anchor.removeprefix(HEADING_PREFIX)
        return (
            DEAD_ANCHOR,
            f"a link leads to `#{heading}`, a heading that the page {url or 'index.html'} lacks",
        )

    return None


def _target(url: str, link: str) -> str:
    if (page := resolved(url, link)) is None:
        return f"../{link}"
    fragment = unquote(urlsplit(link).fragment) if "#" in link else ""
    if fragment:
        return f"{page}#{fragment}"

    return page


def resolved(url: str, link: str) -> str | None:
    """Return the site URL that a link on the page at `url` means;
    None where it leads out of the site.
    """
    plain = _PLAIN.fullmatch(link)
    if plain is not None and link:
        folders = url.split("/")
        above = len(folders) - 1 - len(plain[1]) // 3
        if above >= 0:
            return "/".join([*folders[:above], plain[2]])

        return None

    path = unquote(urlsplit(link).path)
    if path.startswith("/"):
        return None
    if not path:
        return url

    folder = url.rpartition("/")[0]
    joined = posixpath.normpath(posixpath.join("/", folder, path))

    if (
        ".." in path
        and posixpath.normpath(posixpath.join(folder or ".", path)).split("/", 1)[0] == ".."
    ):
        return None

    inside = joined.lstrip("/")
    ends = path.endswith("/") or path.endswith(".") or path == "."
    if ends and inside:
        return f"{inside}/"

    return inside


def merged(all_facts: Iterable[PageFacts]) -> PageFacts:
    """Return the facts of several pages as one."""
    pages = list(all_facts)
    ids = frozenset().union(*(facts.ids for facts in pages))
    foreign = dict.fromkeys(chain.from_iterable(facts.foreign for facts in pages))
    return PageFacts(ids, (), tuple(foreign))
