"""What words that have nothing to do with a record weigh in it by chance.

A long text meets each record in some words. How much that weighs follows from the words of the
other records: a word of another text is a given term as often as the other records have it. So
each record has a mean and a deviation for one word, and a text of n words has n times the mean and
the root of n times the deviation. The more records compete, the further the luckiest one is above
its mean, so it takes more deviations to be no chance.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from itertools import chain
from operator import mul
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from orbit_registry.search.index import Weights

ABOVE = 0.5
"""Deviations above what the luckiest of all records reaches by chance."""


def chances(weights: Weights, numbers: Mapping[str, int], records: int, unit: int) -> list[int]:
    """Return for each record, by number, the mean and the deviations that count, in parts of
    `unit`; `numbers` are those of the records that words lead to, by path.
    """
    by_number: dict[int, Mapping[str, float]] = {}
    for path, number in numbers.items():
        if path in weights.by_path:
            by_number[number] = weights.by_path[path]

    frequencies = Counter(chain.from_iterable(by_number.values()))
    total = sum(frequencies.values())
    deviations = math.sqrt(2 * math.log(max(len(numbers), 1))) + ABOVE
    result = [0, 0] * records
    for number, by_term in by_number.items():
        others = total - len(by_term)
        if not others:
            continue

        # How many other records have each term: one fewer than all.
        counts = [frequencies[term] - 1 for term in by_term]
        products = list(map(mul, counts, by_term.values()))
        mean = sum(products) / others
        square = sum(map(mul, products, by_term.values())) / others
        spread = deviations * math.sqrt(max(square - mean**2, 0.0))
        result[2 * number] = round(mean * unit)
        result[2 * number + 1] = round(spread * unit)

    return result
