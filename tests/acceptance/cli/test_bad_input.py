"""Bad input is normal input: one clear error with its place, nothing changed, and no bad file hides a good one."""

import hashlib
import os
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import Git

GOOD = "Look before you leap"
ALIAS_BOMB = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{new}: &{new} [{','.join([f'*{old}'] * 9)}]\n" for old, new in zip("abcdefgh", "bcdefghi", strict=True)
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


def edited(root: Path, old: str, new: str) -> bytes:
    text = learning_file(root).read_text("utf-8")
    record_id = learning_file(root).parent.name
    return text.replace(record_id, "L-zzzzz").replace(old, new).encode()


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


FIELDS = {
    "a wrong type": ("status: active", "status: active\npriority: high", "`priority` is a text, not a whole number"),
    "an unknown field": ("status: active", "status: active\nsumary: x", "did you mean `summary`?"),
    "a newer schema": ("schema_version: 1", "schema_version: 2", "upgrade"),
}


@pytest.mark.parametrize("name", FIELDS)
def test_a_wrong_field_is_reported_with_position_and_hint(shell: Any, name: str) -> None:
    old, new, words = FIELDS[name]
    file = bad_copy(shell.root, edited(shell.root, old, new))

    code, output = run(shell, "check")

    assert code == 1
    assert words in output
    assert f"{file.relative_to(shell.root).as_posix()}:" in output


OUTSIDE = ["../outside.md", "/etc/passwd", "docs/../../outside.md", "link/outside.md"]


@pytest.mark.parametrize("path", OUTSIDE)
def test_no_path_leads_out_of_the_root(shell: Any, path: str) -> None:
    (shell.root.parent / "outside.md").write_text("# ADR-0001 — Secret plans\n\nStatus: Accepted\n", "utf-8")
    (shell.root / "link").symlink_to(shell.root.parent)
    file = shell.root / ".orbit/adrs/ADR-0001/adr.yaml"
    file.write_text(file.read_text("utf-8").replace("docs/adr/0001-use-sqlite.md", path), "utf-8")

    code, output = run(shell, "check")

    assert code == 1
    assert "Secret plans" not in output + run(shell, "show", "ADR-0001")[1]
    assert shell("adr", "deprecate", "ADR-0001")[0] in (0, 1)
    assert "Status: Accepted" in (shell.root.parent / "outside.md").read_text("utf-8")


@pytest.mark.parametrize(
    "arguments",
    [
        ("adr", "add", "--title", "X", "--feature", "../up", "--style", "log"),
        ("adr", "add", "--title", "X", "--feature", "a/b", "--style", "log"),
        ("adr", "add", "--title", "   "),
        ("adr", "add", "--title", "X", "--style", "log"),
        ("learning", "add", "--summary", "x" * 281),
        ("learning", "add", "--summary", "two\nlines"),
        ("learning", "add", "--summary", "X", "--evidence", "nothing"),
        ("learning", "add", "--summary", "X", "--evidence", "dream:T-1"),
        ("learning", "add", "--summary", "X", "--priority", "256"),
        ("learning", "add", "--summary", "X", "--path", "../up"),
        ("learning", "add", "--summary", "X", "--path", "/etc/passwd"),
        ("learning", "add", "--summary", "X", "--path", "src/["),
        ("adr", "update", "ADR-0001", "--path", "a//b"),
        ("adr", "update", "ADR-0001", "--date", "2026-13-45"),
        ("adr", "add", "--title", "X", "--date", "foo"),
        ("adr", "add", "--title", "X", "--path", "{a,b"),
        ("adr", "update", "ADR-0001", "--set", "source={path: /etc/passwd}"),
        ("learning", "add", "--summary", "X", "--set", "id=L-00000"),
        ("learning", "add", "--summary", "X", "--set", "colour=red"),
        ("learning", "update", "L-none0", "--priority", "1"),
        ("learning", "vote", "L-none0", "--task", "T"),
        ("adr", "supersede", "ADR-0001", "--with", "ADR-0001"),
        ("adr", "supersede", "ADR-0001", "--with", "ADR-9999"),
        ("adr", "accept", "ADR-9999"),
        ("adr", "amend", "ADR-0001", "--task", "T"),
        ("show", "../../etc/passwd"),
    ],
)
def test_a_refused_command_says_why_and_changes_nothing(shell: Any, arguments: tuple[str, ...]) -> None:
    before = tree(shell.root)

    code, output = run(shell, *arguments)

    assert code in (1, 2)
    assert "rror" in output
    assert "Traceback" not in output
    assert before == tree(shell.root)


CONFIGS = {
    "newer": ("format: orbit-registry\nschema_version: 99\n", "schema_version 99 is newer than this tool knows"),
    "foreign": ("some: thing\n", "orbit import"),
}


@pytest.mark.parametrize("name", CONFIGS)
def test_a_bad_configuration_stops_every_command(shell: Any, name: str) -> None:
    text, words = CONFIGS[name]
    (shell.root / ".orbit/config.yaml").write_text(text, "utf-8")
    before = tree(shell.root)

    for arguments in (("check",), ("adr", "add", "--title", "X"), ("list",)):
        code, output = run(shell, *arguments)
        assert code == 2
        assert words in output
    assert before == tree(shell.root)


def test_a_git_folder_without_files_becomes_no_workspace(bare_shell: Any, tmp_path: Path, git: Git) -> None:
    git(tmp_path, "init", "-q", "--bare", "bare")
    before = sorted((tmp_path / "bare").rglob("*"))
    code, output = run(bare_shell, "init", str(tmp_path / "bare"), "--yes")
    assert (code, "is git's own folder\n  hint: run `orbit init` in a clone" in output) == (2, True)
    assert sorted((tmp_path / "bare").rglob("*")) == before


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
    "words",
    [
        ["show"], ["learning", "vote", "--task", "T-1"], ["verify"], ["learning", "retire"],
        ["link", "related_to", "ADR-0001"], ["learning", "supersede", "ADR-0001"], ["learning", "promote"],
        ["learning", "update", "--tag", "x"], ["apply"], ["adr", "renumber"],
        ["adr", "amend", "--task", "T-1", "--text", "x"],
    ],
    ids=" ".join,
)  # fmt: skip
def test_every_command_says_why_a_record_is_unreadable(shell: Any, words: list[str]) -> None:
    file = learning_file(shell.root)
    file.write_text(file.read_text("utf-8").replace("summary:", "sumary:"), "utf-8")
    verb, more = (words[:2], words[2:]) if words[0] in ("learning", "adr") else (words[:1], words[1:])
    before = tree(shell.root)

    code, output = run(shell, *verb, file.parent.name, *more)

    assert code == 1
    assert f"{file.parent.name} can't be read: {file.relative_to(shell.root)}:" in output
    assert "`summary` is missing" in output
    assert tree(shell.root) == before
