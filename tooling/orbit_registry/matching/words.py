"""The words of all records in the index: made where a text changed, read by every search.

A text is what a record is found by: the record's own, or one of its chunks. Its slot is its place
among all, by path. The counts of a text depend on it alone, so that a reader weighs them as
`search.index` does.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import chain
from operator import mul
from typing import Any

from orbit_registry.hook import index as reader
from orbit_registry.matching.index import open_index
from orbit_registry.matching.pack import WordParts, is_whole
from orbit_registry.matching.personal import path_in_index, personal_records
from orbit_registry.model.record import Record
from orbit_registry.repository.skills import skill_records
from orbit_registry.search.index import Index, Posting, index_of
from orbit_registry.search.texts import Counts, texts_key, words_of
from orbit_registry.workspace.cache import Cache, code_version, digest
from orbit_registry.workspace.workspace import Workspace

RUN = 0.5
"""What two terms in a row weigh, as a part of what a term of one text weighs.

On 874 questions of seven collections MRR was .045 and .085 higher with it on two, and no different
on the others. A weight that falls with the number of texts was no better.
"""
MOST_RUNS = 100
"""Texts of a record whose words in a row are compared with a prompt."""
TERMS_A_PART, POSTINGS_A_PART = 8, 256
ABOVE = 0.5
"""Deviations above what the luckiest of all records reaches by chance."""


SECTIONS = ("words", "norms", "chances", "runs", "texts", "vocabulary")


def searched_records(workspace: Workspace, records: Iterable[Record]) -> list[Record]:
    """Return all that is searched: a project's records with their prose, skills, personal ones."""
    listed = list(records)
    return [*listed, *skill_records(workspace), *personal_records(workspace, listed)]


class Words:
    """The words of all that is searched: those in the index on disk, if no text changed since."""

    def __init__(
        self, workspace: Workspace, records: Iterable[Record], clean: Container[str] = ()
    ) -> None:
        """`records` are those of the project, with their prose; `clean` are the paths of those
        without secrets.
        """
        self._clean = clean
        self.records = searched_records(workspace, records)
        self._workspace = workspace
        keys = sorted((record.path, texts_key(record)) for record in self.records)
        self._digest = digest(code_version(), keys)
        index = open_index(workspace)
        self._stored = None
        if isinstance(index, reader.Index) and index.texts == self._digest and is_whole(index):
            self._stored = StoredIndex(index, self.records, workspace.cache)

    @property
    def index(self) -> Index:
        """The index that searches ask."""
        return self._stored or self._made

    @cached_property
    def _made(self) -> Index:
        return index_of(self.records, self._workspace.cache, self._clean)

    def parts(self, chosen: Sequence[str]) -> WordParts:
        """Return the parts of an index; `chosen` are the paths, as the index has them, of the
        records that words lead to.
        """
        in_index = {path: path_in_index(self._workspace, path) for path, _ in self.index.keys}
        names = frozenset(chosen)
        paths = frozenset(path for path, name in in_index.items() if name in names)
        key = digest(sorted(paths))
        parts = self._stored.parts(key) if self._stored is not None else None
        if parts is None:
            parts = parts_of(self._made, paths)

        head = {**parts.head, "texts": self._digest, "chosen": key}
        return parts._replace(head=head, paths=[in_index[path] for path in parts.paths])


class StoredIndex(Index):
    """The texts of an index on disk, of which each question reads what it needs."""

    def __init__(self, index: reader.Index, records: Iterable[Record], cache: Cache) -> None:
        super().__init__({})
        self._index = index
        self._records = {record.path: record for record in records}
        self._cache = cache
        self.keys, self.lengths = index.part("texts")

    @cached_property
    def frequencies(self) -> Counts:
        """In how many texts each term is."""
        frequencies: Counts = self._index.part("vocabulary")[0]
        return frequencies

    @cached_property
    def forms(self) -> Mapping[str, str]:
        """The terms of the words that are none."""
        forms: Mapping[str, str] = self._index.part("vocabulary")[1]
        return forms

    def posting(self, term: str) -> Posting:
        """Return the slots of the texts that have a term, and what it counts in each."""
        return self._index.posting(term)[1:]

    def written_together(self, name: str) -> Sequence[int]:
        """Return the slots of the texts that have an identifier which is not one of their words."""
        return self._index.texts_with_name(name)

    def counts_of(self, slots: Sequence[int]) -> list[Counts]:
        """Return what the terms of some texts count."""
        paths = dict.fromkeys(self.keys[slot][0] for slot in slots)
        words = words_of([self._records[path] for path in paths], self._cache)
        by_path = dict(zip(paths, words, strict=True))
        texts = [by_path[path][part] for path, part in map(self.keys.__getitem__, slots)]
        return [text.counts for text in texts]

    def parts(self, chosen: str) -> WordParts | None:
        """Return the parts as they were written, if words led to the records of that digest."""
        index = self._index
        if index.chosen != chosen:
            return None

        head = {"unknown": index.unknown_worth, "run": index.run_worth}
        sections = {name: [*index.raw(name)] for name in SECTIONS}
        return WordParts(head, sections, [path for path, _ in self.keys])


def parts_of(index: Index, chosen: Collection[str]) -> WordParts:
    """Return the parts of an index, from texts; words lead to the records with `chosen` paths."""
    paths = [path for path, _ in index.keys]
    runs: dict[str, list[tuple[float, str, str]]] = {path: [] for path in paths}
    for path, norm, text in zip(paths, index.norms, index.texts, strict=True):
        runs[path].append((norm, text.heads, text.body))

    vocabulary = dict(sorted(index.frequencies.items())), dict(sorted(index.forms.items()))
    sections: dict[str, Sequence[Any]] = {
        "words": _buckets(index),
        "norms": [index.norms],
        "chances": [_chances(index, chosen)],
        "runs": [of_record[:MOST_RUNS] for of_record in runs.values()],
        "texts": [(index.keys, index.lengths)],
        "vocabulary": [vocabulary],
    }
    head = {"unknown": index.worth(""), "run": RUN * index.worth_of(1)}
    return WordParts(head, sections, paths)


Bucket = tuple[dict[str, str], dict[str, object], dict[str, list[int]]]
"""The terms of the words that are none; of each term what it weighs at most, the slots that have it
and its counts there; of each identifier the slots.
"""


def _buckets(index: Index) -> list[Bucket]:
    """Return what is known of words and identifiers, by their hash."""
    postings = index.postings
    names: dict[str, list[int]] = {}
    for slot, text in enumerate(index.texts):
        for name in text.names:
            names.setdefault(name, []).append(slot)

    # Few words share a part, and parts are small: a prompt loads one for each of its words.
    sum_of_slots = sum(index.frequencies.values())
    count = max(len(postings) // TERMS_A_PART, sum_of_slots // POSTINGS_A_PART)
    buckets: list[Bucket] = [({}, {}, {}) for _ in range(min(len(postings), count) + 1)]

    def bucket_of(word: str) -> Bucket:
        return buckets[reader.hash_of(word) % len(buckets)]

    for form, term in sorted(index.forms.items()):
        bucket_of(form)[0][form] = term
    for term, (slots, counts) in sorted(postings.items()):
        bucket_of(term)[1][term] = index.worth(term), slots, counts
    for name, slots in sorted(names.items()):
        bucket_of(name)[2][name] = slots

    return buckets


def _chances(index: Index, chosen: Collection[str]) -> list[float]:
    """Return for each record, in the order of paths, what a word that has nothing to do with it
    weighs in it on average, and how far from that chance leads.

    A long text meets each record in some words. How much that weighs follows from the words of the
    other records: a word of another text is a given term as often as the other records have it. So
    each record has a mean and a deviation for one word, and a text of n words has n times the mean
    and the root of n times the deviation. The more records compete, the further the luckiest one is
    above its mean, so it takes more deviations to be no chance.
    """
    weights = _weights_by_record(index)
    competing = [by_term for path, by_term in weights.items() if path in chosen]
    frequencies = Counter(chain.from_iterable(competing))
    total = sum(frequencies.values())
    deviations = math.sqrt(2 * math.log(max(len(chosen), 1))) + ABOVE

    chances: list[float] = []
    for path, by_term in weights.items():
        others = total - len(by_term)
        if path not in chosen or not others:
            chances += 0.0, 0.0
            continue

        # How many other records have each term: one fewer than all.
        counts = [frequencies[term] - 1 for term in by_term]
        products = list(map(mul, counts, by_term.values()))
        mean = sum(products) / others
        square = sum(map(mul, products, by_term.values())) / others
        chances += mean, deviations * math.sqrt(max(square - mean**2, 0.0))

    return chances


def _weights_by_record(index: Index) -> dict[str, dict[str, float]]:
    """Return what the terms of each record weigh there: in the best of its texts."""
    worths = {term: index.worth(term) for term in index.frequencies}
    by_path: dict[str, dict[str, float]] = {}
    for (path, part), norm, text in zip(index.keys, index.norms, index.texts, strict=True):
        weights = {
            term: worths[term] * count / (count + norm) for term, count in text.counts.items()
        }
        if not part:
            by_path[path] = weights
            continue

        best = by_path[path]
        for term, weight in weights.items():
            best[term] = max(weight, best.get(term, 0.0))

    return by_path
