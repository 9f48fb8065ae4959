"""Records that the words of a text lead to, by their weights in the push index.

A score is that of `search.index`: what words and words in a row weigh in a record, as a part of
what the words weigh at most. That part would fall with each further sentence, so the divisor has
an end, for records that weigh more than chance explains (`matching.words`). A word that no record
has counts as one that is in none. The index knows the words of records and their stems; another
form of one is found by taking its ending off: to load a stemmer takes longer than all else.
"""

from itertools import chain, pairwise

from orbit_registry.hook.call import ends_of
from orbit_registry.hook.words import words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from orbit_registry.hook.index import Index

    Term = tuple[str, float, dict[int, float]]

_TO_GO_ON = (
    "again ahead alright carry change check continue cool done else exactly fix fine go good great "
    "help keep let like nice next no nope ok okay perfect please proceed ready redo retry right "
    "run same start stop sure thank thanks then thing things there try up work works yeah yep yes"
)
GENERIC = frozenset(_TO_GO_ON.split())
"""Words that a person says to go on; a text of nothing else names nothing that has a record."""
FEWEST = 2  # words besides those; with fewer a prompt is not a task
LONGEST = 10_000  # characters of a prompt's two ends that are read: between them it was pasted
MOST = 200  # different words of these that are read
ENOUGH = 5
"""Words of no record at whose weight the divisor of a score ends: people describe a task in several
sentences, of which few words are about a record.
"""
POOL = 30  # the best records by single words, which words in a row rank again

_ENDINGS = "s e es ed er or ing ers ors ion ings ions ation ations"
ENDINGS = tuple(_ENDINGS.split())
"""What forms of English words end in.

Shorter ones come first: `workers` is `worker` rather than `work`.
"""
SHORTEST = 3  # letters that are left of a word, one more where its ending made another word of it


def records_by_words(index: "Index", text: str, fewest: int = FEWEST) -> list[tuple[int, float]]:
    """Return the pushed records that have words of a text, or replace such, the best first.

    Scores are from 0 to 1.
    """
    parts = [_words_of(part) for part in ends_of(text, LONGEST)]
    most = MOST // len(parts)
    query = list(dict.fromkeys(parts[0]))[:most]
    for part in parts[1:]:
        query += list(dict.fromkeys(reversed(part)))[:most]

    in_order = list(chain.from_iterable(parts))
    query = list(dict.fromkeys(query))
    if len(query) - len(GENERIC.intersection(query)) < fewest:
        return []

    best = 0.0
    unknown = 0
    weights: dict[int, float] = {}
    term_of: dict[str, str] = {}
    for word in query:
        known = _known(index, word)
        if known is None:
            unknown += 1
            continue

        term, worth, weights_of_term = known
        if term not in term_of.values():
            best += worth
            for number, weight in weights_of_term.items():
                weights[number] = weights.get(number, 0.0) + weight

        term_of[word] = term

    _add_runs(index, weights, [term_of.get(word, "") for word in in_order])

    best += unknown * index.unknown_worth
    count = len({*term_of.values()}) + unknown
    ranked = sorted(weights.items(), key=lambda hit: (-hit[1], hit[0]))
    return [(number, _score(index, number, weight, best, count)) for number, weight in ranked]


def _score(index: "Index", number: int, weight: float, best: float, count: int) -> float:
    """Return how well `count` words fit a record, which they weigh at most `best` in."""
    mean, spread = index.chance(number)
    divisor = best
    if weight >= count * mean + count**0.5 * spread:  # chance does not explain it
        divisor = min(best, ENOUGH * index.unknown_worth)

    return min(weight / divisor, 1.0)


def _add_runs(index: "Index", weights: dict[int, float], terms: list[str]) -> None:
    """Add what two terms in a row weigh in the best records; "" is a word without a term."""
    pairs = {f" {first}  {second} " for first, second in pairwise(terms) if first and second}
    if not pairs:
        return

    for number in sorted(weights, key=lambda number: -weights[number])[:POOL]:
        runs = index.runs(number)
        for pair in pairs:
            best = 0.0
            for below, heads, body in runs:
                count = 3 * heads.count(pair) + body.count(pair)
                if count:
                    best = max(best, count / (count + below))

            weights[number] += index.run_worth * best


def _words_of(text: str) -> list[str]:
    return words(" ".join(map(_without_path, text.split())))


def replaced_names(text: str) -> list[str]:
    """Return the words of a text that look like the ids of records."""
    whole = "\n".join(ends_of(text, LONGEST))
    pieces = [piece.strip(".,;:!?()[]'\"`") for piece in whole.split()]
    ids = dict.fromkeys(piece for piece in pieces if "-" in piece[1:-1] and "/" not in piece)
    return [*ids][:MOST]


_RUNNING = ("run", "rerun", "re-run", "check")


def asks_to_run(text: str) -> bool:
    """Say whether a prompt begins by asking for a command to be run."""
    first = text[:50].casefold().removeprefix("please ").split()[:1]
    return first != [] and first[0] in _RUNNING


def _without_path(word: str) -> str:
    """Return a word without the path in it.

    What is not ASCII stays, for some writing has no spaces.
    """
    if "/" not in word:
        return word

    # `read/write` is no path.
    is_path = word.count("/") > 1 or word[0] in "/~." or "." in word.rstrip(".,;:!?)")
    if not is_path:
        return word

    return "".join(" " if sign.isascii() else sign for sign in word)


def _known(index: "Index", word: str) -> "Term | None":
    """Return what the index says of a word, or of one that it is a form of."""
    known = index.word(word)
    if known is not None or not (word.isascii() and word.isalpha()):
        return known
    if word[-1] == "y" and len(word) > SHORTEST:
        return index.word(f"{word[:-1]}i")

    for ending in ENDINGS:
        if not word.endswith(ending):
            continue

        start = word[: -len(ending)]
        if len(start) < SHORTEST + (ending[0] in "aior" and ending != "ing"):
            continue

        known = index.word(start)
        if known is None and start[-1] == start[-2]:
            known = index.word(start[:-1])
        if known is not None:
            break

    return known
