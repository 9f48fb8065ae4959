"""Which texts say nearly the same: TF-IDF cosine over their terms; says how alike two texts are, not what follows.

A term weighs ln(1 + documents / documents that have it), times 1 + ln(times it occurs in the text). The frequencies are
those of the index as it stands when it is asked, so a score depends on the texts in the index and on nothing else: not
on their order, not on what was in the index before, not on whether it came from a saved state.

What a change costs: a text that changes moves the weights of its terms in all other texts, so strictly every score
changes. `pairs` remembers what it found, somewhat below the threshold too, and under which weights. Asked again, it
searches for the pairs of changed texts and of texts with a term whose weight has moved by more than 2 %, and computes
the other remembered pairs anew. No other pair can have reached the threshold, so the answer is what a new index gives.
"""

from __future__ import annotations

import hashlib
import heapq
import re
import unicodedata
from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from itertools import chain, count, islice
from mmap import mmap
from sys import intern
from typing import Any

from orbit_registry.errors import UsageError
from orbit_registry.search.all_pairs import Pairs
from orbit_registry.search.terms import MARKS, TERMS_VERSION, terms
from orbit_registry.search.weights import Vector, Weights, idf
from orbit_registry.store.cache import code_stamp
from orbit_registry.store.kept import KeptBytes, KeptValue
from orbit_registry.store.workspace import Workspace
from orbit_registry.values import dataclass

_MOVED = 0.02  # how far a term's weight may move before the texts that have it are computed anew
_MARGIN = ((1 + _MOVED) / (1 - _MOVED)) ** 2 + 1e-9
_MOST_MOVED = 0.1  # of all texts; beyond it everything is computed anew
MOST_PAIRS = 100_000

_PUNCTUATION = re.compile(f"(?:_|[^\\w{MARKS}])+")


@dataclass(frozen=True, slots=True)
class Pair:
    """Two texts by their keys, `a` before `b`, and how alike they are: from the threshold up to 1."""

    a: str
    b: str
    score: float


@dataclass(frozen=True, slots=True)
class _Found:
    """What an earlier search found: all pairs from `floor` up, under the weights of that time."""

    floor: float
    documents: int
    frequencies: Mapping[str, int]
    pairs: frozenset[tuple[str, str]]


def normalised(text: str) -> str:
    """Return a text without case, punctuation and white space differences, "" if it has no letter or digit."""
    return _PUNCTUATION.sub(" ", unicodedata.normalize("NFKC", text).casefold()).strip()


class SimilarityIndex:
    """Texts by key, compared with each other; change it with `put` and `remove`."""

    def __init__(self, items: Iterable[tuple[str, str]] = ()) -> None:
        self._vectors: dict[str, Vector] = {}
        self._weights: Weights | None = None
        self._found: _Found | None = None
        self._changed: set[str] = set()
        for key, text in items:
            self.put(key, text)

    def __len__(self) -> int:
        return len(self._vectors)

    def put(self, key: str, text: str) -> None:
        """Add a text, or replace the one that has this key."""
        vector, old = Vector.of(terms(text)), self._vectors.get(key)
        if old is None or set(old.marked) != set(vector.marked):
            self._vectors[key] = vector
            self._changed.add(key)
            self._weights = None

    def remove(self, key: str) -> None:
        """Take a text out; nothing happens if there is none with this key."""
        if self._vectors.pop(key, None) is not None:
            self._changed.add(key)
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
        if only is not None and len(only) <= len(self._vectors) * _MOST_MOVED:
            search = Pairs(self._vectors, weights, threshold, MOST_PAIRS)
            search.find_of(only)
        else:
            search = self._again(threshold, weights) or self._anew(threshold, weights)
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

    def _anew(self, threshold: float, weights: Weights) -> Pairs:
        floor = threshold / _MARGIN
        search = Pairs(self._vectors, weights, floor, MOST_PAIRS)
        search.find_all()
        if search.complete:
            self._found = _Found(floor, weights.documents, weights.frequencies, frozenset(search.scores))
            self._changed = set()
        else:
            self._found = None
            search = Pairs(self._vectors, weights, threshold, MOST_PAIRS)
            search.find_all()
        return search

    def _again(self, threshold: float, weights: Weights) -> Pairs | None:
        """Return what `_anew` would from `threshold` up, from what was found before; None if that is not enough."""
        found = self._found
        if found is None or threshold < found.floor * _MARGIN * (1 - 1e-9):
            return None
        moved = {
            term
            for term, frequency in weights.frequencies.items()
            if abs(idf(weights.documents, frequency) / idf(found.documents, found.frequencies.get(term, 0)) - 1)
            > _MOVED
        }
        affected = {key for key, vector in self._vectors.items() if not moved.isdisjoint(vector.terms)}
        affected |= self._changed & self._vectors.keys()
        if len(affected) > len(self._vectors) * _MOST_MOVED:
            return None
        search = Pairs(self._vectors, weights, threshold, MOST_PAIRS)
        search.find_of(affected)
        for a, b in sorted(found.pairs):
            if a in self._vectors and b in self._vectors and a not in affected and b not in affected:
                search.examine(a, b)
        return search

    def to_state(self) -> tuple[dict[str, Any], bytes]:
        """Return the index, and what `pairs` remembers, as JSON can hold it, and the numbers of its texts' words.

        Equal indexes give equal states. Numbers that are no text are written and read in half the time.
        """
        found, vectors = self._found, dict(sorted(self._vectors.items()))
        numbers: defaultdict[str, int] = defaultdict(count().__next__)
        content = array("I", map(numbers.__getitem__, chain.from_iterable([one.marked for one in vectors.values()])))
        return {
            "version": TERMS_VERSION,
            "words": list(numbers),
            "texts": {key: len(vector.marked) for key, vector in vectors.items()},
            "changed": sorted(self._changed),
            "found": None
            if found is None
            else {
                "floor": found.floor,
                "documents": found.documents,
                "frequencies": dict(sorted(found.frequencies.items())),
                "pairs": sorted(map(list, found.pairs)),
            },
        }, content.tobytes()

    @classmethod
    def from_state(cls, state: object, content: bytes | mmap) -> SimilarityIndex | None:
        """Return the index that `to_state` was called on; None if `state` is nothing of that kind, or of other terms.

        Whether a state of the right form was damaged is for the one who stored it to know.
        """
        match state:
            case {
                "version": version, "words": list(words), "texts": dict(texts), "changed": list(changed), "found": found
            }:  # fmt: skip
                if version != TERMS_VERSION or not (found is None or isinstance(found, dict)):
                    return None
            case _:
                return None
        index = cls()
        terms = [intern(word.partition(":")[0]) for word in words]
        numbers = iter(array("I", bytes(content)))
        for key, length in texts.items():
            row = list(islice(numbers, length))
            index._vectors[key] = Vector(tuple(map(terms.__getitem__, row)), tuple(map(words.__getitem__, row)))
        index._changed = set(changed)
        if found is not None:
            pairs = frozenset((a, b) for a, b in found["pairs"])
            index._found = _Found(found["floor"], found["documents"], found["frequencies"], pairs)
        return index


class KeptIndex:
    """The index of a kind as the last run left it."""

    def __init__(self, workspace: Workspace, kind: str) -> None:
        self._kept = KeptValue(workspace, f"terms-{kind}", code_stamp())
        self._numbers = KeptBytes(workspace, f"terms-{kind}.numbers")

    @property
    def is_empty(self) -> bool:
        """Say whether nothing is kept, so that an index has to be made of every text."""
        return self._content() is None

    def of(self, said: Mapping[str, str], text_of: Callable[[str], str]) -> SimilarityIndex:
        """Return an index of texts, whose keys and hashes `said` has; only those that were not kept are asked for."""
        content = self._content()
        index = SimilarityIndex.from_state(self._kept.value.get("state"), content) if content is not None else None
        seen = self._kept.value.get("texts")
        if index is None or not isinstance(seen, dict):
            return SimilarityIndex((key, text_of(key)) for key in said)
        for key in seen.keys() - said.keys():
            index.remove(key)
        for key, hashed in said.items():
            if seen.get(key) != hashed:
                index.put(key, text_of(key))
        return index

    def _content(self) -> mmap | None:
        return self._numbers.content(self._kept.value.get("numbers"))

    def keep(self, index: SimilarityIndex, said: Mapping[str, str]) -> None:
        """Keep an index of texts with their hashes for the next run; a disk that refuses is let be."""
        state, content = index.to_state()
        self._kept.keep({"state": state, "numbers": self._numbers.keep(content), "texts": dict(said)})


def hash_of(text: str) -> str:
    """Return what tells a text from another."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
