"""`orbit propose` and `orbit apply`: what learnings change elsewhere, never before a person has approved it."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from orbit_registry.errors import InvalidRecordError
from orbit_registry.formats.diff import unified_diff
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
    """Return the page of a skill about tests."""
    page: Path = shell.root / PAGE
    page.parent.mkdir(parents=True)
    page.write_text(TEXT, "utf-8")
    return page


def learn(shell: Any, summary: str, *arguments: str) -> str:
    """Add a learning about tests and return its id."""
    whole = shell.json("learning", "add", "--summary", summary, "--tag", "testing", *arguments)[1]
    return str(whole["data"]["id"])


def proposed(shell: Any, *arguments: str) -> list[dict[str, Any]]:
    """Return what is proposed."""
    code, whole = shell.json("propose", *arguments)
    assert code == 0
    found: list[dict[str, Any]] = whole["data"]["proposals"]
    return found


def test_an_addition_waits_as_a_diff_and_is_applied_only_after_approval(shell: Any, skill: Path) -> None:
    """Additive drift is a proposal with a unified diff; it changes the page once a person has approved it."""
    known = learn(shell, FIXTURES)
    assert proposed(shell, "--dry-run")[0]["id"] is None
    (one,) = proposed(shell)
    assert (one["drift"], one["target"], one["links"]) == (
        "additive", {"path": PAGE}, [{"rel": "derived_from", "to": known}],
    )  # fmt: skip
    added = TEXT.replace("at random.\n", f"at random.\n- {FIXTURES} ({known})\n")
    assert f"+- {FIXTURES} ({known})\n" in one["diff"]
    assert one["diff"].startswith(f"--- a/{PAGE}\n+++ b/{PAGE}\n@@ ")

    shown = shell("show", one["id"])[1]
    assert shown.endswith("Diff\n\n" + "".join(f"  {line}".rstrip() + "\n" for line in one["diff"].splitlines()))

    code, refused = shell.json("apply", one["id"])
    assert (code, refused["error"]) == (1, f"{one['id']} is proposed; what is approved is applied alone")
    assert shell("promote", one["id"])[0] == 0
    assert shell.json("apply", one["id"], "--dry-run")[1]["data"]["applied"] is False
    assert skill.read_text("utf-8") == TEXT
    code, whole = shell.json("apply", one["id"])
    assert (code, whole["data"]["applied"], skill.read_text("utf-8")) == (0, True, added)
    assert shell.json("show", one["id"])[1]["data"]["status"] == "applied"
    assert shell("apply", one["id"])[0] == 1
    assert proposed(shell) == []
    assert shell.json("check")[0] == 0


@pytest.mark.parametrize("part", ["diff", "target", "approval"])
def test_what_is_applied_is_what_was_approved(shell: Any, skill: Path, part: str) -> None:
    """Whoever can write a proposal's file puts in nothing else under its approval; without one it is read again."""
    known = learn(shell, FIXTURES)
    (one,) = proposed(shell)
    assert shell("promote", one["id"])[0] == 0
    (file,) = (shell.root / ".orbit/proposals").glob("*/proposal.yaml")
    text = file.read_text("utf-8")
    (hashed,) = (line for line in text.splitlines(keepends=True) if line.startswith("  change: "))
    changes = {"diff": (known, "L-00000"), "target": (PAGE, "skills/other/SKILL.md"), "approval": (hashed, "")}
    file.write_text(text.replace(*changes[part]), "utf-8")
    code, refused = shell.json("apply", one["id"])
    assert (code, skill.read_text("utf-8")) == (1, TEXT)
    assert ("which diff was" if part == "approval" else "any more what was") in refused["error"]
    code, whole = shell.json("apply", one["id"], "--dry-run")
    assert code == (0 if part == "approval" else 1)
    if part == "approval":
        assert shell("apply", one["id"], "--expect", whole["data"]["digest"])[0] == 0


def test_what_is_applied_is_what_was_read(shell: Any, skill: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A digest binds to the diff as --dry-run showed it, and so does the question at a terminal."""
    learn(shell, FIXTURES)
    (one,) = proposed(shell)
    shell("promote", one["id"])
    data = shell.json("apply", one["id"], "--dry-run")[1]["data"]
    skill.write_text(f"Before.\n\n{TEXT}", "utf-8")
    code, refused = shell.json("apply", one["id"], "--expect", data["digest"])
    assert (code, "would not do what was read" in refused["error"]) == (1, True)
    skill.write_text(TEXT, "utf-8")
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    monkeypatch.setattr("click.termui.visible_prompt_func", lambda *_: "n")
    code, out, _ = shell("apply", one["id"])
    assert (code, data["diff"] in out, skill.read_text("utf-8")) == (130, True, TEXT)
    assert shell("apply", one["id"], "--expect", data["digest"])[0] == 0
    assert skill.read_text("utf-8") != TEXT


@pytest.mark.parametrize("page", [TEXT, "# Testing\n", "# T\n\n### Learned\n\n- One.\n"])
def test_lines_end_as_those_of_the_page(page: str) -> None:
    """A page from Windows gets the same items in the same section, with its own line ends."""
    as_windows = with_items(page.replace("\n", "\r\n"), ["- Two."])
    assert as_windows == with_items(page, ["- Two."]).replace("\n", "\r\n")


def test_what_a_page_says_otherwise_is_a_note_that_nothing_applies(shell: Any, skill: Path) -> None:
    """Structural drift has no diff, approved or not; a person works it in and says so."""
    learn(shell, "Never mock the clock in tests of expiry")
    (one,) = proposed(shell)
    assert (one["drift"], one["diff"]) == ("structural", "")
    assert "Always mock the clock in tests of expiry." in one["reason"]
    assert shell("promote", one["id"])[0] == 0
    code, refused = shell.json("apply", one["id"])
    assert (code, skill.read_text("utf-8")) == (1, TEXT)
    assert "is a note" in refused["error"]
    assert shell("proposal", "done", one["id"])[0] == 0
    assert proposed(shell) == []


def test_a_page_that_rests_on_what_no_longer_holds_gets_a_note(shell: Any, skill: Path) -> None:
    """The cited learning was retired: the line is not taken away by itself."""
    known = learn(shell, FIXTURES)
    skill.write_text(f"{TEXT}\nClose databases ({known}).\n", "utf-8")
    assert proposed(shell) == []
    shell("learning", "retire", known)
    (one,) = proposed(shell)
    assert (one["drift"], one["title"]) == ("structural", f"{PAGE}: {known} no longer holds")


def test_rejected_content_is_not_proposed_again(shell: Any, skill: Path) -> None:
    """The same words, from whichever learning, stay rejected; other words of the same learning may be proposed."""
    known = learn(shell, FIXTURES)
    (one,) = proposed(shell)
    assert shell("reject", one["id"], "--reason", "the linter says so")[0] == 0
    assert proposed(shell) == []
    assert proposed(shell, known) == []
    shell("learning", "retire", known)
    learn(shell, f"{FIXTURES}!")
    assert proposed(shell) == []
    learn(shell, "Fixtures of a database are closed by `addfinalizer` in pytest, never by hand")
    assert len(proposed(shell)) == 1


def test_one_addition_to_a_page_waits_at_a_time(shell: Any, skill: Path) -> None:
    """What comes meanwhile waits too, and is proposed after the first was decided: no two diffs meet."""
    learn(shell, FIXTURES)
    (first,) = proposed(shell)
    learn(shell, "A tests database on tmpfs makes the tests of this project twice as fast")
    code, whole = shell.json("propose")
    assert (code, whole["data"]["proposals"]) == (0, [])
    assert whole["data"]["waiting"] == [{"path": PAGE, "for": first["id"]}]
    shell("promote", first["id"])
    shell("apply", first["id"])
    (second,) = proposed(shell)
    shell("promote", second["id"])
    assert shell("apply", second["id"])[0] == 0
    assert skill.read_text("utf-8").count("## Gotchas") == 1


def test_a_page_that_moved_on_is_followed_or_the_conflict_is_explained(shell: Any, skill: Path) -> None:
    """Lines above may change; where the place itself did, nothing is written, and it says what is there."""
    learn(shell, FIXTURES)
    (one,) = proposed(shell)
    shell("promote", one["id"])
    moved = TEXT.replace("# Testing\n", "# Testing\n\nRead this first.\n")
    skill.write_text(moved.replace("- Ports are taken at random.", "- Ports are fixed."), "utf-8")
    before = skill.read_bytes()
    for arguments in (("apply", one["id"], "--dry-run"), ("apply", one["id"])):
        code, refused = shell.json(*arguments)
        assert code == 1
        assert f"does not fit {PAGE}:" in refused["error"]
        assert "found `- Ports are fixed.`" in refused["error"]
    assert skill.read_bytes() == before
    assert shell.json("show", one["id"])[1]["data"]["status"] == "approved"
    skill.write_text(moved, "utf-8")
    assert shell("apply", one["id"])[0] == 0
    assert "Read this first." in skill.read_text("utf-8")


@pytest.mark.parametrize(
    "target", [".github/workflows/ci.yml", "src/app.py", "docs/SKILL.md", "skills/SKILL.md", "CLAUDE.md"]
)
def test_a_proposal_reaches_no_file_but_a_skill_or_its_record(shell: Any, target: str) -> None:
    """A diff for any other file is refused, approved or not: proposals may come from anybody's branch."""
    file = shell.root / target
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("x = 1\n", "utf-8")
    diff = f"--- a/{target}\n+++ b/{target}\n@@ -1 +1,2 @@\n x = 1\n+y = 2\n"
    known = _hand_made(shell, target, diff)
    code, refused = shell.json("apply", known)
    assert (code, file.read_text("utf-8")) == (1, "x = 1\n")
    assert "is neither a skill nor" in refused["error"]


def test_nothing_is_written_through_a_link_or_out_of_the_project(shell: Any, skill: Path, tmp_path: Path) -> None:
    """A skill's folder that is a link, and a path that leads upwards, are refused; no line is taken from a skill."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "SKILL.md").write_text("a\n", "utf-8")
    (shell.root / "skills/linked").symlink_to(outside)
    path = "skills/linked/SKILL.md"
    known = _hand_made(shell, path, f"--- a/{path}\n+++ b/{path}\n@@ -1 +1,2 @@\n a\n+b\n")
    code, refused = shell.json("apply", known)
    assert (code, (outside / "SKILL.md").read_text("utf-8")) == (1, "a\n")
    assert "symbolic link" in refused["error"]
    diff = f"--- a/{PAGE}\n+++ b/{PAGE}\n@@ -17,2 +17 @@\n \n-The wiki.\n"
    code, refused = shell.json("apply", _hand_made(shell, PAGE, diff))
    assert "takes lines away" in refused["error"]
    assert skill.read_text("utf-8") == TEXT
    with pytest.raises(InvalidRecordError, match="target"):
        _hand_made(shell, "../x/SKILL.md", diff)


def _hand_made(shell: Any, path: str, diff: str) -> str:
    """Add an approved proposal whose diff somebody wrote by hand."""
    fields = {"title": f"Change {path}", "reason": "because", "drift": "additive", "target": {"path": path}}
    known = Registry.open().add("proposal", {**fields, "diff": diff}).id
    assert shell("promote", known)[0] == 0
    return known


@pytest.mark.parametrize(
    ("text", "wanted", "words"),
    [
        (TEXT, TEXT.replace("run.\n---", "run.\nallowed-tools: Bash(*)\n---"), "the head of the page"),
        (TEXT.replace("\n", "\r\n"), TEXT.replace("run.\n", "run.\nhooks: x\n").replace("\n", "\r\n"), "the head"),
        ("# Testing\n", "---\nhooks: x\n---\n# Testing\n", "the head of the page"),
        (TEXT, f"{TEXT}- Fine.\U000e0072\U000e006d\n", "characters that nobody sees"),
    ],
)
def test_what_was_learned_is_text_that_somebody_reads(
    shell: Any, skill: Path, text: str, wanted: str, words: str
) -> None:
    """A diff that grants tools in a skill's head, or hides words, is shown as it is and never put in."""
    skill.write_bytes(text.encode())
    entry = {"title": "More", "target": {"path": PAGE}, "drift": "additive", "reason": "Why.", "says": ["0" * 16]}
    line = json.dumps({"kind": "proposal", "key": "k", **entry, "diff": unified_diff(PAGE, text, wanted)})
    (shell.root / "found.jsonl").write_text(line, "utf-8")
    (one,) = shell.json("ensure", "--batch", "found.jsonl")[1]["data"]["entries"]
    shown = shell("show", one["id"])[1]
    assert "@@" in shown
    assert "\U000e0072" not in shown
    assert shell("promote", one["id"])[0] == 0
    code, refused = shell.json("apply", one["id"])
    assert (code, skill.read_bytes()) == (1, text.encode())
    assert words in refused["error"]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("status: active", "status: active\napproval:\n  approved_by: Ada", "verbs alone write"),
        ("  name: ", "  name: Not ", "verbs alone write"),
        (
            "status: active",
            'status: active\nprovenance:\n  source: user\n  pattern: fact\n  subject: "x"',
            "verbs alone",
        ),
        ("status: active", "status: active\npriority: 255", "change `priority` of "),
        ("scope:\n", "scope:\n  agents: [none]\n", "change `scope` of "),
        ("status: active", "status: active\nprocedural: true", "change `procedural` of "),
        ("status: active", "status: active\nerror_pattern: e", "change `error_pattern` of "),
    ],
)
def test_a_diff_of_a_record_forges_no_history_and_widens_no_reach(shell: Any, old: str, new: str, said: str) -> None:
    """Who wrote and approved it is what verbs say, where and how often it is shown too, whoever approved the diff."""
    known = learn(shell, FIXTURES)
    path = f".orbit/learnings/{known}/learning.yaml"
    text = (shell.root / path).read_text("utf-8")
    assert old in text
    target = {"path": path, "record": known}
    entry = {"title": "More", "target": target, "drift": "additive", "reason": "Why.", "says": ["0" * 16]}
    line = json.dumps(
        {"kind": "proposal", "key": "k", **entry, "diff": unified_diff(path, text, text.replace(old, new, 1))}
    )
    (shell.root / "found.jsonl").write_text(line, "utf-8")
    (one,) = shell.json("ensure", "--batch", "found.jsonl")[1]["data"]["entries"]
    assert shell("promote", one["id"])[0] == 0
    code, refused = shell.json("apply", one["id"])
    assert (code, (shell.root / path).read_text("utf-8")) == (1, text)
    assert said in refused["error"]


def test_only_learnings_can_be_named(shell: Any, skill: Path) -> None:
    """Whoever names a record of another kind is told so, not that there is nothing to propose."""
    code, whole = shell.json("propose", "ADR-0001")
    assert (code, whole["error"]) == (2, "ADR-0001 is no learning that waits or holds: decision, accepted")


def test_what_has_nothing_to_do_with_a_skill_is_not_proposed(shell: Any, skill: Path) -> None:
    """Other matters, secrets and what the page says already are left out; pages that can't be read are named."""
    shell("learning", "add", "--summary", "The lift is out of order on Mondays")
    learn(shell, "Ports of tests are taken at random")
    secret = shell.root / f".orbit/learnings/{learn(shell, 'Tests log in with KEY')}/learning.yaml"
    secret.write_text(secret.read_text("utf-8").replace("KEY", "AKIAIOSFODNN7EXAMPLX"), "utf-8")
    (shell.root / "skills/broken").mkdir()
    (shell.root / "skills/broken/SKILL.md").write_bytes(b"\xff\xfe\x00")
    code, whole = shell.json("propose")
    assert (code, whole["data"]["proposals"], whole["data"]["skills"]) == (0, [], [PAGE])
    assert whole["data"]["problems"][0].startswith("skills/broken/SKILL.md: ")


def test_themes_become_rules_that_wait_and_are_proposed_once(shell: Any) -> None:
    """Two learnings of one matter make a suggested rule with both as evidence; a dry run and a second run make none."""
    ids = [
        learn(shell, said, "--path", "tests/unit/**")
        for said in (FIXTURES, "Fixtures are named after what they return")
    ]
    dry = shell.json("propose", "--consolidate", "--dry-run")[1]["data"]
    assert [one["id"] for one in dry["clusters"]] == [None]
    (made,) = shell.json("propose", "--consolidate")[1]["data"]["clusters"]
    rule = shell.json("show", made["id"])[1]["data"]
    assert (made["kind"], rule["kind"], rule["status"]) == ("rule", "rule", "suggested")
    assert sorted(link["to"] for link in rule["links"]) == sorted(ids)
    again = shell.json("propose", "--consolidate")[1]["data"]
    assert (again["clusters"], again["retirements"]) == ([], [])
    assert "0 sessions" in again["note"]
    assert shell("propose", ids[0], "--consolidate")[0] == 2
    assert shell.json("check")[0] == 0


def test_a_retirement_is_offered_as_a_diff_of_the_record_and_applied_after_approval(shell: Any) -> None:
    """What another learning contradicts may go: the record stays in force until the diff is applied."""
    both = [learn(shell, f"{word} sign the release tag before publishing wheels") for word in ("Always", "Never")]
    (offer,) = shell.json("propose", "--consolidate")[1]["data"]["retirements"]
    old = offer["target"]["record"]
    assert old in both
    assert "+status: retired\n" in offer["diff"]
    assert shell("promote", offer["id"])[0] == 0
    assert shell.json("show", old)[1]["data"]["status"] == "active"
    assert shell("apply", offer["id"])[0] == 0
    assert shell.json("show", old)[1]["data"]["status"] == "retired"
    assert shell.json("propose", "--consolidate")[1]["data"]["retirements"] == []
    assert shell.json("check")[0] == 0


def test_skills_are_found_by_search_and_never_pushed(shell: Any, skill: Path) -> None:
    """A skill's page is a hit of the kind skill, by name, description and text; a brief for a task has none."""
    learn(shell, "Ports of tests are taken at random")
    hits = shell.json("search", "ports at random")[1]["data"]["hits"]
    assert {(one["kind"], one["id"]) for one in hits} >= {("skill", PAGE)}
    assert {one["kind"] for one in hits} == {"skill", "learning"}
    found = shell.json("search", "mock clock expiry", "--kind", "skill")[1]
    assert [one["title"] for one in found["data"]["hits"]] == ["testing: How tests of this project are run."]
    assert found["next"] == []
    skill.unlink()
    assert {one["kind"] for one in shell.json("search", "ports at random")[1]["data"]["hits"]} == {"learning"}
    (shell.root / "text.md").write_text("Take ports at random in tests", "utf-8")
    skill.write_text(TEXT, "utf-8")
    brief = shell.json("brief", "--for", "prompt", "--text", "text.md")[1]["data"]
    assert {one["kind"] for one in brief["matches"]} == {"learning"}
