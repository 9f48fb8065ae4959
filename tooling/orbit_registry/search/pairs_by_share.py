"""Pairs of vectors of many terms that may be alike, by how much of each the other has; it computes no cosine.

By Cauchy and Schwarz a cosine is no more than the root of two parts multiplied: of what one vector's squared norm has
in terms that the other has too, and of the same the other way round.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping

from orbit_registry.search.bits import add, at_least, places_of
from orbit_registry.search.weights import SLACK, Memo, Vector, Weights

_BLOCK = 10_000  # so many vectors are looked at in one, which bounds the memory that their numbers take
_LEVELS = 8  # how finely shares are told apart
_RANKS = 24  # more binary digits than a squared weight has
_DIGITS = 3  # with so many a squared weight is counted
_COMMON_SHARE = 0.25  # what common terms may hold of a squared norm, as a part of the threshold's square


class PairsByShare:
    """Pairs of some vectors, weighed by what they hold together, that may reach a threshold."""

    def __init__(self, vectors: Mapping[str, Vector], weights: Weights, threshold: float) -> None:
        self.vectors = vectors
        self.weights = weights
        self.threshold = threshold

    def __iter__(self) -> Iterator[tuple[str, str]]:
        """Yield every pair that may, once."""
        keys = sorted(key for key, vector in self.vectors.items() if vector.terms)
        parts = len(keys) // _BLOCK + 1
        blocks = [keys[len(keys) * at // parts : len(keys) * (at + 1) // parts] for at in range(parts)]
        rare = self._rare(keys)
        for later, block in enumerate(blocks):
            for earlier in blocks[: later + 1]:
                yield from self._compare(earlier, block, rare)

    def _compare(self, earlier: list[str], later: list[str], rare: frozenset[str]) -> Iterator[tuple[str, str]]:
        """Yield the pairs of two blocks; of one with itself, where they are the same."""
        is_one = earlier is later
        shared = list(self._shared(later, earlier, rare))
        mirrored = shared if is_one else list(self._shared(earlier, later, rare))
        for place, levels in enumerate(shared):
            before = (1 << (place if is_one else len(earlier))) - 1
            for level, (reached, more) in enumerate(zip(levels, (*levels, 0)[1:], strict=True)):
                least = _LEVELS - 1 - level
                for other in places_of(reached & ~more & before):
                    back = mirrored[other]
                    if least < len(back) and back[least] >> place & 1:
                        yield later[place], earlier[other]

    def _shared(self, keys: list[str], others: list[str], rare: frozenset[str]) -> Iterator[list[int]]:
        """Yield for each key which of `others` have how much of it: for each level that one of them reaches, a number
        with a bit for each that does.

        What they have of a squared norm is T ^ (1 - level / levels) or more, where T is the threshold's square: two
        levels that are less than the number of levels together, with one for each, can't make a pair. A common term
        counts as if every vector had it.
        """
        squares, frequencies = self.weights.squares, self.weights.frequencies
        columns = self._columns(others, rare)

        def added(marked: str) -> list[tuple[int, int]]:
            column = columns.get(marked.partition(":")[0])
            return [(rank, column) for rank in _ranks(squares[marked])] if column else []

        def common(marked: str) -> float:
            term = marked.partition(":")[0]
            return squares[marked] if frequencies[term] > 1 and term not in rare else 0.0

        additions, commons = Memo(added), Memo(common)
        least = self.threshold * self.threshold - SLACK
        parts = [least ** (1 - level / _LEVELS) for level in range(_LEVELS)]
        every = (1 << len(others)) - 1
        for key in keys:
            marked = self.vectors[key].marked
            whole, given = sum(map(squares.__getitem__, marked)), sum(map(commons.__getitem__, marked))
            ranked: list[list[int]] = [[] for _ in range(_RANKS)]
            for rows in map(additions.__getitem__, marked):
                for rank, column in rows:
                    ranked[rank].append(column)
            counts, levels = add(ranked), []
            for part in parts:
                reached = at_least(counts, math.ceil(part * whole - given)) & every
                if not reached:
                    break
                levels.append(reached)
            yield levels

    def _columns(self, keys: list[str], rare: frozenset[str]) -> dict[str, int]:
        """Return for each rare term a number with a bit for each of some vectors that has it."""
        having: defaultdict[str, bytearray] = defaultdict(lambda: bytearray(len(keys) // 8 + 1))
        for place, key in enumerate(keys):
            for term in rare.intersection(self.vectors[key].terms):
                having[term][place >> 3] |= 1 << (place & 7)
        return {term: int.from_bytes(held, "little") for term, held in having.items()}

    def _rare(self, keys: list[str]) -> frozenset[str]:
        """Return the terms that several vectors have, but for common ones, which are a small share of most vectors."""
        frequencies = self.weights.frequencies
        most = self.threshold * self.threshold * _COMMON_SHARE
        rarest = self.weights.rarest([self.vectors[key] for key in keys], frequencies, most)
        return frozenset(term for term, times in frequencies.items() if 1 < times <= rarest)


def _ranks(square: float) -> list[int]:
    """Return the places of the binary digits of a squared weight, rounded up so that there are few of them."""
    number = math.ceil(square)
    while number.bit_count() > _DIGITS:
        number += number & -number
    return list(places_of(number))
