"""What a query means to an index: its terms, identifiers that texts have exactly, mistyped words.

The site's search box reads a query alike (`search.js`); `tests/cases/search/doors.yaml` has the
cases of both. A word of some text is taken literally. Only a word of no text may be corrected.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

from orbit_registry.hook.words import STOP_WORDS, split_name
from orbit_registry.search.index import Hits, Index
from orbit_registry.search.query import FRAME, IDENTIFIER, QUOTES, Query
from orbit_registry.search.text import PIECES, is_mixed, name_of, pieces, stem, words

SHORTEST = 4
"""Letters of a word that may be mistyped."""
TWICE = 8
"""Letters of a word in which two letters may be wrong."""
TELLING = 3
"""Letters of a part that says something: `sha` of sha256, but no part of k8s."""

WRITTEN_TOGETHER = 0.5
"""What an identifier scores of which no part is a word of the query."""

TELLING_NAME = 8
"""Letters of an identifier that comes first among other words too.

With every identifier, such as `v2` and `macOS`, MRR of 241 real questions was .600, before .604.
"""


@dataclass(frozen=True, slots=True)
class Reading:
    """What a query means to an index."""

    words: Mapping[str, list[str]]
    """The words of the query that weigh, mistyped ones corrected, each with its terms."""
    exact: frozenset[int] = frozenset()
    """The slots of the texts that have an identifier of the query."""
    only: frozenset[int] | None = None
    """The slots that a query of one identifier is about; None is all."""
    corrected: Mapping[str, str] = field(default_factory=dict)
    """What mistyped words are read as."""

    @property
    def terms(self) -> list[str]:
        """The terms of all words, in order."""
        return list(chain.from_iterable(self.words.values()))


@dataclass(frozen=True, slots=True)
class _Piece:
    """What one piece of a query means."""

    terms: Sequence[str]
    exact: frozenset[int] = frozenset()
    only: frozenset[int] | None = None
    corrected: Mapping[str, str] = field(default_factory=dict)
    length: int = 0


def reading_of(query: Query, index: Index) -> Reading:
    """Return what a query means to an index."""
    words_read: dict[str, list[str]] = {}
    read: list[_Piece] = []
    for word in query.words:
        right_word = word
        word_terms: list[str] = []
        for text in pieces(word):
            piece = replace(_read(index, text), length=len(text))
            read.append(piece)
            word_terms += piece.terms
            for part, right in piece.corrected.items():
                right_word = _replaced(right_word, part, right)

        words_read[right_word] = word_terms

    corrected: dict[str, str] = {}
    for piece in read:
        corrected |= piece.corrected

    exact = frozenset(
        chain.from_iterable(
            piece.exact for piece in read if len(read) == 1 or piece.length >= TELLING_NAME
        )
    )
    only = read[0].only if len(read) == 1 else None
    return Reading(words_read, exact, only, corrected)


def _read(index: Index, piece: str) -> _Piece:
    """Return what a piece of a query means: an identifier that a text has, or words."""
    name = name_of(piece)
    listed = list(map(stem, words(piece)))
    if not name:
        # What no text has as a word may be an identifier that is written together.
        holders = frozenset[int]()
        if len(listed) == 1 and not index.holders(listed[0]):
            holders = index.named(piece.lower())
        if holders:
            return _Piece(listed, holders)

        return _corrected(index, piece, words(piece))

    holders = index.named(name)
    if is_mixed(piece):
        only = holders or _with_all_parts(piece, index)
        return _Piece(listed if only else (), holders, only)
    if holders:
        return _Piece(listed, holders)

    return _corrected(index, piece, [part.lower() for part in split_name(piece)])


def _corrected(index: Index, piece: str, parts: Sequence[str]) -> _Piece:
    """Return the words of a piece with those corrected that no text has."""
    right_parts = [correction(part, index) for part in parts]
    corrected = {
        part: right for part, right in zip(parts, right_parts, strict=True) if part != right
    }
    exact = index.named("".join(right_parts)) if len(parts) > 1 and corrected else frozenset()
    right_terms = [stem(part) for part in right_parts if part not in STOP_WORDS]
    return _Piece(right_terms, exact, None, corrected)


def ranked(
    index: Index, reading: Reading, pool: int, most: int, allowed: Sequence[int] | None = None
) -> Hits:
    """Return slots with scores as `Index.ranked` does, those with an exact identifier first."""
    hits = index.ranked(reading.terms, pool, most, allowed)
    if not reading.exact:
        return hits

    mask = bytearray(
        slot in reading.exact and (allowed is None or bool(allowed[slot]))
        for slot in range(len(index.keys))
    )
    others = [hit for hit in hits if hit[0] not in reading.exact]
    top = others[0][1] if others else 0.0
    scores = dict(index.ranked(reading.terms, pool, most, mask))
    slots = [*scores, *(slot for slot, may in enumerate(mask) if may and slot not in scores)]
    lifted = [(slot, top + (1 - top) * scores.get(slot, WRITTEN_TOGETHER)) for slot in slots]
    return [*lifted, *others]


def _with_all_parts(piece: str, index: Index) -> frozenset[int]:
    """Return the slots that have every part of an identifier: SHA-256 for `sha256`."""
    parts = [part.lower() for part in split_name(piece)]
    if not any(part.isalpha() and len(part) >= TELLING for part in parts):
        return frozenset()

    return frozenset.intersection(*(frozenset(index.holders(stem(part))) for part in parts))


def _replaced(word: str, part: str, right: str) -> str:
    """Return a word with its mistyped part corrected; the right part where it is spelt apart."""
    if part not in word:
        return right

    return word.replace(part, right, 1)


def correction(word: str, index: Index) -> str:
    """Return the word of some text that a mistyped word is; the word where there is none."""
    if len(word) < SHORTEST or not word.isalpha() or not word.isascii() or word in STOP_WORDS:
        return word
    if index.holders(stem(word)):
        return word

    ranked = sorted(_near(word, index), key=lambda near: (near[0], -near[1], near[2]))
    if ranked:
        return ranked[0][2]

    return word


def _near(word: str, index: Index) -> Iterator[tuple[int, int, str]]:
    """Yield words that a mistyped one may be: the number of slips, of texts, and the word."""
    most = 2 if len(word) >= TWICE else 1
    for other, term in index.term_of.items():
        if not is_like(word, other, most):
            continue

        number = slips(word, other)
        if number <= most:
            yield number, index.frequencies[term], other


def is_like(word: str, other: str, most: int) -> bool:
    """Say whether one word may be a slip of another at all: it begins alike.

    In a short word only a letter too many or too few, or two that changed places, is a slip:
    another letter makes another word (`react`, `reach`).
    """
    if other[:1] != word[:1] or abs(len(other) - len(word)) > most or not other.isalpha():
        return False
    if len(word) >= TWICE - 2 or len(other) != len(word):
        return True

    return sorted(word) == sorted(other)


def slips(word: str, other: str) -> int:
    """Return how many letters were left out, added, changed, or changed places with the next."""
    before: list[int] = []
    row: list[int] = [*range(len(other) + 1)]
    for at, letter in enumerate(word, 1):
        above = row
        row = [at]
        for place, wanted in enumerate(other, 1):
            number = min(above[place] + 1, row[-1] + 1, above[place - 1] + (letter != wanted))
            is_swapped = at > 1 < place and letter == other[place - 2] and word[at - 2] == wanted
            if is_swapped:
                number = min(number, before[place - 2] + 1)
            row.append(number)

        before = above

    return row[-1]


def places_of(text: str, query: str) -> list[int]:
    """Return where a text has what a query looks for exactly: an identifier, an id or a path."""
    names = set[str]()
    written = []
    for word in query.split():
        bare = word.strip(FRAME + QUOTES)
        parts = pieces(bare)
        if len(parts) == 1:
            names.add(name_of(parts[0]) or parts[0].lower())
        elif IDENTIFIER.fullmatch(bare):
            written.append(re.escape(bare))

    places = []
    for match in PIECES.finditer(text):
        name = name_of(match[0])
        if name and name in names:
            places.append(match.start())

    if written:
        pattern = rf"(?<!\w)(?:{'|'.join(written)})(?!\w)"
        places += [match.start() for match in re.finditer(pattern, text, re.IGNORECASE)]

    return sorted(places)
