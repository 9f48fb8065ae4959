"""Rows of the push index, compiled from records."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from orbit_registry.formats.adr.headings import section_key
from orbit_registry.formats.globs import Alternative, Anchor, Glob, anchors, literal_of, parse_glob
from orbit_registry.formats.untrusted import inert_line
from orbit_registry.hook import index as reader
from orbit_registry.hook.context import ASKS_AT_STOP, CAPTURES, NOTES_TURNS
from orbit_registry.hook.index import LIST
from orbit_registry.hook.select import compiled_pattern
from orbit_registry.matching.pack import ALTERNATIVES, SYMBOL, Part
from orbit_registry.model.freshness import WINDOWS, expires_at, stale_at
from orbit_registry.model.rank import Order, microseconds, order_of, priority_of, vote_key
from orbit_registry.model.record import Record
from orbit_registry.model.scope import symbol_glob, symbol_problem
from orbit_registry.model.votes import distinct_votes
from orbit_registry.operations.glob_counts import Edits
from orbit_registry.workspace.config import Config

LONGEST_TEASER = 400
LONGEST_NOTE = 100
_TELLING = ("consequences", "decision")
"""Sections of a decision that a note is taken from, the first one that says something."""
_HEADING = re.compile(
    r"^(?:(?P<mark>#{1,6})[ \t]+(?P<name>.+?)[ \t#]*$|(?P<bold>\*\*|__)(?P<run_in>[^*_\n]{1,50}?)[.:]?(?P=bold)[.:]?)",
    re.MULTILINE,
)
_ITEM = re.compile(r"^(?:[-*+]|\d{1,3}[.)]|>)[ \t]+")
_INTRODUCTION = (":", "because")
"""Ends of a line that the next item completes."""
_MARKUP = re.compile(r"\[([^\[\]]*)\]\([^()\s]*\)|\*\*")
_SENTENCE = re.compile(r"(?<=[\w`)\"']{2})[.!?](?=\s)|[。！？]")
_SEPARATORS = re.compile("[\x00-\x1f]")
_SAME = frozenset({"amends", "extends"})
"""Relations of records of which a brief shows one."""
_KINDS = {"path": "p", "directory": "d", "basename": "b", "segment": "s"}


@dataclass(frozen=True, slots=True)
class Origin:
    """State of a record's file: time (ns) and size, whether it is in the inbox, and why it may not be pushed."""

    mtime_ns: int = 0
    size: int = 0
    inbox: bool = False
    has_body: bool = False
    checksum: str = ""
    """Of the bytes of its file, as the hook compares them; empty if they are not compared."""
    cause: str = ""
    """Why it is out of date, but for its age."""
    is_trusted: bool = True
    label: str = ""
    """What tells rows of this origin from others, for those who make them."""


@lru_cache(maxsize=65_536)
def entry_of(text: str) -> str | None:
    """Return what a glob is compiled to; None for one that can't be read, which matches nothing.

    One text an alternative: whether its key decides, its canonical text, extension (with its dot), depth, then the
    keys under which it may be stored. A symbol is compiled to the one path that it names.
    """
    if text.startswith(SYMBOL):
        return LIST.join(["1", _plain_glob(text), "", "", f"p{text.removeprefix(SYMBOL).partition('::')[0]}"])
    glob = parse_glob(text)
    if not isinstance(glob, Glob):
        return None
    return ALTERNATIVES.join(map(_alternative, glob.alternatives, anchors(glob)))


def _plain_glob(text: str) -> str:
    """Return a glob; of a symbol the one that matches its file."""
    return symbol_glob(text.removeprefix(SYMBOL)) if text.startswith(SYMBOL) else text


def entries_of(parts: Iterable[Part]) -> dict[str, str]:
    """Return each glob of the parts, compiled."""
    globs = {glob for part in parts for glob in part.row[reader.GLOBS].split(LIST) if glob}
    return {glob: entry_of(glob) or "" for glob in globs}


def _alternative(alternative: Alternative, anchor: Anchor) -> str:
    keys = [_KINDS[anchor.kind] + anchor.text]
    if not anchor.decides:
        keys += _more_keys(alternative)
    extension = "" if anchor.extension is None else f".{anchor.extension}"
    depth = "" if anchor.depth is None else str(anchor.depth)
    return LIST.join(["1" if anchor.decides else "0", alternative.text, extension, depth, *dict.fromkeys(keys)])


def _more_keys(alternative: Alternative) -> Iterable[str]:
    """Yield further names that a path must have; the index is asked for the one in the fewest globs."""
    *directories, last = (segment for group in alternative.groups for segment in group)
    name = literal_of(last)
    if name is not None:
        yield f"b{name}"
    yield from (f"s{name}" for segment in directories if (name := literal_of(segment)) is not None)


def safe(text: str) -> str:
    """Return a text as data in another's block: one line, nothing unseen, no tag that could close it, no home."""
    line = inert_line(text)
    return line if len(line) <= LONGEST_TEASER else f"{line[: LONGEST_TEASER - 1].rstrip()}…"


def globs_of(record: Record) -> list[str]:
    """Return the globs of a record's scope that can be read, and its symbols, each behind a mark."""
    scope = record.scope
    globs = [glob for glob in scope.paths if not glob.startswith(SYMBOL) and entry_of(glob) is not None]
    return globs + [f"{SYMBOL}{_word(symbol)}" for symbol in scope.symbols if symbol_problem(symbol) is None]


def part_of(
    record: Record,
    origin: Origin,
    half_life_days: float,
    windows: Mapping[str, int | None] = WINDOWS,
    rejected: Sequence[str] = (),
) -> Part:
    """Return a record compiled; it is already free of secrets. `rejected` are its rejected options, compiled."""
    key = vote_key(record.votes, half_life_days)
    scope, status = record.scope, record.status
    expiry, ages = (
        None if at is None else int(at.timestamp()) for at in (expires_at(record), stale_at(record, windows))
    )
    globs = globs_of(record)
    links = [link.to for link in record.links]
    same = [*record.supersedes, *(link.to for link in record.links if link.rel in _SAME)]
    if record.text("path") and "versions" in record.data:
        same.append(f"/{record.text('path')}")
    pushed = status.phase != "closed" and status.pushed and not origin.inbox
    cause = origin.cause if pushed else ""
    lists = (scope.agents, scope.tasks, record.words("contexts"), record.words("anti_contexts"), scope.tags, links)
    row = (
        record.id, record.kind.name, status.name, status.phase, record.path, str(origin.mtime_ns), str(origin.size),
        origin.label, _teaser(record, origin), origin.checksum, record.kind.gate, _category(record),
        _number(expiry), str(priority_of(record)), _number(microseconds(record.text("updated_at"))),
        "" if key is None else repr(key), str(len(distinct_votes(record.votes))), record.text("project") or "",
        str(record.kind.place(record.data)), cause, _number(ages),
        compiled_pattern(record.text("error_pattern") or ""),
        *(LIST.join(map(_word, words)) for words in (*lists, same)),
        note_of(record) if pushed else "", LIST.join(globs), LIST.join(rejected),
    )  # fmt: skip
    flags = reader.EXCLUDES if any(glob.startswith("!") for glob in globs) else 0
    flags |= reader.EXPIRES if expiry is not None else 0
    flags |= reader.DOUBTED if cause or ages is not None else 0
    flags |= 0 if origin.is_trusted else reader.UNTRUSTED
    flags |= reader.PROCEDURAL if record.data.get("procedural") is True else 0
    cleaned = tuple(field if position >= reader.AGENTS or position == reader.TEASER else _word(field)
                    for position, field in enumerate(row))  # fmt: skip
    return Part(cleaned, flags, pushed)


def settings_of(config: Config) -> int:
    """Return the settings that the hook needs, as the index holds them."""
    names = {ASKS_AT_STOP: ("loop", "ask_at_stop"), NOTES_TURNS: ("loop", "note_turns"),
             CAPTURES: ("capture", "at_session_end")}  # fmt: skip
    return sum(bit for bit, name in names.items() if config.setting(*name) is True)


def order_in(part: Part) -> tuple[bool, Order]:
    """Return what a part is sorted by: what is pushed comes first."""
    row = part.row
    key = float(row[reader.RANK]) if row[reader.RANK] else None
    updated = int(row[reader.UPDATED_AT]) if row[reader.UPDATED_AT] else None
    order = order_of(key, int(row[reader.PRIORITY]), updated, row[reader.ID], row[reader.PATH])
    return not part.pushed, order


def broad_of(scopes: Iterable[Sequence[str]], edits: Edits) -> set[str]:
    """Return the scopes that have too many of the edits, as rows hold them."""
    plain = {LIST.join(globs): tuple(map(_plain_glob, globs)) for globs in scopes if globs}
    broad = edits.broad_scopes(plain.values())
    return {text for text, scope in plain.items() if scope in broad}


def with_breadth(parts: Iterable[Part], broad: Container[str]) -> list[Part]:
    """Return the parts with the flags of those whose scopes are broad."""
    return [
        part._replace(flags=part.flags | reader.BROAD) if part.row[reader.GLOBS] in broad else part for part in parts
    ]


def _teaser(record: Record, origin: Origin) -> str:
    line = f"- [{record.id}] {safe(record.title)}"
    source = record.source
    more = source.path if source else record.path if origin.has_body or record.prose.strip() else ""
    return f"{line}\n  more: {safe(more)}" if more else line


def note_of(record: Record) -> str:
    """Return the first sentence of what follows from a decision, else of a record's text; empty if it has none."""
    if record.kind.in_file:
        return ""
    if not record.kind.in_document:
        return _first_sentence(record.prose)
    return next(filter(None, (_first_sentence(_section(record.prose, key)) for key in _TELLING)), "")


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
    sentence = paragraph[: end.end()].rstrip() if end is not None else paragraph
    return sentence if len(sentence) <= LONGEST_NOTE else f"{sentence[: LONGEST_NOTE - 1].rstrip()}…"


def _section(prose: str, key: str) -> str:
    """Return the text of the first section of a kind, with those below it."""
    headings = list(_HEADING.finditer(prose))
    for position, heading in enumerate(headings):
        if section_key(heading["name"] or heading["run_in"]) == key:
            level = _level(heading)
            following = (other.start() for other in headings[position + 1 :] if _level(other) <= level)
            return prose[heading.end() : next(following, len(prose))]
    return ""


def _level(heading: re.Match[str]) -> int:
    """Return a heading's level; one that begins a line in bold letters is below all others."""
    return len(heading["mark"] or "#######")


def _category(record: Record) -> str:
    """Return a record's category: the one that its kind's schema gives where it states none."""
    category = record.text("category")
    if category is not None:
        return category
    default = record.kind.schema.document["properties"].get("category", {}).get("default")
    return default if isinstance(default, str) else ""


def _number(value: int | None) -> str:
    return "" if value is None else str(value)


def _word(text: str) -> str:
    return _SEPARATORS.sub(" ", text)
