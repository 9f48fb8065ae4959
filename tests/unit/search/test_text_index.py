"""Ranking by words: rare terms, titles and tags weigh more; an index that changed, or was kept, ranks as a new one."""

from __future__ import annotations

import mmap
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orbit_registry.search.fusion import fused, gram_scores
from orbit_registry.search.terms import terms
from orbit_registry.search.text_index import TextIndex, base_of, pack, unpack, weigh

Fields = tuple[str, str, str]


def index(**texts: Fields) -> TextIndex:
    """Return an index of texts by key, all behind an empty base."""
    found = TextIndex()
    for key, fields in texts.items():
        found.put(key, weigh(fields))
    return found


def hits(found: TextIndex, query: str, most: int | None = None) -> list[tuple[str, float]]:
    """Return the keys of the hits with their scores, the best first."""
    return [(str(found.keys[slot]), score) for slot, score in found.search(terms(query), most=most)]


def keys(found: TextIndex, query: str) -> list[str]:
    """Return the keys of the hits, the best first."""
    return [key for key, _ in hits(found, query)]


def test_a_title_weighs_more_than_tags_and_those_more_than_the_body() -> None:
    """The same word, in texts of the same length."""
    found = index(body=("x", "y", "cache"), title=("cache", "y", "z"), tags=("x", "cache", "z"))

    assert keys(found, "cache") == ["title", "tags", "body"]


def test_a_rare_word_decides() -> None:
    """A word that every text has says little."""
    found = index(a=("lock order", "", ""), b=("lock file", "", ""), c=("lock order", "", "journal"))

    assert keys(found, "lock journal")[0] == "c"
    assert keys(found, "journal") == ["c"]


def test_a_longer_text_weighs_less() -> None:
    """The same word stands out in a short one."""
    found = index(long=("", "", "lock " + "word " * 50), short=("", "", "lock word"))

    assert keys(found, "lock") == ["short", "long"]


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("http headers", "Call parseHTTPHeader once"), ("parse_http", "Call parseHTTPHeader once"),
        ("AuthHandler", "the auth handler"), ("auth handler", "class AuthHandler"), ("#6928", "see issue 6928"),
        ("设计模式", "软件设计"), ("データベース", "データの保存"),
    ],
)  # fmt: skip
def test_identifiers_and_unspaced_words_are_found_by_their_parts(query: str, text: str) -> None:
    """`parseHTTPHeader` has parse, http and header; Chinese and Japanese words have pairs of characters."""
    assert keys(index(a=(text, "", ""), b=("Other", "", "")), query) == ["a"]


@pytest.mark.parametrize(("query", "text"), [("ui", "pursuing it"), ("cat", "concatenate"), ("lock", "block clocks")])
def test_a_part_of_a_word_is_no_match(query: str, text: str) -> None:
    """Runs of characters reorder what whole terms have found, and lead to nothing themselves."""
    assert keys(index(a=(text, "", "")), query) == []


def test_scores_are_parts_of_the_best_possible() -> None:
    """Between 0 and 1; a word that no text has takes its part away."""
    found = index(a=("lock " * 500, "", ""), b=("file", "", ""))

    ((_, whole),) = hits(found, "lock")
    ((_, part),) = hits(found, "lock nowhere")
    ((_, less),) = hits(found, "lock nowhere elsewhere")
    assert 0.9 < whole <= 1
    assert 0 < less < part < whole


@pytest.mark.parametrize("query", ["", "nowhere"])
def test_nothing_is_found_by_nothing(query: str) -> None:
    """No term, or one that no text has."""
    assert hits(index(a=("lock", "", "")), query) == []
    assert hits(TextIndex(), query) == []


def test_unknown_terms_are_named() -> None:
    """Those that stand in no text, also because the last one that had them has gone."""
    found = index(a=("lock", "", ""), b=("file", "", ""))
    found.remove("a")

    assert found.unknown(["lock", "file", "nowhere"]) == ["lock", "nowhere"]


def test_runs_of_characters_prefer_the_nearer_word() -> None:
    """Of texts that terms can't tell apart, the one with a word of the same root comes first."""
    found = index(a=("lock", "", "garden"), b=("lock", "", "ledger"))
    query = terms("lock the ledgerbook")
    ranked = found.search(query)
    ordered = fused(ranked, gram_scores(found, query, [slot for slot, _ in ranked]))

    assert [key for key, _ in hits(found, "lock the ledgerbook")] == ["a", "b"]
    assert [found.keys[slot] for slot, _ in ordered] == ["b", "a"]


def test_two_orders_become_one_and_the_scores_stay() -> None:
    """Who is well placed in both goes first; the scores are those of the first ranking, from the best on."""
    ranked = [(1, 0.9), (2, 0.8), (3, 0.7), (4, 0.7)]

    assert fused(ranked, {1: 0.1, 2: 0.9, 3: 0.8, 4: 0.8}) == [(2, 0.9), (1, 0.8), (3, 0.7), (4, 0.7)]
    assert fused([], {}) == []


WORDS = st.lists(st.sampled_from(["lock", "file", "order", "journal", "cache", "设计"]), max_size=6).map(" ".join)
TEXTS = st.tuples(WORDS, WORDS, WORDS)
CHANGES = st.lists(st.tuples(st.sampled_from("abcd"), st.none() | TEXTS), max_size=12)


@given(st.dictionaries(st.sampled_from("abcdef"), TEXTS), CHANGES, WORDS)
def test_an_index_that_changed_ranks_as_a_new_one(first: dict[str, Fields], later: object, query: str) -> None:
    """Texts of a base, put, replaced and removed in any order: the same hits, scores, unknown words and runs."""
    content = pack(base_of({key: weigh(fields) for key, fields in first.items()}))
    base = unpack(content)
    assert base is not None
    found, held = TextIndex(base), dict(first)
    assert isinstance(later, list)
    for key, fields in later:
        if fields is None:
            found.remove(key)
            held.pop(key, None)
        else:
            found.put(key, weigh(fields))
            held[key] = fields
    again = TextIndex(base_of({key: found.weights_of(key) for key in sorted(filter(None, found.keys))}))
    asked = terms(query)

    results = []
    for one in (found, again, index(**held)):
        ranked = one.search(asked)
        grams = gram_scores(one, asked, [slot for slot, _ in ranked])
        results.append(
            (hits(one, query), {str(one.keys[slot]): round(score, 9) for slot, score in grams.items()},
             one.unknown(asked), {one.keys[slot] for term in asked for slot in one.holders(term)})
        )  # fmt: skip
    assert results[0] == results[1] == results[2]


def test_the_best_are_the_same_without_a_look_at_all() -> None:
    """Thousands of texts, of which a few are asked for: exactly the first of the whole order."""
    texts = {
        f"{number:05}": (f"common {'rare ' * (number % 700 == 0)}", "", f"filler {'x ' * (number % 13)}")
        for number in range(5000)
    }
    held = {key: weigh(fields) for key, fields in texts.items()}
    found = TextIndex(base_of(held))
    for query in ("rare common filler", "filler common", "rare"):
        whole = hits(found, query)
        assert hits(found, query, most=20) == whole[:20]


def test_a_base_is_mapped(tmp_path: Path) -> None:
    """It is used where it stands in a file, without being read whole."""
    file = tmp_path / "index"
    file.write_bytes(pack(base_of({"a": weigh(("lock", "", "")), "b": weigh(("file", "", ""))})))
    with file.open("rb") as opened:
        base = unpack(mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ))

    assert base is not None
    assert keys(TextIndex(base), "lock") == ["a"]


@pytest.mark.parametrize(
    "content", [b"", b"[]\n", b"{}\n", b'["other", []]\n', b'["orbit text index 1", 3]\n', b"x" * 50]
)
def test_other_bytes_are_no_base(content: bytes) -> None:
    """What was not packed by this code is made anew."""
    assert unpack(content) is None


def test_an_index_knows_when_it_is_worn() -> None:
    """Many texts came or went since the base was made."""
    found = TextIndex(base_of({str(number): weigh(("a", "", "")) for number in range(10)}))
    assert not found.is_worn
    for number in range(251):
        found.put(f"n{number}", weigh(("b", "", "")))
    assert found.is_worn
