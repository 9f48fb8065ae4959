"""`orbit propose` and `orbit apply`."""

import sys
from pathlib import Path
from typing import Any

import pytest
from tests.files import write

from orbit_registry.errors import InvalidRecordError
from orbit_registry.formats.diff import unified_diff
from orbit_registry.hook.events import Event, append
from orbit_registry.registry import Registry
from orbit_registry.review.proposals import with_items

PAGE = "skills/testing/SKILL.md"
TEXT = """---
name: testing
description: How tests of this project are run.
---

# Testing

Run the tests with `pytest -x`; they live in `tests/unit`.

- Always mock the clock in tests of expiry.

## Gotchas

- Ports are taken at random.

## See also

The wiki.
"""
FIXTURES = "Fixtures that open a database have to close it, or pytest hangs at its exit"


@pytest.fixture
def skill(shell: Any) -> Path:
    page: Path = shell.root / PAGE
    page.parent.mkdir(parents=True)
    page.write_text(TEXT, "utf-8")
    return page


def learn(shell: Any, summary: str, *arguments: str) -> str:
    return shell.learn(summary, "--tag", "testing", *arguments)


def proposed(shell: Any, *arguments: str) -> list[dict[str, Any]]:
    result: list[dict[str, Any]] = shell.data("propose", *arguments)["proposals"]
    return result


def test_an_addition_is_applied_after_approval(shell: Any, skill: Path) -> None:
    record_id = learn(shell, FIXTURES)
    assert proposed(shell, "--dry-run")[0]["id"] is None
    (entry,) = proposed(shell)
    assert (entry["drift"], entry["target"], entry["links"]) == (
        "additive", {"path": PAGE}, [{"rel": "derived_from", "to": record_id}],
    )  # fmt: skip
    added = TEXT.replace("at random.\n", f"at random.\n- {FIXTURES} ({record_id})\n")
    assert f"+- {FIXTURES} ({record_id})\n" in entry["diff"]
    assert entry["diff"].startswith(f"--- a/{PAGE}\n+++ b/{PAGE}\n@@ ")

    displayed = shell("show", entry["id"])[1]
    assert displayed.endswith("Diff\n\n" + "".join(f"  {line}".rstrip() + "\n" for line in entry["diff"].splitlines()))

    code, refused = shell.json("apply", entry["id"])
    assert (code, refused["error"]) == (1, f"{entry['id']} is proposed; what is approved is applied alone")
    assert shell("promote", entry["id"])[0] == 0
    assert shell.data("apply", entry["id"], "--dry-run")["applied"] is False
    assert skill.read_text("utf-8") == TEXT
    code, envelope = shell.json("apply", entry["id"])
    assert (code, envelope["data"]["applied"], skill.read_text("utf-8")) == (0, True, added)
    assert shell.data("show", entry["id"])["status"] == "applied"
    assert shell("apply", entry["id"])[0] == 1
    assert proposed(shell) == []
    assert shell.json("check")[0] == 0


@pytest.mark.parametrize("part", ["diff", "target", "approval"])
def test_only_the_approved_diff_is_applied(shell: Any, skill: Path, part: str) -> None:
    record_id = learn(shell, FIXTURES)
    (entry,) = proposed(shell)
    assert shell("promote", entry["id"])[0] == 0
    (file,) = (shell.root / ".orbit/proposals").glob("*/proposal.yaml")
    text = file.read_text("utf-8")
    (hashed,) = (line for line in text.splitlines(keepends=True) if line.startswith("  change: "))
    changes = {"diff": (record_id, "L-00000"), "target": (PAGE, "skills/other/SKILL.md"), "approval": (hashed, "")}
    file.write_text(text.replace(*changes[part]), "utf-8")
    code, refused = shell.json("apply", entry["id"])
    assert (code, skill.read_text("utf-8")) == (1, TEXT)
    assert ("which diff was" if part == "approval" else "any more what was") in refused["error"]
    code, envelope = shell.json("apply", entry["id"], "--dry-run")
    assert code == (0 if part == "approval" else 1)
    if part == "approval":
        assert shell("apply", entry["id"], "--expect", envelope["data"]["digest"])[0] == 0


def test_only_the_diff_that_was_read_is_applied(shell: Any, skill: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    learn(shell, FIXTURES)
    (entry,) = proposed(shell)
    shell("promote", entry["id"])
    data = shell.data("apply", entry["id"], "--dry-run")
    skill.write_text(f"Before.\n\n{TEXT}", "utf-8")
    code, refused = shell.json("apply", entry["id"], "--expect", data["digest"])
    assert (code, "would not do what was read" in refused["error"]) == (1, True)
    skill.write_text(TEXT, "utf-8")
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    monkeypatch.setattr("click.termui.visible_prompt_func", lambda *_: "n")
    code, out, _ = shell("apply", entry["id"])
    assert (code, data["diff"] in out, skill.read_text("utf-8")) == (130, True, TEXT)
    assert shell("apply", entry["id"], "--expect", data["digest"])[0] == 0
    assert skill.read_text("utf-8") != TEXT


@pytest.mark.parametrize("page", [TEXT, "# Testing\n", "# T\n\n### Learned\n\n- One.\n"])
def test_line_ends_of_the_page_stay(page: str) -> None:
    as_windows = with_items(page.replace("\n", "\r\n"), ["- Two."])
    assert as_windows == with_items(page, ["- Two."]).replace("\n", "\r\n")


def test_a_contradiction_is_a_note(shell: Any, skill: Path) -> None:
    learn(shell, "Never mock the clock in tests of expiry")
    (entry,) = proposed(shell)
    assert (entry["drift"], entry["diff"]) == ("structural", "")
    assert "Always mock the clock in tests of expiry." in entry["reason"]
    assert shell("promote", entry["id"])[0] == 0
    code, refused = shell.json("apply", entry["id"])
    assert (code, skill.read_text("utf-8")) == (1, TEXT)
    assert "is a note" in refused["error"]
    assert shell("proposal", "done", entry["id"])[0] == 0
    assert proposed(shell) == []


def test_rejected_content_is_not_proposed_again(shell: Any, skill: Path) -> None:
    record_id = learn(shell, FIXTURES)
    (entry,) = proposed(shell)
    assert shell("reject", entry["id"], "--reason", "the linter says so")[0] == 0
    assert proposed(shell) == []
    assert proposed(shell, record_id) == []
    shell("learning", "retire", record_id)
    learn(shell, f"{FIXTURES}!")
    assert proposed(shell) == []
    learn(shell, "Fixtures of a database are closed by `addfinalizer` in pytest, never by hand")
    assert len(proposed(shell)) == 1


def test_one_addition_to_a_page_at_a_time(shell: Any, skill: Path) -> None:
    learn(shell, FIXTURES)
    (first,) = proposed(shell)
    learn(shell, "A tests database on tmpfs makes the tests of this project twice as fast")
    code, envelope = shell.json("propose")
    assert (code, envelope["data"]["proposals"]) == (0, [])
    assert envelope["data"]["waiting"] == [{"path": PAGE, "for": first["id"]}]
    shell("promote", first["id"])
    shell("apply", first["id"])
    (second,) = proposed(shell)
    shell("promote", second["id"])
    assert shell("apply", second["id"])[0] == 0
    assert skill.read_text("utf-8").count("## Gotchas") == 1


def test_a_changed_page_is_patched_or_refused(shell: Any, skill: Path) -> None:
    learn(shell, FIXTURES)
    (entry,) = proposed(shell)
    shell("promote", entry["id"])
    moved = TEXT.replace("# Testing\n", "# Testing\n\nRead this first.\n")
    skill.write_text(moved.replace("- Ports are taken at random.", "- Ports are fixed."), "utf-8")
    before = skill.read_bytes()
    for arguments in (("apply", entry["id"], "--dry-run"), ("apply", entry["id"])):
        code, refused = shell.json(*arguments)
        assert code == 1
        assert f"does not fit {PAGE}:" in refused["error"]
        assert "found `- Ports are fixed.`" in refused["error"]
    assert skill.read_bytes() == before
    assert shell.data("show", entry["id"])["status"] == "approved"
    skill.write_text(moved, "utf-8")
    assert shell("apply", entry["id"])[0] == 0
    assert "Read this first." in skill.read_text("utf-8")


@pytest.mark.parametrize("target", [".github/workflows/ci.yml", "src/app.py", "docs/SKILL.md", "skills/SKILL.md"])
def test_a_proposal_changes_skills_and_records_only(shell: Any, target: str) -> None:
    file = shell.root / target
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("x = 1\n", "utf-8")
    diff = f"--- a/{target}\n+++ b/{target}\n@@ -1 +1,2 @@\n x = 1\n+y = 2\n"
    record_id = _hand_made(shell, target, diff)
    code, refused = shell.json("apply", record_id)
    assert (code, file.read_text("utf-8")) == (1, "x = 1\n")
    assert "is neither a skill nor" in refused["error"]


def test_a_proposal_never_leaves_the_project(shell: Any, skill: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "SKILL.md").write_text("a\n", "utf-8")
    (shell.root / "skills/linked").symlink_to(outside)
    path = "skills/linked/SKILL.md"
    record_id = _hand_made(shell, path, f"--- a/{path}\n+++ b/{path}\n@@ -1 +1,2 @@\n a\n+b\n")
    code, refused = shell.json("apply", record_id)
    assert (code, (outside / "SKILL.md").read_text("utf-8")) == (1, "a\n")
    assert "symbolic link" in refused["error"]
    diff = f"--- a/{PAGE}\n+++ b/{PAGE}\n@@ -17,2 +17 @@\n \n-The wiki.\n"
    code, refused = shell.json("apply", _hand_made(shell, PAGE, diff))
    assert "takes lines away" in refused["error"]
    assert skill.read_text("utf-8") == TEXT
    with pytest.raises(InvalidRecordError, match="target"):
        _hand_made(shell, "../x/SKILL.md", diff)


def _hand_made(shell: Any, path: str, diff: str, **target: str) -> str:
    fields = {"title": f"Change {path}", "reason": "because", "drift": "additive", "target": {"path": path, **target}}
    record_id = Registry.open().add("proposal", {**fields, "diff": diff}).id
    assert shell("promote", record_id)[0] == 0
    return record_id


@pytest.mark.parametrize(
    ("text", "after", "words"),
    [
        (TEXT, TEXT.replace("run.\n---", "run.\nallowed-tools: Bash(*)\n---"), "the head of the page"),
        (TEXT.replace("\n", "\r\n"), TEXT.replace("run.\n", "run.\nhooks: x\n").replace("\n", "\r\n"), "the head"),
        ("# Testing\n", "---\nhooks: x\n---\n# Testing\n", "the head of the page"),
        (TEXT, f"{TEXT}- Fine.\U000e0072\U000e006d\n", "invisible characters"),
    ],
)
def test_a_diff_of_a_skill_adds_visible_text_only(shell: Any, skill: Path, text: str, after: str, words: str) -> None:
    skill.write_bytes(text.encode())
    proposal_id = _hand_made(shell, PAGE, unified_diff(PAGE, text, after))
    message = shell("show", proposal_id)[1]
    assert ("@@" in message, "\U000e0072" in message) == (True, False)
    code, refused = shell.json("apply", proposal_id)
    assert (code, skill.read_bytes()) == (1, text.encode())
    assert words in refused["error"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("status: active", "status: active\napproval:\n  approved_by: Ada", "verbs alone write"),
        ("  name: ", "  name: Not ", "verbs alone write"),
        (
            "status: active",
            'status: active\nprovenance:\n  source: user\n  pattern: fact\n  subject: "x"',
            "verbs alone",
        ),
        ("scope:\n", "scope:\n  agents: [none]\n", "change `scope` of "),
        ("status: active", "status: active\nerror_pattern: e", "change `error_pattern` of "),
    ],
)
def test_a_diff_of_a_record_changes_words_only(shell: Any, old: str, new: str, message: str) -> None:
    record_id = learn(shell, FIXTURES)
    path = f".orbit/learnings/{record_id}/learning.yaml"
    text = (shell.root / path).read_text("utf-8")
    assert old in text
    diff = unified_diff(path, text, text.replace(old, new, 1))
    proposal_id = _hand_made(shell, path, diff, record=record_id)
    code, refused = shell.json("apply", proposal_id)
    assert (code, (shell.root / path).read_text("utf-8")) == (1, text)
    assert message in refused["error"]


def test_unrelated_learnings_are_not_proposed(shell: Any, skill: Path) -> None:
    shell("learning", "add", "--summary", "The lift is out of order on Mondays")
    learn(shell, "Ports of tests are taken at random")
    secret = shell.root / f".orbit/learnings/{learn(shell, 'Tests log in with KEY')}/learning.yaml"
    secret.write_text(secret.read_text("utf-8").replace("KEY", "AKIAIOSFODNN7EXAMPLX"), "utf-8")
    (shell.root / "skills/broken").mkdir()
    (shell.root / "skills/broken/SKILL.md").write_bytes(b"\xff\xfe\x00")
    code, envelope = shell.json("propose")
    assert (code, envelope["data"]["proposals"], envelope["data"]["skills"]) == (0, [], [PAGE])
    assert envelope["data"]["problems"][0].startswith("skills/broken/SKILL.md: ")


def test_a_theme_becomes_a_pending_rule_once(shell: Any) -> None:
    messages = (FIXTURES, "Fixtures are named after what they return")
    ids = [learn(shell, message, "--path", "tests/unit/**") for message in messages]
    dry = shell.data("propose", "--consolidate", "--dry-run")
    assert [entry["id"] for entry in dry["clusters"]] == [None]
    (created,) = shell.data("propose", "--consolidate")["clusters"]
    rule = shell.data("show", created["id"])
    assert (created["kind"], rule["kind"], rule["status"]) == ("rule", "rule", "suggested")
    assert sorted(link["to"] for link in rule["links"]) == sorted(ids)
    again = shell.data("propose", "--consolidate")
    assert (again["clusters"], again["retirements"]) == ([], [])
    assert "0 sessions" in again["note"]
    assert shell("propose", ids[0], "--consolidate")[0] == 2
    assert shell.json("check")[0] == 0


def test_a_retirement_is_a_diff_to_approve(shell: Any) -> None:
    both = [learn(shell, f"{word} sign the release tag before publishing wheels") for word in ("Always", "Never")]
    (offer,) = shell.data("propose", "--consolidate")["retirements"]
    old = offer["target"]["record"]
    assert old in both
    assert "+status: retired\n" in offer["diff"]
    assert shell("promote", offer["id"])[0] == 0
    assert shell.data("show", old)["status"] == "active"
    assert shell("apply", offer["id"])[0] == 0
    assert shell.data("show", old)["status"] == "retired"
    assert shell.data("propose", "--consolidate")["retirements"] == []
    assert shell.json("check")[0] == 0


def test_skills_are_found_by_search_only(shell: Any, skill: Path) -> None:
    learn(shell, "Ports of tests are taken at random")
    hits = shell.data("search", "ports at random")["hits"]
    assert {(entry["kind"], entry["id"]) for entry in hits} >= {("skill", PAGE)}
    assert {entry["kind"] for entry in hits} == {"skill", "learning"}
    result = shell.json("search", "mock clock expiry", "--kind", "skill")[1]
    assert [entry["title"] for entry in result["data"]["hits"]] == ["testing: How tests of this project are run."]
    assert result["next"] == []
    skill.unlink()
    assert {entry["kind"] for entry in shell.data("search", "ports at random")["hits"]} == {"learning"}
    (shell.root / "text.md").write_text("Take ports at random in tests", "utf-8")
    skill.write_text(TEXT, "utf-8")
    brief = shell.data("brief", "--for", "prompt", "--text", "text.md")
    assert {entry["kind"] for entry in brief["matches"]} == {"learning"}


BROWSER = "The sandbox has no browser; ask for one before the plan is made"


def planning_page(shell: Any, text: str) -> None:
    write(
        shell.root,
        "skills/planning/SKILL.md",
        f"---\nname: planning\ndescription: How runs are planned.\n---\n\n# Planning\n\n{text}\n",
    )


def advise(shell: Any, loop: str, text: str) -> str:
    outcome = ("--summary", "x", "--outcome", "story:S-1=failed,attempts=2")
    return str(shell.data("retro", "--loop", loop, "--recommend", text, *outcome)["retro"]["id"])


def failed(root: Path, session: str, record: str, path: str) -> None:
    event = Event("hook:PostToolUseFailure", 1_795_000_000)
    event.session, event.failed, event.query, event.has_failed = session, [record], [path], True
    append(str(root), event)


def test_a_similar_finding_is_added_to_its_learning(shell: Any) -> None:
    record_id = shell.learn(BROWSER, "--body", "Seen in March.")
    message = "Before the plan is made, ask: the sandbox has no browser"
    retro = shell.json("retro", "--loop", "L-1", "--struggled", message)
    (entry,) = proposed(shell)
    assert (entry["drift"], entry["target"]["record"]) == ("additive", record_id)
    assert {link["to"] for link in entry["links"]} == {record_id, retro[1]["data"]["retro"]["id"]}
    assert shell("apply", entry["id"])[0] == 1, "it waits for a person"
    shell("promote", entry["id"])
    assert shell("apply", entry["id"])[0] == 0
    current = shell.data("show", record_id)
    assert current["summary"] == BROWSER
    assert "Seen in March." in current["prose"]
    assert "ask: the sandbox has no browser (RT-" in current["prose"]
    assert proposed(shell) == []
    assert shell("check")[0] == 0


def test_a_negated_finding_is_a_note(shell: Any) -> None:
    record_id = shell.learn(BROWSER)
    shell("retro", "--loop", "L-1", "--worked", BROWSER.replace("no browser", "a browser").replace("ask", "do not ask"))
    result = [entry for entry in proposed(shell) if entry["target"].get("record") == record_id]
    assert [(entry["drift"], entry["diff"]) for entry in result] == [("structural", "")]


def test_a_recommendation_reaches_a_skill_or_record(shell: Any) -> None:
    planning_page(shell, "Read the queue.")
    record_id = shell.learn(BROWSER)
    shell("retro", "--loop", "L-1", "--recommend", "Planning reads the queue twice, before and after",
          "--recommend", f"Retire {record_id} once the sandbox has one", "--summary", "x",
          "--outcome", "story:S-1=failed,attempts=2")  # fmt: skip
    result = {entry["target"].get("record", entry["target"]["path"]): entry for entry in proposed(shell)}
    assert result["skills/planning/SKILL.md"]["drift"] == "additive"
    assert "+- Planning reads the queue twice, before and after (RT-" in result["skills/planning/SKILL.md"]["diff"]
    assert result[record_id]["drift"] == "structural"
    shell("reject", *[entry["id"] for entry in result.values()], "--reason", "no")
    assert proposed(shell) == []


def test_the_same_recommendation_is_one_item(shell: Any) -> None:
    planning_page(shell, "Read the queue.")
    retros = [advise(shell, loop, "Planning reads the queue twice, before and after") for loop in ("L-1", "L-2")]
    (proposal,) = proposed(shell)
    (item,) = (line for line in proposal["diff"].splitlines() if line.startswith("+- "))
    assert sorted(item.removeprefix("+- Planning reads the queue twice, before and after ").strip("()").split(", ")) \
        == sorted(link["to"] for link in proposal["links"]) == sorted(retros)  # fmt: skip


def test_an_unrecorded_retro_proposes_nothing(shell: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    shell.learn(BROWSER)
    monkeypatch.setenv("ORBIT_ACTOR", "agent")
    shell("retro", "--loop", "L-1", "--struggled", "Before the plan is made, ask: the sandbox has no browser")
    assert proposed(shell) == []


def test_an_error_outside_of_a_scope_is_a_note(shell: Any) -> None:
    words = ("--path", "src/**", "--error-pattern", "no driver found")
    record_id = shell.learn("Mounts fail without a driver", *words)
    for session, path in (("s-1", "web/a.ts"), ("trial-1", "web/a.ts"), ("s-3", "src/app.py")):
        failed(shell.root, session, record_id, path)
    assert proposed(shell) == []
    failed(shell.root, "s-2", record_id, "web/b.ts")
    (entry,) = proposed(shell)
    assert (entry["drift"], entry["target"]["record"]) == ("structural", record_id)
    assert f"`orbit learning update {record_id} --path 'web/**'`" in entry["reason"]
    assert proposed(shell) == []


def test_a_page_citing_a_retired_learning_gets_a_note(shell: Any, skill: Path) -> None:
    record_id = learn(shell, FIXTURES)
    skill.write_text(f"{TEXT}\nClose databases ({record_id}).\n", "utf-8")
    assert proposed(shell) == []
    shell("learning", "retire", record_id)
    (entry,) = proposed(shell)
    assert (entry["drift"], entry["title"]) == ("structural", f"{PAGE}: {record_id} no longer holds")
