"""Bytes of the hook's index: records and the conditions on a path that lead to them."""

from __future__ import annotations

import zlib
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain, compress, islice
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from orbit_registry.formats.globs import Alternative, Anchor, Glob, anchors, literal_of, parse_glob
from orbit_registry.hook import index as reader
from orbit_registry.hook.forbidden_words import GROUP
from orbit_registry.hook.index import Index
from orbit_registry.hook.purpose import purposes_in
from orbit_registry.matching.chance import chances
from orbit_registry.model import fields
from orbit_registry.model.fields import GLOBS, LIST, MORE_LINE, MOVED
from orbit_registry.model.scope import USES, files_by_package, symbol_glob

if TYPE_CHECKING:
    from orbit_registry.search.index import (
        Weights,
    )  # most syncs find nothing to write and need no stemmer

SYMBOL = "\x1c"  # prefix of a symbol among a record's globs


class Part(NamedTuple):
    """One record, compiled: its row, its flags, whether it is pushed, its wide globs' places."""

    row: tuple[str, ...]
    flags: int
    pushed: bool
    wide: frozenset[int] = frozenset()


WEIGHT_UNIT = 1 << 24
PAIR_UNIT = WEIGHT_UNIT >> reader.PAIR_SHIFT
MOST_PAIRS = 2000
"""Pairs of a text that a prompt is compared with: about 20 kB of prose."""
_WORTH, _TERM = 0xFFFFFFFE << 32, 0xFFFFFFFF << 32
"""What the last two hits of a word hold where others hold a record's number:
its worth, and the number of its term.
"""
Use = tuple[str, str, str, str]
"""Condition on a path: key, extension and depth (each may be open),
and a pattern if these do not decide.
"""


def pack(
    parts: Iterable[Part],
    *,
    holdout: int = 0,
    settings: int = 0,
    unread: int = 0,
    min_relevance: float = 0.0,
    weights: Weights | None = None,
    successors: Mapping[str, Sequence[str]] = MappingProxyType({}),
    imported: Mapping[str, Sequence[str]] = MappingProxyType({}),
    cited: Mapping[str, Sequence[Citation]] = MappingProxyType({}),
) -> bytes:
    """Return the bytes of an index; the parts are in push order, those that are not pushed come
    last.

    `holdout` is the withheld share in a million, `settings` are the setting bits that are on,
    `unread` is the number of unreadable files, `min_relevance` the score that words need.
    `successors` are the paths of the records that took the place of closed ones, under each one's
    id and the paths of its texts. `imported` are the packages and modules of scopes that each file
    imports, `cited` what its citations lead to.
    """
    ranked = sorted(parts, key=lambda part: not part.pushed)
    hits: defaultdict[str, list[int]] = defaultdict(list)
    keyed: defaultdict[str, list[int]] = defaultdict(list)
    patterns: defaultdict[str, list[int]] = defaultdict(list)
    rows = []

    for number, (row, flags_of, _, wide) in enumerate(ranked):
        base = number << 32
        if row[GLOBS]:
            for position, glob in enumerate(row[GLOBS].split(LIST)):
                hits[glob].append(base | position | (reader.WIDE if position in wide else 0))

        rows.append("\0".join(row).encode())

        for key in _keys(row):
            keyed[key].append(base)

        if flags_of & fields.PROCEDURAL or row[fields.GATE] == "procedural":
            for purpose in purposes_in(row[fields.TEASER].partition(MORE_LINE)[0]):
                keyed[f"k{purpose}"].append(base)

        if row[fields.ERROR]:
            patterns[row[fields.ERROR]].append(base)

    uses: dict[Use, list[int]] = {(key, "", "", ""): numbers for key, numbers in keyed.items()}
    uses |= _option_uses(part.row[fields.REJECTED] for part in ranked)
    uses |= _forbidden_uses(part.row[fields.CHECKS] for part in ranked)
    uses |= {("e", "", "", pattern): numbers for pattern, numbers in patterns.items()}
    _spread(uses, hits, files_by_package(imported))

    pushed = sum(part.pushed for part in ranked)
    numbers = {part.row[fields.PATH]: number for number, part in enumerate(ranked)}
    for name, paths in successors.items():
        current = sorted(
            number << 32 for path in paths if (number := numbers.get(path, pushed)) < pushed
        )
        if current:
            uses[f"{reader.REPLACED}{name}", "", "", ""] = current

    uses |= _citation_uses(cited, numbers)
    sections = _pair_sections(weights, numbers, len(ranked))
    sections["chance"] = array("I", [0, 0] * len(ranked))
    if weights is not None:
        led_to = {*successors, *_cited_paths(cited)}
        is_led_to = (number < pushed or path in led_to for path, number in numbers.items())
        by_words = dict(compress(numbers.items(), is_led_to))
        uses |= _word_uses(weights, by_words)
        sections["chance"] = chances(weights, by_words, len(ranked), WEIGHT_UNIT)

    flags = bytes(part.flags for part in ranked)
    unknown = _fixed(weights.unknown) if weights is not None else 0
    counts = (holdout, settings, unread, round(min_relevance * 1_000_000), unknown)

    return _assembled(uses, rows, flags, pushed, counts, sections)


def _cited_paths(cited: Mapping[str, Sequence[Citation]]) -> Iterator[str]:
    """Yield the paths of the records that code cites; those that wait answer a prompt, too."""
    for citations in cited.values():
        for citation in citations:
            yield citation.record


def _option_uses(rows: Iterable[str]) -> dict[Use, list[int]]:
    """Return the hits of each name of a rejected option:
    the record's number and the option's position in it.
    """
    uses: defaultdict[Use, list[int]] = defaultdict(list)
    for number, row in enumerate(rows):
        for position, option in enumerate(row.split(fields.LIST) if row else ()):
            for phrase in option.split(fields.PHRASES)[:-1]:
                first = phrase.lstrip(fields.EXACT).partition(" ")[0]
                uses[f"{reader.OPTIONS}{first}", "", "", phrase].append(number << 32 | position)

    return {**uses, (reader.OPTIONS, "", "", ""): []} if uses else {}


def _forbidden_uses(rows: Iterable[str]) -> dict[Use, list[int]]:
    """Return the hits of each word that a check forbids,
    and the patterns of the globs of its files.
    """
    uses: defaultdict[Use, list[int]] = defaultdict(list)
    for number, row in enumerate(rows):
        for position, check in enumerate(row.split(fields.LIST) if row else ()):
            _, _, _, globs, *words = check.split(fields.PHRASES)
            for word in words:
                uses[reader.FORBIDDEN, "", "", word].append(number << 32 | position)
            for glob in globs.split(GROUP):
                for condition in conditions_of(glob):
                    uses[f"{reader.FORBIDDEN_IN}{glob.lstrip('!')}", "", "", condition.text] = []

    return uses


class Citation(NamedTuple):
    """A record that a citation leads to, and the closed one that is cited, if it took its place.

    Both are paths.
    """

    record: str
    closed: str = ""


def _citation_uses(
    cited: Mapping[str, Sequence[Citation]], numbers: Mapping[str, int]
) -> dict[Use, list[int]]:
    uses: dict[Use, list[int]] = {}
    for path, citations in cited.items():
        hits = set()
        for citation in citations:
            if citation.record in numbers:
                closed = numbers[citation.closed] + 1 if citation.closed in numbers else 0
                hits.add(numbers[citation.record] << 32 | closed)

        if hits:
            uses[f"{reader.CITED}{path}", "", "", ""] = sorted(hits)

    return uses


def _word_uses(weights: Weights, numbers: Mapping[str, int]) -> dict[Use, list[int]]:
    """Return the hits of each word in the records that have a number, given in its order;
    words of one term share them.
    """
    hits: dict[str, list[int]] = {term: [] for term in weights.worths}
    for path, number in numbers.items():
        base = number << 32
        for term, weight in weights.by_path.get(path, {}).items():
            hits[term].append(base | round(weight * WEIGHT_UNIT))

    for position, (term, worth) in enumerate(weights.worths.items()):
        hits[term] += (_WORTH | _fixed(worth), _TERM | position)

    return {(f"w{word}", "", "", ""): hits[term] for word, term in weights.term_of.items()}


def _pair_sections(
    weights: Weights | None, numbers: Mapping[str, int], records: int
) -> dict[str, array[int]]:
    """Return where each record's pairs of terms begin, and the pairs:
    both terms' numbers and the weight in 64 bits.
    """
    by_record: list[Mapping[int, float]] = [{}] * records
    for path, pairs in weights.pairs if weights is not None else ():
        if (number := numbers.get(path)) is not None:
            before = by_record[number]
            by_record[number] = (
                {**before, **{p: max(w, before.get(p, 0.0)) for p, w in pairs.items()}}
                if before
                else pairs
            )

    packed = array("Q")
    for pairs in by_record:
        packed.extend(
            [
                pair << 16 | int(weight * PAIR_UNIT)
                for pair, weight in islice(pairs.items(), MOST_PAIRS)
            ]
        )

    starts = _starts(min(len(pairs), MOST_PAIRS) for pairs in by_record)
    return {"pair_start": array("I", starts), "pair": packed}


def _fixed(weight: float) -> int:
    return round(weight * WEIGHT_UNIT)


def _keys(row: Sequence[str]) -> list[str]:
    keys = [f"t{tag}" for tag in row[fields.TAGS].split(LIST)] if row[fields.TAGS] else []
    if row[fields.CATEGORY]:
        keys.append(f"c{row[fields.CATEGORY]}")

    document = row[fields.TEASER].partition(MORE_LINE)[2]
    if document and document != row[fields.PATH]:  # a path to a record's own file names the record
        keys.append(f"m{document}")

    if row[fields.GATE] == "always":
        keys.append("galways")
    elif row[fields.GATE] == "relevant_and_linked":
        keys.append(f"i{row[fields.ID]}")
        if row[fields.LINKS]:
            keys += (f"l{target}" for target in dict.fromkeys(row[fields.LINKS].split(LIST)))
            keys.append("l")  # says that it is worth asking by id

    return keys


def _spread(
    uses: dict[Use, list[int]], hits: Mapping[str, list[int]], files: Mapping[str, Sequence[str]]
) -> None:
    """Put each glob's hits under a key of each alternative:
    with a pattern to try, the key that has the fewest.

    `files` are those of globs that mean a package or module.
    """
    conditions = []
    for glob, numbers in hits.items():
        if glob.startswith(USES):
            conditions += [(_condition_of_file(path), numbers) for path in files.get(glob, ())]
            continue

        for condition in conditions_of(glob):
            if glob.startswith("!"):  # an exclusion is looked up alone
                uses[glob, "", "", condition.text] = []
            else:
                conditions.append((condition, numbers))

    crowd: Counter[tuple[str, str, str]] = Counter()
    for condition in {condition for condition, _ in conditions if not condition.decides}:
        crowd.update(map(condition.under, condition.keys))

    shared: dict[Use, list[int]] = {}
    for condition, numbers in conditions:
        ways = map(condition.under, condition.keys)
        way = next(ways) if condition.decides else min(ways, key=lambda way: (crowd[way], way[0]))
        use = (*way, "" if condition.decides else condition.text)
        if use in shared:
            shared[use] += numbers
        elif use in uses:
            shared[use] = uses[use] = uses[use] + numbers
        else:
            uses[use] = numbers

    for under in shared.values():
        under.sort()


def _assembled(
    uses: Mapping[Use, list[int]],
    rows: Sequence[bytes],
    flags: bytes,
    pushed: int,
    settings: Sequence[int],
    by_words: Mapping[str, array[int]],
) -> bytes:
    under: dict[str, list[tuple[str, str, str, list[int]]]] = {}
    for (key, extension, depth, text), hits_of in uses.items():
        under.setdefault(key, []).append((extension, depth, text, hits_of))
        if extension:
            under.setdefault(f"x{extension[1:]}", [])

    buckets = 1 << max(4, len(under).bit_length())
    keys = []
    for key in under:
        encoded = key.encode("utf-8", "surrogatepass")
        checksum = reader.checksum(encoded)
        keys.append((checksum & (buckets - 1), checksum, encoded, key))

    keys.sort()
    heap = _Heap()
    bucket = Counter([number for number, _, _, _ in keys])
    numbers = {
        f".{key[1:]}": position + 1 << 32
        for position, (_, _, _, key) in enumerate(keys)
        if key[0] == "x"
    }
    numbers[""] = 0

    detail, detail_key, use, pattern, posting, hit = (array(form) for form in "IQIQIQ")
    for _, _, _, key in keys:
        detail.append(len(detail_key))
        last = -1
        coded = (
            (numbers[extension] | int(depth or 0), text, hits)
            for extension, depth, text, hits in under[key]
        )
        for code, text, hits_of in sorted(coded):
            if code != last:
                detail_key.append(code)
                use.append(len(pattern))
                last = code

            pattern.append(heap.add(text.encode()) if text else 0)
            posting.append(len(hit))
            hit.extend(hits_of)

    detail.append(len(detail_key))
    use.append(len(pattern))
    posting.append(len(hit))
    checksums = [checksum for _, checksum, _, _ in keys]
    texts = [heap.add(encoded) for _, _, encoded, _ in keys]
    starts = _starts(bucket[number] for number in range(buckets))
    row_sums = [reader.checksum(row) ^ flag for row, flag in zip(rows, flags, strict=True)]
    sections = {
        "bucket": array("I", starts),
        "hash": array("Q", checksums),
        "text": array("Q", texts),
        "detail": detail,
        "detail_key": detail_key,
        "use": use,
        "pattern": pattern,
        "posting": posting,
        "hit": hit,
        "row": array("Q", heap.add_all(rows)),
        "flag": array("B", flags),
        "row_sum": array("Q", row_sums),
    }
    sections |= by_words
    return _written(sections, heap, (len(flags), pushed, buckets, *settings))


def _starts(counts: Iterable[int]) -> list[int]:
    starts = [0]
    for count in counts:
        starts.append(starts[-1] + count)
    return starts


class _Heap:
    """Texts one after another; a position is the start in the file times 2^16 plus the length."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []
        self.length = 1  # nothing begins at 0, so that 0 can say that there is nothing

    def add(self, text: bytes) -> int:
        self.parts.append(text)
        self.length += len(text)
        return (self.length - len(text)) << 16 | len(text)

    def add_all(self, texts: Sequence[bytes]) -> list[int]:
        starts = _starts(map(len, texts))
        positions = [self.length + start for start in starts]
        self.parts += texts
        self.length = positions[-1]
        return positions


def _written(sections: dict[str, array[int]], heap: _Heap, counts: Sequence[int]) -> bytes:
    at = reader.HEADER_WORDS * 8
    words = [0] * reader.HEADER_WORDS
    for number, name in enumerate(reader.SECTIONS):
        size = len(sections[name]) * sections[name].itemsize
        words[reader.FIRST_SECTION + 2 * number : reader.FIRST_SECTION + 2 * number + 2] = [
            at,
            size,
        ]
        at += size + -size % 8

    for name in ("text", "pattern"):
        sections[name] = array(
            "Q", [position + (at << 16) if position else 0 for position in sections[name]]
        )

    sections["row"] = array("Q", [position + at for position in sections["row"]])
    body: list[bytes] = []
    for name in reader.SECTIONS:
        content = sections[name].tobytes()
        body += content, bytes(-len(content) % 8)

    body += b"\0", *heap.parts, bytes(-heap.length % 8)
    words[reader.W_MAGIC], words[reader.W_FORMAT] = reader.MAGIC, reader.FORMAT
    words[reader.W_RECORDS : reader.W_WORTH + 1] = counts
    body_bytes = b"".join(body)
    words[reader.W_LENGTH] = reader.HEADER_WORDS * 8 + len(body_bytes)

    words[reader.W_HEADER_SUM], words[reader.W_BODY_SUM] = 0, zlib.crc32(body_bytes)
    words[reader.W_HEADER_SUM] = reader.checksum(array("Q", words).tobytes())
    return array("Q", words).tobytes() + body_bytes


def is_whole(index: Index) -> bool:
    """Say whether the body of an index is undamaged; it reads every byte."""
    total = int.from_bytes(
        index.content[reader.W_BODY_SUM * 8 : reader.W_BODY_SUM * 8 + 8], "little"
    )
    return zlib.crc32(memoryview(index.content)[reader.HEADER_WORDS * 8 : index.length]) == total


_KINDS = {"path": "p", "directory": "d", "basename": "b", "segment": "s"}


class Condition(NamedTuple):
    """What a path must have for one alternative of a glob:
    one of the keys, an extension, a depth, and the pattern.
    """

    decides: bool  # whether key, extension and depth decide without the pattern
    text: str
    extension: str
    depth: str
    keys: tuple[str, ...]

    def under(self, key: str) -> tuple[str, str, str]:
        """Return a key with the extension and the depth that are looked up under it."""
        kind = key[0]
        return key, self.extension if kind in "ds" else "", self.depth if kind in "dsb" else ""


@lru_cache(maxsize=65_536)
def conditions_of(text: str) -> tuple[Condition, ...]:
    """Return the conditions of a glob's alternatives; empty for an unreadable one."""
    if MOVED in text:
        return conditions_of(plain_glob(text))

    if text.startswith(SYMBOL):
        return (_condition_of_file(text.removeprefix(SYMBOL).partition("::")[0]),)

    glob = parse_glob(text)
    return (
        tuple(map(_condition, glob.alternatives, anchors(glob))) if isinstance(glob, Glob) else ()
    )


def _condition_of_file(path: str) -> Condition:
    return Condition(True, path, "", "", (f"p{path}",))


def plain_glob(text: str) -> str:
    """Return the glob of a symbol's files, and the one that follows a rename; others unchanged."""
    if MOVED in text:
        sign, new, _ = text.split(MOVED)
        return f"{sign}{new}"

    return symbol_glob(text.removeprefix(SYMBOL)) if text.startswith(SYMBOL) else text


def _condition(alternative: Alternative, anchor: Anchor) -> Condition:
    keys = [_KINDS[anchor.kind] + anchor.text]
    if not anchor.decides:  # further names that a path must have
        *directories, last = chain.from_iterable(alternative.groups)
        names = (("b", literal_of(last)), *(("s", literal_of(segment)) for segment in directories))
        keys += (f"{kind}{name}" for kind, name in names if name is not None)
    extension = "" if anchor.extension is None else f".{anchor.extension}"
    depth = "" if anchor.depth is None else str(anchor.depth)
    return Condition(anchor.decides, alternative.text, extension, depth, tuple(dict.fromkeys(keys)))
