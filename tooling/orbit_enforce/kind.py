"""What a kind of check is: a schema of its fields, and a function that makes a finder of them."""

from __future__ import annotations

import importlib
import pkgutil
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from orbit_enforce import kinds
from orbit_registry.formats.code_tree import UnreadableError
from orbit_registry.formats.encodings import UndecodableError, source_text
from orbit_registry.formats.syntax import line_starts
from orbit_registry.formats.untrusted import cut
from orbit_registry.model.schema import RecordSchema

FILE_LIMIT = 1 << 20
"""Bytes of a file that is read: one line of 1 MB takes ast-grep 0.7 s."""
MOST_SHOWN = 80
_MOST_COMPARED = 400
Fields = Mapping[str, Any]


class InvalidCheckError(Exception):
    """The fields of a check make no check."""


class Match(NamedTuple):
    """A place in a text, the text there in one line, and its whole lines,
    by which a moved one is known.
    """

    line: int
    column: int
    end_line: int
    text: str
    lines: str


@dataclass(frozen=True, slots=True)
class Tree:
    """The files of a project and how to read them."""

    paths: Sequence[str]
    text: Callable[[str], str | None]


@dataclass(frozen=True)
class Finder:
    """Finds the matches of one check in one file."""

    find: Callable[[str, str], Iterable[Match]]
    """Takes the path and the text of a file."""
    reads: Callable[[str], bool] = lambda path: True
    """Says whether the check is about files with such a name."""


@dataclass(frozen=True)
class Survey:
    """Finds what is wrong with the names of files, or with the settings of another program."""

    find: Callable[[Tree, Sequence[str]], Iterable[tuple[str, str]]]
    """Takes the tree and the check's own files;
    yields a path (empty: the tree) and what is wrong, in words.
    """
    example: Callable[[str, str], Tree] = lambda path, text: Tree([path], {path: text}.get)
    """Takes the path and the text of an example; an example that is a text alone is a path."""


@dataclass(frozen=True)
class CheckKind:
    """One kind of check."""

    name: str
    properties: Mapping[str, object]
    """The JSON Schema of each field."""
    make: Callable[[Fields, str], Finder | Survey]
    """Takes the fields and `not` or `have`; raises InvalidCheckError or NotRunError."""
    required: Sequence[str] = ()
    forms: Sequence[str] = ()
    """The fields of which a check has exactly one."""
    demands: Sequence[str] | None = None
    """Those of them that `must: have` goes with; None: all, and a check without forms too."""
    example_names: Sequence[str] = ()
    """Names of the files that its examples may be, if they don't say."""
    needs_all: bool = True
    """With `must: have`: whether each file needs a match; else one match in all is enough."""
    needs_tree: bool = False
    """Whether no text alone shows that the check is broken."""
    is_reference: bool = False
    """Whether another program does the checking; such a check needs no examples."""
    everywhere: Callable[[Fields], bool] = lambda fields: False
    """Whether a check without `in:` is about all files, and not about those of its record."""
    library: str = ""
    """The library whose version decides what it finds."""
    hint: str = ""
    """What to do about a finding of a survey; empty: move the file, or add what is missing."""
    has_exceptions: bool = True
    """Whether `except:` leaves a file out."""
    schema: RecordSchema = field(init=False)

    def __post_init__(self) -> None:
        form = {
            "properties": dict(self.properties),
            "required": [*self.required],
            "additionalProperties": False,
        }
        object.__setattr__(
            self, "schema", RecordSchema({"type": "object", **form}, Path(self.name))
        )

    def finder(self, fields: Fields, must: str) -> Finder | Survey:
        """Return what finds the matches of a check; raises InvalidCheckError and NotRunError."""
        chosen = [name for name in self.forms if name in fields]
        if self.forms and len(chosen) != 1:
            raise InvalidCheckError(
                f"`{self.name}` has either {' or '.join(f'`{name}`' for name in self.forms)}"
            )

        subject = chosen[0] if chosen else self.name
        if must == "have" and self.demands is not None and subject not in self.demands:
            raise InvalidCheckError(f"`{subject}` says itself what must be: leave out `must`")

        return self.make(fields, must)


def _no_finder(fields: Fields, must: str) -> Finder:
    raise InvalidCheckError("the check has no kind")


NO_KIND = CheckKind(name="", properties={}, make=_no_finder, needs_tree=True)
"""The kind of a check that names none, or several."""


@cache
def all_kinds() -> Mapping[str, CheckKind]:
    """Return the kinds of checks by name."""
    names = sorted(module.name for module in pkgutil.iter_modules(kinds.__path__))
    modules = (importlib.import_module(f"{kinds.__name__}.{name}") for name in names)
    return {module.KIND.name: module.KIND for module in modules}


def match_at(text: str, start: int, end: int) -> Match:
    """Return the match between two offsets of a text."""
    starts = line_starts(text)
    line, end_line = bisect_right(starts, start), bisect_right(starts, end)
    column = start - starts[line - 1] + 1
    excerpt = " ".join(text[start : min(end, start + 4 * MOST_SHOWN)].split())
    excerpt = excerpt or repr(text[start : min(end, start + MOST_SHOWN)])[1:-1]  # white space alone
    excerpt = cut(excerpt, MOST_SHOWN)

    last = starts[end_line] - 1 if end_line < len(starts) else len(text)
    first = starts[line - 1]
    lines = " ".join(text[first : min(last, first + _MOST_COMPARED)].split())
    return Match(line, column, end_line, excerpt, lines)


def decoded(content: bytes, path: str = "") -> str:
    """Return the text of a file as checks read it; raises UnreadableError."""
    try:
        text = source_text(content, path)
    except UndecodableError as error:
        raise UnreadableError(str(error)) from None

    return text.removeprefix("\ufeff").replace("\r\n", "\n")


WORDS = {
    "type": "array",
    "minItems": 1,
    "maxItems": 100,
    "uniqueItems": True,
    "items": {"type": "string", "minLength": 1, "maxLength": 200, "pattern": r"\S"},
}
"""The form of a list of words or globs."""
