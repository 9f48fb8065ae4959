"""Breadth is a matter of the glob: what the hook's reply to an edit shows, and what every other
door says of the same record and file; the cases of tests/cases/breadth.yaml.
"""

import json
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.acceptance.conftest import orbit
from tests.acceptance.hook.conftest import bring_up_to_date, run_client
from tests.acceptance.hook.replies import ids
from tests.files import commit, make_workspace, write, write_learning
from tests.unit.operations.test_breadth import CASES, files_of, scopes_of

from orbit_registry.matching.explain import explain
from orbit_registry.matching.match import coverage, match
from orbit_registry.workspace.workspace import open_workspace

Git = Callable[..., str]


def shown(root: Path, path: str, session: str) -> set[str]:
    """Return the ids that the first edit of a file in a session shows, in full or by title."""
    payload = {
        "cwd": str(root),
        "session_id": session,
        "hook_event_name": "PreToolUse",
        "tool_name": "Edit",
        "tool_input": {"file_path": f"{root}/{path}"},
    }
    printed = run_client(root, json.dumps(payload).encode())
    return set(ids(json.loads(printed))) if printed else set()


def started(root: Path) -> set[str]:
    """Return the ids that the start of a session shows."""
    payload = {"cwd": str(root), "session_id": "new", "hook_event_name": "SessionStart"}
    printed = run_client(root, json.dumps({**payload, "source": "startup"}).encode())
    return set(ids(json.loads(printed))) if printed else set()


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["name"]))
def test_every_door_says_the_same(case: Mapping[str, Any], git_repo: Path) -> None:
    names: dict[str, str] = {}
    make_workspace(git_repo)
    for file in files_of(case):
        write(git_repo, file)
    for number, (name, scope) in enumerate(scopes_of(case).items()):
        names[name] = f"L-{number:05d}"
        write_learning(git_repo, number, scope={"paths": [*scope]}, priority=200 - number)
    commit(git_repo)
    bring_up_to_date(git_repo)

    workspace = open_workspace(git_repo)
    withheld_somewhere = {names[name] for left_out in case["edits"].values() for name in left_out}
    assert set(coverage(workspace).broad) == withheld_somewhere
    assert started(git_repo) == withheld_somewhere
    found = json.loads(orbit(git_repo, "check", "--code", "ORB503", "--format", "json"))
    assert {row["record"] for row in found["diagnostics"]} == withheld_somewhere

    for path, left_out in case["edits"].items():
        expected = {names[name] for name in left_out}
        matches = match(workspace, [path])
        assert {entry.row.id for entry in matches if entry.broad} == expected
        verdicts = {verdict.row.id: verdict.key for verdict in explain(workspace, path)}
        applying = {record_id for record_id, key in verdicts.items() if key in ("pushed", "broad")}
        assert {record_id for record_id, key in verdicts.items() if key == "broad"} == expected
        assert applying == {entry.row.id for entry in matches}
        assert shown(git_repo, path, path.replace("/", "-")) == applying - expected


def with_history(root: Path, often: str, other: str) -> Path:
    """Make a workspace of forty commits, every fourth on one file and the rest on another."""
    make_workspace(root)
    write(root, often)
    write(root, other)
    write(root, "src/rare.py")
    commit(root, "Begin")

    lines: list[str] = []
    for number in range(40):
        name = other if number % 4 else often
        lines += ["commit refs/heads/main", "committer T <t@example.org> 1800000000 +0000"]
        lines += ["data 0", *([] if number else ["from refs/heads/main^0"])]
        lines += [f"M 644 inline {name}", "data 2", f"{number:02}"]

    commands = "\n".join([*lines, ""])
    fast_import = ["git", "fast-import", "--quiet"]
    subprocess.run(fast_import, cwd=root, input=commands, text=True, check=True)
    subprocess.run(["git", "reset", "-q", "--hard"], cwd=root, check=True)
    return root


def test_the_scope_of_the_first_steps_is_shown(git_repo: Path) -> None:
    root = with_history(git_repo, "src/web/page.py", "src/importer/read.py")
    orbit(root, "learning", "new", "Read closes the file", "--path", "src/**")
    assert len(shown(root, "src/importer/read.py", "s")) == 1


def test_a_file_that_is_edited_all_the_time_has_its_records(git_repo: Path) -> None:
    root = with_history(git_repo, "src/importer/read.py", "src/web/page.py")
    orbit(root, "learning", "new", "Read closes the file", "--path", "src/importer/read.py")
    assert len(shown(root, "src/importer/read.py", "s")) == 1


def test_a_busy_file_in_a_scope_silences_no_other_file(git_repo: Path) -> None:
    root = with_history(git_repo, "README.md", "src/web/page.py")
    scope = ("--path", "src/rare.py", "--path", "README.md")
    orbit(root, "learning", "new", "Rare things are named in README", *scope)
    assert len(shown(root, "src/rare.py", "one")) == 1
    assert len(shown(root, "README.md", "two")) == 1
    assert "matches and is shown" in orbit(root, "explain", "src/rare.py")


def test_explain_and_match_say_what_brings_a_withheld_record_to_an_edit(git_repo: Path) -> None:
    make_workspace(git_repo)
    for number in range(40):
        write(git_repo, f"src/m{number}.py")
    for number in range(11):
        write_learning(git_repo, number, priority=200 - number)
    commit(git_repo)

    sentence = "only wide globs lead to it, and 10 such records come first"
    assert sentence in orbit(git_repo, "explain", "src/m0.py").partition("L-00010")[2]
    assert "not shown at an edit" in orbit(git_repo, "match", "src/m0.py").partition("L-00010")[2]

    orbit(git_repo, "learning", "update", "L-00010", "--path", "src/m0.py")
    assert "L-00010" in shown(git_repo, "src/m0.py", "s")


def tried(root: Path) -> str:
    """Return what a trial of the hook of Claude Code says."""
    orbit(root, "hook", "install", "claude")
    return orbit(root, "hook", "test", "claude")


def test_a_trial_of_the_hook_names_the_cause_of_its_silence(git_repo: Path) -> None:
    make_workspace(git_repo)
    write(git_repo, "src/a.py")
    write_learning(git_repo, 1, scope={"paths": ["gone/**"]})
    write_learning(git_repo, 2, freshness={"expires_at": "2026-01-02T00:00:00Z"})
    write_learning(git_repo, 3, pending=True)
    commit(git_repo)

    text = tried(git_repo)
    assert "no edit of a file here shows a record" in text
    assert "L-00001: `gone/**` matches no file" in text
    assert "L-00002: its time was over on 2026-01-02" in text
    assert "L-00003: it waits for a person to accept it: `orbit review`" in text


def test_a_trial_of_the_hook_shows_a_record_of_a_wide_glob(git_repo: Path) -> None:
    make_workspace(git_repo)
    for number in range(40):
        write(git_repo, f"src/m{number}.py")
    write_learning(git_repo, 1, scope={"paths": ["**"]})
    commit(git_repo)
    text = tried(git_repo)
    assert "works" in text
    assert "- [L-00001]" in text
