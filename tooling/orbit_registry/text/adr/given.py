"""Fits prose that somebody gives into a decision's document, or says why it can't stand there; it writes no file."""

from __future__ import annotations

import re

from orbit_registry.errors import RefusedError
from orbit_registry.text.adr.model import Fact
from orbit_registry.text.adr.read import read_document
from orbit_registry.text.markdown import Document, Heading, parse_markdown

_DEEPEST = 6
_BELOW = "\n\n# what follows\n"
_STATED = {
    "status": "status",
    "statement": "status",
    "superseding": "successor",
    "date": "date",
    "status_date": "date",
    "title": "title",
    "number": "number",
}
"""What a document's head states, by the names its facts have, in the user's words."""
_MARKS = re.compile(r"[ ]{0,3}(#{1,6})(?=[ \t]|$)")
_CLOSING = re.compile(r"(?<=[ \t])#+$|^#+$")
_BLOCK = re.compile(r" {4}|\t|[ ]{0,3}(?:#{1,6}(?:[ \t]|$)|[-*+>|](?:[ \t]|$)|\d{1,9}[.)](?:[ \t]|$)|```|~~~|<)")


def fitted(text: str, level: int) -> str:
    """Return prose whose headings all stand below a heading of `level` (1 to 6), with `\\n` as the line end.

    The headings keep their order among each other as far as Markdown's six levels go. Code, quotes and lists stay.

    Raises:
        RefusedError: it begins with a front matter, or leaves a code fence, a comment or an HTML block open, which
            would swallow whatever stands below it.
    """
    bare = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").strip("\n")
    if bare.startswith("---") and parse_markdown(bare).front_matter is not None:
        raise RefusedError(
            "the text begins with a front matter (`---`), which has no place inside a document",
            hint="take it out; options state what it says: --status, --date, --tag",
        )
    # The line end in front keeps a first paragraph of `Key: value` lines from being read as a front matter.
    document = parse_markdown(f"\n{bare}{_BELOW}")
    _refuse_open(document)
    own = document.headings[:-1]
    return _shifted(document, max(0, level + 1 - min((one.level for one in own), default=_DEEPEST)))


def lowered(text: str, by: int) -> str:
    """Return a text with its headings `by` levels lower, at most on the sixth."""
    return _shifted(parse_markdown(f"\n{text}{_BELOW}"), by)


def _refuse_open(document: Document) -> None:
    last = document.headings[-1] if document.headings else None
    if last is not None and document.text[last.section.start :] == _BELOW.lstrip("\n"):
        return
    open_block = document.hidden[-1]
    line = document.lines.position(open_block.start).line - 1
    what = "a code fence" if open_block in document.code else "a comment or a block of HTML"
    raise RefusedError(
        f"line {line} of the text opens {what} that is never closed, so it would swallow what follows in the document",
        hint="close it in the text",
    )


def _shifted(document: Document, by: int) -> str:
    """Return a parsed text, without the line end and the heading put around it, with its headings `by` levels lower."""
    text = document.text
    for heading in reversed(document.headings[:-1] if by else ()):
        lines = text[heading.section.start : heading.body.start]
        text = text[: heading.section.start] + _lower(lines, heading, by) + text[heading.body.start :]
    return text[1 : -len(_BELOW)]


def _lower(lines: str, heading: Heading, by: int) -> str:
    level = min(heading.level + by, _DEEPEST)
    marks = _MARKS.match(lines)
    if marks is not None:
        return lines[: marks.start(1)] + "#" * level + lines[marks.end(1) :]
    *words, _ = lines.rstrip("\n").split("\n")  # underlined: the last line is the rule
    title = " ".join(word.strip() for word in words)
    return f"{'#' * level} {_CLOSING.sub(lambda match: chr(92) + match.group(), title)}\n"


def begins_block(text: str) -> bool:
    """Say whether a text's first lines would lose their meaning if words stood in front of them on the same line."""
    document = parse_markdown(f"\n{text}\n")
    first = document.lines.ends[1]
    starts = [one.section.start for one in document.headings] + [one.span.start for one in document.tables]
    return _BLOCK.match(text) is not None or any(start <= first for start in starts)


def refuse_restated(before: str, after: str, path: str) -> None:
    """Raise where prose that came into a document states anew what its head states: number, title, status or date.

    Both texts are of the document at `path`, without the prose and with it.

    Raises:
        RefusedError: it names the line.
    """
    old, new = read_document(before, path), read_document(after, path)
    if old.format != new.format or len(old.entries) != len(new.entries):
        raise RefusedError(
            f"with this text {path} would no longer be read as the decisions it holds",
            hint="give the text's headings other words than those of a decision (`ADR-0001 — title`)",
        )
    for was, becomes in zip(old.entries, new.entries, strict=True):
        known = {(fact.key, fact.raw, fact.style) for fact in was.facts}
        for fact in becomes.facts:
            if fact.key in _STATED and (fact.key, fact.raw, fact.style) not in known:
                raise RefusedError(
                    f"`{_line(after, fact)}` in the text reads as the decision's {_STATED[fact.key]}",
                    hint=f"take it out, or word it as prose; a decision's {_STATED[fact.key]} is stated by a command",
                )


def _line(text: str, fact: Fact) -> str:
    """Return the line on which a fact stands."""
    at = next((at for at in range(fact.span.start, fact.span.end) if not text[at].isspace()), fact.span.start)
    return text[text.rfind("\n", 0, at) + 1 :].splitlines()[0].strip()[:80]
