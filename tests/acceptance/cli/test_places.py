"""Commands in subfolders, folders with strange names, and repositories in every state."""

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.files import configure, write

from orbit_registry.doors.cli.main import run
from orbit_registry.workspace.workspace import open_workspace

Git = Callable[..., str]


def ids_here(shell: Any, *before: str) -> list[str]:
    """Return the ids that `orbit list` shows."""
    code, out, _ = shell(*before, "list", "--format", "json")
    assert code == 0
    return [row["id"] for row in json.loads(out)["data"]]


def test_a_folder_can_be_named_instead_of_stood_in(
    shell: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)

    assert len(ids_here(shell, "-C", str(shell.root))) == 3
    assert shell("-C", "nowhere", "list")[0] == 2


def test_any_subfolder_will_do(shell: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(shell.root / "src")

    assert len(ids_here(shell)) == 3
    assert (
        shell.data("adr", "add", "--title", "From below")["document"]
        == "docs/adr/0003-from-below.md"
    )
    assert (shell.root / "docs/adr/0003-from-below.md").exists()


@pytest.mark.parametrize("command", ["match", "explain"])
def test_a_path_that_is_not_there_is_named_from_the_root(
    shell: Any, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    folder = open_workspace(Path()).root / "src"
    write(folder, "charge.py", "x = 1\n")
    monkeypatch.chdir(folder)

    code, _, err = shell(command, "src/charge.py")

    assert code == 0
    assert "there is no file src/src/charge.py" in err
    assert "src/charge.py of the project's root is `charge.py` from here" in err


@pytest.mark.parametrize(
    "name", ["with space", "ünïcödé 决定", 'quote\'d "name"', "-dash", "dollar$HOME", "percent%20"]
)
def test_any_name_of_a_repository_will_do(
    shell: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str
) -> None:
    root = shell.root.rename(tmp_path / name)
    monkeypatch.chdir(root)

    assert shell("adr", "add", "--title", "Third")[0] == 0
    assert shell("check")[0] == 0
    assert shell("query", "SELECT count(*) AS n FROM records", "--format", "json")[0] == 0
    assert len(ids_here(shell)) == 4


@pytest.mark.parametrize("state", ["detached", "worktree", "shallow", "no git", "no commit"])
def test_any_state_of_a_repository_will_do(
    shell: Any, git: Git, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, state: str
) -> None:
    root = shell.root
    if state == "detached":
        git(root, "checkout", "-q", "--detach")
    elif state == "worktree":
        git(root, "worktree", "add", "-q", "-b", "second", str(tmp_path / "second"))
        root = tmp_path / "second"
    elif state == "shallow":
        git(tmp_path, "clone", "-q", "--depth", "1", root.as_uri(), "shallow")
        root = tmp_path / "shallow"
    else:
        shutil.rmtree(root / ".git")
        if state == "no commit":
            git(root, "init", "-q")
    monkeypatch.chdir(root)

    assert shell.data("adr", "add", "--title", "Third")["id"] == "ADR-0003"
    code, report = shell.json("check")
    assert code == 0, report["diagnostics"]
    assert shell("sync")[0] == 0
    assert len(ids_here(shell)) == 4
    assert shell("init", "--yes")[0] == 0


def test_adopting_counts_each_finding_once(bare_shell: Any) -> None:
    shell = bare_shell
    folder = shell.root / "docs/adr"
    folder.mkdir(parents=True)
    (folder / "0001-use-x.md").write_text(
        "# Use X\n\n## Status\n\nAccepted\n\n## Context\n\nWhy.\n", "utf-8"
    )
    started = shell.data("init", "--yes")
    assert (started["unrecorded"], started["baselined"]) == (1, 0)
    configure(shell.root, "checks:\n  adopted_costs: true\n")

    output = shell("import", "docs/adr")[1]
    counted = shell.data("check")["baselined"]

    assert f"{counted} older finding" in output
    assert "baselined findings are gone" not in shell("check")[1]


def test_a_person_sees_what_is_there_and_says_where_decisions_go(
    git_repo: Path, git: Git, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in (
        "docs/adr/0001-x.md",
        "lib/adr/0001-x.md",
        "lib/adr/0002-y.md",
        "mkdocs.yml",
        ".claude/settings.json",
    ):
        write(git_repo, name, "{}")
    git(git_repo, "add", "-A")
    monkeypatch.chdir(git_repo)
    monkeypatch.setenv("HOME", str(git_repo / "nowhere"))
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    questions: list[str] = []

    def reply(question: str) -> str:
        questions.append(question)
        return "docs/adr" if "Folder" in question else "y"

    monkeypatch.setattr("click.termui.visible_prompt_func", reply)
    assert run(["init"]) == 0

    page = capsys.readouterr().out
    assert [line for line in page.splitlines() if line.startswith("  ")] == [
        "  decisions: lib/adr (2), docs/adr (1)",
        "  agents: claude",
        "  CI and site: mkdocs.yml",
    ]
    assert "Folder for new decisions [lib/adr]" in questions[0]
    assert open_workspace(git_repo).config.adr.folder == "docs/adr"


@pytest.mark.parametrize("place", ["circle/x", "circle", "file/x"])
@pytest.mark.parametrize(
    "words",
    [
        "match PLACE",
        "explain PLACE",
        "search --path PLACE",
        "check PLACE",
        "brief --file PLACE",
        "import PLACE",
        "import PLACE --explain",
        "import doc PLACE",
        "learning new Once --body-file PLACE",
        "adr new Twice --body-file PLACE",
        "init --demo PLACE",
        "site build --out PLACE",
        "snapshot export PLACE",
        "capture PLACE",
        "plan brief --out PLACE",
    ],
)
def test_a_path_that_leads_nowhere_is_an_error_that_says_so(
    shell: Any, words: str, place: str
) -> None:
    (shell.root / "circle").symlink_to("circle")
    (shell.root / "file").write_text("x", "utf-8")

    code, _, err = shell(*words.replace("PLACE", place).split())

    assert code in (0, 1, 2)
    assert "Error:" not in err
