"""Whether one of two sentences that are alike says the opposite of the other."""

from collections import Counter
from dataclasses import dataclass
from functools import lru_cache

from orbit_registry.formats.wording import (
    AFFIRMING,
    ANTONYMS,
    CHOOSING,
    LONGEST_SENTENCE,
    NEGATIONS,
    SUPPORT,
    Words,
    is_mark,
    quoted,
    without_citations,
)

_AROUND = CHOOSING | SUPPORT | NEGATIONS
A_NUMBER = "#"  # for a number, or a name that its sign or number tells apart, in a topic


def _sides() -> dict[str, tuple[str, str]]:
    sides: dict[str, tuple[str, str]] = {}
    for pair in ANTONYMS:
        both = "/".join(pair)
        for side in pair:
            sides |= dict.fromkeys(side.split(), (side, both))

    return sides


_SIDES = _sides()
"""Of each word that has an opposite, its side with the words that mean the same, and both sides."""


@dataclass(frozen=True, slots=True)
class Contrast:
    """The negations, numbers, opposites and orders that only one of two texts has.

    `alone` says that nothing else differs.
    """

    first: tuple[str, ...]
    second: tuple[str, ...]
    alone: bool

    @property
    def sentence_end(self) -> str:
        """The contrast as it follows what two texts have in common."""
        if self.alone:
            return f"; but {self}"

        return f"; {self}"

    def __str__(self) -> str:
        if not self.first or not self.second:
            return f"only one of them says {quoted(self.first or self.second)}"
        return f"one says {quoted(self.first)}, the other {quoted(self.second)}"


@dataclass(frozen=True, slots=True)
class Position:
    """What a sentence is about, the side that it takes there, and whether it denies that.

    Two sentences on one topic contradict each other if their sides differ, or if only one denies.
    It is for those who group many sentences and compare no pairs.
    """

    topic: tuple[str, ...]
    side: tuple[str, ...]
    denies: bool


def contradicts(first: str, second: str) -> Contrast | None:
    """Return the denial, number, name or order in which two sentences differ; None if in none.

    The records that they cite in brackets are no part of what they say.
    """
    ours, theirs = _words_of(first), _words_of(second)
    more = ours.counts - theirs.counts
    less = theirs.counts - ours.counts

    # Who says `never` denies what one who says `do not` denies.
    denials = {word for word in more if ours.is_denial(word)}
    denials_back = {word for word in less if theirs.is_denial(word)}
    if denials and denials_back and ours.denied & theirs.denied:
        more = _without(more, denials)
        less = _without(less, denials_back)

    return (
        _turned(ours, theirs, {*more, *less})
        or _marked(ours, theirs, more, less)
        or _opposed({*more}, {*less})
        or _moved(ours, theirs, {*more, *less})
    )


def position_of(sentence: str) -> Position:
    """Return the position that a sentence takes."""
    words = _words_of(sentence)
    if words.preferred and words.refused:
        topic = sorted(words.preferred | words.refused)
        return Position(tuple(topic), tuple(sorted(words.preferred)), denies=False)

    topic, side = [], []
    for word in words.counts:
        if words.is_denial(word):
            continue

        side_word, both = _SIDES.get(word, ("", ""))
        if is_mark(word):
            topic.append(A_NUMBER)
            side.append(word)
        elif both:
            topic.append(both)
            side.append(side_word)
        else:
            topic.append(word)

    return Position(tuple(sorted(topic)), tuple(sorted(side)), words.denies)


@lru_cache(maxsize=4096)  # a text is compared with many
def _words_of(text: str) -> Words:
    return Words.of(without_citations(text))


def _without(counts: Counter[str], left_out: set[str]) -> Counter[str]:
    return Counter({word: count for word, count in counts.items() if word not in left_out})


def _turned(ours: Words, theirs: Words, differing: set[str]) -> Contrast | None:
    """Return the orders, if what one sentence puts first is what the other one refuses."""
    first = ours.preferred & theirs.refused
    second = theirs.preferred & ours.refused
    if not first or not second:
        return None

    sides = " ".join(sorted(first)), " ".join(sorted(second))
    forth, back = " over ".join(sides), " over ".join(reversed(sides))
    return Contrast((forth,), (back,), alone=differing <= _AROUND)


def _marked(ours: Words, theirs: Words, more: Counter[str], less: Counter[str]) -> Contrast | None:
    """Return the denials, numbers and names with a number or a sign that only one has."""
    marks = tuple(sorted(filter(ours.is_mark, more)))
    marks_back = tuple(sorted(filter(theirs.is_mark, less)))
    if not marks and not marks_back:
        return None

    around = SUPPORT | ours.units | theirs.units
    if ours.refusal in marks or theirs.refusal in marks_back:
        around |= CHOOSING | AFFIRMING

    # `C` and `C++` are two names.
    names = {mark.rstrip("+#0123456789") for mark in (*marks, *marks_back)}
    others = {*more, *less} - {*marks, *marks_back} - around - names
    return Contrast(marks, marks_back, alone=not others)


def _opposed(more: set[str], less: set[str]) -> Contrast | None:
    """Return two words that say the opposite, if nothing else differs."""
    if len(more) != 1 or len(less) != 1:
        return None

    (word,), (other,) = more, less
    if word not in _SIDES or other not in _SIDES:
        return None

    side, both = _SIDES[word]
    other_side, both_others = _SIDES[other]
    if both != both_others or side == other_side:
        return None

    return Contrast((word,), (other,), alone=True)


def _moved(ours: Words, theirs: Words, differing: set[str]) -> Contrast | None:
    """Return the words that are denied, if the denial of a sentence moved."""
    if differing or len(ours.counts) > LONGEST_SENTENCE:
        return None

    moved = ours.negated - theirs.negated
    back = theirs.negated - ours.negated
    if not moved and not back:
        return None

    return Contrast(tuple(sorted(moved)), tuple(sorted(back)), alone=True)
