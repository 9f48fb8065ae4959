"""Near-duplicate detection: it must find what comparing every pair by the definition finds."""

from __future__ import annotations

import math
import random
from collections import Counter
from itertools import accumulate, combinations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from orbit_registry.errors import UsageError
from orbit_registry.search.pairs_by_share import PairsByShare
from orbit_registry.search.similarity import Pair, SimilarityIndex, normalised
from orbit_registry.search.terms import terms
from orbit_registry.search.weights import Vector, Weights

WORDS = ["lock", "path", "glob", "id", "hook", "vote", "draft", "merge", "proof", "null", "tag", "zip"]
TEXTS = st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join)
COLLECTIONS = st.dictionaries(st.integers(0, 40).map("L-{:02}".format), TEXTS, max_size=25)
THRESHOLDS = st.sampled_from([0.2, 0.4, 0.55, 0.8, 1.0])


def weights(text: str, frequencies: Counter[str], documents: int) -> dict[str, float]:
    """Return the weight of each term of a text by the definition."""
    return {
        term: math.log(1 + documents / max(frequencies[term], 1)) * (1 + math.log(times))
        for term, times in Counter(terms(text)).items()
    }


def cosine(first: dict[str, float], second: dict[str, float]) -> float:
    """Return the cosine of two texts' weights by the definition; 0 where one has none."""
    norms = math.hypot(*first.values()) * math.hypot(*second.values())
    return sum(weight * second[term] for term, weight in first.items() if term in second) / norms if norms else 0.0


def all_cosines(texts: dict[str, str]) -> dict[tuple[str, str], float]:
    """Return the cosine of every pair of texts by the definition."""
    frequencies = Counter(term for text in texts.values() for term in set(terms(text)))
    weighted = {key: weights(text, frequencies, len(texts)) for key, text in texts.items()}
    return {(a, b): cosine(weighted[a], weighted[b]) for a, b in combinations(sorted(texts), 2)}


def check(pairs: list[Pair], cosines: dict[tuple[str, str], float], threshold: float) -> None:
    """Fail unless `pairs` are those from `threshold` up, with their cosines, in the promised order."""
    found = {(pair.a, pair.b): pair.score for pair in pairs}
    assert len(found) == len(pairs)
    assert all(math.isclose(score, cosines[pair], abs_tol=1e-12) for pair, score in found.items())
    assert {pair for pair, score in cosines.items() if score >= threshold + 1e-12} <= found.keys()
    assert found.keys() <= {pair for pair, score in cosines.items() if score >= threshold - 1e-12}
    assert pairs == sorted(pairs, key=lambda pair: (-pair.score, pair.a, pair.b))


def zipf_texts(number: int, seed: int, longest: int = 90) -> dict[str, str]:
    """Return texts whose words are as unevenly frequent as in language; every tenth is an altered copy of another."""
    chance = random.Random(seed)
    vocabulary = ["".join(chance.choices("bcdfgklmnprtvz", k=7)) for _ in range(3000)]
    cumulative = list(accumulate(1 / (rank + 2) for rank in range(3000)))
    texts: dict[str, str] = {}
    for i in range(number):
        words = chance.choices(vocabulary, cum_weights=cumulative, k=chance.randint(3, longest))
        if i % 10 == 9:
            kept = texts[f"L-{i - chance.randint(1, 9):04}"].split()
            words = [word for word in kept if chance.random() < 0.8] + words[: chance.randint(0, 20)]
        texts[f"L-{i:04}"] = " ".join(words)
    return texts


@given(COLLECTIONS, THRESHOLDS)
@example({"L-00": "", "L-01": "", "L-02": "lock"}, 0.55)
def test_pairs_are_those_of_the_definition(texts: dict[str, str], threshold: float) -> None:
    """`pairs` finds exactly the pairs whose cosine by the definition reaches the threshold."""
    check(SimilarityIndex(texts.items()).pairs(threshold), all_cosines(texts), threshold)


@given(COLLECTIONS, THRESHOLDS, st.sets(st.integers(0, 40).map("L-{:02}".format), max_size=3))
def test_pairs_of_some_texts(texts: dict[str, str], threshold: float, only: set[str]) -> None:
    """With `only`, `pairs` finds those of all pairs that have such a key, with the same scores."""
    index = SimilarityIndex(texts.items())
    expected = [pair for pair in index.pairs(threshold) if pair.a in only or pair.b in only]
    assert index.pairs(threshold, only=only) == expected
    for key in only:
        assert index.pairs(threshold, only={key}) == [pair for pair in expected if key in (pair.a, pair.b)]


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("threshold", [0.3, 0.55, 0.8])
def test_pairs_among_many_texts(seed: int, threshold: float) -> None:
    """Among hundreds of texts with planted copies, where nearly all pairs are ruled out by bounds, none is lost."""
    texts = zipf_texts(300, seed)
    cosines = all_cosines(texts)
    index = SimilarityIndex(texts.items())
    pairs = index.pairs(threshold)
    check(pairs, cosines, threshold)
    assert len(pairs) > 5
    assert [pair for key in texts for pair in index.pairs(threshold, only={key}) if pair.a == key] == sorted(
        pairs, key=lambda pair: (pair.a, -pair.score, pair.b)
    )


def test_unchanged_texts_can_become_alike() -> None:
    """Two texts that nobody touched are found when others make what tells them apart common."""
    index = SimilarityIndex(zipf_texts(200, 1).items())
    index.put("a", "alpha beta gamma plum pear peach pomelo")
    index.put("b", "alpha beta gamma quince quark quiche quinoa")
    assert index.pairs(0.55, only={"a"}) == []
    assert not any(pair.a == "a" for pair in index.pairs(0.55))
    for number in range(8):
        index.put(f"c{number}", "plum pear peach pomelo quince quark quiche quinoa")
    assert [pair.b for pair in index.pairs(0.55) if pair.a == "a"] == ["b"]


@pytest.mark.parametrize(("everyday", "common"), [(5, 40), (80, 40), (0, 150), (40, 200)])
def test_a_pair_at_the_threshold_is_found(everyday: int, common: int) -> None:
    """A pair that just reaches the threshold is found, however much of either text is its own."""
    everywhere, family = (
        [f"every{number}" for number in range(everyday)],
        [f"family{number}" for number in range(common)],
    )
    sizes = {f"L-{number}": number for number in (1, 3, 6, 12, 25, 50, 100, 200, 400, 700, 1000, 1300)}
    said = {key: [*everywhere, *family, *(f"{key}own{one}" for one in range(size))] for key, size in sizes.items()}
    said |= {f"F-{number}": [*everywhere, *(f"filler{number}own{one}" for one in range(40))] for number in range(30)}
    vectors = {key: Vector.of(words) for key, words in said.items()}
    known = Weights(len(vectors), Counter(word for words in said.values() for word in set(words)))
    for pair in combinations(sorted(sizes), 2):
        cosine_of_pair = known.weigh(vectors[pair[0]]).cosine(known.weigh(vectors[pair[1]]))
        assert pair in {tuple(sorted(found)) for found in PairsByShare(vectors, known, cosine_of_pair - 1e-6)}


def test_few_short_texts_among_long_ones() -> None:
    """A text of one word is found beside a long one that says it over and over, though they share but that word."""
    texts = zipf_texts(200, 2)
    index = SimilarityIndex((key, f"{text} {texts['L-0000']}") for key, text in texts.items())
    index.put("a", "kumquat")
    index.put("b", "kumquat " * 30 + "tree")
    assert [(pair.a, pair.b) for pair in index.pairs(0.8) if pair.a == "a"] == [("a", "b")]


@given(COLLECTIONS, TEXTS, st.integers(0, 8))
def test_nearest(texts: dict[str, str], query: str, limit: int) -> None:
    """`nearest` gives the texts with the highest cosines above 0, ties by key, also for a text with unknown words."""
    query += " unheard"
    frequencies = Counter(term for text in texts.values() for term in set(terms(text)))
    asked = weights(query, frequencies, len(texts))
    cosines = {key: cosine(asked, weights(text, frequencies, len(texts))) for key, text in texts.items()}
    found = SimilarityIndex(texts.items()).nearest(query, limit)
    assert len(found) == min(limit, sum(score > 0 for score in cosines.values()))
    assert [score for _, score in found] == pytest.approx(sorted(cosines.values(), reverse=True)[: len(found)])
    assert all(score == pytest.approx(cosines[key]) for key, score in found)
    assert found == sorted(found, key=lambda item: (-item[1], item[0]))


def test_equal_texts_score_one() -> None:
    """Two texts with the same terms score exactly 1, the highest there is."""
    index = SimilarityIndex(
        [("a", "Hold the lock while you write, write"), ("b", "write lock while hold! WRITE"), ("c", "x")]
    )
    assert index.pairs(1.0) == [Pair("a", "b", 1.0)]
    assert index.nearest("hold lock while write write", 1) == [("a", 1.0)]


@pytest.mark.parametrize("threshold", [0, -0.1, 1.01, math.nan])
def test_a_threshold_has_a_range(threshold: float) -> None:
    """A threshold that is not above 0 and at most 1 is refused."""
    with pytest.raises(UsageError, match="threshold"):
        SimilarityIndex().pairs(threshold)


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
    """Case, punctuation, white space and compatibility forms do not tell two texts apart; letters and marks do."""
    assert normalised(text) == expected
    assert normalised(normalised(text)) == expected
