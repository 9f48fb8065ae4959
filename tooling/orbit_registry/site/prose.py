"""Markdown to HTML with headings, links and cited ids resolved."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from html import escape, unescape
from itertools import count

from orbit_registry.formats.citations import IdForms, find_citations
from orbit_registry.formats.markdown import Link, slug
from orbit_registry.formats.markdown_html import Block, ReadText, read_text
from orbit_registry.formats.position import Position, Span
from orbit_registry.model.diagnostic import Diagnostic, Location, Severity
from orbit_registry.site.code import DIAGRAM_ID, emoji, fence
from orbit_registry.site.destinations import HEADING_PREFIX, Destination, anchor_of
from orbit_registry.site.language import word
from orbit_registry.site.sanitize import clean
from orbit_registry.site.sitemap import SiteMap
from orbit_registry.site.urls import relative

DEAD_LINK = "SITE390"
NO_PAGE = "SITE391"
_PIECE = re.compile(r'(<div [^>]*class="highlight[^>]*>.*?</div>|<[^<>]*>)', re.DOTALL)
_DIAGRAM = re.compile('<div class="highlight orbit-diagram">')
_ATTRIBUTE = re.compile(r'([a-z]+)="([^"]*)"')
_HEADING = re.compile(r'<h([1-6])(?: id="([^"]*)")?>(.*?)</h\1>', re.DOTALL)
_ANCHOR = re.compile(r'<a id="([^"]+)"')
_NOTE = re.compile(r'<a href="#fn(?:ref)?[0-9:]+" (?:id="fnref[0-9:]+"|class="footnote-backref")>')
"""A link to a footnote, or back."""
_TAG = re.compile(r"<[^<>]*>")
_FROM_RIGHT = re.compile(
    r"[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]"
)
"""A letter of a script that is written from right to left."""
_NAME = re.compile(r"[A-Z](?<![\w/.#&-][A-Z])[A-Za-z]{0,15}-?[0-9][0-9-]*(?![\w/-]|\.\w)")
"""What the name of a task looks like, or of a record in another tool:
a word that ends in a number.
"""
_ISSUE = re.compile(r"(?<![\w&/#])(?:#(?![0-9]{6}\b)|GH-)([1-9][0-9]{0,6})(?![\w-])")
"""The number of an issue; six digits after a hash are a colour."""
_COMMIT = re.compile(r"(?<![\w/.#-])(?=[0-9]*[a-f])(?=[a-f]*[0-9])[0-9a-f]{7,40}(?![\w-]|\.\w)")
"""What the id of a commit looks like: a word of digits and of letters up to f."""
_ADDRESS = re.compile(
    r"https?://[^/<>\s]{1,100}/(?P<project>[\w./-]{1,200}?)/(?:-/)?"
    r"(?:issues|pull|merge_requests|pulls)/(?P<number>[0-9]{1,7})"
)
"""The address of an issue or a change."""
_NAMED_BY_ADDRESS = re.compile(rf"(?<=>){_ADDRESS.pattern}(?=</a>)")
_UNCHANGED = ("p", "li", "ul", "ol", "em", "strong", "td", "tr", "th", "br /")
_AS_IS = {f"<{name}>" for name in _UNCHANGED} | {f"</{name}>" for name in _UNCHANGED}
"""Tags that are copied unchanged: most there are."""


EXCLUDED = "data-search-exclude"  # marks the heading of a section that search is not to find


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of a page: level, id on the page, plain text."""

    level: int
    id: str
    text: str


@dataclass(frozen=True, slots=True)
class TextOrigin:
    """Origin of a text: its file in the repository, its first line there, and its page."""

    path: str
    first_line: int
    page: str
    record: str | None = None


@dataclass(frozen=True, slots=True)
class Prose:
    """A rendered text, and what is wrong with its links."""

    html: str
    headings: tuple[Heading, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    links: Mapping[tuple[str, str], str] = field(default_factory=dict)
    """Where its links and pictures lead from the page, by "link" or "image" and as written."""
    cited: Mapping[str, str] = field(default_factory=dict)
    """Where the names in its sentences lead from the page."""


def citation(site: SiteMap, page: str, url: str) -> str:
    """Return the opening tag of a link to a page;
    to that of a record it says title and status, and has a preview.
    """
    if url not in site.labels:
        return f'<a href="{escape(relative(page, url))}">'

    label = escape(site.labels[url])
    return (
        f'<a class="orbit-cite" href="{escape(relative(page, url))}" title="{label}" '
        f'aria-describedby="{card_id(url)}">'
    )


def card_id(url: str) -> str:
    """Return the id, on any page, of the preview of the record at a site URL."""
    return f"card-{url.strip('/').replace('/', '-')}"


@dataclass(frozen=True, slots=True)
class TextPart:
    """A part of a text that was parsed: its lines, the last one excluded, and its blocks."""

    read: ReadText
    first: int
    last: int
    blocks: tuple[Block, ...]

    @property
    def html(self) -> str:
        """Its HTML, in which links lead where their author wrote."""
        html = "".join(block.html for block in self.blocks)
        has_tags = any(block.has_tags for block in self.blocks)
        return clean(html) if has_tags else html  # which closes what the text leaves open

    @property
    def links(self) -> Iterator[Link]:
        """Its links and pictures."""
        for link in self.read.structure.links:
            if self.first < link.position.line <= self.last:
                yield link


@lru_cache(maxsize=4096)
def parsed(text: str) -> ReadText:
    """Return what a text has in it; records are read for their citations, then for their pages."""
    return read_text(text, fence)


def part_of(text: str, document: str = "", first: int = 0) -> TextPart:
    """Return a text as it was parsed, as a part of its document, in which it begins at a line."""
    if document:
        read = parsed(document)
        last = first + text.count("\n") + 1
        blocks = read.part(first, last)
        if blocks is not None:
            return TextPart(read, first, last, tuple(blocks))

    read = parsed(text)
    return TextPart(read, 0, len(read.structure.lines), (*read.blocks, *read.notes))


def render(
    text: str | TextPart, origin: TextOrigin, site: SiteMap, *, top: int | None = None
) -> Prose:
    """Return a text as HTML for the page of `origin`; the result has not passed the sanitiser yet.

    `top` is the level its highest heading gets, if the page has its own title; None leaves levels
    alone.
    """
    part = part_of(text) if isinstance(text, str) else text
    return _Renderer(part, origin, site, top).run()


def short_name(address: str) -> str:
    """Return an issue or a change as `owner/repo#147`; empty for another address."""
    match = _ADDRESS.fullmatch(address)
    return f"{match['project']}#{match['number']}" if match else ""


def _with_short_addresses(html: str) -> str:
    if not any(kind in html for kind in ("/issues/", "/pull", "/merge_requests/")):
        return html

    return _NAMED_BY_ADDRESS.sub(lambda match: short_name(match[0]), html)


@dataclass
class _Renderer:
    part: TextPart
    origin: TextOrigin
    site: SiteMap
    top: int | None = None
    headings: list[Heading] = field(default_factory=list)
    anchors: set[str] = field(
        default_factory=set
    )  # names that the text gives places in it, as in `<a name="why">`
    broken: dict[tuple[str, str], Destination] = field(default_factory=dict)
    links: dict[tuple[str, str], str] = field(default_factory=dict)
    cited: dict[str, str] = field(default_factory=dict)

    def run(self) -> Prose:
        html = self.part.html
        numbers = count(1)
        html = _DIAGRAM.sub(
            lambda _: f'<div id="{DIAGRAM_ID}{next(numbers)}" class="highlight orbit-diagram">',
            html,
        )
        ids = self._heading_ids(html)

        self.anchors = {anchor.lower() for anchor in _ANCHOR.findall(html)}
        excluded = self._excluded_ids()
        direction = ' dir="auto"' if not html.isascii() and _FROM_RIGHT.search(html) else ""
        may_name = _may_name(self.site.forms, has_forge=self.site.forge.repository is not None)
        out: list[str] = []

        open_code = open_link = 0
        open_links: list[bool] = []
        closing = ""
        for number, piece in enumerate(_PIECE.split(html)):
            if number % 2 == 0:
                piece = piece if open_code else emoji(piece)
                is_plain = open_link or may_name.search(piece) is None
                out.append(piece if is_plain else self._with_citations(piece, code=open_code))
                continue

            if (piece in _AS_IS and not direction) or piece.startswith("<div"):
                out.append(piece)
                continue

            name = piece[1:-1].split(" ", 1)[0].rstrip("/").lower()
            if name in ("code", "pre"):
                open_code += 1
            elif name in ("/code", "/pre"):
                open_code -= 1
            elif name == "a":
                open_link += 1
                piece, is_link = self._link(piece)
                open_links.append(is_link)
            elif name == "/a":
                open_link -= 1
                piece = "</a>" if open_links.pop() else "</span>"
            elif name == "img":
                piece = self._image(piece, inside_link=bool(open_link))
            elif name in ("h1", "h2", "h3", "h4", "h5", "h6"):
                heading = next(ids)
                title = word("prose.link")
                link = f'<a class="headerlink" href="#{heading.id}" title="{title}">¶</a>'
                closing = f"{link if heading.level > 1 else ''}</h{heading.level}>"
                left_out = f" {EXCLUDED}" if heading.id in excluded else ""
                piece = f'<h{heading.level} id="{heading.id}"{left_out}>'
            elif name in ("/h1", "/h2", "/h3", "/h4", "/h5", "/h6"):
                piece = closing
            elif name in ("ul", "ol", "blockquote"):
                piece = f"{piece[:-1]}{direction}>"
            elif name == "table":
                piece = f'<div class="orbit-scroll"><table{direction}>'
            elif name == "/table":
                piece = "</table></div>"

            out.append(piece)

        return Prose(
            _with_short_addresses("".join(out)),
            tuple(self.headings),
            tuple(self._diagnostics()),
            self.links,
            self.cited,
        )

    def _heading_ids(self, html: str) -> Iterator[Heading]:
        counts: dict[str, int] = {}
        matches = _HEADING.findall(html)
        levels = [int(level) for level, *_ in matches]
        if levels and levels[0] > 1:  # a title further down is a section like the others
            levels = [level for level in levels if level > 1]

        shift = self.top - min(levels) if levels and self.top else 0
        for level, own_id, inner in matches:
            plain = unescape(_TAG.sub("", inner))
            stem = own_id.lower() or slug(plain) or "section"
            count = counts.get(stem, 0)
            counts[stem] = count + 1
            anchor = HEADING_PREFIX + (f"{stem}-{count}" if count else stem)

            shifted = max(self.top or 1, min(6, int(level) + shift))
            self.headings.append(Heading(shifted, anchor, emoji(plain)))

        return iter(self.headings)

    def _excluded_ids(self) -> set[str]:
        """Return the ids of a document's headings that are a record's:
        its own page is found by search already.
        """
        excluded: set[str] = set()
        urls: dict[str, str | None] = {}
        if self.origin.record is None:
            for heading in self.headings:
                anchor = heading.id.removeprefix(HEADING_PREFIX)
                urls[heading.id] = self.site.entry(self.origin.path, anchor)

        often = Counter(urls.values())
        level = 0
        for heading in self.headings:
            if not level or heading.level <= level:
                url = urls.get(heading.id)
                level = heading.level if url and often[url] == 1 else 0
            if level:
                excluded.add(heading.id)

        return excluded

    def _link(self, tag: str) -> tuple[str, bool]:
        if _NOTE.fullmatch(tag):
            return tag, True

        attributes = dict(_ATTRIBUTE.findall(tag))
        own_id = f' id="{HEADING_PREFIX}{attributes["id"].lower()}"' if "id" in attributes else ""
        if "href" not in attributes:
            return f"<a{own_id}>", True

        target = unescape(attributes["href"])
        destination = self.site.target(self.origin.path, target)
        if destination.url is not None and destination.url.startswith("#"):
            destination = self._anchor(target)
        if destination.problem:
            self.broken["link", target] = destination

        if destination.url is None:
            key = "prose.dead" if destination.broken else "prose.file"
            reason = word(key, target=escape(target))
            kind = "orbit-dead" if destination.broken else "orbit-file"
            return f'<span class="{kind}" title="{reason}">', False

        address = destination.address(self.origin.page) or ""
        self.links["link", target] = address
        if (
            destination.url in self.site.labels
            and destination.url != self.origin.page
            and "title" not in attributes
        ):
            return citation(self.site, self.origin.page, destination.url), True

        href = escape(address)
        outside = ' rel="noopener noreferrer"' if destination.outside else ""
        title = f' title="{attributes["title"]}"' if "title" in attributes else ""
        return f'<a{own_id} href="{href}"{title}{outside}>', True

    def _anchor(self, target: str) -> Destination:
        anchor = anchor_of(target[1:])
        prefixed = HEADING_PREFIX + anchor.lower()
        if (
            target == "#"
            or anchor.lower() in self.anchors
            or any(heading.id == prefixed for heading in self.headings)
        ):
            return Destination(f"{self.origin.page}#{prefixed if target != '#' else ''}")

        if titled := self.site.titled(self.origin.path, anchor):
            return Destination(titled)

        return Destination(None, problem=f"the page has no heading for `{target}`", broken=True)

    def _image(self, tag: str, *, inside_link: bool) -> str:
        attributes = dict(_ATTRIBUTE.findall(tag))
        target = unescape(attributes.get("src", ""))
        alt = attributes.get("alt", "") or escape(target)
        destination = self.site.image(self.origin.path, target)

        if destination.problem:
            self.broken["image", target] = destination
        if destination.url is None:
            return f'<span class="orbit-dead">{alt}</span>'

        address = destination.address(self.origin.page) or ""
        self.links["image", target] = address
        if destination.outside:
            # A picture from another host would tell that host who reads the page.
            link = f'<a href="{escape(destination.url)}" rel="noopener noreferrer">{alt}</a>'
            return f"<span>{alt}</span>" if inside_link else link

        size = "".join(
            f' {name}="{attributes[name]}"' for name in ("width", "height") if attributes.get(name)
        )
        return f'<img src="{escape(address)}" alt="{alt}"{size} loading="lazy">'

    def _with_citations(self, piece: str, code: int) -> str:
        """Return a text with links to what it cites;
        in a line's `code` only if that is just a name.
        """
        if code > 1:
            return piece  # a block

        out: list[str] = []
        end = 0
        cited = list(self._cited(piece))
        if not code:
            cited += self._at_the_forge(piece)
        for span, url in sorted(cited, key=lambda pair: pair[0].start):
            if (
                url is None
                or url == self.origin.page
                or span.start < end
                or (code and span.of(piece) != piece)
            ):
                continue

            name = span.of(piece)
            if url.startswith(("https://", "http://")):
                self.cited[name] = url
                opening = f'<a href="{escape(url)}" rel="noopener noreferrer">'
            else:
                self.cited[name] = relative(self.origin.page, url)
                opening = citation(self.site, self.origin.page, url)

            out += [piece[end : span.start], opening, span.of(piece), "</a>"]
            end = span.end

        out.append(piece[end:])
        return "".join(out)

    def _cited(self, piece: str) -> Iterator[tuple[Span, str | None]]:
        for cited in find_citations(piece, self.site.forms):
            yield cited.span, self.site.cited(cited.id, self.origin.path)
        for match in _NAME.finditer(piece):
            if match[0].startswith(self.site.forms.prefixes):
                continue  # an id, which was found as such
            yield Span(*match.span()), self.site.by_name(match[0])

    def _at_the_forge(self, piece: str) -> Iterator[tuple[Span, str | None]]:
        forge = self.site.forge
        if forge.repository is None:
            return

        for match in _ISSUE.finditer(piece):
            yield Span(*match.span()), forge.issue(match[1])
        for match in _COMMIT.finditer(piece):
            yield Span(*match.span()), self.site.change(match[0])

    def _diagnostics(self) -> Iterator[Diagnostic]:
        if not self.broken:
            return

        for link in self.part.links:
            destination = self.broken.get(
                ("image" if link.kind == "image" else "link", link.target)
            )
            if destination is None or destination.problem is None:
                continue

            code, severity, hint = (
                NO_PAGE,
                Severity.NOTE,
                "set `site.repository` to link to the file at its host",
            )
            if destination.broken:
                code, severity, hint = DEAD_LINK, Severity.WARNING, "correct the target"

            line = link.position.line - self.part.first + self.origin.first_line - 1
            where = Location(self.origin.path, Position(line, link.position.column))
            yield Diagnostic(code, severity, destination.problem, where, hint, self.origin.record)


@cache
def _may_name(forms: IdForms, *, has_forge: bool) -> re.Pattern[str]:
    """Return a pattern for the start of every citation: a text without it is not searched."""
    at_forge = "|#[0-9]|[0-9a-f]{7}" if has_forge else ""
    return re.compile(f"{forms.first.pattern}|[A-Z][A-Za-z]{{0,15}}-?[0-9]{at_forge}")
