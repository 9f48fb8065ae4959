"""Records that the words of a text lead to, by the weights that the push index holds of them;
whether it asks for code.

A score is that of `search.index`: what words and words in a row weigh in a record, as a part of
what the words weigh at most. A word that no record has counts as one that is in none. The index
knows the words of records and their stems; another form of one is found by taking its ending off:
to load a stemmer takes longer than all else.
"""

from itertools import pairwise

from orbit_registry.hook.index import PAIR_SHIFT
from orbit_registry.hook.purpose import purposes_in
from orbit_registry.hook.words import words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from orbit_registry.hook.index import Index

_TO_GO_ON = (
    "again ahead alright carry change check continue cool done else exactly fix fine go good "
    "great help keep let "
    "like nice next no nope ok okay perfect please proceed ready redo retry right run same "
    "start stop sure thank "
    "thanks then thing things there try up work works yeah yep yes"
)
GENERIC = frozenset(_TO_GO_ON.split())
"""Words that a person says to go on; a text of nothing else names nothing that a record could be
about.
"""
FEWEST = 2  # words besides those; with fewer a prompt is not a task
LONGEST = 10_000
"""Characters of a prompt that are read, and of these as many different words as follows:
the rest was pasted.
"""
MOST = 200
POOL = 30  # the best records by single words, which its pairs of words rank again

ENDINGS = (
    "s",
    "e",
    "es",
    "ed",
    "er",
    "or",
    "ing",
    "ers",
    "ors",
    "ion",
    "ings",
    "ions",
    "ation",
    "ations",
)
"""What forms of English words end in.

Shorter ones come first: `workers` is `worker` rather than `work`.
"""
SHORTEST = 3  # letters that are left of a word, one more where its ending made another word of it


def records_by_words(index: "Index", text: str, fewest: int = FEWEST) -> list[tuple[int, float]]:
    """Return the pushed records that have words of a text, or replace such,
    with scores from 0 to 1, the best first.
    """
    plain = " ".join(map(_without_path, text[:LONGEST].split()))
    in_order = words(plain)
    query = list(dict.fromkeys(in_order))[:MOST]
    if len(query) - len(GENERIC.intersection(query)) < fewest:
        return []

    best, weights = 0, dict[int, int]()
    term_of: dict[str, int] = {}
    for word in query:
        ranges = _ranges(index, word)
        if not ranges:
            best += index.unknown_worth
            continue

        *hits, worth, term = index.hits[ranges[0][0] : ranges[0][1]].tolist()
        if term & 0xFFFFFFFF not in term_of.values():
            best += worth & 0xFFFFFFFF
            for hit in hits:
                weights[hit >> 32] = weights.get(hit >> 32, 0) + (hit & 0xFFFFFFFF)

        term_of[word] = term & 0xFFFFFFFF

    terms = [term_of.get(word, -1) for word in in_order]
    pairs = {
        first << 24 | second for first, second in pairwise(terms) if first >= 0 and second >= 0
    }
    for number in sorted(weights, key=lambda number: -weights[number])[: POOL if pairs else 0]:
        for pair in index.pairs[index.pair_start[number] : index.pair_start[number + 1]].tolist():
            if pair >> 16 in pairs:
                weights[number] += (pair & 0xFFFF) << PAIR_SHIFT

    ranked = sorted(weights.items(), key=lambda hit: (-hit[1], hit[0]))
    return [(number, min(weight / best, 1.0)) for number, weight in ranked]


def replaced_names(text: str) -> list[str]:
    """Return the words of a text that look like the ids of records."""
    pieces = (piece.strip(".,;:!?()[]'\"`") for piece in text[:LONGEST].split())
    return [*dict.fromkeys(piece for piece in pieces if "-" in piece[1:-1] and "/" not in piece)][
        :MOST
    ]


_NO_CHANGE = (
    "what what's whats why how how's which who where when is are was does do did has have "
    "should explain describe tell "
    "summarize summarise show list find look review compare check read search walk investigate "
    "explore trace analyze "
    "analyse audit understand run rerun commit push deploy open draft plan estimate translate "
    "thanks"
)
_FINDING_OUT = frozenset(_NO_CHANGE.split())
"""First words of a prompt that asks for something other than a change of code."""


def asks_for_code(text: str) -> bool:
    """Say whether a prompt may ask to change code:
    100 of 104 in tests/cases/task_class do, 16 of 143 questions.
    """
    start = text[:200].casefold().replace(",", " ").split()
    start = start[start[:1] == ["please"] :]
    requested = start[:1] in (["can"], ["could"], ["would"], ["will"]) and start[1:2] in (
        ["you"],
        ["we"],
    )
    start = start[2 if requested else 0 :]
    start = start[start[:1] == ["please"] :]

    return (
        bool(start)
        and start[0].strip(".:;!") not in _FINDING_OUT
        and (requested or text.rstrip()[-1:] != "?")
    )


_RUNNING = ("run", "rerun", "re-run", "why", "check")


def purposes_asked(text: str) -> list[str]:
    """Return the purposes of commands (`test`, `build`, …) that a prompt names,
    if it is about work on code.
    """
    first = text[:50].casefold().removeprefix("please ").split()[:1]
    return (
        purposes_in(text[:LONGEST])
        if asks_for_code(text) or (first and first[0] in _RUNNING)
        else []
    )


def _without_path(word: str) -> str:
    """Return a word without the path in it; what is not ASCII stays,
    for some writing has no spaces.
    """
    if "/" not in word:
        return word

    is_path = (
        word.count("/") > 1 or word[0] in "/~." or "." in word.rstrip(".,;:!?)")
    )  # `read/write` is none
    return "".join(" " if sign.isascii() else sign for sign in word) if is_path else word


def _ranges(index: "Index", word: str) -> list[tuple[int, int]]:
    """Return where the hits of a word, or of one that it is a form of, are;
    empty if no record has one.
    """
    ranges = index.lookup(f"w{word}")[0]
    if ranges or not (word.isascii() and word.isalpha()):
        return ranges
    if word[-1] == "y" and len(word) > SHORTEST:
        return index.lookup(f"w{word[:-1]}i")[0]

    for ending in ENDINGS:
        start = word[: -len(ending)] if word.endswith(ending) else ""
        if len(start) < SHORTEST + (ending[0] in "aior" and ending != "ing"):
            continue

        ranges = index.lookup(f"w{start}")[0]
        if not ranges and start[-1] == start[-2]:
            ranges = index.lookup(f"w{start[:-1]}")[0]
        if ranges:
            break

    return ranges
