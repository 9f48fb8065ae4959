"""Every pair of term vectors whose TF-IDF cosine reaches a threshold, exactly; knows vectors, not texts or records.

No bound that rules pairs out is approximate, and what is left is computed in full, with correctly rounded sums, so that
neither the order of the vectors nor that of their terms changes a score.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from orbit_registry.search.pairs_by_share import PairsByShare
from orbit_registry.search.weights import SLACK, Vector, Weighted, Weights

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
        """Find every pair."""
        for first, second in PairsByShare(self.vectors, self.weights, self.threshold):
            self.examine(first, second)
            if not self.complete:
                return

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
