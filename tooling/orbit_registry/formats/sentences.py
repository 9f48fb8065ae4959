"""Paragraphs and sentences of Markdown as plain text.

It reads lines, not a parsed document: lists and indexes need the first words of a thousand texts.
"""

import re
from collections.abc import Iterator
from html import unescape

from orbit_registry.formats.wiki_links import LINK_BY_NAME, words_of

FILLER = re.compile(
    r"^(?:[*+-][ \t]*)?(?:none\.?|n/?a\.?|tbd\.?|-|…|\{.*|\[.*\]|<[^>]*>?|todo.*)?$", re.IGNORECASE
)
"""A line that holds the place of a text."""
_FENCE = re.compile(r"(?:```|~~~)")
_ITEM = re.compile(r"(?:[-*+]|\d{1,3}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?")
_QUOTE = re.compile(r"\A(?:>[ \t]?)+")
_SKIPPED = re.compile(
    r"\||!!!|\?\?\?|:::|===|---|\*\*\*\s*$|___\s*$|\[!\w+\]|\[[^\]]+\]:\s"
    r"|(?:import|export)\s.*[;'\"]"
    r"|[-*_]*(?:status|date|deciders|tags|legacy_id)[*_]*\s*:"
    r"|(?:_[^_]+_|\*[^*]+\*|\(.*\))\s*$",
    re.IGNORECASE,
)
"""Lines that are no sentence: tables, marks of other dialects, metadata, prompts."""
_LONGEST = 2000
"""Characters of a paragraph that are read, which bounds what the patterns below cost."""
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
# Behind a letter only an element within a line is one: `x<sup>2</sup>`, but not `List<String>`.
_TAG = re.compile(
    r"(?:(?<!\w)<|</|<(?=(?:a|b|br|code|del|em|i|img|ins|kbd|mark|s|small|span|strong|su[bp]|u|wbr)\b))"
    r"[A-Za-z][^<>]{0,300}>"
)
_IMAGE = re.compile(r"!\[[^\]]*\](?:\([^)]*\)|\[[^\]]*\])")
_LINK = re.compile(r"\[((?:[^\[\]]|\[[^\[\]]*\])*)\](?:\([^()]*(?:\([^()]*\)[^()]*)*\)|\[[^\]]*\])")
_FOOTNOTE = re.compile(r"\[\^[^\]]{1,40}\]")
_LITERAL = re.compile(r"(?<!`)(`++)[ ]?(.+?)[ ]?(?<!`)\1(?!`)|\\([!-/:-@\[-`{-~])")
_EMPHASIS = re.compile(r"(?<![\w*])(\*{1,3}|_{1,3})(?=\S)(.+?)(?<=\S)\1(?![\w*])|~~(.+?)~~")
_INTRODUCTIONS = (":", " because", " since", " weil", " car", " porque", " parce que")
"""Ends of a line that the first item of a list completes."""
_NUMBER = re.compile(r"^\(?\d{1,2}[.)]\s+")
"""A number ahead of a paragraph, as in `**1. Use one queue.**`."""
_END = re.compile(r"(?<=[\w`)\"'”’»\]%]{2})[.!?]+(?=[\"'”’»)]*(?:\s|$))[\"'”’»)]*|[。！？]")
_ABBREVIATION = re.compile(
    r"\b(?:e\.g|i\.e|vs|cf|resp|approx|incl|no|nr|z\.\s?B|bzw|ca|d\.\s?h|u\.\s?a|p\.\s?ej|[A-Z])\.$",
    re.IGNORECASE,
)


def paragraphs(text: str) -> Iterator[str]:
    """Yield the paragraphs and items of a text as plain text, without its headings, tables, code
    and placeholders.

    A line that introduces a list goes together with the list's first item.
    """
    lines: list[str] = []
    fenced = False
    for line in _COMMENT.sub("", text).split("\n"):
        content = _QUOTE.sub("", line.strip())
        if _FENCE.match(content):
            fenced = not fenced
            content = ""
        elif fenced or content.startswith("#") or _SKIPPED.match(content) or FILLER.match(content):
            content = ""

        item = _ITEM.match(content)
        if item is not None and FILLER.match(content):
            continue

        introduces = bool(lines) and lines[-1].endswith(_INTRODUCTIONS)
        if lines and not introduces and (not content or item):
            yield plain_text(" ".join(lines))
            lines = []

        if content:
            lines.append(content[item.end() :] if item else content)

    if lines:
        yield plain_text(" ".join(lines))


def plain_text(text: str) -> str:
    """Return a line of Markdown as a reader sees it."""
    text = text[:_LONGEST].replace("\x00", "")
    literal: list[str] = []

    def keep(marked: re.Match[str]) -> str:
        literal.append(marked[2] or marked[3])
        return f"\x00{len(literal) - 1}\x00"

    # Code and escaped marks mean themselves: they are put away while the others are read.
    text = _LITERAL.sub(keep, text)
    text = _TAG.sub("", _IMAGE.sub("", text))
    text = _FOOTNOTE.sub("", LINK_BY_NAME.sub(words_of, text))
    text = _LINK.sub(r"\1", _LINK.sub(r"\1", text))
    for _ in range(2):  # strong words within stressed ones
        text = _EMPHASIS.sub(lambda marked: marked[2] or marked[3], text)

    text = re.sub("\x00([0-9]+)\x00", lambda mark: literal[int(mark[1])], unescape(text))
    return _NUMBER.sub("", " ".join(text.split()).lstrip(":;,.–— "))


def sentences(paragraph: str) -> Iterator[str]:
    """Yield the sentences of a paragraph in plain text."""
    start = 0
    for end in _END.finditer(paragraph):
        if end[0] == "." and _ABBREVIATION.search(paragraph, start, end.end()):
            continue

        yield paragraph[start : end.end()].strip()
        start = end.end()

    if remaining := paragraph[start:].strip():
        yield remaining
