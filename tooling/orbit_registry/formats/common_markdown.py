"""A text of another generator as Markdown that the parser of pages reads: each line is rewritten
where it is, and code is left alone.

Component tags and marks for a generator alone go; notes, tabs and links of other tools become
those that the parser knows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

_FENCE = re.compile(r"[ \t>]*(?P<mark>`{3,}|~{3,})")
_SPAN = re.compile(r"(?<!`)(`++).+?(?<!`)\1(?!`)")
_LONGEST_LINE = 4096  # longer lines have no marks
_TELLING = ("<", "===", "import", "export", "{", "[!", "[[", "[TOC]", "*[")
"""What a text has in which a line may be rewritten."""
# What is matched is kept (`++`, `(?>…)`): another reading of the same marks finds no tag either,
# and to try them all takes time that doubles with each mark.
_BRACES = r"\{(?:[^<>{}]++|\{[^<>{}]*+\})*+\}"
_ATTRIBUTE = rf"(?>\s++[\w:.-]++(?:=(?:\"[^\"<>]*\"|'[^'<>]*'|{_BRACES}))?)"
_NAME = r"[A-Z][\w.]{0,60}+"
_TAG = rf"</?{_NAME}{_ATTRIBUTE}{{0,20}}+\s*+/?>"


class Rule(NamedTuple):
    """What a line, or a part of one, is written as."""

    pattern: re.Pattern[str]
    written: str | Callable[[re.Match[str]], str]


def _note(match: re.Match[str]) -> str:
    """Return the opening of a container for the note of a template: its kind and its title."""
    words = match["words"] or ""
    attributes = dict(re.findall(r"\b(\w{1,40})=[\"']([^\"']*)[\"']", words))
    bare = re.findall(
        r"(?<![=\w\"'])([A-Za-z]\w*)(?![\w=\"'])", re.sub(r"[\"'].*?[\"']", "", words)
    )
    quoted = re.search(r"(?<!=)[\"']([^\"']*)[\"']", words)
    kind = (
        attributes.get("style")
        or attributes.get("type")
        or attributes.get("color")
        or next(iter(bare), "")
    )
    title = attributes.get("title") or (quoted[1] if quoted else "")
    name = match["name"].lower()
    is_named = name in ("tab", "note", "tip", "info", "warning", "danger", "details")
    return f"{match['indent']}::: {name if is_named else kind or 'note'} {title}".rstrip()


def _callout(match: re.Match[str]) -> str:
    """Return the title of a callout that forges do not know, as a line of its quote."""
    kind, title = match["kind"], match["title"].strip()
    if kind.upper() in _ALERTS and not match["fold"] and not title:
        return match[0]

    return f"{match['quote']}**{title or kind.capitalize()}**  "


_ALERTS = frozenset({"NOTE", "TIP", "IMPORTANT", "WARNING", "CAUTION"})
_NOTES = "hint|notice|alert|callout|admonition|note|tip|info|warning|danger|details|tab"
_COMPONENTS = Rule(re.compile(rf"[ \t]*(?:{_TAG}[ \t]*+)++"), "")
"""<Badge status={status}></Badge>"""
_IMPORT = Rule(
    re.compile(r"import\s++[\w{},*\s]{1,200}?(?<=\s)from\s++['\"][^'\"]{1,200}['\"];?\s*"), ""
)
"""import Tabs from "@theme/Tabs";"""
_EXPORT = Rule(
    re.compile(
        r"export\s+(?:"
        r"(?:const|let)\s+(?:[\w$]+(?:\s*:[^=]{1,100})?|[\[{][^=]{1,200})\s*=.{1,2000}[;})]"
        r"|default\s+(?:(?:async\s+)?function\b|class\b|[({]).{1,2000}[;}]"
        r"|default\s+[\w$.]+(?:\([\w$., ]*\))?;"
        r")\s*"
    ),
    "",
)
"""export const x = 1; export default Layout; "export default settings (see below)" is text"""
_COMMENT = Rule(re.compile(r"[ \t]*\{/\*.*\*/\}[ \t]*"), "")
"""{/* a comment */}"""
_TAB = Rule(
    re.compile(r'(?P<indent>[ \t>]*)===[!+]?[ \t]+(?P<title>".+")[ \t]*'),
    r"\g<indent>!!! tab \g<title>",
)
"""=== 'Tab'"""
_HINT = Rule(
    re.compile(r"(?P<indent>[ \t>]*)\{%\s*(?P<name>hint|tab)\b(?P<words>.*?)%\}[ \t]*"), _note
)
"""{% hint style="info" %}"""
_END_OF_HINT = Rule(
    re.compile(r"(?P<indent>[ \t>]*)\{%\s*end(?:hint|tab)\s*%\}[ \t]*"), r"\g<indent>:::"
)
"""{% endhint %}"""
_SHORTCODE = Rule(
    re.compile(
        rf"(?P<indent>[ \t>]*)\{{\{{[<%]\s*(?P<name>{_NOTES})\b(?P<words>[^/]*?)[%>]\}}\}}[ \t]*"
    ),
    _note,
)
"""{{< notice tip "Title" >}}"""
_END_OF_SHORTCODE = Rule(
    re.compile(rf"(?P<indent>[ \t>]*)\{{\{{[<%]\s*/\s*(?:{_NOTES})\s*[%>]\}}\}}[ \t]*"),
    r"\g<indent>:::",
)
"""{{< /notice >}}"""
_TEMPLATE = Rule(
    re.compile(r"[ \t>]*(?:(?:\{%[^{}%]{1,300}%\}|\{\{[<%][^{}]{1,300}[%>]\}\})[ \t]*)+"), ""
)
"""{% include "x.md" %}, {{< toc >}}"""
_LOOK = r"(?:(?:[.#][\w-]{1,60}+)+|[\w-]{1,60}=(?:\"[^\"{}]*\"|[^\s{}\"]+)|toc(?![\w-]))"
_ATTRIBUTES = Rule(
    re.compile(rf"[ \t>]*\{{:(?:\s*{_LOOK}(?:\s+{_LOOK})*\s*|:/?[a-z][^{{}}]{{0,200}})\}}[ \t]*"),
    "",
)
"""{: .no_toc }, {:toc}, {::options toc_levels="1" /}"""
_CONTENTS = Rule(re.compile(r"\[TOC\]\s*|\[\[_?toc_?\]\]\s*", re.IGNORECASE), "")
"""[TOC], [[_TOC_]]"""
_ABBREVIATION = Rule(re.compile(r"\*\[[^\]\n]{1,60}\]:\s.*"), "")
"""*[ADR]: Architecture Decision Record"""
_CALLOUT = Rule(
    re.compile(
        r"(?P<quote>[ \t]*(?:>[ \t]?)+)\[!(?P<kind>[A-Za-z][\w-]{0,30})(?:\|[^\]]*)?\]"
        r"(?P<fold>[-+]?)(?P<title>.*)"
    ),
    _callout,
)
"""> [!info]- Title"""
LINES = (
    *(_COMPONENTS, _IMPORT, _EXPORT, _COMMENT, _TAB),
    *(_HINT, _END_OF_HINT, _SHORTCODE, _END_OF_SHORTCODE),
    *(_TEMPLATE, _ATTRIBUTES, _CONTENTS, _ABBREVIATION, _CALLOUT),
)
"""Whole lines; the first rule that fits counts."""
_EMPTY_COMPONENT = Rule(re.compile(rf"<{_NAME}{_ATTRIBUTE}{{0,20}}+\s*+/>"), "")
"""<Badge a="b" />; `List<String>` is text"""
_COMPONENT = Rule(
    re.compile(rf"<(?P<tag>{_NAME}){_ATTRIBUTE}{{1,20}}+\s*+>(?P<inner>[^<>]*)</(?P=tag)>"),
    r"\g<inner>",
)
"""<Tab title="One">first</Tab>"""
_REFERENCE = Rule(re.compile(r"\{\{[<%]\s*(?:rel)?ref\s+\"([^\"]{1,300})\"\s*[%>]\}\}"), r"\1")
"""[words]({{< ref "other.md" >}})"""
_LINK_ATTRIBUTES = Rule(re.compile(rf"(?<=\))\{{:?\s*{_LOOK}(?:\s+{_LOOK})*\s*\}}"), "")
"""[words](address){ .md-button width="300" }"""
PARTS = (_EMPTY_COMPONENT, _COMPONENT, _REFERENCE, _LINK_ATTRIBUTES)
"""Parts of a line that are in no code; all that fit count."""


def common_markdown(text: str) -> str:
    """Return a text as common Markdown; its lines keep their numbers, and code is left alone."""
    if not any(mark in text for mark in _TELLING):
        return text

    lines = text.split("\n")
    _rewrite_directives(lines)
    for number, line in list(outside_fences(lines)):
        if len(line) <= _LONGEST_LINE and any(mark in line for mark in _TELLING):
            lines[number] = _common_line(line)

    return "\n".join(lines)


def outside_fences(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yield the lines that are in no block of code, each with its number."""
    fence = ""
    for number, line in enumerate(lines):
        mark = _FENCE.match(line)
        if mark is not None:
            fence = "" if fence and mark["mark"].startswith(fence) else fence or mark["mark"]
        elif not fence:
            yield number, line


def _common_line(line: str) -> str:
    # Indented it is a block of code, or inside a list: there tabs alone are read.
    is_indented = line.startswith(("    ", "\t"))
    for rule in (_TAB,) if is_indented else LINES:
        if match := rule.pattern.fullmatch(line):
            if isinstance(rule.written, str):
                return match.expand(rule.written)

            return rule.written(match)

    if is_indented:
        return line

    parts = []
    end = 0
    for code in _SPAN.finditer(line):
        parts += [_common_words(line[end : code.start()]), code[0]]
        end = code.end()

    return "".join([*parts, _common_words(line[end:])])


def _common_words(text: str) -> str:
    for rule in PARTS:
        text = rule.pattern.sub(rule.written, text)

    return text


_DIRECTIVE = re.compile(
    r"(?P<indent>[ \t>]*)(?P<mark>`{3,}|~{3,})\{(?P<name>[a-z][\w-]{0,30})\}(?P<title>.*)"
)
"""The opening of a directive: a block of code whose language is in braces."""
_DIRECTIVES = frozenset(
    (
        "admonition",
        "attention",
        "caution",
        "danger",
        "dropdown",
        "error",
        "hint",
        "important",
        "note",
        "seealso",
        "tip",
        "warning",
    )
)
"""Those that are notes for readers."""
_CODE = frozenset({"code", "code-block", "code-cell", "mermaid", "sourcecode"})
_OPTION = re.compile(r"[ \t>]*:[a-z][\w-]*:.*")


def _rewrite_directives(lines: list[str]) -> None:
    """Write notes in place of the directives that are some, and blocks of code for those of
    code.
    """
    mark = ""
    opening: re.Match[str] | None = None
    at = 0
    for number, line in enumerate(lines):
        fence = _FENCE.match(line)
        if fence is None:
            continue

        if not mark:
            mark, at = fence["mark"], number
            opening = _DIRECTIVE.fullmatch(line)
        elif fence["mark"].startswith(mark) and not line[fence.end() :].strip():
            mark = ""
            if opening is not None:
                _rewrite_directive(lines, opening, at, number)


def _rewrite_directive(lines: list[str], opening: re.Match[str], first: int, last: int) -> None:
    name, title = opening["name"], opening["title"].strip()
    indent, mark = opening["indent"], opening["mark"]
    if name in _CODE:
        language = title if name != "mermaid" else name
        lines[first] = f"{indent}{mark}{language}"
    elif name in _DIRECTIVES:
        kind = "note" if name in ("admonition", "seealso") else name
        kind = "details" if name == "dropdown" else kind
        heading = "See also" if name == "seealso" else title
        lines[first] = f"{indent}{':' * len(mark)}{kind} {heading}".rstrip()
        lines[last] = f"{indent}{':' * len(mark)}"
        for number in range(first + 1, last):
            if not _OPTION.fullmatch(lines[number]):
                break

            lines[number] = indent.rstrip(" \t")
