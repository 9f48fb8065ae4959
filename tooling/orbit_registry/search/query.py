"""Query of a search: its words, what narrows it, how deep it looks and what counts more."""

import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain

from orbit_registry.errors import UsageError
from orbit_registry.hook.question import GENERIC
from orbit_registry.search.text import terms

USUAL_WEIGHT = 1.5
PER_WEIGHT = 0.1
FRAME = ".,;:!?…"
QUOTES = "\"'“”‘’«»`"
MARKS = ".,;:!?()[]'\"`"
IDENTIFIER = re.compile(r"#?\d+|[\w#./:-]*(?:[a-z][A-Z]|_|::|\w/\w|\w\.\w|\d)[\w#./:-]*")
LONG = 15  # a text of more words than that describes a task


@dataclass(frozen=True, slots=True)
class Budget:
    """How much a search may look at."""

    name: str
    limit: int
    pool: int  # so many of the best texts are ranked by their characters too; 0 is none
    chunks: bool
    """Whether it looks into the parts of long texts, or at titles, tags and records alone."""
    linked: bool  # whether it brings what the hits link to


BUDGETS: Mapping[str, Budget] = {
    "lean": Budget("lean", 5, 0, chunks=False, linked=False),
    "balanced": Budget("balanced", 10, 100, chunks=True, linked=False),
    "deep": Budget("deep", 20, 400, chunks=True, linked=True),
}


@dataclass(frozen=True)
class Query:
    """One search: its text and what narrows it or weighs.

    `budget` is a name of `BUDGETS`; empty, the shape of the text decides. `limit` of 0 is the
    budget's own.
    """

    text: str
    kind: str | None = None
    tags: Sequence[str] = ()
    path: str | None = None
    versions: Collection[str] = ()
    context: Mapping[str, float] = field(default_factory=dict)
    limit: int = 0
    everything: bool = False
    budget: str = ""

    @cached_property
    def words(self) -> Mapping[str, list[str]]:
        """The words that weigh, each with its terms."""
        return {word: word_terms for word in self.text.split() if (word_terms := terms(word))}

    @property
    def terms(self) -> list[str]:
        """The terms of all words, in order."""
        return list(chain.from_iterable(self.words.values()))

    @property
    def is_generic(self) -> bool:
        """Say whether the text names nothing: `continue`, `fix it`.

        A word in quotes always names something.
        """
        plain = (word.lower().strip(FRAME).split("'")[0] for word in self.words)
        return bool(self.words) and GENERIC.issuperset(plain)

    @property
    def depth(self) -> Budget:
        """The budget of the search.

        Raises:
            UsageError: there is no such budget.
        """
        if self.budget and self.budget not in BUDGETS:
            message = f"there is no budget {self.budget!r}"
            hint = f"budgets: {', '.join(BUDGETS)}; without one the query's shape decides"
            raise UsageError(message, hint=hint)

        return BUDGETS[self.budget or shape(self.text)]


def shape(text: str) -> str:
    """Return the budget that a text's shape asks for.

    An identifier wants one place, a task or a question all that bears on it.
    """
    words = text.split()
    if len(words) == 1 and IDENTIFIER.fullmatch(words[0].strip(QUOTES)):
        return "lean"
    if len(words) > LONG or text.rstrip().endswith(("?", "？")):
        return "deep"

    return "balanced"


def context_weights(text: str) -> dict[str, float]:
    """Read `reviewer,jira-api=1.5`: tags and what each weighs.

    Those without a weight get the others' average.
    """
    weights = {}
    plain = []
    for part in text.split(","):
        tag, sign, number = map(str.strip, part.partition("="))
        if not sign:
            if tag:
                plain.append(tag)

            continue

        try:
            weight = float(number)
        except ValueError:
            weight = -1.0

        if not tag or not 0 <= weight < math.inf:
            message = f"{part.strip()!r} is not a tag with a weight"
            raise UsageError(message, hint="write `--context-tags a,b=1.5`")

        weights[tag] = weight

    usual = USUAL_WEIGHT
    if weights:
        usual = math.fsum(weights.values()) / len(weights)

    return {**dict.fromkeys(plain, usual), **weights}


def context_factor(tags: Collection[str], weights: Mapping[str, float]) -> float:
    """Return what the tags of a record are worth to who works in a context."""
    return 1 + PER_WEIGHT * math.fsum(weights[tag] for tag in dict.fromkeys(tags) if tag in weights)
