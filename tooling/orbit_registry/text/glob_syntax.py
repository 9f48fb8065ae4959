"""The syntax of scope globs: from a glob's text to values, or to the problem it has; matches nothing itself.

The language stands in `globs`, which is what other modules import.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from itertools import product
from math import prod

from orbit_registry.text.position import Position, Problem

INVALID_GLOB = "ORB501"
MAX_LENGTH = 1024
MAX_EXPANSIONS = 64
MAX_EXPANDED_LENGTH = 8192
MAX_NESTING = 8


@dataclass(frozen=True, slots=True)
class CharacterClass:
    """One character out of `ranges` (ends included), or, if `negated`, any other; never "/"."""

    ranges: tuple[tuple[str, str], ...]
    negated: bool
    source: str

    def __contains__(self, character: str) -> bool:
        return character != "/" and any(low <= character <= high for low, high in self.ranges) != self.negated


class Wildcard(Enum):
    """What stands for any characters."""

    ANY_CHARACTER = "?"
    STAR = "*"
    ANY_DEPTH = "**"

    @property
    def source(self) -> str:
        """The wildcard as a glob spells it."""
        return str(self.value)


STAR, ANY_DEPTH = Wildcard.STAR, Wildcard.ANY_DEPTH

Token = str | CharacterClass | Wildcard
Tokens = Sequence[Token]
Chunk = str | tuple[Token, ...]


@dataclass(frozen=True, slots=True)
class Segment:
    """What one path segment must look like: `chunks` with any characters between two of them.

    A chunk is a literal string, or a tuple of single characters, classes and question marks.
    """

    text: str
    chunks: tuple[Chunk, ...]

    @property
    def literal(self) -> str | None:
        """The only segment that matches; None where there are several."""
        return self.chunks[0] if len(self.chunks) == 1 and isinstance(self.chunks[0], str) else None


@dataclass(frozen=True, slots=True)
class Alternative:
    """One glob without braces: `groups` of segments with any number of segments between two of them.

    `text` is its canonical form, `directory` the literal directory that holds whatever matches, `path` the only path
    that matches, or None where there are several.
    """

    text: str
    groups: tuple[tuple[Segment, ...], ...]
    directory: str
    path: str | None

    @property
    def depth(self) -> int | None:
        """How many segments a matching path has; None where that is open."""
        return len(self.groups[0]) if len(self.groups) == 1 else None


@dataclass(frozen=True, slots=True)
class Glob:
    """A parsed glob: its text as written, whether it excludes, and the globs it stands for without braces."""

    text: str
    exclude: bool
    alternatives: tuple[Alternative, ...]

    @property
    def literal_prefix(self) -> str:
        """The directory that holds whatever matches ("" for the root), without a "/" at its end."""
        names = zip(*(alternative.directory.split("/") for alternative in self.alternatives), strict=False)
        common: list[str] = []
        for first, *rest in names:
            if any(other != first for other in rest):
                break
            common.append(first)
        return "/".join(common)

    @property
    def depth(self) -> int | None:
        """How many segments a matching path has; None where that is open."""
        depths = {alternative.depth for alternative in self.alternatives}
        return depths.pop() if len(depths) == 1 else None


# ---------------------------------------------------------------------------------------------------------- parsing

_LITERAL_RUN = re.compile(r"[^*?\[{},/]+")
_SPECIAL = re.compile(r"[*?\[{}]")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_ABSOLUTE = re.compile(r"/|~|[A-Za-z]:/")


class _RefusedError(Exception):
    """Ends the parsing of one glob; never leaves this module."""

    def __init__(self, message: str, hint: str, offset: int = 0) -> None:
        super().__init__(message)
        self.problem = Problem(INVALID_GLOB, message, Position(1, offset + 1), hint)


@lru_cache(maxsize=65_536)
def parse_glob(text: str) -> Glob | Problem:
    """Return what `text` says, or the first thing wrong with it; the position counts within `text`.

    Each text is read once: records of one project name the same globs again and again.
    """
    try:
        _check_form(text)
        exclude = text.startswith("!")
        alternatives: dict[str, Alternative] = {}
        for tokens in _Scanner(text, 1 if exclude else 0).expansions():
            for segments in _segments(tokens, text):
                alternative = _alternative(segments)
                alternatives.setdefault(alternative.text, alternative)
        if len(alternatives) > MAX_EXPANSIONS:
            raise _too_many()
    except _RefusedError as refused:
        return refused.problem
    return Glob(text, exclude, tuple(alternatives.values()))


def _check_form(text: str) -> None:
    body = text.removeprefix("!")
    start = len(text) - len(body)
    if not body:
        raise _RefusedError("the glob is empty", "write `**` for everything")
    if len(text) > MAX_LENGTH:
        raise _RefusedError(f"the glob has {len(text)} characters, more than {MAX_LENGTH}", "write several globs")
    if control := _CONTROL.search(text):
        raise _RefusedError(f"the glob has the control character U+{ord(control[0]):04X}", "remove it", control.start())
    if body != body.strip():
        raise _RefusedError("the glob starts or ends with white space", "remove the white space", start)
    if "\\" in body:
        hint = "write `/` between directories, `[*]` for a literal star"
        raise _RefusedError("the glob has a backslash", hint, text.index("\\"))
    if body.startswith("!"):
        raise _RefusedError("the glob starts with two exclamation marks", "write one; a literal one is `{!}`", start)
    if _ABSOLUTE.match(body):
        relative = body.lstrip("/") if body[0] == "/" else ""
        hint = f"write `{relative}`" if relative else "write it from the project's root"
        raise _RefusedError("the glob is absolute", hint, start)
    if body.startswith("./"):
        raise _RefusedError("the glob starts with `./`", f"write `{body[2:].lstrip('/') or '**'}`", start)


def _width(tokens: Tokens) -> int:
    return sum(len(token) if isinstance(token, str) else len(token.source) for token in tokens)


def _too_many() -> _RefusedError:
    limits = f"{MAX_EXPANSIONS} globs or {MAX_EXPANDED_LENGTH} characters"
    return _RefusedError(f"the glob stands for more than {limits} when it is written out", "write several globs")


class _Scanner:
    """Reads tokens from left to right and writes braces out; the number of results is checked before they are made."""

    def __init__(self, text: str, offset: int) -> None:
        self.text = text
        self.offset = offset

    def expansions(self) -> list[Tokens]:
        """Return the glob's token sequences, one for each choice in its braces."""
        return self._sequence(0)

    def _sequence(self, nesting: int) -> list[Tokens]:
        parts: list[list[Tokens]] = []
        run: list[Token] = []
        while self.offset < len(self.text):
            character = self.text[self.offset]
            if nesting and character in ",}":
                break
            if character == "}":
                raise _RefusedError("the glob closes a brace that is not open", "write `[}]`", self.offset)
            if character == "{":
                parts += [run], self._braces(nesting + 1)
                run = []
            else:
                run.append(self._token(character))
        if not parts:
            return [run]
        parts.append([run])
        number = prod(map(len, parts))
        length = sum(max(map(_width, choices)) for choices in parts)
        if number > MAX_EXPANSIONS or (number > 1 and number * length > MAX_EXPANDED_LENGTH):
            raise _too_many()
        return [[token for choice in choices for token in choice] for choices in product(*parts)]

    def _braces(self, nesting: int) -> list[Tokens]:
        opening = self.offset
        if nesting > MAX_NESTING:
            raise _RefusedError(f"the glob nests braces more than {MAX_NESTING} deep", "write several globs", opening)
        choices: list[Tokens] = []
        while True:
            self.offset += 1
            choices += self._sequence(nesting)
            if len(choices) > MAX_EXPANSIONS:
                raise _too_many()
            if self.offset == len(self.text):
                raise _RefusedError("the glob opens a brace and does not close it", "add `}`, or write `[{]`", opening)
            if self.text[self.offset] == "}":
                self.offset += 1
                return choices

    def _token(self, character: str) -> Token:
        start = self.offset
        if character == "[":
            return self._character_class()
        if character == "*":
            while self.text.startswith("*", self.offset):
                self.offset += 1
            return STAR if self.offset == start + 1 else ANY_DEPTH
        run = _LITERAL_RUN.match(self.text, start)
        self.offset = run.end() if run else start + 1
        return Wildcard.ANY_CHARACTER if character == "?" else self.text[start : self.offset]

    def _character_class(self) -> Token:
        start = self.offset
        if self.text.startswith("^", start + 1):
            raise _RefusedError("the glob has a class that starts with `^`", "write `[!…]` to negate", start)
        negated = self.text.startswith("!", start + 1)
        first = start + 1 + negated
        end = self.text.find("]", first + 1)
        if end < 0:
            raise _RefusedError("the glob opens a class and does not close it", "add `]`, or write `[[]`", start)
        members = self.text[first:end]
        if "/" in members:
            raise _RefusedError("the glob has a `/` in a class", "use braces: `{a/b,c}`", start)
        self.offset = end + 1
        if len(members) == 1 and not negated:
            return members
        ranges: list[tuple[str, str]] = []
        for low, high in _ranges(members):
            if low > high:
                raise _RefusedError(f"the range `{low}-{high}` is empty", f"write `{high}-{low}`", start)
            ranges += [(low, "."), ("0", high)] if low < "/" < high else [(low, high)]
        return CharacterClass(tuple(ranges), negated, self.text[start : end + 1])


def _ranges(members: str) -> Iterable[tuple[str, str]]:
    at = 0
    while at < len(members):
        width = 2 if members[at + 1 : at + 2] == "-" and at + 2 < len(members) else 0
        yield members[at], members[at + width]
        at += width + 1


def _segments(tokens: Tokens, text: str) -> list[list[Tokens]]:
    """Split one expansion at its slashes; a `**` inside a segment gives the globs it stands for."""
    segments: list[list[Token]] = [[]]
    for token in tokens:
        if token == "/":
            segments.append([])
        else:
            segments[-1].append(token)
    if len(segments) > 1 and not segments[-1]:
        segments[-1] = [ANY_DEPTH]
    for position, segment in enumerate(segments):
        _check_segment(segment, position, len(segments), text)
    choices = [_crossings(segment) for segment in segments]
    if all(len(options) == 1 for options in choices):
        return [[segment for (option,) in choices for segment in option]]
    if prod(map(len, choices)) > MAX_EXPANSIONS:
        raise _too_many()
    return [[segment for option in chosen for segment in option] for chosen in product(*choices)]


def _check_segment(segment: Tokens, position: int, number: int, text: str) -> None:
    if not segment:
        if number == 1:
            raise _RefusedError("the glob is empty when its braces are written out", "remove the empty choice")
        if position == 0:
            raise _RefusedError("the glob is absolute when its braces are written out", "write `{a/,}b`")
        raise _RefusedError("the glob has two slashes in a row", "write one", max(text.find("//"), 0))
    if all(isinstance(token, str) for token in segment) and "".join(map(str, segment)) in {".", ".."}:
        hint = "leave `.` out; `..` would leave the project"
        raise _RefusedError("the glob has a `.` or `..` segment", hint, max(text.find("/.") + 1, 0))


def _crossings(segment: Tokens) -> list[list[Tokens]]:
    """Return the segments that one segment stands for: `a**b` is `a*b` or `a*/**/*b`."""
    if ANY_DEPTH not in segment or len(segment) == 1:
        return [[segment]]
    if segment.count(ANY_DEPTH) > MAX_EXPANSIONS.bit_length():
        raise _too_many()
    at = segment.index(ANY_DEPTH)
    before, after = segment[:at], segment[at + 1 :]
    tails = _crossings([STAR, *after])
    if not before:
        return [[[ANY_DEPTH], *tail] for tail in tails]
    together: list[list[Tokens]] = [[[*before, *first], *rest] for first, *rest in tails]
    return together + [[[*before, STAR], [ANY_DEPTH], *tail] for tail in tails]


def _alternative(segments: Sequence[Tokens]) -> Alternative:
    groups: list[list[Segment]] = [[]]
    names: list[str] = []
    for tokens in segments:
        if tokens != [ANY_DEPTH]:
            groups[-1].append(_segment(tuple(tokens)))
            names.append(groups[-1][-1].text)
        elif names[-1:] != ["**"]:
            groups.append([])
            names.append("**")
    if names[-1] == "**":  # at the end it takes one segment at least
        groups[-1].append(_segment((STAR,)))
    elif names[-2:] == ["**", "*"]:
        names.pop()
    directories: list[str] = []
    for part in groups[0] if len(groups) > 1 else groups[0][:-1]:
        if part.literal is None:
            break
        directories.append(part.literal)
    last = groups[0][-1].literal if len(groups) == 1 and len(directories) == len(groups[0]) - 1 else None
    path = None if last is None else "/".join((*directories, last))
    text = "/".join(names)
    text = "{!}" + text[1:] if text.startswith("!") else text
    return Alternative(text, tuple(map(tuple, groups)), "/".join(directories), path)


@lru_cache(maxsize=8192)  # the globs of a project share their directories' names
def _segment(tokens: tuple[Token, ...]) -> Segment:
    chunks: list[list[Token]] = [[]]
    text = ""
    for token in tokens:
        if token != STAR:
            chunks[-1].append(token)
            text += _SPECIAL.sub(r"[\g<0>]", token) if isinstance(token, str) else token.source
        elif len(chunks) == 1 or chunks[-1]:
            chunks.append([])
            text += "*"
    return Segment(text, tuple(_chunk(chunk) for chunk in chunks))


def _chunk(tokens: Tokens) -> Chunk:
    if all(isinstance(token, str) for token in tokens):
        return "".join(map(str, tokens))
    return tuple(unit for token in tokens for unit in (token if isinstance(token, str) else (token,)))
