"""Short ways that a new user tries: a title as argument, loose ids, words for a brief, one list for a person."""

import shlex
import sys
from pathlib import Path

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
    rows = shell.json("list", "--status", "retired", "--status", "accepted")[1]["data"]
    assert {row["status"] for row in rows} == {"retired", "accepted"}


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


@pytest.mark.parametrize(
    ("words", "error", "hint"),
    [
        ("completion", "missing argument: one of bash, zsh, fish", "for example `orbit completion fish"),
        ("hook test", "missing argument: one of claude, ", "for example `orbit hook test claude`"),
        ("hook install foo", "'foo' is not one of 'claude', ", "`orbit hook install --help`"),
        ("hook install claude --scope", "option '--scope' requires an argument", "`orbit hook install --help`"),
        ("list --status acepted", "no record can have the status `acepted`", "one of proposed, unknown, accepted, "),
        ("adr supersede", "missing argument 'OLD'", "for example `orbit adr supersede OLD --with NEW`"),
        ("query ''", "the question is empty", "SELECT id, title FROM records"),
        ("adr new ''", "a decision needs a title", 'orbit adr new "'),
        ("learning new ''", "the summary is empty", 'orbit learning new "'),
        ("build", "no such command 'build'. Did you mean `orbit site build`?", "`orbit --help`"),
        (
            "learning edit",
            "no such command 'edit'. Did you mean `orbit learning update ID`?",
            "`orbit learning --help`",
        ),
        ("hook remove", "no such command 'remove'\n", "`orbit hook --help`"),
        ("search --json x", "no such option '--json'. Did you mean `--format json`?", "`orbit search --help`"),
        ("help adr lst", "`orbit adr` has no command 'lst'", "did you mean list? `orbit help --all` lists all"),
    ],
)
def test_an_error_says_what_to_type(words: str, error: str, hint: str, shell: Shell) -> None:
    code, _, text = shell(*shlex.split(words))
    assert code in (1, 2)
    assert f"error: {error}" in text
    assert hint in text.partition("  hint: ")[2]


def test_a_decision_without_a_text_is_not_accepted(shell: Shell) -> None:
    document = Path(shell.json("adr", "new", "Keep sessions in files")[1]["data"]["document"])
    document.write_text(
        "# 3. Keep sessions in files\n\nDate: 2026-01-01\n\n## Status\n\nProposed\n\n## Context\n", "utf-8"
    )
    code, _, error = shell("adr", "accept", "3")
    assert (code, f"{document} has no text" in error) == (1, True)


def test_an_explanation_names_the_status_and_a_path_without_a_file(shell: Shell) -> None:
    shell("adr", "new", "Keep sessions in files", "--path", "src/**")
    assert "src/**: matches, but is proposed and waits for review\n" in shell("explain", "src/app.py")[1]
    assert "note: there is no file src/nope.py" in shell("explain", "src/nope.py")[2]


def test_a_change_names_the_files_that_it_wrote(shell: Shell) -> None:
    record, document = ".orbit/adrs/ADR-0001/adr.yaml", "docs/adr/0001-use-sqlite.md"
    assert shell("adr", "update", "1", "--tag", "x")[1].splitlines()[1:] == [f"  {record}"]
    assert shell("adr", "update", "1", "--title", "Use files")[1].splitlines()[1:] == [f"  {document}", f"  {record}"]
    files = shell("adr", "supersede", "1", "2")[1].splitlines()[1:]
    assert files == [f"  {document}", f"  {record}", "  .orbit/adrs/ADR-0002/adr.yaml"]
    voted = shell("learning", "vote", shell.learning, "--task", "T-2")[1]
    assert voted.endswith(f"\n  .orbit/learnings/{shell.learning}/votes.jsonl\n")


def test_a_source_file_is_no_decision(shell: Shell) -> None:
    text = shell("import", "src/app.py")[1]
    assert "src/app.py is not a decision: decisions are Markdown files (.md); `orbit import" in text


def test_a_link_that_leads_nowhere_is_named_by_an_import(shell: Shell) -> None:
    Path("docs/adr/0009-gone.md").symlink_to("nowhere.md")
    assert "0009-gone.md: a symbolic link to a file that does not exist; correct" in shell("import", "docs/adr")[1]


def test_a_server_that_cannot_start_is_named_when_it_is_installed(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "can't start" not in shell("mcp", "install", "claude")[2]
    monkeypatch.setitem(sys.modules, "mcp", None)
    assert "can't start yet: install the extra `orbit-registry[mcp]`" in shell("mcp", "install", "cursor")[2]


def test_only_an_accepted_successor_is_named_for_a_verification(shell: Shell) -> None:
    shell("adr", "supersede", "1", "2")
    assert "verify ADR-0002 instead" in shell("verify", "1")[2]
    shell("adr", "retire", "2")
    assert "ADR-0002" not in shell("verify", "1")[2]
