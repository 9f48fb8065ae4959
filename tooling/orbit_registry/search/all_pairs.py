"""Every pair of term vectors whose TF-IDF cosine reaches a threshold, exactly; knows vectors, not texts or records.

No bound here is approximate: each only rules out pairs that can't reach the threshold, and what is left is computed in
full, with correctly rounded sums, so that neither the order of the vectors nor that of their terms changes a score.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from operator import mul
from typing import TypeVar

_SLACK = 1e-9  # more than what rounding can add up to in a bound
_SAMPLE = 200
_BLOCK = 10_000  # so many vectors are looked at in one, which bounds the memory that their numbers take
_LEVELS = 8  # how finely shares are told apart
_RANKS = 24  # more binary digits than a squared weight has
_LONG = 100  # so many terms in the mean make a vector long: its squared weights are counted with more digits
_COMMON_SHARE = 0.25  # what common terms may hold of a squared norm, as a part of the threshold's square

Scores = dict[tuple[str, str], float]
T = TypeVar("T")


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
    """The squared weight of each term of a vector, their roots, and their sum."""

    squares: dict[str, float]
    roots: dict[str, float]
    norm: float

    def cosine(self, other: Weighted) -> float:
        """Return the cosine of two vectors, between 0 and 1, the same whichever comes first; 0 where one is empty."""
        mine, theirs = self.roots, other.roots
        shared = mine.keys() & theirs.keys()
        dot = math.fsum(map(mul, map(mine.__getitem__, shared), map(theirs.__getitem__, shared)))
        return min(dot / math.sqrt(self.norm * other.norm), 1.0) if dot else 0.0


def idf(documents: int, frequency: int) -> float:
    """Return what a term weighs that `frequency` of `documents` have; one that none has counts as one that one has."""
    return math.log(1 + documents / max(frequency, 1))


class _Memo(dict[str, T]):
    """What a function says of each marked term, asked once for each."""

    def __init__(self, say: Callable[[str], T]) -> None:
        self._say = say

    def __missing__(self, marked: str) -> T:
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
        squares = list(map(self.squares.__getitem__, vector.marked))
        roots = map(math.sqrt, squares)
        return Weighted(
            dict(zip(vector.terms, squares, strict=True)),
            dict(zip(vector.terms, roots, strict=True)),
            math.fsum(squares),
        )


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

        By Cauchy and Schwarz a cosine is no more than the root of two parts multiplied: of what one vector's squared
        norm has in terms that the other has too, and of the same the other way round. A vector is asked for the first
        with all of a block at once. A short one is asked with the shorter ones alone, as that rarely leaves a pair, and
        where it leaves many these are asked as well.
        """
        keys = sorted(key for key, vector in self.vectors.items() if vector.terms)
        keys.sort(key=lambda key: len(self.vectors[key].terms))
        parts = len(keys) // _BLOCK + 1
        blocks = [keys[len(keys) * at // parts : len(keys) * (at + 1) // parts] for at in range(parts)]
        rare = self._rare(keys)
        for later, block in enumerate(blocks):
            for earlier in blocks[: later + 1]:
                if self.complete:
                    self._compare(earlier, block, rare)

    def _compare(self, earlier: list[str], later: list[str], rare: frozenset[str]) -> None:
        """Compute the pairs of two blocks that may reach the threshold; of one with itself, where they are the same."""
        is_one, is_long = earlier is later, self._mean_length(later) >= _LONG
        if is_one and not is_long:
            shared = list(self._shared(later, dict.fromkeys(rare, 0), None))
        else:
            shared = list(self._shared(later, self._columns(earlier, rare), len(earlier)))
        mirrored = []
        if is_one and is_long:
            mirrored = shared
        elif sum(levels[0].bit_count() for levels in shared if levels) > len(later):
            mirrored = list(self._shared(earlier, self._columns(later, rare), len(later)))
        for place, levels in enumerate(shared):
            before = (1 << (place if is_one else len(earlier))) - 1
            for level, (reached, more) in enumerate(zip(levels, (*levels, 0)[1:], strict=True)):
                least = _LEVELS - 1 - level
                for other in places_of(reached & ~more & before):
                    if not mirrored or (least < len(mirrored[other]) and mirrored[other][least] >> place & 1):
                        self.examine(later[place], earlier[other])
                if not self.complete:
                    return

    def _mean_length(self, keys: list[str]) -> float:
        return sum(len(self.vectors[key].terms) for key in keys) / max(len(keys), 1)

    def _shared(self, keys: list[str], columns: dict[str, int], number: int | None) -> Iterator[list[int]]:
        """Yield for each key which of the vectors in `columns` have how much of its own: for each level that one of
        them reaches, a number with a bit for each that does.

        `number` is how many vectors they are; None if the keys become them, one after the other. What they have of a
        squared norm is T ^ (1 - level / levels) or more, where T is the threshold's square: two levels that are less
        than the number of levels together, with one for each, can't make a pair. A common term counts as if every
        vector had it.
        """
        squares, frequencies = self.weights.squares, self.weights.frequencies
        digits = 1 if self._mean_length(keys) < _LONG else 3

        def added(marked: str) -> tuple[str, list[int]] | None:
            term = marked.partition(":")[0]
            return (term, _ranks(squares[marked], digits)) if term in columns else None

        def common(marked: str) -> float:
            term = marked.partition(":")[0]
            return squares[marked] if frequencies[term] > 1 and term not in columns else 0.0

        additions, commons = _Memo(added), _Memo(common)
        least = self.threshold * self.threshold - _SLACK
        parts = [least ** (1 - level / _LEVELS) for level in range(_LEVELS)]
        for place, key in enumerate(keys):
            marked = self.vectors[key].marked
            whole, given = sum(map(squares.__getitem__, marked)), sum(map(commons.__getitem__, marked))
            ranked: list[list[int]] = [[] for _ in range(_RANKS)]
            rare = list(filter(None, map(additions.__getitem__, marked)))
            for term, ranks in rare:
                if column := columns[term]:
                    for rank in ranks:
                        ranked[rank].append(column)
            counts, levels, bit = _add(ranked), [], 1 << (place if number is None else number)
            for part in parts:
                reached = _at_least(counts, math.ceil(part * whole - given)) & (bit - 1)
                if not reached:
                    break
                levels.append(reached)
            yield levels
            if number is None:
                for term, _ in rare:
                    columns[term] |= bit

    def _columns(self, keys: list[str], rare: frozenset[str]) -> dict[str, int]:
        """Return for each rare term a number with a bit for each of some vectors that has it."""
        having: defaultdict[str, bytearray] = defaultdict(lambda: bytearray(len(keys) // 8 + 1))
        for place, key in enumerate(keys):
            for term in rare.intersection(self.vectors[key].terms):
                having[term][place >> 3] |= 1 << (place & 7)
        return dict.fromkeys(rare, 0) | {term: int.from_bytes(held, "little") for term, held in having.items()}

    def _rare(self, keys: list[str]) -> frozenset[str]:
        """Return the terms that several vectors have, but for common ones, which are a small share of most vectors."""
        if not keys:
            return frozenset()
        frequencies = self.weights.frequencies
        limits = sorted(set(frequencies.values()))
        sample = [self.weigh(key) for key in keys[:: len(keys) // _SAMPLE + 1]]
        low, high = 0, len(limits) - 1
        while low < high:
            middle = (low + high) // 2
            shares = sorted(
                sum(square for term, square in vector.squares.items() if frequencies[term] > limits[middle])
                / vector.norm
                for vector in sample
            )
            if shares[len(shares) * 9 // 10] <= self.threshold * self.threshold * _COMMON_SHARE:
                high = middle
            else:
                low = middle + 1
        return frozenset(term for term, times in frequencies.items() if 1 < times <= limits[high])

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


def _ranks(square: float, digits: int) -> list[int]:
    """Return the places of the binary digits of a squared weight, rounded up so that there are few of them."""
    number = math.ceil(square)
    while number.bit_count() > digits:
        number += number & -number
    return list(places_of(number))


def _add(ranked: list[list[int]]) -> list[int]:
    """Return for each place the sum of 2 ** rank over the numbers that have a bit there, as binary digits.

    Three digits of one rank are added to one of that rank and one of the next, in five operations on whole numbers.
    """
    digits: list[int] = []
    carried: list[int] = []
    ranks = iter(ranked)
    while (numbers := next(ranks, None)) is not None or carried:
        numbers = [*(numbers or ()), *carried]
        total, carried = numbers.pop() if len(numbers) % 2 else 0, []
        each = iter(numbers)
        for a, b in zip(each, each, strict=True):
            either = a ^ b
            carried.append(a & b | either & total)
            total ^= either
        digits.append(total)
    while digits and not digits[-1]:
        digits.pop()
    return digits


def _at_least(digits: list[int], least: int) -> int:
    """Return a number with a bit for each place whose sum, as `_add` gives it, is `least` or more.

    It is the carry of the sum and what is missing from `least` to the next power of two.
    """
    if least <= 0:
        return -1
    if least >> len(digits):
        return 0
    missing, carry = (1 << len(digits)) - least, 0
    for digit in digits:
        carry = digit | carry if missing & 1 else digit & carry
        missing >>= 1
    return carry


def places_of(number: int) -> Iterator[int]:
    """Yield the places of the bits of a number, from the lowest on."""
    while number:
        lowest = number & -number
        yield lowest.bit_length() - 1
        number ^= lowest
