"""Replay of a check over a history, and how a person raises its level."""

from pathlib import Path
from typing import Any

import pytest
from tests.extras.enforce.test_run import NO_PRINT, check, decide
from tests.files import commit, make_workspace, write

from orbit_enforce.enforce import record_of_file
from orbit_enforce.levels import promote
from orbit_enforce.replay import Replay, replay_check
from orbit_enforce.spec import DecisionCheck, check_named
from orbit_registry.errors import InvalidRecordError, RefusedError, UsageError
from orbit_registry.registry import Registry

ADVICE = {**NO_PRINT, "level": "advice"}


def project(root: Path) -> Path:
    make_workspace(root)
    write(root, "src/old.py", "print('before the decision')\n")
    write(root, "src/app.py", "import os\n")
    commit(root, "Before")
    decide(root, ADVICE, date="2000-01-01")
    commit(root, "Decide")
    return root


def check_at(root: Path) -> DecisionCheck:
    return check_named(Registry.open(root).collection.records.get("ADR-0001"), "no-print")


def replayed(root: Path, **options: Any) -> Replay:
    return replay_check(Registry.open(root).workspace, check_at(root), **options)


def promoted(root: Path) -> str:
    registry = Registry.open(root)
    return promote(registry.workspace, check_at(root), registry.author())


def fates(result: Replay) -> list[tuple[str, str]]:
    return [(entry.path, entry.fate) for entry in result.introductions]


@pytest.fixture
def root(git_repo: Path) -> Path:
    return project(git_repo)


def test_each_fate_of_a_match_is_told_apart(
    root: Path, git: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Matches from before the decision, moved, edited away, deleted with their file, kept."""
    assert fates(replayed(root)) == [("src/old.py", "kept")]
    write(root, "src/app.py", "import os\nprint(1)\n")
    for name, number in (("gone", 2), ("stays", 3), ("moves", 4)):
        write(root, f"src/{name}.py", f"print({number})\n" + "x = 1\n" * 9)
    commit(root, "Print")
    git(root, "mv", "src/moves.py", "src/moved.py")
    commit(root, "Rename")
    (root / "src/moved.py").unlink()
    write(root, "lib/far.py", "# another file\n" * 50 + "print(4)\n")
    commit(root, "Move the line")
    write(root, "src/app.py", "import os\nlog(1)\n")
    (root / "src/gone.py").unlink()
    monkeypatch.setenv("GIT_COMMITTER_DATE", "2030-01-01T00:00:00Z")
    commit(root, "Log")
    after = [
        ("src/app.py", "edited away"),
        ("src/gone.py", "deleted"),
        ("lib/far.py", "kept"),
        ("src/stays.py", "kept"),
    ]
    result = replayed(root)
    assert fates(result) == [("src/old.py", "kept"), *after]
    row = result.as_data()
    assert (row["replayed"], row["introduced"], row["edited_away"], row["deleted"]) == (7, 5, 1, 1)
    assert fates(replayed(root, since="2029-12-31")) == []
    (root / "lib/far.py").unlink()
    commit(root, "Delete")
    assert fates(replayed(root))[3] == ("lib/far.py", "deleted")


def test_names_of_files_are_replayed(root: Path, git: Any) -> None:
    no_jar = {
        "id": "no-print",
        "path": {"of": ["**/*.jar"]},
        "passes": ["a.py"],
        "fails": ["a.jar"],
    }
    decide(root, no_jar, date="2000-01-01")
    for name in ("a.jar", "b.jar"):
        write(root, name, name)
    commit(root, "Jars")
    git(root, "mv", "a.jar", "lib.zip")
    (root / "lib").mkdir()
    git(root, "mv", "b.jar", "lib/b.jar")
    commit(root, "Move")
    assert fates(replayed(root)) == [("lib.zip", "edited away"), ("lib/b.jar", "kept")]


def test_a_file_that_is_too_large_for_a_while_loses_no_match(root: Path) -> None:
    text = (root / "src/old.py").read_text("utf-8")
    write(root, "src/old.py", text + "x = 1\n" * 200_000)
    commit(root, "Grow")
    assert fates(replayed(root)) == [("src/old.py", "kept")]
    write(root, "src/old.py", text)
    commit(root, "Shrink")
    assert fates(replayed(root)) == [("src/old.py", "kept")]


def test_a_replay_of_nothing_is_refused(root: Path, git: Any) -> None:
    for since in ("2090-01-01", "2999-01-01", "foo"):
        with pytest.raises(UsageError, match=r"no commit|not a date"):
            replayed(root, since=since)
    decide(root, {**ADVICE, "text": {"regex": "("}}, date="2000-01-01")
    with pytest.raises(UsageError, match="can't be replayed"):
        replayed(root)
    git(root.parent, "clone", "-q", "--depth", "1", f"file://{root}", "shallow")
    with pytest.raises(UsageError, match="shallow"):
        replayed(root.parent / "shallow")
    decide(root, ADVICE, date="2000-01-01")
    git(root, "checkout", "-q", "--orphan", "none")
    with pytest.raises(UsageError, match="no commit here yet"):
        replayed(root)


def test_the_first_day_of_a_replay_is_whole(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_COMMITTER_DATE", "2030-01-01T00:00:01")
    write(root, "src/new.py", "print(2)\n")
    commit(root, "Just after midnight")
    assert fates(replayed(root, since="2030-01-01")) == [("src/new.py", "kept")]


def test_a_file_of_checks_that_is_no_yaml_is_refused(root: Path) -> None:
    write(root, "draft.yaml", "checks: [")
    with pytest.raises(InvalidRecordError, match=r"draft\.yaml"):
        record_of_file(Registry.open(root).workspace, "draft.yaml")


def test_the_era_of_a_decision_starts_with_its_date(
    git_repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_workspace(git_repo)
    write(git_repo, "src/old.py", "print(1)\n")
    monkeypatch.setenv("GIT_COMMITTER_DATE", "2001-01-01T00:00:00Z")
    commit(git_repo, "Before")
    monkeypatch.setenv("GIT_COMMITTER_DATE", "2010-06-01T00:00:00Z")
    decide(git_repo, ADVICE, date="2010-05")
    commit(git_repo, "Decide")
    assert fates(replayed(git_repo)) == []
    assert fates(replayed(git_repo, since="2000-01-01")) == [("src/old.py", "kept")]


def test_a_person_raises_a_level_by_one(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ORBIT_ACTOR", "agent")
    with pytest.raises(RefusedError, match="an agent may not"):
        promoted(root)
    monkeypatch.setenv("ORBIT_ACTOR", "human")
    levels = [promoted(root) for _ in range(2)]
    assert levels == ["warning", "error"]
    file = root / ".orbit/adrs/ADR-0001/adr.yaml"
    assert "level: error" in file.read_text("utf-8").replace('"', "")
    with pytest.raises(RefusedError, match="at level error already"):
        promoted(root)


def test_a_promotion_edits_one_line(root: Path) -> None:
    file = root / ".orbit/adrs/ADR-0001/adr.yaml"
    head = file.read_text("utf-8").partition("checks:")[0]
    checks = """checks:
- id: no-print  # the first one
  in: ["**/*.py"]
  text: {words: ["print("]}
  level: advice  # until it is replayed
  passes: ["log(1)"]
  fails: ["print(1)"]
"""
    write(root, ".orbit/adrs/ADR-0001/adr.yaml", head + checks)
    replayed(root)
    promoted(root)
    text = file.read_text("utf-8")
    assert (
        text.partition("checks:")[2]
        == checks.replace("level: advice", "level: warning").partition("checks:")[2]
    )


def test_allowances_lower_no_level(root: Path) -> None:
    allowed = "print(1)  # orbit: allow ADR-0001 because it is a script\n"
    decide(root, {**ADVICE, "level": "error"}, date="2000-01-01")
    write(root, "src/app.py", allowed * 3 + "print(2)\n")
    outcome = check(root)
    rows = [(row.severity.value, str(row.location)) for row in outcome.diagnostics if row.check]
    assert ("error", "src/app.py:4:1") in rows
    assert len(outcome.allowed) == 3
