"""Search at the command line: two tiers, clear answers where there is nothing, every kind alike."""

from __future__ import annotations

from typing import Any

import pytest


def ids(shell: Any, *arguments: str) -> list[str]:
    """Return the ids of the hits, the best first."""
    code, whole = shell.json(*arguments)
    assert code == 0, whole
    return [hit["id"] for hit in whole["data"]["hits"]]


def add(shell: Any, *arguments: str) -> str:
    """Add a learning and return its id."""
    code, whole = shell.json("learning", "add", *arguments)
    assert code == 0, whole
    return str(whole["data"]["id"])


def test_a_hit_says_enough_to_choose_by(shell: Any) -> None:
    """Id, score, title, kind and a snippet from where the words stand; the whole text is for `show`."""
    body = "Nothing here. " * 30 + "The journal has to be closed first. " + "Nothing there. " * 30
    added = add(shell, "--summary", "Close files in order", "--body", body)

    _, whole = shell.json("search", "journal")

    (hit,) = whole["data"]["hits"]
    assert set(hit) == {"id", "score", "title", "kind", "snippet"}
    assert (hit["id"], hit["kind"], hit["title"]) == (added, "learning", "Close files in order")
    assert 0 < hit["score"] <= 1
    assert "journal" in hit["snippet"]
    assert len(hit["snippet"]) <= 150
    assert whole["next"] == [f"orbit show {added}"]
    assert f"{added}  Close files in order" in shell("search", "journal")[1]


def test_every_kind_is_searched_or_one(shell: Any) -> None:
    """Decisions are found by their documents' words too."""
    added = add(shell, "--summary", "Vacuum Postgres at night")

    assert set(ids(shell, "search", "postgres")) == {"ADR-0002", added}
    assert ids(shell, "adr", "search", "postgres") == ids(shell, "search", "postgres", "--kind", "adr") == ["ADR-0002"]
    assert ids(shell, "learning", "search", "postgres") == [added]
    assert ids(shell, "search", "time") == ["ADR-0002"]
    assert "known kinds" in shell("search", "x", "--kind", "nonsense")[2]


def test_hits_are_narrowed_by_tag_and_path(shell: Any) -> None:
    """Every tag has to be there; the scope has to cover the path, which is named from where one is."""
    one = add(shell, "--summary", "Lock the ledger", "--tag", "db", "--tag", "care", "--path", "src/**")
    two = add(shell, "--summary", "Lock the door", "--tag", "db", "--path", "lib/**")

    assert set(ids(shell, "search", "lock", "--tag", "db")) == {one, two}
    assert ids(shell, "search", "lock", "--tag", "db", "--tag", "care") == [one]
    assert ids(shell, "search", "lock", "--path", "src/app.py") == [one]
    assert ids(shell, "search", "lock", "--path", "./lib/new/x.py") == [two]
    assert shell("search", "lock", "--path", "../x")[0] == 2


def test_what_does_not_hold_is_found_with_all(shell: Any) -> None:
    """Closed and waiting records are left out else."""
    waits = add(shell, "--summary", "Leap years have 366 days", "--pending")
    shell("learning", "retire", shell.learning)

    assert ids(shell, "search", "leap") == []
    assert set(ids(shell, "search", "leap", "--all")) == {shell.learning, waits}


def test_symbols_tags_labels_and_seeds_are_found(shell: Any) -> None:
    """What a record applies to is searched like its text."""
    added = add(shell, "--summary", "One", "--label", "performance",
        "--set", "scope={tags: [network], symbols: ['src/app.py::OpenSession'], semantic_seed: handshake}")  # fmt: skip

    for words in ("open session", "handshake", "network", "performance"):
        assert ids(shell, "search", words) == [added]


def test_what_changed_is_found_as_it_stands(shell: Any) -> None:
    """The kept index follows the files, added, edited and gone."""
    assert ids(shell, "search", "leap") == [shell.learning]
    shell("learning", "update", shell.learning, "--summary", "Jump")
    added = add(shell, "--summary", "Leap")

    assert ids(shell, "search", "leap") == [added]
    assert ids(shell, "search", "jump") == [shell.learning]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [([], "nothing to search for"), (["  "], "nothing to search for"), (["the", "of"], "nearly every text has")],
)
def test_a_query_without_words_is_a_wrong_call(shell: Any, arguments: list[str], words: str) -> None:
    """No words, or only those that every text has."""
    code, _, err = shell("search", *arguments)

    assert code == 2
    assert words in err
    assert "hint" in err


def test_words_that_no_record_has_are_named(shell: Any) -> None:
    """Beside the hits of the others, or alone."""
    code, out, err = shell("search", "leap", "xyzzy")
    assert (code, "Look before you leap" in out, "no record has xyzzy" in err) == (0, True, True)

    code, out, err = shell("search", "xyzzy")
    assert (code, out, "no record has xyzzy" in err) == (0, "nothing found\n", True)
    assert shell.json("search", "leap", "xyzzy")[1]["data"]["unknown"] == ["xyzzy"]


def test_more_hits_than_asked_for_are_counted(shell: Any) -> None:
    """Nothing is left out in silence."""
    for word in ("file", "pipe", "socket"):
        add(shell, "--summary", f"Close the {word} yourself", "--body", f"All about {word}.")

    _, whole = shell.json("search", "close", "--limit", "2")

    assert (len(whole["data"]["hits"]), whole["data"]["omitted"]) == (2, 1)
    assert "and 1 more hit" in shell("search", "close", "--limit", "2")[1]


def test_equal_scores_stand_as_records_are_pushed(shell: Any) -> None:
    """The one that helped comes first, then the one with the higher priority."""
    one, two, three = (add(shell, "--summary", f"Flush {word}") for word in ("pipes", "wells", "tanks"))
    shell("learning", "update", two, "--priority", "9")
    shell("learning", "vote", three, "--task", "T-1")

    assert ids(shell, "search", "flush") == [three, two, one]
    assert [row["id"] for row in shell.json("learning", "list", "--sort", "votes", "--limit", "2")[1]["data"]] == [
        three,
        two,
    ]
