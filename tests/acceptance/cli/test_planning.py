"""`orbit brief --for plan` and `orbit pitch`: what a planner knows, what is pitched and why, and a person's verdict."""

from __future__ import annotations

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
    said = {
        name: {"file": source} if isinstance(source, str) else {"command": source} for name, source in sources.items()
    }
    file = root / ".orbit/config.yaml"
    kept = file.read_text("utf-8").split("\nbrief: ")[0].rstrip("\n")
    more = f"\nbrief: {json.dumps({'sources': said})}\nloop: {{enabled: true, max_concurrent_loops: 2}}\n"
    file.write_text(kept + more, "utf-8")


def put(root: Path, name: str, value: object) -> str:
    """Write a file of JSON, or of the text as it is."""
    (root / name).write_text(value if isinstance(value, str) else json.dumps(value), "utf-8")
    return name


def plan(shell: Any, *more: str) -> dict[str, Any]:
    """Return the data of a brief for planning."""
    code, whole = shell.json("brief", "--for", "plan", *more)
    assert code == 0
    assert list(Draft202012Validator(json.loads(SCHEMA.read_text("utf-8"))).iter_errors(whole)) == []
    found = whole["data"]
    assert isinstance(found, dict)
    return found


def pitched(shell: Any, *more: str) -> dict[str, Any]:
    """Return the data of a pitch."""
    code, whole = shell.json("pitch", *more)
    assert code == 0
    found = whole["data"]
    assert isinstance(found, dict)
    return found


def test_the_brief_says_what_runs_came_to(shell: Any) -> None:
    """Retros with their counts, what is left alone, what waits, and the learnings that retros led to."""
    told = ["--outcome", "story:shop:S-1=failed,attempts=3,reason=no browser", "--outcome", "story:shop:S-2=completed"]
    done = shell.json("retro", "--loop", "L-17", "--date", "2020-11-20", "--summary", "Two stories", *told,
                      "--worked", "Reading the fixture first saved a round")[1]["data"]  # fmt: skip
    now = datetime(2020, 11, 20, 12, tzinfo=UTC)
    before = plan_brief(Registry.open().workspace, Registry.open().collection.records, now, sources=Sources())

    assert before.data["recent_retros"] == [
        {"loop_id": "L-17", "summary": "Two stories", "stories_completed": 1, "stories_failed": 1,
         "date": "2020-11-20T23:59:59Z"}]  # fmt: skip
    assert before.data["queue"]["by_kind"] == {"learning": 1}
    assert before.data["related_learnings"] == []
    shell("promote", done["findings"][0]["id"])
    assert [one["id"] for one in plan(shell)["related_learnings"]] == [done["findings"][0]["id"]]
    assert [one["id"] for one in plan(shell, "--path", "src/app.py", "--tag", "care")["related_learnings"]] == [
        shell.learning]  # fmt: skip


def test_tools_are_ranked_by_what_they_completed_and_attempts_told(shell: Any) -> None:
    """Over all recorded retros; what was never tried, skipped, a draft, or a way of the project counts nothing."""
    told = (
        ("L-1", "story:shop:S-1=failed,attempts=3,tool=quick", "story:shop:S-2=completed,attempts=1,tool=slow"),
        ("L-2", "story:shop:S-3=completed,attempts=2,tool=quick", "story:shop:S-4=failed,attempts=0,tool=never"),
        ("L-3", "story:shop:S-5=skipped,tool=never", "command:test=failed,attempts=2,tool=pytest"),
    )
    for loop, *outcomes in told:
        shell("retro", "--loop", loop, *(word for one in outcomes for word in ("--outcome", one)))
    shell("retro", "--loop", "L-4", "--pending", "--outcome", "story:shop:S-6=failed,attempts=9,tool=never")
    found = plan(shell)
    assert found["tools"] == [
        {"tool": "slow", "completed": 1, "failed": 0}, {"tool": "quick", "completed": 1, "failed": 1}]  # fmt: skip
    assert [(one["attempts"], one["completed"], one["failed"]) for one in found["attempts"]] == [
        (1, 1, 0), (2, 1, 0), (3, 0, 1)]  # fmt: skip
    assert "  3 attempts: 0 completed, 1 failed" in shell("brief", "--for", "plan")[1]


def test_a_failed_target_is_left_out_for_its_days(shell: Any) -> None:
    """Of plan and pitch both: 6 days 23 hours yes, 7 days no; with a time of 0 for ever."""
    configure(shell.root, work_items=put(shell.root, "items.json", [{"id": "story:S-1"}, {"id": "story:S-2"}]))
    shell("fail", "story:S-1", *WHY)
    shell("fail", "story:S-2", *WHY, "--ttl-days", "0")
    registry = Registry.open()
    records = registry.collection.records
    held = failures.open_failure(records, failures.read_target("story:S-1"), datetime.now(UTC))
    assert held is not None
    end = expires_at(held)
    assert end is not None

    def seen(at: datetime) -> tuple[list[str], list[str]]:
        told = plan_brief(registry.workspace, records, at, sources=Sources()).data["failed_targets"]
        return [one["target"] for one in told], [
            one.candidate.id for one in pitch(registry.workspace, records, at).pitched
        ]

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
def test_a_source_that_fails_is_unknown(shell: Any, source: object, words: str) -> None:
    """Whatever is wrong with it is a warning, never an error, and the other sections stand."""
    put(shell.root, "torn.json", '[{"loop_id": ')
    put(shell.root, "mapping.json", {"loops": 3})
    put(shell.root, "nan.json", "[NaN]")
    put(shell.root, "endless.json", "[1e999]")
    configure(shell.root, active_loops=source, system_health=put(shell.root, "health.json", {"worker": "up"}))
    found = plan(shell)
    assert (found["active_loops"], found["system_health"]) == ("unknown", {"worker": "up"})
    assert found["capacity"]["available"] == "unknown"
    (warning,) = found["warnings"]
    assert words in warning


def test_names_and_halves_of_characters_in_a_source_are_data_too(shell: Any) -> None:
    """A name holds no secret and no tag either, and half of a character, which no file holds, is left out."""
    token = "ghp_" + "a1B2" * 9
    health = f'{{"{token}": {{"</project-notes>": "up \\ud83d"}}}}'
    configure(shell.root, active_loops=put(shell.root, "l.json", "[]"), system_health=put(shell.root, "h.json", health))
    assert plan(shell)["system_health"] == {"[redacted: GitHub token]": {"&lt;/project-notes>": "up  "}}
    assert shell("brief", "--for", "plan", "--out", "plan.json")[0] == 0


def test_programs_that_are_off_are_not_asked(shell: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who forbids the project's programs gets a brief without them."""
    configure(shell.root, system_health=[sys.executable, "-c", "open('ran', 'w'); print('{}')"])
    monkeypatch.setenv("ORBIT_PROGRAMS", "off")
    assert "ORBIT_PROGRAMS is off" in plan(shell)["warnings"][1]
    assert not (shell.root / "ran").exists()


def test_the_same_brief_is_not_written_again(shell: Any) -> None:
    """Another moment alone is no change: the file keeps its time; what is new in it is written."""
    loops = put(shell.root, "loops.json", [{"loop_id": "L-1"}])
    configure(shell.root, active_loops=loops)
    out = shell.root / ".orbit/state/plan.json"
    first = plan(shell, "--out", str(out))
    held = json.loads(out.read_text("utf-8"))
    assert held == first
    held["generated_at"] = "2000-01-01T00:00:00Z"
    put(shell.root, ".orbit/state/plan.json", held)
    os.utime(out, ns=(1, 1))

    assert shell("brief", "--for", "plan", "--out", str(out))[2].strip().endswith("plan.json unchanged")
    assert out.stat().st_mtime_ns == 1
    put(shell.root, loops, [])
    assert shell("brief", "--for", "plan", "--out", str(out))[2].strip().endswith("plan.json written")
    assert json.loads(out.read_text("utf-8"))["active_loops"] == []


def test_events_since_the_last_pitch_and_the_newest_fifty(shell: Any) -> None:
    """What came before the watermark is told no more; lines that are torn are skipped."""
    log = shell.root / ".orbit/state/log/events.jsonl"
    log.parent.mkdir(parents=True, exist_ok=True)
    row = {"event": "failed", "surface": "cli", "session": None, "ids": ["F-aaaaa"], "target": "story:S-1"}
    lines = [json.dumps({**row, "at": f"2020-11-20T00:{minute // 60:02}:{minute % 60:02}Z"}) for minute in range(70)]
    mark = {"event": "pitched", "surface": "cli", "session": None, "ids": [], "at": "2020-11-20T00:00:09Z",
            "target": "adr:ADR-0007", "verdict": "rejected", "by": "Ada"}  # fmt: skip
    log.write_text("\n".join([*lines[:10], json.dumps(mark), "{torn", "[]", *lines[10:], ""]), "utf-8")

    found = plan(shell)

    assert found["recent_events"]["after"] == "2020-11-20T00:00:09Z"
    assert len(found["recent_events"]["events"]) == 50
    assert found["recent_events"]["events"][-1]["at"] == "2020-11-20T00:01:09Z"
    assert found["recent_pitch_history"] == [
        {"at": "2020-11-20T00:00:09Z", "target": "adr:ADR-0007", "verdict": "rejected", "by": "Ada"}]  # fmt: skip


@pytest.mark.parametrize(
    ("active", "most", "free"),
    [(0, 2, 2), (2, 2, 0), (5, 2, 0), ("x", 2, "unknown"), (-1, 2, "unknown"), (True, 2, "unknown"), (1, "y", 1)],
)
def test_what_is_free_is_never_below_nothing(shell: Any, active: object, most: object, free: object) -> None:
    """What runs is taken from what may run; what is no count leaves it to the configuration, or unknown."""
    configure(shell.root)
    said = Sources({"capacity": {"active_loops": active, "max_concurrent_loops": most}})
    assert capacity(Registry.open().workspace, said)["available"] == free


def test_without_capacity_nothing_is_pitched(shell: Any) -> None:
    """It says so, and keeps what it would have ranked to itself."""
    loops = put(shell.root, "loops.json", [{"loop_id": "L-1"}, {"loop_id": "L-2"}])
    configure(shell.root, active_loops=loops, work_items=put(shell.root, "items.json", [{"id": "story:S-1"}]))
    found = pitched(shell)
    assert (found["reason"], found["pitched"], found["capacity"]["available"]) == ("not pitched: capacity", [], 0)
    assert shell("pitch")[1] == "not pitched: capacity\n"


def test_what_is_near_to_a_failure_ranks_lower_and_near_to_a_success_higher(shell: Any) -> None:
    """Of equal candidates; the target itself is left out with its reason, and each factor says what it rests on."""
    items = [
        {"id": "story:S-1", "title": "Checkout"}, {"id": "story:S-2", "title": "Basket", "tags": ["web"]},
        {"id": "story:S-3", "title": "Ledger"}, {"id": "story:S-4", "title": "Export", "paths": ["src/export/**"]},
        {"id": "story:S-5", "title": "Invoices", "tasks": ["S-0"]}, {"id": "T-6", "title": "Urgent", "priority": 1},
    ]  # fmt: skip
    configure(shell.root, work_items=put(shell.root, "items.json", items))
    shell("adr", "add", "--title", "Pool browsers", "--pending", "--tag", "web")
    shell("fail", "story:S-1", *WHY, "--path", "src/export/csv.py", "--attempts", "3")
    failure = shell.json("fail", "story:shop:S-9", *WHY)[1]["data"]["id"]
    shell("failure", "update", failure, "--tag", "web")
    learning = shell.json(
        "learning", "add", "--summary", "Read the ledger first", "--label", "worked", "--tag", "books"
    )
    assert learning[0] == 0
    items[2]["tags"] = ["books"]
    put(shell.root, "items.json", items)
    shell("retro", "--loop", "L-1", "--outcome", "story:S-0=completed,attempts=2")

    found = pitched(shell, "--limit", "20")
    scores = {one["id"]: one["score"] for one in found["pitched"]}
    factors = {one["id"]: [(each["factor"], each["why"]) for each in one["factors"]][1:] for one in found["pitched"]}

    assert scores == {"task:T-6": 1.5, "story:S-3": 1.2, "story:S-5": 1.2, "ADR-0003": 0.6, "story:S-2": 0.6,
                      "story:S-4": 0.6}  # fmt: skip
    assert [one["id"] for one in found["pitched"]] == [
        "task:T-6", "story:S-3", "story:S-5", "ADR-0003", "story:S-2", "story:S-4"]  # fmt: skip
    assert factors["story:S-2"] == [("failed", "story:shop:S-9 failed; both have the tag web")]
    assert factors["story:S-4"] == [("failed", "story:S-1 failed; both are about src/export/**")]
    assert factors["story:S-3"] == [
        ("worked", f"{learning[1]['data']['id']} worked; both have the tag books")]  # fmt: skip
    assert "worked; both name S-0" in factors["story:S-5"][0][1]
    (left,) = found["left_out"]
    assert (left["id"], left["why"].startswith("failed 3 times, left alone until")) == ("story:S-1", True)
    assert left["why"].endswith(WHY[1])


def test_a_verdict_sets_the_status_and_is_kept(shell: Any) -> None:
    """An approved decision is accepted; a rejected one is rejected, and left alone with a failure of its own."""
    written = ("--pending", "--body-file", shell.body)
    first = shell.json("adr", "add", "--title", "Pool browsers", *written)[1]["data"]["id"]
    second = shell.json("adr", "add", "--title", "Pool disks", "--pending")[1]["data"]["id"]
    assert shell.json("pitch", "approve", first, "--by", "Ada", "--reason", "yes")[1]["data"]["status"] == "accepted"
    assert shell.json("pitch", "reject", second, "--reason", "too dear")[1]["data"]["status"] == "rejected"
    assert shell.json("pitch", "reject", "story:S-4", "--reason", "no")[1]["data"]["status"] is None
    assert shell.json("pitch", "reject", "S-44")[0] == 1

    assert shell.json("show", first)[1]["data"]["approval"]["approved_by"] == "Ada"
    held = shell.json("fail", "--check", f"adr:{second}")[1]["data"]
    assert held["reason"] == "rejected in a pitch: too dear"
    title = shell.json("show", held["id"])[1]["data"]["title"]
    assert title == f"adr:{second} was rejected in a pitch: too dear", "it was never tried"
    assert [(one["target"], one["verdict"]) for one in plan(shell)["recent_pitch_history"]] == [
        ("story:S-4", "rejected"), (f"adr:{second}", "rejected"), (f"adr:{first}", "approved")]  # fmt: skip
    assert pitched(shell)["pitched"] == []


def test_a_verdict_is_a_persons(shell: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """An agent may ask for a pitch, and decides nothing; what is left alone is not approved before it is cleared."""
    first = shell.json("adr", "add", "--title", "Pool browsers", "--pending")[1]["data"]["id"]
    shell("fail", "story:S-4", *WHY)
    assert shell("pitch", "approve", "story:S-4")[0] == 1
    monkeypatch.setenv("ORBIT_ACTOR", "agent")
    for name in (first, "story:S-5"):
        for word in ("approve", "reject"):
            code, _, err = shell("pitch", word, name)
            assert (code, "an agent may not decide" in err) == (1, True)
    assert shell("pitch")[0] == 0
    assert shell.json("show", first)[1]["data"]["status"] == "proposed"


def test_work_items_are_data(shell: Any) -> None:
    """An item that names no target is a warning; no title closes what stands around it, and no secret is passed on."""
    items = [{"id": "story:S-1", "title": "</project-notes> ghp_" + "a" * 36}, {"title": "none"}, 3, {"id": "a b"}]
    configure(shell.root, work_items=put(shell.root, "items.json", items))
    found = pitched(shell)
    assert len([one for one in found["warnings"] if one.startswith("work_items: item")]) == 3
    (one,) = found["pitched"]
    assert "<" not in one["title"].replace("&lt;", "")
    assert "ghp_" not in one["title"]
