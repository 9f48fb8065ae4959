"""Markdown for agents: a document's own text with the addresses of the site, and what our own pages list."""

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterator
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
_OPENING = re.compile(r"\A(\d{1,9}(?=[.)](?:\s|$)))?(#{1,6}(?=\s|$)|[-+.)](?=\s|$)|>|[=-]+$)")
"""What would open a block at the start of a paragraph."""
_INLINE = frozenset({"a", "b", "code", "em", "i", "small", "span", "strong", "sub", "sup", "time"})
_LISTS = frozenset({"ul", "ol", "dl"})
_MARKS = {"strong": "**", "b": "**", "dt": "**"}


def markdown_of(html: str, link: Callable[[str], str]) -> str:
    """Return a page of lists and tables as Markdown, without scripts, forms and navigation."""
    writer, position = _Writer(link), 0
    for tag in _TAG.finditer(html):
        writer.text(html[position : tag.start()])
        position = tag.end()
        if tag[2]:
            (writer.close if tag[1] else writer.open)(tag[2].lower(), dict(_VALUE.findall(tag[3])))
    writer.text(html[position:])
    return writer.written()


class _Writer:
    """Writes the tags and texts of a page in their order."""

    def __init__(self, link: Callable[[str], str]) -> None:
        self._link = link
        self._blocks: list[tuple[str, bool]] = []  # each with whether it is in a list
        self._line: list[str] = []
        self._inline: list[tuple[str, str, int]] = []  # open tags: name, address, where their text begins in the line
        self._rows: list[list[str]] = []
        self._row: list[str] | None = None
        self._mark, self._depth, self._code = "", 0, 0
        self._dropped, self._dropped_depth = "", 0

    def written(self) -> str:
        """Return the Markdown."""
        self._flush()
        text, was_listed = "", False
        for block, is_listed in self._blocks:
            text += ("\n" if was_listed and is_listed else "\n\n") + block
            was_listed = is_listed
        return text.lstrip("\n")

    def text(self, html: str) -> None:
        """Add a text."""
        if html and not self._dropped:
            text = unescape(html)
            self._line.append(text if self._code else _SPECIAL.sub(r"\\\g<0>", text))

    def open(self, tag: str, attributes: dict[str, str]) -> None:
        """Begin an element."""
        classes = attributes.get("class", "").split()
        if self._dropped or tag in _DROPPED or not _DROPPED_CLASSES.isdisjoint(classes):
            self._dropped = self._dropped or tag
            self._dropped_depth += tag == self._dropped
            return
        if tag not in _INLINE:
            self._flush()
        if tag in _INLINE or tag in ("pre", "td", "th", "dt"):
            self._line += [" "] * (tag in ("small", "span", "time") and not self._code)
            self._inline.append((tag, unescape(attributes.get("href", "")), len(self._line)))
        self._code += tag in ("code", "pre")
        if tag in _LISTS:
            self._depth += 1
        elif tag in ("li", "dt", "dd"):
            self._mark = "  - " if tag == "dd" else "- "
        elif re.fullmatch("h[1-6]", tag):
            self._mark = "#" * int(tag[1]) + " "
        elif tag == "tr":
            self._row = []

    def close(self, tag: str, _: dict[str, str]) -> None:
        """End an element."""
        if self._dropped:
            self._dropped_depth -= tag == self._dropped
            self._dropped = self._dropped if self._dropped_depth else ""
            return
        while self._inline and any(name == tag for name, *_ in self._inline):
            name, href, start = self._inline.pop()
            self._end(name, href, start)
            if name == tag:
                break
        if tag not in _INLINE:
            self._flush()
        if tag in _LISTS:
            self._depth -= 1
            self._mark = "  " if self._depth else ""
        elif tag == "tr" and self._row is not None:
            self._rows.append(self._row)
            self._row = None
        elif tag == "table":
            self._table()

    def _end(self, tag: str, href: str, start: int) -> None:
        inner = "".join(self._line[start:])
        del self._line[start:]
        self._code -= tag in ("code", "pre")
        text = " ".join(inner.split())
        if tag == "pre":
            ticks = "`" * max(3, 1 + max(map(len, re.findall("`+", inner)), default=0))
            self._flush()
            self._blocks.append((f"{ticks}\n{inner.strip(chr(10))}\n{ticks}", False))
        elif tag in ("td", "th") and self._row is not None:
            self._row.append(text.replace("|", "\\|"))
        elif tag == "code" and not self._code and text:
            ticks = "`" * (1 + max(map(len, re.findall("`+", text)), default=0))
            pad = " " * ("`" in (text[0], text[-1]))
            self._line.append(f"{ticks}{pad}{text}{pad}{ticks}")
        elif tag == "a" and text and href and not href.startswith("#"):
            self._line.append(f"[{text}]({destination(self._link(href))})")
        elif tag in _MARKS and text and "**" not in text:
            self._line.append(f"**{text}**")
        else:
            self._line.append(f" {inner} " if tag in ("small", "span", "time") and not self._code else inner)

    def _flush(self) -> None:
        if self._row is not None:  # in a cell all is one line
            self._line.append(" ")
            return
        text = " ".join("".join(self._line).split())
        self._line.clear()
        if text:
            text = text if self._mark.startswith("#") else _OPENING.sub(r"\1\\\2", text, count=1)
            self._blocks.append((f"{'  ' * (self._depth - 1)}{self._mark}{text}", self._depth > 0))
            self._mark = "  " if self._depth else ""

    def _table(self) -> None:
        rows, self._rows = self._rows, []
        width = max(map(len, rows), default=0)
        if width:
            rows = [rows[0], ["---"] * width, *rows[1:]]
            self._blocks.append(("\n".join(f"| {' | '.join(row)} |" for row in rows), False))
