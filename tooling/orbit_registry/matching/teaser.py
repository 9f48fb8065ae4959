"""Words of a record in an agent's context:
its line, and a sentence that says what follows from it.
"""

import re

from orbit_registry.formats.untrusted import cut, inert_line
from orbit_registry.model.fields import MORE_LINE
from orbit_registry.model.record import Record

LONGEST_TEASER = 400
LONGEST_NOTE = 100
_TELLING = ("consequences", "decision")
"""Sections of a decision that a note is taken from, the first one that says something."""
_HEADING = re.compile(
    r"^(?:(?P<mark>#{1,6})[ \t]+(?P<name>.+?)[ \t#]*$|(?P<bold>\*\*|__)(?P<run_in>[^*_\n"
    r"]{1,50}?)[.:]?(?P=bold)[.:]?)",
    re.MULTILINE,
)
_ITEM = re.compile(r"^(?:[-*+]|\d{1,3}[.)]|>)[ \t]+")
_INTRODUCTION = (":", "because")  # ends of a line that the next item completes
_MARKUP = re.compile(r"\[([^\[\]]*)\]\([^()\s]*\)|\*\*")
_SENTENCE = re.compile(r"(?<=[\w`)\"']{2})[.!?](?=\s)|[。！？]")


def safe(text: str) -> str:
    """Return a text as data in another's block:
    one line, nothing unseen, no tag that could close it, no home.
    """
    return cut(inert_line(text), LONGEST_TEASER)


def teaser_of(record: Record, has_body: bool) -> str:
    """Return the line of a record in an agent's context, and where its full text is."""
    line = f"- [{record.id}] {safe(record.title)}"
    source = record.source
    more = ""
    if source:
        more = source.path
    elif has_body or record.prose.strip():
        more = record.path

    return f"{line}{MORE_LINE}{safe(more)}" if more else line


def note_of(record: Record) -> str:
    """Return the first sentence of what follows from a decision, else of a record's text;
    empty if it has none.
    """
    if record.kind.in_file:
        return ""
    if not record.kind.in_document:
        return _first_sentence(record.prose)

    return next(
        filter(None, (_first_sentence(section_of(record.prose, key)) for key in _TELLING)), ""
    )


def _first_sentence(text: str) -> str:
    lines: list[str] = []
    for line in map(str.strip, text.split("\n")):
        introduces = bool(lines) and lines[-1].endswith(_INTRODUCTION) and not line.startswith("#")
        if lines and not introduces and (not line or _ITEM.match(line) or line.startswith("#")):
            break
        if line and not line.startswith(("#", "|", "<", "```", "~~~", "_")):
            lines.append(_MARKUP.sub(r"\1", _ITEM.sub("", line)))

    paragraph = safe(" ".join(lines))
    end = _SENTENCE.search(paragraph)
    return cut(paragraph[: end.end()].rstrip() if end is not None else paragraph, LONGEST_NOTE)


def section_of(prose: str, key: str) -> str:
    """Return the text of a section, by the key of its heading; empty if there is none."""
    from orbit_registry.formats.adr.headings import (
        section_key,
    )  # its patterns take 30 ms, and most syncs write nothing

    headings = list(_HEADING.finditer(prose))
    for position, heading in enumerate(headings):
        if section_key(heading["name"] or heading["run_in"]) == key:
            level = _level(heading)
            following = (
                other.start() for other in headings[position + 1 :] if _level(other) <= level
            )
            return prose[heading.end() : next(following, len(prose))]

    return ""


def _level(heading: re.Match[str]) -> int:
    return len(heading["mark"] or "#######")
