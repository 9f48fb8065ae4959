"""`orbit fail` and `orbit clear`."""

from datetime import UTC, datetime, timedelta
from typing import Any

from orbit_registry.model.freshness import expires_at
from orbit_registry.model.record import Record
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
