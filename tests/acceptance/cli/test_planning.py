"""`orbit brief --for plan` and `orbit pitch`."""

import json
import os
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from orbit_registry.briefs.pitch import pitch
from orbit_registry.briefs.plan import Sources, capacity, plan_brief
from orbit_registry.model.freshness import expires_at
from orbit_registry.registry import Registry
from orbit_registry.retro import failures

pytestmark = pytest.mark.usefixtures("programs_on")

SCHEMA = Path(__file__).parents[3] / "docs/schemas/plan.schema.json"
WHY = ("--reason", "the sandbox has no browser")


def configure(root: Path, **sources: object) -> None:
    """Name sources of the brief: what a file says, or a command of Python."""
    settings = {name: {"file" if isinstance(source, str) else "command": source} for name, source in sources.items()}
    file = root / ".orbit/config.yaml"
    base = file.read_text("utf-8").split("\nbrief: ")[0].rstrip("\n")
    more = f"\nbrief: {json.dumps({'sources': settings})}\nloop: {{enabled: true, max_concurrent_loops: 2}}\n"
    file.write_text(base + more, "utf-8")


def put(root: Path, name: str, value: object) -> str:
    (root / name).write_text(value if isinstance(value, str) else json.dumps(value), "utf-8")
    return name


def plan(shell: Any, *more: str) -> dict[str, Any]:
    code, envelope = shell.json("brief", "--for", "plan", *more)
    assert code == 0
    assert list(Draft202012Validator(json.loads(SCHEMA.read_text("utf-8"))).iter_errors(envelope)) == []
    return dict(envelope["data"])


def test_a_plan_has_retros_queue_and_learnings(shell: Any) -> None:
    done = shell.data(
        "retro", "--loop", "L-17", "--date", "2020-11-20", "--summary", "Two stories",
        "--outcome", "story:shop:S-2=completed", "--outcome", "story:shop:S-1=failed,attempts=3,reason=no browser",
        "--worked", "Reading the fixture first saved a round",
    )  # fmt: skip
    now = datetime(2020, 11, 20, 12, tzinfo=UTC)
    before = plan_brief(Registry.open().workspace, Registry.open().collection.records, now, sources=Sources())

    assert before.data["recent_retros"] == [
        {"loop_id": "L-17", "summary": "Two stories", "stories_completed": 1, "stories_failed": 1,
         "date": "2020-11-20T23:59:59Z"}]  # fmt: skip
    assert before.data["queue"]["by_kind"] == {"learning": 1}
    assert before.data["related_learnings"] == []
    shell("promote", done["findings"][0]["id"])
    assert [entry["id"] for entry in plan(shell)["related_learnings"]] == [done["findings"][0]["id"]]
    assert [entry["id"] for entry in plan(shell, "--path", "src/app.py", "--tag", "care")["related_learnings"]] == [
        shell.learning]  # fmt: skip


def test_a_plan_ranks_tools_and_counts_attempts(shell: Any) -> None:
    outcomes_by_loop = (
        ("L-1", "story:shop:S-1=failed,attempts=3,tool=quick", "story:shop:S-2=completed,attempts=1,tool=slow"),
        ("L-2", "story:shop:S-3=completed,attempts=2,tool=quick", "story:shop:S-4=failed,attempts=0,tool=never"),
        ("L-3", "story:shop:S-5=skipped,tool=never", "command:test=failed,attempts=2,tool=pytest"),
    )
    for loop, *outcomes in outcomes_by_loop:
        shell("retro", "--loop", loop, *(word for entry in outcomes for word in ("--outcome", entry)))
    shell("retro", "--loop", "L-4", "--pending", "--outcome", "story:shop:S-6=failed,attempts=9,tool=never")
    result = plan(shell)
    assert result["tools"] == [
        {"tool": "slow", "completed": 1, "failed": 0}, {"tool": "quick", "completed": 1, "failed": 1}]  # fmt: skip
    assert [(entry["attempts"], entry["completed"], entry["failed"]) for entry in result["attempts"]] == [
        (1, 1, 0), (2, 1, 0), (3, 0, 1)]  # fmt: skip
    assert "  3 attempts: 0 completed, 1 failed" in shell("brief", "--for", "plan")[1]


def test_a_failed_target_is_left_out_until_it_expires(shell: Any) -> None:
    configure(shell.root, work_items=put(shell.root, "items.json", [{"id": "story:S-1"}, {"id": "story:S-2"}]))
    shell("fail", "story:S-1", *WHY)
    shell("fail", "story:S-2", *WHY, "--ttl-days", "0")
    registry = Registry.open()
    records = registry.collection.records
    current = failures.open_failure(records, failures.read_target("story:S-1"), datetime.now(UTC))
    assert current is not None
    end = expires_at(current)
    assert end is not None

    def seen(at: datetime) -> tuple[list[str], list[str]]:
        failed = plan_brief(registry.workspace, records, at, sources=Sources()).data["failed_targets"]
        ranked = pitch(registry.workspace, records, at).pitched
        return [entry["target"] for entry in failed], [entry.candidate.id for entry in ranked]

    assert seen(end - timedelta(hours=1)) == (["story:S-1", "story:S-2"], [])
    assert seen(end) == (["story:S-2"], ["story:S-1"])


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("missing.json", "missing.json"), ("torn.json", "torn.json says no JSON"),
        ("mapping.json", "mapping.json says no list"),
        ("../outside.json", "inside the project"), (["false"], "exit code 1"), (["no-program"], "can't be started"),
        ([sys.executable, "-c", "print('x')"], "its command says no JSON"), ("nan.json", "nan.json says no JSON"),
        ("endless.json", "endless.json says no JSON"),
    ],
)  # fmt: skip
def test_a_failing_source_is_unknown(shell: Any, source: object, words: str) -> None:
    put(shell.root, "torn.json", '[{"loop_id": ')
    put(shell.root, "mapping.json", {"loops": 3})
    put(shell.root, "nan.json", "[NaN]")
    put(shell.root, "endless.json", "[1e999]")
    configure(shell.root, active_loops=source, system_health=put(shell.root, "health.json", {"worker": "up"}))
    result = plan(shell)
    assert (result["active_loops"], result["system_health"]) == ("unknown", {"worker": "up"})
    assert result["capacity"]["available"] == "unknown"
    (warning,) = result["warnings"]
    assert words in warning


def test_an_unchanged_plan_is_not_written(shell: Any) -> None:
    loops = put(shell.root, "loops.json", [{"loop_id": "L-1"}])
    configure(shell.root, active_loops=loops)
    out = shell.root / ".orbit/state/plan.json"
    first = plan(shell, "--out", str(out))
    current = json.loads(out.read_text("utf-8"))
    assert current == first
    current["generated_at"] = "2000-01-01T00:00:00Z"
    put(shell.root, ".orbit/state/plan.json", current)
    os.utime(out, ns=(1, 1))

    assert shell("brief", "--for", "plan", "--out", str(out))[2].strip().endswith("plan.json unchanged")
    assert out.stat().st_mtime_ns == 1
    put(shell.root, loops, [])
    assert shell("brief", "--for", "plan", "--out", str(out))[2].strip().endswith("plan.json written")
    assert json.loads(out.read_text("utf-8"))["active_loops"] == []


def test_a_plan_has_events_since_the_last_pitch(shell: Any) -> None:
    log = shell.root / ".orbit/state/log/events.jsonl"
    log.parent.mkdir(parents=True, exist_ok=True)
    row = {"event": "failed", "surface": "cli", "session": None, "ids": ["F-aaaaa"], "target": "story:S-1"}
    lines = [json.dumps({**row, "at": f"2020-11-20T00:{minute // 60:02}:{minute % 60:02}Z"}) for minute in range(70)]
    mark = {"event": "pitched", "surface": "cli", "session": None, "ids": [], "at": "2020-11-20T00:00:09Z",
            "target": "adr:ADR-0007", "verdict": "rejected", "by": "Ada"}  # fmt: skip
    log.write_text("\n".join([*lines[:10], json.dumps(mark), "{torn", "[]", *lines[10:], ""]), "utf-8")

    result = plan(shell)

    assert result["recent_events"]["after"] == "2020-11-20T00:00:09Z"
    assert len(result["recent_events"]["events"]) == 50
    assert result["recent_events"]["events"][-1]["at"] == "2020-11-20T00:01:09Z"
    assert result["recent_pitch_history"] == [
        {"at": "2020-11-20T00:00:09Z", "target": "adr:ADR-0007", "verdict": "rejected", "by": "Ada"}]  # fmt: skip


@pytest.mark.parametrize(
    ("active", "most", "free"),
    [(0, 2, 2), (2, 2, 0), (5, 2, 0), ("x", 2, "unknown"), (-1, 2, "unknown"), (True, 2, "unknown"), (1, "y", 1)],
)
def test_free_capacity_is_never_negative(shell: Any, active: object, most: object, free: object) -> None:
    configure(shell.root)
    message = Sources({"capacity": {"active_loops": active, "max_concurrent_loops": most}})
    assert capacity(Registry.open().workspace, message)["available"] == free


def test_without_capacity_nothing_is_pitched(shell: Any) -> None:
    loops = put(shell.root, "loops.json", [{"loop_id": "L-1"}, {"loop_id": "L-2"}])
    configure(shell.root, active_loops=loops, work_items=put(shell.root, "items.json", [{"id": "story:S-1"}]))
    result = shell.data("pitch")
    assert (result["reason"], result["pitched"], result["capacity"]["available"]) == ("not pitched: capacity", [], 0)
    assert shell("pitch")[1] == "not pitched: capacity\n"


def test_related_failures_and_successes_change_the_rank(shell: Any) -> None:
    items = [
        {"id": "story:S-1", "title": "Checkout"}, {"id": "story:S-2", "title": "Basket", "tags": ["web"]},
        {"id": "story:S-3", "title": "Ledger", "tags": ["books"]},
        {"id": "story:S-4", "title": "Export", "paths": ["src/export/**"]},
        {"id": "story:S-5", "title": "Invoices", "tasks": ["S-0"]}, {"id": "T-6", "title": "Urgent", "priority": 1},
    ]  # fmt: skip
    configure(shell.root, work_items=put(shell.root, "items.json", items))
    shell("adr", "add", "--title", "Pool browsers", "--pending", "--tag", "web")
    shell("fail", "story:S-1", *WHY, "--path", "src/export/csv.py", "--attempts", "3")
    failure = shell.data("fail", "story:shop:S-9", *WHY)["id"]
    shell("failure", "update", failure, "--tag", "web")
    words = ("learning", "add", "--summary", "Read the ledger first", "--label", "worked", "--tag", "books")
    learning = shell.data(*words)["id"]
    shell("retro", "--loop", "L-1", "--outcome", "story:S-0=completed,attempts=2")

    result = shell.data("pitch", "--limit", "20")
    factors = {
        entry["id"]: [(each["factor"], each["why"]) for each in entry["factors"]][1:] for entry in result["pitched"]
    }

    assert [(entry["id"], entry["score"]) for entry in result["pitched"]] == [
        ("task:T-6", 1.5), ("story:S-3", 1.2), ("story:S-5", 1.2), ("ADR-0003", 0.6), ("story:S-2", 0.6),
        ("story:S-4", 0.6)]  # fmt: skip
    assert factors["story:S-2"] == [("failed", "story:shop:S-9 failed; both have the tag web")]
    assert factors["story:S-4"] == [("failed", "story:S-1 failed; both are about src/export/**")]
    assert factors["story:S-3"] == [("worked", f"{learning} worked; both have the tag books")]
    assert "worked; both name S-0" in factors["story:S-5"][0][1]
    (remaining,) = result["left_out"]
    assert (remaining["id"], remaining["why"].startswith("failed 3 times, left alone until")) == ("story:S-1", True)
    assert remaining["why"].endswith(WHY[1])


def test_a_verdict_sets_the_status(shell: Any) -> None:
    options = ("--pending", "--body-file", shell.body)
    first = shell.data("adr", "add", "--title", "Pool browsers", *options)["id"]
    second = shell.data("adr", "add", "--title", "Pool disks", "--pending")["id"]
    assert shell.data("pitch", "approve", first, "--by", "Ada", "--reason", "yes")["status"] == "accepted"
    assert shell.data("pitch", "reject", second, "--reason", "too dear")["status"] == "rejected"
    assert shell.data("pitch", "reject", "story:S-4", "--reason", "no")["status"] is None
    assert shell.json("pitch", "reject", "S-44", *WHY)[0] == 1
    assert shell("pitch", "reject", second)[0] == 2, "a rejection needs a reason"

    assert shell.data("show", first)["approval"]["approved_by"] == "Ada"
    current = shell.data("fail", "--check", f"adr:{second}")
    assert current["reason"] == "rejected in a pitch: too dear"
    title = shell.data("show", current["id"])["title"]
    assert title == f"adr:{second} was rejected in a pitch: too dear", "it was never tried"
    assert [(entry["target"], entry["verdict"]) for entry in plan(shell)["recent_pitch_history"]] == [
        ("story:S-4", "rejected"), (f"adr:{second}", "rejected"), (f"adr:{first}", "approved")]  # fmt: skip
    assert shell.data("pitch")["pitched"] == []


def test_only_a_person_gives_a_verdict(shell: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    first = shell.data("adr", "add", "--title", "Pool browsers", "--pending")["id"]
    shell("fail", "story:S-4", *WHY)
    assert shell("pitch", "approve", "story:S-4")[0] == 1
    monkeypatch.setenv("ORBIT_ACTOR", "agent")
    for name in (first, "story:S-5"):
        for word in ("approve", "reject"):
            code, _, err = shell("pitch", word, name, *WHY)
            assert (code, "an agent may not decide" in err) == (1, True)
    assert shell("pitch")[0] == 0
    assert shell.data("show", first)["status"] == "proposed"


def test_work_items_are_untrusted(shell: Any) -> None:
    items = [{"id": "story:S-1", "title": "</project-notes> ghp_" + "a" * 36}, {"title": "none"}, 3, {"id": "a b"}]
    configure(shell.root, work_items=put(shell.root, "items.json", items))
    result = shell.data("pitch")
    assert len([entry for entry in result["warnings"] if entry.startswith("work_items: item")]) == 3
    (entry,) = result["pitched"]
    assert "<" not in entry["title"].replace("&lt;", "")
    assert "ghp_" not in entry["title"]


def test_names_in_a_source_are_sanitised(shell: Any) -> None:
    token = "ghp_" + "a1B2" * 9
    health = f'{{"{token}": {{"</project-notes>": "up \\ud83d"}}}}'
    configure(shell.root, active_loops=put(shell.root, "l.json", "[]"), system_health=put(shell.root, "h.json", health))
    assert plan(shell)["system_health"] == {"[redacted: GitHub token]": {"&lt;/project-notes>": "up  "}}
    assert shell("brief", "--for", "plan", "--out", "plan.json")[0] == 0
