"""Three-way merge of a decision log, entry by entry, and git's merge driver for logs.

A merge by line fails on a log: two branches that each append an entry change the same place. Here entries of both
sides are kept, an edit of one side wins, and only what both sides changed in the same lines stays a conflict, around
that entry alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from zlib import crc32

from orbit_registry.errors import OrbitError
from orbit_registry.formats.adr.reader import read_document
from orbit_registry.formats.adr.writer import split_separator
from orbit_registry.workspace.files import DOCUMENT_LIMIT, read_bytes, write_atomic
from orbit_registry.workspace.git import merge_lines

Key = tuple[int, int]
"""An entry's number, a negative one of its title where it has none, and how many entries above have the same."""

ABOVE = "the text above the entries"
BELOW = "the text below the entries"


@dataclass(frozen=True, slots=True)
class LogMerge:
    """A merged log; `contested` names what both sides changed, whose places hold conflict markers."""

    text: str
    contested: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Piece:
    """A stretch of a log: its content, and the blank lines and rule that separate it from what follows."""

    content: str
    gap: str


@dataclass(frozen=True, slots=True)
class _Log:
    head: _Piece
    entries: Mapping[Key, _Piece]
    tail: _Piece


def merge_logs(base: str, ours: str, theirs: str) -> LogMerge:
    """Return the merge of two versions of a log that both come from `base` ('' where there was none)."""
    if ours == theirs or theirs == base:
        return LogMerge(ours)
    if ours == base:
        return LogMerge(theirs)
    newline = _newline(ours) or _newline(theirs)
    texts = (base, ours, theirs)
    uniform = all(_newline(text) is not None for text in texts)
    plain = [text.replace("\r\n", "\n") if uniform else text for text in texts]
    merged = _merge([_split(text) for text in plain])
    return LogMerge(merged.text.replace("\n", "\r\n"), merged.contested) if uniform and newline == "\r\n" else merged


def _newline(text: str) -> str | None:
    crlf = text.count("\r\n")
    if text.count("\r") != crlf or crlf not in (0, text.count("\n")):
        return None
    return "\r\n" if crlf else "\n"


def _split(text: str) -> _Log:
    file = read_document(text, "decisions.md")
    if file.format != "log" or not file.entries:
        return _Log(_Piece(*split_separator(text)), {}, _Piece("", ""))
    starts = [entry.span.start for entry in file.entries]
    ends = [*starts[1:], file.entries[-1].span.end]
    entries: dict[Key, _Piece] = {}
    occurrences: Counter[int] = Counter()
    for entry, start, end in zip(file.entries, starts, ends, strict=True):
        number = int(entry.number) if entry.number else -1 - crc32(entry.title.encode())
        entries[number, occurrences[number]] = _Piece(*split_separator(text[start:end]))
        occurrences[number] += 1
    return _Log(_Piece(*split_separator(text[: starts[0]])), entries, _Piece(*split_separator(text[ends[-1] :])))


def _merge(logs: Sequence[_Log]) -> LogMerge:
    base, ours, theirs = logs
    contested: list[str] = []
    head = _merge_piece(base.head, ours.head, theirs.head, ABOVE, contested) or _Piece("", "")
    merged: list[_Piece] = []
    for key in _order(ours.entries, theirs.entries, base.entries):
        old, mine, other = (log.entries.get(key) for log in logs)
        some = mine or other or old or _Piece("", "")
        name = f"ADR-{key[0]:04d}" if key[0] >= 0 else some.content.partition("\n")[0].strip("# \t")
        piece = _merge_piece(old, mine, other, name, contested)
        if piece is not None:
            merged.append(piece)
    tail = _merge_piece(base.tail, ours.tail, theirs.tail, BELOW, contested) or _Piece("", "")
    return LogMerge(_joined(head, merged, tail, logs), tuple(contested))


def _order(ours: Iterable[Key], theirs: Iterable[Key], base: Iterable[Key]) -> list[Key]:
    """Return every entry once: in our order, those of the other versions inserted at their positions."""
    result = list(ours)
    there = list(theirs)
    placed = set(result)
    numbers = [[key[0] for key in keys] for keys in (result, there)]
    numbered = all(number >= 0 for order in numbers for number in order)
    falling = numbered and all(order == sorted(order, reverse=True) for order in numbers) and max(map(len, numbers)) > 1
    rising = numbered and all(order == sorted(order) for order in numbers)
    for index, key in enumerate(there):
        if key in placed:
            continue
        placed.add(key)
        if rising or falling:
            later = (at for at, other in enumerate(result) if (other > key if rising else other < key))
            result.insert(next(later, len(result)), key)
        else:
            above = there[index - 1] if index else None
            result.insert(result.index(above) + 1 if above else 0, key)
    return result + [key for key in base if key not in placed]


def _merge_piece(
    base: _Piece | None, ours: _Piece | None, theirs: _Piece | None, name: str, contested: list[str]
) -> _Piece | None:
    contents = [piece.content if piece else None for piece in (base, ours, theirs)]
    if contents[1] == contents[2] or contents[2] == contents[0]:
        return ours
    if contents[1] == contents[0]:
        return theirs
    if base is not None and ours is not None and theirs is not None:
        text, conflict = merge_lines(*(f"{piece.content}\n" for piece in (base, ours, theirs)))
        if conflict:
            contested.append(name)
        return _Piece(text.rstrip("\n"), ours.gap)
    contested.append(name)
    sides = [f"{content}\n" if content else "" for content in contents[1:]]
    gap = (ours or theirs or _Piece("", "\n")).gap
    return _Piece(f"<<<<<<< ours\n{sides[0]}=======\n{sides[1]}>>>>>>> theirs", gap)


def _joined(head: _Piece, entries: Sequence[_Piece], tail: _Piece, logs: Sequence[_Log]) -> str:
    usual = _usual_gap(logs)
    ends = [list(log.entries.values())[-1] for log in (logs[1], logs[2], logs[0]) if log.entries]
    was_last = {id(piece) for piece in ends}
    parts = [piece for piece in (head, *entries, tail) if piece.content]
    result: list[str] = []
    for index, piece in enumerate(parts):
        follows = parts[index + 1] if index + 1 < len(parts) else None
        gap = piece.gap
        if piece is not head and piece is not tail:
            if follows is None or follows is tail:
                gap = ends[0].gap if ends else gap
            elif id(piece) in was_last:
                gap = usual
        if follows is not None and gap.count("\n") < 2:
            gap = usual if piece is not head and follows is not tail else "\n\n"
        result += (piece.content, gap)
    return "".join(result)


def _usual_gap(logs: Sequence[_Log]) -> str:
    gaps: Counter[str] = Counter()
    for log in (logs[1], logs[2], logs[0]):
        gaps.update(piece.gap for piece in list(log.entries.values())[:-1] if piece.gap.count("\n") > 1)
    return gaps.most_common(1)[0][0] if gaps else "\n\n"


def merge_driver(base: Path, ours: Path, theirs: Path) -> int:
    """Merge a log for git: the result goes to `ours`. Returns 0, or 1 where it holds a conflict.

    A version that can't be read as text is left unchanged, for git to report.
    """
    try:
        texts = [read_bytes(file, limit=DOCUMENT_LIMIT).decode("utf-8") for file in (base, ours, theirs)]
    except (OrbitError, UnicodeDecodeError):
        return 1
    merged = merge_logs(*texts)
    if merged.text != texts[1]:
        write_atomic(ours, merged.text)
    return 1 if merged.contested else 0
