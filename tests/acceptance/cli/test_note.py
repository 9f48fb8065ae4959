"""`orbit note`."""

import json
import shlex
from pathlib import Path
from typing import Any

import pytest
from tests.files import events

from orbit_registry.hook.events import Event, append

TEXT = "Uploads fail without a retry key"


@pytest.mark.parametrize("more", [("--attempts", "1"), (), ("--skip-reason", "routine-heartbeat")])
def test_a_first_success_suggests_nothing(shell: Any, more: tuple[str, ...]) -> None:
    assert shell("note", TEXT, *more) == (0, "", "")

    (event,) = events(shell.root, "noted")
    assert (event["attempts"], event["skip_reason"]) == (1, more[1] if "--skip-reason" in more else None)
    assert "Uploads" not in json.dumps(event)
    envelope = shell.json("note", TEXT, *more)[1]
    assert (envelope["data"]["asks"], envelope["next"]) == ([], [])


@pytest.mark.parametrize("more", [("--attempts", "3"), ("--errors",)])
def test_attempts_and_errors_suggest_records(shell: Any, more: tuple[str, ...]) -> None:
    envelope = shell.json("note", TEXT, *more, "--path", "src/**", "--task", "T-7")[1]
    asks = envelope["data"]["asks"]
    assert [ask["kind"] for ask in asks][::2] == ["learning", "rule"]
    assert "script" in asks[1]["why"]
    assert envelope["next"] == [ask["command"] for ask in asks]
    text = shell("note", TEXT, *more)[1]
    assert text.index("learning:") < text.index("a script that shows") < text.index("rule:")
    assert events(shell.root, "noted")[-1]["asked"] == [ask["kind"] for ask in asks]

    assert shell(*shlex.split(asks[0]["command"])[1:], "--yes")[0] == 0
    assert shell(*shlex.split(asks[2]["command"])[1:])[0] == 0

    again = shell.json("note", TEXT, *more, "--path", "src/**", "--task", "T-7")[1]
    assert again["data"]["known"][0]["title"] == TEXT
    assert shlex.split(again["next"][0])[1:3] == ["learning", "vote"]
    assert shell(*shlex.split(again["next"][0])[1:])[0] == 0


def test_only_missing_records_are_suggested(shell: Any) -> None:
    output = ("note", TEXT, "--attempts", "2")
    record_id = shell.data("learning", "add", "--summary", TEXT)["id"]
    assert [ask["kind"] for ask in shell.data(*output)["asks"]] == ["learning", "resource", "rule"]

    Path("check.sh").write_text("#!/bin/sh\ntrue\n", "utf-8")
    script = shell.data("import", "script", "check.sh")["id"]
    assert shell("link", script, "proves", record_id)[0] == 0
    assert [ask["kind"] for ask in shell.data(*output)["asks"]] == ["learning", "rule"]
    rule = shell.data("rule", "add", "--title", "Send a retry key", "--rationale", "They doubled.")["id"]
    assert shell("link", record_id, "related_to", rule)[0] == 0

    (only,) = shell.data(*output)["asks"]
    assert only["command"].startswith(f"orbit learning vote {record_id} ")
    assert only["why"] == f"{record_id} says it already, with {rule} and {script}: strengthen it"
    assert shell("reject", rule, "--reason", "the client does so")[0] == 0
    assert [ask["kind"] for ask in shell.data(*output)["asks"]] == ["learning", "rule"]


def test_a_total_failure_is_recorded_once(shell: Any) -> None:
    first = shell.json("note", TEXT, "--failed", "--attempts", "4", "--task", "T-7")[1]

    record = first["data"]["unsolved"]
    assert (record["summary"], record["labels"]) == (TEXT, ["unsolved", "needs-help"])
    assert (record["confidence"], record["basis"]) == ("low", "observed")
    assert "Tried 4 times, not solved." in record["body"]
    assert record["evidence"] == [{"kind": "task", "reference": "T-7"}]
    assert (first["data"]["asks"], first["next"]) == ([], [f"orbit show {record['id']}"])
    failure = shell.data("show", first["data"]["failure"]["id"])
    assert (failure["title"], failure["attempts"]) == (f"task:T-7 failed: {TEXT}", 4)
    assert shell("fail", "--check", "task:T-7")[0] == 1
    again = shell.json("note", TEXT, "--failed", "--attempts", "4", "--task", "T-7")[1]
    assert again["data"]["unsolved"]["id"] == record["id"]
    assert [event["ids"] for event in events(shell.root, "noted")] == [[record["id"]], [record["id"]]]
    assert shell("check")[0] == 0


@pytest.mark.parametrize(
    "arguments",
    [[], ["--turn", "3"], [TEXT, "--turn", "a:b"], ["--heartbeat", "--attempts", "2"], [" ", "--errors"],
     [TEXT, "--attempts", "0"], [TEXT, "--skip-reason", "bored"],
     [TEXT, "--errors", "--skip-reason", "duplicate-signal"]],
)  # fmt: skip
def test_a_contradictory_note_is_refused(shell: Any, arguments: list[str]) -> None:
    assert shell("note", *arguments)[0] == 2
    assert events(shell.root, "noted") == []


@pytest.mark.parametrize(("arguments", "reason"), [
    ((TEXT, "--tools", "2"), None), (("ok", "--tools", "2"), None), (("ok",), None),
    (("ok", "--tools", "0"), "no-new-information"),
    ((TEXT + ", and here is what to do about it", "--tools", "0"), None), ((TEXT, "--heartbeat"), "routine-heartbeat"),
    (("--heartbeat",), "routine-heartbeat"),
    (("  Known   ALREADY, long enough to tell something else of ",), "duplicate-signal"),
    (("--skip-reason", "duplicate-signal"), "duplicate-signal"),
])  # fmt: skip
def test_a_turn_without_news_has_a_skip_reason(shell: Any, arguments: tuple[str, ...], reason: str | None) -> None:
    shell("note", "known already, long enough to tell something else of", "--turn", "1")
    assert shell.data("note", *arguments, "--turn", "2")["skip_reason"] == reason
    assert events(shell.root, "noted")[-1]["skip_reason"] == reason


def test_a_turn_has_one_id(shell: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ORBIT_SESSION_ID", "s:1")
    first = shell.data("note", TEXT, "--turn", "12", "--tools", "1", "--evidence", " a.log, b ,a.log,")
    again = shell.data("note", TEXT.upper(), "--turn", "12")
    assert (first["turn"], again["turn"], again["skip_reason"]) == ("note:-:cli:s-1:12", "note:-:cli:s-1:12", None)
    assert first["evidence"] == events(shell.root, "noted")[0]["evidence"] == ["a.log", "b"]
    assert shell.data("note", TEXT, "--turn", "hook:claude:Stop:s-1:7")["turn"] == "hook:claude:Stop:s-1:7"


def test_a_note_clears_the_finding_of_the_gate(shell: Any) -> None:
    for name in ("retrieval", "stop"):
        event = Event("hook:Stop", 1_790_000_000)
        event.name, event.session, event.agent, event.hits = name, "s-1", "claude", ["ADR-0001"]
        append(str(shell.root), event)
    code, envelope = shell.json("check", "--loop")
    (finding,) = envelope["diagnostics"]
    assert (code, finding["code"], finding["line"]) == (1, "ORB920", 2)
    turn = finding["hint"].split("--turn ")[1].split(",")[0]
    assert shell("note", "--skip-reason", "no-new-information", "--turn", turn)[0] == 0
    assert shell("check", "--loop")[:2] == (0, "3 events checked: nothing found\n")
    assert shell("check", "--loop", "--fix")[0] == shell("check", "--since", "2")[0] == 2
    code, out, _ = shell("check", "--events", "missing.jsonl", "--format", "github")
    assert (code, out.startswith("::error file=missing.jsonl")) == (1, True)
    assert shell("check", "--loop", "--since", "1")[:2] == (0, "1 event checked: nothing found\n")
