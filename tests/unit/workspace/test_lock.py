"""Locks between processes: one holder at a time, known by name, gone with its process."""

import json
import os
from pathlib import Path

import pytest

from orbit_registry.errors import LockTimeoutError, WriteError
from orbit_registry.workspace.lock import locked


def held_by_child(lock: Path) -> tuple[int, int]:
    """Start a child that takes the lock and keeps it;
    returns its process id and a pipe to let it go.
    """
    ready, tell = os.pipe()
    wait, release = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(release)
        with locked(lock):
            os.write(tell, b"x")
            os.read(wait, 1)
        os._exit(0)
    os.read(ready, 1)
    return child, release


def test_a_lock_timeout_names_the_holder(tmp_path: Path) -> None:
    child, release = held_by_child(tmp_path / "write.lock")
    try:
        with pytest.raises(LockTimeoutError) as caught, locked(tmp_path / "write.lock", wait=0.05):
            pass
    finally:
        os.close(release)
        os.waitpid(child, 0)

    assert f"process {child} (" in caught.value.message
    assert "waited 0.05 s" in caught.value.message
    assert "freed when that process ends" in str(caught.value.hint)


@pytest.mark.parametrize(
    ("words", "command"),
    [(("fail", "story:ghp_secret", "--reason"), "orbit fail"), (("-C", "/home/ada"), "orbit")],
)
def test_the_holder_note_has_no_arguments(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], command: str
) -> None:
    monkeypatch.setattr("sys.argv", ["/usr/bin/orbit", *words])
    with locked(tmp_path / "write.lock"):
        pass
    assert json.loads((tmp_path / "write.holder").read_text("utf-8"))["command"] == command


def test_a_lock_file_that_cant_be_made_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", "utf-8")

    with pytest.raises(WriteError, match=r"can't write"), locked(tmp_path / "file" / "write.lock"):
        pass


def test_no_link_is_followed_to_a_lock(tmp_path: Path) -> None:
    (tmp_path / "write.lock").symlink_to(tmp_path / "elsewhere")

    with pytest.raises(WriteError), locked(tmp_path / "write.lock", wait=0):
        pass
    assert not (tmp_path / "elsewhere").exists()


def test_an_unreadable_holder_note_is_another_process(tmp_path: Path) -> None:
    child, release = held_by_child(tmp_path / "write.lock")
    (tmp_path / "write.holder").write_text('{"pid": "x', "utf-8")
    try:
        with (
            pytest.raises(LockTimeoutError, match=r"^another process holds"),
            locked(tmp_path / "write.lock", wait=0.01),
        ):
            pass
    finally:
        os.close(release)
        os.waitpid(child, 0)
