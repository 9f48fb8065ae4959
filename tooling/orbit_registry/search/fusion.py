"""Ranks the best texts of an index once more, by the characters of their terms, and makes one order of both rankings.

Stems part words that belong together (`deduplicate`, `dedup`; `workspace`, `workspaces-root`); runs of three to five
characters meet again in them. They only reorder texts that a whole term has led to: `ui` never finds `pursuing`.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from orbit_registry.search.text_index import TextIndex, grams_of

SHORTEST, LONGEST = 3, 5
SMOOTHING = 60
"""What is added to ranks before they are turned over: the usual constant of reciprocal rank fusion."""


def gram_scores(index: TextIndex, query: Iterable[str], slots: Iterable[int]) -> dict[int, float]:
    """Return by slot how many of a query's runs of characters its text has: a cosine, but for the query's length."""
    asked = Counter(gram for term in query for gram in grams_of(term, SHORTEST, LONGEST))
    shared: dict[int, list[str]] = {}
    frequencies: Counter[str] = Counter()
    for number in index.near({gram for gram in asked if len(gram) == SHORTEST}):
        own = [gram for gram in grams_of(index.vocabulary[number], SHORTEST, LONGEST) if gram in asked]
        frequency = index.frequency(number)
        if frequency:
            shared[number] = own
            for gram in dict.fromkeys(own):
                frequencies[gram] += frequency
    texts = len(index)
    worth = {
        gram: (1 + math.log(asked[gram])) * (math.log((1 + texts) / (1 + min(frequency, texts))) + 1) ** 2
        for gram, frequency in frequencies.items()
    }
    weights = {number: math.fsum(worth[gram] for gram in own) for number, own in shared.items()}
    found = {}
    for slot in slots:
        total = math.fsum(
            weights[number] * _log(weight) for number, weight in index.terms_of(slot) if number in weights
        )
        found[slot] = total / math.sqrt(index.length(slot) / 2 or 1.0)
    return found


_LOGS = [1 + math.log(max(weight, 2) / 2) for weight in range(4096)]


def _log(weight: int) -> float:
    return _LOGS[weight] if weight < len(_LOGS) else 1 + math.log(weight / 2)


def fused(ranked: Sequence[tuple[int, float]], other: Mapping[int, float]) -> list[tuple[int, float]]:
    """Return hits in the order of both rankings, by reciprocal rank fusion, with the scores of the first.

    The best gets the first ranking's best score, the next its next one: a score stays the part reached of what can
    be, from 0 to 1, which a rank alone does not say. What is equal in both rankings stays equal.
    """
    first = _ranks(dict(ranked))
    second = _ranks({slot: other[slot] for slot, _ in ranked})
    tied: defaultdict[tuple[float, float], list[int]] = defaultdict(list)
    for slot, score in ranked:
        tied[-1 / (SMOOTHING + first[slot]) - 1 / (SMOOTHING + second[slot]), -score].append(slot)
    scores = sorted((score for _, score in ranked), reverse=True)
    found: list[tuple[int, float]] = []
    for key in sorted(tied):
        found += [(slot, scores[len(found)]) for slot in tied[key]]
    return found


def _ranks(scores: Mapping[int, float]) -> dict[int, int]:
    """Return the place of each score, from 1; equal ones share the first of theirs."""
    places: dict[float, int] = {}
    for place, score in enumerate(sorted(scores.values(), reverse=True), 1):
        places.setdefault(score, place)
    return {slot: places[score] for slot, score in scores.items()}
