"""The benchmark of recall: questions come from a repository's own history, and figures are what they say."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from tests.bench.recall import main, of_files, of_history

from orbit_registry.cli.main import run
from orbit_registry.registry import Registry


@pytest.fixture
def repository(git_repo: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a repository with two decisions, a commit that names one, and a line of code that cites the other."""
    monkeypatch.chdir(git_repo)
    assert run(["init", "--yes"]) == 0
    for title in ("Retry failed uploads", "Keep the ledger in SQLite"):
        assert run(["adr", "add", "--title", title]) == 0
    Path("ledger.py").write_text("# ADR-0002: one ledger file for all sessions\nx = 'ADR-0002'\n", "utf-8")
    subprocess.run(["git", "add", "-A"], check=True)
    subprocess.run(["git", "commit", "-qm", "Retry an upload that the network dropped\n\nSee ADR-0001."], check=True)
    return git_repo


def test_questions_are_words_of_the_history_without_ids(repository: Path) -> None:
    """A commit's subject answers with what its message names, a citing line with what it cites; short ones are left."""
    answers = {(question.text, question.source): [path.split("/")[-2] for path in question.answers]
             for question in of_history(Registry.open(repository))}  # fmt: skip

    assert answers == {
        ("Retry an upload that the network dropped", "commits"): ["ADR-0001"],
        ("one ledger file for all sessions", "citations"): ["ADR-0002"],
    }
    assert [question.source for question in of_history(Registry.open(repository), ["ledger.py"])] == ["commits"]


def test_the_table_has_a_row_for_each_search(
    repository: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ours and SQLite's; the page keeps its other parts."""
    (tmp_path / "q").mkdir()
    (tmp_path / "q/commits-x.json").write_text(json.dumps([{"query": "ledger sessions", "relevant": ["ADR-0002"]}]))
    page = tmp_path / "page.md"
    page.write_text("# A\n\n## Recall\n\nold\n\n## Z\n\nkept\n", "utf-8")

    assert main(["--repo", str(repository), "--questions", str(tmp_path / "q"), "--page", str(page)]) == 0
    out = capsys.readouterr().out
    assert "| orbit search | 1.000" in out
    assert "| SQLite FTS5 | " in out
    assert out.startswith("1 questions (1 commits) for 2 records")
    text = page.read_text("utf-8")
    assert "old" not in text
    assert text.index("# A") < text.index("## Recall\n\n1 questions") < text.index("## Z\n\nkept")
    assert len(list(of_files(tmp_path / "q", Registry.open(repository).records))) == 1
