"""A file for agents next to each page: its Markdown, of records and documents from their own text."""

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from orbit_registry.formats.markdown import is_markdown
from orbit_registry.site.check import resolved
from orbit_registry.site.markdown import Address, destination, markdown_of, plain, with_addresses
from orbit_registry.site.sitemap import HEADING_PREFIX, SiteMap
from orbit_registry.site.urls import document_url, file_of, linked

INDEX = "llms.txt"
_MAIN = [
    re.compile(rf"<{start}>(.*)</{end}>", re.DOTALL)
    for start, end in (
        (r'article class="md-content__inner[^>]*', "article"), (r"main\b[^>]*", "main"), (r"body\b[^>]*", "body"),
    )
]  # fmt: skip
"""The text of a page: in Material's themes, in others, and where a theme marks none."""
_BODY = re.compile(r"<body\b[^>]*>")
_ELSEWHERE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//|#|/")
_STAGED = re.compile(r'<div data-orbit-slot="[^>]*>[^<]*</div>|<a class="orbit-cite"[^>]*>(?P<name>[^<]*)</a>')
"""What staging adds to a page of the repository: places for records, and links from what it cites."""
_TITLE = re.compile(r"# (.*)\n*")


def twin_path(url: str) -> str:
    """Return the file with the Markdown of a page: `adrs/ADR-0001/index.md`."""
    return file_of(url).removesuffix(".html") + ".md"


def announced(html: str, url: str, base_url: str | None, data: str = "") -> str:
    """Return a page that names its Markdown and the list of all pages, in its head, with `data`, and in its text."""
    twin, index = linked(base_url, url, twin_path(url)), linked(base_url, url, INDEX)
    # The space: Material looks for a sitemap next to each `link[rel=alternate]`, which it takes for a language.
    link = f'<link rel="alternate " type="text/markdown" href="{escape(twin)}">'
    note = f"For AI agents: the Markdown of this page is at {twin}. All pages are listed in {index}."
    html = html.replace("</head>", f"{link}{data}</head>", 1)
    return _BODY.sub(lambda body: f'{body[0]}<p class="orbit-agents" aria-hidden="true">{escape(note)}</p>', html, 1)


@dataclass(frozen=True, slots=True)
class Twin:
    """The Markdown of a page: its file, its title, and a line that says what is in it."""

    path: str
    title: str
    description: str


@dataclass(frozen=True, slots=True)
class PageLinks:
    """How the Markdown of the page at `url` names what it links to; `files` are the pages that are no folders."""

    url: str
    base_url: str | None
    files: Set[str]

    def address(self, href: str) -> str:
        """Return a link of the page; one to another page leads to the Markdown of that."""
        parts, target = urlsplit(href), resolved(self.url, href)
        if parts.scheme or parts.netloc or target is None:
            return href
        if not parts.path and not parts.query:
            return f"#{parts.fragment.removeprefix(HEADING_PREFIX)}"
        query, mark = f"?{parts.query}" if parts.query else "", f"#{parts.fragment}" if parts.fragment else ""
        is_page = target in ("", *self.files) or target.endswith("/")
        if is_page and not query and (not mark or mark.startswith(f"#{HEADING_PREFIX}")):
            target, mark = twin_path(target), mark.replace(HEADING_PREFIX, "", 1)
        return linked(self.base_url, self.url, target) + query + mark

    def of_text(self, path: str, site: SiteMap) -> Address:
        """Return how links of the repository's file at `path` are named."""

        def address(target: str, is_image: bool) -> str | None:
            there = site.image(path, target) if is_image else site.target(path, target)
            href = there.address(self.url)
            return href if href is None or there.outside else self.address(href)

        return address

    def of_page(self, name: str, docs: Path, directories: bool) -> Address:
        """Return how links of a staged page are named: they lead to files in the folder, or from the finished page."""

        def address(target: str, is_image: bool) -> str:
            if _ELSEWHERE.match(target):
                return target
            file, hash_mark, anchor = target.partition("#")
            path = posixpath.normpath(posixpath.join(posixpath.dirname(name), unquote(file)))
            if not (docs / path).is_file():
                return self.address(target)
            page = twin_path(document_url(path, "", directories)) if is_markdown(path) else path
            return linked(self.base_url, self.url, page) + hash_mark + anchor

        return address

    def headed(self, text: str) -> str:
        """Return the Markdown of the page as its file has it."""
        page = linked(self.base_url, self.url, self.url) if self.base_url else self.url or "the start page"
        index = linked(self.base_url, self.url, INDEX)
        return f"> The Markdown of {page}. [llms.txt]({index}) lists all pages.\n\n{text.strip()}\n"


def page_markdown(html: str, links: PageLinks) -> str:
    """Return the text of a page without a source of its own as Markdown."""
    main = next((match[1] for pattern in _MAIN if (match := pattern.search(html))), "")
    return markdown_of(main, links.address)


def staged_markdown(text: str, address: Address) -> str:
    """Return a staged page of the repository as Markdown."""
    return with_addresses(_STAGED.sub(lambda added: added["name"] or "", text), address)


def heading_of(text: str) -> str:
    """Return the title of a page's Markdown; "" without one."""
    return match[1] if (match := _TITLE.match(text)) else ""


def record_markdown(view: Mapping[str, Any], prose: str, links: PageLinks) -> str:
    """Return the page of a record: what is known of it, its text, and what cites it."""
    prose = prose.removeprefix(title[0]) if (title := _TITLE.match(prose)) and title[1] == view["title"] else prose
    names = set[str]()
    facts = []
    for name, values in _facts(view, links):
        if (texts := [value for value in values if value]) and name not in names:
            names.add(name)
            facts.append(f"- {name}: {'; '.join(texts)}")
    summary = view["data"].get("summary")
    lead = plain(str(summary)) if summary and summary != view["title"] else ""
    parts = [f"# {plain(view['title'])}", "\n".join(facts), lead, prose]
    for name, values in view["sections"]:
        if name != "Summary":
            parts += [f"## {name}", *map(_block, values)]
    parts += [*_checks(view["checks"] or {}), _cited(view["cited_by"], links)]
    return "\n\n".join(filter(None, parts))


def _facts(view: Mapping[str, Any], links: PageLinks) -> Iterator[tuple[str, Sequence[str]]]:
    scope, votes = view["scope"], view["votes"]

    def references(values: Sequence[Mapping[str, Any]]) -> list[str]:
        return [_reference(value, links) for value in values]

    yield "Id", [view["id"]]
    yield "Status", [view["status_word"]]
    yield "Since", [view["since"]]
    yield "Date", [" from ".join(filter(None, [view["date"], view["date_source"]]))]
    yield "Inherited from", [view["origin"] or ""]
    yield "Superseded by", references(view["replaced_by"])
    yield "What applies now", references(view["today"])
    yield "In doubt", [plain(view["doubts"])]
    yield "Tasks", references(view["tasks"])
    yield "Applies to", [_scope(entry) for entry in scope["paths"]]
    yield "Symbols", [f"`{symbol}`" for symbol in scope["symbols"]]
    yield "Only for", scope["agents"]
    yield "Only for tasks", references(scope["tasks"])
    for name, values in view["own"].items():
        yield name.replace("_", " ").capitalize(), references(values)
    for name, values in view["fields"]:
        yield name, ["" if name == "Summary" else plain(value) for value in values]
    approval = view["data"].get("approval") or {}
    yield "Approved by", [plain(str(approval.get("approved_by") or ""))]
    yield "Approved because", [plain(str(approval.get("reason") or ""))]
    yield "Not checkable", [plain(str(view["data"].get("not_checkable") or ""))]
    yield "Evidence", [f"{entry['kind']} {_linked(entry['text'], entry['url'], links)}" for entry in view["evidence"]]
    yield "Supersedes", references(view["replaces"])
    for name, values in view["links"]:
        yield name, references(values)
    reasons = (link for link in view["data"].get("links") or [] if link.get("reason"))
    yield "Reason", [plain(f"{link['to']}: {link['reason']}") for link in reasons]
    yield "Votes", [f"{votes['count']}, the last on {votes['last']}" if votes else ""]
    yield "Enforcement", [(view["checks"] or {}).get("badge", "")]
    yield "Tags", references(view["tags"])
    yield "Status as written", [plain(view["status_raw"])]
    yield "Earlier names", [plain(name) for name in view["legacy_ids"]]
    yield "Verified", [plain(view["freshness"])]
    for name, file in (("Document", view["source"]), ("Record", view["file"])):
        yield name, [_linked(f"`{file['path']}`", file["url"], links) if file else ""]
    yield "Changed", [view["updated"]]


def _linked(text: str, url: str | None, links: PageLinks) -> str:
    return f"[{plain(text)}]({destination(links.address(url))})" if url else plain(text)


def _reference(ref: Mapping[str, Any], links: PageLinks) -> str:
    """Return a link to a record with its title, or to a word's page."""
    if "id" not in ref:
        return _linked(ref["word"], ref["url"], links)
    word = f"({ref['word']})" if ref["word"] else ""
    return " ".join(filter(None, [_linked(ref["id"], ref["url"], links), plain(ref["title"]), word]))


def _scope(entry: Mapping[str, Any]) -> str:
    files = [f"`{file['path']}`" for file in entry["files"]]
    more = entry["count"] - len(files)
    names = ", ".join([*files, *([f"{more} more"] if files and more > 0 else [])])
    return f"`{entry['glob']}`" + (f" ({names})" if names else "")


def _block(text: str) -> str:
    return f"~~~~~\n{text}\n~~~~~" if "\n" in text.strip() else plain(text)


def _checks(checks: Mapping[str, Any]) -> Iterator[str]:
    if not checks:
        return
    yield "## Checks"
    for row in checks["rows"]:
        yield f"`{row['id']}` ({row['level']}){': ' if row['say'] else ''}{plain(row['say'])}"
        facts = [("Kind", [row["kind"]]), ("Files", row["files"]), ("Passes", row["passes"]), ("Fails", row["fails"])]
        lines = [f"- {name}: `{text}`" for name, texts in facts for text in map(_one_line, texts)]
        yield "\n".join([*lines, *([f"- Replay: {plain(row['evidence'])}"] if row["evidence"] else [])])
    if checks["allows"]:
        yield "### Allowed exceptions"
        yield "\n".join(f"- `{row['path']}` line {row['line']}: {plain(row['text'])}" for row in checks["allows"])


def _one_line(text: str) -> str:
    return " ".join(text.replace("`", "'").split())


def document_markdown(
    title: str, banner: str, text: str, citers: Mapping[str, Any], applying: Sequence[Mapping[str, Any]],
    links: PageLinks,
) -> str:  # fmt: skip
    """Return the page of a mirrored document: its text, the records that apply to it, and what cites it."""
    head = "" if _TITLE.match(text) else f"# {plain(title)}"
    lines = [f"- {_reference(record, links)}" for record in applying]
    applies = "\n".join(["## Applies here\n", *lines]) if lines else ""
    return "\n\n".join(filter(None, [head, text, banner, applies, _cited(citers, links)]))


def _cited(citers: Mapping[str, Any], links: PageLinks) -> str:
    """Return the list of the records and files that cite a page; "" if nothing does."""
    lines = [_reference(record, links) for record in citers["records"]]
    for file in citers["files"]:
        numbers = ", ".join(str(line["number"]) for line in file["lines"])
        path = f" {file['path']}," if file["title"] else ""
        noun = "line" if len(file["lines"]) == 1 else "lines"
        lines.append(f"{_linked(file['title'] or file['path'], file['url'], links)}{path} {noun} {numbers}")
    return "\n".join(["## Cited by\n", *(f"- {line}" for line in lines)]) if lines else ""
