"""`orbit leave` takes back what Orbit wrote: the files are then byte for byte what they were."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.acceptance.conftest import orbit
from tests.files import commit, write

OWN = {
    "src/app.py": "x = 1\n",
    ".gitignore": "*.log\n# mine\n",
    ".gitattributes": "*.png binary\n",
    ".claude/settings.local.json": '{\n  "permissions": {"allow": ["Bash(ls)"]}\n}\n',
    ".mcp.json": '{"mcpServers": {"mine": {"command": "mine"}}}\n',
    ".github/copilot/settings.local.json": "{}\n",
    "AGENTS.md": "# How we work\n\nRun the tests.\n",
    ".claude/rules/mine.md": "Mine.\n",
    "docs/adr/0001-use-sqlite.md": "# Use SQLite\n\n## Status\n\nAccepted\n\n## Decision\n\nYes.\n",
}
INSTALLED = (
    ("init", "--yes"),
    ("import", "docs/adr"),
    ("learning", "new", "Close files", "--path", "src/**"),
    ("hook", "install", "claude", "--with-skills"),
    ("hook", "install", "claude", "--scope", "project"),
    ("hook", "install", "codex", "--scope", "project"),
    ("hook", "install", "copilot"),
    ("hook", "install", "opencode"),
    ("mcp", "install", "claude", "--scope", "project"),
    ("mcp", "install", "codex", "--scope", "project"),
    ("mcp", "install", "cursor", "--scope", "project"),
    ("export", "rules", *(f"--agent={name}" for name in ("claude", "cursor", "agents-md"))),
)


@pytest.fixture
def root(git_repo: Path) -> Path:
    for name, text in OWN.items():
        write(git_repo, name, text)
    commit(git_repo)
    return git_repo


def files(root: Path) -> Mapping[str, bytes]:
    """Return all files, and git's settings; not the index and the cache, which each call writes."""
    below = sorted(path for path in root.rglob("*") if path.is_file())
    names = {path.relative_to(root).as_posix(): path for path in below}
    return {
        name: path.read_bytes()
        for name, path in names.items()
        if not name.startswith(".git/") or name == ".git/config"
    }


def test_leave_gives_back_every_file(root: Path) -> None:
    before = files(root)
    for words in INSTALLED:
        orbit(root, *words)

    installed = files(root)
    assert len(installed) > len(before) + 10
    planned = json.loads(orbit(root, "leave", "--records", "--dry-run", "--format", "json"))["data"]
    assert files(root) == installed

    done = json.loads(orbit(root, "leave", "--records", "--yes", "--format", "json"))["data"]
    assert done["removed"] == planned["removed"]
    assert done["problems"] == []
    after = files(root)
    assert not (root / ".git/orbit").exists()
    assert sorted(after) == sorted(before)
    assert {name: text for name, text in after.items() if text != before[name]} == {}


def test_the_records_stay_unless_you_say_so(root: Path) -> None:
    for words in INSTALLED:
        orbit(root, *words)
    records = {name: text for name, text in files(root).items() if name.startswith(".orbit/")}

    text = orbit(root, "leave", "--yes")
    assert "stays: .orbit/ with 2 records: `orbit leave --records` removes it" in text
    after = files(root)
    assert {name for name in records if ".yaml" in name} <= {*after}
    assert ".orbit/state/" in after[".gitignore"].decode()
    assert orbit(root, "check")


def test_a_file_that_cannot_be_read_hides_no_other(root: Path) -> None:
    for words in INSTALLED:
        orbit(root, *words)
    write(root, ".mcp.json", "{ not JSON")

    printed = orbit(root, "leave", "--yes", code=1)
    assert "not removed: " in printed
    assert "removed: the hook of Claude Code (.claude/settings.local.json)" in printed


@pytest.mark.parametrize(
    ("actor", "words", "reason"),
    [
        ("agent", ["--yes"], "an agent can't remove Orbit"),
        ("human", [], "there is no terminal to ask in; nothing was removed"),
    ],
)
def test_only_a_person_who_agrees_leaves(
    root: Path, monkeypatch: pytest.MonkeyPatch, actor: str, words: list[str], reason: str
) -> None:
    orbit(root, "init", "--yes")
    before = files(root)
    monkeypatch.setenv("ORBIT_ACTOR", actor)

    assert reason in orbit(root, "leave", *words, code=1)
    assert files(root) == before


def test_each_line_that_goes_is_named_and_no_empty_folder_stays(git_repo: Path) -> None:
    write(git_repo, "src/app.py", "x = 1\n")
    commit(git_repo)
    orbit(git_repo, "init", "--yes")
    for agent in ("claude", "copilot", "opencode"):
        orbit(git_repo, "hook", "install", agent)

    orbit(git_repo, "hook", "install", "opencode", "--scope", "project")
    planned = orbit(git_repo, "leave", "--dry-run")
    done = orbit(git_repo, "leave", "--yes")

    assert planned.count("(.gitignore)") == 3
    assert done.count("(.gitignore)") == 3
    assert "/.claude/" not in (git_repo / ".gitignore").read_text("utf-8")
    folders = [path.name for path in git_repo.iterdir() if path.name.startswith(".")]
    assert {".claude", ".github", ".opencode"}.isdisjoint(folders)


def test_uninstall_leaves_a_folder_that_holds_more(git_repo: Path) -> None:
    orbit(git_repo, "init", "--yes")
    write(git_repo, ".github/workflows/ci.yml", "on: push\n")
    orbit(git_repo, "hook", "install", "copilot")

    assert "would be removed from .gitignore" in orbit(
        git_repo, "hook", "uninstall", "copilot", "--dry-run"
    )
    orbit(git_repo, "hook", "uninstall", "copilot")

    assert [path.name for path in (git_repo / ".github").iterdir()] == ["workflows"]
