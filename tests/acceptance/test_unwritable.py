"""A full or read-only disk: one clear error, nothing changed, and reading works."""

import hashlib
import os
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from orbit_registry.doors.cli.main import run
from orbit_registry.model.kind import load_kinds
from orbit_registry.operations.init import setup_workspace
from orbit_registry.registry import Registry


class Shell:
    """Runs `orbit` in a folder, in this process, and remembers the tree."""

    def __init__(self, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.root = root
        self.capsys = capsys

    def __call__(self, *arguments: str) -> tuple[int, str]:
        code = run(list(arguments))
        printed = self.capsys.readouterr()
        return code, printed.out + printed.err

    def tree(self) -> dict[str, str]:
        files = [path for path in sorted(self.root.rglob("*")) if path.is_file()]
        hashes = {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}
        return {
            path: value
            for path, value in hashes.items()
            if "/.git/" not in path and "/state/" not in path
        }


def fill(file: Path) -> None:
    handle = os.open(file, os.O_WRONLY | os.O_CREAT)
    try:
        while True:
            os.write(handle, b"x" * 4096)
    except OSError:
        os.close(handle)


WRITES = [
    ("adr", "add", "--title", "More", "--yes"),
    ("learning", "add", "--summary", "More", "--yes"),
]


@pytest.mark.parametrize("arguments", WRITES)
@pytest.mark.parametrize("message", ["no space left", "read-only"])
def test_a_full_or_read_only_disk_changes_nothing(
    small_disk: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    message: str,
    arguments: tuple[str, ...],
) -> None:
    monkeypatch.chdir(small_disk)
    shell = Shell(small_disk, capsys)
    setup_workspace(small_disk, load_kinds())
    filler = small_disk / "filler"
    if message == "read-only":
        subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    else:
        fill(filler)
    before = shell.tree()
    try:
        code, output = shell(*arguments)
        checked, _ = shell("check")
    finally:
        subprocess.run(["mount", "-o", "remount,rw", str(small_disk)], check=True)

    assert (code, checked) == (1, 0)
    assert message in output
    assert before == shell.tree()
    filler.unlink(missing_ok=True)
    assert shell(*arguments)[0] == 0
    os.chdir(small_disk.parent)


READS = [
    ("match", "docs/adr/0001-more.md"),
    ("query", "select count(*) from records"),
    ("search", "snapshot"),
    ("explain", "docs"),
    ("doctor",),
]


@pytest.mark.parametrize("arguments", READS)
def test_derived_files_of_a_read_only_tree_go_elsewhere(
    small_disk: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: tuple[str, ...],
) -> None:
    monkeypatch.chdir(small_disk)
    shell = Shell(small_disk, capsys)
    setup_workspace(small_disk, load_kinds())
    assert shell("adr", "add", "--title", "Keep the snapshot", "--path", "docs/**", "--yes")[0] == 0
    shutil.rmtree(small_disk / ".orbit/state", ignore_errors=True)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    normal = shell(*arguments)
    shutil.rmtree(tmp_path / "cache", ignore_errors=True)
    shutil.rmtree(small_disk / ".orbit/state", ignore_errors=True)
    (small_disk / "nowhere").mkdir()
    answers = []
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    try:
        for cache in (tmp_path / "cache", small_disk / "nowhere"):
            monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
            answers.append(shell(*arguments))
    finally:
        subprocess.run(["mount", "-o", "remount,rw", str(small_disk)], check=True)
        os.chdir(small_disk.parent)

    if arguments == ("doctor",):
        assert not [text for _, text in answers if "Traceback" in text]
        assert "keeps what a session was shown in your cache" in answers[0][1]
        assert "a hook shows nothing here" in answers[1][1]
        return
    assert answers[0] == normal
    assert answers[1] == normal or "XDG_CACHE_HOME" in answers[1][1]
    folders = {path.parts[len(tmp_path.parts)] for path in tmp_path.rglob("hook-18.idx")}
    assert arguments[0] != "match" or folders == {"cache"}


def test_a_full_disk_does_not_keep_match_from_an_answer(git_repo: Path) -> None:
    orbit = [sys.executable, "-m", "orbit_registry.doors.cli.main"]
    Registry.init(git_repo)
    add = [
        "learning",
        "add",
        "--summary",
        "Close every file",
        "--path",
        "src/**",
        "--evidence",
        "task:T-1",
        "--yes",
    ]
    subprocess.run([*orbit, *add], cwd=git_repo, check=True, capture_output=True)
    shutil.rmtree(git_repo / ".git/orbit")

    def full() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))

    answer = subprocess.run(
        [*orbit, "match", "src/a.py"],
        cwd=git_repo,
        capture_output=True,
        text=True,
        check=True,
        preexec_fn=full,
    )
    assert "Close every file" in answer.stdout
