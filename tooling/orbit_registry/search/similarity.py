"""Similarity of texts: the TF-IDF cosine of their terms, and the pairs that reach a threshold.

A term weighs ln(1 + texts / texts that have it), times 1 + ln(times it occurs in the text). A score
depends on the texts that are compared and on nothing else, not on their order.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Container, Iterable, Mapping
from dataclasses import dataclass
from functools import cache as remembering
from itertools import chain, starmap
from operator import mul
from typing import Self

from orbit_registry.errors import UsageError
from orbit_registry.search.text import terms
from orbit_registry.workspace.cache import Cache, to_row

MOST_PAIRS = 100_000  # thousands of texts that are all alike would make millions of pairs
Counts = Mapping[str, int]  # how often each term is in a text
Scores = dict[tuple[str, str], float]  # cosines by pairs of keys, the smaller key first

FEW = 0.01
"""Share of the texts that may change before all are compared again."""
_SLACK = 1e-9  # more than what rounding can add up to
_OTHERS = 0.8  # of a threshold, what the light terms of a text may add
_SCALE_BITS = 8  # shares are counted in 256ths


@dataclass(frozen=True, slots=True)
class Pair:
    """Two texts by their keys, `a` before `b`, and their score: from the threshold up to 1."""

    a: str
    b: str
    score: float


@dataclass(frozen=True, slots=True)
class Vector:
    """The weight of each term of a text, and the sum of their squares."""

    weights: dict[str, float]
    norm: float

    @property
    def squares(self) -> dict[str, float]:
        """The squared weight of each term."""
        return {term: weight * weight for term, weight in self.weights.items()}

    def cosine(self, other: Vector) -> float:
        """Return the cosine of two vectors, between 0 and 1; 0 where one is empty."""
        first, second = self.weights, other.weights
        shared = first.keys() & second.keys()
        dot = math.fsum(map(mul, map(first.__getitem__, shared), map(second.__getitem__, shared)))
        if dot:
            return min(dot / math.sqrt(self.norm * other.norm), 1.0)

        return 0.0


@dataclass(frozen=True, slots=True)
class _Bound:
    """The heaviest terms of a text, and how much the others can add to a cosine at most.

    Few terms tell that two long texts are not alike: 320 documents of 1,000 words take a third of
    the time.
    """

    heaviest: Vector
    share: float
    others: float

    @classmethod
    def of(cls, vector: Vector, threshold: float) -> Self:
        """Return the bound of a text whose other terms alone reach less than a threshold."""
        others = vector.norm
        weights: dict[str, float] = {}
        by_weight = sorted(vector.weights.items(), key=lambda item: item[1], reverse=True)
        for term, weight in by_weight:
            if others <= (_OTHERS * threshold) ** 2 * vector.norm:
                break

            weights[term] = weight
            others -= weight * weight

        others = max(others, 0.0)
        heaviest = Vector(weights, vector.norm - others)
        share = math.sqrt(heaviest.norm / vector.norm)
        return cls(heaviest, share, math.sqrt(others / vector.norm))

    def most(self, other: Vector) -> float:
        """Return the highest cosine that the text can have with another."""
        return self.heaviest.cosine(other) * self.share + self.others + _SLACK


class TermWeights:
    """The weight of each term among some texts."""

    def __init__(self, documents: int, frequencies: Counts) -> None:
        self._unknown = math.log(1 + documents)
        self._by_term = {
            term: math.log(1 + documents / max(frequency, 1))
            for term, frequency in frequencies.items()
        }

    @classmethod
    def of(cls, texts: Collection[Counts]) -> Self:
        """Return the weights among texts, each as counts of its terms."""
        return cls(len(texts), Counter(chain.from_iterable(texts)))

    def vector(self, text_terms: Iterable[str] | Counts) -> Vector:
        """Return the vector of a text's terms, or of their counts.

        An unknown term weighs as one that one text has.
        """
        counts = text_terms if isinstance(text_terms, Mapping) else Counter(text_terms)
        weights = {term: self._by_term.get(term, self._unknown) for term in counts}
        for term, count in counts.items():
            if count > 1:
                weights[term] *= 1 + math.log(count)

        return Vector(weights, math.fsum(map(mul, weights.values(), weights.values())))


def similar_pairs(
    texts: Mapping[str, str],
    threshold: float = 0.55,
    only: Collection[str] | None = None,
    cache: Cache | None = None,
) -> list[Pair]:
    """Return the pairs that reach `threshold`, with a key in `only` if given, the best first.

    `cache` has the terms of texts that did not change.
    """
    _refuse_threshold(threshold)
    if cache is None:
        counts: dict[str, Counts] = {key: Counter(terms(text)) for key, text in texts.items()}
    else:
        counts = counts_of_texts(texts, cache, "terms")

    return _sorted(pair_scores(counts, threshold, only=only))


def pairs_after_edits(
    cache: Cache,
    namespace: str,
    texts: Mapping[str, str],
    threshold: float,
    clean: Container[str] = (),
) -> list[Pair]:
    """Return the similar pairs; after a few edits only the texts that changed are compared. `clean`
    are the keys of texts without secrets.

    The pairs of the others are those of the last full comparison, scored again. What is edited
    changes a little what words weigh everywhere, so that two unchanged texts may come to be
    similar: the next full comparison, when more than `FEW` of the texts changed, finds them.
    """
    _refuse_threshold(threshold)
    hashes = _hashes(texts)
    compared: dict[str, str] = {}
    rows: list[tuple[str, str, float]] = []
    stored = cache.recall(namespace, str(threshold))
    if stored is not None:
        compared, rows = stored
        if compared == hashes:
            return list(starmap(Pair, rows))

    counts = _counts(texts, hashes, cache, clean=clean)
    changed = {key for key, text_hash in hashes.items() if compared.get(key) != text_hash}

    number = len(changed) + len(compared.keys() - hashes.keys())
    if number > FEW * len(hashes) or len(rows) >= MOST_PAIRS:
        pairs = _sorted(pair_scores(counts, threshold))
        cache.remember(namespace, str(threshold), [hashes, to_row(pairs)])
        return pairs

    scores = pair_scores(counts, threshold, only=changed)
    unchanged = hashes.keys() - changed
    vector = _vectors(counts)
    for first, second, _ in rows:
        if first in unchanged and second in unchanged:
            score = vector(first).cosine(vector(second))
            if score >= threshold:
                scores[first, second] = score

    return _sorted(scores)


def _refuse_threshold(threshold: float) -> None:
    if not 0 < threshold <= 1:
        message = f"the similarity threshold is {threshold}"
        raise UsageError(message, hint="give one above 0 and at most 1")


def counts_of_texts(texts: Mapping[str, str], cache: Cache, namespace: str) -> dict[str, Counts]:
    """Return how often each term is in each text; the cache has those of unchanged texts.

    Who reads records in another form has another namespace: it keeps one text of each.
    """
    return _counts(texts, _hashes(texts), cache, namespace)


def _hashes(texts: Mapping[str, str]) -> dict[str, str]:
    return {
        key: hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
        for key, text in texts.items()
    }


def _counts(
    texts: Mapping[str, str],
    hashes: Mapping[str, str],
    cache: Cache,
    namespace: str = "terms",
    clean: Container[str] = (),
) -> dict[str, Counts]:
    def make(key: str) -> Counts:
        return dict(Counter(terms(texts[key])))

    return cache.values(namespace, hashes, make, clean=clean)


def _sorted(scores: Scores) -> list[Pair]:
    pairs = (Pair(first, second, score) for (first, second), score in scores.items())
    return sorted(pairs, key=lambda pair: (-pair.score, pair.a, pair.b))


def _vectors(texts: Mapping[str, Counts]) -> Callable[[str], Vector]:
    """Return what gives the vector of each text among all, and remembers it."""
    weights = TermWeights.of(texts.values())
    return remembering(lambda key: weights.vector(texts[key]))


def pair_scores(
    texts: Mapping[str, Counts],
    threshold: float,
    limit: int = MOST_PAIRS,
    only: Collection[str] | None = None,
) -> Scores:
    """Return the pairs of texts, each as counts of its terms, that reach a threshold.

    By Cauchy and Schwarz the terms that a vector shares with another hold at least the threshold's
    square of its squared norm. `_Candidates` rules out the pairs that don't; of the others the
    cosine is computed.
    """
    vector = _vectors(texts)
    keys = sorted(key for key in texts if texts[key] and (only is None or key in only))
    candidates = _Candidates(texts, keys, threshold)
    scores: Scores = {}

    for key in keys:
        bound = _Bound.of(vector(key), threshold)
        for other in candidates.of(key, vector(key), before=only is None):
            if bound.most(vector(other)) < threshold:
                continue

            score = vector(key).cosine(vector(other))
            if score >= threshold:
                scores[min(key, other), max(key, other)] = score
                if len(scores) >= limit:
                    return scores

    return scores


class _Candidates:
    """Texts that share enough with one: each term is a number with a bit for each text that has it.

    The shares of all texts are added at once, bit by bit: 10,000 texts of 200 words take 5 s, one
    by one 40 s.
    """

    def __init__(self, texts: Mapping[str, Counts], keys: Iterable[str], threshold: float) -> None:
        self._keys = sorted(texts)
        self._positions = {key: position for position, key in enumerate(self._keys)}
        self._all = (1 << len(self._keys)) - 1
        self._least = threshold * threshold * (1 - _SLACK) * (1 << _SCALE_BITS)
        needed = frozenset(chain.from_iterable(texts[key] for key in keys))

        # Only terms of the texts that are asked about: the others can add nothing.
        size = len(self._keys) // 8 + 1
        columns: defaultdict[str, bytearray] = defaultdict(lambda: bytearray(size))
        for position, key in enumerate(self._keys):
            for term in needed.intersection(texts[key]):
                columns[term][position >> 3] |= 1 << (position & 7)

        self._columns = {term: int.from_bytes(bits, "little") for term, bits in columns.items()}

    def of(self, key: str, vector: Vector, *, before: bool) -> list[str]:
        """Return the keys of the texts that may be like one; `before`: of those before it alone."""
        # A text is not compared with itself. Each sum is as long as the texts that are asked for.
        own_bit = 1 << self._positions[key]
        others = own_bit - 1 if before else self._all ^ own_bit
        least = self._least
        shares = []
        for term, weight in vector.weights.items():
            share = weight * weight / vector.norm * (1 << _SCALE_BITS)
            # Common words: not to count them takes half the time.
            if share < 1 and least - share > self._least / 2:
                least -= share
            else:
                shares.append((term, math.ceil(share)))

        # Counts start at what is missing, so that enough is an overflow.
        missing = (1 << _SCALE_BITS) - max(math.floor(least), 1)
        digits = [others * (missing >> rank & 1) for rank in range(_SCALE_BITS)]
        reached = 0

        for term, units in shares:
            carried = self._columns[term] & others
            # A share is rounded up to a power of two.
            for rank in range((units - 1).bit_length(), _SCALE_BITS):
                digits[rank], carried = digits[rank] ^ carried, digits[rank] & carried
                if not carried:
                    break

            reached |= carried

        return [self._keys[index] for index in _positions_of(reached)]


def _positions_of(number: int) -> list[int]:
    """Return the positions of a number's bits, the lowest first."""
    positions = []
    while number:
        lowest = number & -number
        positions.append(lowest.bit_length() - 1)
        number ^= lowest

    return positions
