"""What a decision says in one sentence, and the text of its sections.

It reads lines, not a parsed document: an index of a thousand decisions needs a sentence of each.
"""

import unicodedata
from collections.abc import Iterator
from itertools import chain, islice

from orbit_registry.formats.adr.headings import section_key
from orbit_registry.formats.adr.patterns import pattern
from orbit_registry.formats.adr.vocabulary import word_set
from orbit_registry.formats.sections import ITEM, RUN_IN, headings_of
from orbit_registry.formats.sentences import paragraphs, sentences
from orbit_registry.formats.untrusted import cut
from orbit_registry.formats.wording import plain

SHORTEST, LONGEST = 20, 220
"""Characters of a sentence: a shorter one needs the next, a longer one is cut."""
_LONGEST_SECTION = 6000
"""Characters of a section that are read; a sentence is near its start."""
_PARAGRAPHS = 4
"""Paragraphs of a section among which the one that decides is looked for."""
_OUTCOMES = word_set("outcomes")
_DECIDES = pattern("deciding")


def section_of(text: str, key: str) -> str:
    """Return the text of the first section with a key; empty if there is none."""
    return next((body for _, body in _sections(text, key)), "")


def sentence_of(text: str) -> str:
    """Return what a decision's text says was decided, in plain text of 20 to 220 characters.

    It is the first sentence of the section that decides, or the first near it that says so:
    `Chosen option: …`, `We will …`. Empty if no section decides.
    """
    sections = list(_sections(text, "decision"))
    sections.sort(key=lambda section: _is_outcome(section[0]), reverse=True)
    sentences = (_sentence(_above_others(body)) for _, body in sections)
    return next(filter(None, sentences), "")


def _is_outcome(name: str) -> bool:
    words = plain(name)
    return any(outcome in words for outcome in _OUTCOMES)


def _sections(text: str, key: str) -> Iterator[tuple[str, str]]:
    """Yield the sections with a key: the words of the heading, and the text below it. Items of a
    list are sections where nothing else is.
    """
    headings = headings_of(text)
    places = [place for place, heading in enumerate(headings) if section_key(heading.name) == key]
    above_items = [place for place in places if headings[place].level < ITEM]
    for place in above_items or places:
        heading = headings[place]
        behind = headings[place + 1 :]
        following = (other.start for other in behind if other.level <= heading.level)
        yield heading.name, text[heading.end : next(following, len(text))]


def _above_others(body: str) -> str:
    """Return a section's text up to a heading of another standard section within it."""
    body = body[:_LONGEST_SECTION]
    for heading in headings_of(body):
        if heading.level < RUN_IN and section_key(heading.name) not in ("decision", "other"):
            return body[: heading.start]

    return body


def _sentence(body: str) -> str:
    near_the_start = islice(paragraphs(body), _PARAGRAPHS)
    candidates = [*chain.from_iterable(map(sentences, near_the_start))]
    deciding = (n for n, sentence in enumerate(candidates) if _DECIDES.search(sentence))

    chosen = ""
    for sentence in candidates[next(deciding, 0) :]:
        chosen = f"{chosen} {sentence}".strip()
        if len(chosen) >= SHORTEST or _extent(chosen) >= SHORTEST:
            return _fitting(chosen)

    return ""


def _extent(text: str) -> int:
    """Return how much a text says: a wide character, as Chinese has them, says as much as three."""
    wide = sum(unicodedata.east_asian_width(character) in "WF" for character in text)
    return len(text) + 2 * wide


def _fitting(sentence: str) -> str:
    """Return a sentence that fits: a longer one ends with a whole word and an ellipsis."""
    if len(sentence) <= LONGEST:
        return sentence

    words, blank, _ = sentence[: LONGEST - 1].rpartition(" ")
    if blank:
        return f"{words.rstrip(',;:—–- ')} …"

    return cut(sentence, LONGEST)
