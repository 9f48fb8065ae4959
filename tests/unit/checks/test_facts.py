"""What git is asked, in every state a checkout can be in:
it answers, or it is said what stays open.
"""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from orbit_registry.checks.engine import CheckOutcome
from orbit_registry.checks.review.changes import compare
from orbit_registry.errors import GitError, GitStoppedError, UnreadableHeadError
from orbit_registry.matching.sync import sync_index
from orbit_registry.registry import Registry
from orbit_registry.repository.reader import Reading
from orbit_registry.repository.vcs_state import VcsState, collect_vcs_state
from orbit_registry.workspace.workspace import open_workspace

Git = Callable[..., str]
Learning = Callable[..., Path]


def facts(root: Path, against: str | None = None) -> VcsState:
    workspace = open_workspace(root)
    return collect_vcs_state(workspace, Reading(workspace), set(), against)


def untold(root: Path, against: str | None = None) -> str:
    outcome: CheckOutcome = Registry.open(root).check(against=against)
    return "\n".join(
        diagnostic.message for diagnostic in outcome.diagnostics if diagnostic.code == "ORB290"
    )


def commit(root: Path, git: Git) -> None:
    git(root, "add", "--all")
    git(root, "commit", "-q", "-m", "Change")


@pytest.fixture
def project(workspace: Path, learning: Learning, git: Git) -> Path:
    learning("L-7k3fq", "Parse dates strictly")
    commit(workspace, git)
    return workspace


def test_on_the_default_branch_uncommitted_changes_count(project: Path, learning: Learning) -> None:
    assert facts(project).changed == frozenset()
    learning("L-9m2ab", "Close what you open")
    learning("L-7k3fq", "Parse dates with care")
    assert facts(project).changed == {
        f".orbit/learnings/{name}/learning.yaml" for name in ("L-9m2ab", "L-7k3fq")
    }


def test_on_a_branch_its_own_changes_count(project: Path, learning: Learning, git: Git) -> None:
    git(project, "checkout", "-q", "-b", "work")
    learning("L-9m2ab", "Close what you open")
    commit(project, git)
    git(project, "checkout", "-q", "main")
    (project / "src" / "other.py").write_text("", "utf-8")
    commit(project, git)
    git(project, "checkout", "-q", "work")
    assert facts(project).changed == {".orbit/learnings/L-9m2ab/learning.yaml"}
    assert facts(project, "main").changed == {".orbit/learnings/L-9m2ab/learning.yaml"}


def test_before_the_first_commit_everything_is_new(tmp_path: Path, git: Git) -> None:
    (tmp_path / ".orbit").mkdir()
    (tmp_path / ".orbit" / "config.yaml").write_text(
        "format: orbit-registry\nschema_version: 1\n", "utf-8"
    )
    git(tmp_path, "init", "-q", "-b", "main")
    state = facts(tmp_path)
    assert (state.tracked, state.changed, state.unavailable) == ((), {".orbit/config.yaml"}, ())


def test_a_detached_head_is_compared_with_main(project: Path, learning: Learning, git: Git) -> None:
    git(project, "checkout", "-q", "--detach")
    learning("L-9m2ab", "Close what you open")
    commit(project, git)
    assert facts(project).changed == {".orbit/learnings/L-9m2ab/learning.yaml"}
    assert untold(project) == ""


def test_a_workspace_below_the_root_names_paths_from_itself(
    project: Path, git: Git, tmp_path: Path
) -> None:
    mono = tmp_path / "mono"
    mono.mkdir()
    git(mono, "init", "-q", "-b", "main")
    (mono / "outside.txt").write_text("", "utf-8")
    (project / ".git").rename(tmp_path / "old-git")
    project.rename(mono / "part")
    git(mono, "add", "--all")
    git(mono, "commit", "-q", "-m", "All")
    file = mono / "part" / ".orbit" / "learnings" / "L-7k3fq" / "learning.yaml"
    file.write_text(file.read_text("utf-8").replace("status: active", "status: retired"), "utf-8")
    state = facts(mono / "part")
    assert state.changed == {".orbit/learnings/L-7k3fq/learning.yaml"}
    assert state.tracked is not None
    assert "src/app.py" in state.tracked
    assert state.before["L-7k3fq"].status == "active"


def test_outside_git_documents_are_found_on_disk(tmp_path: Path) -> None:
    (tmp_path / ".orbit").mkdir()
    (tmp_path / ".orbit" / "config.yaml").write_text(
        "format: orbit-registry\nschema_version: 1\n", "utf-8"
    )
    (tmp_path / "README.md").write_text("See ADR-0042.\n", "utf-8")
    state = facts(tmp_path)
    assert (state.tracked, state.changed, state.citing) == (None, None, ("README.md",))
    assert "not in a git repository" in untold(tmp_path)
    codes = [diagnostic.code for diagnostic in Registry.open(tmp_path).check().diagnostics]
    assert "ORB305" in codes


def test_without_git_installed_the_gate_runs(
    project: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    outcome = Registry.open(project).check()
    assert outcome.ok
    unchecked = [
        diagnostic.message for diagnostic in outcome.diagnostics if diagnostic.code == "ORB290"
    ]
    assert any("git is not installed" in message for message in unchecked)
    with pytest.raises(GitError, match="git is not installed"):
        compare(open_workspace(project), "main")


def git_killed_at(question: str, folder: Path) -> Path:
    """Return a folder with a git that is killed when its arguments have these words."""
    program = folder / "git"
    program.parent.mkdir()
    program.write_text(
        f'#!/bin/sh\ncase "$*" in *"{question}"*) kill -9 $$;; esac\nexec {shutil.which("git")} '
        f'"$@"\n',
        "utf-8",
    )
    program.chmod(0o755)
    return folder


def test_a_killed_git_stops_a_sync_of_the_index(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An index without the tracked files would take wide globs for narrow ones,
    and pass for up to date.
    """
    monkeypatch.setenv(
        "PATH", f"{git_killed_at(' ls-files ', tmp_path / 'bin')}:{os.environ['PATH']}"
    )

    with pytest.raises(GitStoppedError):
        sync_index(open_workspace(project))


@pytest.mark.parametrize(
    ("question", "error"),
    [
        ("HEAD^{commit}", UnreadableHeadError),
        ("--show-toplevel", GitStoppedError),
        ("ls-files", GitStoppedError),
    ],
)
def test_a_killed_git_is_an_error(
    question: str,
    error: type[GitError],
    project: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PATH", f"{git_killed_at(question, tmp_path / 'bin')}:{os.environ['PATH']}")

    with pytest.raises(error, match="git was killed by signal 9") as refused:
        Registry.open(project).check()

    assert refused.value.exit_code == 3
    if error is GitStoppedError:  # nothing else takes it for an answer either
        with pytest.raises(GitStoppedError):
            Registry.open(project).freshness()
        with pytest.raises(GitStoppedError):
            open_workspace(project).git.ask("rev-parse", question)
