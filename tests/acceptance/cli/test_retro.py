"""`orbit retro` with a file or flags."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.files import events

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
def retro_file(shell: Any) -> Path:
    file = Path(shell.root) / "retro.md"
    file.write_text(TOLD, "utf-8")
    return file


def open_failure(target: str) -> Record | None:
    return failures.open_failure(Registry.open().collection.records, failures.read_target(target), datetime.now(UTC))


def files(root: Path) -> dict[str, str]:
    saved = [*(root / ".orbit").glob("[!s]*/*/*"), *(root / ".orbit/state/inbox").glob("*/*/*")]
    return {str(file): file.read_text("utf-8") for file in saved if file.is_file()}


def test_findings_become_pending_learnings(shell: Any, retro_file: Path) -> None:
    done = shell.data("retro", "--from", str(retro_file))
    record = shell.data("show", done["retro"]["id"])
    result = [shell.data("show", entry["id"]) for entry in done["findings"]]

    assert (record["status"], record["key"]) == ("recorded", "loop:shop:L-17")
    assert [(entry["target"]["id"], entry["result"], entry["attempts"]) for entry in record["outcomes"]] == [
        ("S-1", "failed", 3), ("S-2", "completed", 1), ("S-3", "failed", 0)]  # fmt: skip
    assert "It compiled." in record["prose"]
    assert "The whole story" not in record["prose"]
    assert [(entry["summary"], entry["labels"], entry["phase"]) for entry in result] == [
        ("Reading the fixture first saved a round of guessing", ["worked"], "pending"),
        ("The sandbox has no browser; ask for one before the plan is made", ["struggled"], "pending"),
    ]
    assert all(entry["links"] == [{"rel": "derived_from", "to": record["id"]}] for entry in result)
    assert (shell.root / record["path"]).with_name("retro.md").read_text("utf-8").startswith("# Loop 17\n")
    assert shell("check")[0] == 0


def test_the_same_retro_twice_changes_nothing(shell: Any, retro_file: Path) -> None:
    shell("retro", "--from", str(retro_file))
    before = files(shell.root)
    again = shell.data("retro", "--from", str(retro_file))

    assert (again["outcome"], again["counts"]["unchanged"], again["opened"]) == ("unchanged", 2, [])
    assert files(shell.root) == before
    assert len(events(shell.root, "retro")) == 1

    other = shell.json("retro", "--loop", "L-18", "--project", "shop", "--worked", "A plan of one page was read by all")
    assert other[1]["data"]["counts"]["inserted"] == 1
    assert {name: files(shell.root)[name] for name in before} == before


def test_a_second_retro_of_a_run_adds_to_it(shell: Any, retro_file: Path) -> None:
    first = shell.data("retro", "--from", str(retro_file))
    more = ["--loop", "L-17", "--project", "shop", "--struggled", "The linter needs half a minute to start"]
    second = shell.data("retro", *more, "--outcome", "story:shop:S-4=requeued,attempts=2,tool=codex")

    assert (second["outcome"], second["retro"]["id"]) == ("updated", first["retro"]["id"])
    assert second["counts"] == {"inserted": 1, "updated": 0, "unchanged": 2, "refused": 0}
    record = shell.data("show", first["retro"]["id"])
    assert [entry["target"]["id"] for entry in record["outcomes"]] == ["S-1", "S-2", "S-3", "S-4"]
    assert record["title"] == "Loop 17"
    for message in ("Reading the fixture first", "The linter needs", "It compiled."):
        assert message in record["prose"]


def test_only_tried_targets_fail(shell: Any, retro_file: Path) -> None:
    done = shell.data("retro", "--from", str(retro_file))
    assert [entry["target"] for entry in done["opened"]] == ["story:shop:S-1"]
    current = shell.data("fail", "--check", "story:shop:S-1")
    assert (current["attempts"], current["reason"]) == (3, "the sandbox has no browser")
    assert shell("fail", "--check", "story:shop:S-3")[0] == 0


@pytest.mark.parametrize(("result", "event"), [("completed", "cleared"), ("requeued", "requeued")])
def test_success_and_requeue_clear_a_failure(shell: Any, retro_file: Path, result: str, event: str) -> None:
    shell("retro", "--from", str(retro_file))
    done = shell.data("retro", "--loop", "L-18", "--outcome", f"story:shop:S-1={result},attempts=2")
    assert [entry["target"] for entry in done["cleared"]] == ["story:shop:S-1"]
    assert [row["target"] for row in events(shell.root, event)] == ["story:shop:S-1"]
    shell("retro", "--from", str(retro_file))
    assert shell("fail", "--check", "story:shop:S-1")[0] == 0
    assert len(shell.data("failure", "list", "--all")) == 1


def test_a_retro_does_not_clear_later_failures(shell: Any) -> None:
    workspace = Registry.open().workspace
    shell("fail", "story:S-1", "--reason", "no disk")
    early, late = (
        Retro(Target("loop", "", name), date, outcomes=(Outcome(Target("story", "", "S-1"), "requeued", 2),))
        for name, date in (("L-1", "2020-01-01"), ("L-2", ""))
    )
    now = datetime.now(UTC)
    assert record_retro(workspace, early, ADA, now).cleared == ()
    assert len(record_retro(workspace, late, ADA, now + timedelta(minutes=1)).cleared) == 1


def test_an_old_retro_opens_no_failure(shell: Any) -> None:
    old = Retro(Target("loop", "", "L-1"), "2026-11-14", outcomes=(Outcome(Target("story", "", "S-1"), "failed"),))
    saved = record_retro(Registry.open().workspace, old, ADA, NOW)
    assert (saved.outcome, saved.opened) == ("inserted", ())
    assert "more than 7 days ago" in saved.notes[0]


def test_a_schedule_never_fails(shell: Any) -> None:
    """Else nothing would run again."""
    assert shell("fail", "schedule:nightly", "--reason", "no network")[0] == 1
    done = shell.data("retro", "--loop", "L-1", "--outcome", "schedule:nightly=failed,attempts=2")
    assert done["opened"] == []
    assert "can't be left alone" in done["notes"][0]


def test_a_retro_of_noise_is_not_written(shell: Any) -> None:
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


def test_headings_in_other_words_are_understood(shell: Any) -> None:
    (shell.root / "retro.md").write_text(CLOSED, encoding="utf-8")
    done = shell.data("retro", "--session", "12", "--from", "retro.md")
    record, text = done["retro"], (shell.root / f".orbit/retros/{done['retro']['id']}/retro.md").read_text("utf-8")
    assert (done["outcome"], record["title"]) == ("inserted", "Sprint 12")
    assert record["recommendations"] == ["Stop: merging on Fridays", "start each review with the tests", "cache it"]
    parts = [part.split("\n", 1)[0] for part in text.split("## ")[1:]]
    assert parts == ["What worked", "What struggled", "Notes"]
    assert ("- CI green" in text, "- CI slow" in text) == (True, True)
    assert shell.data("retro", "--session", "12", "--from", "retro.md")["outcome"] == "unchanged"


def test_an_agents_retro_is_a_draft(shell: Any, retro_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ORBIT_ACTOR", "agent")
    done = shell.data("retro", "--from", str(retro_file))
    assert done["retro"]["status"] == "draft"
    monkeypatch.setenv("ORBIT_ACTOR", "human")
    assert shell("promote", done["retro"]["id"])[0] == 0
    monkeypatch.setenv("ORBIT_ACTOR", "agent")
    more = ["--loop", "L-17", "--project", "shop", "--worked", "A plan of one page was read by all"]
    code, envelope = shell.json("retro", *more)
    assert (code, envelope["data"]["outcome"], envelope["data"]["counts"]["inserted"]) == (1, "refused", 1)


def test_a_discarded_retro_stays_discarded(shell: Any, retro_file: Path) -> None:
    done = shell.data("retro", "--from", str(retro_file), "--pending")
    shell("reject", done["retro"]["id"], "--reason", "another run")
    before = files(shell.root)
    assert shell.data("retro", "--from", str(retro_file))["outcome"] == "unchanged"
    assert files(shell.root) == before


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ('{"loop": "L 1"}', "not a target"), ('{"loops": "L-1"}', "`loops` is not known"), ("[1]", "of which run"),
        ('{"loop": "a", "session": "b"}', "more than one"), ('{"loop": "a", "outcomes": 3}', "not a list"),
        ('{"loop": "a", "outcomes": [{"target": "S", "result": "failed"}]}', "not a target"),
        ('{"loop": "a", "outcomes": [{"target": "story:S", "result": "broke"}]}', "'broke' is not a result"),
        ('{"loop": "a", "outcomes": [{"target": "story:S", "result": "failed", "attempts": -1}]}', "attempts"),
        ('{"loop": "a", "outcomes": [{"target": "story:S", "result": "failed", "tools": 5}]}', "not a list of names"),
        ('{"loop": "a", "date": "soon", "worked": ["A sentence of some length."]}', "is not a date"),
        ('{"loop": "a", "worked": [1]}', "not a list of texts"), ('{"loop": ', "retro.md"),
        ("---\nloop: a\n---\n# A\n\n## Outcomes\n\nnone\n", "retro.md: Outcomes: 'none' is not an outcome"),
        ('{"loop": "a", "worked": ["The key is ghp_' + "a" * 36 + '"]}', "holds a secret"),
    ],
)  # fmt: skip
def test_an_invalid_retro_is_refused(shell: Any, retro_file: Path, message: str, words: str) -> None:
    retro_file.write_text(message, "utf-8")
    before = files(shell.root)
    code, _, err = shell("retro", "--from", str(retro_file))
    assert code in (1, 2)
    assert words in err
    assert "Traceback" not in err
    assert files(shell.root) == before


def test_a_retro_updates_an_open_failure(shell: Any, retro_file: Path) -> None:
    first = shell.data("fail", "story:shop:S-1", "--reason", "no browser")["id"]
    shell("retro", "--from", str(retro_file))
    current = open_failure("story:shop:S-1")
    assert current is not None
    assert (current.id, current.data["attempts"], len(current.links)) == (first, 3, 1)


def test_similar_findings_are_one_candidate(shell: Any) -> None:
    def findings(loop: str, *texts: str) -> Any:
        words = [word for text in texts for word in ("--struggled", text)]
        return shell.data("retro", "--loop", loop, *words)["findings"]

    first, second = findings("L-1", "The sandbox has no browser; ask for one before the plan",
                             "The sandbox has no browser, so ask before the plan")  # fmt: skip
    assert (first["outcome"], second["outcome"], second["id"]) == ("inserted", "unchanged", first["id"])
    later = findings("L-2", "Before the plan, ask: the sandbox has no browser",
                     "The sandbox has no network; ask for it before the tests")  # fmt: skip
    assert [finding["outcome"] for finding in later] == ["unchanged", "inserted"]


def test_edits_stay_while_the_producer_repeats_itself(shell: Any, retro_file: Path) -> None:
    entry = shell.data("retro", "--from", str(retro_file))["findings"][0]["id"]
    assert shell("learning", "update", entry, "--summary", "Read the fixture first", "--path", "src/**")[0] == 0
    other = shell.data("ensure", "learning", "--key", "d/1", "--title", "Name each lock")["entries"][0]["id"]
    assert shell("learning", "update", other, "--summary", "Name each lock by its owner")[0] == 0
    before = files(shell.root)
    shell("retro", "--from", str(retro_file))
    again = shell.data("ensure", "learning", "--key", "d/1", "--title", "Name each lock")["entries"][0]
    assert again["outcome"] == "unchanged"
    assert files(shell.root) == before
    message = shell.data("ensure", "learning", "--key", "d/1", "--title", "Name no lock")["entries"][0]
    assert (message["outcome"], message["id"]) == ("updated", other)


RUN_FILE = "---\nloop: L-17\n{project}---\n# A loop\n\n## What worked\n\n- Reading the fixture first saved a round\n"


@pytest.mark.parametrize(
    ("project", "flags", "key"),
    [
        ("shop", ["--loop", "L-17"], "loop:shop:L-17"), ("shop", ["--project", "shop"], "loop:shop:L-17"),
        ("", ["--project", "shop"], "loop:shop:L-17"), ("", ["--loop", "L-17", "--project", "shop"], "loop:shop:L-17"),
        ("shop", ["--loop", "L-18"], ""), ("shop", ["--project", "site"], ""), ("shop", ["--session", "L-17"], ""),
    ],
)  # fmt: skip
def test_flags_complete_or_contradict_the_file(shell: Any, project: str, flags: list[str], key: str) -> None:
    file = shell.root / "retro.md"
    file.write_text(RUN_FILE.format(project=f"project: {project}\n" if project else ""), "utf-8")
    code, envelope = shell.json("retro", "--from", str(file), *flags)
    assert code == (0 if key else 2)
    assert (envelope["data"]["retro"]["key"] if envelope["ok"] else "") == key
