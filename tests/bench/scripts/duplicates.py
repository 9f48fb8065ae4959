"""Prints how well duplicates are told from neighbours among the learnings of the repository it is
run in.

Each learning is written again four ways, and each copy is asked about as `orbit learning add` does,
the original among all others: every tenth word dropped, sentences and clauses in another order, one
negation put in or taken out of the summary, one number put in or changed. The learnings themselves
are asked about too, without their own copy.
"""

import json
import random
import re
from collections import Counter
from collections.abc import Mapping

from orbit_registry.checks.duplicates import is_apart, wording
from orbit_registry.formats.wording import Contrast, Words, contrast
from orbit_registry.registry import Registry
from orbit_registry.search.similarity import similar_pairs

ROUNDS = 5
_NEGATED = re.compile(r"\b(?:do not|don't|never|not|no)\s+")
_VERB = re.compile(r"\b(is|are|must|should|can|will|may|has|have)\b(?! not)")


def dropped(text: str, chance: random.Random) -> str:
    """Return a text without one word in ten, at least one."""
    words = text.split()
    dropped_words = set(chance.sample(range(len(words)), max(1, len(words) // 10)))
    return " ".join(word for index, word in enumerate(words) if index not in dropped_words)


def reordered(text: str, chance: random.Random) -> str:
    """Return a text with its sentences, or the clauses of its only one, in another order."""
    parts = re.split(r"(?<=[.;!?])\s+|\n+", text.strip())
    parts = parts if len(parts) > 1 else re.split(r"(?<=,)\s+", text.strip())
    parts = parts if len(parts) > 1 else text.split()
    return " ".join(chance.sample(parts, len(parts)))


def negated(text: str, chance: random.Random) -> str:
    """Return a text that says the opposite somewhere."""
    del chance
    match = _NEGATED.search(text)
    if match is not None:
        return text[: match.start()] + text[match.end() :]
    changed = _VERB.sub(r"\1 not", text, count=1)
    return changed if changed != text else f"Do not {text[:1].lower()}{text[1:]}"


def renumbered(text: str, chance: random.Random) -> str:
    """Return a text with another number in it."""
    number = chance.randint(1000, 9999)
    changed = re.sub(r"\b\d+\b", str(number), text, count=1)
    return changed if changed != text else f"{text} {number}"


COPIES = {"dropped": dropped, "reordered": reordered, "negation": negated, "number": renumbered}


def outcome_of(differs: Contrast | None, score: float | None, upper: float) -> str:
    """Return what becomes of a text that is `score` alike another;
    None where it is less alike than is looked for.
    """
    if score is None:
        return "passed"
    return "refused" if score >= upper and not is_apart(differs) else "warned"


def table(texts: Mapping[str, str], upper: float, lower: float) -> dict[str, dict[str, int]]:
    """Return for each sort of copy how many were refused, warned about and let pass;
    `itself` are the originals.
    """
    rows: dict[str, Counter[str]] = {name: Counter() for name in (*COPIES, "itself")}
    chance = random.Random(7)
    for key, text in texts.items():
        for name, change in COPIES.items():
            for _ in range(ROUNDS if name in ("dropped", "reordered") else 1):
                changed = change(text, chance)
                pairs = similar_pairs({**texts, "": changed}, lower, only={""})
                scores = {pair.a + pair.b: pair.score for pair in pairs}
                rows[name][
                    outcome_of(contrast(Words.of(changed), Words.of(text)), scores.get(key), upper)
                ] += 1
    worst = dict.fromkeys(texts, "passed")
    words = {key: Words.of(text) for key, text in texts.items()}
    for pair in similar_pairs(texts, lower):
        for key in (pair.a, pair.b):
            match = outcome_of(contrast(words[pair.a], words[pair.b]), pair.score, upper)
            worst[key] = max(worst[key], match, key=("passed", "warned", "refused").index)
    rows["itself"].update(worst.values())
    return {
        name: {what: row[what] for what in ("refused", "warned", "passed")}
        for name, row in rows.items()
    }


def main() -> None:
    """Print the table of the learnings here as one line of JSON."""
    registry = Registry.open()
    learnings = [
        record for record in registry.records.of_kind("learning") if record.phase != "closed"
    ]
    limits = registry.workspace.config.duplicates
    print(
        json.dumps(
            table(
                {record.path: wording(record) for record in learnings},
                limits["error"],
                limits["warning"],
            )
        )
    )


if __name__ == "__main__":
    main()
