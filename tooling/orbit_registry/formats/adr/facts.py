"""Facts of a header, in all styles that state some."""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from orbit_registry.formats.adr.front_matter import NO_FRONT_MATTER
from orbit_registry.formats.adr.head_style import FRONT_MATTER
from orbit_registry.formats.adr.header import (
    LINK,
    Header,
    names_text,
    split_names,
    without_links,
)
from orbit_registry.formats.adr.headings import TitleParts
from orbit_registry.formats.adr.line_style import BULLETS, LINES
from orbit_registry.formats.adr.model import (
    Fact,
)
from orbit_registry.formats.adr.patterns import pattern
from orbit_registry.formats.adr.section_style import SECTIONS
from orbit_registry.formats.adr.table_style import BADGE, HTML, TABLE
from orbit_registry.formats.adr.vocabulary import (
    word_set,
)
from orbit_registry.formats.markdown import Heading
from orbit_registry.formats.position import Span
from orbit_registry.formats.wording import plain

STYLES = (
    FRONT_MATTER,
    BULLETS,
    LINES,
    TABLE,
    HTML,
    SECTIONS,
    BADGE,
)  # the first style that states a fact wins


_NO_VALUE = word_set("no_value")


_ITEMS = re.compile(r"\n[ \t]*[-*+][ \t]+")
_BETWEEN_TASKS = pattern("between_tasks")


class Facts:
    """Facts by their keys; the first style that states one wins."""

    def __init__(self, facts: Iterable[Fact]) -> None:
        self.all = tuple(facts)
        self._by_key: dict[str, list[Fact]] = defaultdict(list)
        for fact in self.all:
            self._by_key[fact.key].append(fact)

    def of(self, *keys: str) -> list[Fact]:
        """Return the facts of some keys."""
        return [*chain.from_iterable(self._by_key.get(key, ()) for key in keys)]

    def first(self, *keys: str) -> Fact | None:
        """Return the winning fact of the first key that has one:
        the first with a value, else the first.
        """
        for key in keys:
            if facts := self._by_key.get(key):
                return next((fact for fact in facts if fact.raw.strip()), facts[0])
        return None

    def values(self, key: str) -> tuple[str, ...]:
        """Return the values that all styles state for a key."""
        return unique(chain.from_iterable(map(_listed, self.of(key))))


def read_facts(header: Header, row: Sequence[Fact] = ()) -> Facts:
    """Return the facts of a row of a table, then those of each style."""
    facts = chain.from_iterable(style.read(header) for style in STYLES)
    if header.footer:
        below = replace(header, zone=(header.footer,), front_matter=NO_FRONT_MATTER)
    else:
        below = None

    of_footer = (style.read(below) for style in (BULLETS, LINES)) if below is not None else ()
    return Facts(chain(row, facts, chain.from_iterable(of_footer)))


def _listed(fact: Fact) -> tuple[str, ...]:
    if fact.key == "tasks":
        parts = chain.from_iterable(map(_BETWEEN_TASKS.split, fact.values))
        tasks = (_task(part.strip()) for part in parts)
        return tuple(task for task in tasks if plain(task) not in _NO_VALUE)

    if len(fact.values) == 1 and fact.style != "front-matter" and fact.key == "tags":
        return tuple(
            part.strip().strip("[]`*_")
            for part in without_links(fact.values[0]).split(",")
            if part.strip()
        )

    return fact.values


def _task(text: str) -> str:
    """Return the number of a linked task, else its address: `SHOP-1` for `[SHOP-1](https://…)`."""
    link = LINK.fullmatch(text)
    if link is None:
        return text

    has_number = any(map(str.isdigit, link["text"]))
    if has_number:
        return link["text"]

    return link["url"]


def people(facts: Facts, role: str) -> tuple[str, ...]:
    """Return the names that a key states."""
    fact = facts.first(role)
    if fact is None:
        return ()
    names: list[str] = []
    for value in fact.values or (fact.raw,):
        for item in _ITEMS.split(names_text(value)):
            names += [item] if fact.is_list else split_names(item)

    return unique(name for name in names if plain(name) not in _NO_VALUE)


def unique(values: Iterable[str]) -> tuple[str, ...]:
    """Return the values that are not empty, each once."""
    return tuple(dict.fromkeys(value for value in values if value))


@dataclass(frozen=True, slots=True)
class Outline:
    """Name and extent of a decision, apart from the facts of its header."""

    heading: Heading | None
    parts: TitleParts
    number: str | None
    span: Span
    body: Span  # the text below the heading
    named_date: tuple[str, str] | None  # the date in the heading or the path, and which of the two
    changelog_date: Fact | None = None


def is_same_number(raw: str, number: str | None) -> bool:
    """Say whether a text, such as `ADR-0042`, ends with a number."""
    digits = raw.rpartition("-")[2]
    return (
        number is not None and digits.isdigit() and number.isdigit() and int(digits) == int(number)
    )
