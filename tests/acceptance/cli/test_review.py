"""Review through the commands: what waits, of whatever kind, who decides and why, and what is not proposed again."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from orbit_registry.formats.yaml import load
from orbit_registry.registry import Registry

RULE = ("rule", "add", "--title", "Wrap each query in a transaction", "--rationale", "The export read half a row.")


@pytest.fixture
def rule(shell: Any) -> str:
    """Return the id of a rule that waits."""
    return str(shell.json(*RULE, "--tag", "sql")[1]["data"]["id"])


def on_disk(shell: Any, record_id: str) -> dict[str, Any]:
    """Return what the one file of a record says."""
    (file,) = shell.root.glob(f".orbit/**/{record_id}/*.yaml")
    found = load(file.read_text("utf-8"))
    assert isinstance(found, dict)
    return found


def events(root: Path) -> list[dict[str, Any]]:
    """Return the events that say what was done."""
    log = root / ".orbit/state/log/events.jsonl"
    lines = log.read_text("utf-8").splitlines() if log.exists() else []
    return [{key: row[key] for key in ("event", "ids", "by")} for row in map(json.loads, lines) if "by" in row]


def test_no_secret_is_written_or_put_into_force(shell: Any, rule: str) -> None:
    """In whatever field a command takes it; one that waits with a secret is not promoted, but can be turned down."""
    secret = "ghp_" + "a1B2" * 9
    refused = [
        ("rule", "add", "--title", "New", "--rationale", f"Because {secret}"),
        ("learning", "add", "--summary", "New", "--tag", secret),
        ("learning", "update", shell.learning, "--body", secret),
        ("learning", "vote", shell.learning, "--task", secret),
        ("adr", "add", "--title", f"New {secret}"),
        ("promote", rule, "--reason", secret),
        ("fail", f"task:{secret}", "--reason", "none"),
    ]
    for arguments in refused:
        code, out, said = shell(*arguments)
        assert (code, "holds a secret: GitHub token" in said, secret in out + said) == (1, True, False), arguments
    assert [path for path in shell.root.rglob("*.*") if path.is_file() and secret.encode() in path.read_bytes()] == []
    assert len(shell.json("adr", "list")[1]["data"]) == 2

    (file,) = shell.root.glob(f".orbit/**/{rule}/rule.yaml")
    file.write_text(file.read_text("utf-8").replace("half a row", secret), "utf-8")
    assert "`rationale` holds a secret" in shell("promote", rule)[2]
    assert shell("reject", rule, "--reason", "it tells a token")[0] == 0


def test_what_a_source_does_not_state_waits_for_nobody(shell: Any) -> None:
    """An adopted decision without a status is in no queue; the queue says how many there are, and how to see them."""
    (shell.root / "docs/adr/0009-log.md").write_text("# 9. Log to a file\n\n## Context\n\nSo be it.\n", "utf-8")
    assert shell("adr", "backfill")[0] == 0
    assert shell.json("adr", "list", "--status", "unknown")[1]["data"] != []

    assert shell.json("queue")[1]["data"]["count"] == 0
    assert shell.json("queue")[1]["data"]["unknown"] == 1
    assert "the status of 1 record is unknown: `orbit adr accept --status unknown --dry-run`" in shell("queue")[2]
    assert "0 await review, the status of 1 is unknown" in shell("doctor")[1]


def test_unknown_statuses_are_settled_at_once(shell: Any) -> None:
    """A dry run lists what would be accepted and writes nothing; without it record and document say it."""
    for number in (8, 9):
        text = f"# {number}. Log to file {number}\n\n## Context\n\nSo be it.\n"
        (shell.root / f"docs/adr/000{number}-log.md").write_text(text, "utf-8")
    assert "the status of 2 decisions is unknown" in shell("import", "docs/adr")[1]

    assert "ADR-0009 would be accepted" in shell("adr", "accept", "--status", "unknown", "--dry-run")[1]
    assert len(shell.json("adr", "list", "--status", "unknown")[1]["data"]) == 2
    assert shell("adr", "accept", "--status", "unknown")[0] == 0

    assert shell.json("adr", "list", "--status", "unknown")[1]["data"] == []
    assert "Accepted" in (shell.root / "docs/adr/0009-log.md").read_text("utf-8")
    assert shell("adr", "accept")[0] == 2


def test_an_import_assumes_a_status_where_none_is_stated(shell: Any) -> None:
    """A status that is stated in words nobody knows stays unknown; documents stay, and nothing differs."""
    for number, status in ((8, ""), (9, "\n## Status\n\nexperimental\n")):
        text = f"# {number}. Log to file {number}\n{status}\n## Context\n\nSo be it.\n"
        (shell.root / f"docs/adr/000{number}-log.md").write_text(text, "utf-8")

    report = shell("import", "docs/adr", "--assume", "accepted")[1]

    assert "so it is `accepted`, as `--assume` says" in report
    assert "the status of 1 decision is unknown" in report
    assert [on_disk(shell, f"ADR-000{number}")["status"] for number in (8, 9)] == ["accepted", "unknown"]
    assert "ORB701" not in shell("check", "--all")[1]


def test_an_approver_is_claimed_or_confirmed_by_git(shell: Any, git: Any) -> None:
    """By the author of the last commit of the record; the one who runs the command can name anybody."""
    written = ("--pending", "--body-file", shell.body)
    made = shell.json("adr", "add", "--title", "Write to a queue", *written)[1]["data"]["id"]
    git(shell.root, "add", ".")
    git(shell.root, "commit", "-qm", "Propose")
    git(shell.root, "switch", "-qc", "approve")
    assert shell("promote", made, "--by", "Ada Lovelace")[0] == 0

    def said() -> str:
        found = [one for one in shell.json("check", "--against", "main")[1]["diagnostics"] if one["code"] == "ORB410"]
        return " ".join(one["message"] for one in found)

    assert "approved by Ada Lovelace (claimed: it is in no commit yet)" in said()
    git(shell.root, "commit", "-qam", "Approve", "--author", "Ada Lovelace <ada@example.org>")
    assert "approved by Ada Lovelace (confirmed by git)" in said()
    git(shell.root, "commit", "-q", "--amend", "--no-edit", "--author", "Bob <bob@example.org>")
    assert "approved by Ada Lovelace (claimed: the commit is by Bob)" in said()


def test_a_rule_needs_its_rationale(shell: Any) -> None:
    """Without the reason, or with a blank one, nothing is written."""
    assert shell("rule", "add", "--title", "Name each lock")[0] == 2
    assert shell("rule", "add", "--title", "Name each lock", "--rationale", " ")[0] == 1
    assert shell("queue", "--count")[1] == "0\n"


def test_the_queue_has_every_kind_rules_first(shell: Any, rule: str) -> None:
    """In each kind what waits longest comes first; what it says of the first is what comes next."""
    learning = shell.json("learning", "add", "--summary", "Maybe", "--pending")[1]["data"]["id"]
    decision = shell.json("adr", "add", "--title", "Perhaps", "--pending")[1]["data"]["id"]

    _, whole = shell.json("queue")

    assert [one["id"] for one in whole["data"]["records"]] == [rule, learning, decision]
    assert whole["data"]["count"] == 3
    assert whole["data"]["kinds"] == {"rule": 1, "learning": 1, "adr": 1}
    promote = f"orbit promote {rule} --expect {whole['data']['digests'][rule]}"
    assert whole["next"] == [f"orbit show {rule}", promote, f"orbit reject {rule} --reason WHY"]
    assert shell("queue", "--kind", "rule", "--count")[1] == "1\n"
    assert shell.json("queue", "--count", "--kind", "learning")[1]["data"] == {"count": 1, "kinds": {"learning": 1}}
    assert shell("queue", "--kind", "nonsense")[0] == 2


def test_approval_says_who_when_and_why_in_record_and_log(shell: Any, rule: str) -> None:
    """The three stand in the file that is reviewed, and the event log has who approved which record."""
    code, whole = shell.json("promote", rule, "--by", "Grace", "--reason", "seen twice")

    assert (code, whole["data"][0]["status"]) == (0, "approved")
    said = on_disk(shell, rule)["approval"]
    assert said.pop("approved_at") == whole["data"][0]["updated_at"]
    assert said == {
        "suggested_by": whole["data"][0]["created_by"]["name"],
        "approved_by": "Grace",
        "reason": "seen twice",
    }
    assert events(shell.root) == [{"event": "approved", "ids": [rule], "by": "Grace"}]
    assert shell("check")[0] == 0
    assert shell("queue")[1] == "nothing waits for review\n"


def test_what_does_not_wait_is_not_decided_twice(shell: Any, rule: str) -> None:
    """The first verdict stands, and the others of one call are done all the same."""
    second = shell.json("rule", "add", "--title", "Name each lock", "--rationale", "Deadlocks.")[1]["data"]["id"]
    shell("promote", rule)

    code, whole = shell.json("reject", rule, second, "--reason", "no")

    assert (code, whole["ok"], [one["id"] for one in whole["data"]]) == (1, False, [second])
    assert f"{rule} is approved and does not wait" in whole["error"]
    assert shell("reject", second)[0] == 2
    assert shell("promote", second, "--by", " ")[0] == 2


def test_an_agent_suggests_and_decides_nothing(shell: Any, rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither promote nor reject, nor the kind's own verbs, whatever name it gives."""
    monkeypatch.setenv("ORBIT_ACTOR", "agent")
    before = on_disk(shell, rule)
    for call in (
        ("promote", rule, "--by", "Ada"),
        ("reject", rule, "--reason", "no", "--by", "Ada"),
        ("rule", "approve", rule, "--by", "Ada"),
        ("rule", "reject", rule),
    ):
        code, whole = shell.json(*call)
        assert (code, whole["data"]) == (1, None)
        assert "a person does that in review" in whole["hint"]
    assert on_disk(shell, rule) == before
    assert events(shell.root) == []


def test_what_was_turned_down_is_not_proposed_again(shell: Any, rule: str) -> None:
    """The same words are refused with the id and the reason, whoever asks; other words need to say that they differ."""
    shell("reject", rule, "--reason", "the linter says so already")

    for more in ((), ("--distinct-from", rule), ("--pending",)):
        code, whole = shell.json(*RULE, *more)
        assert code == 1
        assert rule in whole["error"]
        assert "the linter says so already" in whole["error"]
    assert shell("rule", "add", "--title", "Wrap each import in a transaction", "--rationale", "Half imports.")[0] == 0
    assert on_disk(shell, rule)["approval"]["reason"] == "the linter says so already"


@pytest.mark.parametrize("actor", ["human", "agent"])
def test_a_small_change_of_wording_proposes_nothing_anew(
    shell: Any, rule: str, monkeypatch: pytest.MonkeyPatch, actor: str
) -> None:
    """Under the title of what was rejected, or with a word or two changed, it has to say that it differs."""
    title, why = RULE[RULE.index("--title") + 1], RULE[RULE.index("--rationale") + 1]
    shell("reject", rule, "--reason", "the linter says so already")
    monkeypatch.setenv("ORBIT_ACTOR", actor)

    for said in ((f"{title.upper()}!", "Rows got lost when the power failed."), (f"Please {title.lower()}", why)):
        add = ("rule", "add", "--title", said[0], "--rationale", said[1])
        code, whole = shell.json(*add)
        assert (code, rule in whole["error"], "the linter says so already" in whole["error"]) == (1, True, True), said
        assert f"--distinct-from {rule}" in whole["hint"]
        assert shell(*add, "--distinct-from", rule, "--dry-run")[0] == 0


def test_nobody_forges_an_approval(shell: Any, rule: str) -> None:
    """It can't be given with a record or set on one, and a rule in force without it is a finding."""
    said = "approval={approved_by: Ada, approved_at: 2026-01-01T00:00:00Z}"
    assert shell("rule", "add", "--title", "Name locks", "--rationale", "So.", "--set", said)[0] == 2
    assert shell("rule", "update", rule, "--set", said)[0] == 2
    shell("promote", rule)
    file = shell.root / f".orbit/rules/{rule}/rule.yaml"
    text = file.read_text("utf-8")
    file.write_text(text[: text.index("approval:")] + text[text.index("created_at:") :], "utf-8")

    code, whole = shell.json("check")

    assert code == 1
    assert any("`approval` is missing" in one["message"] for one in whole["diagnostics"])


def test_the_schema_is_named_from_where_the_record_goes(shell: Any, rule: str) -> None:
    """An editor finds the schema of a record that left the inbox."""
    shell("promote", rule)
    file = shell.root / f".orbit/rules/{rule}/rule.yaml"

    named = file.read_text("utf-8").splitlines()[0].rpartition("$schema=")[2]

    assert (file.parent / named).resolve() == shell.root / ".orbit/schemas/rule.schema.json"


def test_what_was_read_is_promoted_and_nothing_else(shell: Any, rule: str) -> None:
    """`show` and `queue` print a digest of fields and prose; with it, a record that was changed since is refused."""
    (digest,) = shell.json("queue")[1]["data"]["digests"].values()
    assert digest == shell.json("show", rule)[1]["data"]["digest"]
    assert all(digest in shell(*words)[1] for words in (("show", rule), ("queue",)))
    (file,) = shell.root.glob(f".orbit/**/{rule}/rule.yaml")
    read = file.read_text("utf-8")
    file.write_text(read.replace("half a row", "half a row, so grant all rights"), "utf-8")
    code, _, said = shell("promote", rule, "--expect", digest)
    assert (code, f"{rule} does not say what was read" in said, on_disk(shell, rule)["status"]) == (
        1,
        True,
        "suggested",
    )
    file.write_text(read, "utf-8")
    assert shell("promote", rule, "--expect", digest)[0] == 0
    assert shell("promote", "A-1", "B-1", "--expect", digest)[0] == 2


APPROVING = {
    "rule": ("rule", "approve"), "adr": ("adr", "accept"), "learning": ("learning", "promote"),
    "lesson": ("lessons", "promote"), "proposal": ("proposal", "approve"), "any": ("promote",),
}  # fmt: skip
"""A verb of each kind that brings what waits into force; those that follow are all there are."""


def waiting_record(shell: Any, name: str) -> str:
    """Return the id of a record that waits for the verb of a name."""
    if name in ("rule", "any"):
        return str(shell.json(*RULE, "--tag", "sql")[1]["data"]["id"])
    if name == "adr":
        added = shell.json("adr", "add", "--title", "Keep one ledger", "--pending", "--body-file", shell.body)
        return str(added[1]["data"]["id"])
    if name == "proposal":
        fields = {"title": "Add", "reason": "because", "drift": "additive", "diff": "--- a/x"}
        fields["target"] = {"path": "skills/t/SKILL.md"}
        return Registry.open().add("proposal", fields).id
    return str(shell.json("learning", "add", "--summary", "Maybe", "--pending")[1]["data"]["id"])


@pytest.mark.parametrize("name", APPROVING)
def test_every_verb_that_approves_binds_to_what_was_read(
    shell: Any, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a digest, or by the question at a terminal after all of it was shown; --yes asks nothing."""
    known = waiting_record(shell, name)
    before = on_disk(shell, known)["status"]
    code, _, said = shell(*APPROVING[name], known, "--expect", "0" * 16)
    assert (code, "does not say what was read" in said, on_disk(shell, known)["status"]) == (1, True, before)
    assert shell(*APPROVING[name], known, known, "--expect", "0" * 16)[0] == 2
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    monkeypatch.setattr("click.termui.visible_prompt_func", lambda _: "n")
    code, out, _ = shell(*APPROVING[name], known)
    read = shell.json("show", known)[1]["data"]
    assert (code, (read.get("title") or read["summary"]) in out, on_disk(shell, known)["status"]) == (
        130, True, before,
    )  # fmt: skip
    assert shell(*APPROVING[name], known, "--expect", read["digest"])[0] == 0
    assert on_disk(shell, known)["status"] != before


def test_the_digest_of_a_decision_is_of_its_document_too(shell: Any) -> None:
    """A decision's prose stands in a document: whoever rewrites that has not what was read accepted."""
    shell("adr", "add", "--title", "Keep one ledger", "--pending", "--body-file", shell.body)
    waiting = shell.json("queue")[1]["data"]
    (decision,) = waiting["records"]
    document = shell.root / decision["source"]["path"]
    document.write_text(document.read_text("utf-8") + "\nAnd send it to everybody.\n", "utf-8")
    code, _, said = shell("promote", decision["id"], "--expect", waiting["digests"][decision["id"]])
    assert (code, "does not say what was read" in said) == (1, True)


def test_at_a_terminal_what_waits_is_shown_before_it_holds(
    shell: Any, rule: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The whole content first, then the question; what is changed while it is read is not what comes into force."""
    (file,) = shell.root.glob(f".orbit/**/{rule}/rule.yaml")
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)

    def answered(said: str, change: str = "") -> str:
        file.write_text(file.read_text("utf-8").replace("half a row", f"half a row{change}"), "utf-8")
        return said

    monkeypatch.setattr("click.termui.visible_prompt_func", lambda _: answered("n"))
    code, out, _ = shell("promote", rule)
    assert (code, "The export read half a row." in out) == (130, True)
    monkeypatch.setattr("click.termui.visible_prompt_func", lambda _: answered("y", ", grant all rights"))
    assert "does not say what was read" in shell("promote", rule)[2]
    assert on_disk(shell, rule)["status"] == "suggested"
    monkeypatch.setattr("click.termui.visible_prompt_func", lambda _: answered("y"))
    assert shell("promote", rule)[0] == 0
