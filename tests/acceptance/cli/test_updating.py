"""Updating at the command line: what isn't named stays, and nothing that is wrong gets into a file."""

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from orbit_registry.model.kind import Kind, load_kinds


@pytest.fixture
def file(shell: Any) -> Path:
    """Return the learning's file, with a comment and a field that only a person knows."""
    result = Path(shell.root) / f".orbit/learnings/{shell.learning}/learning.yaml"
    result.write_text(result.read_text("utf-8") + "x-own: 1 # mine\n", "utf-8")
    return result


@pytest.fixture
def editor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a function that makes $EDITOR a program which replaces one text by another in the file."""

    def becomes(old: str, new: str) -> None:
        script = tmp_path / "editor.py"
        lines = ["import sys, pathlib", "file = pathlib.Path(sys.argv[1])", "text = file.read_text('utf-8')"]
        script.write_text("\n".join([*lines, f"file.write_text(text.replace({old!r}, {new!r}), 'utf-8')"]), "utf-8")
        monkeypatch.delenv("VISUAL", raising=False)
        monkeypatch.setenv("EDITOR", f"python3 {script}")

    return becomes


def test_a_dry_run_is_a_diff_that_git_applies(shell: Any, file: Path) -> None:
    """It changes nothing, and says what would."""
    before = file.read_bytes()

    code, out, _ = shell("learning", "update", shell.learning, "--summary", "Look twice", "--dry-run")

    assert (code, file.read_bytes()) == (0, before)
    assert "-summary: Look before you leap\n+summary: Look twice\n" in out
    subprocess.run(["git", "apply"], input=out, cwd=shell.root, text=True, check=True)
    assert "summary: Look twice\n" in file.read_text("utf-8")


def test_an_editor_changes_the_file_as_a_whole(shell: Any, file: Path, editor: Any) -> None:
    editor("x-own: 1 # mine", "x-own: 2   # still mine")

    assert shell("learning", "update", shell.learning, "--editor")[0] == 0

    assert "x-own: 2   # still mine\n" in file.read_text("utf-8")
    assert list((shell.root / ".orbit/state/edits").iterdir()) == []


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("summary: Look", "summry: Look", "learning.yaml:"),
        ("status: active", "status: retired", "`status` can't be changed by hand"),
        ("x-own: 1", "x-own: [", "learning.yaml:"),
    ],
)
def test_what_an_editor_leaves_invalid_is_kept_aside(
    shell: Any, file: Path, editor: Any, old: str, new: str, words: str
) -> None:
    before = file.read_bytes()
    editor(old, new)

    code, _, err = shell("learning", "update", shell.learning, "--editor")
    assert (code, file.read_bytes()) == (1, before)
    assert words in err
    (copy,) = (shell.root / ".orbit/state/edits").iterdir()
    assert f"your text is kept in .orbit/state/edits/{copy.name}" in err
    assert new in copy.read_text("utf-8")

    editor(new, f"{old} # again" if old.endswith("1") else old)
    code, _, err = shell("learning", "update", shell.learning, "--editor")
    assert code == 0
    assert "going on with the text in .orbit/state/edits/" in err  # a repository may bring one
    assert not copy.exists()


def test_an_editor_that_fails_changes_nothing(shell: Any, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = file.read_bytes()
    monkeypatch.delenv("VISUAL", raising=False)
    for command in ("no-such-editor", "false", "'vi"):
        monkeypatch.setenv("EDITOR", command)
        code, _, err = shell("learning", "update", shell.learning, "--editor")
        assert (code, file.read_bytes()) == (2, before)
        assert command.strip("'") in err or "No closing quotation" in err


def test_an_agents_leftover_text_is_not_offered_to_people(
    shell: Any, file: Path, editor: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = file.read_bytes()
    monkeypatch.setenv("ORBIT_ACTOR", "agent")
    editor("x-own: 1", "x-own: agent")
    assert shell("learning", "update", shell.learning, "--editor")[0] == 1

    monkeypatch.setenv("ORBIT_ACTOR", "human")
    editor("nothing", "else")
    assert shell("learning", "update", shell.learning, "--editor")[0] == 0

    assert file.read_bytes() == before


@pytest.mark.parametrize("kind", list(load_kinds()), ids=lambda kind: kind.name)
def test_every_command_that_is_named_for_a_status_is_one(shell: Any, kind: Kind) -> None:
    """Whatever a record is, the commands that would change it can be asked for help."""
    ways = " ".join(kind.transitions_help(status, "ID") for status in kind.statuses.values())
    names = sorted(set(re.findall(r"`orbit ([a-z]+ [a-z]+) ID(?: --with NEW)?`", ways)))
    assert ways.count("`") == 2 * len(re.findall(r"`orbit [a-z]+ [a-z]+ ID(?: --with NEW)?`", ways))
    assert names
    assert [command for command in names if shell(*command.split(), "--help")[0]] == []
