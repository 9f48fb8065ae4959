"""Holds the terms of texts and ranks texts by them; knows keys and texts, not records, files or versions.

A text is three fields. A term counts 3 in the title, 2.5 in the tags, 1 in the body; the sum is weighed as one text
(BM25F), and a score is the part reached of what no text can exceed, so that it lies between 0 and 1 and two queries
can be compared. The best texts are ranked a second time by `grams`, and `fusion` makes one order of both.

Most texts stand in a base, one block of bytes that is mapped and not read; those that came since stand behind it as
lists. All sums run over both, so that an index that changed ranks as one made anew.
"""

from __future__ import annotations

import json
import math
import sys
from array import array
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import nlargest
from itertools import accumulate, chain, compress, repeat
from mmap import mmap
from operator import add
from typing import Literal

from orbit_registry.search.terms import TERMS_VERSION, terms

FORMAT = f"orbit text index 1, terms {TERMS_VERSION}, {sys.byteorder}"
# Twice what a term counts in each field, so that sums are whole numbers.
TITLE, TAGS, BODY = 6, 5, 2
K1, B = 1.2, 0.75
_HEAVIEST = 65_535
_FEW = 2_000
"""Up to so many scores are not worth being thinned out."""
_MOST_BESIDE = 0.05, 250
"""Texts that came or went since, as a part of the base or in number; with more of both a new base is better."""
_SLACK = 1e-9

Fields = tuple[str, str, str]
Weights = Mapping[str, int]


def grams_of(term: str, shortest: int, longest: int) -> list[str]:
    """Return each run of so many neighbouring characters of a term, its ends marked, as often as it occurs."""
    marked = f"_{term}_"
    return [marked[at : at + size] for size in range(shortest, longest + 1) for at in range(len(marked) - size + 1)]


def weigh(fields: Fields) -> dict[str, int]:
    """Return twice what each term of a text counts."""
    title, tags, body = fields
    weights = {term: BODY * times for term, times in Counter(terms(body)).items()}
    for text, weight in ((title, TITLE), (tags, TAGS)):
        for term in terms(text):
            weights[term] = weights.get(term, 0) + weight
    if max(weights.values(), default=0) > _HEAVIEST:
        weights = {term: min(weight, _HEAVIEST) for term, weight in weights.items()}
    return weights


@dataclass(frozen=True, slots=True)
class Base:
    """The texts of an index as it was made: postings by term, and the terms of each text, both as number and weight."""

    keys: Sequence[str] = ()
    vocabulary: Sequence[str] = ()
    starts: Sequence[int] = (0,)
    """Where each term's postings start; one more entry than there are terms."""
    slots: Sequence[int] = ()
    slot_weights: Sequence[int] = ()
    heaviest: Sequence[int] = ()
    """The largest weight of each term in a text."""
    text_starts: Sequence[int] = (0,)
    text_terms: Sequence[int] = ()
    text_weights: Sequence[int] = ()
    lengths: Sequence[int] = ()
    grams: Sequence[str] = ()
    """Every three neighbouring characters of a term, its ends marked."""
    gram_starts: Sequence[int] = (0,)
    gram_terms: Sequence[int] = ()


@dataclass(slots=True)
class TextIndex:
    """Texts by key. One that goes leaves its slot empty; one that comes stands behind the base."""

    base: Base = field(default_factory=Base)
    _keys: list[str | None] = field(init=False)
    _slots: dict[str, int] = field(init=False)
    _numbers: dict[str, int] = field(init=False)
    """Each term's number: those of the base, then those that came since."""
    vocabulary: list[str] = field(init=False)
    _grams: dict[str, list[int]] | None = field(init=False, default=None)
    _later: defaultdict[int, list[tuple[int, int]]] = field(init=False)
    """The postings of the texts behind the base."""
    _beside: list[Weights] = field(init=False)
    _lengths: list[int] = field(init=False)
    _lost: Counter[int] = field(init=False)
    """How many texts that have gone had a term."""
    _norms: list[float] | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        base = self.base
        self._keys = list(base.keys)
        self._slots = {key: slot for slot, key in enumerate(base.keys)}
        self.vocabulary = list(base.vocabulary)
        self._numbers = {term: number for number, term in enumerate(base.vocabulary)}
        self._later, self._beside, self._lengths, self._lost = defaultdict(list), [], [], Counter()

    # ------------------------------------------------------------------------------------------------------- texts

    def __len__(self) -> int:
        return len(self._slots)

    def __contains__(self, key: str) -> bool:
        return key in self._slots

    @property
    def keys(self) -> Sequence[str | None]:
        """The key of each slot; None where the text has gone."""
        return self._keys

    @property
    def is_worn(self) -> bool:
        """Say whether so many texts came and went that a new base is better."""
        share, number = _MOST_BESIDE
        gone = len(self._keys) - len(self._slots)
        return gone + len(self._beside) > max(share * len(self.base.keys), number)

    def put(self, key: str, weights: Weights) -> None:
        """Add a text by what its terms count, or replace the one that has this key."""
        self.remove(key)
        slot = self._slots[key] = len(self._keys)
        self._keys.append(key)
        self._beside.append(weights)
        self._lengths.append(sum(weights.values()))
        for term, weight in weights.items():
            number = self._numbers.setdefault(term, len(self.vocabulary))
            if number == len(self.vocabulary):
                self.vocabulary.append(term)
                self._grams = None
            self._later[number].append((slot, weight))
        self._norms = None

    def remove(self, key: str) -> None:
        """Take a text out; nothing happens if there is none with this key."""
        slot = self._slots.pop(key, None)
        if slot is not None:
            self._lost.update(number for number, _ in self.terms_of(slot))
            self._keys[slot] = None
            self._norms = None

    def weights_of(self, key: str) -> Weights:
        """Return what each term of a text counts."""
        return {self.vocabulary[number]: weight for number, weight in self.terms_of(self._slots[key])}

    def terms_of(self, slot: int) -> Iterable[tuple[int, int]]:
        """Return the terms of a text, as number and weight."""
        base = self.base
        if slot >= len(base.keys):
            return [(self._numbers[term], weight) for term, weight in self._beside[slot - len(base.keys)].items()]
        own = slice(base.text_starts[slot], base.text_starts[slot + 1])
        return zip(base.text_terms[own], base.text_weights[own], strict=True)

    def length(self, slot: int) -> int:
        """Return how long a text is: the sum of what its terms count."""
        known = len(self.base.keys)
        return self.base.lengths[slot] if slot < known else self._lengths[slot - known]

    def near(self, grams: Iterable[str]) -> set[int]:
        """Return the numbers of the terms that have one of some runs of three characters."""
        base = self.base
        if self._grams is None:
            self._grams = {gram: [place] for place, gram in enumerate(base.grams)}
            for number in range(len(base.vocabulary), len(self.vocabulary)):
                for gram in grams_of(self.vocabulary[number], 3, 3):
                    self._grams.setdefault(gram, [-1]).append(number)
        found: set[int] = set()
        for gram in grams:
            place, *later = self._grams.get(gram, (-1,))
            found.update(later)
            if place >= 0:
                found.update(base.gram_terms[base.gram_starts[place] : base.gram_starts[place + 1]])
        return found

    def unknown(self, words: Iterable[str]) -> list[str]:
        """Return those terms that no text has."""
        return [word for word in words if not self.frequency(self._numbers.get(word, -1))]

    def frequency(self, number: int) -> int:
        """Return how many texts have a term; none has the number -1."""
        base = self.base
        before = base.starts[number + 1] - base.starts[number] if 0 <= number < len(base.vocabulary) else 0
        return before + len(self._later.get(number, ())) - self._lost[number]

    def _held(self, number: int) -> Iterator[tuple[int, int]]:
        """Yield the texts that have a term, by slot, with twice how much it counts there."""
        base, keys = self.base, self._keys
        found: Iterable[tuple[int, int]] = ()
        if number < len(base.vocabulary):
            own = slice(base.starts[number], base.starts[number + 1])
            found = zip(base.slots[own], base.slot_weights[own], strict=True)
        all_of_them = chain(found, self._later.get(number, ()))
        return (one for one in all_of_them if keys[one[0]] is not None) if self._lost else iter(all_of_them)

    # ----------------------------------------------------------------------------------------------------- ranking

    def holders(self, term: str) -> Sequence[int]:
        """Return the slots of the texts that have a term."""
        number, base, keys = self._numbers.get(term, -1), self.base, self._keys
        found = (
            list(base.slots[base.starts[number] : base.starts[number + 1]])
            if 0 <= number < len(base.vocabulary)
            else []
        )
        found += [slot for slot, _ in self._later.get(number, ())]
        return [slot for slot in found if keys[slot] is not None] if self._lost else found

    def search(
        self, query: Iterable[str], *, most: int | None = None, mask: Sequence[int] | None = None
    ) -> list[tuple[int, float]]:
        """Return the slots of the texts that have one of the terms or more, with scores; the best first, then by key.

        At most `most` of them, of those for which `mask` is not 0; that few are found without a look at all.
        """
        weighed = []
        best = 0.0
        for term in dict.fromkeys(query):
            number = self._numbers.get(term, -1)
            frequency = self.frequency(number)
            weight = math.log1p((len(self) - frequency + 0.5) / (frequency + 0.5)) * (K1 + 1)
            best += weight
            if frequency:
                weighed.append((weight, term, number))
        weighed.sort(key=lambda one: (-one[0], one[1]))  # the order of sums decides their last digit
        scores = self._scored(weighed, most, mask)
        least = nlargest(most, scores.values())[-1] if most is not None and len(scores) > most else 0.0
        found = [(slot, score / best) for slot, score in scores.items() if score >= least]
        return sorted(found, key=lambda hit: (-hit[1], str(self._keys[hit[0]])))[:most]

    def _ceiling(self, number: int) -> float:
        """Return the most that a term's weight can be multiplied by in any text."""
        base = self.base
        heaviest = base.heaviest[number] if number < len(base.vocabulary) else 0
        top = max([heaviest, *(weight for _, weight in self._later.get(number, ()))])
        return top / (top + 2 * K1 * (1 - B))

    def _scored(
        self, weighed: list[tuple[float, str, int]], most: int | None, mask: Sequence[int] | None
    ) -> dict[int, float]:
        """Return the sums of what the terms are worth, rare terms first; at least those of the `most` best texts.

        Once what is left can't lift a new text among the best, only the texts that still can be are looked up.
        """
        scores: dict[int, float] = {}
        bounds = [weight * self._ceiling(number) for weight, _, number in weighed]
        left = math.fsum(bounds)
        for bound, (weight, _, number) in zip(bounds, weighed, strict=True):
            if most is not None and len(scores) > max(most, _FEW):
                best = nlargest(most, scores.values())
                least = best[-1] - _SLACK if len(best) == most else 0.0
                if least > left:
                    scores = {slot: score for slot, score in scores.items() if score + left >= least}
                    self._lift(scores, weight, number)
                    left -= bound
                    continue
            left -= bound
            slots, gains = self._gains(weight, number, mask)
            # Where nothing is in the way, adding is left to what is written in C.
            before = map(scores.get, slots, repeat(0.0))
            scores.update(zip(slots, map(add, gains, before) if scores else gains, strict=True))
        return scores

    def _gains(self, weight: float, number: int, mask: Sequence[int] | None) -> tuple[list[int], list[float]]:
        """Return the slots of the texts that have a term, and what it is worth in each."""
        base, norms, keys = self.base, self._norm(), self._keys
        slots: list[int] = []
        times: list[int] = []
        if number < len(base.vocabulary):
            own = slice(base.starts[number], base.starts[number + 1])
            slots, times = list(base.slots[own]), list(base.slot_weights[own])
        for slot, weight_there in self._later.get(number, ()):
            slots.append(slot)
            times.append(weight_there)
        if self._lost:
            mask = [key is not None and (mask is None or mask[slot]) for slot, key in enumerate(keys)]
        if mask is not None:
            kept = list(map(mask.__getitem__, slots))
            slots, times = list(compress(slots, kept)), list(compress(times, kept))
        there = map(norms.__getitem__, slots)
        return slots, [weight * one / (one + norm) for one, norm in zip(times, there, strict=True)]

    def _lift(self, scores: dict[int, float], weight: float, number: int) -> None:
        """Add to texts that have a score already what one term is worth in them."""
        base, norms = self.base, self._norm()
        first, end = (base.starts[number], base.starts[number + 1]) if number < len(base.vocabulary) else (0, 0)
        for slot in scores:
            at = bisect_left(base.slots, slot, first, end)
            if at < end and base.slots[at] == slot:
                counts = base.slot_weights[at]
                scores[slot] += weight * counts / (counts + norms[slot])
        for slot, times in self._later.get(number, ()):
            if slot in scores:
                scores[slot] += weight * times / (times + norms[slot])

    def _norm(self) -> list[float]:
        """Return what a text's length adds below the line, twice, by slot."""
        if self._norms is None:
            lengths = [*self.base.lengths, *self._lengths]
            total = sum(lengths) - sum(lengths[slot] for slot, key in enumerate(self._keys) if key is None)
            average = total / len(self) if self._slots and total else 1.0
            flat, slope = 2 * K1 * (1 - B), 2 * K1 * B / average
            self._norms = [flat + slope * length for length in lengths]
        return self._norms

    # ------------------------------------------------------------------------------------------------------ keeping

    def beside(self) -> dict[str, Weights]:
        """Return the texts that came since the base was made, by key."""
        known = len(self.base.keys)
        return {key: self._beside[slot - known] for key, slot in self._slots.items() if slot >= known}


def base_of(texts: Mapping[str, Weights]) -> Base:
    """Return a base of texts, by key, from what their terms count."""
    postings: defaultdict[str, list[int]] = defaultdict(list)
    for slot, weights in enumerate(texts.values()):
        for term in weights:
            postings[term].append(slot)
    vocabulary = sorted(postings)
    having: defaultdict[str, list[int]] = defaultdict(list)
    for number, term in enumerate(vocabulary):
        for gram in dict.fromkeys(grams_of(term, 3, 3)):
            having[gram].append(number)
    numbers = {term: number for number, term in enumerate(vocabulary)}
    every = list(texts.values())
    held = [[min(every[slot][term], _HEAVIEST) for slot in postings[term]] for term in vocabulary]
    return Base(
        keys=list(texts),
        vocabulary=vocabulary,
        starts=array("I", accumulate((len(one) for one in held), initial=0)),
        slots=array("I", chain.from_iterable(postings[term] for term in vocabulary)),
        slot_weights=array("H", chain.from_iterable(held)),
        heaviest=array("H", map(max, held)),
        text_starts=array("I", accumulate((len(weights) for weights in every), initial=0)),
        text_terms=array("I", chain.from_iterable(map(numbers.__getitem__, weights) for weights in every)),
        text_weights=array("H", (min(one, _HEAVIEST) for weights in every for one in weights.values())),
        lengths=array("I", (sum(weights.values()) for weights in every)),
        grams=list(having),
        gram_starts=array("I", accumulate(map(len, having.values()), initial=0)),
        gram_terms=array("I", chain.from_iterable(having.values())),
    )


_ARRAYS: tuple[tuple[str, Literal["I", "H"]], ...] = (
    ("starts", "I"), ("slots", "I"), ("slot_weights", "H"), ("heaviest", "H"),
    ("text_starts", "I"), ("text_terms", "I"), ("text_weights", "H"), ("lengths", "I"),
    ("gram_starts", "I"), ("gram_terms", "I"),
)  # fmt: skip


def pack(base: Base) -> bytes:
    """Return a base as bytes: a line that says where things stand, then words and numbers, each at a multiple of 8."""
    parts = [json.dumps(base.keys).encode()]
    parts += ["\n".join(words).encode("utf-8", "surrogatepass") for words in (base.vocabulary, base.grams)]
    parts += [array(form, getattr(base, name)).tobytes() for name, form in _ARRAYS]
    padded = [part + b"\0" * (-len(part) % 8) for part in parts]
    head = json.dumps([FORMAT, [len(part) for part in parts]]).encode()
    head += b" " * (-(len(head) + 1) % 8) + b"\n"
    return b"".join([head, *padded])


def unpack(content: bytes | mmap) -> Base | None:
    """Return the base that `pack` wrote; None where the bytes are none, or of other terms. It keeps the bytes."""
    view = memoryview(content)
    try:
        end = bytes(view[:1000]).index(b"\n") + 1
        form, sizes = json.loads(bytes(view[:end]))
        if form != FORMAT or len(sizes) != len(_ARRAYS) + 3:
            return None
        parts = []
        for size in sizes:
            parts.append(view[end : end + size])
            end += size + -size % 8
        keys = json.loads(bytes(parts[0]))
        vocabulary, grams = (bytes(part).decode("utf-8", "surrogatepass").split("\n") for part in parts[1:3])
        arrays = {name: part.cast(form) for (name, form), part in zip(_ARRAYS, parts[3:], strict=True)}
    except (ValueError, TypeError):
        return None
    return Base(keys=keys, vocabulary=vocabulary if sizes[1] else (), grams=grams if sizes[2] else (), **arrays)
