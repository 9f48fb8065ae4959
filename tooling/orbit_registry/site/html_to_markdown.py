"""Markdown of a page's HTML, for agents: headings, lists, tables, code and links, without
navigation and forms.

It writes alerts, footnotes and tasks as GitHub reads them, and skips what the theme adds.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from itertools import chain
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import nh3

from orbit_registry.formats.markdown import slug
from orbit_registry.site.destinations import HEADING_PREFIX

_DROPPED = frozenset(
    {
        "script",
        "style",
        "template",
        "svg",
        "button",
        "select",
        "textarea",
        "nav",
        "noscript",
        "form",
    }
)
_DROPPED_CLASSES = frozenset(
    {
        "headerlink",
        "md-content__button",
        "footnotes-sep",
        "orbit-cards",
        "orbit-crumbs",
        "orbit-edit",
        "footnote-backref",
        "orbit-actions",
    }
)
_HEADINGS = {f"h{level}": "#" * level for level in range(1, 7)}
_MARKS = {"strong": "**", "b": "**", "em": "*", "i": "*", "del": "~~", "s": "~~"}
_TAGS = frozenset({"sub", "sup", "kbd", "mark", "ins"})
"""Inline elements that Markdown has no mark for, and which its readers take as HTML."""
_APART = frozenset({"small", "time", "orbit-chip", "orbit-count", "orbit-tag"})
"""Inline elements, and classes of such, that pages set apart from the text next to them."""
_CONTAINERS = frozenset(
    {
        "p",
        "div",
        "section",
        "article",
        "aside",
        "header",
        "footer",
        "main",
        "figure",
        "figcaption",
        "details",
        "body",
    }
    | {"caption", "dt", "dd", "li"}
)
_BLOCKS = (
    _CONTAINERS
    | _HEADINGS.keys()
    | {"ul", "ol", "dl", "table", "blockquote", "pre", "hr", "summary"}
)
_ALERTS = frozenset(
    {"note", "tip", "important", "warning", "caution"}
)  # the titles of alerts that GitHub draws
_VOID = re.compile(r"<(br|hr|img|input|wbr)\b((?:[^>\"]|\"[^\"]*\")*)>")
_NO_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_BLANKS, _BREAK = re.compile(" {2,}"), re.compile(r" *(\\\n) *")
_SPACES = re.compile(r"[ \t\r\n\f]{2,}|[\t\r\n\f]")
"""White space that is not one blank, as most is."""
_SPECIAL = re.compile(r"[\\`*\[\]<]|(?<![^\W_])_|_(?![^\W_])|&(?=#?\w{1,32};)|~(?=~)")
_MAY_BE_SPECIAL = re.compile(r"[\\`*\[\]<_&~]")
_OPENING = re.compile(
    r"^(\d{1,9}(?=[.)](?:\s|$)))?(#{1,6}(?=\s|$)|[-+.)](?=\s|$)|>|[=-]+$)", re.MULTILINE
)
"""What would open a block at the start of a paragraph's line."""
_TICKS = re.compile(r"`+")
_LANGUAGE = re.compile(r"(?:language-)?(mermaid|(?<=language-)[\w+#.-]+)")
_IS_LIST = re.compile(r"(?:[-*]|\d{1,9}[.)]) ")
_TASK, _DONE = "task-list-indicator", "orbit-done"
_NOTE, _NOTES = "footnote-ref", frozenset({"footnote", "footnotes"})

Links = Callable[[str], str]  # says how the target of a link is written


@cache
def _cleaner() -> nh3.Cleaner:
    inline = {
        "a",
        "code",
        "br",
        "img",
        "input",
        "span",
        "abbr",
        "small",
        "time",
        "tr",
        "td",
        "th",
        "thead",
        "tbody",
    }

    return nh3.Cleaner(
        tags={*_BLOCKS, *inline, *_MARKS, *_TAGS, "nav"} - _DROPPED,
        clean_content_tags=set(_DROPPED),
        attributes={
            "*": {"class", "id"},
            "a": {"href"},
            "img": {"src", "alt"},
            "input": {"type", "checked"},
            "ol": {"start"},
            "td": {"colspan"},
            "th": {"colspan"},
        },
        url_schemes={"http", "https", "mailto"},
        link_rel=None,
    )


def markdown_of(html: str, links: Links = str) -> list[str]:
    """Return the blocks of some HTML as Markdown, without scripts, forms and navigation."""
    clean = _VOID.sub(r"<\1\2/>", _cleaner().clean(html)).replace("&nbsp;", "\xa0")
    root = ElementTree.fromstring(f"<body>{_NO_XML.sub('', clean)}</body>")
    try:
        return _Writer(links).blocks(root)
    except RecursionError:  # elements inside each other, hundreds deep
        return [_escaped(_SPACES.sub(" ", "".join(root.itertext())).strip())]


@dataclass(frozen=True, slots=True)
class _Writer:
    links: Links

    def blocks(self, parent: Element) -> list[str]:
        """Return what an element has in it as blocks;
        inline content between blocks is a paragraph.
        """
        blocks: list[str] = []
        inline: list[str] = []

        def end_paragraph() -> None:
            joined = "".join(inline)
            if not joined.isspace() and (text := _squeezed(joined)):
                blocks.append(_OPENING.sub(r"\1\\\2", text))
            inline.clear()

        inline.append(_text(parent.text))

        for child in parent:
            if _is_dropped(child):
                pass
            elif child.tag in _BLOCKS or _has_blocks(child):
                end_paragraph()
                blocks += self._block(child)
            else:
                inline.append(self.inline(child))

            inline.append(_text(child.tail))

        end_paragraph()
        return blocks

    def _block(self, element: Element) -> list[str]:
        tag = element.tag
        if tag in _HEADINGS:
            return self._heading(element)

        match tag:
            case "hr":
                return ["---"]
            case "pre":
                return [_fenced(element)]
            case "ul" | "ol":
                return self._list(element)
            case "dl":
                return self._definitions(element)
            case "table":
                return self._table(element)
            case "blockquote":
                return [_quoted(self.blocks(element))]
            case "summary":
                return [_marked(text, "**") for text in [self.line(element)] if text]

        classes = _classes(element)
        if "admonition" in classes or "markdown-alert" in classes:
            return self._alert(element)
        if "highlight" in classes and (pre := element.find(".//pre")) is not None:
            return [_fenced(pre, element)]
        if not _NOTES.isdisjoint(classes) and (notes := element.find("ol")) is not None:
            return self._list(notes, of_notes=True)

        return self.blocks(element)

    def _heading(self, element: Element) -> list[str]:
        text, anchor = self.line(element), element.get("id", "").removeprefix(HEADING_PREFIX)
        if not text:
            return []
        mark = "" if anchor in ("", slug(_plain(element))) else f'<a id="{escape(anchor)}"></a>\n\n'
        return [f"{mark}{_HEADINGS[element.tag]} {text}"]

    def _alert(self, element: Element) -> list[str]:
        title, *blocks = self.blocks(element) or [""]
        if title.lower() in _ALERTS:
            return [_quoted(["\n".join([f"[!{title.upper()}]", *blocks[:1]]), *blocks[1:]])]
        return [_quoted([_marked(title, "**"), *blocks])]

    def _list(self, element: Element, *, of_notes: bool = False) -> list[str]:
        start = element.get("start", "")
        number = int(start[:9]) if start.isdecimal() else 1
        items: list[str] = []
        for child in element:
            if blocks := [] if _is_dropped(child) else self.blocks(child):
                mark = (
                    f"[^{number}]: " if of_notes else "- " if element.tag == "ul" else f"{number}. "
                )
                items.append(_item(mark, blocks))
                number += 1

        return ["\n".join(items)] if items else []

    def _definitions(self, element: Element) -> list[str]:
        items: list[str] = []
        details: list[list[str]] = []
        for child in chain.from_iterable(
            [part] if part.tag in ("dt", "dd") else part for part in element
        ):
            if child.tag == "dt":
                items.append(_marked(self.line(child), "**"))
                details.append([])
            elif child.tag == "dd" and items:
                details[-1] += self.blocks(child)

        return ["\n".join(map(_definition, items, details))] if items else []

    def _table(self, element: Element) -> list[str]:
        if (code := element.find(".//td[@class='code']//pre")) is not None:
            return [_fenced(code, element)]

        elements = [*element.iterfind("tr"), *element.iterfind("*/tr")]
        rows = [list(self._cells(row)) for row in elements]
        width = max(map(len, rows), default=0)
        if not width:
            return []

        header = rows.pop(0) if all(cell.tag == "th" for cell in elements[0]) else []
        rows = [header + [""] * (width - len(header)), ["---"] * width, *rows]
        captions = [line for caption in element.iter("caption") if (line := self.line(caption))]
        return [*captions, "\n".join(f"| {' | '.join(row)} |" for row in rows)]

    def _cells(self, row: Element) -> Iterator[str]:
        for cell in row:
            if cell.tag in ("td", "th"):
                yield (
                    "<br>".join(self.blocks(cell))
                    .replace("|", "\\|")
                    .replace("\\\n", "<br>")
                    .replace("\n", "<br>")
                )

                span = cell.get("colspan", "")
                yield from [""] * (int(span) - 1 if span.isdecimal() and len(span) < 3 else 0)

    def line(self, element: Element) -> str:
        """Return an element's content as one line."""
        return _squeezed(self._inner(element)).replace("\\\n", " ")

    def _inner(self, element: Element) -> str:
        parts = [_text(element.text)]
        for child in element:
            parts += [self.inline(child), _text(child.tail)]
        return "".join(parts)

    def inline(self, element: Element) -> str:
        """Return an inline element as Markdown."""
        if _is_dropped(element):
            return ""

        tag = element.tag
        match tag:
            case "br":
                return "\\\n"
            case "code":
                return _code("".join(element.itertext()))
            case "img":
                source = element.get("src")
                return (
                    f"![{_escaped(element.get('alt', ''))}]({self.links(source)})" if source else ""
                )
            case "input":
                is_done = element.get("checked") is not None
                return f"[{'x' if is_done else ' '}] " if element.get("type") == "checkbox" else ""

        classes = _classes(element)
        if _TASK in classes:
            return f"[{'x' if _DONE in classes else ' '}] "

        inner = self._inner(element)
        text = inner.strip()
        if not text:
            return inner
        if _NOTE in classes or (tag == "sup" and element.find(f"a[@class='{_NOTE}']") is not None):
            return f"[^{''.join(filter(str.isdigit, _plain(element)))}]"
        if tag == "a" and (target := element.get("href")):
            return inner.replace(text, f"[{text}]({self.links(target)})")
        if tag in _MARKS:
            return inner.replace(text, _marked(text, _MARKS[tag]))
        if tag in _TAGS:
            return f"<{tag}>{inner}</{tag}>"

        is_apart = tag in _APART or tag in _BLOCKS or not _APART.isdisjoint(classes)
        return f" {inner} " if is_apart else inner


def _marked(text: str, mark: str) -> str:
    """Return a text between marks; unmarked if a part of it has them,
    because Markdown can't nest them.
    """
    return text if len(mark) > 1 and mark in text else f"{mark}{text}{mark}"


def _has_blocks(element: Element) -> bool:
    return any(child.tag in _BLOCKS or _has_blocks(child) for child in element)


def _classes(element: Element) -> list[str]:
    return element.get("class", "").split()


def _is_dropped(element: Element) -> bool:
    names = element.get("class")
    return element.tag == "nav" or (
        names is not None and not _DROPPED_CLASSES.isdisjoint(names.split())
    )


def _plain(element: Element) -> str:
    if _is_dropped(element):
        return ""
    return (element.text or "") + "".join(_plain(child) + (child.tail or "") for child in element)


def _text(text: str | None) -> str:
    if not text or text.isspace():
        return " " if text else ""
    return _escaped(_SPACES.sub(" ", text))


def _escaped(text: str) -> str:
    return _SPECIAL.sub(r"\\\g<0>", text) if _MAY_BE_SPECIAL.search(text) else text


def _squeezed(text: str) -> str:
    line = _BLANKS.sub(" ", text) if "  " in text else text
    return (_BREAK.sub(r"\1", line) if "\\\n" in line else line).strip().removesuffix("\\").strip()


def _code(text: str) -> str:
    text = _SPACES.sub(" ", text)
    ticks = "`" * (max(map(len, _TICKS.findall(text)), default=0) + 1)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{ticks}{pad}{text}{pad}{ticks}" if text.strip() else text


def _fenced(pre: Element, outer: Element | None = None) -> str:
    code = "".join(pre.itertext()).strip("\n")
    ticks = "`" * max(3, max(map(len, _TICKS.findall(code)), default=0) + 1)
    inner = [pre, *pre, *([outer] if outer is not None else [])]
    names = (name for element in inner for name in _classes(element))
    language = next((match[1] for match in map(_LANGUAGE.fullmatch, names) if match), "")
    return f"{ticks}{language}\n{code}\n{ticks}"


def _quoted(blocks: Iterable[str]) -> str:
    return "\n>\n".join(re.sub("^", "> ", block, flags=re.MULTILINE) for block in blocks)


def _item(mark: str, blocks: Sequence[str]) -> str:
    """Return a list's item: what follows its first block is indented,
    and close to it if it is a list.
    """
    indent = " " * (4 if mark.startswith("[^") else len(mark))
    text = blocks[0]
    for block in blocks[1:]:
        text += ("\n" if _IS_LIST.match(block) else "\n\n") + block
    return mark + re.sub(r"\n(?=[^\n])", f"\n{indent}", text)


def _definition(term: str, details: Sequence[str]) -> str:
    if any("\n" in block or _IS_LIST.match(block) for block in details):
        return _item("- ", [term, *details])
    return f"- {term}{': ' if details else ''}{'; '.join(details)}"
