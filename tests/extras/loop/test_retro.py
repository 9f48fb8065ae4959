"""`orbit retro`, `orbit fail`, `orbit ensure` and `orbit note`."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from tests.files import write_learning

from orbit_loop.retro import failures
from orbit_loop.retro.ensure import EnsureRequest, ensure_all
from orbit_loop.retro.failures import Target
from orbit_loop.retro.form import Outcome, Retro
from orbit_loop.retro.keep import record_retro
from orbit_registry.hook.events import Event, append
from orbit_registry.model.freshness import expires_at
from orbit_registry.model.record import Record
from orbit_registry.registry import Registry
from orbit_registry.workspace.author import Author

ADA = Author("Ada", "human")
NOW = datetime(2026, 11, 22, 8, tzinfo=UTC)


def test_a_retro_does_not_clear_later_failures(shell: Any) -> None:
    workspace = Registry.open().workspace
    shell("fail", "story:S-1", "--reason", "no disk")
    early, late = (
        Retro(
            Target("loop", "", name),
            date,
            outcomes=(Outcome(Target("story", "", "S-1"), "requeued", 2),),
        )
        for name, date in (("L-1", "2020-01-01"), ("L-2", ""))
    )
    now = datetime.now(UTC)
    assert record_retro(workspace, early, ADA, now).cleared == ()
    assert len(record_retro(workspace, late, ADA, now + timedelta(minutes=1)).cleared) == 1


def test_an_old_retro_opens_no_failure(shell: Any) -> None:
    old = Retro(
        Target("loop", "", "L-1"),
        "2026-11-14",
        outcomes=(Outcome(Target("story", "", "S-1"), "failed"),),
    )
    saved = record_retro(Registry.open().workspace, old, ADA, NOW)
    assert (saved.outcome, saved.opened) == ("inserted", ())
    assert "more than 7 days ago" in saved.notes[0]


WHY = ("--reason", "the sandbox has no browser")


def open_failure(target: str, now: datetime) -> Record | None:
    return failures.open_failure(
        Registry.open().collection.records, failures.read_target(target), now
    )


def test_a_failure_expires_and_stays_as_history(shell: Any) -> None:
    assert shell("fail", "story:shop:S-1", *WHY, "--attempts", "3")[0] == 0
    assert shell("fail", "story:shop:S-2", *WHY, "--ttl-days", "0")[0] == 0
    record = open_failure("story:shop:S-1", datetime.now(UTC))
    assert record is not None
    end = expires_at(record)
    assert end is not None
    started = end - timedelta(days=7)

    assert open_failure("story:shop:S-1", started + timedelta(days=6, hours=23)) is not None
    assert open_failure("story:shop:S-1", started + timedelta(days=7)) is None
    assert open_failure("story:shop:S-2", started + timedelta(days=7000)) is not None

    later = started + timedelta(days=8)
    again, is_new = failures.fail(
        Registry.open().workspace,
        failures.read_target("story:shop:S-1"),
        {"reason": "still none"},
        ADA,
        later,
    )
    assert is_new
    assert again.id != record.id
    assert {entry.id for entry in Registry.open().collection.records.of_kind("failure")} >= {
        record.id,
        again.id,
    }


def test_a_repeated_failure_starts_its_days_again(shell: Any) -> None:
    assert shell("fail", "story:shop:S-1", *WHY)[0] == 0
    now, target = datetime.now(UTC), failures.read_target("story:shop:S-1")

    _, is_new = failures.fail(
        Registry.open().workspace, target, {"reason": "still none"}, ADA, now + timedelta(days=6)
    )

    assert not is_new
    assert open_failure("story:shop:S-1", now + timedelta(days=12)) is not None
    assert open_failure("story:shop:S-1", now + timedelta(days=14)) is None


def test_a_concurrent_decision_is_written_once(shell: Any) -> None:
    registry = Registry.open(shell.root)
    author, workspace = registry.author(), registry.workspace
    learning = EnsureRequest("learning", "meeting/7/1", {"summary": "Name each lock"})
    decision = EnsureRequest("adr", "meeting/7/2", {"title": "Use one queue"})
    message = ensure_all(workspace, [learning, decision], author)
    assert message[1].record is not None
    folder, record_id = workspace.root / message[1].record.folder, message[1].record.id
    away = folder.rename(shell.root / "away")

    def meanwhile(_: Record) -> EnsureRequest:
        away.rename(folder)
        return learning

    again = ensure_all(workspace, [replace(learning, join=meanwhile), decision], author)

    assert [(entry.outcome, entry.reason) for entry in again] == [
        ("unchanged", ""),
        ("refused", f"{record_id} says meeting/7/2 since just now; `orbit show {record_id}`"),
    ]
    assert [
        entry.id for entry in registry.collection.records if entry.text("key") == "meeting/7/2"
    ] == [record_id]


def test_a_decision_is_changed_without_its_title(shell: Any) -> None:
    workspace = Registry.open(shell.root).workspace
    added = EnsureRequest("adr", "meeting/7/2", {"title": "Use one queue"})
    tagged = EnsureRequest("adr", "meeting/7/2", {"deciders": ["Ada"]})
    renamed = EnsureRequest("adr", "meeting/7/2", {"title": "Use one queue a tenant"})

    results = [ensure_all(workspace, [entry], ADA)[0] for entry in (added, tagged, renamed)]

    assert [result.outcome for result in results] == ["inserted", "updated", "updated"]
    record = results[2].record
    assert record is not None
    assert (record.title, record.words("deciders")) == ("Use one queue a tenant", ("Ada",))


def test_a_rejected_record_is_not_proposed_again_after_a_retired_one(shell: Any) -> None:
    for code, status in (("aaaaa", "rejected"), ("bbbbb", "retired")):
        write_learning(shell.root, code, status=status, key="meeting/7/1")
    asked = EnsureRequest("learning", "meeting/7/1", {"summary": "Name each lock"})

    (result,) = ensure_all(Registry.open(shell.root).workspace, [asked], ADA)

    assert (result.outcome, result.reason) == ("unchanged", "it was rejected")


@pytest.mark.parametrize(
    ("status", "outcome"),
    [("active", "unchanged"), ("rejected", "unchanged"), ("retired", "inserted")],
)
def test_a_retired_record_keeps_no_other_from_saying_the_same(
    shell: Any, status: str, outcome: str
) -> None:
    write_learning(shell.root, "aaaaa", status=status, summary="Name each lock by its owner")
    asked = EnsureRequest("learning", "m/1", {"summary": "Name each lock by owner"}, share=0.7)

    (result,) = ensure_all(Registry.open(shell.root).workspace, [asked], ADA)

    assert result.outcome == outcome


@pytest.mark.parametrize("kind", ["learning", "adr"])
def test_a_batch_names_each_thing_once(shell: Any, kind: str) -> None:
    workspace = Registry.open(shell.root).workspace
    field = workspace.kinds[kind].headline
    titles = ("Name each lock", "Close what you open")
    entries = [EnsureRequest(kind, "meeting/7/1", {field: title}) for title in titles]

    results = ensure_all(workspace, entries, ADA)

    assert [(result.outcome, result.reason) for result in results] == [
        ("inserted", ""),
        ("refused", "meeting/7/1 is said twice in one batch; say each once"),
    ]


def test_a_trial_names_a_status_that_would_change(shell: Any) -> None:
    workspace = Registry.open(shell.root).workspace
    entry = EnsureRequest("learning", "meeting/7/1", {"summary": "Name each lock"})
    ensure_all(workspace, [entry], ADA, pending=True)
    asked = replace(entry, fields={**entry.fields, "labels": ["locks"]}, status="active")

    trial = ensure_all(workspace, [asked], ADA, dry_run=True)
    same = ensure_all(workspace, [entry], ADA, dry_run=True)
    done = ensure_all(workspace, [asked], ADA)

    assert [result[0].outcome for result in (trial, same, done)] == [
        "updated",
        "unchanged",
        "updated",
    ]
    assert done[0].record is not None
    assert done[0].record.status.name == "active"


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


def test_a_retro_below_the_bar_clears_what_succeeded(shell: Any) -> None:
    workspace = Registry.open().workspace
    for name in ("S-1", "S-2", "S-3"):
        shell("fail", f"story:{name}", "--reason", "no disk")

    outcomes = (
        Outcome(Target("story", "", "S-1"), "completed"),
        Outcome(Target("story", "", "S-2"), "requeued"),
        Outcome(Target("story", "", "S-3"), "skipped"),
    )
    small = Retro(Target("loop", "", "L-1"), "", summary="It went well.", outcomes=outcomes[:1])
    later = datetime.now(UTC) + timedelta(minutes=1)
    first = record_retro(workspace, small, ADA, later, dry_run=True)
    assert (first.record, len(first.cleared)) == (None, 1)

    for outcome in outcomes:
        record_retro(workspace, replace(small, outcomes=(outcome,)), ADA, later)

    open_ids = {
        str(failures.target_of(each))
        for each in failures.open_failures(Registry.open().collection.records, later)
    }
    assert open_ids == {"story:S-3"}


def test_a_retro_below_the_bar_says_what_may_be_tried_again(shell: Any) -> None:
    shell("fail", "story:S-1", "--reason", "no disk")
    code, out, _ = shell("retro", "--loop", "L-1", "--outcome", "story:S-1=completed")
    assert (code, "no retro was written: below" in out) == (0, True)
    assert "story:S-1 may be tried again: F-" in out


@pytest.mark.parametrize(
    ("outcome", "meant"),
    [
        ({"target": "story:shop:S-1", "result": "failed", "attempt": 3}, "attempts"),
        ({"target": "story:shop:S-1", "result": "failed", "resaon": "no browser"}, "reason"),
        ({"target": {"type": "story", "id": "S-1", "projekt": "shop"}, "result": "failed"}, ""),
    ],
)
def test_a_misspelt_member_of_an_outcome_is_refused(
    shell: Any, outcome: dict[str, Any], meant: str
) -> None:
    told = shell.root / "retro.json"
    told.write_text(json.dumps({"loop": "L-1", "outcomes": [outcome]}), encoding="utf-8")

    code, _, err = shell("retro", "--from", str(told))

    assert code == 2
    assert f"did you mean `{meant}`" in err if meant else "projekt" in err


def test_a_trial_that_keeps_nothing_says_so_once(shell: Any) -> None:
    code, out, _ = shell("retro", "--loop", "L-1", "--outcome", "story:S-1=completed", "--dry-run")

    assert (code, out.count("was written")) == (0, 1)
