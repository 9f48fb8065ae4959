"""Whether records still hold, asked through the real command line in real repositories."""

import json
import subprocess
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.files import CONFIG, write

from orbit_registry.checks import engine
from orbit_registry.cli.main import run
from orbit_registry.registry import Registry

Git = Callable[..., str]


class Project:
    """A repository with a workspace, and `orbit` in it."""

    def __init__(self, root: Path, git: Git, capsys: pytest.CaptureFixture[str]) -> None:
        self.root = root
        self._git = git
        self._capsys = capsys

    def git(self, *arguments: str) -> str:
        return self._git(self.root, *arguments)

    def write(self, name: str, text: str) -> Path:
        return write(self.root, name, text)

    def commit(self) -> str:
        self.git("add", "--all")
        self.git("commit", "-q", "--allow-empty", "-m", "Change")
        return self.git("rev-parse", "HEAD").strip()

    def orbit(self, *arguments: str) -> str:
        code = run(["-C", str(self.root), *arguments])
        printed = self._capsys.readouterr()
        assert code == 0, printed.err
        return printed.out

    def refused(self, *arguments: str) -> str:
        assert run(["-C", str(self.root), *arguments]) in (1, 2)
        return self._capsys.readouterr().err

    def json(self, *arguments: str) -> Any:
        return json.loads(self.orbit(*arguments, "--format", "json"))["data"]

    def learn(self, summary: str, *options: str) -> str:
        return str(self.json("learning", "add", "--summary", summary, *options)["id"])

    def file(self, record_id: str) -> Path:
        return self.root / f".orbit/learnings/{record_id}/learning.yaml"

    def causes(self, *options: str) -> dict[str, str]:
        return {item["id"]: item["cause"] for item in self.json("stale", *options)}

    def codes(self) -> list[str]:
        """Return the freshness findings of the gate, what is remembered used where it may be."""
        result = Registry.open(self.root).check().diagnostics
        return [item.code for item in result if item.code.startswith("ORB8")]


@pytest.fixture
def project(git_repo: Path, git: Git, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.chdir(git_repo)
    created = Project(git_repo, git, capsys)
    created.write(".orbit/config.yaml", CONFIG)
    created.write(".gitignore", ".orbit/state/\n")
    created.write("src/parser/dates.py", "def parse(): ...\n")
    created.write("src/app.py", "print('hello')\n")
    created.write("package.json", '{"name": "x", "scripts": {"test": "pytest", "lint": "ruff"}}\n')
    created.commit()
    return created


def test_a_field_that_changes_makes_stale_and_another_does_not(project: Project) -> None:
    learned = project.learn("Run the tests", "--tag", "test")
    project.orbit("verify", learned, "--input", "package.json#scripts.test")
    assert project.causes() == {}
    project.write("package.json", '{"scripts": {"lint": "other", "test": "pytest"}, "name": "y"}\r\n')
    assert project.causes() == {}
    project.write("package.json", '{"scripts": {"test": "tox"}}\n')
    assert project.causes() == {learned: "fingerprint"}
    assert project.codes() == ["ORB801"]
    project.write("package.json", '{"scripts": {"test" "tox"}}\n')
    assert "package.json:1:21" in project.orbit("stale")
    assert "can't be read" in project.refused("verify", learned)
    project.write("package.json", '{"scripts": {"test": "tox"}}\n')
    assert "hashed again" in project.orbit("verify", learned)
    assert (project.causes(), project.codes()) == ({}, [])


def test_a_checkout_of_the_verified_state_is_fresh_again(project: Project) -> None:
    learned = project.learn("Parse strictly", "--tag", "dates")
    project.orbit("verify", learned, "--input", "src/parser/")
    project.commit()
    project.git("checkout", "-q", "-b", "work")
    project.write("src/parser/new.py", "")
    assert project.causes() == {}, "a file that git does not track is no part of the folder"
    project.commit()
    assert project.causes() == {learned: "fingerprint"}
    project.git("checkout", "-q", "main")
    assert project.causes() == {}
    (project.root / "src/parser/dates.py").unlink()
    assert project.causes() == {learned: "fingerprint"}
    project.git("checkout", "-q", "--", "src/parser/dates.py")
    assert project.causes() == {}


def test_verifying_changes_nothing_else_in_the_file(project: Project) -> None:
    learned = project.learn("Parse strictly", "--tag", "dates")
    file = project.file(learned)
    file.write_text(file.read_text("utf-8").replace("status: active", "status: active # for now"), "utf-8")
    before = file.read_text("utf-8").splitlines()
    displayed = project.json("verify", learned, "--input", "src/app.py", "--by", "Grace", "--volatility", "stable")
    after = file.read_text("utf-8").splitlines()
    assert [line for line in after if line in before] == before
    assert "  verified_by: Grace" in after
    assert displayed[0]["hashed"] == ["src/app.py"]
    assert displayed[0]["state"] == "fresh"
    again = project.json("learning", "verify", learned, "--remove-input", "src/app.py", "--expires", "2020-01-31")
    assert again[0]["freshness"].keys() == {"volatility", "verified_at", "verified_by", "expires_at"}
    assert project.causes("--cause", "expired") == {learned: "expired"}
    assert "expires_at" not in project.json("verify", learned, "--expires", "never")[0]["freshness"]


def test_one_refused_verification_stops_no_other(project: Project) -> None:
    first, other = project.learn("Parse strictly", "--tag", "a"), project.learn("Close what you open", "--tag", "b")
    before = project.file(first).read_bytes()
    assert "`src/gone.py` is not there" in project.refused("verify", first, "--input", "src/gone.py")
    assert "has no input `src/app.py`" in project.refused("verify", first, "--remove-input", "src/app.py")
    assert "does not stay inside" in project.refused("verify", first, "--input", "../x")
    assert "is not a moment" in project.refused("verify", first, "--expires", "soon")
    assert project.file(first).read_bytes() == before
    project.orbit("learning", "retire", first)
    assert "is retired" in project.refused("verify", first, other)
    assert "verified_at" in project.file(other).read_text("utf-8")


def test_an_agent_verifies_only_what_waits_for_review(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    learned = project.learn("Parse strictly", "--tag", "dates")
    monkeypatch.setenv("ORBIT_ACTOR", "agent")
    suggested = project.learn("Close what you open", "--tag", "files")
    assert "an agent may not change it" in project.refused("verify", learned)
    project.orbit("verify", suggested, "--input", "src/app.py")


def test_a_scope_that_matches_nothing_and_evidence_that_is_gone(project: Project) -> None:
    commit = project.commit()
    partly = project.learn("One glob is left", "--path", "src/app.py", "--path", "src/parser/**")
    wholly = project.learn("No glob is left", "--path", "src/parser/**", "--path", "!src/app.py")
    doubted = project.learn("Some evidence is left", "--evidence", "file:src/parser/dates.py:3", "--evidence",
                            f"commit:{commit}", "--evidence", "task:T-1", "--tag", "a")  # fmt: skip
    unproven = project.learn("No evidence is left", "--evidence", "file:src/parser/dates.py", "--evidence",
                             "task:T-1", "--tag", "b")  # fmt: skip
    project.commit()
    assert project.causes() == {}
    project.git("rm", "-rq", "src/parser")
    assert project.causes() == {wholly: "anchor", unproven: "anchor"}
    assert project.codes() == ["ORB804", "ORB804"]
    assert {partly, doubted}.isdisjoint(project.causes("--kind", "learning", "--cause", "anchor"))


def test_a_rewritten_commit_is_gone_outside_shallow_clones(project: Project, tmp_path: Path) -> None:
    old = project.commit()
    project.git("commit", "-q", "--amend", "--allow-empty", "-m", "Reworded")
    there = project.commit()
    project.learn("It was rewritten", "--evidence", f"commit:{old}", "--tag", "a")
    project.learn("It is there", "--evidence", f"commit:{there[:8]}", "--tag", "b")
    project.learn("It never was", "--evidence", f"commit:{'0' * 40}", "--tag", "c")
    project.commit()
    project.git("reflog", "expire", "--expire=now", "--all")
    project.git("gc", "-q", "--prune=now")
    assert {item["title"] for item in project.json("stale")} == {"It was rewritten", "It never was"}
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", "--depth=1", f"file://{project.root}", str(clone)], check=True)
    shallow = Registry.open(clone)
    assert shallow.freshness() == {}
    output = [
        diagnostic.message for diagnostic in shallow.check().diagnostics if diagnostic.code in ("ORB290", "ORB804")
    ]
    assert [message for message in output if "evidence" in message] == [
        "not checked: whether 3 of the commits named as evidence are there: this clone is shallow"
    ]


def test_outside_git_only_files_are_compared(project: Project, tmp_path: Path) -> None:
    learned = project.learn("Parse strictly", "--path", "lib/**", "--evidence", f"commit:{'0' * 40}")
    project.orbit("verify", learned, "--input", "src/app.py", "--input", "src/parser/")
    bare = tmp_path / "bare"
    project.root.rename(bare)
    for inner in sorted((bare / ".git").rglob("*"), reverse=True):
        inner.rmdir() if inner.is_dir() else inner.unlink()
    (bare / ".git").rmdir()
    assert Registry.open(bare).freshness() == {}
    (bare / "src/app.py").write_text("other\n", "utf-8")
    (result,) = Registry.open(bare).freshness().values()
    assert [reason.subject for reason in result.reasons] == ["src/app.py"]


def test_the_gate_remembers_no_answer_that_the_clock_changes(project: Project) -> None:
    now = datetime.now(UTC).replace(hour=12, minute=0, second=0, microsecond=0)
    learned = project.learn("It holds until noon", "--tag", "a")
    project.orbit("verify", learned, "--expires", f"{now:%Y-%m-%dT%H:%M:%SZ}")
    workspace = Registry.open(project.root).workspace

    def codes(at: datetime) -> list[str]:
        return [
            diagnostic.code for diagnostic in engine.run(workspace, now=at).diagnostics if diagnostic.code == "ORB803"
        ]

    assert codes(now - timedelta(hours=2)) == []
    assert codes(now - timedelta(hours=1)) == []
    assert codes(now + timedelta(hours=1)) == ["ORB803"]


def test_a_rename_is_followed_and_written_on_request(project: Project) -> None:
    globs = project.learn("Globs move", "--path", "src/parser/**/*.py", "--path", "!src/app.py", "--path", "src/app.py")
    rests = project.learn("Inputs move", "--evidence", "file:src/app.py", "--tag", "a")
    project.orbit("verify", rests, "--input", "src/parser/", "--input", "package.json#scripts.test")
    project.commit()
    project.git("mv", "src/parser", "lib")
    project.commit()
    (project.root / "code").mkdir()
    project.git("mv", "lib", "code/dates")
    project.git("mv", "src/app.py", "code/main.py")
    project.commit()
    project.git("mv", "package.json", "code/package.json")
    before = {item: project.file(item).read_bytes() for item in (globs, rests)}

    displayed = project.orbit("learning", "prune", "--fix-renames")
    assert f"--- a/.orbit/learnings/{globs}/learning.yaml" in displayed
    assert '\n+    - "code/dates/**/*.py"' in displayed
    assert {item: project.file(item).read_bytes() for item in before} == before

    data = project.json("learning", "prune", "--fix-renames", "--confirm")
    assert data["written"] is True
    assert {(move["id"], move["old"], move["new"]) for move in data["moves"]} == {
        (globs, "src/parser/**/*.py", "code/dates/**/*.py"),
        (globs, "src/app.py", "code/main.py"),
        (rests, "src/app.py", "code/main.py"),
        (rests, "src/parser/", "code/dates/"),
        (rests, "package.json#scripts.test", "code/package.json#scripts.test"),
    }
    assert project.causes() == {}
    assert project.orbit("learning", "prune", "--fix-renames") == "nothing that learnings name is gone\n"


def test_what_moved_is_not_retired(project: Project) -> None:
    moved = project.learn("Its folder moved", "--path", "src/parser/**")
    removed = project.learn("Its file is gone", "--path", "src/app.py")
    project.commit()
    project.git("mv", "src/parser", "lib")
    (project.root / "src/app.py").unlink()
    project.commit()
    output = project.orbit("learning", "prune", "--confirm")
    assert f"{removed} is retired" in output
    assert project.json("learning", "show", moved)["status"] == "active"
    assert "1 learning left alone: git saw the files move, `orbit learning prune --fix-renames` follows them" in output
    project.orbit("learning", "prune", "--fix-renames", "--confirm")
    assert moved not in project.causes()


def test_what_nobody_saw_move_is_said_and_left(project: Project) -> None:
    learned = project.learn("It was deleted", "--path", "src/parser/**", "--path", "src/app.py")
    project.commit()
    project.git("rm", "-rq", "src/parser")
    project.commit()
    before = project.file(learned).read_bytes()
    displayed = project.json("learning", "prune", "--fix-renames", "--confirm")
    assert displayed == {
        "moves": [{"id": learned, "field": "scope.paths", "old": "src/parser/**", "new": None}],
        "diff": "",
        "written": False,
    }
    assert project.file(learned).read_bytes() == before


def test_prune_retires_only_what_lost_its_ground(project: Project) -> None:
    removed = project.learn("Its scope is gone", "--path", "src/parser/**")
    past = project.learn("It has expired", "--tag", "a")
    changed = project.learn("Its input has changed", "--tag", "b")
    suggested = project.learn("It waits for review", "--path", "src/parser/**", "--pending")
    project.orbit("verify", past, "--expires", "2020-01-01")
    project.orbit("verify", changed, "--input", "src/app.py")
    project.commit()
    project.git("rm", "-rq", "src/parser")
    project.write("src/app.py", "other\n")

    displayed = project.json("learning", "prune")
    assert {item["id"]: item["retire"] for item in displayed["stale"]} == {removed: True, past: True, changed: False}
    assert suggested in project.causes()
    assert {item["id"] for item in project.json("learning", "prune", "--stale-only")["stale"]} == {removed, changed}
    assert "status: active" in project.file(removed).read_text("utf-8")

    assert project.json("learning", "prune", "--stale-only", "--confirm")["retired"] == [removed]
    assert project.json("learning", "prune", "--confirm")["retired"] == [past]
    assert project.orbit("learning", "prune", "--confirm").endswith(
        "\nnone is retired: read again what changed or aged\n"
    )
    assert project.json("learning", "prune", "--cause", "fingerprint", "--confirm")["retired"] == [changed]
    assert set(project.causes()) == {suggested}


def test_an_agent_prunes_nothing_that_holds(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    learned = project.learn("Its scope moves", "--path", "src/parser/**")
    project.learn("Its file goes", "--path", "src/app.py")
    project.commit()
    project.git("mv", "src/parser", "lib")
    (project.root / "src/app.py").unlink()
    project.commit()
    before = project.file(learned).read_bytes()
    monkeypatch.setenv("ORBIT_ACTOR", "agent")
    assert "lib/**" in project.orbit("learning", "prune", "--fix-renames")
    for options in (["--confirm"], ["--fix-renames", "--confirm"]):
        assert "an agent may not" in project.refused("learning", "prune", *options)
    assert project.file(learned).read_bytes() == before


def test_a_record_can_rest_on_something_from_the_start(project: Project) -> None:
    twice = ["--fingerprint", "src/app.py", "--fingerprint", "./src/app.py"]
    learned = project.learn("Parse strictly", "--tag", "a", *twice, "--set", "freshness={volatility: stable}")
    current = project.json("learning", "show", learned)["freshness"]
    assert current.keys() == {"volatility", "fingerprint"}
    assert [item["input"] for item in current["fingerprint"]] == ["src/app.py"]
    assert project.causes() == {}
    project.write("src/app.py", "other\n")
    assert project.causes() == {learned: "fingerprint"}
    refused = project.refused("learning", "add", "--summary", "Close it", "--tag", "b", "--fingerprint", "gone.py")
    assert "`gone.py` is not there; nothing was written" in refused
    assert [item["id"] for item in project.json("learning", "list")] == [learned]
