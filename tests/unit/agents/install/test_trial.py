"""A trial of a hook says why the hook is silent."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from orbit_registry.agents.agent import load_agent
from orbit_registry.agents.install.trial import try_hook
from orbit_registry.registry import Registry
from orbit_registry.workspace.author import Author

SILENT = ":"  # a command that prints nothing


def test_a_silent_hook_names_the_folder_that_it_may_not_write(
    git_repo: Path, git: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    Registry.init(git_repo)
    (git_repo / "a.py").touch()
    fields = {
        "summary": "Close every file",
        "scope": {"paths": ["a.py"]},
        "evidence": [{"kind": "task", "reference": "T-1"}],
    }
    Registry.open(git_repo).add("learning", fields, Author("Ada", "human"))
    git(git_repo, "add", ".")
    workspace = Registry.open(git_repo).workspace

    assert try_hook(workspace, load_agent("claude"), SILENT).problems == (
        "it said nothing about a.py, for which a record is pushed",
    )
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert try_hook(workspace, load_agent("claude"), SILENT).problems == (
        f"it says nothing: {workspace.state}, where it keeps what a session saw, can't be written",
    )


def test_an_untracked_file_is_tried_too(git_repo: Path) -> None:
    Registry.init(git_repo)
    (git_repo / "new.py").touch()
    Registry.open(git_repo).add(
        "learning", {"summary": "Close every file", "scope": {"paths": ["new.py"]}}
    )
    assert (
        try_hook(Registry.open(git_repo).workspace, load_agent("claude"), SILENT).path == "new.py"
    )


def test_a_trial_outlives_a_log_that_it_cannot_clean(git_repo: Path) -> None:
    Registry.init(git_repo)
    (git_repo / ".orbit/state/log").mkdir(parents=True, exist_ok=True)
    (git_repo / ".orbit/state/log/sessions").write_text("a file where a folder belongs\n", "utf-8")
    assert try_hook(Registry.open(git_repo).workspace, load_agent("claude"), SILENT).problems == ()
