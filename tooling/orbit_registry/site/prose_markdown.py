"""Markdown of a document's text for its page's twin: the author's own lines, whose links lead to
the site, without what the page does not show.

Edits are made at the places that the parse knows; everything between them stays as it was written.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from html import escape, unescape

from orbit_registry.formats.markdown import ATTRIBUTES, Link, slug, within
from orbit_registry.formats.markdown import Heading as Title
from orbit_registry.formats.markdown_html import Note, inert_html
from orbit_registry.formats.position import Span
from orbit_registry.formats.wiki_links import name_of
from orbit_registry.site.code import emoji
from orbit_registry.site.destinations import HEADING_PREFIX
from orbit_registry.site.markdown_words import SAFE, SCHEME, escaped, link
from orbit_registry.site.prose import Heading, Prose, TextPart, short_name

Address = Callable[[str], str]  # says how a twin names what its page links to
_ALERTS = frozenset({"note", "tip", "important", "warning", "caution"})
_HREF = re.compile(r' href="([^"]*)"')
_IMAGE = re.compile(r"<img\b[^>]*>")
_ATTRIBUTE = re.compile(r'(src|alt)="([^"]*)"')
_HEADINGS = re.compile(r"<h[1-6]\b")
_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_OPENS = re.compile(r"(?<!\\)((?:\\\\)*)(<(?=[A-Za-z/!?])|\](?=\())")
"""What would begin a tag, or a link, where the parser saw none."""
_FOOTNOTE = re.compile(r"\[\^([^\]\s]{1,200})\]")
_BARE = re.compile(r"(https?://[^\s<>]*[^\s<>.,:;!?)\"'*_]|www\.[^\s<>]+|[\w.+-]+@[\w-]+\.[\w.-]+)")
_NOTABLE = re.compile(r"[<@]|\]\(|\[\^|:(?=[a-z0-9_+/-])|www\.")
"""What tags, links, footnotes, addresses and emoji have; words without it stay as they are."""
_FENCE = re.compile(r"([ \t>]*(?:`{3,}|~{3,})[ \t]*[\w+#.-]{0,30}+)[^\r\n]+")
"""The line that opens a block of code, if more than a language follows."""
_BLANKS = re.compile(r"[ \t>]*")
_MARKS = re.compile(r"!!!|\?\?\?|:::")


def markdown_of(part: TextPart, prose: Prose, address: Address) -> str:
    """Return a part of a text as Markdown that leads where its page, `prose`, leads."""
    state = _State(part, prose, address)
    edits = sorted(_edits(state), key=lambda edit: edit.span.start)
    return _CONTROLS.sub("", _text(state, edits).replace("\r\n", "\n").replace("\r", "\n"))


@dataclass(frozen=True, slots=True)
class _Edit:
    span: Span
    text: str


class _State:
    """A part of a text that is written anew: its source, and what its page shows of it."""

    def __init__(self, part: TextPart, prose: Prose, address: Address) -> None:
        common = part.read.common
        self.part, self.prose, self.address = part, prose, address
        self.source, self.lines = common.text, common.lines
        self.span = Span(self.lines.start_of(part.first), self.lines.start_of(part.last))

        self.links = within(common.links, self.span, lambda each: each.span.start)
        self.code = within(part.read.code, self.span, _start)
        self.code_starts = [each.start for each in self.code]
        self.numbers = {note.name: note.number for note in part.read.footnotes}

    @cached_property
    def _names(self) -> re.Pattern[str] | None:
        """A pattern of the names that the page cites."""
        names = sorted(self.prose.cited, key=len, reverse=True)
        joined = "|".join(map(re.escape, names))
        if names:
            return re.compile(rf"(?<![\w/&-])(?:{joined})(?![\w-])")

        return None

    @cached_property
    def _link_spans(self) -> Sequence[Span]:
        return [each.span for each in self.links if each.kind != "image"]

    @cached_property
    def _pictures(self) -> Sequence[Span]:
        return [each.span for each in self.links if each.kind == "image"]


def _edits(state: _State) -> Iterator[_Edit]:
    """Yield what is written differently; of edits at one place the first counts."""
    for note in state.part.read.dialect:
        yield from _quoted(state, note)

    yield from _titles(state, state.prose.headings)
    for each in state.links:
        yield from _link(state, each)

    common = state.part.read.common
    for tags in (common.tags, common.html):
        for tag in within(tags, state.span, _start):
            yield _Edit(tag, _tags(state, tag.of(state.source)))

    for fence in within(common.code, state.span, _start):
        mark = _FENCE.match(state.source, fence.start, fence.end)
        if mark is not None:
            yield _Edit(Span(mark.end(1), mark.end()), "")

    for first, last in state.part.read.definitions:
        yield _Edit(Span(state.lines.start_of(first), state.lines.start_of(last)), "")


def _text(state: _State, edits: Sequence[_Edit]) -> str:
    """Return the lines that the page shows, edited: of blocks, and of its footnotes."""
    starts = [edit.span.start for edit in edits]
    out = ""
    end = 0
    for first, last in _lines_shown(state):
        lines = Span(state.lines.start_of(first), state.lines.start_of(last))
        within = edits[bisect_left(starts, lines.start) : bisect_left(starts, lines.end)]
        text = _edited(state, lines, within)
        text = _without_empty_end(text)
        if text.strip("\n> "):
            out += ("\n" if first == end and _is_text(state, first - 1) else "\n\n") + text

        end = last

    return out.strip("\n")


def _lines_shown(state: _State) -> list[tuple[int, int]]:
    lines = [(block.first, block.last) for block in state.part.blocks if block.last]
    for note in state.part.read.footnotes:
        is_within = any(first <= note.first < last for first, last in lines)
        if state.part.first <= note.first < state.part.last and not is_within:
            lines.append((note.first, note.last))

    return sorted(lines)


def _is_text(state: _State, line: int) -> bool:
    return bool(state.source[state.lines.starts[line] : state.lines.ends[line]].strip())


def _edited(state: _State, lines: Span, edits: Sequence[_Edit]) -> str:
    out = []
    at = lines.start
    for edit in edits:
        if edit.span.start >= at:
            out += [_unedited(state, at, edit.span.start), edit.text]
            at = edit.span.end

    return "".join([*out, _unedited(state, at, lines.end)])


def _unedited(state: _State, start: int, end: int) -> str:
    """Return a stretch without edits: its code unchanged, its words with what they cite."""
    out = []
    at = start
    first_code = max(bisect_right(state.code_starts, start) - 1, 0)
    for span in state.code[first_code : bisect_left(state.code_starts, end)]:
        if span.end > at:
            first, last = max(span.start, at), min(span.end, end)
            out += [_words(state, at, first), _code(state, first, last)]
            at = last

    return "".join([*out, _words(state, at, end)])


def _code(state: _State, start: int, end: int) -> str:
    code = state.source[start:end]
    address = state.prose.cited.get(code.strip("`"))
    if address is None or not code.startswith("`") or _in_link(state, start):
        return code

    return link(code, state.address(address))


def _words(state: _State, start: int, end: int) -> str:
    if start >= end:
        return ""

    text = state.source[start:end]
    if _NOTABLE.search(text) is None and (state._names is None or not state._names.search(text)):
        return text

    is_linked = _in_link(state, start)
    names = None if is_linked else state._names
    pieces = _BARE.split(text)
    pieces[::2] = [_inert(state, piece, names) for piece in pieces[::2]]
    write = _short_words if is_linked else _short
    pieces[1::2] = map(write, pieces[1::2])
    return "".join(pieces)


def _inert(state: _State, text: str, names: re.Pattern[str] | None) -> str:
    text = _OPENS.sub(r"\1\\\2", text)
    if state.numbers:
        text = _FOOTNOTE.sub(partial(_number, state), text)
    if names is not None:
        text = names.sub(partial(_cited, state), text)

    return emoji(text)


def _number(state: _State, match: re.Match[str]) -> str:
    if match[1] in state.numbers:
        return f"[^{state.numbers[match[1]]}]"

    return match[0]


def _cited(state: _State, match: re.Match[str]) -> str:
    return link(match[0], state.address(state.prose.cited[match[0]]))


def _in_link(state: _State, offset: int) -> bool:
    return _covers(state._link_spans, offset) or _covers(state._pictures, offset)


def _linked(state: _State, words: str, where: str) -> str:
    """Return words as a link to where the page leads; the words alone if it leads nowhere."""
    if where:
        return link(words, state.address(where))

    return words


def _link(state: _State, each: Link) -> Iterator[_Edit]:
    span, label = each.span, each.label
    if label is None and name_of(each.target):
        where = state.prose.links.get(("link", each.target), "")
        if where:
            yield _Edit(span, link(escaped(each.text), state.address(where)))
        return

    if label is None:
        if not each.target.lower().startswith(SAFE):
            yield _Edit(Span(span.start, span.start + 1), "\\<")
        elif (short := _short(each.target)) != each.target:
            yield _Edit(span, short)
        return

    is_image = each.kind == "image"
    where = state.prose.links.get(("image" if is_image else "link", each.target), "")
    is_shown = is_image and not SCHEME.match(where)
    is_nested = is_image and _covers(state._link_spans, span.start)
    opening, _, closing = _linked(state, "\0", where).partition("\0")
    if is_shown and opening:
        opening = f"!{opening}"
    elif is_nested:
        opening, closing = "", ""

    if is_image and label.start == label.end:
        opening += escaped(each.target)

    yield _Edit(Span(span.start, label.start), opening)
    yield _Edit(Span(label.end, span.end), closing)


def _tags(state: _State, html: str) -> str:
    """Return HTML as the page has it; its links lead where the page leads."""
    inert = inert_html(html, state.source)
    if "<" in inert:
        return _IMAGE.sub(partial(_picture, state), _HREF.sub(partial(_href, state), inert))

    return inert


def _href(state: _State, match: re.Match[str]) -> str:
    where = state.prose.links.get(("link", unescape(match[1])), "")
    _, _, address = _linked(state, "", where).partition("](")
    if address:
        return f' href="{escape(address[:-1])}"'

    return ""


def _picture(state: _State, match: re.Match[str]) -> str:
    attributes = {name: unescape(text) for name, text in _ATTRIBUTE.findall(match[0])}
    source = attributes.get("src", "")
    where = state.prose.links.get(("image", source), "")
    written = _linked(state, escaped(attributes.get("alt") or source), where)
    is_shown = where and not SCHEME.match(where)
    if is_shown:
        return f"!{written}"

    return written


def _titles(state: _State, headings: Sequence[Heading]) -> Iterator[_Edit]:
    headings_of_document = state.part.read.common.headings
    titles = within(headings_of_document, state.span, lambda title: title.section.start)
    by_line = {state.lines.index_of(title.section.start): title for title in titles}
    at = 0
    for block in state.part.blocks:
        title = by_line.get(block.first) if block.html.startswith("<h") else None
        if title is not None and at < len(headings):
            yield from _title(state, title, headings[at], block.last)

        at += len(_HEADINGS.findall(block.html))


def _title(state: _State, title: Title, heading: Heading, last: int) -> Iterator[_Edit]:
    """Yield the edits of a heading: its level on the page, and its anchor there."""
    if "\n" in title.title.of(state.source):
        return

    anchor = heading.id.removeprefix(HEADING_PREFIX)
    mark = "" if anchor == slug(heading.text) else f'<a id="{escape(anchor)}"></a>\n\n'
    start, end = title.section.start, state.lines.ends[last - 1]
    attributes = ATTRIBUTES.search(state.source, title.title.start, title.title.end)
    words_end = attributes.start() if attributes else title.title.end
    yield _Edit(Span(start, title.title.start), f"{mark}{'#' * heading.level} ")
    yield _Edit(Span(words_end, end), "")


def _quoted(state: _State, note: Note) -> Iterator[_Edit]:
    """Yield the edits that make a quote of a note of another dialect."""
    first, end = state.lines.starts[note.first], state.lines.ends[note.first]
    mark = _MARKS.search(state.source, first, end)
    if mark is None:
        return

    column = mark.start() - first
    before = state.source[first : mark.start()]
    prefix = "".join(sign if sign in "> \t" else " " for sign in before)
    title = escaped(note.title)
    head = f"> **{title}**\n{prefix}>" if title else ">"
    if note.title.lower() == note.kind.lower() in _ALERTS:
        head = f"> [!{note.kind.upper()}]"

    yield _Edit(Span(mark.start(), end), head)
    last = note.last - 1 if note.is_closed else note.last
    for line in range(note.first + 1, last):
        yield _quoted_line(state, line, column, 0 if note.is_closed else 4)

    if note.is_closed and last < len(state.lines):
        yield _Edit(Span(state.lines.starts[last], state.lines.ends[last]), prefix)


def _quoted_line(state: _State, line: int, column: int, indent: int) -> _Edit:
    start, end = state.lines.starts[line], state.lines.ends[line]
    blanks = _BLANKS.match(state.source, start, end)
    place = min(start + column, blanks.end() if blanks else start)
    following = state.source[place : min(place + indent, end)]
    removed = 1 if following.startswith("\t") else len(following) - len(following.lstrip(" "))
    is_text = bool(state.source[place:end].strip("> \t"))
    return _Edit(Span(place, place + removed), "> " if is_text else ">")


def _short(address: str) -> str:
    """Return an address of an issue or a change as a link with its short name."""
    name = short_name(address)
    if name:
        return link(escaped(name), address)

    return address


def _short_words(address: str) -> str:
    """Return an address of an issue or a change as its short name."""
    return escaped(short_name(address)) or address


def _without_empty_end(text: str) -> str:
    """Return a text without the blank lines at its end, also where these are quoted."""
    lines = text.rstrip().split("\n")
    while lines and not lines[-1].strip("> \t"):
        lines.pop()

    return "\n".join(lines)


def _covers(spans: Sequence[Span], offset: int) -> bool:
    """Say whether one of some spans, none in another, has a place in it."""
    at = bisect_right(spans, offset, key=_start) - 1
    return at >= 0 and offset < spans[at].end


def _start(span: Span) -> int:
    return span.start
