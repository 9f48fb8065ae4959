"""What the terms of a text weigh among others: TF-IDF vectors and their cosine; it compares two, and finds none."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import mul
from typing import TypeVar

T = TypeVar("T")
SLACK = 1e-9
"""More than what rounding can add up to in a bound of a cosine."""
_SAMPLE = 200


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


class Memo(dict[str, T]):
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
        self.squares = Memo(self._square)
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

    def rarest(self, vectors: Sequence[Vector], frequencies: Mapping[str, int], most: float) -> int:
        """Return up to which frequency terms are rare: the others hold no more than `most` of a squared norm in nine of
        ten vectors of a sample; where that is 0 all terms are rare.
        """
        if not most or not vectors:
            return max(frequencies.values(), default=0)
        sample = vectors[:: len(vectors) // _SAMPLE + 1]
        needed = sorted(self._rarest_of(self.weigh(vector), frequencies, most) for vector in sample)
        return needed[len(needed) * 9 // 10]

    def _rarest_of(self, weighted: Weighted, frequencies: Mapping[str, int], most: float) -> int:
        """Return the frequency above which terms hold no more than `most` of one vector's squared norm."""
        left = most * weighted.norm
        for term, square in sorted(weighted.squares.items(), key=lambda item: -frequencies[item[0]]):
            left -= square
            if left < 0:
                return frequencies[term]
        return 0
