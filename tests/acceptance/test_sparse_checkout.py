"""In a sparse checkout nothing is taken for deleted that git tracks and has not checked out."""

import json
import subprocess
from pathlib import Path

import pytest
from tests.acceptance.conftest import orbit
from tests.files import commit, make_workspace, write, write_learning

DOCUMENT = (
    "# {number}. {title}\n\n## Status\n\nAccepted\n\n## Context\n\nIt is so.\n\n## Decision\n\n"
    "We use it {number} times.\n\n## Consequences\n\n"
)


@pytest.fixture
def sparse(git_repo: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a clone with adopted decisions, a baseline and evidence, with `.orbit` alone on disk.

    Of two documents and two evidence files one each was deleted before.
    """
    make_workspace(git_repo)
    monkeypatch.setenv("ORBIT_ACTOR", "human")
    for number, title in enumerate(("Queue in files", "Cache in memory", "Log lines"), 1):
        text = DOCUMENT.format(number=number, title=title)
        write(git_repo, f"docs/adr/000{number}-x.md", text)

    for name in ("src/a.py", "src/b.py"):
        write(git_repo, name, "x = 1\n")

    orbit(git_repo, "import", "docs/adr")
    write_learning(git_repo, 1, evidence=[{"kind": "file", "reference": "src/a.py"}])
    write_learning(
        git_repo, 2, summary="Twice", evidence=[{"kind": "file", "reference": "src/b.py"}]
    )
    commit(git_repo)
    (git_repo / "docs/adr/0003-x.md").unlink()
    (git_repo / "src/b.py").unlink()
    commit(git_repo)
    orbit(git_repo, "check", code=1)
    words = ["git", "sparse-checkout", "set", "--no-cone", "/.orbit/*"]
    subprocess.run(words, cwd=git_repo, check=True, capture_output=True)
    assert not (git_repo / "docs").exists()
    return git_repo


def _codes(root: Path, *words: str) -> list[tuple[str, str]]:
    answer = json.loads(orbit(root, "check", "--format", "json", *words, code=1))
    return sorted((row["code"], row["record"] or "") for row in answer["diagnostics"])


def test_only_what_was_deleted_is_gone(sparse: Path) -> None:
    codes = _codes(sparse)
    assert [record for code, record in codes if code == "ORB703"] == ["ADR-0003"]
    assert [record for code, record in codes if code == "ORB804"] == ["L-00002"]
    assert ("ORB290", "") in codes


def test_no_command_advises_to_retire_what_is_there(sparse: Path) -> None:
    stale = orbit(sparse, "stale")
    assert "ADR-0003" in stale
    assert "L-00002" in stale
    for name in ("ADR-0001", "ADR-0002", "L-00001"):
        assert name not in stale


def test_the_baseline_keeps_what_was_not_looked_for(sparse: Path) -> None:
    baseline = sparse / ".orbit/baseline.yaml"
    before = [line for line in baseline.read_text("utf-8").splitlines() if "ADR-0001" in line]
    assert before
    assert "baselined findings are gone" not in orbit(sparse, "check", code=1)

    orbit(sparse, "baseline", "update")
    after = baseline.read_text("utf-8")
    assert [line for line in after.splitlines() if "ADR-0001" in line] == before
