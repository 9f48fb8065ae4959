"""`orbit fail` and `orbit clear`."""

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


def open_failure(target: str, now: datetime) -> Record | None:
    return failures.open_failure(Registry.open().collection.records, failures.read_target(target), now)


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
    again, is_new = failures.fail(Registry.open().workspace, failures.read_target("story:shop:S-1"),
                                  {"reason": "still none"}, ADA, later)  # fmt: skip
    assert is_new
    assert again.id != record.id
    assert {entry.id for entry in Registry.open().collection.records.of_kind("failure")} >= {record.id, again.id}


def test_a_repeated_failure_starts_its_days_again(shell: Any) -> None:
    assert shell("fail", "story:shop:S-1", *WHY)[0] == 0
    now, target = datetime.now(UTC), failures.read_target("story:shop:S-1")

    _, is_new = failures.fail(Registry.open().workspace, target, {"reason": "still none"}, ADA, now + timedelta(days=6))

    assert not is_new
    assert open_failure("story:shop:S-1", now + timedelta(days=12)) is not None
    assert open_failure("story:shop:S-1", now + timedelta(days=14)) is None


def test_only_the_same_target_fails(shell: Any) -> None:
    for target in ("story:shop:S-1", "story:shop:S-10", "story:office:S-1", "task:shop:S-1", "story:S-1"):
        assert shell("fail", target, *WHY)[0] == 0
    assert shell("clear", "story:shop:S-1")[0] == 0
    assert shell("fail", "--check", "story:shop:S-1")[0] == 0
    for target in ("story:shop:S-10", "story:office:S-1", "task:shop:S-1", "story:S-1"):
        code, out, _ = shell("fail", "--check", target)
        assert (code, out.startswith(f"{target} failed 1 time and is left alone until ")) == (1, True)


def test_an_agent_cannot_change_a_persons_failure(shell: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    created = shell.data("fail", "deploy:qa", "--reason", "freeze", "--ttl-days", "0")
    monkeypatch.setenv("ORBIT_ACTOR", "agent")
    words = ("--reason", "deploy freely", "--ttl-days", "1", "--attempts", "9")
    again = shell.data("fail", "deploy:qa", *words)
    assert (again["reason"], again["until"], again["attempts"]) == ("freeze", None, 9)
    code, _, err = shell("failure", "update", created["id"], "--set", "reason=deploy freely")
    assert code == 1
    assert "an agent may not change its reason" in err
    assert shell("fail", "story:S-1", *WHY, "--ttl-days", "0")[0] == 1
    assert shell("fail", "story:S-1", *WHY)[0] == 0
    assert shell("fail", "story:S-2", *WHY)[0] == shell("clear", "story:S-2")[0] == 0
    mine = open_failure("story:S-1", datetime.now(UTC))
    assert mine is not None
    assert shell("failure", "update", mine.id, "--priority", "255")[0] == 1


def test_an_open_failure_is_shown_at_its_path(shell: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    shell("fail", "story:shop:S-1", *WHY, "--path", "src/**")
    message = shell("match", "src/app.py")[1]
    assert "story:shop:S-1 failed: the sandbox has no browser" in message
    file = next((shell.root / ".orbit/failures").glob("*/failure.yaml"))
    text = file.read_text("utf-8")
    started = text.split('created_at: "')[1].split('"')[0]
    file.write_text(text.replace(started, "2026-01-01T00:00:00Z"), "utf-8")
    assert "S-1" not in shell("match", "src/app.py")[1]
    assert shell("fail", "--check", "story:shop:S-1")[0] == 0


def test_a_dry_run_opens_nothing(shell: Any) -> None:
    words = ("fail", "story:shop:S-1", "--reason", "no browser", "--attempts", "3")
    log = shell.root / ".orbit/state/log/events.jsonl"
    would = shell.data(*words, "--dry-run")
    assert (would["new"], would["holds"], would["attempts"], would["dry_run"]) == (True, True, 3, True)
    assert shell("fail", "story:shop:S-1", "--check")[0] == 0
    assert shell(*words)[0] == 0
    file = next((shell.root / ".orbit/failures").glob("*/failure.yaml"))
    before, message = file.read_text("utf-8"), log.read_text("utf-8")
    again = shell.data("fail", "story:shop:S-1", "--reason", "still none", "--dry-run")
    assert (again["new"], again["attempts"], again["reason"]) == (False, 4, "still none")
    assert (file.read_text("utf-8"), log.read_text("utf-8")) == (before, message)


@pytest.mark.parametrize("target", ["", "S-1", "story:", "story::S-1", "Story:S-1", "story:shop:S 1"])
def test_an_invalid_target_is_refused(shell: Any, target: str) -> None:
    code, _, err = shell("fail", target, *WHY)
    assert code == 2
    assert "type:project:id" in err


def test_an_expired_failure_is_listed_as_expired(shell: Any) -> None:
    started = datetime.now(UTC) - timedelta(days=8)
    target = failures.read_target("story:S-1")
    record, _ = failures.fail(Registry.open().workspace, target, {"reason": "x", "ttl_days": 1}, ADA, started)
    Registry.open().update(record.id, lambda data: {**data, "freshness": {"verified_at": format_time(started)}})
    row = next(line for line in shell("failure", "list")[1].splitlines() if record.id in line)
    assert "expired" in row
    (listed,) = shell.data("failure", "list")
    assert (listed["status"], listed["expired"]) == ("open", True)
