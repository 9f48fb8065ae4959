"""Markdown to HTML with headings, links and cited ids resolved."""

import re
from collections import Counter
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from html import escape, unescape
from itertools import count

from orbit_registry.formats.citations import IdForms, find_citations
from orbit_registry.formats.markdown import Link, slug
from orbit_registry.formats.markdown_html import Block, ReadText, read_text
from orbit_registry.formats.position import Position, Span
from orbit_registry.formats.wiki_links import name_of, written
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
    r"(?:(?:issues|pull|merge_requests|pulls)/(?P<number>[0-9]{1,7})(?:#[\w-]{1,60})?"
    r"|commit/(?P<commit>[0-9a-f]{7})[0-9a-f]{0,33})"
)
"""The address of an issue, a change, a comment on one, or a commit."""
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
    borrowed: int = 0
    """How many of its last lines are from elsewhere in its document: notes that it refers to."""

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
            if self.first < link.position.line <= self.last - self.borrowed:
                yield link


@lru_cache(maxsize=4096)
def parsed(text: str) -> ReadText:
    """Return what a text has in it; records are read for their citations, then for their pages."""
    return read_text(text, fence)


def part_of(text: str, document: str = "", first: int = 0) -> TextPart:
    """Return a text as it was parsed, as a part of its document, in which it begins at a line."""
    borrowed = ""
    if document:
        read = parsed(document)
        last = first + text.count("\n") + 1
        blocks = read.part(first, last)
        if blocks is not None:
            return TextPart(read, first, last, tuple(blocks))

        borrowed = read.definitions_for(text, first, last)

    read = parsed(text + borrowed)
    lines = len(read.structure.lines)
    return TextPart(read, 0, lines, (*read.blocks, *read.notes), borrowed.count("\n"))


def render(
    text: str | TextPart, origin: TextOrigin, site: SiteMap, *, top: int | None = None
) -> Prose:
    """Return a text as HTML for the page of `origin`; the result has not passed the sanitiser yet.

    `top` is the level its highest heading gets, if the page has its own title; None leaves levels
    alone.
    """
    part = part_of(text) if isinstance(text, str) else text
    return _rendered(part, origin, site, top)


def short_name(address: str) -> str:
    """Return an issue or a change as `owner/repo#147`, a commit as `owner/repo@1a2b3c4`; empty for
    another address.
    """
    match = _ADDRESS.fullmatch(address)
    if match is None:
        return ""

    mark, name = ("@", match["commit"]) if match["commit"] else ("#", match["number"])
    return f"{match['project']}{mark}{name}"


def _with_short_addresses(html: str) -> str:
    if not any(kind in html for kind in ("/issues/", "/pull", "/merge_requests/", "/commit/")):
        return html

    return _NAMED_BY_ADDRESS.sub(lambda match: short_name(match[0]), html)


@dataclass
class _State:
    """A text on its way to a page: where it comes from, what is known of it, and what is open."""

    part: TextPart
    origin: TextOrigin
    site: SiteMap
    headings: tuple[Heading, ...]
    excluded: Container[str]
    """Ids of headings whose sections search is not to find."""
    anchors: Container[str]
    """Names that the text gives places in it, as in `<a name="why">`."""
    direction: str
    """The attribute of a block whose text may be written from right to left."""
    following: Iterator[Heading]
    """The headings that are still to come."""
    broken: dict[tuple[str, str], Destination] = field(default_factory=dict)
    links: dict[tuple[str, str], str] = field(default_factory=dict)
    cited: dict[str, str] = field(default_factory=dict)
    code: int = 0
    open_links: list[bool] = field(default_factory=list)
    """Whether each open link leads somewhere."""
    leaves_out: bool = False
    """Whether the words of the open link are left out, which is shown as it was written."""
    closing: str = ""
    """The end of the open heading."""


Writer = Callable[[_State, str], str]
"""Writes a tag for the page."""


def _rendered(part: TextPart, origin: TextOrigin, site: SiteMap, top: int | None) -> Prose:
    numbers = count(1)
    html = _DIAGRAM.sub(
        lambda _: f'<div id="{DIAGRAM_ID}{next(numbers)}" class="highlight orbit-diagram">',
        part.html,
    )
    headings = tuple(_headings_in(html, top))
    state = _State(
        part,
        origin,
        site,
        headings,
        _excluded(headings, origin, site),
        {anchor.lower() for anchor in _ANCHOR.findall(html)},
        ' dir="auto"' if not html.isascii() and _FROM_RIGHT.search(html) else "",
        iter(headings),
    )
    pieces = _PIECE.split(html)
    may_name = _may_name(site.forms, has_forge=site.forge.repository is not None)
    for number, piece in enumerate(pieces):
        if number % 2:
            pieces[number] = _tag(state, piece)
            continue

        if state.leaves_out:
            pieces[number] = ""
            continue

        piece = piece if state.code else emoji(piece)
        is_plain = state.open_links or may_name.search(piece) is None
        pieces[number] = piece if is_plain else _with_citations(state, piece)

    html = _with_short_addresses("".join(pieces))
    return Prose(html, headings, tuple(_diagnostics(state)), state.links, state.cited)


def _headings_in(html: str, top: int | None) -> Iterator[Heading]:
    """Yield the headings with their ids on the page; `top` is the level of the highest."""
    counts: Counter[str] = Counter()
    matches = _HEADING.findall(html)
    levels = [int(level) for level, *_ in matches]
    if levels and levels[0] > 1:  # a title further down is a section like the others
        levels = [level for level in levels if level > 1]

    shift = top - min(levels) if levels and top else 0
    for level, own_id, inner in matches:
        plain = unescape(_TAG.sub("", inner))
        stem = own_id.lower() or slug(plain) or "section"
        anchor = HEADING_PREFIX + (f"{stem}-{counts[stem]}" if counts[stem] else stem)
        counts[stem] += 1
        shifted = max(top or 1, min(6, int(level) + shift))
        yield Heading(shifted, anchor, emoji(plain))


def _excluded(headings: Sequence[Heading], origin: TextOrigin, site: SiteMap) -> set[str]:
    """Return the ids of a document's headings that are a record's: its own page is found by search
    already.
    """
    urls: dict[str, str | None] = {}
    if origin.record is None:
        for heading in headings:
            urls[heading.id] = site.entry(origin.path, heading.id.removeprefix(HEADING_PREFIX))

    excluded: set[str] = set()
    often = Counter(urls.values())
    level = 0
    for heading in headings:
        if not level or heading.level <= level:
            url = urls.get(heading.id)
            level = heading.level if url and often[url] == 1 else 0
        if level:
            excluded.add(heading.id)

    return excluded


def _tag(state: _State, tag: str) -> str:
    if (tag in _AS_IS and not state.direction) or tag.startswith("<div"):
        return tag

    name = tag[1:-1].split(" ", 1)[0].rstrip("/").lower()
    write = _TAGS.get(name)
    if write:
        return write(state, tag)

    return tag


def _code(state: _State, tag: str) -> str:
    state.code += 1
    return tag


def _end_of_code(state: _State, tag: str) -> str:
    state.code -= 1
    return tag


def _end_of_link(state: _State, _: str) -> str:
    if state.open_links.pop():
        return "</a>"

    state.leaves_out = False
    return "</span>"


def _heading(state: _State, _: str) -> str:
    heading = next(state.following)
    link = f'<a class="headerlink" href="#{heading.id}" title="{word("prose.link")}">¶</a>'
    state.closing = f"{link if heading.level > 1 else ''}</h{heading.level}>"
    left_out = f" {EXCLUDED}" if heading.id in state.excluded else ""
    return f'<h{heading.level} id="{heading.id}"{left_out}>'


def _end_of_heading(state: _State, _: str) -> str:
    return state.closing


def _block(state: _State, tag: str) -> str:
    return f"{tag[:-1]}{state.direction}>"


def _table(state: _State, _: str) -> str:
    return f'<div class="orbit-scroll"><table{state.direction}>'


def _end_of_table(_: _State, tag: str) -> str:
    return f"{tag}</div>"


def _link(state: _State, tag: str) -> str:
    opening, leads = _opened(state, tag)
    state.open_links.append(leads)
    return opening


def _opened(state: _State, tag: str) -> tuple[str, bool]:
    """Return the opening tag of a link, and whether it leads somewhere."""
    if _NOTE.fullmatch(tag):
        return tag, True

    site, origin = state.site, state.origin
    attributes = dict(_ATTRIBUTE.findall(tag))
    own_id = f' id="{HEADING_PREFIX}{attributes["id"].lower()}"' if "id" in attributes else ""
    if "href" not in attributes:
        return f"<a{own_id}>", True

    target = unescape(attributes["href"])
    destination = site.target(origin.path, target)
    if destination.url is not None and destination.url.startswith("#"):
        destination = _in_page(state, target)
    if destination.problem:
        state.broken["link", target] = destination

    if destination.url is None and name_of(target):
        state.leaves_out = True
        return f"<span>{escape(written(target))}", False

    if destination.url is None:
        key = "prose.dead" if destination.broken else "prose.file"
        kind = "orbit-dead" if destination.broken else "orbit-file"
        return f'<span class="{kind}" title="{word(key, target=escape(target))}">', False

    address = destination.address(origin.page) or ""
    state.links["link", target] = address
    is_record = destination.url in site.labels and destination.url != origin.page
    if is_record and "title" not in attributes:
        return citation(site, origin.page, destination.url), True

    outside = ' rel="noopener noreferrer"' if destination.outside else ""
    title = f' title="{attributes["title"]}"' if "title" in attributes else ""
    return f'<a{own_id} href="{escape(address)}"{title}{outside}>', True


def _in_page(state: _State, target: str) -> Destination:
    """Return what an anchor in the text means: a place in it, or the record of a title."""
    anchor = anchor_of(target[1:])
    prefixed = HEADING_PREFIX + anchor.lower()
    is_heading = any(heading.id == prefixed for heading in state.headings)
    if target == "#" or is_heading or anchor.lower() in state.anchors:
        return Destination(f"{state.origin.page}#{prefixed if target != '#' else ''}")

    if titled := state.site.titled(state.origin.path, anchor):
        return Destination(titled)

    return Destination(None, problem=f"the page has no heading for `{target}`", broken=True)


def _image(state: _State, tag: str) -> str:
    attributes = dict(_ATTRIBUTE.findall(tag))
    target = unescape(attributes.get("src", ""))
    alt = attributes.get("alt", "") or escape(target)
    destination = state.site.image(state.origin.path, target)

    if destination.problem:
        state.broken["image", target] = destination
    if destination.url is None:
        return f'<span class="orbit-dead">{alt}</span>'

    address = destination.address(state.origin.page) or ""
    state.links["image", target] = address
    if destination.outside:
        # A picture from another host would tell that host who reads the page.
        link = f'<a href="{escape(destination.url)}" rel="noopener noreferrer">{alt}</a>'
        if state.open_links:
            return f"<span>{alt}</span>"

        return link

    sizes = [name for name in ("width", "height") if attributes.get(name)]
    size = "".join(f' {name}="{attributes[name]}"' for name in sizes)
    return f'<img src="{escape(address)}" alt="{alt}"{size} loading="lazy">'


_LEVELS = range(1, 7)
_ENDS: Mapping[str, Writer] = {
    "/a": _end_of_link,
    "/code": _end_of_code,
    "/pre": _end_of_code,
    "/table": _end_of_table,
    **{f"/h{level}": _end_of_heading for level in _LEVELS},
}
_TAGS: Mapping[str, Writer] = {
    "a": _link,
    "img": _image,
    "table": _table,
    **dict.fromkeys(("code", "pre"), _code),
    **dict.fromkeys(("ul", "ol", "blockquote"), _block),
    **{f"h{level}": _heading for level in _LEVELS},
    **_ENDS,
}
"""What writes each kind of tag; another one stays."""


def _with_citations(state: _State, piece: str) -> str:
    """Return a text with links to what it cites; in a line's code only if that is just a name."""
    if state.code > 1:
        return piece  # a block

    page = state.origin.page
    cited = list(_cited(state, piece))
    if not state.code:
        cited += _at_the_forge(state.site, piece)

    out: list[str] = []
    end = 0
    for span, url in sorted(cited, key=lambda pair: pair[0].start):
        name = span.of(piece)
        if url is None or url == page or span.start < end or (state.code and name != piece):
            continue

        if url.startswith(("https://", "http://")):
            state.cited[name] = url
            opening = f'<a href="{escape(url)}" rel="noopener noreferrer">'
        else:
            state.cited[name] = relative(page, url)
            opening = citation(state.site, page, url)

        out += [piece[end : span.start], opening, name, "</a>"]
        end = span.end

    return "".join([*out, piece[end:]])


def _cited(state: _State, piece: str) -> Iterator[tuple[Span, str | None]]:
    site = state.site
    for cited in find_citations(piece, site.forms):
        yield cited.span, site.cited(cited.id, state.origin.path)
    for match in _NAME.finditer(piece):
        if not match[0].startswith(site.forms.prefixes):  # an id, which was found as such
            yield Span(*match.span()), site.by_name(match[0])


def _at_the_forge(site: SiteMap, piece: str) -> Iterator[tuple[Span, str | None]]:
    if site.forge.repository is None:
        return

    for match in _ISSUE.finditer(piece):
        yield Span(*match.span()), site.forge.issue(match[1])
    for match in _COMMIT.finditer(piece):
        yield Span(*match.span()), site.change(match[0])


def _diagnostics(state: _State) -> Iterator[Diagnostic]:
    origin = state.origin
    for link in state.part.links if state.broken else ():
        kind = "image" if link.kind == "image" else "link"
        destination = state.broken.get((kind, link.target))
        if destination is None or destination.problem is None:
            continue

        code, severity = NO_PAGE, Severity.NOTE
        hint = "set `site.repository` to link to the file at its host"
        if destination.broken:
            code, severity, hint = DEAD_LINK, Severity.WARNING, "correct the target"

        line = link.position.line - state.part.first + origin.first_line - 1
        where = Location(origin.path, Position(line, link.position.column))
        yield Diagnostic(code, severity, destination.problem, where, hint, origin.record)


@cache
def _may_name(forms: IdForms, *, has_forge: bool) -> re.Pattern[str]:
    """Return a pattern for the start of every citation: a text without it is not searched."""
    at_forge = "|#[0-9]|[0-9a-f]{7}" if has_forge else ""
    return re.compile(f"{forms.first.pattern}|[A-Z][A-Za-z]{{0,15}}-?[0-9]{at_forge}")
