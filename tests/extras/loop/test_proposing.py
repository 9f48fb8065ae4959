"""`orbit propose` and `orbit apply`."""

import sys
from pathlib import Path
from typing import Any

import pytest
from tests.files import configure, write_record

from orbit_loop.proposals import with_items
from orbit_registry.errors import InvalidRecordError
from orbit_registry.formats.diff import unified_diff
from orbit_registry.hook.events import Event, append
from orbit_registry.model.record import Record
from orbit_registry.registry import Registry

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


@pytest.mark.parametrize("part", ["diff", "target", "approval"])
def test_only_the_approved_diff_is_applied(shell: Any, skill: Path, part: str) -> None:
    record_id = learn(shell, FIXTURES)
    (entry,) = proposed(shell)
    assert shell("promote", entry["id"])[0] == 0
    (file,) = (shell.root / ".orbit/proposals").glob("*/proposal.yaml")
    text = file.read_text("utf-8")
    (hashed,) = (line for line in text.splitlines(keepends=True) if line.startswith("  change: "))
    changes = {
        "diff": (record_id, "L-00000"),
        "target": (PAGE, "skills/other/SKILL.md"),
        "approval": (hashed, ""),
    }
    file.write_text(text.replace(*changes[part]), "utf-8")
    code, refused = shell.json("apply", entry["id"])
    assert (code, skill.read_text("utf-8")) == (1, TEXT)
    assert ("which diff was" if part == "approval" else "any more what was") in refused["error"]
    code, envelope = shell.json("apply", entry["id"], "--dry-run")
    assert code == (0 if part == "approval" else 1)
    if part == "approval":
        assert shell("apply", entry["id"], "--expect", envelope["data"]["digest"])[0] == 0


def test_only_the_diff_that_was_read_is_applied(
    shell: Any, skill: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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


@pytest.mark.parametrize(
    "target", [".github/workflows/ci.yml", "src/app.py", "docs/SKILL.md", "skills/SKILL.md"]
)
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


def test_a_diff_of_a_skill_adds_visible_text_only(shell: Any, skill: Path) -> None:
    record = _suggested(PAGE, unified_diff(PAGE, TEXT, f"{TEXT}- Fine.\n"))
    file = shell.root / record.path
    file.write_text(file.read_text("utf-8").replace("Fine", "Fi\U000e0072ne"), "utf-8")
    assert "\U000e0072" not in shell("show", record.id)[1]
    code, refused = shell.json("promote", record.id)
    assert code == 1
    assert "U+E0072" in refused["error"]
    code, _ = shell.json("apply", record.id)
    assert (code, skill.read_text("utf-8")) == (1, TEXT)


def _suggested(path: str, diff: str, **target: str) -> Record:
    fields = {
        "title": f"Change {path}",
        "reason": "because",
        "drift": "additive",
        "target": {"path": path, **target},
    }
    return Registry.open().add("proposal", {**fields, "diff": diff})


def _hand_made(shell: Any, path: str, diff: str, **target: str) -> str:
    record_id = _suggested(path, diff, **target).id
    assert shell("promote", record_id)[0] == 0
    return record_id


@pytest.mark.parametrize(
    ("text", "after", "words"),
    [
        (
            TEXT,
            TEXT.replace("run.\n---", "run.\nallowed-tools: Bash(*)\n---"),
            "the head of the page",
        ),
        (
            TEXT.replace("\n", "\r\n"),
            TEXT.replace("run.\n", "run.\nhooks: x\n").replace("\n", "\r\n"),
            "the head",
        ),
        ("# Testing\n", "---\nhooks: x\n---\n# Testing\n", "the head of the page"),
    ],
)
def test_a_diff_of_a_skill_leaves_its_head_alone(
    shell: Any, skill: Path, text: str, after: str, words: str
) -> None:
    skill.write_bytes(text.encode())
    proposal_id = _hand_made(shell, PAGE, unified_diff(PAGE, text, after))
    assert "@@" in shell("show", proposal_id)[1]
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
def test_a_diff_of_a_record_changes_words_only(
    shell: Any, old: str, new: str, message: str
) -> None:
    record_id = learn(shell, FIXTURES)
    path = f".orbit/learnings/{record_id}/learning.yaml"
    text = (shell.root / path).read_text("utf-8")
    assert old in text
    diff = unified_diff(path, text, text.replace(old, new, 1))
    proposal_id = _hand_made(shell, path, diff, record=record_id)
    code, refused = shell.json("apply", proposal_id)
    assert (code, (shell.root / path).read_text("utf-8")) == (1, text)
    assert message in refused["error"]


def failed(root: Path, session: str, record: str, path: str) -> None:
    event = Event("hook:PostToolUseFailure", 1_795_000_000)
    event.session, event.failed, event.query, event.has_failed = session, [record], [path], True
    append(str(root), event)


def drafted(shell: Any, *flags: str) -> Any:
    code, answer = shell.json("propose", *flags)
    assert code == 0
    return answer["data"]["drafts"]


def broken_again(shell: Any, record_id: str) -> None:
    """Show a record in three sessions, in each of which its error comes again."""
    failed(shell.root, "s-0", record_id, "src/a.py")
    for session in ("s-1", "s-2", "s-3"):
        assert drafted(shell) == []
        event = Event("hook:PreToolUse", 1_795_000_000)
        event.session, event.hits = session, [record_id]
        append(str(shell.root), event)
        failed(shell.root, session, record_id, "src/a.py")


def test_a_learning_that_is_shown_in_vain_is_drafted_as_a_rule(shell: Any) -> None:
    record_id = shell.learn("Mounts fail without a driver", "--error-pattern", "no driver found")
    broken_again(shell, record_id)
    (tried,) = drafted(shell, "--dry-run")
    (entry,) = drafted(shell)
    assert {**entry, "id": None} == tried
    assert (entry["of"], entry["failed"], entry["check"]) == (record_id, 3, None)
    rule = shell.data("show", entry["id"])
    assert (rule["status"], rule["title"]) == ("suggested", "Mounts fail without a driver")
    assert rule["links"] == [{"rel": "derived_from", "to": record_id}]
    shell("reject", entry["id"], "--reason", "it is one machine")
    assert drafted(shell) == []


def test_a_draft_has_the_check_that_its_lesson_states(shell: Any) -> None:
    title = "Use `httpx` instead of `requests` here"
    record_id = shell.learn(title, "--error-pattern", "timed out", "--path", "src/**")
    broken_again(shell, record_id)
    (entry,) = drafted(shell)
    assert entry["check"]["fails"] == ["requests"]
    assert entry["check"]["passes"] == ["httpx"]
    (shell.root / "src").mkdir(exist_ok=True)
    (shell.root / "src/a.py").write_text("import requests\n", "utf-8")
    assert shell("accept", entry["id"], "--yes")[0] == 0
    answer = shell.json("check")[1]
    codes = {row.get("check"): row["path"] for row in answer["diagnostics"]}
    assert codes[f"{entry['id']}/no-requests"] == "src/a.py"


def test_a_rule_that_is_shown_in_vain_asks_for_a_check(shell: Any) -> None:
    fields = {
        "approval": {"approved_by": "Ada", "approved_at": "2026-01-01T00:00:00Z"},
        "rationale": "It fails.",
    }
    path = ".orbit/rules/R-7k3fq/rule.yaml"
    write_record(
        shell.root,
        path,
        title="Mount a driver",
        status="approved",
        error_pattern="no driver found",
        **fields,
    )
    event = Event("hook:PreToolUse", 1_795_000_000)
    event.session, event.hits = "s-1", ["R-7k3fq"]
    append(str(shell.root), event)
    for _ in range(3):
        failed(shell.root, "s-1", "R-7k3fq", "src/a.py")
    (entry,) = proposed(shell)
    assert entry["title"] == "R-7k3fq: showing it is not enough"
    assert entry["reason"].endswith("write a check into it (`orbit enforce try`)")


def test_a_recommendation_about_an_inherited_record_is_no_note_on_an_own_one(shell: Any) -> None:
    configure(shell.root, "extends: [{name: org, from: ../org}]\n")
    shell(
        "retro",
        "--loop",
        "L-1",
        "--summary",
        "x",
        "--recommend",
        "Follow org:ADR-0001 and retire ADR-0002 for it",
    )
    assert [entry["target"]["record"] for entry in proposed(shell)] == ["ADR-0002"]


def test_a_page_that_cites_a_retro_may_contradict_its_other_advice(shell: Any, skill: Path) -> None:
    skill.write_text(f"{TEXT}\nRun pytest with one worker.\n", "utf-8")
    advice = ["testing: Close fixtures of a database", "testing: Run pytest with two workers"]
    shell("retro", "--loop", "L-1", *(word for text in advice for word in ("--recommend", text)))
    first = {entry["drift"]: entry for entry in proposed(shell)}
    assert advice[1] in first["structural"]["reason"]

    shell("promote", first["additive"]["id"])
    assert shell("apply", first["additive"]["id"])[0] == 0

    assert proposed(shell) == []
