"""Pairs of vectors of few terms that may be alike, by how many rare terms they share; it computes no cosine.

Many vectors of few terms share next to no rare one, which one look at each term tells. Where they share many terms, as
long texts do, this leaves most pairs: `pairs_by_share` is for those.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Generator, Iterable, Iterator, Mapping
from itertools import chain, count, pairwise
from operator import itemgetter
from typing import NamedTuple

from orbit_registry.search.bits import add, at_least, digit_sum, places_of
from orbit_registry.search.weights import SLACK, Vector, Weights

_BLOCK = 32_768  # how many vectors are counted at once, which bounds the memory that their numbers take
# How much of a vector's squared norm common terms may hold, as a part of the threshold, in one round after the other.
# The larger, the fewer terms are looked up and the more pairs are computed; 0 ends it, as then no term is common.
_COMMON_SHARES = (0.5, 0.2, 0.0)
_FEW = 16  # so few vectors are looked at one by one, rather than told apart by what is enough for their class


class _Profile(NamedTuple):
    """What bounds the cosines of a vector: profiles are in the order of `share`."""

    share: float
    """The norm of its common part, where the whole has 1."""
    key: str
    weight: float
    """The largest weight of a rare term of it that others have too."""
    rare: tuple[int, ...]
    """The numbers of these terms, from 1 up."""


class PairsByCount:
    """Pairs of some vectors, weighed by what they hold together, that may reach a threshold."""

    def __init__(self, vectors: Mapping[str, Vector], weights: Weights, threshold: float) -> None:
        self.vectors = vectors
        self.weights = weights
        self.threshold = threshold

    def __iter__(self) -> Iterator[tuple[str, str]]:
        """Yield every pair that may; it may come more than once.

        In each round the terms are parted into rare and common ones. The common terms give a cosine no more than the
        product of the shares that they have in both vectors, so most pairs must share several rare ones, which are
        counted. Vectors that may reach the threshold by common terms alone go into the next round, which has fewer
        vectors and thus rarer terms; in the last one every term is rare.
        """
        pending = sorted(key for key, vector in self.vectors.items() if vector.terms)
        frequencies = self.weights.frequencies
        for common_share in _COMMON_SHARES:
            if pending:
                pending = yield from self._round(pending, frequencies, self.threshold * common_share)
                frequencies = Counter(chain.from_iterable([self.vectors[key].terms for key in pending]))

    def _round(
        self, keys: list[str], frequencies: Mapping[str, int], common_share: float
    ) -> Generator[tuple[str, str], None, list[str]]:
        profiles = sorted(self._profiles(keys, frequencies, common_share))
        for start in range(0, len(profiles), _BLOCK):
            yield from self._search_block(profiles, start)
        heaviest_share = profiles[-1].share
        return [one.key for one in profiles if one.share * heaviest_share >= self.threshold - SLACK]

    def _search_block(self, profiles: list[_Profile], start: int) -> Iterator[tuple[str, str]]:
        """Yield the pairs of a block's vectors with each other and with all later ones, where terms admit it.

        Who of the block has a term is one number, a bit for each vector. A sum of such numbers by bits counts the
        shared terms of a vector with all of the block at once, a machine word of vectors at a time.
        """
        threshold = self.threshold - SLACK
        block = profiles[start : start + _BLOCK]
        classes = _classes([one.weight for one in block])
        having = [0] * (max(max(one.rare, default=0) for one in profiles) + 1)
        for place, (share, key, weight, terms) in enumerate(profiles[start:]):
            counts = add([list(filter(None, _picker(terms)(having)))])
            needed = threshold - share * share  # at least: the others come earlier, so their shares are no larger
            found = -1
            for heaviest, members, rest in classes if counts and weight > 0 else ():
                found &= rest
                if found.bit_count() > _FEW:
                    enough = max(needed / (weight * heaviest), needed / weight * abs(needed / weight), 1) - SLACK
                    found = at_least(counts, math.ceil(enough)) & rest
                for other in places_of(found & members):
                    their_share, name, their_weight, _ = block[other]
                    if 0 < threshold - share * their_share <= digit_sum(counts, other) * weight * their_weight:
                        yield key, name
                if not found:
                    break
            if place < len(block):
                bit = 1 << place
                for term in terms:
                    having[term] |= bit

    def _profiles(self, keys: list[str], frequencies: Mapping[str, int], common_share: float) -> Iterator[_Profile]:
        vectors = [self.vectors[key] for key in keys]
        rarest = self.weights.rarest(vectors, frequencies, common_share)
        numbers: defaultdict[str, int] = defaultdict(count(1).__next__)
        rows = [list(map(numbers.__getitem__, vector.marked)) for vector in vectors]
        # By these numbers; one of a term is that of its first form, and 0 stands for none.
        squares, common, shared, rare = [0.0], [0.0], [0.0], [0]
        for marked, number in [*numbers.items()]:
            term, square = marked.partition(":")[0], self.weights.squares[marked]
            is_rare = 1 < frequencies[term] <= rarest
            squares.append(square)
            common.append(square if frequencies[term] > rarest else 0.0)
            shared.append(square if is_rare else 0.0)
            rare.append(numbers.setdefault(term, number) if is_rare else 0)
        for key, row in zip(keys, rows, strict=True):
            pick = _picker(row)
            whole = sum(pick(squares))
            share, weight = math.sqrt(sum(pick(common)) / whole), math.sqrt(max(pick(shared)) / whole)
            yield _Profile(share, key, weight, tuple(filter(None, pick(rare))))


def _picker(numbers: Iterable[int]) -> itemgetter[tuple[int, ...]]:
    """Return what takes from a list what stands at some numbers, beside its first twice: of one it would be no tuple.

    Three times as fast as to ask a dictionary for each.
    """
    return itemgetter(0, 0, *numbers)


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
