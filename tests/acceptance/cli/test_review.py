"""Review of pending records through the commands."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.files import commit

from orbit_registry.formats.yaml import load
from orbit_registry.registry import Registry

RULE = ("rule", "add", "--title", "Wrap each query in a transaction", "--rationale", "The export read half a row.")


@pytest.fixture
def rule(shell: Any) -> str:
    return str(shell.data(*RULE, "--tag", "sql")["id"])


def on_disk(shell: Any, record_id: str) -> dict[str, Any]:
    (file,) = shell.root.glob(f".orbit/**/{record_id}/*.yaml")
    result = load(file.read_text("utf-8"))
    assert isinstance(result, dict)
    return result


def events(root: Path) -> list[dict[str, Any]]:
    log = root / ".orbit/state/log/events.jsonl"
    lines = log.read_text("utf-8").splitlines() if log.exists() else []
    return [{key: row[key] for key in ("event", "ids", "by")} for row in map(json.loads, lines) if "by" in row]


def test_no_secret_is_written_or_promoted(shell: Any, rule: str) -> None:
    secret = "ghp_" + "a1B2" * 9
    refused = [
        ("rule", "add", "--title", "New", "--rationale", f"Because {secret}"),
        ("learning", "add", "--summary", "New", "--tag", secret), ("adr", "add", "--title", f"New {secret}"),
        ("learning", "update", shell.learning, "--body", secret),
        ("learning", "vote", shell.learning, "--task", secret), ("promote", rule, "--reason", secret),
        ("fail", f"task:{secret}", "--reason", "none"),
    ]  # fmt: skip
    for arguments in refused:
        code, out, message = shell(*arguments)
        assert (code, "holds a secret: GitHub token" in message, secret in out + message) == (1, True, False), arguments
    assert [path for path in shell.root.rglob("*.*") if path.is_file() and secret.encode() in path.read_bytes()] == []
    assert len(shell.data("adr", "list")) == 2

    (file,) = shell.root.glob(f".orbit/**/{rule}/rule.yaml")
    file.write_text(file.read_text("utf-8").replace("half a row", secret), "utf-8")
    assert "`rationale` holds a secret" in shell("promote", rule)[2]
    assert shell("reject", rule, "--reason", "it tells a token")[0] == 0


def test_unknown_statuses_are_accepted_together(shell: Any) -> None:
    for number in (8, 9):
        text = f"# {number}. Log to file {number}\n\n## Context\n\nSo be it.\n"
        (shell.root / f"docs/adr/000{number}-log.md").write_text(text, "utf-8")
    assert "no status stated for 2 decisions" in shell("import", "docs/adr")[1]

    assert [shell.data("queue")[name] for name in ("count", "unknown")] == [0, 2]
    assert "ADR-0009 would be accepted" in shell("adr", "accept", "--status", "unknown", "--dry-run")[1]
    assert len(shell.data("adr", "list", "--status", "unknown")) == 2
    assert shell("adr", "accept", "--status", "unknown")[0] == 0

    assert shell.data("adr", "list", "--status", "unknown") == []
    assert "Accepted" in (shell.root / "docs/adr/0009-log.md").read_text("utf-8")
    assert shell("adr", "accept")[0] == 2


def test_an_import_can_assume_a_status(shell: Any) -> None:
    for number, status in ((8, ""), (9, "\n## Status\n\nexperimental\n")):
        text = f"# {number}. Log to file {number}\n{status}\n## Context\n\nSo be it.\n"
        (shell.root / f"docs/adr/000{number}-log.md").write_text(text, "utf-8")

    report = shell("import", "docs/adr", "--assume", "accepted")[1]

    assert "so it is `accepted`, as `--assume` says" in report
    assert "no status stated for 1 decision" in report
    assert [on_disk(shell, f"ADR-000{number}")["status"] for number in (8, 9)] == ["accepted", "unknown"]
    assert "ORB701" not in shell("check", "--all")[1]


def test_git_confirms_an_approver(shell: Any, git: Any) -> None:
    options = ("--pending", "--body-file", shell.body)
    created = shell.data("adr", "add", "--title", "Write to a queue", *options)["id"]
    commit(shell.root, "Propose")
    git(shell.root, "switch", "-qc", "approve")
    assert shell("promote", created, "--by", "Ada Lovelace")[0] == 0

    def finding() -> str:
        diagnostics = shell.json("check", "--against", "main")[1]["diagnostics"]
        return " ".join(entry["message"] for entry in diagnostics if entry["code"] == "ORB410")

    assert "approved by Ada Lovelace (claimed: it is in no commit yet)" in finding()
    git(shell.root, "commit", "-qam", "Approve", "--author", "Ada Lovelace <ada@example.org>")
    assert "approved by Ada Lovelace (confirmed by git)" in finding()
    git(shell.root, "commit", "-q", "--amend", "--no-edit", "--author", "Bob <bob@example.org>")
    assert "approved by Ada Lovelace (claimed: the commit is by Bob)" in finding()


def test_the_queue_is_ordered_by_kind_and_age(shell: Any, rule: str) -> None:
    learning = shell.data("learning", "add", "--summary", "Maybe", "--pending")["id"]
    decision = shell.data("adr", "add", "--title", "Perhaps", "--pending")["id"]

    _, envelope = shell.json("queue")

    assert [entry["id"] for entry in envelope["data"]["records"]] == [rule, learning, decision]
    assert envelope["data"]["count"] == 3
    assert envelope["data"]["kinds"] == {"rule": 1, "learning": 1, "adr": 1}
    promote = f"orbit accept {rule} --expect {envelope['data']['digests'][rule]}"
    assert envelope["next"] == [f"orbit show {rule}", promote, f"orbit reject {rule} --reason WHY"]
    assert shell("queue", "--kind", "rule", "--count")[1] == "1\n"
    assert shell.data("queue", "--count", "--kind", "learning") == {"count": 1, "kinds": {"learning": 1}}
    assert shell("queue", "--kind", "nonsense")[0] == 2


def test_a_record_is_decided_once(shell: Any, rule: str) -> None:
    second = shell.data("rule", "add", "--title", "Name each lock", "--rationale", "Deadlocks.")["id"]
    shell("promote", rule)

    code, envelope = shell.json("reject", rule, second, "--reason", "no")

    assert (code, envelope["ok"], [entry["id"] for entry in envelope["data"]]) == (1, False, [second])
    assert f"{rule} is approved and does not wait" in envelope["error"]
    assert shell("promote", second, "--by", " ")[0] == 2


@pytest.mark.parametrize("command", [["reject"], ["rule", "reject"]])
def test_a_rejection_needs_a_reason(shell: Any, rule: str, command: list[str]) -> None:
    assert "a rejection needs a reason" in shell(*command, rule)[2]


def test_an_agent_decides_nothing(shell: Any, rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ORBIT_ACTOR", "agent")
    before = on_disk(shell, rule)
    for call in (
        ("promote", rule, "--by", "Ada"), ("reject", rule, "--reason", "no", "--by", "Ada"),
        ("rule", "approve", rule, "--by", "Ada"), ("rule", "reject", rule, "--reason", "no"),
    ):  # fmt: skip
        code, envelope = shell.json(*call)
        assert (code, envelope["data"]) == (1, None)
        assert "a person does that in review" in envelope["hint"]
    assert on_disk(shell, rule) == before
    assert events(shell.root) == []


def test_a_rejected_record_is_not_added_again(shell: Any, rule: str) -> None:
    shell("reject", rule, "--reason", "the linter says so already")

    for more in ((), ("--distinct-from", rule), ("--pending",)):
        code, envelope = shell.json(*RULE, *more)
        assert code == 1
        assert rule in envelope["error"]
        assert "the linter says so already" in envelope["error"]
    assert shell("rule", "add", "--title", "Wrap each import in a transaction", "--rationale", "Half imports.")[0] == 0
    assert on_disk(shell, rule)["approval"]["reason"] == "the linter says so already"


def test_a_rejected_record_in_similar_words_is_refused(shell: Any, rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    title, reason = RULE[RULE.index("--title") + 1], RULE[RULE.index("--rationale") + 1]
    shell("reject", rule, "--reason", "the linter says so already")
    monkeypatch.setenv("ORBIT_ACTOR", "agent")

    for message in ((f"{title.upper()}!", "Rows got lost when the power failed."), (f"Please {title.lower()}", reason)):
        add = ("rule", "add", "--title", message[0], "--rationale", message[1])
        code, envelope = shell.json(*add)
        assert code == 1, message
        assert rule in envelope["error"]
        assert "the linter says so already" in envelope["error"]
        assert f"--distinct-from {rule}" in envelope["hint"]
        assert shell(*add, "--distinct-from", rule, "--dry-run")[0] == 0


def test_an_approval_cannot_be_forged(shell: Any, rule: str) -> None:
    message = "approval={approved_by: Ada, approved_at: 2026-01-01T00:00:00Z}"
    assert shell("rule", "add", "--title", "Name locks", "--rationale", "So.", "--set", message)[0] == 2
    assert shell("rule", "update", rule, "--set", message)[0] == 2
    shell("promote", rule)
    file = shell.root / f".orbit/rules/{rule}/rule.yaml"
    text = file.read_text("utf-8")
    file.write_text(text[: text.index("approval:")] + text[text.index("created_at:") :], "utf-8")

    code, envelope = shell.json("check")

    assert code == 1
    assert any("`approval` is missing" in entry["message"] for entry in envelope["diagnostics"])


def test_only_what_was_read_is_promoted(shell: Any, rule: str) -> None:
    (digest,) = shell.data("queue")["digests"].values()
    assert digest == shell.data("show", rule)["digest"]
    assert all(digest in shell(*words)[1] for words in (("show", rule), ("queue",)))
    (file,) = shell.root.glob(f".orbit/**/{rule}/rule.yaml")
    read = file.read_text("utf-8")
    file.write_text(read.replace("half a row", "half a row, so grant all rights"), "utf-8")
    code, _, message = shell("promote", rule, "--expect", digest)
    assert (code, f"{rule} does not say what was read" in message) == (1, True)
    assert on_disk(shell, rule)["status"] == "suggested"
    file.write_text(read, "utf-8")
    assert shell("promote", rule, "--expect", digest)[0] == 0
    assert shell("promote", "A-1", "B-1", "--expect", digest)[0] == 2


APPROVING = {
    "rule": ("rule", "approve"), "adr": ("adr", "accept"), "learning": ("learning", "promote"),
    "lesson": ("lessons", "promote"), "proposal": ("proposal", "approve"), "any": ("promote",),
}  # fmt: skip
"""A verb of each kind that brings what waits into force; those that follow are all there are."""


def waiting_record(shell: Any, name: str) -> str:
    if name in ("rule", "any"):
        return str(shell.data(*RULE, "--tag", "sql")["id"])
    if name == "adr":
        added = shell.json("adr", "add", "--title", "Keep one ledger", "--pending", "--body-file", shell.body)
        return str(added[1]["data"]["id"])
    if name == "proposal":
        fields = {"title": "Add", "reason": "because", "drift": "additive", "diff": "--- a/x"}
        fields["target"] = {"path": "skills/t/SKILL.md"}
        return Registry.open().add("proposal", fields).id
    return str(shell.data("learning", "add", "--summary", "Maybe", "--pending")["id"])


@pytest.mark.parametrize("name", APPROVING)
def test_every_approving_verb_checks_what_was_read(shell: Any, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    record_id = waiting_record(shell, name)
    before = on_disk(shell, record_id)["status"]
    code, _, message = shell(*APPROVING[name], record_id, "--expect", "0" * 16)
    assert (code, "does not say what was read" in message, on_disk(shell, record_id)["status"]) == (1, True, before)
    assert shell(*APPROVING[name], record_id, record_id, "--expect", "0" * 16)[0] == 2
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    monkeypatch.setattr("click.termui.visible_prompt_func", lambda _: "n")
    code, out, _ = shell(*APPROVING[name], record_id)
    read = shell.data("show", record_id)
    assert (code, (read.get("title") or read["summary"]) in out, on_disk(shell, record_id)["status"]) == (
        130, True, before,
    )  # fmt: skip
    assert shell(*APPROVING[name], record_id, "--expect", read["digest"])[0] == 0
    assert on_disk(shell, record_id)["status"] != before


def test_the_digest_covers_the_document(shell: Any) -> None:
    shell("adr", "add", "--title", "Keep one ledger", "--pending", "--body-file", shell.body)
    waiting = shell.data("queue")
    (decision,) = waiting["records"]
    document = shell.root / decision["source"]["path"]
    document.write_text(document.read_text("utf-8") + "\nAnd send it to everybody.\n", "utf-8")
    code, _, message = shell("promote", decision["id"], "--expect", waiting["digests"][decision["id"]])
    assert (code, "does not say what was read" in message) == (1, True)


def test_a_record_changed_during_the_question_is_refused(
    shell: Any, rule: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (file,) = shell.root.glob(f".orbit/**/{rule}/rule.yaml")
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)

    def answered(message: str, change: str = "") -> str:
        file.write_text(file.read_text("utf-8").replace("half a row", f"half a row{change}"), "utf-8")
        return message

    monkeypatch.setattr("click.termui.visible_prompt_func", lambda _: answered("n"))
    code, out, _ = shell("promote", rule)
    assert (code, "The export read half a row." in out) == (130, True)
    monkeypatch.setattr("click.termui.visible_prompt_func", lambda _: answered("y", ", grant all rights"))
    assert "does not say what was read" in shell("promote", rule)[2]
    assert on_disk(shell, rule)["status"] == "suggested"
    monkeypatch.setattr("click.termui.visible_prompt_func", lambda _: answered("y"))
    assert shell("promote", rule)[0] == 0


@pytest.mark.parametrize("words", [["reject"], ["adr", "reject"]])
def test_a_verdict_names_both_files_and_a_second_one_changes_nothing(shell: Any, words: list[str]) -> None:
    document = shell.json("adr", "new", "Keep sessions in files", "--status", "proposed")[1]["data"]["document"]
    code, text, _ = shell(*words, "ADR-0003", "--reason", "too slow")
    assert (code, text.split()[-2:]) == (0, [document, ".orbit/adrs/ADR-0003/adr.yaml"])
    written = Path(document).read_text("utf-8"), Path(".orbit/adrs/ADR-0003/adr.yaml").read_text("utf-8")
    code, text, _ = shell(*words, "ADR-0003", "--reason", "no disk")
    assert (code, text) == (0, "ADR-0003 is already rejected  Keep sessions in files\n")
    assert written == (Path(document).read_text("utf-8"), Path(".orbit/adrs/ADR-0003/adr.yaml").read_text("utf-8"))
