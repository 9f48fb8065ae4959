"""The glob language of a record's scope: matching, translation, and an index; knows no record and opens no file.

The language, in full:

    *        any characters of one path segment, also none
    ?        one character, but not "/"
    **       as a whole segment: any number of segments, also none; at the end: everything below
             inside a segment ("src/**.ts"): any characters, "/" included, so it means "src/**/*.ts"
    [abc]    one of these characters; ranges "[a-z]", negation "[!a-z]"; "]" comes first to stand for itself; never "/"
    {a,b}    either; may nest, may be empty, may hold "/"
    dir/     everything below dir, the same as "dir/**"
    !glob    takes away what it matches; a scope of such globs alone matches nothing

A glob starts at the root of the project and covers the whole path. Case counts, dotfiles are ordinary, "/" is the
only separator. There is no escape character: "[*]" is a literal star, "{!}a" starts with a literal exclamation mark.

A path is relative to the root, with "/" and without "." or "..". `dir/**` matches what is below `dir`, not a file
called `dir`. To ask about a directory end its path with "/": `dir/` is matched by `dir/**` and by `dir/*`. The empty
path is the root directory. A path of more than 4096 characters matches nothing.

Matching takes time in proportion to the path's length times the glob's length at worst, whatever the glob is: both
levels (segments in a path, characters in a segment) are split at their stars, and the parts are looked for from left
to right without going back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

from orbit_registry.text.glob_syntax import (
    INVALID_GLOB,
    Alternative,
    CharacterClass,
    Chunk,
    Glob,
    Segment,
    parse_glob,
)

__all__ = [
    "INVALID_GLOB",
    "MAX_PATH",
    "Alternative",
    "Anchor",
    "AnchorKey",
    "Glob",
    "GlobIndex",
    "alternative_matches",
    "anchors",
    "match_any",
    "matches",
    "parse_glob",
    "probes",
    "to_regex",
]

MAX_PATH = 4096

Key = TypeVar("Key")
Part = TypeVar("Part", Chunk, Sequence[Segment])
Whole = TypeVar("Whole", str, Sequence[str])

_ANY_SEGMENT = ("", "")


def matches(glob: Glob, path: str) -> bool:
    """Say whether `path` is what `glob` describes; an excluding glob is asked without its `!`."""
    return any(alternative_matches(alternative, path) for alternative in glob.alternatives)


def match_any(globs: Iterable[Glob], path: str) -> str | None:
    """Return the text of the first glob of a scope that matches `path`; None if there is none or one excludes it."""
    found = None
    for glob in globs:
        if glob.exclude:
            if matches(glob, path):
                return None
        elif found is None and matches(glob, path):
            found = glob.text
    return found


def alternative_matches(alternative: Alternative, path: str) -> bool:
    """Say whether `path` is what one glob without braces describes."""
    if alternative.path is not None:
        return path == alternative.path
    if len(path) > MAX_PATH or not path.startswith(alternative.directory):
        return False
    return _fits(alternative.groups, path.split("/"), _segments_at)


def _fits(parts: Sequence[Part], whole: Whole, at: Callable[[Part, Whole, int], bool]) -> bool:
    """Say whether `whole` is the parts in their order with anything between two of them.

    The first part stands at the start, the last at the end, and each other one is taken where it comes first: if any
    choice of places fits, the leftmost one does, so nothing is tried twice.
    """
    first, last = parts[0], parts[-1]
    if len(parts) == 1:
        return len(first) == len(whole) and at(first, whole, 0)
    start, end = len(first), len(whole) - len(last)
    if start > end or not at(first, whole, 0) or not at(last, whole, end):
        return False
    for part in parts[1:-1]:
        while start + len(part) <= end and not at(part, whole, start):
            start += 1
        start += len(part)
        if start > end:
            return False
    return True


def _segments_at(group: Sequence[Segment], names: Sequence[str], start: int) -> bool:
    return all(_fits(segment.chunks, names[start + i], _characters_at) for i, segment in enumerate(group))


def _characters_at(chunk: Chunk, name: str, start: int) -> bool:
    if isinstance(chunk, str):
        return name.startswith(chunk, start)
    for i, unit in enumerate(chunk, start):
        if isinstance(unit, str):
            if unit != name[i]:
                return False
        elif isinstance(unit, CharacterClass) and name[i] not in unit:
            return False
    return True


# ------------------------------------------------------------------------------------------------------ translation


def to_regex(glob: Glob) -> str:
    """Return a regular expression for the whole path: for `re.fullmatch`, or `regexp_full_match` in DuckDB.

    It holds no lookaround, back reference or flag. RE2 runs it in linear time; an engine that backtracks may need
    long for a glob with many stars, so Python code calls `matches`.
    """
    choices = [_alternative_regex(alternative) for alternative in glob.alternatives]
    return choices[0] if len(choices) == 1 else f"(?:{'|'.join(choices)})"


def _alternative_regex(alternative: Alternative) -> str:
    *groups, last = alternative.groups
    regex = "".join("".join(_segment_regex(part) + "/" for part in group) + "(?:[^/]*/)*" for group in groups)
    if groups and len(last) == 1 and last[0].chunks == _ANY_SEGMENT:
        return regex.removesuffix("(?:[^/]*/)*") + r"[\s\S]*"
    return regex + "/".join(map(_segment_regex, last))


def _segment_regex(segment: Segment) -> str:
    return "[^/]*".join("".join(map(_unit_regex, chunk)) for chunk in segment.chunks)


def _unit_regex(unit: object) -> str:
    if isinstance(unit, str):
        return "\\" + unit if unit in r"\.^$*+?{}[]|()" else unit
    if isinstance(unit, CharacterClass):
        ranges = ((_class_character(low), _class_character(high)) for low, high in unit.ranges)
        members = "".join(low if low == high else f"{low}-{high}" for low, high in ranges)
        return f"[^/{members}]" if unit.negated else f"[{members}]"
    return "[^/]"


def _class_character(character: str) -> str:
    if character.isascii() and not character.isalnum():
        return f"\\x{ord(character):02x}"
    return character


# ---------------------------------------------------------------------------------------------------------- anchors

AnchorKind = Literal["path", "directory", "basename", "segment"]
AnchorKey = tuple[AnchorKind, str, str | None, int | None]


@dataclass(frozen=True, slots=True)
class Anchor:
    """What a path must have to match one alternative of a glob, in a form that can be looked up.

    `path`: the whole path. `directory`: it is below this literal directory ("" for any). `basename`: its last segment.
    `segment`: one of its directories has this name. With it goes the text after the last dot of the last segment, and
    the number of segments, each None where the glob leaves it open. Where `decides`, a path that has all this matches.
    """

    kind: AnchorKind
    text: str
    extension: str | None
    depth: int | None
    decides: bool

    @property
    def key(self) -> AnchorKey:
        """The anchor as `probes` spells it."""
        return (self.kind, self.text, self.extension, self.depth)


def anchors(glob: Glob) -> tuple[Anchor, ...]:
    """Return the anchor of each alternative of `glob`, in their order."""
    return tuple(_anchor(alternative) for alternative in glob.alternatives)


def _anchor(alternative: Alternative) -> Anchor:
    if alternative.path is not None:
        return Anchor("path", alternative.path, None, None, True)
    groups, depth = alternative.groups, alternative.depth
    last = groups[-1][-1]
    tail = last.chunks[-1] if isinstance(last.chunks[-1], str) else ""
    extension = tail.rpartition(".")[2] if "." in tail else None
    plain = last.chunks in (_ANY_SEGMENT, ("", f".{extension}"))
    others = sum(map(len, groups)) - 1
    if alternative.directory:
        literal = len(alternative.directory.split("/"))
        shape = plain and others == literal == len(groups[0]) - (len(groups) == 1)
        return Anchor("directory", alternative.directory, extension, depth, shape and len(groups) < 3)
    if last.literal is not None:
        return Anchor("basename", last.literal, None, depth, others == 0)
    names = [part.literal for group in groups for part in group[: -1 if group is groups[-1] else None] if part.literal]
    if names:
        free = len(groups) == 3 and others == 1 and not groups[0]
        return Anchor("segment", max(names, key=len), extension, depth, plain and free)
    return Anchor("directory", "", extension, depth, plain and others == 0)


def probes(path: str) -> Iterator[AnchorKey]:
    """Yield the key of every anchor that `path` has; a glob can match only if one of its anchors is among them."""
    if len(path) <= MAX_PATH:
        yield ("path", path, None, None)
        for kind, text in _places(path):
            for extension, depth in _details(path):
                yield (kind, text, extension, depth)


def _places(path: str) -> list[tuple[AnchorKind, str]]:
    *directories, basename = path.split("/")
    found: list[tuple[AnchorKind, str]] = [("basename", basename), ("directory", "")]
    end = -1
    for name in directories:
        end += 1 + len(name)
        found += ("directory", path[:end]), ("segment", name)
    return found


def _details(path: str) -> list[tuple[str | None, int | None]]:
    depth = path.count("/") + 1
    _, dot, extension = path.rpartition("/")[2].rpartition(".")
    return [(None, None), (None, depth), *([(extension, None), (extension, depth)] if dot else [])]


_Use = tuple[int, int, str]  # the item, the position in its scope, the text
_Posting = tuple[Alternative | None, list[_Use]]  # None where the anchor decides


class GlobIndex(Generic[Key]):
    """Finds which of many scopes match a path; the answer is that of `match_any` for each scope.

    Each glob stands under its anchor, so a path costs one look-up for each of its probes (about thirty), and a glob is
    tried only if its anchor holds and does not decide. Equal globs are stored once.
    """

    def __init__(self, items: Iterable[tuple[Key, Iterable[Glob]]]) -> None:
        self._keys: list[Key] = []
        self._excludes: dict[int, list[Glob]] = {}
        self._places: dict[tuple[AnchorKind, str], dict[tuple[str | None, int | None], list[_Posting]]] = {}
        numbers: dict[str, list[_Use]] = {}
        for item, (key, globs) in enumerate(items):
            self._keys.append(key)
            for position, glob in enumerate(globs):
                if glob.exclude:
                    self._excludes.setdefault(item, []).append(glob)
                else:
                    self._add(item, position, glob, numbers)

    def _add(self, item: int, position: int, glob: Glob, numbers: dict[str, list[_Use]]) -> None:
        for alternative, anchor in zip(glob.alternatives, anchors(glob), strict=True):
            uses = numbers.get(alternative.text)
            if uses is None:
                uses = numbers[alternative.text] = []
                details = self._places.setdefault((anchor.kind, anchor.text), {})
                postings = details.setdefault((anchor.extension, anchor.depth), [])
                postings.append((None if anchor.decides else alternative, uses))
            uses.append((item, position, glob.text))

    def match(self, path: str) -> list[tuple[Key, str]]:
        """Return the scopes that match `path`, in the order they were given, each with the first glob that matches."""
        found: dict[int, tuple[int, str]] = {}
        for alternative, uses in self._postings(path):
            if alternative is None or alternative_matches(alternative, path):
                for item, position, text in uses:
                    if item not in found or position < found[item][0]:
                        found[item] = (position, text)
        if not self._excludes:
            return [(self._keys[item], found[item][1]) for item in sorted(found)]
        return [
            (self._keys[item], found[item][1])
            for item in sorted(found)
            if not any(matches(glob, path) for glob in self._excludes.get(item, ()))
        ]

    def _postings(self, path: str) -> list[_Posting]:
        """Return what stands under the keys of `probes`, the details asked only where a place is known."""
        if len(path) > MAX_PATH:
            return []
        known = [held for place in _places(path) if (held := self._places.get(place))]
        found = list(self._places.get(("path", path), {}).get((None, None), ()))
        if known:
            details = _details(path)
            found += [posting for held in known for detail in details for posting in held.get(detail, ())]
        return found
