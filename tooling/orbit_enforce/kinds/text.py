"""Kind `text`: literal words, or a regular expression that RE2 reads in linear time."""

import re
from collections.abc import Callable, Iterator

from orbit_enforce.kind import WORDS, CheckKind, Fields, Finder, InvalidCheckError, Match, match_at
from orbit_registry.formats.code_tree import NotRunError
from orbit_registry.formats.syntax import comments_and_strings, part_at


def _make(fields: Fields, must: str) -> Finder:
    where = fields.get("where", "code")
    spans = (
        _words(fields["words"], fields.get("ignore_case", False))
        if "words" in fields
        else _regex(fields)
    )

    def find(path: str, text: str) -> Iterator[Match]:
        parts: list[tuple[int, int, str]] | None = None
        for start, end in spans(text):
            if where != "any" and parts is None:  # few files have a match
                parts = [*comments_and_strings(path, text)]
            if parts is None or (part_at(parts, start) or "code") == where:
                yield match_at(text, start, end)

    return Finder(find)


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
