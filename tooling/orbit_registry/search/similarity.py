"""Which texts say nearly the same: TF-IDF cosine over their terms; says how alike two texts are, not what follows.

A term weighs ln(1 + documents / documents that have it), times 1 + ln(times it occurs in the text). The frequencies are
those of the index as it stands when it is asked, so a score depends on the texts in the index and on nothing else: not
on their order, not on what was in the index before, not on whether it came from a saved state.
"""

from __future__ import annotations

import heapq
import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from itertools import chain

from orbit_registry.errors import UsageError
from orbit_registry.search.all_pairs import Pairs
from orbit_registry.search.terms import MARKS, terms
from orbit_registry.search.weights import Vector, Weights

FEW = 0.1
"""Up to this share of all texts, pairs are searched from the asked ones; beyond it all are."""
MOST_PAIRS = 100_000

_PUNCTUATION = re.compile(f"(?:_|[^\\w{MARKS}])+")


@dataclass(frozen=True, slots=True)
class Pair:
    """Two texts by their keys, `a` before `b`, and how alike they are: from the threshold up to 1."""

    a: str
    b: str
    score: float


def normalised(text: str) -> str:
    """Return a text without case, punctuation and white space differences, "" if it has no letter or digit."""
    return _PUNCTUATION.sub(" ", unicodedata.normalize("NFKC", text).casefold()).strip()


class SimilarityIndex:
    """Texts by key, compared with each other; change it with `put` and `remove`."""

    def __init__(self, items: Iterable[tuple[str, str]] = ()) -> None:
        self._vectors: dict[str, Vector] = {}
        self._weights: Weights | None = None
        for key, text in items:
            self.put(key, text)

    def __len__(self) -> int:
        return len(self._vectors)

    def put(self, key: str, text: str) -> None:
        """Add a text, or replace the one that has this key."""
        vector, old = Vector.of(terms(text)), self._vectors.get(key)
        if old is None or set(old.marked) != set(vector.marked):
            self._vectors[key] = vector
            self._weights = None

    def remove(self, key: str) -> None:
        """Take a text out; nothing happens if there is none with this key."""
        if self._vectors.pop(key, None) is not None:
            self._weights = None

    def pairs(self, threshold: float = 0.55, only: Collection[str] | None = None) -> list[Pair]:
        """Return the pairs that reach `threshold`, those with a key in `only` if it is given; the most alike first.

        Texts without terms are like nothing. Thousands of texts that are all alike would make millions of pairs, so
        no more than `MOST_PAIRS` are returned, not the most alike but the same ones each time. Give the index one text
        for each `normalised` form to keep exact copies out.

        Raises:
            UsageError: the threshold is not above 0 and at most 1.
        """
        if not 0 < threshold <= 1:
            raise UsageError(f"the similarity threshold is {threshold}", hint="give one above 0 and at most 1")
        weights = self._weigh()
        search = Pairs(self._vectors, weights, threshold, MOST_PAIRS)
        if only is not None and len(only) <= len(self._vectors) * FEW:
            search.find_of(only)
        else:
            search.find_all()
        found = (
            Pair(a, b, score)
            for (a, b), score in search.scores.items()
            if score >= threshold and (only is None or a in only or b in only)
        )
        return sorted(found, key=lambda pair: (-pair.score, pair.a, pair.b))

    def nearest(self, text: str, limit: int = 5) -> list[tuple[str, float]]:
        """Return the up to `limit` keys whose texts are most like `text`, with scores above 0, the most alike first."""
        if limit < 1:
            return []
        weights = self._weigh()
        query = weights.weigh(Vector.of(terms(text)))
        names = set(query.squares)
        bounds = []
        for key, vector in self._vectors.items():
            if shared := names.intersection(vector.terms):
                bounds.append((-sum(map(query.squares.__getitem__, shared)), key))
        heapq.heapify(bounds)
        best: list[tuple[float, str]] = []
        while bounds:
            bound, key = heapq.heappop(bounds)
            if len(best) >= limit and -bound < best[limit - 1][0] ** 2 * query.norm * (1 - 1e-9):
                break
            best.append((-query.cosine(weights.weigh(self._vectors[key])), key))
            best = sorted(best)[:limit]
        return [(key, -score) for score, key in best]

    def _weigh(self) -> Weights:
        if self._weights is None:
            frequencies = Counter(chain.from_iterable([vector.terms for vector in self._vectors.values()]))
            self._weights = Weights(len(self._vectors), frequencies)
        return self._weights
