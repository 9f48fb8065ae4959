"""Ranking by words: rare terms, titles and tags weigh more; an index that changed ranks as a new one does."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orbit_registry.search.bm25 import TextIndex
from orbit_registry.search.terms import terms

Fields = tuple[str, str, str]


def index(**texts: Fields) -> TextIndex:
    """Return an index of texts by key."""
    found = TextIndex()
    for key, fields in texts.items():
        found.put(key, *fields)
    return found


def keys(found: TextIndex, query: str) -> list[str]:
    """Return the keys of the hits, the best first."""
    return [key for key, _ in found.search(terms(query))]


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


def test_identifiers_are_found_by_their_parts() -> None:
    """`parseHTTPHeader` has parse, http and header."""
    found = index(a=("Call parseHTTPHeader once", "", ""), b=("Other", "", ""))

    assert keys(found, "http headers") == keys(found, "parse_http") == ["a"]


def test_scores_are_parts_of_the_best_possible() -> None:
    """Between 0 and 1; a word that no text has takes its part away."""
    found = index(a=("lock " * 500, "", ""), b=("file", "", ""))

    ((_, whole),) = found.search(["lock"])
    ((_, part),) = found.search(["lock", "nowhere"])
    assert 0.9 < whole <= 1
    assert 0 < part < whole


@pytest.mark.parametrize("query", [[], ["nowhere"]])
def test_nothing_is_found_by_nothing(query: list[str]) -> None:
    """No term, or one that no text has."""
    assert index(a=("lock", "", "")).search(query) == []
    assert TextIndex().search(query) == []


def test_unknown_terms_are_named() -> None:
    """Those that stand in no text, also because the last one that had them has gone."""
    found = index(a=("lock", "", ""), b=("file", "", ""))
    found.remove("a")

    assert found.unknown(["lock", "file", "nowhere"]) == ["lock", "nowhere"]


def test_an_index_knows_when_it_is_worn() -> None:
    """More than a quarter of its slots have no text any more."""
    found = index(**{name: (name, "", "") for name in "abcd"})
    found.remove("a")
    assert not found.is_worn
    found.remove("b")
    assert found.is_worn
    assert len(found) == 2


WORDS = st.lists(st.sampled_from(["lock", "file", "order", "journal", "cache"]), max_size=6).map(" ".join)
CHANGES = st.lists(st.tuples(st.sampled_from("abcd"), st.none() | st.tuples(WORDS, WORDS, WORDS)), max_size=12)


@given(CHANGES, WORDS)
def test_an_index_that_changed_ranks_as_a_new_one(changes: list[tuple[str, Fields | None]], query: str) -> None:
    """Texts put, replaced and removed in any order, through JSON and back."""
    found, held = TextIndex(), dict[str, Fields]()
    for key, fields in changes:
        if fields is None:
            found.remove(key)
            held.pop(key, None)
        else:
            found.put(key, *fields)
            held[key] = fields
    again = TextIndex.from_state(json.loads(json.dumps(found.to_state())))

    assert again is not None
    assert again.search(query.split()) == found.search(query.split()) == index(**held).search(query.split())


@pytest.mark.parametrize("state", [None, [], {}, {"version": -1, "keys": [], "lengths": [], "postings": {}}])
def test_another_state_is_none(state: object) -> None:
    """What was not saved by this code is made anew."""
    assert TextIndex.from_state(state) is None
