"""`orbit brief --for plan` and `orbit pitch`."""

import json
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from orbit_loop.pitch import pitch
from orbit_loop.plan import Sources, capacity, plan_brief
from orbit_loop.retro import failures
from orbit_registry.errors import UsageError
from orbit_registry.model.freshness import expires_at
from orbit_registry.registry import Registry

pytestmark = pytest.mark.usefixtures("programs_on")

SCHEMA = Path(__file__).parents[3] / "docs/schemas/plan.schema.json"
WHY = ("--reason", "the sandbox has no browser")


def configure(root: Path, **sources: object) -> None:
    """Name sources of the brief: what a file says, or a command of Python."""
    settings = {
        name: {"file" if isinstance(source, str) else "command": source}
        for name, source in sources.items()
    }
    file = root / ".orbit/config.yaml"
    base = file.read_text("utf-8").split("\nbrief: ")[0].rstrip("\n")
    more = (
        f"\nbrief: {json.dumps({'sources': settings})}\nloop: {{enabled: true, "
        f"max_concurrent_loops: 2}}\n"
    )
    file.write_text(base + more, "utf-8")


def put(root: Path, name: str, value: object) -> str:
    (root / name).write_text(value if isinstance(value, str) else json.dumps(value), "utf-8")
    return name


def plan(shell: Any, *more: str) -> dict[str, Any]:
    code, envelope = shell.json("brief", "--for", "plan", *more)
    assert code == 0
    assert (
        list(Draft202012Validator(json.loads(SCHEMA.read_text("utf-8"))).iter_errors(envelope))
        == []
    )
    return dict(envelope["data"])


def test_a_failed_target_is_left_out_until_it_expires(shell: Any) -> None:
    configure(
        shell.root,
        work_items=put(shell.root, "items.json", [{"id": "story:S-1"}, {"id": "story:S-2"}]),
    )
    shell("fail", "story:S-1", *WHY)
    shell("fail", "story:S-2", *WHY, "--ttl-days", "0")
    registry = Registry.open()
    records = registry.collection.records
    current = failures.open_failure(records, failures.read_target("story:S-1"), datetime.now(UTC))
    assert current is not None
    end = expires_at(current)
    assert end is not None

    def seen(at: datetime) -> tuple[list[str], list[str]]:
        failed = plan_brief(registry.workspace, records, at)["failed_targets"]
        ranked = pitch(registry.workspace, records, at).pitched
        return [entry["target"] for entry in failed], [entry.candidate.id for entry in ranked]

    assert seen(end - timedelta(hours=1)) == (["story:S-1", "story:S-2"], [])
    assert seen(end) == (["story:S-2"], ["story:S-1"])


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (["false"], "exit code 1"),
        (["no-program"], "can't be started"),
        ([sys.executable, "-c", "print('x')"], "its command says no JSON"),
    ],
)
def test_a_failing_source_is_unknown(shell: Any, source: list[str], words: str) -> None:
    configure(
        shell.root,
        active_loops=source,
        system_health=put(shell.root, "health.json", {"worker": "up"}),
    )
    result = plan(shell)
    assert (result["active_loops"], result["system_health"]) == ("unknown", {"worker": "up"})
    assert result["capacity"]["available"] == "unknown"
    (warning,) = result["warnings"]
    assert words in warning


def test_a_plan_has_events_since_the_last_pitch(shell: Any) -> None:
    log = shell.root / ".orbit/state/log/events.jsonl"
    log.parent.mkdir(parents=True, exist_ok=True)
    row = {
        "event": "failed",
        "surface": "cli",
        "session": None,
        "ids": ["F-aaaaa"],
        "target": "story:S-1",
    }
    lines = [
        json.dumps({**row, "at": f"2020-11-20T00:{minute // 60:02}:{minute % 60:02}Z"})
        for minute in range(70)
    ]
    mark = {
        "event": "pitched",
        "surface": "cli",
        "session": None,
        "ids": [],
        "at": "2020-11-20T00:00:09Z",
        "target": "adr:ADR-0007",
        "verdict": "rejected",
        "by": "Ada",
    }
    log.write_text(
        "\n".join([*lines[:10], json.dumps(mark), "{torn", "[]", *lines[10:], ""]), "utf-8"
    )

    result = plan(shell)

    assert result["recent_events"]["after"] == "2020-11-20T00:00:09Z"
    assert len(result["recent_events"]["events"]) == 50
    assert result["recent_events"]["events"][-1]["at"] == "2020-11-20T00:01:09Z"
    assert result["recent_pitch_history"] == [
        {"at": "2020-11-20T00:00:09Z", "target": "adr:ADR-0007", "verdict": "rejected", "by": "Ada"}
    ]


@pytest.mark.parametrize(
    ("active", "most", "free"),
    [
        (0, 2, 2),
        (2, 2, 0),
        (5, 2, 0),
        ("x", 2, "unknown"),
        (-1, 2, "unknown"),
        (True, 2, "unknown"),
        (1, "y", 1),
    ],
)
def test_free_capacity_is_never_negative(
    shell: Any, active: object, most: object, free: object
) -> None:
    configure(shell.root)
    message = Sources({"capacity": {"active_loops": active, "max_concurrent_loops": most}})
    assert capacity(Registry.open().workspace, message)["available"] == free


def test_a_target_that_was_never_tried_is_no_failed_story(shell: Any) -> None:
    outcomes = ("story:S-1=failed,attempts=3", "story:S-2=failed,attempts=0", "story:S-3=failed")
    shell("retro", "--loop", "L-1", *(word for each in outcomes for word in ("--outcome", each)))
    (entry,) = shell.data("brief", "--for", "plan")["recent_retros"]
    assert entry["stories_failed"] == 2


def test_a_name_without_a_verdict_is_refused(shell: Any) -> None:
    with pytest.raises(UsageError, match="no verdict on ADR-0001: approve or reject"):
        Registry.open(shell.root).operations.pitch(name="ADR-0001")
