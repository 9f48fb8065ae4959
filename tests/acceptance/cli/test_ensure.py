"""`orbit ensure`: what a producer says stands once, however often it is said, and is refused entry by entry."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from orbit_registry.model.record import Record
from orbit_registry.registry import Registry
from orbit_registry.retro.ensure import EnsureRequest, ensure


def events(root: Path, *names: str) -> list[dict[str, Any]]:
    """Return the events of some names."""
    lines = (root / ".orbit/state/log/events.jsonl").read_text("utf-8").splitlines()
    return [row for row in map(json.loads, lines) if row["event"] in names]


def test_ensure_inserts_updates_and_leaves_alone(shell: Any) -> None:
    """A change of title, text or status is an update of the same record; the same again is none."""
    said = ["ensure", "learning", "--key", "meeting/7/1", "--title", "Name each lock"]

    def ensured(*more: str) -> tuple[str, str]:
        one = shell.json(*said, *more)[1]["data"]["entries"][0]
        return one["outcome"], one["id"]

    outcome, record_id = ensured("--path", "src/**")
    assert outcome == "inserted"
    assert ensured("--path", "src/**") == ("unchanged", record_id)
    assert ensured("--set", "body=Deadlocks were found by their names.") == ("updated", record_id)
    said[5] = "Name each lock by its owner"
    assert ensured() == ("updated", record_id)
    assert ensured("--status", "retired") == ("updated", record_id)
    assert ensured("--status", "retired") == ("unchanged", record_id)
    record = shell.json("show", record_id)[1]["data"]
    assert (record["status"], record["summary"], record["scope"]) == ("retired", said[5], {"paths": ["src/**"]})


BODY = (
    "### Context\n\nTwo queues lose order.\n\n### Decision\n\nOne queue.\n\n### Consequences\n\n- Cost: it is slower.\n"
)


def test_any_kind_is_ensured_by_its_schema(shell: Any) -> None:
    """A decision comes with its document, a failure with its target; what the schema refuses is refused."""
    lines = [
        {"kind": "adr", "key": "meeting/7/2", "title": "Use one queue", "status": "accepted", "body": BODY},
        {"kind": "rule", "key": "meeting/7/3", "title": "Name each lock", "rationale": "Deadlocks."},
        {
            "kind": "failure",
            "key": "pitch/4",
            "title": "S-9",
            "target": {"type": "story", "id": "S-9"},
            "reason": "No.",
        },
        {"kind": "rule", "key": "meeting/7/4", "title": "Without its rationale"},
        {"kind": "nothing", "key": "meeting/7/5"},
        {"kind": "rule", "key": "a key", "title": "x", "rationale": "y"},
        {"kind": "learning", "key": "meeting/7/6", "summary": "x", "uid": "0" * 32},
    ]
    file = shell.root / "found.jsonl"
    file.write_text("\n".join([*map(json.dumps, lines), "{torn", ""]), "utf-8")

    code, whole = shell.json("ensure", "--batch", str(file))

    assert code == 1
    assert [one["outcome"] for one in whole["data"]["entries"]] == ["inserted"] * 3 + ["refused"] * 4
    assert whole["data"]["faults"] == ["line 8 holds no entry"]
    assert [one["line"] for one in whole["data"]["entries"]] == [1, 2, 3, 4, 5, 6, 7]
    assert "\nline 4: meeting/7/4 refused" in shell("ensure", "--batch", str(file), "--dry-run")[1]
    adr = shell.json("show", whole["data"]["entries"][0]["id"])[1]["data"]
    assert (adr["status"], adr["key"]) == ("accepted", "meeting/7/2")
    _, again = shell.json("ensure", "--batch", str(file))
    assert [one["outcome"] for one in again["data"]["entries"]] == ["unchanged"] * 3 + ["refused"] * 4
    lines[0]["title"] = "Use two queues"
    file.write_text(json.dumps(lines[0]), "utf-8")
    assert shell.json("ensure", "--batch", str(file))[1]["data"]["entries"][0]["outcome"] == "updated"
    assert "Use two queues" in (shell.root / adr["source"]["path"]).read_text("utf-8")
    assert [row["inserted"] for row in events(shell.root, "ensured")] == [3, 0]


def test_a_decision_that_is_refused_is_not_said_to_be_inserted(shell: Any) -> None:
    """What its document can't hold is known only as it is written, and so is that a batch says it twice."""
    lines = [
        {"kind": "adr", "key": "meeting/7/2", "title": "Use one queue"},
        {"kind": "adr", "key": "meeting/7/2", "title": "Use two queues"},
        {"kind": "adr", "key": "meeting/7/3", "title": "Use no queue", "date": "yesterday"},
    ]
    file = shell.root / "found.jsonl"
    file.write_text("\n".join(map(json.dumps, lines)), "utf-8")

    code, whole = shell.json("ensure", "--batch", str(file))

    assert (code, [one["outcome"] for one in whole["data"]["entries"]]) == (1, ["inserted", "refused", "refused"])
    assert whole["data"]["entries"][1]["why"] == "meeting/7/2 is said twice in one batch; say each once"
    titles = [one["title"] for one in shell.json("adr", "list")[1]["data"]]
    assert [title for title in titles if "queue" in title] == ["Use one queue"]


def test_a_decision_that_another_process_says_meanwhile_stands_once(shell: Any) -> None:
    """Decisions are written one by one after all records were looked at, and another process may write between."""
    registry = Registry.open(shell.root)
    author, workspace = registry.author(), registry.workspace
    learning = EnsureRequest("learning", "meeting/7/1", {"summary": "Name each lock"})
    decision = EnsureRequest("adr", "meeting/7/2", {"title": "Use one queue"})
    said = ensure(workspace, [learning, decision], author)
    assert said[1].record is not None
    folder, known = workspace.root / said[1].record.folder, said[1].record.id
    away = folder.rename(shell.root / "away")

    def meanwhile(_: Record) -> EnsureRequest:
        away.rename(folder)
        return learning

    again = ensure(workspace, [replace(learning, join=meanwhile), decision], author)

    assert [(one.outcome, one.reason) for one in again] == [
        ("unchanged", ""),
        ("refused", f"{known} says meeting/7/2 since just now; `orbit show {known}`"),
    ]
    assert [one.id for one in registry.collection.records if one.text("key") == "meeting/7/2"] == [known]


def test_an_agent_ensures_only_what_waits(shell: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """New records wait, its own waiting ones follow it, and what a person brought into force it does not change."""
    monkeypatch.setenv("ORBIT_ACTOR", "agent")
    said = ["ensure", "learning", "--key", "d/1"]
    made = shell.json(*said, "--title", "Name each lock")[1]["data"]["entries"][0]
    assert shell.json("show", made["id"])[1]["data"]["phase"] == "pending"
    assert shell.json(*said, "--title", "Name every lock")[1]["data"]["entries"][0]["outcome"] == "updated"
    monkeypatch.setenv("ORBIT_ACTOR", "human")
    shell("promote", made["id"])
    monkeypatch.setenv("ORBIT_ACTOR", "agent")
    code, whole = shell.json(*said, "--title", "Name no lock")
    assert (code, whole["data"]["entries"][0]["outcome"]) == (1, "refused")
    assert "may not change it" in whole["data"]["entries"][0]["why"]
    assert shell.json(*said, "--title", "Name every lock")[1]["data"]["entries"][0]["outcome"] == "unchanged"


def test_what_was_rejected_is_not_said_again(shell: Any) -> None:
    """Not under its key, and not word for word under another."""
    made = shell.json("ensure", "learning", "--key", "d/1", "--title", "Name each lock", "--pending")[1]["data"]
    record_id = made["entries"][0]["id"]
    shell("reject", record_id, "--reason", "the linter says so", "--by", "Ada")
    for key, title in (("d/1", "Name every lock"), ("d/2", "name each LOCK.")):
        one = shell.json("ensure", "learning", "--key", key, "--title", title)[1]["data"]["entries"][0]
        assert (one["outcome"], one["id"]) == ("unchanged", record_id)
        assert "Ada" in one["why"]


def test_a_broken_index_never_fails_a_producer(shell: Any) -> None:
    """Garbage in every file of the cache, or a file in its place: the records are written all the same."""
    shell("sync")
    cache = shell.root / ".orbit/state/cache"
    for file in cache.rglob("*"):
        if file.is_file():
            file.write_bytes(b"\x00garbage")
    assert shell("ensure", "learning", "--key", "d/1", "--title", "Name each lock")[0] == 0
    for file in sorted(cache.rglob("*"), reverse=True):
        file.rmdir() if file.is_dir() else file.unlink()
    cache.rmdir()
    cache.write_text("no folder", "utf-8")
    assert shell("ensure", "learning", "--key", "d/2", "--title", "Close what you open")[0] == 0
    assert shell("retro", "--loop", "L-1", "--worked", "A plan of one page was read by all")[0] == 0


def test_a_batch_says_nothing_twice(shell: Any) -> None:
    """The same words under two keys are one record, nearly the same words as a record's are that record, and the same
    key in two lines is refused the second time.
    """
    for number in range(20):
        shell("learning", "add", "--summary", f"Topic {number} wants word{number} and term{number}", "--yes")
    known = shell.json("learning", "add", "--summary", "Close each file of the upload before the next one")[1]["data"]
    lines = [
        {"key": "a", "summary": "Name each lock"}, {"key": "b", "summary": "name each LOCK"},
        {"key": "a", "summary": "Name every lock"},
        {"key": "c", "summary": "Close each file of the upload before the next"},
    ]  # fmt: skip
    file = shell.root / "found.jsonl"
    file.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    found = shell.json("ensure", "learning", "--batch", str(file), "--pending")[1]["data"]["entries"]
    assert [one["outcome"] for one in found] == ["inserted", "unchanged", "refused", "unchanged"]
    assert (found[1]["id"], found[3]["id"]) == (found[0]["id"], known["id"])


def test_a_line_that_no_file_can_hold_is_refused_alone(shell: Any) -> None:
    """A number of many digits, one without end and half of a character leave the other lines as they are; a secret
    in a key is not said again.
    """
    bad = ("9" * 25, "1e999", '"\\ud800"', "9" * 4000)
    lines = [f'{{"key": "k{at}", "summary": "Name lock number {at}", "x-n": {one}}}' for at, one in enumerate(bad)]
    file = shell.root / "found.jsonl"
    file.write_text("\n".join([*lines, '{"key": "good", "summary": "Name each lock"}']), "utf-8")
    found = shell.json("ensure", "learning", "--batch", str(file))[1]["data"]["entries"]
    outcomes = [one["outcome"] for one in found]
    assert (outcomes[:3], outcomes[-1]) == (["refused", "refused", "refused"], "inserted")
    assert "a1B2" not in shell("ensure", "learning", "--key", "ghp_" + "a1B2" * 9, "--title", "Name it")[2]


def test_a_dry_run_says_what_would_come_of_each_entry(shell: Any) -> None:
    """An update, another status, a decision and a refusal are told as they would be, and nothing is written."""
    made = shell.json("ensure", "learning", "--key", "d/1", "--title", "Name each lock")[1]["data"]["entries"][0]
    log = shell.root / ".orbit/state/log/events.jsonl"
    before = (log.read_text("utf-8"), (shell.root / made["path"]).read_text("utf-8"))
    lines = [
        {"kind": "learning", "key": "d/1", "summary": "Name every lock"},
        {"kind": "learning", "key": "d/1", "summary": "Name each lock", "status": "retired"},
        {"kind": "adr", "key": "d/2", "title": "Use one queue"}, {"kind": "rule", "key": "d/3", "title": "Why not"},
    ]  # fmt: skip
    outcomes = []
    for line in lines:
        batch = shell.root / "one.jsonl"
        batch.write_text(json.dumps(line), "utf-8")
        outcomes.append(shell.json("ensure", "--batch", str(batch), "--dry-run")[1]["data"]["entries"][0]["outcome"])
    assert outcomes == ["updated", "updated", "inserted", "refused"]
    held = (log.read_text("utf-8"), (shell.root / made["path"]).read_text("utf-8"))
    assert held == before
    assert len(shell.json("adr", "list")[1]["data"]) == 2


def test_a_title_is_the_headline_of_any_kind(shell: Any) -> None:
    """A list and a batch call it alike; a learning's file calls it `summary`."""
    (shell.root / "found.jsonl").write_text(
        json.dumps({"key": "k/1", "title": "Name each lock", "scope": {"tags": ["x"]}})
    )
    (entry,) = shell.json("ensure", "learning", "--batch", "found.jsonl")[1]["data"]["entries"]
    (listed,) = shell.json("learning", "list", "--tag", "x")[1]["data"]
    assert (entry["outcome"], listed["title"], listed["summary"]) == ("inserted", "Name each lock", "Name each lock")
