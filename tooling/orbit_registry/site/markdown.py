"""Markdown for agents: a document's own text with the addresses of the site, and what our own pages list."""

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from html import escape, unescape

from orbit_registry.formats.markdown import Document, Link, parse_markdown
from orbit_registry.formats.markdown_html import RAW, raw_html

Address = Callable[[str, bool], str | None]  # how a link's target, or a picture's, is named; None if it leads nowhere

_MARKED = re.compile(r"[<\[{]")
"""What a text has in it that has links, tags or attributes of headings; any other stays as it is."""
_TICKS = re.compile(r"(?<!\\)`+")
_PIECE = re.compile(rf"(?P<note>\[\^[^\]\n]*\]:)|(?P<end>\])(?=[(:])|(?=<[A-Za-z/!?])(?:{RAW.pattern})", re.DOTALL)
_ATTRIBUTE = re.compile(r' (href|src)="([^"]*)"')
_CODED = str.maketrans({" ": "%20", "(": "%28", ")": "%29", "<": "%3C", ">": "%3E", "\\": "%5C"})
_UNSAFE = re.compile(r"(?!https?:|mailto:)[A-Za-z][A-Za-z0-9+.-]*:")


def with_addresses(text: str, address: Address) -> str:
    """Return a Markdown text without front matter and comments, its links as `address` names their targets.

    What is no link on our pages is none for another reader either, and a tag that our pages show as text is text.
    """
    document = parse_markdown(text) if _MARKED.search(text) else None
    if document is None:
        return text.strip()
    edits = [(0, document.content_start, "")]
    ends: set[int] = set()  # where what links show ends, and autolinks begin
    for link in document.links:
        if link.kind == "autolink":
            ends.add(link.span.start)
        if link.kind == "autolink" or (link.kind == "reference" and text.startswith("[^", link.span.start)):
            continue
        start, end = _label(text, link)
        target = address(link.target, link.kind == "image") if link.target else None
        ends.add(end)
        edits.append((end, link.span.end, f"]({destination(target)})" if target else ""))
        edits += [] if target else [(link.span.start, start, "")]
        if link.target_span is not None and not link.span.start <= link.target_span.start < link.span.end:
            edits.append(_line_of(text, link.target_span.start))  # its definition
    for heading in document.headings:
        if heading.id:
            edits.append((heading.section.start, heading.section.start, f'<a id="{escape(heading.id)}"></a>\n\n'))
            edits.append((heading.title.end, _line_of(text, heading.title.end)[1] - 1, ""))
    code = list(_code(document))
    for piece in _PIECE.finditer(text):
        index = bisect_right(code, (piece.start(), len(text))) - 1
        if piece["note"] or piece.start() in ends or (index >= 0 and piece.start() < code[index][1]):
            continue
        new = "\\]" if piece["end"] else _ATTRIBUTE.sub(lambda found: _addressed(found, address), raw_html(piece, text))
        edits.append((*piece.span(), new))
    return _edited(text, edits).strip()


def _label(text: str, link: Link) -> tuple[int, int]:
    """Return where what a link shows begins and ends."""
    start = link.span.start + 1 + (link.kind == "image")
    if text[link.span.end - 1] == ")":
        limit = link.target_span.start if link.target_span else link.span.end
        return start, text.rfind("](", start - 1, limit)
    end = text.rfind("][", start, link.span.end)
    return start, end if end >= 0 else link.span.end - 1


def _line_of(text: str, offset: int) -> tuple[int, int, str]:
    end = text.find("\n", offset) + 1
    return text.rfind("\n", 0, offset) + 1, end or len(text), ""


def _code(document: Document) -> Iterator[tuple[int, int]]:
    """Yield where code begins and ends, blocks and spans, in order."""
    text, position = document.text, 0
    blocks = [(span.start, span.end) for span in document.code]
    runs = [run.span() for run in _TICKS.finditer(text)]
    later: defaultdict[int, list[int]] = defaultdict(list)  # ends of runs by their length, the last one first
    for start, end in reversed(runs):
        later[end - start].append(end)
    for start, end in runs:
        while blocks and blocks[0][0] <= start:
            yield blocks[0]
            position = max(position, blocks.pop(0)[1])
        closing = later[end - start]
        while closing and closing[-1] <= end:
            closing.pop()
        if start >= position and closing and text.find("\n\n", end, closing[-1]) < 0:
            position = closing[-1]
            yield start, position
    yield from blocks


def _addressed(attribute: re.Match[str], address: Address) -> str:
    target = address(unescape(attribute[2]), attribute[1] == "src") or ""
    return "" if _UNSAFE.match(target) else f' {attribute[1]}="{escape(target)}"'


def destination(target: str) -> str:
    """Return a target as it stands in the brackets of a link; one that may run code is left out."""
    return "" if _UNSAFE.match(target) else target.translate(_CODED)


def _edited(text: str, edits: list[tuple[int, int, str]]) -> str:
    """Return a text with parts replaced; of two that overlap, the larger one counts."""
    out, position = [], 0
    for start, end, new in sorted(edits, key=lambda edit: (edit[0], -edit[1])):
        if start >= position:
            out += [text[position:start], new]
            position = end
    return "".join([*out, text[position:]])


_CODE = re.compile(r"(?<![`\\])`(?!`)[^`]+`(?!`)|[\[\]<]")


def plain(text: str) -> str:
    """Return a text in one line that no reader of Markdown takes for a link or a tag."""
    return _CODE.sub(lambda part: part[0] if len(part[0]) > 1 else f"\\{part[0]}", " ".join(text.split()))


_TAG = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9]*)((?:[^<>\"]|\"[^\"]*\")*)>|<!--.*?-->|<![^>]*>", re.DOTALL)
_VALUE = re.compile(r'\b(class|href)="([^"]*)"')
_DROPPED = frozenset({"script", "style", "template", "svg", "button", "select", "textarea", "nav", "noscript", "form"})
_DROPPED_CLASSES = frozenset({"headerlink", "md-content__button", "orbit-cards", "orbit-crumbs", "orbit-edit"})
_SPECIAL = re.compile(r"[\\`*\[\]<]|(?<![^\W_])_|_(?![^\W_])|&(?=#?\w{1,32};)|~(?=~)")
_OPENING = re.compile(r"^(\d{1,9}(?=[.)](?:\s|$)))?(#{1,6}(?=\s|$)|[-+.)](?=\s|$)|>|[=-]+$)")
"""What would open a block at the start of a line."""
_INLINE = {"b": "**", "strong": "**", "em": "*", "i": "*", "code": "`"}
_APART = frozenset({"small", "span", "time", "br"})
_WITHOUT_MARK = frozenset({"a", "sub", "sup"})


def markdown_of(html: str, link: Callable[[str], str]) -> str:
    """Return a page of lists and tables as Markdown, without scripts, forms and navigation."""
    page, position = _Page(link), 0
    for tag in _TAG.finditer(html):
        page.add_text(html[position : tag.start()])
        position = tag.end()
        if tag[2]:
            page.add_tag(tag[2].lower(), tag[3], is_end=bool(tag[1]))
    page.add_text(html[position:])
    page.end_line()
    return "\n".join(page.lines).strip()


@dataclass
class _Page:
    """Markdown of a page as far as it was read."""

    link: Callable[[str], str]
    lines: list[str] = field(default_factory=list)
    line: str = ""
    mark: str = ""  # what the next line begins with
    depth: int = 0  # of lists in each other
    cells: list[str] | None = None  # of an open row of a table
    hrefs: list[str] = field(default_factory=list)  # of open links
    is_code: bool = False
    dropped: str = ""  # the element that is left out
    dropped_depth: int = 0

    def add_text(self, html: str) -> None:
        if self.dropped:
            return
        text = re.sub(r"\s+", " ", unescape(html))
        self.line += text.replace("`", "'") if self.is_code else _SPECIAL.sub(r"\\\g<0>", text)

    def add_tag(self, tag: str, attributes: str, *, is_end: bool) -> None:
        values = {} if is_end else dict(_VALUE.findall(attributes))
        if self.dropped or tag in _DROPPED or not _DROPPED_CLASSES.isdisjoint(values.get("class", "").split()):
            self.dropped = self.dropped or tag
            self.dropped_depth += (-1 if is_end else 1) * (tag == self.dropped)
            self.dropped = self.dropped if self.dropped_depth else ""
        elif tag == "a":
            self._link(values, is_end=is_end)
        elif tag in _INLINE:
            self.line += _INLINE[tag]
            self.is_code = tag == "code" and not is_end
        elif tag in _APART:
            self.line += "" if self.is_code else " "
        elif tag in ("td", "th") and self.cells is not None:
            self.cells += [" ".join(self.line.split()).replace("|", "\\|")] if is_end else []
            self.line = ""
        elif tag not in _WITHOUT_MARK:
            self._block(tag, is_end=is_end)

    def _link(self, values: Mapping[str, str], *, is_end: bool) -> None:
        if not is_end:
            href = unescape(values.get("href", ""))
            self.hrefs.append("" if href.startswith("#") else href)
            self.line += "[" * bool(self.hrefs[-1])
        elif self.hrefs and (href := self.hrefs.pop()):
            self.line += f"]({destination(self.link(href))})"

    def _block(self, tag: str, *, is_end: bool) -> None:
        if self.cells is not None and tag != "tr":  # in a cell all is one line
            self.line += " "
            return
        self.end_line()
        if tag in ("ul", "ol", "dl"):
            self.depth += -1 if is_end else 1
        elif tag == "tr":
            self._row(is_end=is_end)
        if not is_end and tag in ("li", "dt", "dd"):
            self.mark = "  " * (self.depth - (tag != "dd")) + "- "
        elif not is_end and re.fullmatch("h[1-6]", tag):
            self.mark = "#" * int(tag[1]) + " "
        elif self.depth == 0 and tag not in ("tr", "thead", "tbody") and self.lines and self.lines[-1]:
            self.lines.append("")

    def _row(self, *, is_end: bool) -> None:
        if is_end and self.cells:
            is_first = not self.lines or not self.lines[-1].startswith("| ")
            self.lines.append(f"| {' | '.join(self.cells)} |")
            self.lines += [f"|{' --- |' * len(self.cells)}"] if is_first else []
        self.cells = None if is_end else []

    def end_line(self) -> None:
        """Add the open line to the others, if it has a text."""
        if text := " ".join(self.line.split()):
            self.lines.append(self.mark + (text if self.mark.startswith("#") else _OPENING.sub(r"\1\\\2", text)))
            self.mark = "  " * self.depth
        self.line = ""
