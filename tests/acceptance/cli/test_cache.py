"""A lost, damaged or planted cache changes no answer."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

COMMANDS = (["list"], ["search", "decision"], ["check"], ["show", "ADR-0001"])
SECRET = "ghp_" + "a1B2" * 9


@pytest.fixture
def file(shell: Any, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("orbit_registry.workspace.cache.SETTLED_NS", 0)
    assert [code for code, _, _ in answers(shell)] == [0] * len(COMMANDS)
    return Path(shell.root, ".git/orbit/cache.sqlite")


def answers(shell: Any) -> list[tuple[int, str, str]]:
    return [shell(*command) for command in COMMANDS]


@pytest.mark.parametrize("damage", ["deleted", "garbage", "cut", "folder", "locked", "other code"])
def test_an_unusable_cache_changes_no_answer(shell: Any, file: Path, damage: str) -> None:
    expected = answers(shell)
    content = file.read_bytes()
    holder = sqlite3.connect(file) if damage in ("locked", "other code") else None
    if holder is None:
        shutil.rmtree(file.parent)
        file.parent.mkdir()
    if holder is not None and damage == "locked":
        holder.execute("BEGIN EXCLUSIVE")
    elif holder is not None:
        holder.execute("UPDATE version SET code = 'another'")
        holder.execute("UPDATE files SET value = '{}'")
        holder.commit()
    elif damage == "garbage":
        file.write_bytes(b"no database " * 500)
    elif damage == "cut":
        file.write_bytes(content[: len(content) // 2])
    elif damage == "folder":
        file.mkdir()
    assert answers(shell) == expected
    assert answers(shell) == expected
    if holder is not None:
        holder.close()


def test_a_cache_that_came_with_the_repository_is_not_read(shell: Any, file: Path) -> None:
    expected = answers(shell)
    with closing(sqlite3.connect(file)) as database, database:
        database.execute("UPDATE files SET value = replace(value, 'decision', 'planted')")
    for folder in (".orbit", ".orbit/state", ".orbit/state/cache", "orbit"):
        Path(shell.root, folder).mkdir(parents=True, exist_ok=True)
        shutil.copy(file, Path(shell.root, folder, file.name))
    file.unlink()
    Path(shell.root, "orbit", file.name).unlink()
    assert answers(shell) == expected


def test_no_secret_of_a_record_reaches_the_cache(shell: Any, file: Path) -> None:
    record = next(Path(shell.root).glob(".orbit/learnings/*/learning.yaml"))
    record.write_text(record.read_text("utf-8") + f"body: 'token {SECRET}'\n", "utf-8")
    for document in Path(shell.root).glob("docs/**/*.md"):
        document.write_text(document.read_text("utf-8") + f"\n{SECRET}\n", "utf-8")
    answers(shell)
    for path in file.parent.glob("cache.sqlite*"):
        assert SECRET.encode() not in path.read_bytes()
