"""Bytes of the hook's index: records and the conditions on a path that lead to them."""

from __future__ import annotations

import marshal
import zlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain, compress
from types import MappingProxyType
from typing import Any, NamedTuple

from orbit_registry.formats.globs import Alternative, Anchor, Glob, anchors, literal_of, parse_glob
from orbit_registry.hook import index as reader
from orbit_registry.hook.forbidden_words import GROUP
from orbit_registry.hook.index import Index
from orbit_registry.hook.purpose import purposes_in
from orbit_registry.model import fields
from orbit_registry.model.fields import GLOBS, LIST, MORE_LINE, MOVED
from orbit_registry.model.scope import USES, files_by_package, symbol_glob

SYMBOL = "\x1c"  # prefix of a symbol among a record's globs


class Part(NamedTuple):
    """One record, compiled: its row, its flags, whether it is pushed, its wide globs' places."""

    row: tuple[str, ...]
    flags: int
    pushed: bool
    wide: frozenset[int] = frozenset()


class WordParts(NamedTuple):
    """The parts of the index that hold words: values, or bytes of an earlier index."""

    head: Mapping[str, object]
    sections: Mapping[str, Sequence[Any]]
    """They come first, so that a part has the same number in the next index."""
    paths: Sequence[str]
    """Of the record of each text, by slot."""


NO_WORDS = WordParts(
    {"texts": "", "chosen": "", "unknown": 0.0, "run": 0.0}, {"words": [({}, {}, {})]}, ()
)

KEYS_A_PART = 8
MARSHAL = 2
"""Version of `marshal`: the last one whose bytes depend on nothing but the value."""
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
    words: Callable[[Sequence[str]], WordParts] | None = None,
    successors: Mapping[str, Sequence[str]] = MappingProxyType({}),
    imported: Mapping[str, Sequence[str]] = MappingProxyType({}),
    cited: Mapping[str, Sequence[Citation]] = MappingProxyType({}),
) -> bytes:
    """Return the bytes of an index; the parts are in push order, those that are not pushed come
    last.

    `holdout` is the withheld share in a million, `settings` are the setting bits that are on,
    `unread` is the number of unreadable files, `min_relevance` the score that words need. `words`
    returns the parts with the words, by the paths of the records that they may lead to.
    `successors` are the paths of the records that took the place of closed ones, under each one's
    id and the paths of its texts. `imported` are the packages and modules of scopes that each file
    imports, `cited` what its citations lead to.
    """
    ranked = sorted(parts, key=lambda part: not part.pushed)
    pushed = sum(part.pushed for part in ranked)
    numbers = {part.row[fields.PATH]: number for number, part in enumerate(ranked)}

    uses = _keyed_uses(ranked)
    uses |= _option_uses(part.row[fields.REJECTED] for part in ranked)
    uses |= _forbidden_uses(part.row[fields.CHECKS] for part in ranked)
    _spread(uses, _glob_hits(ranked), files_by_package(imported))
    uses |= _successor_uses(successors, numbers, pushed)
    uses |= _citation_uses(cited, numbers)

    head = {
        "records": len(ranked),
        "pushed": pushed,
        "holdout": holdout,
        "settings": settings,
        "unread": unread,
        "min_relevance": min_relevance,
        "flags": bytes(part.flags for part in ranked),
    }
    chosen: dict[str, int] = {}
    of_words = NO_WORDS
    if words is not None:
        led_to = {*successors, *_cited_paths(cited)}
        is_led_to = [number < pushed or path in led_to for path, number in numbers.items()]
        chosen = dict(compress(numbers.items(), is_led_to))
        of_words = words([*chosen])

    sections = {
        **NO_WORDS.sections,
        **of_words.sections,
        "numbers": [_numbers(of_words.paths, chosen, len(ranked))],
        "keys": _in_buckets(_by_key(uses)),
        "rows": [list(part.row) for part in ranked],
    }
    return _written({**head, **NO_WORDS.head, **of_words.head}, sections)


def _glob_hits(ranked: Sequence[Part]) -> dict[str, list[int]]:
    """Return the hits of each glob: the record's number and the glob's place in it."""
    hits: defaultdict[str, list[int]] = defaultdict(list)
    for number, part in enumerate(ranked):
        globs = part.row[GLOBS].split(LIST) if part.row[GLOBS] else ()
        for position, glob in enumerate(globs):
            mark = reader.WIDE if position in part.wide else 0
            hits[glob].append(number << 32 | position | mark)

    return hits


def _keyed_uses(ranked: Sequence[Part]) -> dict[Use, list[int]]:
    """Return the hits of what a record has besides globs: each key, purpose and pattern of an
    error.
    """
    uses: defaultdict[Use, list[int]] = defaultdict(list)
    for number, part in enumerate(ranked):
        row = part.row
        hit = number << 32
        for key in _keys(row):
            uses[key, "", "", ""].append(hit)

        if part.flags & fields.PROCEDURAL or row[fields.GATE] == "procedural":
            for purpose in purposes_in(row[fields.TEASER].partition(MORE_LINE)[0]):
                uses[f"k{purpose}", "", "", ""].append(hit)

        if row[fields.ERROR]:
            uses["e", "", "", row[fields.ERROR]].append(hit)

    return dict(uses)


def _successor_uses(
    successors: Mapping[str, Sequence[str]], numbers: Mapping[str, int], pushed: int
) -> dict[Use, list[int]]:
    """Return the hits of what took the place of closed records, if it is pushed."""
    uses: dict[Use, list[int]] = {}
    for name, paths in successors.items():
        current = sorted(number for path in paths if (number := numbers.get(path, pushed)) < pushed)
        if current:
            key = f"{reader.REPLACED}{reader.composed(name)}"
            uses[key, "", "", ""] = [number << 32 for number in current]

    return uses


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

    if uses:
        return {**uses, (reader.OPTIONS, "", "", ""): []}

    return {}


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
            uses[f"{reader.CITED}{reader.composed(path)}", "", "", ""] = sorted(hits)

    return uses


def _numbers(
    paths: Iterable[str], chosen: Mapping[str, int], records: int
) -> tuple[list[int], list[int]]:
    """Return the number of each text's record, and the place of each record among the paths; -1 for
    one that words do not lead to.
    """
    numbers: list[int] = []
    places = [-1] * records
    place = -1
    earlier = None
    for path in paths:
        number = chosen.get(path, -1)
        numbers.append(number)
        if path != earlier:
            place += 1
        if number >= 0:
            places[number] = place

        earlier = path

    return numbers, places


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

    return list(map(reader.composed, keys))


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


def _by_key(uses: Mapping[Use, list[int]]) -> dict[str, object]:
    """Return the hits by key, then by extension and depth, then by the pattern to try."""
    by_key: dict[str, dict[tuple[str, str], dict[str, list[int]]]] = {}
    for key, extension, depth, pattern in sorted(uses):
        by_detail = by_key.setdefault(key, {})
        by_pattern = by_detail.setdefault((extension, depth), {})
        by_pattern[pattern] = uses[key, extension, depth, pattern]

    return {**by_key}


def _in_buckets(values: Mapping[str, object]) -> list[dict[str, object]]:
    """Return values parted by the hash of their keys."""
    buckets: list[dict[str, object]] = [{} for _ in range(_buckets_for(len(values)))]
    for key, value in values.items():
        buckets[reader.hash_of(key) % len(buckets)][key] = value

    return buckets


def _buckets_for(keys: int) -> int:
    return keys // KEYS_A_PART + 1


def _written(head: Mapping[str, object], sections: Mapping[str, Sequence[Any]]) -> bytes:
    """Return the bytes of an index: where its parts begin, and the parts.

    A part of an earlier index is bytes already, with its checksum.
    """
    first = {}
    number = 1
    for name, values in sections.items():
        first[name] = number
        number += len(values)

    sizes = {name: len(values) for name, values in sections.items()}
    whole_head = {**head, "parts": number, "first": first, "sizes": sizes}

    at = (number + 1) * reader.WORD
    places: list[bytes] = []
    bodies: list[bytes] = []
    for part, value in enumerate(chain([whole_head], *sections.values())):
        content = value if isinstance(value, bytes) else _content(part, value)
        places.append(_word(at))
        bodies.append(content)
        at += len(content)

    places.append(_word(at))
    whole = b"".join([*places, *bodies])
    return whole + _word(zlib.crc32(whole))


def _content(part: int, value: Any) -> bytes:
    body = marshal.dumps(value, MARSHAL)
    return _word(reader.checksum(body) ^ part) + body


def _word(number: int) -> bytes:
    return number.to_bytes(reader.WORD, "little")


def is_whole(index: Index) -> bool:
    """Say whether an index is undamaged; it reads every byte."""
    content = index.read(0, index.length)
    return zlib.crc32(content[: -reader.WORD]) == int.from_bytes(content[-reader.WORD :], "little")


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
    if isinstance(glob, Glob):
        return tuple(map(_condition, glob.alternatives, anchors(glob)))

    return ()


def _condition_of_file(path: str) -> Condition:
    path = reader.composed(path)
    return Condition(True, path, "", "", (f"p{path}",))


def plain_glob(text: str) -> str:
    """Return the glob of a symbol's files, and the one that follows a rename; others unchanged."""
    if MOVED in text:
        sign, new, _ = text.split(MOVED)
        return f"{sign}{new}"

    if text.startswith(SYMBOL):
        return symbol_glob(text.removeprefix(SYMBOL))

    return text


def _condition(alternative: Alternative, anchor: Anchor) -> Condition:
    keys = [_KINDS[anchor.kind] + anchor.text]
    if not anchor.decides:  # further names that a path must have
        *directories, last = chain.from_iterable(alternative.groups)
        names = (("b", literal_of(last)), *(("s", literal_of(segment)) for segment in directories))
        keys += (f"{kind}{name}" for kind, name in names if name is not None)
    extension = "" if anchor.extension is None else f".{anchor.extension}"
    depth = "" if anchor.depth is None else str(anchor.depth)
    return Condition(anchor.decides, alternative.text, extension, depth, tuple(dict.fromkeys(keys)))
