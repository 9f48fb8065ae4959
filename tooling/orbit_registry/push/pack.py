"""Writes the push index's bytes from its parts, and takes an index apart into the same parts; it opens no file.

`pack` depends on nothing but the parts: an index made of some that were kept and some that are new is, byte for byte,
the one made of all of them anew.
"""

from __future__ import annotations

import zlib
from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from mmap import mmap

from orbit_registry.push import reader
from orbit_registry.push.reader import GLOBS, LIST, RESTS, Index, Row

SYMBOL = "\x1c"
"""Begins what stands among a record's globs for one of its symbols: the symbol as it is written."""
ALTERNATIVES = "\x1e"
ENTRY = "\x1d"
_ANY = ("", "")
MORE = "\n  more: "
"""Stands in a teaser between a record's line and the file that has its whole text."""


@dataclass(frozen=True, slots=True)
class Part:
    """One record, compiled: what it is sorted by, its row (GLOBS and RESTS hold texts, not numbers), its flags."""

    order: tuple[object, ...]
    row: tuple[str, ...]
    flags: int
    pushed: bool


@dataclass(slots=True)
class _Places:
    """What stands where: key → details (extension, depth) → alternatives → hits."""

    details: dict[str, dict[tuple[str, str], dict[str, list[int]]]]

    def add(self, key: str, detail: tuple[str, str], pattern: str) -> list[int]:
        """Return the hits of one alternative under one key; `pattern` is empty where key and detail decide."""
        return self.details.setdefault(key, {}).setdefault(detail, {}).setdefault(pattern, [])


def pack(parts: Iterable[Part], entries: Mapping[str, str], half_life_us: int = 0, holdout: int = 0) -> bytes:
    """Return the bytes of an index; `entries` says for each glob what its alternatives are (see `compile`), `holdout`
    how many of a million pairs of a session and a record are withheld.
    """
    ranked = sorted(parts, key=lambda part: (not part.pushed, part.order))
    numbers: dict[str, int] = {}
    rests: dict[str, int] = {}
    hits: dict[str, list[int]] = {}
    places = _Places({})
    rows = []
    for number, part in enumerate(ranked):
        base = number << 32
        row = list(part.row)
        globs = row[GLOBS].split(LIST) if row[GLOBS] else []
        row[GLOBS] = LIST.join([str(numbers.setdefault(glob, len(numbers))) for glob in globs])
        if row[RESTS]:
            row[RESTS] = LIST.join([str(rests.setdefault(one, len(rests))) for one in row[RESTS].split(LIST)])
        rows.append("\0".join(row).encode())
        for place, glob in enumerate(globs):
            if not glob.startswith("!"):
                hits.setdefault(glob, []).append(base | place)
        for tag in row[reader.TAGS].split(LIST) if row[reader.TAGS] else ():
            places.add(f"t{tag}", _ANY, "").append(base)
        if row[reader.CATEGORY]:
            places.add(f"c{row[reader.CATEGORY]}", _ANY, "").append(base)
        if document := row[reader.TEASER].partition(MORE)[2]:
            places.add(f"m{document}", _ANY, "").append(base)
        if row[reader.ERROR]:
            places.add("e", _ANY, row[reader.ERROR]).append(base)
        if row[reader.GATE] == "always":
            places.add("galways", _ANY, "").append(base)
        elif row[reader.GATE] == "relevant_and_linked":
            places.add(f"i{row[reader.ID]}", _ANY, "").append(base)
            for target in dict.fromkeys(row[reader.LINKS].split(LIST)) if row[reader.LINKS] else ():
                places.add(f"l{target}", _ANY, "").append(base)
            if row[reader.LINKS]:
                places.add("l", _ANY, "").append(base)  # says that it is worth asking by id
    _spread(places, hits, entries)
    pushed = sum(part.pushed for part in ranked)
    flags = bytes(part.flags for part in ranked)
    written = [f"{glob}{ENTRY}{entries[glob]}".encode() for glob in numbers]
    texts = {"row": rows, "glob": written, "rest": [one.encode() for one in rests]}
    return _assembled(places, texts, flags, pushed, (half_life_us, holdout))


def _spread(places: _Places, hits: Mapping[str, list[int]], entries: Mapping[str, str]) -> None:
    """Put each glob's hits under a key of each of its alternatives; the key with the fewest patterns, where one is to
    be tried."""
    alternatives = [(one.split(LIST), held) for glob, held in hits.items() for one in entries[glob].split(ALTERNATIVES)]
    crowd: Counter[tuple[str, str, str]] = Counter()
    undecided = {tuple(fields) for fields, _ in alternatives if fields[0] != "1"}
    for _, _, extension, depth, *keys in undecided:
        crowd.update((key, *_detail(key, extension, depth)) for key in keys)
    touched: set[int] = set()
    for fields, held in alternatives:
        decides, text, extension, depth, *keys = fields
        key = keys[0]
        if decides == "1":
            text = ""
        elif len(keys) > 1:
            key = min(keys, key=lambda one: (crowd[one, *_detail(one, extension, depth)], one))
        under = places.add(key, _detail(key, extension, depth), text)
        if under:
            touched.add(id(under))
        under += held
    for details in places.details.values():
        for patterns in details.values():
            for under in patterns.values():
                if id(under) in touched:
                    under.sort()


def _detail(key: str, extension: str, depth: str) -> tuple[str, str]:
    return (extension, depth) if key[0] in "ds" else ("", depth) if key[0] == "b" else _ANY


def _assembled(
    places: _Places, texts: Mapping[str, Sequence[bytes]], flags: bytes, pushed: int, settings: Sequence[int]
) -> bytes:
    extensions = {f"x{detail[0][1:]}" for details in places.details.values() for detail in details if detail[0]}
    keys = [key.encode("utf-8", "surrogatepass") for key in {*places.details, *extensions}]
    buckets = 1 << max(4, len(keys).bit_length())
    hashes = {key: reader.checksum(key) for key in keys}
    keys.sort(key=lambda key: (hashes[key] & (buckets - 1), hashes[key], key))
    heap = _Heap()
    bucket = Counter(hashes[key] & (buckets - 1) for key in keys)
    numbers = {key[1:].decode("utf-8", "surrogatepass"): place for place, key in enumerate(keys) if key[:1] == b"x"}
    detail, detail_key, use, pattern, posting, hit = (array(form) for form in "IQIQIQ")
    for key in keys:
        detail.append(len(detail_key))
        for code, patterns in _coded(places.details.get(key.decode("utf-8", "surrogatepass"), {}), numbers):
            detail_key.append(code)
            use.append(len(pattern))
            for text in sorted(patterns):
                pattern.append(heap.add(text.encode()) if text else 0)
                posting.append(len(hit))
                hit.extend(patterns[text])
    detail.append(len(detail_key))
    use.append(len(pattern))
    posting.append(len(hit))
    sections = {
        "bucket": array("I", _starts(bucket[number] for number in range(buckets))),
        "hash": array("Q", [hashes[key] for key in keys]),
        "text": array("Q", [heap.add(key) for key in keys]),
        "detail": detail,
        "detail_key": detail_key,
        "use": use,
        "pattern": pattern,
        "posting": posting,
        "hit": hit,
        "row": array("Q", heap.add_all(texts["row"])),
        "glob": array("Q", heap.add_all(texts["glob"])),
        "flag": array("B", flags),
        "rest": array("Q", heap.add_all(texts["rest"])),
    }
    return _written(sections, heap, (len(flags), pushed, buckets, len(keys), *settings))


def _coded(
    details: Mapping[tuple[str, str], dict[str, list[int]]], extensions: Mapping[str, int]
) -> list[tuple[int, dict[str, list[int]]]]:
    """Return details with the number that a path's extension and depth make, in order."""
    return sorted(
        (
            ((extensions[extension[1:]] + 1) << 32 if extension else 0) | int(depth or 0),
            patterns,
        )
        for (extension, depth), patterns in details.items()
    )


def _starts(counts: Iterable[int]) -> list[int]:
    starts = [0]
    for count in counts:
        starts.append(starts[-1] + count)
    return starts


class _Heap:
    """Texts one after another; a text's place is its start in the file times 2^16 plus its length."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []
        self.length = 1  # nothing begins at 0, so that 0 can say that there is nothing

    def add(self, text: bytes) -> int:
        """Add a text of less than 64 KB and return its place, from the heap's start."""
        self.parts.append(text)
        self.length += len(text)
        return (self.length - len(text)) << 16 | len(text)

    def add_all(self, texts: Sequence[bytes]) -> list[int]:
        """Add texts of any length and return where each starts, and where the last one ends."""
        starts = _starts(map(len, texts))
        found = [self.length + start for start in starts]
        self.parts += texts
        self.length = found[-1]
        return found


def _written(sections: dict[str, array[int]], heap: _Heap, counts: Sequence[int]) -> bytes:
    at = reader.HEADER_WORDS * 8
    words = [0] * reader.HEADER_WORDS
    for number, name in enumerate(reader.SECTIONS):
        size = len(sections[name]) * sections[name].itemsize
        words[reader.FIRST_SECTION + 2 * number : reader.FIRST_SECTION + 2 * number + 2] = [at, size]
        at += size + -size % 8
    for name in ("text", "pattern"):
        sections[name] = array("Q", [place + (at << 16) if place else 0 for place in sections[name]])
    for name in ("row", "glob", "rest"):
        sections[name] = array("Q", [place + at for place in sections[name]])
    body: list[bytes] = []
    for name in reader.SECTIONS:
        content = sections[name].tobytes()
        body += content, bytes(-len(content) % 8)
    body += b"\0", *heap.parts, bytes(-heap.length % 8)
    whole = b"".join(body)
    length = reader.HEADER_WORDS * 8 + len(whole)
    words[: reader.W_HOLDOUT + 1] = reader.MAGIC, reader.FORMAT, length, 0, zlib.crc32(whole), *counts
    words[reader.W_HEADER_SUM] = reader.checksum(b"".join(word.to_bytes(8, "little") for word in words))
    return b"".join(word.to_bytes(8, "little") for word in words) + whole


def is_whole(content: mmap | bytes) -> bool:
    """Say whether the body of an index is what was written; it reads every byte."""
    said = int.from_bytes(content[reader.W_BODY_SUM * 8 : reader.W_BODY_SUM * 8 + 8], "little")
    return zlib.crc32(memoryview(content)[reader.HEADER_WORDS * 8 :]) == said


def globs_of(index: Index, row: Row) -> list[str]:
    """Return a record's globs as it states them, in their order."""
    return [index.glob_entry(int(number))[0] for number in row.words(GLOBS)]


def _texts(index: Index) -> list[str]:
    starts = index.rest.tolist()
    return [index.content[start:end].decode("utf-8") for start, end in pairwise(starts)]


def unpack(index: Index) -> tuple[list[tuple[list[str], int, bool]], dict[str, str]]:
    """Return each record's row as parts have it, its flags and whether it is pushed, and the globs' entries."""
    rows: list[tuple[list[str], int, bool]] = []
    globs = [index.glob_entry(number) for number in range(index.glob_count)]
    names = {str(number): text for number, (text, _) in enumerate(globs)}
    rests = {str(number): text for number, text in enumerate(_texts(index))}
    for number in range(index.records):
        row = index.row(number)
        if row is None:
            return [], {}
        values = row.values
        if values[GLOBS]:
            values[GLOBS] = LIST.join([names[one] for one in values[GLOBS].split(LIST)])
        if values[RESTS]:
            values[RESTS] = LIST.join([rests[one] for one in values[RESTS].split(LIST)])
        rows.append((values, row.flags, number < index.pushed))
    return rows, dict(globs)
