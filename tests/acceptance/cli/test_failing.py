"""`orbit fail` and `orbit clear`: what failed is left alone for a while, told by its identity and the clock alone."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from orbit_registry.model.freshness import expires_at
from orbit_registry.model.record import Record
from orbit_registry.model.votes import format_time
from orbit_registry.registry import Registry
from orbit_registry.retro import failures
from orbit_registry.workspace.author import Author

WHY = ("--reason", "the sandbox has no browser")
ADA = Author("Ada", "human")


def holding(target: str, now: datetime) -> Record | None:
    """Return the failure of a target that holds at a moment."""
    return failures.open_failure(Registry.open().collection.records, failures.read_target(target), now)


def test_a_failure_holds_for_its_days_and_stays_as_history(shell: Any) -> None:
    """Seven days if nothing is said, for ever with 0; what is over is no failure any more and still a record."""
    assert shell("fail", "story:shop:S-1", *WHY, "--attempts", "3")[0] == 0
    assert shell("fail", "story:shop:S-2", *WHY, "--ttl-days", "0")[0] == 0
    record = holding("story:shop:S-1", datetime.now(UTC))
    assert record is not None
    end = expires_at(record)
    assert end is not None
    begun = end - timedelta(days=7)

    assert holding("story:shop:S-1", begun + timedelta(days=6, hours=23)) is not None
    assert holding("story:shop:S-1", begun + timedelta(days=7)) is None
    assert holding("story:shop:S-2", begun + timedelta(days=7000)) is not None

    later = begun + timedelta(days=8)
    again, is_new = failures.fail(Registry.open().workspace, failures.read_target("story:shop:S-1"),
                                  {"reason": "still none"}, ADA, later)  # fmt: skip
    assert is_new
    assert again.id != record.id
    assert {one.id for one in Registry.open().collection.records.of_kind("failure")} >= {record.id, again.id}


def test_a_failure_met_again_holds_for_its_days_from_then_on(shell: Any) -> None:
    """What was met on the sixth day is still left alone on the eighth."""
    assert shell("fail", "story:shop:S-1", *WHY)[0] == 0
    now, target = datetime.now(UTC), failures.read_target("story:shop:S-1")

    _, is_new = failures.fail(Registry.open().workspace, target, {"reason": "still none"}, ADA, now + timedelta(days=6))

    assert not is_new
    assert holding("story:shop:S-1", now + timedelta(days=12)) is not None
    assert holding("story:shop:S-1", now + timedelta(days=14)) is None


def test_only_that_target_is_meant(shell: Any) -> None:
    """Another id, project or type is another target, and clearing one leaves the others."""
    for target in ("story:shop:S-1", "story:shop:S-10", "story:office:S-1", "task:shop:S-1", "story:S-1"):
        assert shell("fail", target, *WHY)[0] == 0
    assert shell("clear", "story:shop:S-1")[0] == 0
    assert shell("fail", "--check", "story:shop:S-1")[0] == 0
    for target in ("story:shop:S-10", "story:office:S-1", "task:shop:S-1", "story:S-1"):
        code, out, _ = shell("fail", "--check", target)
        assert (code, out.startswith(f"{target} failed 1 time and is left alone until ")) == (1, True)


def test_an_agent_opens_and_clears(shell: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever meets a failure says so; no review stands between, and the log says what was done."""
    monkeypatch.setenv("ORBIT_ACTOR", "agent")
    assert shell("fail", "adr:ADR-0001", *WHY)[0] == 0
    assert shell("clear", "adr:ADR-0001")[0] == 0
    log = (shell.root / ".orbit/state/log/events.jsonl").read_text("utf-8")
    assert [name for name in ("failed", "cleared") if f'"event": "{name}"' in log] == ["failed", "cleared"]


def test_an_agent_speaks_for_no_person(shell: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """It may say that a failure of theirs was met again; its own neither outranks nor outlasts reviewed ones."""
    made = shell.json("fail", "deploy:qa", "--reason", "freeze", "--ttl-days", "0")[1]["data"]
    monkeypatch.setenv("ORBIT_ACTOR", "agent")
    again = shell.json("fail", "deploy:qa", "--reason", "deploy freely", "--ttl-days", "1", "--attempts", "9")[1][
        "data"
    ]
    assert (again["reason"], again["until"], again["attempts"]) == ("freeze", None, 9)
    code, _, err = shell("failure", "update", made["id"], "--set", "reason=deploy freely")
    assert code == 1
    assert "an agent may not change its reason" in err
    assert shell("fail", "story:S-1", *WHY, "--ttl-days", "0")[0] == 1
    assert shell("fail", "story:S-1", *WHY)[0] == 0
    mine = holding("story:S-1", datetime.now(UTC))
    assert mine is not None
    assert shell("failure", "update", mine.id, "--priority", "255")[0] == 1


def test_agents_are_told_what_to_avoid_until_it_is_over(shell: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A failure with a path is shown there while it holds, with its reason, and never once it is over or cleared."""
    shell("fail", "story:shop:S-1", *WHY, "--path", "src/**")
    said = shell("match", "src/app.py")[1]
    assert "story:shop:S-1 failed: the sandbox has no browser" in said
    file = next((shell.root / ".orbit/failures").glob("*/failure.yaml"))
    text = file.read_text("utf-8")
    begun = text.split('created_at: "')[1].split('"')[0]
    file.write_text(text.replace(begun, "2026-01-01T00:00:00Z"), "utf-8")
    assert "S-1" not in shell("match", "src/app.py")[1]
    assert shell("fail", "--check", "story:shop:S-1")[0] == 0


def test_a_dry_run_opens_nothing(shell: Any) -> None:
    """It says what would hold and until when, new or met again; no record and no event is written."""
    words = ("fail", "story:shop:S-1", "--reason", "no browser", "--attempts", "3")
    log = shell.root / ".orbit/state/log/events.jsonl"
    would = shell.json(*words, "--dry-run")[1]["data"]
    assert (would["new"], would["holds"], would["attempts"], would["dry_run"]) == (True, True, 3, True)
    assert shell("fail", "story:shop:S-1", "--check")[0] == 0
    assert shell(*words)[0] == 0
    file = next((shell.root / ".orbit/failures").glob("*/failure.yaml"))
    before, said = file.read_text("utf-8"), log.read_text("utf-8")
    again = shell.json("fail", "story:shop:S-1", "--reason", "still none", "--dry-run")[1]["data"]
    assert (again["new"], again["attempts"], again["reason"]) == (False, 4, "still none")
    assert (file.read_text("utf-8"), log.read_text("utf-8")) == (before, said)


def test_the_kinds_own_add_names_the_shorter_way(shell: Any) -> None:
    """Whoever leaves the target out of `orbit failure add` is told of `orbit fail`."""
    assert "`orbit fail story:shop:S-1" in shell("failure", "add", "--title", "x", "--reason", "y")[2]


@pytest.mark.parametrize("target", ["", "S-1", ":shop:S-1", "story:", "story::S-1", "Story:S-1", "story:shop:S 1"])
def test_what_names_no_target_is_refused(shell: Any, target: str) -> None:
    """The error shows the form."""
    code, _, err = shell("fail", target, *WHY)
    assert code == 2
    assert "type:project:id" in err


def test_a_failure_needs_a_reason_and_an_attempt(shell: Any) -> None:
    """What was never tried did not fail, and why it did is the point."""
    assert shell("fail", "story:S-1")[0] == 2
    assert shell("fail", "story:S-1", *WHY, "--attempts", "0")[0] == 2
    assert shell("fail", "story:S-1", "--check", *WHY)[0] == 2
    code, _, err = shell("clear", "story:S-1")
    assert code == 1
    assert "nothing keeps story:S-1 from being tried" in err


def test_what_is_asked_for_again_is_said_to_be(shell: Any) -> None:
    """The log tells a requeue from a success, and the record stays in both cases."""
    shell("fail", "story:S-1", *WHY)
    assert shell("clear", "story:S-1", "--requeued")[0] == 0
    log = (shell.root / ".orbit/state/log/events.jsonl").read_text("utf-8")
    assert ('"event": "requeued"' in log, '"event": "cleared"' in log) == (True, False)
    assert [one["status"] for one in shell.json("failure", "list", "--all")[1]["data"]] == ["cleared"]


def test_a_failure_whose_time_is_over_is_listed_as_expired(shell: Any) -> None:
    """The record says `open` for good; the list says what holds now."""
    begun = datetime.now(UTC) - timedelta(days=8)
    record, _ = failures.fail(
        Registry.open().workspace, failures.read_target("story:S-1"), {"reason": "x", "ttl_days": 1}, ADA, begun
    )
    Registry.open().update(record.id, lambda data: {**data, "freshness": {"verified_at": format_time(begun)}})
    row = next(line for line in shell("failure", "list")[1].splitlines() if record.id in line)
    assert "expired" in row
    (listed,) = shell.json("failure", "list")[1]["data"]
    assert (listed["status"], listed["expired"]) == ("open", True)
