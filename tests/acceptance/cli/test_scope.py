"""`orbit scope suggest`, asked in real repositories: what it proposes, what it writes, and what it leaves alone."""

import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests import files
from tests.files import write


def commit(root: Path, message: str, **texts: str) -> None:
    """Write files and commit them with what else changed."""
    for path, text in texts.items():
        write(root, path, text)
    files.commit(root, message)


@pytest.fixture
def history(shell: Any) -> Any:
    """Give the repository files that cite, a commit that names a decision, and one that touches both."""
    commit(
        shell.root, "Start", **{"src/db.py": "# ADR-0002 says why\n", "src/pool.py": "", "lib/a.py": "", "lib/b.py": ""}
    )
    return shell


def globs(shell: Any, *arguments: str) -> dict[str, list[str]]:
    suggestions = shell.data("scope", "suggest", *arguments)["suggestions"]
    return {item["id"]: [entry["glob"] for entry in item["globs"]] for item in suggestions}


def test_citing_files_and_named_commits_are_clues(history: Any) -> None:
    commit(history.root, "Pool connections (ADR-0002)", **{"src/pool.py": "x = 1\n"})
    commit(history.root, "Draw", **{"lib/a.svg": "<svg/>\n"})
    summary = "Close what lib/a.py opens, as lib/a.svg shows"
    learned = history.data("learning", "add", "--summary", summary, "--yes")["id"]
    before = {path: path.read_bytes() for path in (history.root / ".orbit").rglob("*.yaml")}
    result = globs(history)
    assert result["ADR-0002"] == ["src/db.py", "src/pool.py"]
    assert result[learned] == ["lib/a.py"]
    assert "ADR-0001" not in result  # it has a scope
    assert {path: path.read_bytes() for path in before} == before


def test_a_site_that_was_built_here_is_not_proposed(history: Any) -> None:
    commit(history.root, "Publish", **{"site/.orbit-site.json": "{}\n", "site/page.py": "# ADR-0002\n"})
    assert globs(history)["ADR-0002"] == ["src/db.py"]


def test_the_gate_names_where_git_saw_a_folder_go(history: Any) -> None:
    history("learning", "add", "--summary", "Close what it opens", "--path", "lib/**", "--yes")
    commit(history.root, "Add", **{"libs/c.py": "x = 1\n", "lib/a.py": "a = 1\n", "lib/b.py": "b = 1\n"})
    subprocess.run(["git", "mv", "lib", "moved"], cwd=history.root, check=True)

    result = history.json("check")[1]["diagnostics"]

    hints = [entry["hint"] for entry in result if entry["code"] == "ORB502"]
    assert hints == ["git saw it move to `moved/**`: `orbit learning prune --fix-renames` follows it"]


def test_commits_that_touch_both_count_when_they_come_again(history: Any) -> None:
    learned = history.data("learning", "add", "--summary", "Look twice", "--yes")["id"]
    commit(history.root, "Note", **{"lib/b.py": "y = 1\n"})
    assert globs(history, learned) == {learned: []}
    history("learning", "update", learned, "--priority", "3")
    commit(history.root, "Note again", **{"lib/b.py": "y = 2\n"})
    assert globs(history, learned) == {learned: ["lib/b.py"]}


def test_apply_writes_and_git_applies_the_diff(history: Any) -> None:
    code, out, _ = history("scope", "suggest")
    assert code == 0
    assert "# ADR-0002: src/db.py (1 file): `src/db.py` cites it" in out
    subprocess.run(["git", "apply", "--check"], cwd=history.root, input=out.encode(), check=True)
    code, answer = history.json("scope", "suggest", "--apply")
    assert answer["data"]["written"] is True
    record = (history.root / ".orbit/adrs/ADR-0002/adr.yaml").read_text("utf-8")
    assert "src/db.py" in record
    assert "ADR-0002" not in globs(history)
    assert history("check")[0] == 0


def test_an_agent_does_not_write(history: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ORBIT_ACTOR", "agent")
    before = (history.root / ".orbit/adrs/ADR-0002/adr.yaml").read_bytes()
    assert history("scope", "suggest")[0] == 0
    code, _, text = history("scope", "suggest", "--apply")
    assert code == 1
    assert "agent" in text
    assert (history.root / ".orbit/adrs/ADR-0002/adr.yaml").read_bytes() == before


def test_outside_git_and_unknown_ids(shell: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_DIR", "/nonexistent")
    assert globs(shell)["ADR-0002"] == []
    monkeypatch.delenv("GIT_DIR")
    code, _, text = shell("scope", "suggest", "ADR-9999")
    assert code == 1
    assert "ADR-9999" in text
