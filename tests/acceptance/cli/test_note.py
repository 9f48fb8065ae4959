"""A note of a turn clears what the gate found of it."""

from typing import Any

from orbit_registry.hook.events import Event, append


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
