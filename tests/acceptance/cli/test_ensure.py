"""`orbit ensure`."""

import json
from dataclasses import replace
from typing import Any

import pytest
from tests.files import events

from orbit_registry.model.record import Record
from orbit_registry.registry import Registry
from orbit_registry.retro.ensure import EnsureRequest, ensure


def test_ensure_inserts_updates_or_skips(shell: Any) -> None:
    message = ["ensure", "learning", "--key", "meeting/7/1", "--title", "Name each lock"]

    def ensured(*more: str) -> tuple[str, str]:
        entry = shell.data(*message, *more)["entries"][0]
        return entry["outcome"], entry["id"]

    outcome, record_id = ensured("--path", "src/**")
    assert outcome == "inserted"
    assert ensured("--path", "src/**") == ("unchanged", record_id)
    assert ensured("--set", "body=Deadlocks were found by their names.") == ("updated", record_id)
    message[5] = "Name each lock by its owner"
    assert ensured() == ("updated", record_id)
    assert ensured("--status", "retired") == ("updated", record_id)
    assert ensured("--status", "retired") == ("unchanged", record_id)
    record = shell.data("show", record_id)
    assert (record["status"], record["summary"], record["scope"]) == ("retired", message[5], {"paths": ["src/**"]})


BODY = (
    "### Context\n\nTwo queues lose order.\n\n### Decision\n\nOne queue.\n\n### Consequences\n\n- Cost: it is slower.\n"
)


def test_every_kind_can_be_ensured(shell: Any) -> None:
    lines = [
        {"kind": "adr", "key": "meeting/7/2", "title": "Use one queue", "status": "accepted", "body": BODY},
        {"kind": "rule", "key": "meeting/7/3", "title": "Name each lock", "rationale": "Deadlocks."},
        {"kind": "failure", "key": "p/4", "title": "S-9", "target": {"type": "story", "id": "S-9"}, "reason": "No."},
        {"kind": "rule", "key": "meeting/7/4", "title": "Without its rationale"},
        {"kind": "nothing", "key": "meeting/7/5"},
        {"kind": "rule", "key": "a key", "title": "x", "rationale": "y"},
        {"kind": "learning", "key": "meeting/7/6", "summary": "x", "uid": "0" * 32},
    ]
    file = shell.root / "found.jsonl"
    file.write_text("\n".join([*map(json.dumps, lines), "{torn", ""]), "utf-8")

    code, envelope = shell.json("ensure", "--batch", str(file))

    assert code == 1
    assert [entry["outcome"] for entry in envelope["data"]["entries"]] == ["inserted"] * 3 + ["refused"] * 4
    assert envelope["data"]["faults"] == ["line 8 holds no entry"]
    assert [entry["line"] for entry in envelope["data"]["entries"]] == [1, 2, 3, 4, 5, 6, 7]
    assert "\nline 4: meeting/7/4 refused" in shell("ensure", "--batch", str(file), "--dry-run")[1]
    adr = shell.data("show", envelope["data"]["entries"][0]["id"])
    assert (adr["status"], adr["key"]) == ("accepted", "meeting/7/2")
    _, again = shell.json("ensure", "--batch", str(file))
    assert [entry["outcome"] for entry in again["data"]["entries"]] == ["unchanged"] * 3 + ["refused"] * 4
    lines[0]["title"] = "Use two queues"
    file.write_text(json.dumps(lines[0]), "utf-8")
    assert shell.data("ensure", "--batch", str(file))["entries"][0]["outcome"] == "updated"
    assert "Use two queues" in (shell.root / adr["source"]["path"]).read_text("utf-8")
    assert [row["inserted"] for row in events(shell.root, "ensured")] == [3, 0]


def test_a_refused_decision_is_reported_as_refused(shell: Any) -> None:
    lines = [
        {"kind": "adr", "key": "meeting/7/2", "title": "Use one queue"},
        {"kind": "adr", "key": "meeting/7/2", "title": "Use two queues"},
        {"kind": "adr", "key": "meeting/7/3", "title": "Use no queue", "date": "yesterday"},
    ]
    file = shell.root / "found.jsonl"
    file.write_text("\n".join(map(json.dumps, lines)), "utf-8")

    code, envelope = shell.json("ensure", "--batch", str(file))

    assert (code, [entry["outcome"] for entry in envelope["data"]["entries"]]) == (1, ["inserted", *["refused"] * 2])
    assert envelope["data"]["entries"][1]["why"] == "meeting/7/2 is said twice in one batch; say each once"
    titles = [entry["title"] for entry in shell.data("adr", "list")]
    assert [title for title in titles if "queue" in title] == ["Use one queue"]


def test_a_concurrent_decision_is_written_once(shell: Any) -> None:
    registry = Registry.open(shell.root)
    author, workspace = registry.author(), registry.workspace
    learning = EnsureRequest("learning", "meeting/7/1", {"summary": "Name each lock"})
    decision = EnsureRequest("adr", "meeting/7/2", {"title": "Use one queue"})
    message = ensure(workspace, [learning, decision], author)
    assert message[1].record is not None
    folder, record_id = workspace.root / message[1].record.folder, message[1].record.id
    away = folder.rename(shell.root / "away")

    def meanwhile(_: Record) -> EnsureRequest:
        away.rename(folder)
        return learning

    again = ensure(workspace, [replace(learning, join=meanwhile), decision], author)

    assert [(entry.outcome, entry.reason) for entry in again] == [
        ("unchanged", ""),
        ("refused", f"{record_id} says meeting/7/2 since just now; `orbit show {record_id}`"),
    ]
    assert [entry.id for entry in registry.collection.records if entry.text("key") == "meeting/7/2"] == [record_id]


def test_an_agent_ensures_pending_records_only(shell: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ORBIT_ACTOR", "agent")
    message = ["ensure", "learning", "--key", "d/1"]
    created = shell.data(*message, "--title", "Name each lock")["entries"][0]
    assert shell.data("show", created["id"])["phase"] == "pending"
    assert shell.data(*message, "--title", "Name every lock")["entries"][0]["outcome"] == "updated"
    monkeypatch.setenv("ORBIT_ACTOR", "human")
    shell("promote", created["id"])
    monkeypatch.setenv("ORBIT_ACTOR", "agent")
    code, envelope = shell.json(*message, "--title", "Name no lock")
    assert (code, envelope["data"]["entries"][0]["outcome"]) == (1, "refused")
    assert "may not change it" in envelope["data"]["entries"][0]["why"]
    assert shell.data(*message, "--title", "Name every lock")["entries"][0]["outcome"] == "unchanged"


def test_a_rejected_record_is_not_written_again(shell: Any) -> None:
    created = shell.data("ensure", "learning", "--key", "d/1", "--title", "Name each lock", "--pending")
    record_id = created["entries"][0]["id"]
    shell("reject", record_id, "--reason", "the linter says so", "--by", "Ada")
    for key, title in (("d/1", "Name every lock"), ("d/2", "name each LOCK.")):
        entry = shell.data("ensure", "learning", "--key", key, "--title", title)["entries"][0]
        assert (entry["outcome"], entry["id"]) == ("unchanged", record_id)
        assert "Ada" in entry["why"]


def test_a_broken_cache_stops_no_producer(shell: Any) -> None:
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


def test_a_batch_has_no_duplicates(shell: Any) -> None:
    for number in range(20):
        shell("learning", "add", "--summary", f"Topic {number} wants word{number} and term{number}", "--yes")
    message = "Close each file of the upload before the next"
    existing = shell.data("learning", "add", "--summary", f"{message} one")["id"]
    lines = [
        {"key": "a", "summary": "Name each lock"}, {"key": "b", "summary": "name each LOCK"},
        {"key": "a", "summary": "Name every lock"}, {"key": "c", "summary": message},
    ]  # fmt: skip
    file = shell.root / "found.jsonl"
    file.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    result = shell.data("ensure", "learning", "--batch", str(file), "--pending")["entries"]
    assert [entry["outcome"] for entry in result] == ["inserted", "unchanged", "refused", "unchanged"]
    assert (result[1]["id"], result[3]["id"]) == (result[0]["id"], existing)


def test_an_unwritable_line_is_refused_alone(shell: Any) -> None:
    bad = ("9" * 25, "1e999", '"\\ud800"', "9" * 4000)
    lines = [f'{{"key": "k{at}", "summary": "Name lock number {at}", "x-n": {entry}}}' for at, entry in enumerate(bad)]
    file = shell.root / "found.jsonl"
    file.write_text("\n".join([*lines, '{"key": "good", "summary": "Name each lock"}']), "utf-8")
    result = shell.data("ensure", "learning", "--batch", str(file))["entries"]
    outcomes = [entry["outcome"] for entry in result]
    assert (outcomes[:3], outcomes[-1]) == (["refused", "refused", "refused"], "inserted")
    assert "a1B2" not in shell("ensure", "learning", "--key", "ghp_" + "a1B2" * 9, "--title", "Name it")[2]


def test_a_dry_run_gives_each_outcome(shell: Any) -> None:
    created = shell.data("ensure", "learning", "--key", "d/1", "--title", "Name each lock")["entries"][0]
    log = shell.root / ".orbit/state/log/events.jsonl"
    before = (log.read_text("utf-8"), (shell.root / created["path"]).read_text("utf-8"))
    lines = [
        {"kind": "learning", "key": "d/1", "summary": "Name every lock"},
        {"kind": "learning", "key": "d/1", "summary": "Name each lock", "status": "retired"},
        {"kind": "adr", "key": "d/2", "title": "Use one queue"}, {"kind": "rule", "key": "d/3", "title": "Why not"},
    ]  # fmt: skip
    outcomes = []
    for line in lines:
        batch = shell.root / "one.jsonl"
        batch.write_text(json.dumps(line), "utf-8")
        outcomes.append(shell.data("ensure", "--batch", str(batch), "--dry-run")["entries"][0]["outcome"])
    assert outcomes == ["updated", "updated", "inserted", "refused"]
    current = (log.read_text("utf-8"), (shell.root / created["path"]).read_text("utf-8"))
    assert current == before
    assert len(shell.data("adr", "list")) == 2
