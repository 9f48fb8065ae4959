"""An agent proposes: no command accepts a record for it, or changes one that is."""

from pathlib import Path
from typing import Any

import pytest
from tests.files import write

from orbit_registry.errors import RefusedError
from orbit_registry.operations.lifecycle import change_fields, supersede
from orbit_registry.registry import Registry
from orbit_registry.workspace.author import Author


def files(root: Path) -> dict[str, bytes]:
    """Return every file that git would see."""
    result = (path for path in root.rglob("*") if path.is_file() and not {".git", "state"} & set(path.parts))
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in result}


def test_an_agent_may_make_a_workspace(git_repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ORBIT_ACTOR", "agent")
    write(git_repo, "docs/adr/0008-choice.md", "# 8. Choice\n\n## Status\n\nAccepted\n\n## Decision\n\nThat.\n")
    monkeypatch.chdir(git_repo)
    assert Registry.init(git_repo).created
    assert list((git_repo / ".orbit").glob("adrs/*")) == []


def test_no_door_of_the_store_leads_around_the_rule(shell: Any) -> None:
    agent = Author("bot", "agent")
    workspace = Registry.open(shell.root).workspace
    before = files(shell.root)
    with pytest.raises(RefusedError, match="is accepted"):
        supersede(workspace, "ADR-0001", "ADR-0002", author=agent)
    with pytest.raises(RefusedError, match="is active"):
        change_fields(workspace, shell.learning, lambda data: {**data, "summary": "Other"}, author=agent)
    assert files(shell.root) == before
