"""`orbit propose` from retros and from the event log: words of a record as a diff, everything else as a note."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from orbit_registry.hook.events import Event, append

BROWSER = "The sandbox has no browser; ask for one before the plan is made"


def learn(shell: Any, summary: str, *more: str) -> str:
    """Add a learning and return its id."""
    return str(shell.json("learning", "add", "--summary", summary, *more)[1]["data"]["id"])


def proposed(shell: Any, *arguments: str) -> list[dict[str, Any]]:
    """Return what is proposed."""
    found: list[dict[str, Any]] = shell.json("propose", *arguments)[1]["data"]["proposals"]
    return found


def planning_page(shell: Any, text: str) -> None:
    """Write the page of a skill that is called planning."""
    page = shell.root / "skills/planning/SKILL.md"
    page.parent.mkdir(parents=True)
    page.write_text(f"---\nname: planning\ndescription: How runs are planned.\n---\n\n# Planning\n\n{text}\n", "utf-8")


def advise(shell: Any, loop: str, text: str) -> str:
    """Record a retro that recommends something and return its id."""
    outcome = ("--summary", "x", "--outcome", "story:S-1=failed,attempts=2")
    return str(shell.json("retro", "--loop", loop, "--recommend", text, *outcome)[1]["data"]["retro"]["id"])


def failed(root: Path, session: str, record: str, path: str) -> None:
    """Write that a call on a file failed as a record describes."""
    event = Event("hook:PostToolUseFailure", 1_795_000_000)
    event.session, event.failed, event.query, event.has_failed = session, [record], [path], True
    append(str(root), event)


def test_what_a_retro_says_in_other_words_is_added_after_approval(shell: Any) -> None:
    """The learning in force keeps its own words and gains those; the same is not proposed twice."""
    known = learn(shell, BROWSER, "--body", "Seen in March.")
    retro = shell.json(
        "retro", "--loop", "L-1", "--struggled", "Before the plan is made, ask: the sandbox has no browser"
    )
    (one,) = proposed(shell)
    assert (one["drift"], one["target"]["record"]) == ("additive", known)
    assert {link["to"] for link in one["links"]} == {known, retro[1]["data"]["retro"]["id"]}
    assert shell("apply", one["id"])[0] == 1, "it waits for a person"
    shell("promote", one["id"])
    assert shell("apply", one["id"])[0] == 0
    held = shell.json("show", known)[1]["data"]
    assert held["summary"] == BROWSER
    assert "Seen in March." in held["prose"]
    assert "ask: the sandbox has no browser (RT-" in held["prose"]
    assert proposed(shell) == []
    assert shell("check")[0] == 0


def test_what_a_retro_says_otherwise_is_a_note(shell: Any) -> None:
    """A negation that one of them has alone is for a person to settle: no diff, nothing to apply."""
    known = learn(shell, BROWSER)
    shell("retro", "--loop", "L-1", "--worked", BROWSER.replace("no browser", "a browser").replace("ask", "do not ask"))
    found = [one for one in proposed(shell) if one["target"].get("record") == known]
    assert [(one["drift"], one["diff"]) for one in found] == [("structural", "")]


def test_what_a_retro_recommends_reaches_a_skill_or_the_record_it_names(shell: Any) -> None:
    """An item for the skill, a note for the record; rejected, neither comes again."""
    planning_page(shell, "Read the queue.")
    known = learn(shell, BROWSER)
    shell("retro", "--loop", "L-1", "--recommend", "Planning reads the queue twice, before and after",
          "--recommend", f"Retire {known} once the sandbox has one", "--summary", "x",
          "--outcome", "story:S-1=failed,attempts=2")  # fmt: skip
    found = {one["target"].get("record", one["target"]["path"]): one for one in proposed(shell)}
    assert found["skills/planning/SKILL.md"]["drift"] == "additive"
    assert "+- Planning reads the queue twice, before and after (RT-" in found["skills/planning/SKILL.md"]["diff"]
    assert found[known]["drift"] == "structural"
    shell("reject", *[one["id"] for one in found.values()], "--reason", "no")
    assert proposed(shell) == []


def test_one_sentence_of_two_retros_is_one_item(shell: Any) -> None:
    """The item cites both; the proposal is valid."""
    planning_page(shell, "Read the queue.")
    retros = [advise(shell, loop, "Planning reads the queue twice, before and after") for loop in ("L-1", "L-2")]
    (proposal,) = proposed(shell)
    (item,) = (line for line in proposal["diff"].splitlines() if line.startswith("+- "))
    assert sorted(item.removeprefix("+- Planning reads the queue twice, before and after ").strip("()").split(", ")) \
        == sorted(link["to"] for link in proposal["links"]) == sorted(retros)  # fmt: skip


def test_the_opposite_of_one_sentence_of_a_paragraph_is_a_note(shell: Any) -> None:
    """A learning is compared with each sentence, however long the paragraph is that holds it."""
    planning_page(
        shell,
        "Stories come from the queue of the project, oldest first, and each names its owner and its estimate. "
        "Always ask for a browser before the plan is made. Reports go to `build/reports` as XML.",
    )
    learn(shell, "Never ask for a browser before the plan is made", "--tag", "planning")
    (proposal,) = proposed(shell)
    assert (proposal["drift"], proposal["diff"]) == ("structural", "")
    assert "The page says: Always ask for a browser before the plan is made." in proposal["reason"]


def test_what_a_retro_recommends_about_a_page_is_a_note(shell: Any) -> None:
    """`Say in the skill that …` is no item of that page: a person works it in."""
    planning_page(shell, "Read the queue.")
    advise(shell, "L-1", "Say in the planning skill that the queue is read twice")
    (proposal,) = proposed(shell)
    assert (proposal["drift"], proposal["diff"]) == ("structural", "")
    assert proposal["reason"] == "Say in the planning skill that the queue is read twice"


def test_a_draft_of_an_agent_proposes_nothing(shell: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A retro counts once a person has recorded it."""
    learn(shell, BROWSER)
    monkeypatch.setenv("ORBIT_ACTOR", "agent")
    shell("retro", "--loop", "L-1", "--struggled", "Before the plan is made, ask: the sandbox has no browser")
    assert proposed(shell) == []


def test_an_error_that_comes_outside_of_a_scope_is_a_note(shell: Any) -> None:
    """In two sessions, in files that no glob names; trials, and what lies inside, count for nothing."""
    known = learn(shell, "Mounts fail without a driver", "--path", "src/**", "--error-pattern", "no driver found")
    for session, path in (("s-1", "web/a.ts"), ("trial-1", "web/a.ts"), ("s-3", "src/app.py")):
        failed(shell.root, session, known, path)
    assert proposed(shell) == []
    failed(shell.root, "s-2", known, "web/b.ts")
    (one,) = proposed(shell)
    assert (one["drift"], one["target"]["record"]) == ("structural", known)
    assert f"`orbit learning update {known} --path 'web/**'`" in one["reason"]
    assert proposed(shell) == []
