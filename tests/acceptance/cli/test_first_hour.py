"""Short ways that a new user tries: a title as argument, loose ids, words for a brief, one list for a person."""

import pytest
from tests.acceptance.cli.conftest import Shell


@pytest.mark.parametrize("words", [("adr", "new"), ("new", "adr"), ("adr", "add")])
def test_a_title_is_an_argument(words: tuple[str, str], shell: Shell) -> None:
    code, envelope = shell.json(*words, "Keep the queue in Redis", "--dry-run")
    assert (code, envelope["data"]["title"]) == (0, "Keep the queue in Redis")


def test_a_missing_headline_says_how_to_give_it(shell: Shell) -> None:
    code, _, error = shell("learning", "new")
    assert (code, "a learning needs a summary" in error, 'orbit learning new "' in error) == (2, True, True)
    assert shell("adr", "new", "A", "--title", "B")[0] == 2


@pytest.mark.parametrize("any_id", ["1", "ADR-1", "adr-0001"])
def test_an_id_may_be_loose(any_id: str, shell: Shell) -> None:
    assert shell.json("show", any_id)[1]["data"]["id"] == "ADR-0001"


def test_a_list_says_what_it_leaves_out(shell: Shell) -> None:
    assert shell("retire", shell.learning)[0] == 0
    assert "1 closed record not listed: --all lists all" in shell("list")[1]
    assert "1 closed record not listed: --all lists all" in shell("learning", "list")[1]
    kinds = {row["kind"] for row in shell.json("list", "--kind", "adr", "--all")[1]["data"]}
    assert kinds == {"adr"}


def test_each_kind_has_the_verbs_accept_and_retire(shell: Shell) -> None:
    shell("rule", "add", "Close files", "--rationale", "Handles leak.")
    rule = shell.json("review")[1]["data"]["waiting"][0]["id"]
    listed = shell("rule", "--help")[1]
    assert ("\n  accept " in listed, "\n  approve " in listed) == (True, False)
    assert shell("rule", "accept", rule, "--yes")[0] == 0
    code, envelope = shell.json("retire", rule, "ADR-0001")
    assert [(row["id"], row["status"]) for row in envelope["data"]] == [(rule, "retired"), ("ADR-0001", "deprecated")]
    code, text, _ = shell("retire", rule)
    assert (code, text) == (0, f"{rule} is already retired  Close files\n")


def test_review_lists_what_needs_attention(shell: Shell) -> None:
    shell("rule", "add", "Close files", "--rationale", "Handles leak.")
    shell("fail", "story:shop:S-1", "--attempts", "2", "--reason", "no browser")
    shell("learning", "add", "Read the moved file", "--path", "gone/**", "--yes")
    data = shell.json("review")[1]["data"]
    assert {name: len(rows) for name, rows in data.items()} == {"waiting": 1, "unknown": 0, "stale": 1, "failures": 1}
    text = shell("review")[1]
    for part in (
        "Waiting for review (1): orbit accept ID",
        "May no longer hold (1): orbit stale",
        "orbit clear TARGET",
    ):
        assert part in text
    assert shell.json("review", "--kind", "rule")[1]["data"]["failures"] == []


def test_a_brief_takes_words_and_paths(shell: Shell) -> None:
    shell("learning", "add", "Lock the queue before you drain it", "--path", "src/app.py", "--yes")
    assert "Lock the queue" in shell("brief", "src/app.py")[1]
    assert "Lock the queue" in shell("brief", "drain the queue")[1]
