"""Index of the terms of records' texts: what a term weighs in a text.

A term counts 3 in the title and the tags of a text, 1 in its body; the sum is weighed as one text
(BM25F). A score is the part reached of what no text can exceed, so that it lies between 0 and 1 and
two queries can be compared. Here the best texts are ranked a second time by the characters of their
terms. The index on disk has the counts (`matching.words`), which the hook weighs alike, and so do
SQL (`search.sql`) and the site's search box (`search.js`).
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain

from orbit_registry.model.record import Record
from orbit_registry.search.text import stem
from orbit_registry.search.texts import Counts, TextWords, words_of
from orbit_registry.workspace.cache import Cache

K1, B = 3.0, 0.75
"""A term that counts `K1` in a text of average length weighs half of what it can.

With the usual 1.2 a title weighs nearly as much as a text about its words: on 605 questions of two
projects MRR was .496, and .522 with 3.
"""
SHORTEST_GRAM, LONGEST_GRAM = 3, 5
# what is added to ranks before they are turned over: the usual constant of reciprocal rank fusion
SMOOTHING = 60
UNKNOWN = 1.5
"""Most that a term of no text is worth, in terms of one text.

Among few texts it would outweigh all that is found.
"""
Key = tuple[str, int]  # a record's path and the number of its chunk, 0 for its own text
Hits = list[tuple[int, float]]  # slots, each with its score


Posting = tuple[Sequence[int], Sequence[int]]
"""The slots of the texts that have a term, and what it counts in each."""


class Index:
    """Texts by key, ranked by terms; a text's slot is its place among the keys."""

    def __init__(self, texts: Mapping[Key, TextWords]) -> None:
        """`texts` are what words count, by key."""
        self.keys = sorted(texts)
        self.texts = [texts[key] for key in self.keys]

    @property
    def by_record(self) -> Mapping[str, Sequence[TextWords]]:
        """What the words of each record count, by its path; empty if they were not read."""
        by_record: defaultdict[str, list[TextWords]] = defaultdict(list)
        for (path, _), text in zip(self.keys, self.texts, strict=False):
            by_record[path].append(text)

        return by_record

    @cached_property
    def postings(self) -> Mapping[str, Posting]:
        """The slots of the texts that have each term, and what it counts in each."""
        postings: dict[str, tuple[list[int], list[int]]] = {}
        for slot, text in enumerate(self.texts):
            for term, count in text.counts.items():
                posting = postings.get(term)
                if posting is None:
                    postings[term] = [slot], [count]
                else:
                    posting[0].append(slot)
                    posting[1].append(count)

        return postings

    @cached_property
    def frequencies(self) -> Counts:
        """In how many texts each term is."""
        return {term: len(slots) for term, (slots, _) in self.postings.items()}

    @cached_property
    def term_of(self) -> Mapping[str, str]:
        """The term of each word; a term that is no word is its own."""
        return {**{term: term for term in self.frequencies}, **self.forms}

    @cached_property
    def forms(self) -> Mapping[str, str]:
        """The terms of the words that are none."""
        forms = frozenset(chain.from_iterable(text.forms for text in self.texts))
        return {form: stem(form) for form in forms}

    @cached_property
    def lengths(self) -> list[int]:
        """What all terms of a text count, by slot."""
        return [sum(text.counts.values()) for text in self.texts]

    @cached_property
    def norms(self) -> list[float]:
        """What every text has below the line, by slot."""
        base, slope = norm_of(self.lengths)
        return [base + slope * length for length in self.lengths]

    def posting(self, term: str) -> Posting:
        """Return the slots of the texts that have a term, and what it counts in each."""
        return self.postings.get(term, ((), ()))

    def holders(self, term: str) -> Sequence[int]:
        """Return the slots of the texts that have a term."""
        return self.posting(term)[0]

    def written_together(self, name: str) -> Sequence[int]:
        """Return the slots of the texts that have an identifier which is not one of their words."""
        return [slot for slot, text in enumerate(self.texts) if name in text.names]

    def named(self, name: str) -> frozenset[int]:
        """Return the slots of the texts that have an identifier, as `name_of` spells it."""
        return frozenset([*self.written_together(name), *self.holders(stem(name))])

    def counts_of(self, slots: Sequence[int]) -> list[Counts]:
        """Return what the terms of some texts count."""
        return [self.texts[slot].counts for slot in slots]

    def worth(self, term: str) -> float:
        """Return what a term weighs at most in a text."""
        frequency = self.frequencies.get(term, 0)
        worth = self.worth_of(frequency)
        if frequency or not self.keys:
            return worth

        return min(worth, UNKNOWN * self.worth_of(1))

    def worth_of(self, frequency: int) -> float:
        """Return what a term weighs at most that so many texts have."""
        return math.log1p((len(self.keys) - frequency + 0.5) / (frequency + 0.5))

    def weights(self, term: str) -> Iterator[tuple[int, float]]:
        """Yield the slots of the texts that have a term, each with what the term weighs there."""
        worth = self.worth(term)
        norms = self.norms
        for slot, count in zip(*self.posting(term), strict=True):
            yield slot, worth * count / (count + norms[slot])

    def records_with(self, word: str) -> int:
        """Return in how many records a word is."""
        holders = self.holders(self.term_of.get(word, word))
        return len({self.keys[slot][0] for slot in holders})

    def search(
        self, query: Iterable[str], most: int | None = None, allowed: Sequence[int] | None = None
    ) -> Hits:
        """Return the best slots with one of the terms, and scores; `allowed` may be hits."""
        # The order of sums decides their last digit.
        ordered = sorted(dict.fromkeys(query), key=lambda term: (-self.worth(term), term))
        scores: defaultdict[int, float] = defaultdict(float)
        for term in ordered:
            for slot, weight in self.weights(term):
                if allowed is None or allowed[slot]:
                    scores[slot] += weight

        best = sum(map(self.worth, ordered))
        ranked = sorted(scores.items(), key=lambda hit: (-hit[1], hit[0]))[:most]
        return [(slot, score / best) for slot, score in ranked]

    def ranked(
        self, query: Sequence[str], pool: int, most: int, allowed: Sequence[int] | None = None
    ) -> Hits:
        """Return `search`'s hits, the first `pool` fused with their likeness by reciprocal rank."""
        hits = self.search(query, most, allowed)
        slots = [slot for slot, _ in hits[:pool]]
        scores = [score for _, score in hits[:pool]]
        likeness = self._likeness(query, slots)

        # Reciprocal rank fusion: what both rankings have at the top comes first.
        by_score = _places(scores)
        by_likeness = _places(likeness)
        places = [
            1 / (SMOOTHING + by_score[score]) + 1 / (SMOOTHING + by_likeness[near])
            for score, near in zip(scores, likeness, strict=True)
        ]
        order = sorted(range(len(slots)), key=lambda at: (-places[at], -scores[at], at))

        # The scores stay in their order: the texts change places.
        fused = zip([slots[at] for at in order], scores, strict=True)
        return [*fused, *hits[pool:]]

    @cached_property
    def _terms_by_gram(self) -> Mapping[str, list[str]]:
        """The terms by their shortest runs: two terms that share a longer one share these."""
        terms_by_gram = defaultdict(list)
        for term in self.frequencies:
            for gram in set(_grams_of(term, SHORTEST_GRAM)):
                terms_by_gram[gram].append(term)

        return terms_by_gram

    def _likeness(self, query: Iterable[str], slots: Sequence[int]) -> list[float]:
        """Return how many character runs each text shares: `deduplicate` and `dedup` meet."""
        weights = self._gram_weights(query)
        likeness = []
        for slot, counts in zip(slots, self.counts_of(slots), strict=True):
            shared = [
                weights[term] * (1 + math.log(count))
                for term, count in counts.items()
                if term in weights
            ]
            likeness.append(math.fsum(shared) / math.sqrt(self.lengths[slot] or 1))

        return likeness

    def _gram_weights(self, query: Iterable[str]) -> dict[str, float]:
        """Return what each term weighs that shares character runs with the query."""
        query_grams = Counter(chain.from_iterable(map(_grams_of, query)))
        terms: set[str] = set()
        for gram in query_grams:
            if len(gram) == SHORTEST_GRAM:
                terms.update(self._terms_by_gram.get(gram, ()))

        # The runs of each term that are the query's, and how many texts have each run.
        near = {}
        frequencies = Counter[str]()
        for term in terms:
            near[term] = [gram for gram in _grams_of(term) if gram in query_grams]
            for gram in set(near[term]):
                frequencies[gram] += self.frequencies[term]

        # A text with two terms of one run counts twice, hence the `min`.
        number = len(self.keys)
        worth = {}
        for gram, frequency in frequencies.items():
            rarity = math.log((1 + number) / (1 + min(frequency, number))) + 1
            worth[gram] = (1 + math.log(query_grams[gram])) * rarity**2

        return {term: math.fsum(map(worth.__getitem__, grams)) for term, grams in near.items()}


def norm_of(lengths: Sequence[int]) -> tuple[float, float]:
    """Return what every text has below the line, and what each unit of its length adds."""
    average = sum(lengths) / len(lengths) if any(lengths) else 1.0
    return K1 * (1 - B), K1 * B / average


def _grams_of(term: str, longest: int = LONGEST_GRAM) -> list[str]:
    """Return the runs of three to `longest` characters of a term, its ends marked."""
    marked = f"_{term}_"
    grams = []
    for size in range(SHORTEST_GRAM, longest + 1):
        grams += [marked[start : start + size] for start in range(len(marked) - size + 1)]

    return grams


def _places(scores: Sequence[float]) -> dict[float, int]:
    """Return the rank of each score, from 1; equal ones share the first."""
    ranks: dict[float, int] = {}
    for rank, score in enumerate(sorted(scores, reverse=True), 1):
        ranks.setdefault(score, rank)

    return ranks


def index_of(
    records: Iterable[Record], cache: Cache | None = None, clean: Container[str] = ()
) -> Index:
    """Return the index of records; `cache` has what the words of unchanged ones count, and `clean`
    are the paths of records without secrets.
    """
    indexed = list(records)
    texts: dict[Key, TextWords] = {}
    for record, of_record in zip(indexed, words_of(indexed, cache, clean), strict=True):
        for part, of_text in enumerate(of_record):
            texts[record.path, part] = of_text

    return Index(texts)
