"""The cache of file values and results: it saves work and changes no answer."""

from __future__ import annotations

import os
import random
import sqlite3
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from orbit_registry.store.cache import Cache

LONG_AGO = 1_600_000_000
SECRET = "ghp_" + "a1B2" * 9


class Parser:
    """Returns the text of a file, and notes which files it was asked about."""

    def __init__(self) -> None:
        self.parsed: list[str] = []

    def __call__(self, path: str, content: bytes) -> object:
        self.parsed.append(path)
        return {"text": content.decode()}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder of two old files."""
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text(name, "utf-8")
        os.utime(tmp_path / name, (LONG_AGO, LONG_AGO))
    return tmp_path


Ask = Callable[[], tuple[dict[str, object], list[str]]]


@pytest.fixture
def ask(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Ask:
    """Return a question for both files by a new cache, as a new process asks it: the values, and what was parsed."""
    monkeypatch.setattr("orbit_registry.store.cache.SETTLED_NS", 0)

    def asked(version: str = "1", file: str = "own/cache.sqlite") -> tuple[dict[str, object], list[str]]:
        parser, cache = Parser(), Cache(folder / file, version)
        values = cache.files("texts", folder, ["a.txt", "b.txt", "missing.txt"], parser)
        cache.close()
        return {path: value.value["text"] for path, value in values.items()}, parser.parsed

    return asked


BOTH = {"a.txt": "a.txt", "b.txt": "b.txt"}


def test_an_unchanged_file_is_not_parsed_again(ask: Ask) -> None:
    """The second process takes the values of the first."""
    assert ask() == (BOTH, ["a.txt", "b.txt"])
    assert ask() == (BOTH, [])


def test_a_file_with_other_times_and_the_same_bytes_is_not_parsed_again(ask: Ask, folder: Path) -> None:
    """A copied or checked out file keeps its value."""
    ask()
    os.utime(folder / "a.txt")
    assert ask() == (BOTH, [])


def test_an_edit_that_keeps_size_and_time_is_seen(ask: Ask, folder: Path) -> None:
    """The time of the change tells it from what it was."""
    ask()
    (folder / "a.txt").write_text("A.TXT", "utf-8")
    os.utime(folder / "a.txt", (LONG_AGO, LONG_AGO))
    assert ask() == ({**BOTH, "a.txt": "A.TXT"}, ["a.txt"])


def test_a_young_file_is_read_again(folder: Path) -> None:
    """A later write within the clock's tick could leave the same stamp."""
    (folder / "a.txt").write_text("one", "utf-8")
    cache = Cache(folder / "cache.sqlite", "1")
    cache.files("texts", folder, ["a.txt"], Parser())
    assert cache.db.execute("SELECT size FROM files").fetchall() == [(-1,)]


def test_another_version_of_the_code_begins_anew(ask: Ask) -> None:
    """Values of other code are not believed."""
    ask()
    assert ask("2") == (BOTH, ["a.txt", "b.txt"])


@pytest.mark.parametrize("damage", ["deleted", "garbage", "flipped", "cut", "folder", "locked", "read-only"])
def test_a_cache_that_can_not_be_used_changes_no_answer(ask: Ask, folder: Path, damage: str) -> None:
    """Whatever happened to the file, the values are right."""
    ask()
    file = folder / "own/cache.sqlite"
    content = bytearray(file.read_bytes())
    holder = None
    if damage == "locked":
        holder = sqlite3.connect(file)
        holder.execute("BEGIN EXCLUSIVE")
    elif damage == "read-only":
        file.chmod(stat.S_IRUSR)
    else:
        file.unlink()
    if damage == "garbage":
        file.write_bytes(b"no database " * 500)
    elif damage == "flipped":
        for position in random.Random(1).choices(range(len(content)), k=400):
            content[position] ^= 255
        file.write_bytes(content)
    elif damage == "cut":
        file.write_bytes(content[: len(content) // 2])
    elif damage == "folder":
        file.mkdir()
    assert ask()[0] == BOTH
    if holder is not None:
        holder.close()
    assert ask()[0] == BOTH


def test_a_damaged_value_is_not_believed(ask: Ask, folder: Path) -> None:
    """SQLite itself does not see that a letter of a value is another one."""
    ask()
    file = folder / "own/cache.sqlite"
    content = file.read_bytes()
    assert content.count(b'{"text":"a.txt"}') == 1
    file.write_bytes(content.replace(b'{"text":"a.txt"}', b'{"text":"z.txt"}'))
    assert ask() == (BOTH, ["a.txt"])


def test_a_damaged_result_is_made_anew(folder: Path) -> None:
    """Of a result too the letters are compared."""
    file = folder / "cache.sqlite"
    cache = Cache(file, "1")
    cache.remember("result", "key", "stored")
    cache.close()
    file.write_bytes(file.read_bytes().replace(b'"stored"', b'"stolen"'))
    assert cache.memo("result", "key", lambda: "made") == "made"


def test_a_secret_is_not_stored(folder: Path) -> None:
    """Its file is parsed in each run."""
    (folder / "a.txt").write_text(f"token: {SECRET}", "utf-8")
    file = folder / "cache.sqlite"
    cache = Cache(file, "1")
    assert SECRET in cache.files("texts", folder, ["a.txt"], Parser())["a.txt"].value["text"]
    assert cache.memo("result", "key", lambda: [SECRET]) == [SECRET]
    cache.close()
    assert SECRET.encode() not in file.read_bytes()


def test_a_memo_is_made_once_for_a_key(folder: Path) -> None:
    """Another key has another value, and takes the place of the first."""
    cache = Cache(folder / "cache.sqlite", "1")
    results = [cache.memo("result", key, lambda key=key, at=at: [key, at]) for at, key in enumerate("aaba")]
    assert results == [["a", 0], ["a", 0], ["b", 2], ["a", 3]]


def test_a_file_that_can_not_be_read_has_its_error(folder: Path) -> None:
    """It hides no other file."""
    (folder / "a.txt").write_text("x" * 50, "utf-8")
    values = Cache(None, "1").files("texts", folder, ["a.txt", "b.txt"], Parser(), limit=20)
    assert values["a.txt"].value is None
    assert "50 bytes" in str(values["a.txt"].error)
    assert values["b.txt"].value == {"text": "b.txt"}
