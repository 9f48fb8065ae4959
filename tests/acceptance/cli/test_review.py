"""Review of pending records through the commands."""

import base64
import json
import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.files import commit, write, write_record

from orbit_registry.formats.yaml import load
from orbit_registry.registry import Registry

TOKEN = "ghp_" + "a1B2" * 9
DISGUISES = {
    "`ghp\\_`": TOKEN.replace("_", "\\_"),
    "an entity": TOKEN.replace("g", "&#103;", 1),
    "base 64": base64.b64encode(TOKEN.encode()).decode(),
}
RULE = (
    "rule",
    "add",
    "--title",
    "Wrap each query in a transaction",
    "--rationale",
    "The export read half a row.",
)


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
    return [
        {key: row[key] for key in ("event", "ids", "by")}
        for row in map(json.loads, lines)
        if "by" in row
    ]


def calls_with(secret: str, learning: str, rule: str) -> list[tuple[str, ...]]:
    """Return calls that would write a secret, one for each way into a file."""
    return [
        ("rule", "add", "--title", "New", "--rationale", f"Because {secret}"),
        ("learning", "add", "--summary", "New", "--tag", secret),
        ("adr", "add", "--title", f"New {secret}"),
        ("learning", "update", learning, "--body", secret),
        ("learning", "vote", learning, "--task", secret),
        ("promote", rule, "--reason", secret),
        ("fail", f"task:{secret}", "--reason", "none"),
    ]


@pytest.mark.parametrize("disguise", ["`ghp\\_`", "an entity", "base 64"])
def test_no_disguised_secret_is_written(shell: Any, rule: str, disguise: str) -> None:
    """The gate would refuse what a command writes."""
    secret = DISGUISES[disguise]
    for arguments in calls_with(secret, shell.learning, rule):
        code, out, message = shell(*arguments)
        assert (code, secret in out + message) == (1, False), arguments
        assert "disguises a secret: GitHub token" in message, arguments


def test_no_secret_is_written_or_promoted(shell: Any, rule: str) -> None:
    secret = TOKEN
    for arguments in calls_with(secret, shell.learning, rule):
        code, out, message = shell(*arguments)
        assert (code, "holds a secret: GitHub token" in message, secret in out + message) == (
            1,
            True,
            False,
        ), arguments
    assert [
        path
        for path in shell.root.rglob("*.*")
        if path.is_file() and secret.encode() in path.read_bytes()
    ] == []
    assert len(shell.data("adr", "list")) == 2

    (file,) = shell.root.glob(f".orbit/**/{rule}/rule.yaml")
    file.write_text(file.read_text("utf-8").replace("half a row", secret), "utf-8")
    assert "`rationale` holds a secret" in shell("promote", rule)[2]
    assert shell("reject", rule, "--reason", "it tells a token")[0] == 0


@pytest.mark.parametrize(
    ("written", "message"),
    [
        *((text, "disguises a secret: GitHub token") for text in DISGUISES.values()),
        ("half a \u202erow", "`rationale` holds"),
        ("half\u200b a row", "`rationale` holds"),
    ],
)
def test_no_record_that_hides_something_is_promoted(
    shell: Any, rule: str, written: str, message: str
) -> None:
    """A person has edited its file."""
    (file,) = shell.root.glob(f".orbit/**/{rule}/rule.yaml")
    file.write_text(file.read_text("utf-8").replace("half a row", f"'{written}'"), "utf-8")

    code, _, printed = shell("promote", rule)

    assert (code, message in printed) == (1, True), printed
    assert on_disk(shell, rule)["status"] == "suggested"


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
    "rule": ("rule", "approve"),
    "adr": ("adr", "accept"),
    "learning": ("learning", "promote"),
    "lesson": ("lessons", "promote"),
    "proposal": ("proposal", "approve"),
    "any": ("promote",),
}
"""A verb of each kind that brings what waits into force; those that follow are all there are."""


def waiting_record(shell: Any, name: str) -> str:
    if name in ("rule", "any"):
        return str(shell.data(*RULE, "--tag", "sql")["id"])
    if name == "adr":
        added = shell.json(
            "adr", "add", "--title", "Keep one ledger", "--pending", "--body-file", shell.body
        )
        return str(added[1]["data"]["id"])
    if name == "proposal":
        fields = {"title": "Add", "reason": "because", "drift": "additive", "diff": "--- a/x"}
        fields["target"] = {"path": "skills/t/SKILL.md"}
        return Registry.open().add("proposal", fields).id
    return str(shell.data("learning", "add", "--summary", "Maybe", "--pending")["id"])


@pytest.mark.parametrize("name", APPROVING)
def test_every_approving_verb_checks_what_was_read(
    shell: Any, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    record_id = waiting_record(shell, name)
    before = on_disk(shell, record_id)["status"]
    code, _, message = shell(*APPROVING[name], record_id, "--expect", "0" * 16)
    assert (code, "does not say what was read" in message, on_disk(shell, record_id)["status"]) == (
        1,
        True,
        before,
    )
    assert shell(*APPROVING[name], record_id, record_id, "--expect", "0" * 16)[0] == 2
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    monkeypatch.setattr("click.termui.visible_prompt_func", lambda _: "n")
    code, out, _ = shell(*APPROVING[name], record_id)
    read = shell.data("show", record_id)
    assert (
        code,
        (read.get("title") or read["summary"]) in out,
        on_disk(shell, record_id)["status"],
    ) == (
        130,
        True,
        before,
    )
    assert shell(*APPROVING[name], record_id, "--expect", read["digest"])[0] == 0
    assert on_disk(shell, record_id)["status"] != before


def test_the_digest_covers_the_document(shell: Any) -> None:
    shell("adr", "add", "--title", "Keep one ledger", "--pending", "--body-file", shell.body)
    waiting = shell.data("queue")
    (decision,) = waiting["records"]
    document = shell.root / decision["source"]["path"]
    document.write_text(document.read_text("utf-8") + "\nAnd send it to everybody.\n", "utf-8")
    code, _, message = shell(
        "promote", decision["id"], "--expect", waiting["digests"][decision["id"]]
    )
    assert (code, "does not say what was read" in message) == (1, True)


def test_a_record_changed_during_the_question_is_refused(
    shell: Any, rule: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (file,) = shell.root.glob(f".orbit/**/{rule}/rule.yaml")
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)

    def answered(message: str, change: str = "") -> str:
        file.write_text(
            file.read_text("utf-8").replace("half a row", f"half a row{change}"), "utf-8"
        )
        return message

    monkeypatch.setattr("click.termui.visible_prompt_func", lambda _: answered("n"))
    code, out, _ = shell("promote", rule)
    assert (code, "The export read half a row." in out) == (130, True)
    monkeypatch.setattr(
        "click.termui.visible_prompt_func", lambda _: answered("y", ", grant all rights")
    )
    assert "does not say what was read" in shell("promote", rule)[2]
    assert on_disk(shell, rule)["status"] == "suggested"
    monkeypatch.setattr("click.termui.visible_prompt_func", lambda _: answered("y"))
    assert shell("promote", rule)[0] == 0


@pytest.mark.parametrize("name", ["", "unknown", " - "])
def test_nothing_is_accepted_by_an_unknown_person(
    shell: Any, rule: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_AUTHOR_NAME", name)
    code, _, message = shell("accept", rule, "--yes")
    assert code == 1
    assert "git does not know who accepts" in message
    assert "--by" in message
    assert on_disk(shell, rule)["status"] == "suggested"

    shell("accept", rule, "--yes", "--by", "Grace Example")
    assert on_disk(shell, rule)["approval"]["approved_by"] == "Grace Example"


def test_an_accepted_decision_lists_those_on_its_question_as_the_schema_says(shell: Any) -> None:
    texts = (
        ("Keep sessions in Redis", "accepted", "Sessions of customers are keys in Redis."),
        ("Keep sessions of customers in Redis", "proposed", "Sessions are keys in Redis."),
    )
    for number, (title, status, text) in enumerate(texts, 71):
        path = f"docs/design/registry/{number}-sessions.md"
        body = f"## Decision\n\n{text}\n\n## Consequences\n\n- Cost: time.\n"
        write(shell.root, path, f"# {title}\n\n{body}")
        write_record(
            shell.root,
            f".orbit/adrs/ADR-{number:04d}/adr.yaml",
            id=f"ADR-{number:04d}",
            title=title,
            status=status,
            source={"path": path, "format": "plain", "authority": "document"},
        )

    code, answer = shell.json("adr", "accept", "ADR-0072", "--by", "Ada")
    assert code == 0
    assert answer["data"][0]["touches"][0]["id"] == "ADR-0071"


def test_a_condition_that_is_added_waits_for_later_commits(shell: Any) -> None:
    write(shell.root, "src/cluster/a.py", "A = 1\n")
    commit(shell.root, "Add a cluster")
    decision = "ADR-0071"
    path = "docs/design/registry/71-one-machine.md"
    write(shell.root, path, "# Keep one machine\n\n## Decision\n\nOne will do.\n")
    write_record(
        shell.root,
        f".orbit/adrs/{decision}/adr.yaml",
        id=decision,
        title="Keep one machine",
        status="accepted",
        created_at="2020-01-01T00:00:00Z",
        source={"path": path, "format": "plain", "authority": "document"},
    )
    assert shell("adr", "update", decision, "--revisit-when", "path: src/cluster")[0] == 0
    commit(shell.root, "Say when to look at it again")
    assert shell.json("list", "--due")[1]["data"] == []

    write(shell.root, "src/cluster/a.py", "A = 2\n")
    later = (datetime.now(UTC) + timedelta(minutes=1)).isoformat(timespec="seconds")
    subprocess.run(
        ["git", "-c", "user.name=A", "-c", "user.email=a@b.c", "commit", "-qam", "Change it"],
        cwd=shell.root,
        check=True,
        env={**os.environ, "GIT_COMMITTER_DATE": later, "GIT_AUTHOR_DATE": later},
    )
    (row,) = shell.json("list", "--due")[1]["data"]
    assert row["id"] == decision


def test_what_waits_is_not_listed_as_what_may_no_longer_hold(shell: Any) -> None:
    waiting = str(shell.data(*RULE, "--path", "gone/**")["id"])
    live = shell.learn("Look at both sides", "--path", "gone/**")

    review = shell.data("review")
    assert [record["id"] for record in review["waiting"]] == [waiting]
    assert [record["id"] for record in review["stale"]] == [live]
