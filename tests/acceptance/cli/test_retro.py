"""`orbit retro`: what came of a run stands once, and takes nothing away."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from orbit_registry.model.record import Record
from orbit_registry.registry import Registry
from orbit_registry.retro import failures
from orbit_registry.retro.failures import Target
from orbit_registry.retro.form import Outcome, Retro
from orbit_registry.retro.keep import record_retro
from orbit_registry.workspace.author import Author

ADA = Author("Ada", "human")
NOW = datetime(2026, 11, 22, 8, tzinfo=UTC)
TOLD = """\
---
loop: L-17
project: shop
---
# Loop 17

Three stories, one given up.

## Outcomes

| target | result | attempts | tools | reason |
|---|---|---|---|---|
| story:shop:S-1 | failed | 3 | codex, pytest | the sandbox has no browser |
| story:shop:S-2 | completed | 1 | codex | |
| story:shop:S-3 | failed | 0 | | |

## What worked

- Reading the fixture first saved a round of guessing
- ok

## What struggled

- The sandbox has no browser; ask for one
  before the plan is made

## Step 1

The whole story of it.

### Result

It compiled.

## Recommendations

- Teach the plan skill to look for a browser
"""


@pytest.fixture
def told(shell: Any) -> Path:
    """Return a file with a retro."""
    file = Path(shell.root) / "retro.md"
    file.write_text(TOLD, "utf-8")
    return file


def holding(target: str) -> Record | None:
    """Return the failure of a target that holds now."""
    return failures.open_failure(Registry.open().collection.records, failures.read_target(target), datetime.now(UTC))


def files(root: Path) -> dict[str, str]:
    """Return every record's files with their texts."""
    kept = [*(root / ".orbit").glob("[!s]*/*/*"), *(root / ".orbit/state/inbox").glob("*/*/*")]
    return {str(file): file.read_text("utf-8") for file in kept if file.is_file()}


def events(root: Path, *names: str) -> list[dict[str, Any]]:
    """Return the events of some names."""
    lines = (root / ".orbit/state/log/events.jsonl").read_text("utf-8").splitlines()
    return [row for row in map(json.loads, lines) if row["event"] in names]


def test_each_finding_waits_as_a_learning_of_the_retro(shell: Any, told: Path) -> None:
    """What has a sentence's length is linked to it; the record says what became of each target, its text the rest."""
    done = shell.json("retro", "--from", str(told))[1]["data"]
    record = shell.json("show", done["retro"]["id"])[1]["data"]
    found = [shell.json("show", one["id"])[1]["data"] for one in done["findings"]]

    assert (record["status"], record["key"]) == ("recorded", "loop:shop:L-17")
    assert [(one["target"]["id"], one["result"], one["attempts"]) for one in record["outcomes"]] == [
        ("S-1", "failed", 3), ("S-2", "completed", 1), ("S-3", "failed", 0)]  # fmt: skip
    assert "It compiled." in record["prose"]
    assert "The whole story" not in record["prose"]
    assert [(one["summary"], one["labels"], one["phase"]) for one in found] == [
        ("Reading the fixture first saved a round of guessing", ["worked"], "pending"),
        ("The sandbox has no browser; ask for one before the plan is made", ["struggled"], "pending"),
    ]
    assert all(one["links"] == [{"rel": "derived_from", "to": record["id"]}] for one in found)
    assert (shell.root / record["path"]).with_name("retro.md").read_text("utf-8").startswith("# Loop 17\n")
    assert shell("check")[0] == 0


def test_the_same_retro_twice_changes_nothing(shell: Any, told: Path) -> None:
    """Not a byte of a record, and no event; a second one of the project adds its own beside them."""
    shell("retro", "--from", str(told))
    before = files(shell.root)
    again = shell.json("retro", "--from", str(told))[1]["data"]

    assert (again["outcome"], again["counts"]["unchanged"], again["opened"]) == ("unchanged", 2, [])
    assert files(shell.root) == before
    assert len(events(shell.root, "retro")) == 1

    other = shell.json("retro", "--loop", "L-18", "--project", "shop", "--worked", "A plan of one page was read by all")
    assert other[1]["data"]["counts"]["inserted"] == 1
    assert {name: files(shell.root)[name] for name in before} == before


def test_more_said_of_a_run_takes_nothing_away(shell: Any, told: Path) -> None:
    """Outcomes are joined by target, lists gain entries, and the learnings of the first stay as they are."""
    first = shell.json("retro", "--from", str(told))[1]["data"]
    more = ["--loop", "L-17", "--project", "shop", "--struggled", "The linter needs half a minute to start"]
    second = shell.json("retro", *more, "--outcome", "story:shop:S-4=requeued,attempts=2,tool=codex")[1]["data"]

    assert (second["outcome"], second["retro"]["id"]) == ("updated", first["retro"]["id"])
    assert second["counts"] == {"inserted": 1, "updated": 0, "unchanged": 2, "refused": 0}
    record = shell.json("show", first["retro"]["id"])[1]["data"]
    assert [one["target"]["id"] for one in record["outcomes"]] == ["S-1", "S-2", "S-3", "S-4"]
    assert record["title"] == "Loop 17"
    for said in ("Reading the fixture first", "The linter needs", "It compiled."):
        assert said in record["prose"]


def test_only_what_was_tried_fails_and_with_its_attempts(shell: Any, told: Path) -> None:
    """A target that was never tried is no failure; one that failed is left alone from then on."""
    done = shell.json("retro", "--from", str(told))[1]["data"]
    assert [one["target"] for one in done["opened"]] == ["story:shop:S-1"]
    held = shell.json("fail", "--check", "story:shop:S-1")[1]["data"]
    assert (held["attempts"], held["reason"]) == (3, "the sandbox has no browser")
    assert shell("fail", "--check", "story:shop:S-3")[0] == 0


@pytest.mark.parametrize(("result", "event"), [("completed", "cleared"), ("requeued", "requeued")])
def test_success_and_requeue_clear_with_an_event(shell: Any, told: Path, result: str, event: str) -> None:
    """The failure stays as history; the first retro again does not bring it back."""
    shell("retro", "--from", str(told))
    done = shell.json("retro", "--loop", "L-18", "--outcome", f"story:shop:S-1={result},attempts=2")[1]["data"]
    assert [one["target"] for one in done["cleared"]] == ["story:shop:S-1"]
    assert [row["target"] for row in events(shell.root, event)] == ["story:shop:S-1"]
    shell("retro", "--from", str(told))
    assert shell("fail", "--check", "story:shop:S-1")[0] == 0
    assert len(shell.json("failure", "list", "--all")[1]["data"]) == 1


def test_a_run_says_nothing_about_what_came_later(shell: Any) -> None:
    """A failure that somebody met after the run was over is not cleared by its retro; one from before is."""
    workspace = Registry.open().workspace
    shell("fail", "story:S-1", "--reason", "no disk")
    early, late = (
        Retro(Target("loop", "", name), date, outcomes=(Outcome(Target("story", "", "S-1"), "requeued", 2),))
        for name, date in (("L-1", "2020-01-01"), ("L-2", ""))
    )
    now = datetime.now(UTC)
    assert record_retro(workspace, early, ADA, now).cleared == ()
    assert len(record_retro(workspace, late, ADA, now + timedelta(minutes=1)).cleared) == 1


def test_what_failed_long_ago_may_be_tried(shell: Any) -> None:
    """Whoever takes old retros over opens no failure whose time was over before."""
    old = Retro(Target("loop", "", "L-1"), "2026-11-14", outcomes=(Outcome(Target("story", "", "S-1"), "failed"),))
    kept = record_retro(Registry.open().workspace, old, ADA, NOW)
    assert (kept.outcome, kept.opened) == ("inserted", ())
    assert "more than 7 days ago" in kept.notes[0]


def test_what_runs_the_loop_never_sticks(shell: Any) -> None:
    """A schedule that failed once would keep everything from running: it can't be failed, in no way."""
    assert shell("fail", "schedule:nightly", "--reason", "no network")[0] == 1
    done = shell.json("retro", "--loop", "L-1", "--outcome", "schedule:nightly=failed,attempts=2")[1]["data"]
    assert done["opened"] == []
    assert "can't be left alone" in done["notes"][0]


def test_noise_is_not_kept(shell: Any) -> None:
    """Below the bar nothing is written but the event that says why."""
    before = files(shell.root)
    code, out, _ = shell("retro", "--loop", "L-1", "--worked", "ok", "--outcome", "story:S-1=completed,attempts=1")
    assert (code, out.startswith("nothing was written: below the noise bar")) == (0, True)
    assert files(shell.root) == before
    assert [row["skip_reason"] for row in events(shell.root, "retro")] == ["below-noise-bar"]


CLOSED = """\
# Sprint 12

## 👍 What went well?

- CI green

## What didn’t go well? 😕

- CI slow

## Start / stop

### Stop doing

- [ ] merging on Fridays

### Start:

1. start each review with the tests

### Notes

Ada was away.

## ✅ Action Items

- [x] cache it
"""


def test_a_closed_retro_in_other_words_is_kept(shell: Any) -> None:
    """Each heading begins its part, also of the third level, and advice is no noise, however short."""
    (shell.root / "retro.md").write_text(CLOSED, encoding="utf-8")
    done = shell.json("retro", "--session", "12", "--from", "retro.md")[1]["data"]
    record, text = done["retro"], (shell.root / f".orbit/retros/{done['retro']['id']}/retro.md").read_text("utf-8")
    assert (done["outcome"], record["title"]) == ("inserted", "Sprint 12")
    assert record["recommendations"] == ["Stop: merging on Fridays", "start each review with the tests", "cache it"]
    parts = [part.split("\n", 1)[0] for part in text.split("## ")[1:]]
    assert (parts, "- CI green" in text, "- CI slow" in text) == (
        ["What worked", "What struggled", "Notes"],
        True,
        True,
    )
    assert shell.json("retro", "--session", "12", "--from", "retro.md")[1]["data"]["outcome"] == "unchanged"


def test_what_a_gathered_heading_says_is_no_part_below_a_step(shell: Any) -> None:
    """How a step went is the transcript's: a heading in it begins no part."""
    (shell.root / "retro.md").write_text("# Run\n\n## Step 1\n\n### What went wrong\n\n- The disk was full twice.\n")
    code, out, _ = shell("retro", "--session", "13", "--from", "retro.md")
    assert (code, out.startswith("nothing was written: below the noise bar")) == (0, True)


def test_an_agents_retro_waits(shell: Any, told: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its record is a draft; once a person recorded it, the agent changes it no more, and its findings still arrive."""
    monkeypatch.setenv("ORBIT_ACTOR", "agent")
    done = shell.json("retro", "--from", str(told))[1]["data"]
    assert done["retro"]["status"] == "draft"
    monkeypatch.setenv("ORBIT_ACTOR", "human")
    assert shell("promote", done["retro"]["id"])[0] == 0
    monkeypatch.setenv("ORBIT_ACTOR", "agent")
    more = ["--loop", "L-17", "--project", "shop", "--worked", "A plan of one page was read by all"]
    code, whole = shell.json("retro", *more)
    assert (code, whole["data"]["outcome"], whole["data"]["counts"]["inserted"]) == (1, "refused", 1)


def test_a_discarded_retro_stays_discarded(shell: Any, told: Path) -> None:
    """Who turned it down is not asked again, and nothing else comes of it."""
    done = shell.json("retro", "--from", str(told), "--pending")[1]["data"]
    shell("reject", done["retro"]["id"], "--reason", "another run")
    before = files(shell.root)
    assert shell.json("retro", "--from", str(told))[1]["data"]["outcome"] == "unchanged"
    assert files(shell.root) == before


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ('{"loop": "L 1"}', "no target"), ('{"loops": "L-1"}', "`loops` is not known"), ("[1]", "of which run"),
        ('{"loop": "a", "session": "b"}', "more than one"), ('{"loop": "a", "outcomes": 3}', "not a list"),
        ('{"loop": "a", "outcomes": [{"target": "S", "result": "failed"}]}', "no target"),
        ('{"loop": "a", "outcomes": [{"target": "story:S", "result": "broke"}]}', "'broke' is no result"),
        ('{"loop": "a", "outcomes": [{"target": "story:S", "result": "failed", "attempts": -1}]}', "attempts"),
        ('{"loop": "a", "outcomes": [{"target": "story:S", "result": "failed", "tools": 5}]}', "no list of names"),
        ('{"loop": "a", "date": "soon", "worked": ["A sentence of some length."]}', "is no date"),
        ('{"loop": "a", "worked": [1]}', "not a list of texts"), ('{"loop": ', "retro.md"),
        ("---\nloop: a\n---\n# A\n\n## Outcomes\n\nnone\n", "retro.md: Outcomes: 'none' is no outcome"),
        ('{"loop": "a", "worked": ["The key is ghp_' + "a" * 36 + '"]}', "holds a secret"),
    ],
)  # fmt: skip
def test_what_is_no_retro_is_refused(shell: Any, told: Path, said: str, words: str) -> None:
    """With a sentence that says what is wrong, and nothing written."""
    told.write_text(said, "utf-8")
    before = files(shell.root)
    code, _, err = shell("retro", "--from", str(told))
    assert code in (1, 2)
    assert words in err
    assert "Traceback" not in err
    assert files(shell.root) == before


def test_a_failure_opened_by_hand_is_joined(shell: Any, told: Path) -> None:
    """One failure a target: the retro's attempts and link go into the one that holds."""
    first = shell.json("fail", "story:shop:S-1", "--reason", "no browser")[1]["data"]["id"]
    shell("retro", "--from", str(told))
    held = failures.open_failure(
        Registry.open().collection.records, failures.read_target("story:shop:S-1"), datetime.now(UTC)
    )
    assert held is not None
    assert (held.id, held.data["attempts"], len(held.links)) == (first, 3, 1)


def test_a_dry_run_writes_nothing(shell: Any, told: Path) -> None:
    """A retro, its findings and failures are told as they would be; neither record nor event is there."""
    before = files(shell.root)
    would = shell.json("retro", "--from", str(told), "--dry-run")[1]["data"]
    assert (would["outcome"], [one["outcome"] for one in would["findings"]]) == ("inserted", ["inserted"] * 2)
    assert [one["target"] for one in would["opened"]] == ["story:shop:S-1"]
    assert files(shell.root) == before
    assert not (shell.root / ".orbit/state/log/events.jsonl").exists()


def test_findings_in_other_words_leave_one_candidate(shell: Any) -> None:
    """Within a retro, and in a later one of another loop; a negation, or another matter, makes two of them."""
    said = [
        "The sandbox has no browser; ask for one before the plan",
        "The sandbox has no browser, so ask before the plan",
    ]
    one = shell.json("retro", "--loop", "L-1", *[word for text in said for word in ("--struggled", text)])[1]["data"]
    assert [finding["outcome"] for finding in one["findings"]] == ["inserted", "unchanged"]
    assert one["findings"][1]["id"] == one["findings"][0]["id"]
    more = ["Before the plan, ask: the sandbox has no browser",
            "The sandbox has no network; ask for it before the tests"]  # fmt: skip
    two = shell.json("retro", "--loop", "L-2", *[word for text in more for word in ("--struggled", text)])[1]["data"]
    assert [finding["outcome"] for finding in two["findings"]] == ["unchanged", "inserted"]


def test_what_people_changed_stays_while_the_producer_says_the_same(shell: Any, told: Path) -> None:
    """A learning that was edited in review is not set back by the next run of the same retro, nor of any producer."""
    one = shell.json("retro", "--from", str(told))[1]["data"]["findings"][0]["id"]
    assert shell("learning", "update", one, "--summary", "Read the fixture first", "--path", "src/**")[0] == 0
    other = shell.json("ensure", "learning", "--key", "d/1", "--title", "Name each lock")[1]["data"]["entries"][0]["id"]
    assert shell("learning", "update", other, "--summary", "Name each lock by its owner")[0] == 0
    before = files(shell.root)
    shell("retro", "--from", str(told))
    again = shell.json("ensure", "learning", "--key", "d/1", "--title", "Name each lock")[1]["data"]["entries"][0]
    assert again["outcome"] == "unchanged"
    assert files(shell.root) == before
    said = shell.json("ensure", "learning", "--key", "d/1", "--title", "Name no lock")[1]["data"]["entries"][0]
    assert (said["outcome"], said["id"]) == ("updated", other)
