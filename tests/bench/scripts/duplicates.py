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

from orbit_registry.checks.duplicates import wording
from orbit_registry.judgements.is_duplicate import (
    Limits,
    Wording,
    is_duplicate,
    limits_of,
    wording_of,
)
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


def outcome_of(new: Wording, existing: Wording, score: float, limits: Limits) -> str:
    """Return what becomes of a text next to another one that it is so much alike."""
    level = is_duplicate(new, existing, score, limits).level
    return {"error": "refused", "warning": "warned"}.get(level, "passed")


def table(wordings: Mapping[str, Wording], limits: Limits) -> dict[str, dict[str, int]]:
    """Return for each sort of copy how many were refused, warned about and let pass;
    `itself` are the originals.

    The headline of a copy is left out: that it is the same would be enough to refuse it.
    """
    rows: dict[str, Counter[str]] = {name: Counter() for name in (*COPIES, "itself")}
    texts = {key: wording.text for key, wording in wordings.items()}
    chance = random.Random(7)
    for key, text in texts.items():
        for name, change in COPIES.items():
            for _ in range(ROUNDS if name in ("dropped", "reordered") else 1):
                changed = change(text, chance)
                pairs = similar_pairs({**texts, "": changed}, limits.warning, only={""})
                scores = {pair.a + pair.b: pair.score for pair in pairs}
                new, old = Wording("", changed), Wording("", text)
                rows[name][outcome_of(new, old, scores.get(key, 0.0), limits)] += 1

    worst = dict.fromkeys(texts, "passed")
    for pair in similar_pairs(texts, limits.warning):
        match = outcome_of(wordings[pair.a], wordings[pair.b], pair.score, limits)
        for key in (pair.a, pair.b):
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
    limits = limits_of(registry.workspace.config.duplicates, len(learnings))
    wordings = {record.path: wording_of(record, wording(record)) for record in learnings}
    print(json.dumps(table(wordings, limits)))


if __name__ == "__main__":
    main()
