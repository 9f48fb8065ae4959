"""Every pair of term vectors whose TF-IDF cosine reaches a threshold, exactly; knows vectors, not texts or records.

No bound that rules pairs out is approximate, and what is left is computed in full, with correctly rounded sums, so that
neither the order of the vectors nor that of their terms changes a score.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping

from orbit_registry.search.pairs_by_count import PairsByCount
from orbit_registry.search.pairs_by_share import PairsByShare
from orbit_registry.search.weights import SLACK, Vector, Weighted, Weights

_LONG = 110
"""From so many terms in the mean on, shares rule out more pairs than counts do, and to have tried counts costs a third
of the search: of 3,214 texts of 456 terms that by counts takes 240 s, and by shares 5."""

Scores = dict[tuple[str, str], float]


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

    def examine(self, first: str, second: str) -> bool:
        """Compute a pair and keep it if it reaches the threshold; says whether it does."""
        pair = (first, second) if first < second else (second, first)
        if pair in self.scores:
            return True
        score = self.weigh(first).cosine(self.weigh(second))
        if score < self.threshold:
            return False
        if len(self.scores) < self.most:
            self.scores[pair] = score
        else:
            self.complete = False
        return True

    def find_all(self) -> None:
        """Find every pair: by counts, unless these are seen to rule out too few: more than one for each vector misses.

        Of 8,561 texts with next to no common words counts leave 34 pairs, and take 0.3 of the time; of 3,000 parts of
        real decisions with 54 terms they leave 120,000, and take four times as long.
        """
        terms, many = sum(len(vector.terms) for vector in self.vectors.values()), len(self.vectors)
        if terms >= _LONG * many or not self._examine_all(PairsByCount, many):
            self._examine_all(PairsByShare)

    def _examine_all(self, search: type[PairsByCount | PairsByShare], most_missed: float = math.inf) -> bool:
        """Examine what a search yields; False where it was left because more than some of it missed the threshold."""
        missed = 0
        for first, second in search(self.vectors, self.weights, self.threshold):
            missed += not self.examine(first, second)
            if missed > most_missed:
                return False
            if not self.complete:
                break
        return True

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
            for other in sorted(other for other, square in held.items() if square >= needed * 0.75 * (1 - SLACK)):
                self.examine(key, other)
