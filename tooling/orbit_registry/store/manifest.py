"""The form in which a cache's manifest stands in its file: columns, because it is loaded at each start; opens no file.

Numbers are packed, and notes, which few runs need, stand in a line of their own.
"""

from __future__ import annotations

import json
from array import array
from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import chain, repeat
from mmap import mmap
from typing import NamedTuple

Stamp = tuple[int, int, int, int]
"""Modification time and change time (nanoseconds), size (bytes), inode."""
compact = json.JSONEncoder(separators=(",", ":"), check_circular=False).encode
"""How caches write JSON: in ASCII, without spaces, and without a look for circles, which took a third."""


class Entry(NamedTuple):
    """What is remembered of one file."""

    stamp: Stamp
    sha256: str
    offset: int = -1
    """Where the value stands; -1 where there is none."""
    length: int = 0
    mark: str = ""
    """A word about the value, loaded with the entry."""
    row: int = -1
    """Where its note stands among those that were kept; -1 where there is none."""


class Manifest(NamedTuple):
    """What a manifest holds: files by path; folders by path, each with its names; the notes, unparsed."""

    entries: dict[str, Entry]
    folders: dict[str, tuple[Stamp, list[str]]]
    notes: memoryview


def pack_manifest(
    fingerprint: str,
    entries: Mapping[str, Entry],
    folders: Mapping[str, tuple[Stamp, Sequence[str]]],
    notes: Iterable[object],
) -> bytes:
    """Return the bytes of a manifest; `notes` are those of the entries, in their order.

    Raises:
        OverflowError: a number has more than 64 bits.
    """
    lists = {names: number for number, names in enumerate({tuple(names) for _, names in folders.values()})}
    columns = {
        "fingerprint": fingerprint,
        "files": list(entries),
        "places": _packed((*one.stamp, one.offset, one.length) for one in entries.values()),
        "hashes": [one.sha256 for one in entries.values()],
        "marks": [one.mark for one in entries.values()] if any(one.mark for one in entries.values()) else [],
        "folders": list(folders),
        "stamps": _packed((*stamp, lists[tuple(names)]) for stamp, names in folders.values()),
        "names": list(lists),
    }
    return f"{compact(columns)}\n{compact(list(notes))}".encode()


def unpack_manifest(content: bytes | mmap, fingerprint: str) -> Manifest | None:
    """Return what the bytes of a manifest hold; None where they were written for something else.

    Raises:
        ValueError, LookupError, TypeError: they are no manifest.
    """
    end = content.find(b"\n")
    said = json.loads(str(memoryview(content)[:end], "utf-8"))
    if said["fingerprint"] != fingerprint:
        return None
    *stamps, offsets, lengths = _unpacked(said["places"], 6)
    marks = said["marks"] or repeat("", len(offsets))
    parts = (zip(*stamps, strict=True), said["hashes"], offsets, lengths, marks, range(len(offsets)))
    # As `Entry._make`, which is a function of Python's own and takes twice as long.
    rows = map(partial(tuple.__new__, Entry), zip(*parts, strict=True))
    entries: dict[str, Entry] = dict(zip(said["files"], rows, strict=True))
    *stamps, lists = _unpacked(said["stamps"], 5)
    listed = zip(zip(*stamps, strict=True), map(said["names"].__getitem__, lists), strict=True)
    return Manifest(entries, dict(zip(said["folders"], listed, strict=True)), memoryview(content)[end + 1 :])


def _packed(rows: Iterable[Iterable[int]]) -> str:
    return b64encode(array("q", chain.from_iterable(rows)).tobytes()).decode()


def _unpacked(text: str, width: int) -> list[array[int]]:
    """Return the columns of what `_packed` made of rows of that width."""
    numbers = array("q", b64decode(text))
    return [numbers[column::width] for column in range(width)]
