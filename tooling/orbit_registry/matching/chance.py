"""What words that have nothing to do with a record weigh in it by chance.

A long text meets each record in some words. How much that weighs follows from the words of the
other records: a word of another text is a given term as often as the other records have it. So
each record has a mean and a deviation for one word, and a text of n words has n times the mean and
the root of n times the deviation. The more records compete, the further the luckiest one is above
its mean, so it takes more deviations to be no chance.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from orbit_registry.search.index import Weights

ABOVE = 0.5
"""Deviations above what the luckiest of all records reaches by chance."""


def chances(weights: Weights, numbers: Mapping[str, int], records: int, unit: int) -> array[int]:
    """Return for each record, by number, the mean and the deviations that count, in parts of
    `unit`; `numbers` are those of the records that words lead to, by path.
    """
    lengths = [0] * records
    total = 0
    for _, by_path in weights.terms.values():
        for path in by_path:
            if path in numbers:
                lengths[numbers[path]] += 1
                total += 1

    means = [0.0] * records
    squares = [0.0] * records
    for _, by_path in weights.terms.values():
        others = sum(path in numbers for path in by_path) - 1
        for path, weight in by_path.items() if others > 0 else ():
            if path in numbers:
                number = numbers[path]
                share = others / (total - lengths[number])
                means[number] += share * weight
                squares[number] += share * weight**2

    deviations = math.sqrt(2 * math.log(max(len(numbers), 1))) + ABOVE
    result = array("I")
    for mean, square in zip(means, squares, strict=True):
        spread = deviations * math.sqrt(max(square - mean**2, 0.0))
        result.extend((round(mean * unit), round(spread * unit)))

    return result
