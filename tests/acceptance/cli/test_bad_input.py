"""Bad input is normal input: one clear error with its place, nothing changed,
and no bad file hides a good one.
"""

import hashlib
import os
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.acceptance.conftest import orbit
from tests.conftest import Git
from tests.files import commit, make_workspace, write

from orbit_registry.doors.cli import main

DEAD_GLOBS = yaml.safe_load(
    (Path(__file__).parents[2] / "cases/dead_globs.yaml").read_text("utf-8")
)
GOOD = "Look before you leap"
ALIAS_BOMB = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{new}: &{new} [{','.join([f'*{old}'] * 9)}]\n"
    for old, new in zip("abcdefgh", "bcdefghi", strict=True)
)


def run(shell: Any, *arguments: str) -> tuple[int, str]:
    """Return the exit code of a command and all that it prints."""
    code, out, err = shell(*arguments)
    return code, out + err


def tree(root: Path) -> dict[str, str]:
    """Return a digest of every file that git would see."""
    files = [path for path in sorted(root.rglob("*")) if path.is_file() or path.is_symlink()]
    return {
        str(path): "link" if path.is_symlink() else hashlib.sha256(path.read_bytes()).hexdigest()
        for path in files
        if ".git" not in path.parts and "state" not in path.parts
    }


def learning_file(root: Path) -> Path:
    """Return the file of the only learning."""
    return next((root / ".orbit/learnings").glob("*/learning.yaml"))


def bad_copy(root: Path, content: bytes, record_id: str = "L-zzzzz") -> Path:
    """Write a second learning that holds `content`."""
    file = root / f".orbit/learnings/{record_id}/learning.yaml"
    file.parent.mkdir()
    file.write_bytes(content)
    return file


FILES = {
    "malformed": (b"id: [L-zzzzz\nstatus: active\n", ":2:", "ORB102"),
    "alias bomb": (ALIAS_BOMB.encode(), "ORB102 aliases expand without bound", ""),
    "deep nesting": (b"[" * 5000, "ORB102", ""),
    "a list": (b"- x\n", "the file is not a mapping", ""),
    "invalid UTF-8": (b"id: L-zzzzz\nsummary: \xff\n", ":2:10: error ORB101 not valid UTF-8", ""),
    "too large": (b"x" * 50_000_000, "50,000,000 bytes", "ORB101"),
}


@pytest.mark.parametrize("name", FILES)
def test_a_bad_file_is_one_finding_and_hides_nothing(shell: Any, name: str) -> None:
    content, *expected = FILES[name]
    bad_copy(shell.root, content)
    before = tree(shell.root)

    code, output = run(shell, "check")

    assert code == 1
    for words in expected:
        assert words in output
    assert output.count(": error ") == 1
    assert GOOD in shell("list")[1]
    assert before == {path: digest for path, digest in tree(shell.root).items() if path in before}


OUTSIDE = ["../outside.md", "/etc/passwd", "docs/../../outside.md", "link/outside.md"]


@pytest.mark.parametrize("path", OUTSIDE)
def test_no_path_leads_out_of_the_root(shell: Any, path: str) -> None:
    (shell.root.parent / "outside.md").write_text(
        "# ADR-0001 — Secret plans\n\nStatus: Accepted\n", "utf-8"
    )
    (shell.root / "link").symlink_to(shell.root.parent)
    file = shell.root / ".orbit/adrs/ADR-0001/adr.yaml"
    file.write_text(file.read_text("utf-8").replace("docs/adr/0001-use-sqlite.md", path), "utf-8")

    code, output = run(shell, "check")

    assert code == 1
    assert "Secret plans" not in output + run(shell, "show", "ADR-0001")[1]
    assert shell("adr", "deprecate", "ADR-0001")[0] in (0, 1)
    assert "Status: Accepted" in (shell.root.parent / "outside.md").read_text("utf-8")


def test_a_name_that_is_no_utf_8_can_be_baselined(bare_shell: Any) -> None:
    folder = bare_shell.root / "docs/adr"
    folder.mkdir(parents=True)
    try:
        (folder / os.fsdecode(b"0008-gr\xfc\xdfe.md")).write_text(
            "# Leap\n\n## Status\n\nAccepted\n\n## Decision\n\nB.\n"
        )
    except OSError:
        pytest.skip("this file system has UTF-8 names only")
    assert run(bare_shell, "init", "--yes")[0] == 0
    code, output = run(bare_shell, "check")
    assert (code, "1 older finding is baselined" in output) == (0, True)


@pytest.mark.parametrize(
    "command",
    [("diff", "main"), ("diff", "HEAD"), ("diff", "a..b"), ("check", "--against", "main")],
)
def test_a_repository_without_a_commit_says_so(
    tmp_path: Path, git: Git, command: tuple[str, ...]
) -> None:
    make_workspace(tmp_path)
    git(tmp_path, "init", "-q")
    message = orbit(tmp_path, *command, code=2)
    assert "there is no commit here yet" in message
    assert "git commit -m Start" in message


def test_a_clock_that_is_behind_verifies_nothing(shell: Any) -> None:
    file = shell.root / f".orbit/learnings/{shell.learning}/learning.yaml"
    text = re.sub(r'created_at: "\d{4}', 'created_at: "2199', file.read_text("utf-8"))
    file.write_text(text, encoding="utf-8")

    code, _, err = shell("verify", shell.learning)

    assert code == 1
    assert "this machine's clock says" in err
    assert file.read_text("utf-8") == text


@pytest.mark.parametrize(("glob", "hint"), DEAD_GLOBS["globs"].items())
def test_a_glob_without_a_file_has_one_hint_everywhere(
    git_repo: Path, capsys: pytest.CaptureFixture[str], glob: str, hint: str
) -> None:
    for name in DEAD_GLOBS["files"]:
        write(git_repo, name, "x = 1\n")

    commit(git_repo)
    orbit(git_repo, "init", "--yes")

    assert main.run(["-C", str(git_repo), "learning", "new", "Close files", "--path", glob]) == 0
    assert hint in capsys.readouterr().err
    commit(git_repo)
    assert hint in orbit(git_repo, "check")


@pytest.mark.parametrize(
    "words",
    [
        ("show",),
        ("list", "--kind"),
        ("list", "--sort"),
        ("learning", "update", "--add-tag", "x"),
        ("hook", "install"),
    ],
)
def test_a_message_repeats_no_word_of_any_length(shell: Any, words: tuple[str, ...]) -> None:
    code, _, err = shell(*words, "x" * 5000)
    assert code in (1, 2)
    assert "xxxx…" in err
    assert len(err) < 1000
    code, envelope = shell.json(*words, "x" * 5000)
    assert code in (1, 2)
    assert len(envelope["error"]) < 1000


OF_ANOTHER_KIND = (
    "learning show ADR-0001",
    "learning update ADR-0001 --add-tag x",
    "learning update ADR-0001 --add-tag x --dry-run",
    "learning update ADR-0001 --editor",
    "learning supersede ADR-0001 ADR-0002",
    "learning verify ADR-0001",
    "learning vote ADR-0001 --task t",
    "adr show LEARNING",
    "adr update LEARNING --add-tag x",
    "adr update LEARNING --add-tag x --dry-run",
    "adr supersede LEARNING ADR-0002",
    "adr amend LEARNING --task t --text Text",
    "adr renumber LEARNING",
)


@pytest.mark.parametrize("command", OF_ANOTHER_KIND)
def test_a_command_of_a_kind_refuses_a_record_of_another(shell: Any, command: str) -> None:
    before = tree(shell.root)
    words = command.replace("LEARNING", shell.learning).split()
    kind = {"learning": "a decision", "adr": "a learning"}[words[0]]

    code, _, err = shell(*words)
    assert code == 2
    assert f"is {kind}" in err
    assert "hint: " in err
    assert tree(shell.root) == before
