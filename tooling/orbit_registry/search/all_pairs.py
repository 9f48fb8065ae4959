"""Every pair of term vectors whose TF-IDF cosine reaches a threshold, exactly; knows vectors, not texts or records.

No bound here is approximate: each only rules out pairs that can't reach the threshold, and what is left is computed in
full, with correctly rounded sums, so that neither the order of the vectors nor that of their terms changes a score.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import NamedTuple

_SLACK = 1e-9  # more than what rounding can add up to in a bound
_SAMPLE = 200
_BLOCK = 32_768  # how many vectors are counted at once, which bounds the memory that their numbers take
# How much of a vector's squared norm common terms may hold, as a part of the threshold, in one round after the other.
# The larger, the fewer terms are looked up and the more pairs are computed; 0 ends it, as then no term is common.
_COMMON_SHARES = (0.5, 0.2, 0.0)
_FEW = 16  # so few vectors are looked at one by one, rather than told apart by what is enough for their class

Scores = dict[tuple[str, str], float]


@dataclass(frozen=True, slots=True)
class Vector:
    """The distinct terms of a text, and the same once more with a mark on those that are repeated: `lock:3`."""

    terms: tuple[str, ...]
    marked: tuple[str, ...]

    @classmethod
    def of(cls, terms: Iterable[str]) -> Vector:
        """Return the vector of a text's terms, which hold no colon."""
        counts = Counter(terms)
        marked = [term if times == 1 else f"{term}:{times}" for term, times in counts.items()]
        return cls(tuple(counts), tuple(marked))


@dataclass(frozen=True, slots=True)
class Weighted:
    """The squared weight of each term of a vector, and their sum."""

    squares: dict[str, float]
    norm: float

    def cosine(self, other: Weighted) -> float:
        """Return the cosine of two vectors, between 0 and 1, the same whichever comes first; 0 where one is empty."""
        mine, theirs = self.squares, other.squares
        dot = math.fsum(math.sqrt(mine[term] * theirs[term]) for term in mine.keys() & theirs.keys())
        return min(dot / math.sqrt(self.norm * other.norm), 1.0) if dot else 0.0


def idf(documents: int, frequency: int) -> float:
    """Return what a term weighs that `frequency` of `documents` have; one that none has counts as one that one has."""
    return math.log(1 + documents / max(frequency, 1))


class _Memo(dict[str, float]):
    """What a function says of each marked term, asked once for each."""

    def __init__(self, say: Callable[[str], float]) -> None:
        self._say = say

    def __missing__(self, marked: str) -> float:
        said = self[marked] = self._say(marked)
        return said


class Weights:
    """What each term of a collection weighs: its `idf`, times 1 + ln(how often it occurs in the text)."""

    def __init__(self, documents: int, frequencies: Mapping[str, int]) -> None:
        self.documents = documents
        self.frequencies = frequencies
        self.squares = _Memo(self._square)
        """The squared weight of each marked term, also of one that the collection has not."""

    def _square(self, marked: str) -> float:
        term, _, times = marked.partition(":")
        return (idf(self.documents, self.frequencies.get(term, 0)) * (1 + math.log(int(times or 1)))) ** 2

    def weigh(self, vector: Vector) -> Weighted:
        """Return the weights of a vector."""
        squares = dict(zip(vector.terms, map(self.squares.__getitem__, vector.marked), strict=True))
        return Weighted(squares, math.fsum(squares.values()))


class _Profile(NamedTuple):
    """What bounds the cosines of a vector: profiles are in the order of `share`."""

    share: float
    """The norm of its common part, where the whole has 1."""
    key: str
    weight: float
    """The largest weight of a rare term of it that others have too."""
    rare: tuple[str, ...]
    """These terms."""


class Pairs:
    """Collects the pairs of some vectors, weighed by what they hold together, that reach `threshold`, at most `most`.

    `scores` holds them by their keys, the smaller key first; `complete` is False if there are more.
    """

    def __init__(self, vectors: Mapping[str, Vector], weights: Weights, threshold: float, most: int) -> None:
        self.vectors = vectors
        self.weights = weights
        self.threshold = threshold
        self.most = most
        self.scores: Scores = {}
        self.complete = True
        self._weighted: dict[str, Weighted] = {}

    def weigh(self, key: str) -> Weighted:
        """Return the weights of one of the vectors."""
        weighted = self._weighted.get(key)
        if weighted is None:
            weighted = self._weighted[key] = self.weights.weigh(self.vectors[key])
        return weighted

    def examine(self, first: str, second: str) -> None:
        """Compute a pair and keep it if it reaches the threshold."""
        pair = (first, second) if first < second else (second, first)
        if pair in self.scores:
            return
        score = self.weigh(first).cosine(self.weigh(second))
        if score >= self.threshold:
            if len(self.scores) < self.most:
                self.scores[pair] = score
            else:
                self.complete = False

    def find_all(self) -> None:
        """Find every pair.

        In each round the terms are parted into rare and common ones. The common terms give a cosine no more than the
        product of the shares that they have in both vectors, so most pairs must share several rare ones, which are
        counted. Vectors that may reach the threshold by common terms alone go into the next round, which has fewer
        vectors and thus rarer terms; in the last one every term is rare.
        """
        pending = sorted(key for key, vector in self.vectors.items() if vector.terms)
        frequencies = self.weights.frequencies
        for common_share in _COMMON_SHARES:
            if pending and self.complete:
                pending = self._round(pending, frequencies, self.threshold * common_share)
                frequencies = Counter(chain.from_iterable([self.vectors[key].terms for key in pending]))

    def _round(self, keys: list[str], frequencies: Mapping[str, int], common_share: float) -> list[str]:
        rarest = self._rarest(keys, frequencies, common_share)
        rare = {term for term, times in frequencies.items() if 1 < times <= rarest}
        profiles = sorted(self._profiles(keys, frequencies, rarest, rare))
        for start in range(0, len(profiles), _BLOCK):
            self._search_block(profiles, start, rare)
            if not self.complete:
                break
        heaviest_share = profiles[-1].share
        return [one.key for one in profiles if one.share * heaviest_share >= self.threshold - _SLACK]

    def _search_block(self, profiles: list[_Profile], start: int, rare: set[str]) -> None:
        """Compute the pairs of a block's vectors with each other and with all later ones, where terms admit it.

        Who of the block has a term is one number, a bit for each vector. A sum of such numbers by bits counts the
        shared terms of a vector with all of the block at once, a machine word of vectors at a time.
        """
        threshold = self.threshold - _SLACK
        block = profiles[start : start + _BLOCK]
        classes = _classes([one.weight for one in block])
        having = dict.fromkeys(rare, 0)
        for place, (share, key, weight, terms) in enumerate(profiles[start:]):
            counts = _add(list(filter(None, map(having.__getitem__, terms))))
            needed = threshold - share * share  # at least: the others come earlier, so their shares are no larger
            found = -1
            for heaviest, members, rest in classes if counts and weight > 0 else ():
                found &= rest
                if found.bit_count() > _FEW:
                    enough = max(needed / (weight * heaviest), needed / weight * abs(needed / weight), 1) - _SLACK
                    found = _at_least(counts, math.ceil(enough)) & rest
                for other in places_of(found & members):
                    their_share, name, their_weight, _ = block[other]
                    if 0 < threshold - share * their_share <= _digit_sum(counts, other) * weight * their_weight:
                        self.examine(key, name)
                if not found:
                    break
            if not self.complete:
                break
            if place < len(block):
                bit = 1 << place
                for term in terms:
                    having[term] |= bit

    def _rarest(self, keys: list[str], frequencies: Mapping[str, int], common_share: float) -> int:
        """Return up to which frequency terms are rare, so that the others are at most that share of most vectors."""
        limits = sorted(set(frequencies.values()))
        sample = [self.weigh(key) for key in keys[:: len(keys) // _SAMPLE + 1]]
        low, high = 0, len(limits) - 1
        while low < high and common_share:
            middle = (low + high) // 2
            shares = sorted(
                sum(square for term, square in vector.squares.items() if frequencies[term] > limits[middle])
                / vector.norm
                for vector in sample
            )
            if shares[len(shares) * 9 // 10] <= common_share:
                high = middle
            else:
                low = middle + 1
        return limits[high]

    def _profiles(
        self, keys: list[str], frequencies: Mapping[str, int], rarest: int, rare: set[str]
    ) -> Iterator[_Profile]:
        def part(marked: str, above: int, below: float) -> float:
            return squares[marked] if above < frequencies[marked.partition(":")[0]] <= below else 0.0

        squares = self.weights.squares
        common, shared = _Memo(lambda one: part(one, rarest, math.inf)), _Memo(lambda one: part(one, 1, rarest))
        for key in keys:
            own, terms = self.vectors[key].marked, self.vectors[key].terms
            whole = sum(map(squares.__getitem__, own))
            share = math.sqrt(sum(map(common.__getitem__, own)) / whole)
            weight = math.sqrt(max(map(shared.__getitem__, own)) / whole)
            yield _Profile(share, key, weight, tuple(filter(rare.__contains__, terms)))

    def find_of(self, keys: Iterable[str]) -> None:
        """Find every pair that has one of `keys`; fast when they are few.

        A vector whose cosine with another is t shares terms that hold at least t squared of its own squared norm.
        They are looked up from the rarest on until what is left could give a quarter of that at most; a vector that
        has not three quarters by then is out.
        """
        wanted = sorted(set(keys) & self.vectors.keys())
        terms = {term for key in wanted for term in self.vectors[key].terms}
        postings: defaultdict[str, list[str]] = defaultdict(list)
        for key, vector in self.vectors.items():
            for term in terms.intersection(vector.terms):
                postings[term].append(key)
        for key in wanted:
            weighted = self.weigh(key)
            needed = self.threshold * self.threshold * weighted.norm
            left = weighted.norm
            held: defaultdict[str, float] = defaultdict(float)
            for term, square in sorted(weighted.squares.items(), key=lambda item: len(postings[item[0]])):
                if left <= needed / 4:
                    break
                left -= square
                for other in postings[term]:
                    held[other] += square
            held.pop(key, None)
            for other in sorted(other for other, square in held.items() if square >= needed * 0.75 * (1 - _SLACK)):
                self.examine(key, other)


def _classes(weights: list[float]) -> list[tuple[float, int, int]]:
    """Part places by their weight, the heaviest first: the largest weight of each class, and numbers with a bit for
    each of its places, and for each of those and of lighter ones.

    A few short texts have much heavier terms than the others, and what they may reach must not slow down all.
    """
    order = sorted(range(len(weights)), key=weights.__getitem__)
    ends = sorted({len(order) * share // 100 for share in (50, 80, 95, 99, 100)} - {0})
    classes, rest = [], 0
    for begin, end in pairwise((0, *ends)):
        heaviest, members = weights[order[end - 1]], sum(1 << place for place in order[begin:end])
        if heaviest > 0:
            rest |= members
            classes.append((heaviest, members, rest))
    return classes[::-1]


def _add(numbers: list[int]) -> list[int]:
    """Return for each place how many of the numbers have a bit there, as binary digits: the ones, the twos, the fours.

    Three digits of one rank are added to one of that rank and one of the next, in five operations on whole numbers.
    """
    digits = []
    while numbers:
        total, carried = 0, []
        if len(numbers) % 2:
            total = numbers.pop()
        each = iter(numbers)
        for a, b in zip(each, each, strict=True):
            either = a ^ b
            carried.append(a & b | either & total)
            total ^= either
        digits.append(total)
        numbers = carried
    return digits


def _at_least(digits: list[int], least: int) -> int:
    """Return a number with a bit for each place whose count, as `_add` gives it, is `least` or more."""
    if least >> len(digits):
        return 0
    above, equal = 0, -1
    for rank in range(len(digits) - 1, -1, -1):
        if least >> rank & 1:
            equal &= digits[rank]
        else:
            above |= equal & digits[rank]
            equal &= ~digits[rank]
    return above | equal


def _digit_sum(digits: list[int], place: int) -> int:
    """Return the count of one place."""
    return sum((digit >> place & 1) << rank for rank, digit in enumerate(digits))


def places_of(number: int) -> Iterator[int]:
    """Yield the places of the bits of a number, from the lowest on."""
    while number:
        lowest = number & -number
        yield lowest.bit_length() - 1
        number ^= lowest
