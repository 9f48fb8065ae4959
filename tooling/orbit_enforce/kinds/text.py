"""Kind `text`: literal words, or a regular expression that RE2 reads in linear time."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence

from orbit_enforce.kind import WORDS, CheckKind, Fields, Finder, InvalidCheckError, Match, match_at
from orbit_registry.formats.code_tree import NotRunError
from orbit_registry.formats.syntax import comments_and_strings, language_of, part_at


def _make(fields: Fields, must: str) -> Finder:
    where = fields.get("where", "code")
    if "words" in fields:
        spans = _words(fields["words"], fields.get("ignore_case", False))
    else:
        spans = _regex(fields)

    def find(path: str, text: str) -> Iterator[Match]:
        parts: list[tuple[int, int, str]] | None = None
        for start, end in _as_read(path, text, spans):
            if where != "any" and parts is None:  # few files have a match
                parts = [*comments_and_strings(path, text)]
            if parts is None or _place(parts, text, start) == where:
                yield match_at(text, start, end)

    return Finder(find)


_EXECUTING = re.compile(
    r"(?<![\w])(?:exec|eval|compile|__import__|import_module|importorskip|Function)"
    r"\(\s*[bBrRuU]{0,2}\Z"
)
"""What is before a text that runs as code."""


def _place(parts: Sequence[tuple[int, int, str]], text: str, at: int) -> str:
    """Return whether a place is in code, a comment or a string; a string that is run is code."""
    place = part_at(parts, at) or "code"
    if place != "string":
        return place

    start = parts[bisect_right(parts, at, key=lambda part: part[0]) - 1][0]
    if _EXECUTING.search(text, max(start - 80, 0), start):
        return "code"

    return place


def _as_read(path: str, text: str, spans: Spans) -> Iterator[tuple[int, int]]:
    """Yield where a text has matches; Python takes letters of other forms for plain ones."""
    if text.isascii() or language_of(path) != "python":
        yield from spans(text)
        return

    plain: list[str] = []
    places: list[int] = []
    for place, letter in enumerate(text):
        form = unicodedata.normalize("NFKC", letter)
        plain.append(form)
        places += [place] * len(form)

    places.append(len(text))
    for start, end in spans("".join(plain)):
        yield places[start], places[end - 1] + 1


Spans = Callable[[str], Iterator[tuple[int, int]]]


def _words(words: list[str], ignore_case: bool) -> Spans:
    """Find literal words; a word that starts or ends with a letter or digit has a border there."""
    forms = (
        (r"(?<!\w)" if re.match(r"\w", word) else "")
        + re.escape(word)
        + (r"(?!\w)" if re.search(r"\w\Z", word) else "")
        for word in sorted(words, key=len, reverse=True)
    )
    pattern = re.compile("|".join(forms), re.IGNORECASE if ignore_case else 0)
    needles = () if ignore_case else tuple(words)

    def spans(text: str) -> Iterator[tuple[int, int]]:
        if not needles or any(word in text for word in needles):
            yield from (match.span() for match in pattern.finditer(text))

    return spans


def _regex(fields: Fields) -> Spans:
    try:
        import re2
    except ImportError:
        raise NotRunError("`regex` needs RE2: install `orbit-registry[enforce]`") from None

    options = re2.Options()
    options.log_errors = False
    options.case_sensitive = not fields.get("ignore_case", False)

    try:
        pattern = re2.compile(f"(?m){fields['regex']}", options)
    except re2.error as error:
        reason = error.args[0].decode("utf-8", "replace") if error.args else ""
        raise InvalidCheckError(f"`regex` can't be read: {reason}") from None

    if pattern.search("") is not None:
        raise InvalidCheckError("`regex` matches an empty text")

    return lambda text: (match.span() for match in pattern.finditer(text))


KIND = CheckKind(
    name="text",
    properties={
        "words": WORDS,
        "regex": {"type": "string", "minLength": 1, "maxLength": 1000},
        "ignore_case": {"type": "boolean"},
        "where": {"enum": ["code", "comment", "string", "any"]},
    },
    make=_make,
    forms=("words", "regex"),
)
