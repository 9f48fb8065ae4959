"""What a command has written is in the push index when it returns:
no refresh has to be waited for.
"""

from pathlib import Path

import pytest

from orbit_registry.doors.cli.main import run
from orbit_registry.hook.index import Index, open_index
from orbit_registry.model.fields import ID, TEASER


@pytest.fixture
def root(git_repo: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(git_repo)
    monkeypatch.setenv("ORBIT_ACTOR", "human")
    assert run(["init", "--yes"]) == 0
    return git_repo


def pushed(root: Path, path: str = "src/a.py") -> dict[str, str]:
    """Return what the index as it is pushes for a path: the teasers by id."""
    index = open_index(str(root))
    assert isinstance(index, Index), index.reason
    rows = [index.row(hit >> 32) for hit in index.match(path)]
    return {row.values[ID]: row.values[TEASER] for row in rows if not index.difference(row)}


def test_a_command_leaves_the_push_index_up_to_date(root: Path) -> None:
    for number in range(2):
        assert run(["learning", "add", "--summary", f"Look {number}", "--path", "src/**"]) == 0
        assert len(pushed(root)) == number + 1
    first, second = pushed(root)
    assert run(["learning", "update", first, "--summary", "Listen"]) == 0
    assert pushed(root)[first] == f"- [{first}] Listen"
    assert run(["learning", "supersede", first, second]) == 0
    assert list(pushed(root)) == [second]


def test_a_vote_ranks_at_once(root: Path) -> None:
    for number in range(2):
        run(["learning", "add", "--summary", f"Look {number}", "--path", "src/**"])
    last = list(pushed(root))[-1]
    assert run(["learning", "vote", last, "--task", "T-1", "--model", "m"]) == 0
    assert next(iter(pushed(root))) == last
