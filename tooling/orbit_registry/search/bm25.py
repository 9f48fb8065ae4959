"""Ranks texts of three fields by BM25 over their terms; knows keys and texts, not records or files.

A term counts 3 in the title, 2.5 in the tags, 1 in the body; the sum is weighed as one text (BM25F). A score is the
part reached of what no text can exceed, so it lies between 0 and 1 and two queries can be compared.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import Any

from orbit_registry.search.terms import TERMS_VERSION, terms

# Twice what a term counts in each field, so that sums are whole numbers.
_TITLE, _TAGS, _BODY = 6, 5, 2
_K1 = 1.2
_B = 0.75
_MOST_DEAD = 0.25
"""Slots without a text, as a part of all; beyond it the index is better made anew."""


class TextIndex:
    """Texts by key. A text that goes leaves its slot empty, so that changing one costs no more than reading it."""

    def __init__(self) -> None:
        self._keys: list[str | None] = []
        self._lengths: list[int] = []
        self._slots: dict[str, int] = {}
        # Slot, weight, slot, weight …; a saved one stays text until it is asked for.
        self._postings: dict[str, list[int] | str] = {}
        self._norms: list[float] | None = None

    def __len__(self) -> int:
        return len(self._slots)

    @property
    def is_worn(self) -> bool:
        """Say whether so many texts have gone that a new index is better."""
        return len(self._keys) - len(self._slots) > _MOST_DEAD * len(self._keys)

    def put(self, key: str, title: str, tags: str, body: str) -> None:
        """Add a text, or replace the one that has this key."""
        self.remove(key)
        weights: Counter[str] = Counter()
        for field, weight in ((title, _TITLE), (tags, _TAGS), (body, _BODY)):
            for term, times in Counter(terms(field)).items():
                weights[term] += weight * times
        slot = self._slots[key] = len(self._keys)
        self._keys.append(key)
        self._lengths.append(weights.total())
        for term, weight in weights.items():
            self._posting(term).extend((slot, weight))
        self._norms = None

    def remove(self, key: str) -> None:
        """Take a text out; nothing happens if there is none with this key."""
        slot = self._slots.pop(key, None)
        if slot is not None:
            self._keys[slot] = None
            self._lengths[slot] = 0
            self._norms = None

    def unknown(self, words: Iterable[str]) -> list[str]:
        """Return those terms that no text has."""
        return [word for word in words if not any(True for _ in self._held(word))]

    def search(self, query: Iterable[str]) -> list[tuple[str, float]]:
        """Return the keys of the texts that have one of the terms or more, with scores; the best first, then by key."""
        norms = self._norm()
        scores: defaultdict[int, float] = defaultdict(float)
        best = 0.0
        for term in dict.fromkeys(query):
            held = list(self._held(term))
            weight = math.log1p((len(self) - len(held) + 0.5) / (len(held) + 0.5))
            best += weight * (_K1 + 1)
            for slot, times in held:
                scores[slot] += weight * times * (_K1 + 1) / (times + norms[slot])
        found = ((str(self._keys[slot]), score / best) for slot, score in scores.items())
        return sorted(found, key=lambda hit: (-hit[1], hit[0]))

    def _held(self, term: str) -> Iterable[tuple[int, float]]:
        """Yield the texts that have a term, by slot, with how much it counts there."""
        if term not in self._postings:
            return
        flat, keys = self._posting(term), self._keys
        for slot, weight in zip(flat[::2], flat[1::2], strict=True):
            if keys[slot] is not None:
                yield slot, weight / 2

    def _posting(self, term: str) -> list[int]:
        found = self._postings.get(term, [])
        if isinstance(found, str):
            found = list(map(int, found.split()))
        self._postings[term] = found
        return found

    def _norm(self) -> list[float]:
        """Return what a text's length adds below the line, by slot."""
        if self._norms is None:
            average = sum(self._lengths) / len(self) if self._slots else 0.0
            self._norms = [_K1 * (1 - _B + _B * length / average) if average else _K1 for length in self._lengths]
        return self._norms

    def to_state(self) -> dict[str, Any]:
        """Return the index as JSON can hold it."""
        written = {
            term: held if isinstance(held, str) else " ".join(map(str, held)) for term, held in self._postings.items()
        }
        return {"version": TERMS_VERSION, "keys": self._keys, "lengths": self._lengths, "postings": written}

    @classmethod
    def from_state(cls, state: object) -> TextIndex | None:
        """Return the index that `to_state` was called on; None if `state` is none, or of other terms."""
        match state:
            case {"version": version, "keys": list(keys), "lengths": list(lengths), "postings": dict(postings)}:
                if version != TERMS_VERSION:
                    return None
            case _:
                return None
        index = cls()
        index._keys, index._lengths, index._postings = keys, lengths, postings
        index._slots = {key: slot for slot, key in enumerate(keys) if key is not None}
        return index
