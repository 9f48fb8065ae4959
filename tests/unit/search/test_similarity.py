"""Near-duplicate detection: it finds what comparing every pair finds,
and sees a negation or a number.
"""

import math
import random
from collections import Counter
from itertools import accumulate, combinations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from orbit_registry.errors import UsageError
from orbit_registry.formats.wording import normalised
from orbit_registry.judgements.contradicts import contradicts
from orbit_registry.search.similarity import (
    FEW,
    Pair,
    TermWeights,
    pair_scores,
    pairs_after_edits,
    similar_pairs,
)
from orbit_registry.search.text import terms
from orbit_registry.workspace.cache import Cache

WORDS = [
    "lock",
    "path",
    "glob",
    "id",
    "hook",
    "vote",
    "draft",
    "merge",
    "proof",
    "null",
    "tag",
    "zip",
]
TEXTS = st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join)
COLLECTIONS = st.dictionaries(st.integers(0, 40).map("L-{:02}".format), TEXTS, max_size=25)
THRESHOLDS = st.sampled_from([0.2, 0.4, 0.55, 0.8, 1.0])


def weights(text: str, frequencies: Counter[str], documents: int) -> dict[str, float]:
    return {
        term: math.log(1 + documents / max(frequencies[term], 1)) * (1 + math.log(times))
        for term, times in Counter(terms(text)).items()
    }


def cosine(first: dict[str, float], second: dict[str, float]) -> float:
    """Return the cosine of two texts' weights by the definition; 0 where one has none."""
    norms = math.hypot(*first.values()) * math.hypot(*second.values())
    return (
        sum(weight * second[term] for term, weight in first.items() if term in second) / norms
        if norms
        else 0.0
    )


def all_cosines(texts: dict[str, str]) -> dict[tuple[str, str], float]:
    frequencies = Counter(term for text in texts.values() for term in set(terms(text)))
    weighted = {key: weights(text, frequencies, len(texts)) for key, text in texts.items()}
    return {(a, b): cosine(weighted[a], weighted[b]) for a, b in combinations(sorted(texts), 2)}


def check(pairs: list[Pair], cosines: dict[tuple[str, str], float], threshold: float) -> None:
    """Fail unless `pairs` are those from `threshold` up, with their cosines,
    in the promised order.
    """
    scores = {(pair.a, pair.b): pair.score for pair in pairs}
    assert len(scores) == len(pairs)
    assert all(math.isclose(score, cosines[pair], abs_tol=1e-12) for pair, score in scores.items())
    assert {pair for pair, score in cosines.items() if score >= threshold + 1e-12} <= scores.keys()
    assert scores.keys() <= {pair for pair, score in cosines.items() if score >= threshold - 1e-12}
    assert pairs == sorted(pairs, key=lambda pair: (-pair.score, pair.a, pair.b))


def zipf_texts(number: int, seed: int, longest: int = 90) -> dict[str, str]:
    """Return texts whose words are as unevenly frequent as in language;
    every tenth is an altered copy of another.
    """
    chance = random.Random(seed)
    vocabulary = ["".join(chance.choices("bcdfgklmnprtvz", k=7)) for _ in range(3000)]
    cumulative = list(accumulate(1 / (rank + 2) for rank in range(3000)))
    texts: dict[str, str] = {}
    for i in range(number):
        words = chance.choices(vocabulary, cum_weights=cumulative, k=chance.randint(3, longest))
        if i % 10 == 9:
            original = texts[f"L-{i - chance.randint(1, 9):04}"].split()
            words = [word for word in original if chance.random() < 0.8] + words[
                : chance.randint(0, 20)
            ]
        texts[f"L-{i:04}"] = " ".join(words)
    return texts


@given(COLLECTIONS, THRESHOLDS)
@example({"L-00": "", "L-01": "", "L-02": "lock"}, 0.55)
def test_pairs_are_those_of_the_definition(texts: dict[str, str], threshold: float) -> None:
    check(similar_pairs(texts, threshold), all_cosines(texts), threshold)


@given(COLLECTIONS, THRESHOLDS, st.sets(st.integers(0, 40).map("L-{:02}".format), max_size=3))
def test_pairs_of_some_texts(texts: dict[str, str], threshold: float, only: set[str]) -> None:
    expected = [
        pair for pair in similar_pairs(texts, threshold) if pair.a in only or pair.b in only
    ]

    assert similar_pairs(texts, threshold, only) == expected


@pytest.mark.parametrize("threshold", [0.3, 0.8])
def test_pairs_among_many_texts(threshold: float) -> None:
    texts = zipf_texts(300, 1)
    pairs = similar_pairs(texts, threshold)

    check(pairs, all_cosines(texts), threshold)
    assert len(pairs) > 5


def test_a_pair_at_the_threshold_is_found() -> None:
    sizes = {f"L-{number}": number for number in (1, 6, 25, 100, 400, 1300)}
    family = [f"family{number}" for number in range(100)]
    texts = {
        key: Counter([*family, *(f"{key}own{word}" for word in range(size))])
        for key, size in sizes.items()
    }
    texts |= {
        f"F-{number}": Counter(f"filler{number}own{word}" for word in range(40))
        for number in range(30)
    }

    for pair, cosine_of_pair in pair_scores(texts, 0.01).items():
        assert pair in pair_scores(texts, cosine_of_pair)


def test_a_common_word_alone_makes_a_pair_at_a_low_threshold() -> None:
    texts = {
        f"L-{n:02}": Counter(["common", *(f"word{n}own{word}" for word in range(2 * n))])
        for n in range(1, 12)
    }
    weights = TermWeights.of(texts.values())
    vectors = {key: weights.vector(counts) for key, counts in texts.items()}
    pairs = {
        pair
        for pair in combinations(sorted(texts), 2)
        if vectors[pair[0]].cosine(vectors[pair[1]]) >= 0.01
    }

    assert set(pair_scores(texts, 0.01)) == pairs


def test_long_texts_of_many_rare_words_are_found() -> None:
    words = [
        (
            f"word{'abcdefghij'[number % 10]}{'klmnopqrst'[number // 10 % 10]}"
            f"{chr(97 + number // 100)}ing"
        )
        for number in range(1200)
    ]
    texts = {"a": " ".join(words[:700]), "b": " ".join(words[100:800]), "c": " ".join(words[700:])}
    assert [(pair.a, pair.b) for pair in similar_pairs(texts, 0.5)] == [("a", "b")]


def test_equal_texts_score_one() -> None:
    texts = {
        "a": "Hold the lock while you write, write",
        "b": "write lock while hold! WRITE",
        "c": "x",
    }

    assert similar_pairs(texts, 1.0) == [Pair("a", "b", 1.0)]


@pytest.mark.parametrize("threshold", [0, -0.1, 1.01, math.nan])
def test_a_threshold_has_a_range(threshold: float) -> None:
    with pytest.raises(UsageError, match="threshold"):
        similar_pairs({}, threshold)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        ("  !? — \n", ""),
        ("Hold the  lock,\n\twhile WRITING.", "hold the lock while writing"),
        ("snake_case `code`", "snake case code"),
        ("Straße ﬁle", "strasse file"),
        ("नमस्ते", "नमस्ते"),
        ("日本、語", "日本 語"),
    ],
)
def test_normalised(text: str, expected: str) -> None:
    assert normalised(text) == expected
    assert normalised(normalised(text)) == expected


@pytest.mark.parametrize(
    ("first", "second", "words"),
    [
        ("Retry failed uploads", "Do not retry failed uploads", "only one of them says `not`"),
        ("Retry failed uploads", "Don't retry failed uploads", "only one of them says `not`"),
        ("Retries never help", "Retries help", "only one of them says `never`"),
        ("It is safe", "It isn’t safe", "only one of them says `not`"),
        ("Timeouts can be trusted", "Timeouts cannot be trusted", "only one of them says `not`"),
        ("Wait 30 seconds", "Wait 60 seconds", "one says `30`, the other `60`"),
        ("Wait 1.5 s", "Wait 1.6 s", "one says `1.5`, the other `1.6`"),
        ("Keep 3 copies", "Keep copies", "only one of them says `3`"),
        ("Ports 1, 2, 3, 4, 5, 6", "Ports", "only one of them says `1`, `2`, `3`, `4` and 2 more"),
        (
            "Use tabs, not spaces",
            "Use spaces, not tabs",
            "one says `tabs over spaces`, the other `spaces over tabs`",
        ),
    ],
)
def test_a_single_negation_or_number_is_named(first: str, second: str, words: str) -> None:
    difference = contradicts(first, f"{second.upper()}!")

    assert difference is not None
    assert (str(difference), difference.alone) == (words, True)
    other = contradicts(second, first)
    assert other is not None
    assert other.alone


@pytest.mark.parametrize(
    ("first", "second", "alone"),
    [
        ("Do not retry failed uploads", "Retry every failed download", False),
        ("Wait 30 seconds for the lock", "Wait 60 seconds for the journal", False),
        ("Retry uploads", "Uploads: retry", None),
        ("Retry", "Wait", None),
        ("", "", None),
    ],
)
def test_other_differences_make_no_pure_contrast(
    first: str, second: str, alone: bool | None
) -> None:
    difference = contradicts(first, second)

    assert (difference.alone if difference is not None else None) == alone


def test_a_moved_negation_counts_in_short_texts() -> None:
    words = [f"word{chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(60)]

    assert contradicts(" ".join(["not", *words]), " ".join([*words[::-1], "not", "x"][:-1])) is None


@pytest.mark.parametrize("seed", range(4))
def test_after_edits_the_pairs_are_those_of_all_texts(seed: int) -> None:
    """A pair that is missing until the next full comparison is of two texts that did not change."""
    chance = random.Random(seed)
    words = [f"word{number}" for number in range(100)]
    texts = {f"{key:03}": " ".join(chance.choices(words, k=12)) for key in range(200)}
    cache = Cache(None, "1")
    assert pairs_after_edits(cache, "pairs", texts, 0.5) == similar_pairs(texts, 0.5)

    changed = set()
    for number in range(6):
        key = chance.choice(sorted(texts))
        changed.add(key)
        if number % 3 == 2:
            del texts[key]
        else:
            texts[key] = " ".join(chance.choices(words, k=12))

        kept = pairs_after_edits(cache, "pairs", texts, 0.5)
        fresh = similar_pairs(texts, 0.5)
        if len(changed) > FEW * len(texts):
            changed.clear()
            assert kept == fresh
        else:
            assert set(kept) <= set(fresh)
            missing = set(fresh).difference(kept)
            assert not any({pair.a, pair.b} & changed for pair in missing)
