"""Globs of record scopes: parsing, matching, regular expressions, and an index.

The language:

    *        any characters of one path segment, also none
    ?        one character, but not "/"
    **       as a whole segment: any number of segments, also none; at the end: everything below
             inside a segment ("src/**.ts"): any characters, "/" included, so it means "src/**/*.ts"
    [abc]    one of these characters; ranges "[a-z]", negation "[!a-z]"; "]" first is itself; no "/"
    {a,b}    either; may nest, may be empty, may hold "/"
    dir/     everything below dir, the same as "dir/**"
    !glob    excludes what it matches; a scope of such globs alone matches nothing

A glob starts at the root of the project and covers the whole path. Case counts, dotfiles are
ordinary, "/" is the only separator. There is no escape character: "[*]" is a literal star, "{!}a"
starts with a literal exclamation mark.

Letters with accents are the same letters composed (NFC) and decomposed (NFD).

A path is relative to the root, with "/" and without "." or "..". `dir/**` matches what is below
`dir`, not a file called `dir`. A directory ends with "/": `dir/` is matched by `dir/**` and by
`dir/*`. The empty path is the root directory. A path of more than 4096 characters matches nothing.

A glob without braces has a canonical text: a literal special is a class of one (`[*]`), `**` is a
whole segment.
"""

import posixpath
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain, product
from math import prod
from typing import Generic, Literal, TypeVar, get_args

from orbit_registry.formats.position import Position, Problem

INVALID_GLOB = "ORB501"
MAX_PATH = 4096
MAX_LENGTH = 1024
MAX_EXPANSIONS = 64
MAX_EXPANDED_LENGTH = 8192
MAX_NESTING = 8

Key = TypeVar("Key")

_ANY_DEPTH = "\0"  # `**` while braces are expanded: two stars that meet there are one `*`
_LITERAL_RUN = re.compile(r"[^*?\[{},/]+")
_SPECIAL = re.compile(r"[*?\[{}]")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_ABSOLUTE = re.compile(r"/|~|[A-Za-z]:/")
_UNIT = re.compile(r"\[!?.[^\]]*\]|\{!\}|.", re.DOTALL)
"""One unit of a canonical segment: a class, the `!` at the start, a wildcard or a character."""
_ESCAPED = re.compile(r"[\[{](!(?=\})|[^!](?=\]))[\]}]")
_STARS = re.compile(r"(\[!?.[^\]]*\])|\*+", re.DOTALL)
_REGEX_SPECIAL = re.compile(r"[\\.^$*+?{}\[\]|()]")


@dataclass(frozen=True)
class Alternative:
    """One glob without braces, by its canonical text."""

    text: str

    @cached_property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """The segments, in groups separated by any number of segments.

        A `**` at the end takes at least one.
        """
        groups: list[list[str]] = [[]]
        for segment in self.text.split("/"):
            if segment == "**":
                groups.append([])
            else:
                groups[-1].append(segment)

        if not groups[-1]:
            groups[-1].append("*")

        return tuple(map(tuple, groups))

    @cached_property
    def directory(self) -> str:
        """The literal directory of all matches."""
        directories = self.groups[0]
        if len(self.groups) == 1:
            directories = directories[:-1]

        names = []
        for segment in directories:
            name = literal_of(segment)
            if name is None:
                break

            names.append(name)

        return "/".join(names)

    @cached_property
    def path(self) -> str | None:
        """The only path that matches, or None."""
        names = [literal_of(segment) for segment in self.text.split("/")]
        if None in names:
            return None

        return "/".join(map(str, names))

    @property
    def depth(self) -> int | None:
        """Number of segments of a matching path; None if open."""
        if len(self.groups) == 1:
            return len(self.groups[0])

        return None

    @cached_property
    def regex(self) -> str:
        """A regular expression for the whole path."""
        return self._regex("(?:[^/]*/)*{}", "[^/]*{}")

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        # Text between two stars is matched at its first place: if any fits, the leftmost does.
        return re.compile(self._regex("(?>(?:[^/]*/)*?{})", "(?>[^/]*?{})"))

    def _regex(self, below: str, star: str) -> str:
        *groups, last = self.groups
        end = "/".join(_segment_regex(segment, star) for segment in last)
        if not groups:
            return end

        regex = "".join(f"{_segment_regex(segment, star)}/" for segment in groups[0])
        for group in groups[1:]:
            regex += below.format("".join(f"{_segment_regex(segment, star)}/" for segment in group))

        if last == ("*",):
            return rf"{regex}[\s\S]*"

        return f"{regex}(?:[^/]*/)*{end}"

    def may_be_below(self, folder: str) -> bool:
        """Say whether a path in a folder may match, by the literal directory and the depth."""
        if self.depth is not None and self.depth <= folder.count("/") + 1:
            return False

        ours, theirs = self.directory.split("/"), folder.split("/")
        common = min(len(ours), len(theirs))
        return not self.directory or ours[:common] == theirs[:common]

    def matches(self, path: str) -> bool:
        """Say whether a composed path matches, in time linear in the path."""
        if self.path is not None:
            return path == self.path

        if len(path) > MAX_PATH or not path.startswith(self.directory):
            return False

        return self._pattern.fullmatch(path) is not None


@dataclass(frozen=True, slots=True)
class Glob:
    """A parsed glob: its text, whether it excludes, and its alternatives without braces."""

    text: str
    exclude: bool
    alternatives: tuple[Alternative, ...]

    @property
    def literal_prefix(self) -> str:
        """The literal directory of all matches ("" for the root), without a final "/"."""
        return posixpath.commonpath([alternative.directory for alternative in self.alternatives])

    @property
    def regex(self) -> str:
        """Regular expression of the whole path for RE2 and browsers.

        Python calls `matches`, which never backtracks.
        """
        choices = [alternative.regex for alternative in self.alternatives]
        if len(choices) == 1:
            return choices[0]

        return f"(?:{'|'.join(choices)})"


def _composed(text: str) -> str:
    if text.isascii():
        return text

    return unicodedata.normalize("NFC", text)


def literal_start(text: str) -> str:
    """Return the only path that a glob matches, or the literal directory of all matches.

    It is empty for the root, and for a glob that excludes or can't be read.
    """
    glob = parse_glob(text)
    if not isinstance(glob, Glob) or glob.exclude:
        return ""

    paths = {alternative.path for alternative in glob.alternatives}
    only = paths.pop()
    if only is None or paths:
        return glob.literal_prefix

    return only


def literal_of(segment: str) -> str | None:
    """Return the only text that a canonical segment, or a part of one, matches.

    It is None if there are several.
    """
    plain = segment
    if "[" in segment or "{" in segment:
        plain = _ESCAPED.sub("", segment)

    if "*" in plain or "?" in plain or "[" in plain:
        return None

    return _ESCAPED.sub(r"\1", segment)


@lru_cache(maxsize=8192)  # the globs of a project share their directories' names
def _chunks(segment: str) -> tuple[tuple[str, ...], ...]:
    """Return the units of a segment in groups, cut at its stars."""
    chunks: list[list[str]] = [[]]
    for unit in _UNIT.findall(segment):
        if unit == "*":
            chunks.append([])
        else:
            chunks[-1].append(unit)

    return tuple(map(tuple, chunks))


def _segment_regex(segment: str, star: str) -> str:
    first, *later = ("".join(map(_unit_regex, chunk)) for chunk in _chunks(segment))
    if not later:
        return first

    between = "".join(map(star.format, later[:-1]))
    return f"{first}{between}[^/]*{later[-1]}"


def _unit_regex(unit: str) -> str:
    if unit == "?":
        return "[^/]"

    if len(unit) == 1 or len(unit) == 3:
        return _REGEX_SPECIAL.sub(r"\\\g<0>", unit[len(unit) // 2])

    negated = unit[1] == "!"
    members = ""
    for low, high in _ranges(unit[1 + negated : -1]):
        if low < "/" < high:  # no class matches "/"
            members += _range_regex(low, ".") + _range_regex("0", high)
        else:
            members += _range_regex(low, high)

    if negated:
        return f"[^/{members}]"

    return f"[{members}]"


def _range_regex(low: str, high: str) -> str:
    return "-".join(map(_class_character, dict.fromkeys((low, high))))


def _class_character(character: str) -> str:
    if not character.isascii() or character.isalnum():
        return character

    return f"\\x{ord(character):02x}"


def _ranges(members: str) -> Iterator[tuple[str, str]]:
    """Yield the first and the last character of each range; one alone is both."""
    at = 0
    while at < len(members):
        end = at
        if members[at + 1 : at + 2] == "-" and at + 2 < len(members):
            end = at + 2

        yield members[at], members[end]
        at = end + 1


class _RefusedError(Exception):
    def __init__(self, message: str, hint: str, offset: int = 0) -> None:
        super().__init__(message)
        self.problem = Problem(INVALID_GLOB, message, Position(1, offset + 1), hint)


@lru_cache(maxsize=65_536)
def parse_glob(text: str) -> Glob | Problem:
    """Return a parsed glob, or the first problem with its position in `text`.

    Cached, as records share globs.
    """
    try:
        _check_form(text)
        exclude = text.startswith("!")
        alternatives: dict[str, Alternative] = {}
        for tokens in _Scanner(_composed(text), int(exclude)).expansions():
            for segments in _segments(tokens, text):
                canonical = _canonical(segments)
                alternatives.setdefault(canonical, Alternative(canonical))

        if len(alternatives) > MAX_EXPANSIONS:
            raise _too_many()
    except _RefusedError as refused:
        return refused.problem

    return Glob(text, exclude, tuple(alternatives.values()))


def readable_globs(texts: Iterable[str]) -> list[Glob]:
    """Return the globs that can be read; the gate reports others, and they match nothing."""
    return [glob for glob in map(parse_glob, texts) if isinstance(glob, Glob)]


def _check_form(text: str) -> None:
    body = text.removeprefix("!")
    start = len(text) - len(body)

    if not body:
        raise _RefusedError("the glob is empty", "write `**` for everything")

    if len(text) > MAX_LENGTH:
        message = f"the glob has {len(text)} characters, more than {MAX_LENGTH}"
        raise _RefusedError(message, "write several globs")

    if control := _CONTROL.search(text):
        message = f"the glob has the control character U+{ord(control[0]):04X}"
        raise _RefusedError(message, "remove it", control.start())

    if body != body.strip():
        raise _RefusedError(
            "the glob starts or ends with white space", "remove the white space", start
        )

    if "\\" in body:
        hint = "write `/` between directories, `[*]` for a literal star"
        raise _RefusedError("the glob has a backslash", hint, text.index("\\"))

    if body.startswith("!"):
        raise _RefusedError(
            "the glob starts with two exclamation marks", "write one; a literal one is `{!}`", start
        )

    if _ABSOLUTE.match(body):
        raise _RefusedError(
            "the glob is absolute", "write it from the project's root: `src/**`", start
        )

    if body.startswith("./"):
        hint = f"write `{body[2:].lstrip('/') or '**'}`"
        raise _RefusedError("the glob starts with `./`", hint, start)


def _too_many() -> _RefusedError:
    limits = f"{MAX_EXPANSIONS} globs or {MAX_EXPANDED_LENGTH} characters"
    return _RefusedError(f"the glob expands to more than {limits}", "write several globs")


class _Scanner:
    """Scanner that expands braces, into canonical spelling.

    Expansions are counted before they are made.
    """

    def __init__(self, text: str, offset: int) -> None:
        self.text = text
        self.offset = offset

    def expansions(self, nesting: int = 0) -> list[str]:
        parts: list[list[str]] = []
        run = ""
        while self.offset < len(self.text):
            character = self.text[self.offset]
            if nesting and character in ",}":
                break

            if character == "}":
                raise _RefusedError(
                    "the glob closes a brace that is not open", "write `[}]`", self.offset
                )

            if character == "{":
                parts += [run], self._braces(nesting + 1)
                run = ""
            else:
                run += self._unit(character)

        if not parts:
            return [run]

        parts.append([run])
        number = prod(map(len, parts))
        length = sum(max(map(len, choices)) for choices in parts)
        if number > MAX_EXPANSIONS or (number > 1 and number * length > MAX_EXPANDED_LENGTH):
            raise _too_many()

        return list(map("".join, product(*parts)))

    def _braces(self, nesting: int) -> list[str]:
        opening = self.offset
        if nesting > MAX_NESTING:
            message = f"the glob nests braces more than {MAX_NESTING} deep"
            raise _RefusedError(message, "write several globs", opening)

        choices = []
        while True:
            self.offset += 1
            choices += self.expansions(nesting)
            if len(choices) > MAX_EXPANSIONS:
                raise _too_many()

            if self.offset == len(self.text):
                message = "the glob opens a brace and does not close it"
                raise _RefusedError(message, "add `}`, or write `[{]`", opening)

            if self.text[self.offset] == "}":
                self.offset += 1
                return choices

    def _unit(self, character: str) -> str:
        start = self.offset

        if character == "[":
            return self._character_class()

        if character == "*":
            while self.text.startswith("*", self.offset):
                self.offset += 1

            if self.offset == start + 1:
                return "*"

            return _ANY_DEPTH

        self.offset += 1
        run = _LITERAL_RUN.match(self.text, start)
        if run is not None:
            self.offset = run.end()

        return self.text[start : self.offset]

    def _character_class(self) -> str:
        start = self.offset
        if self.text.startswith("^", start + 1):
            raise _RefusedError(
                "the glob has a class that starts with `^`", "write `[!…]` to negate", start
            )

        negated = self.text.startswith("!", start + 1)
        first = start + 1 + negated
        end = self.text.find("]", first + 1)
        if end < 0:
            raise _RefusedError(
                "the glob opens a class and does not close it", "add `]`, or write `[[]`", start
            )

        members = self.text[first:end]
        if "/" in members:
            raise _RefusedError("the glob has a `/` in a class", "use braces: `{a/b,c}`", start)

        self.offset = end + 1

        if len(members) == 1 and not negated:
            return _SPECIAL.sub(r"[\g<0>]", members)

        for low, high in _ranges(members):
            if low > high:
                message = f"the range `{low}-{high}` is empty"
                raise _RefusedError(message, f"write `{high}-{low}`", start)

        return self.text[start : end + 1]


def _segments(expansion: str, text: str) -> list[list[str]]:
    """Split an expansion at its slashes; a `**` inside a segment gives several globs."""
    segments = expansion.split("/")
    if len(segments) > 1 and not segments[-1]:
        segments[-1] = _ANY_DEPTH

    for position, segment in enumerate(segments):
        _check_segment(segment, position, len(segments), text)

    choices = [_crossings(segment) for segment in segments]
    if prod(map(len, choices)) > MAX_EXPANSIONS:
        raise _too_many()

    return [list(chain.from_iterable(chosen)) for chosen in product(*choices)]


def _check_segment(segment: str, position: int, number: int, text: str) -> None:
    if not segment:
        if number == 1:
            raise _RefusedError(
                "the glob is empty when its braces are written out", "remove the empty choice"
            )

        if position == 0:
            raise _RefusedError(
                "the glob is absolute when its braces are written out", "write `{a/,}b`"
            )

        raise _RefusedError(
            "the glob has two slashes in a row", "write one", max(text.find("//"), 0)
        )

    if segment in {".", ".."}:
        hint = "leave `.` out; `..` would leave the project"
        raise _RefusedError("the glob has a `.` or `..` segment", hint, max(text.find("/.") + 1, 0))


def _crossings(segment: str) -> list[list[str]]:
    """Return the alternatives of one segment: `a**b` is `a*b` or `a*/**/*b`."""
    if _ANY_DEPTH not in segment or segment == _ANY_DEPTH:
        return [[segment]]

    if segment.count(_ANY_DEPTH) > MAX_EXPANSIONS.bit_length():
        raise _too_many()

    before, _, after = segment.partition(_ANY_DEPTH)
    tails = _crossings(f"*{after}")
    if not before:
        return [[_ANY_DEPTH, *tail] for tail in tails]

    together = [[before + first, *following] for first, *following in tails]
    return together + [[f"{before}*", _ANY_DEPTH, *tail] for tail in tails]


def _canonical(segments: Iterable[str]) -> str:
    """Return segments as one text: several stars are one, and `**/**` is `**`."""
    names = []
    for segment in segments:
        if segment != _ANY_DEPTH:
            names.append(_STARS.sub(lambda match: match[1] or "*", segment))
        elif names[-1:] != ["**"]:
            names.append("**")

    if names[-2:] == ["**", "*"]:
        names.pop()

    text = "/".join(names)
    if text.startswith("!"):
        return f"{{!}}{text[1:]}"

    return text


def matches(glob: Glob, path: str) -> bool:
    """Say whether `path` matches, ignoring a glob's `!`."""
    path = _composed(path)
    return any(alternative.matches(path) for alternative in glob.alternatives)


def match_any(globs: Iterable[Glob], path: str) -> str | None:
    """Return the text of the first glob of a scope that matches `path`.

    It is None if none matches or one excludes the path.
    """
    first = None
    for glob in globs:
        if glob.exclude:
            if matches(glob, path):
                return None
        elif first is None and matches(glob, path):
            first = glob.text

    return first


AnchorKind = Literal["path", "directory", "basename", "segment"]


@dataclass(frozen=True, slots=True)
class Anchor:
    """What a path must have to match one alternative of a glob, in a form for look-ups.

    `path`: the whole path. `directory`: it is below this literal directory ("" for any).
    `basename`: its last segment. `segment`: one of its directories has this name. Extension and
    number of segments are None where the glob leaves them open. If `decides`, a path that has all
    this matches.
    """

    kind: AnchorKind
    text: str
    extension: str | None
    depth: int | None
    decides: bool


def anchors(glob: Glob) -> tuple[Anchor, ...]:
    """Return the anchor of each alternative, in order."""
    return tuple(_anchor(alternative) for alternative in glob.alternatives)


def _anchor(alternative: Alternative) -> Anchor:
    if alternative.path is not None:
        return Anchor("path", alternative.path, None, None, True)

    groups = alternative.groups
    depth = alternative.depth
    *directories, last = chain.from_iterable(groups)

    tail = literal_of("".join(_chunks(last)[-1])) or ""
    extension = None
    if "." in tail:
        extension = tail.rpartition(".")[2]

    plain = last == "*"
    if tail == f".{extension}":
        plain = plain or last == "*" + _SPECIAL.sub(r"[\g<0>]", tail)

    directory = alternative.directory
    if directory:
        literal = len(directory.split("/"))
        decides = len(groups) < 3 and len(directories) == literal
        if len(groups) > 1:
            decides = decides and literal == len(groups[0])

        return Anchor("directory", directory, extension, depth, plain and decides)

    name = literal_of(last)
    if name is not None:
        return Anchor("basename", name, None, depth, not directories)

    names = list(filter(None, map(literal_of, directories)))
    if names:
        decides = len(groups) == 3 and len(directories) == 1 and not groups[0]
        return Anchor("segment", max(names, key=len), extension, depth, plain and decides)

    return Anchor("directory", "", extension, depth, plain and not directories)


_Use = tuple[int, int, str]  # the item, the position in its scope, the text
_Candidates = dict[str | None, list[tuple[Alternative, list[_Use]]]]
"""Alternatives by the extension that they need, each with its uses."""


class GlobIndex(Generic[Key]):
    """Index of many scopes by their globs' anchors.

    A few look-ups a path give `match_any` for each scope.
    """

    def __init__(self, items: Iterable[tuple[Key, Iterable[Glob]]]) -> None:
        self._keys: list[Key] = []
        self._excludes: defaultdict[int, list[Glob]] = defaultdict(list)
        self._by_anchor: dict[AnchorKind, dict[str, _Candidates]] = {
            kind: {} for kind in get_args(AnchorKind)
        }
        self._folders: dict[str, list[_Candidates]] = {}
        uses: dict[str, list[_Use]] = {}

        for item, (name, globs) in enumerate(items):
            self._keys.append(name)

            for position, glob in enumerate(globs):
                if glob.exclude:
                    self._excludes[item].append(glob)
                    continue

                for alternative in glob.alternatives:
                    if alternative.text not in uses:
                        uses[alternative.text] = []
                        anchor = _anchor(alternative)
                        candidates = self._by_anchor[anchor.kind].setdefault(anchor.text, {})
                        candidates.setdefault(anchor.extension, []).append(
                            (alternative, uses[alternative.text])
                        )

                    uses[alternative.text].append((item, position, glob.text))

    def match(self, path: str) -> list[tuple[Key, str]]:
        """Return the scopes that match `path`, in order, each with its first matching glob."""
        path = _composed(path)
        candidates = self._candidates(path)
        if not candidates:
            return []

        matched: dict[int, tuple[int, str]] = {}
        for alternative, uses in candidates:
            if not alternative.matches(path):
                continue

            for item, position, text in uses:
                if item not in matched or position < matched[item][0]:
                    matched[item] = (position, text)

        hits = []
        for item in sorted(matched):
            excludes = self._excludes.get(item, ())
            if not any(matches(glob, path) for glob in excludes):
                hits.append((self._keys[item], matched[item][1]))

        return hits

    def _candidates(self, path: str) -> list[tuple[Alternative, list[_Use]]]:
        """Return the alternatives of which a path has the anchor and the extension."""
        folder, _, basename = path.rpartition("/")
        _, dot, extension = basename.rpartition(".")
        of_path = self._by_anchor["path"].get(path, {})
        of_name = self._by_anchor["basename"].get(basename, {})

        candidates: list[tuple[Alternative, list[_Use]]] = []
        for by_extension in (of_path, of_name, *self._of_folder(folder)):
            candidates += by_extension.get(None, ())
            if dot:
                candidates += by_extension.get(extension, ())

        return candidates

    def _of_folder(self, folder: str) -> list[_Candidates]:
        """Return what is anchored in a folder or above it; a folder has many files."""
        if folder not in self._folders:
            names = folder.split("/") if folder else []
            above = ["", *("/".join(names[: end + 1]) for end in range(len(names)))]
            anchored = [*map(self._by_anchor["directory"].get, above)]
            anchored += map(self._by_anchor["segment"].get, names)
            self._folders[folder] = list(filter(None, anchored))

        return self._folders[folder]
