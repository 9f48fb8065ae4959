"""The cache of file values and results: it saves work and changes no answer."""

import os
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from orbit_registry.workspace.cache import Cache

LONG_AGO = 1_600_000_000


class Parser:
    """Returns the text of a file, and notes which files it was asked about."""

    def __init__(self) -> None:
        self.parsed: list[str] = []

    def __call__(self, path: str, content: bytes) -> object:
        self.parsed.append(path)
        return {"text": content.decode()}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text(name, "utf-8")
        os.utime(tmp_path / name, (LONG_AGO, LONG_AGO))
    return tmp_path


Ask = Callable[[], tuple[dict[str, object], list[str]]]


@pytest.fixture
def ask(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Ask:
    """Return a question for both files by a new cache, as a new process asks it:
    the values, and what was parsed.
    """
    monkeypatch.setattr("orbit_registry.workspace.cache.SETTLED_NS", 0)

    def asked(
        version: str = "1", file: str = "own/cache.sqlite"
    ) -> tuple[dict[str, object], list[str]]:
        parser, cache = Parser(), Cache(folder / file, version)
        values = cache.files("texts", folder, ["a.txt", "b.txt", "missing.txt"], parser)
        cache.close()
        return {path: value.value["text"] for path, value in values.items()}, parser.parsed

    return asked


BOTH = {"a.txt": "a.txt", "b.txt": "b.txt"}


def test_an_edit_that_keeps_size_and_time_is_seen(ask: Ask, folder: Path) -> None:
    ask()
    (folder / "a.txt").write_text("A.TXT", "utf-8")
    os.utime(folder / "a.txt", (LONG_AGO, LONG_AGO))
    assert ask() == ({**BOTH, "a.txt": "A.TXT"}, ["a.txt"])


def test_a_young_file_is_read_again(folder: Path) -> None:
    (folder / "a.txt").write_text("one", "utf-8")
    cache = Cache(folder / "cache.sqlite", "1")
    cache.files("texts", folder, ["a.txt"], Parser())
    assert cache.db.execute("SELECT size FROM files").fetchall() == [(-1,)]


def test_another_version_of_the_code_begins_anew(ask: Ask) -> None:
    ask()
    assert ask("2") == (BOTH, ["a.txt", "b.txt"])


def test_a_file_that_grew_too_large_is_made_anew(
    ask: Ask, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask()
    size = (folder / "own/cache.sqlite").stat().st_size
    for largest, parsed in ((size, []), (size - 1, ["a.txt", "b.txt"])):
        monkeypatch.setattr("orbit_registry.workspace.cache.LARGEST", largest)
        assert ask() == (BOTH, parsed)


def test_a_damaged_value_is_not_believed(ask: Ask, folder: Path) -> None:
    ask()
    file = folder / "own/cache.sqlite"
    content = file.read_bytes()
    assert content.count(b'{"text":"a.txt"}') == 1
    file.write_bytes(content.replace(b'{"text":"a.txt"}', b'{"text":"z.txt"}'))
    assert ask() == (BOTH, ["a.txt"])


@pytest.mark.parametrize("column", ["value", "sha256", "checksum"])
@pytest.mark.parametrize("damage", ["NULL", "x'ff'", "CAST(value AS BLOB)"])
def test_a_value_of_another_type_is_no_value(
    ask: Ask, folder: Path, column: str, damage: str
) -> None:
    ask()
    with sqlite3.connect(folder / "own/cache.sqlite") as db:
        db.execute(f"UPDATE files SET {column} = {damage}")
    db.close()
    assert ask() == (BOTH, ["a.txt", "b.txt"])


def test_only_values_of_new_keys_are_made(folder: Path) -> None:
    made: list[str] = []

    def make(name: str) -> list[str]:
        made.append(name)
        return [name]

    def values(keys: dict[str, str]) -> dict[str, list[str]]:
        cache = Cache(folder / "own/cache.sqlite", "1")
        try:
            return cache.values("words", keys, make)
        finally:
            cache.close()

    assert values({"a": "1", "b": "2"}) == {"a": ["a"], "b": ["b"]}
    assert values({"a": "1", "b": "3"}) == {"a": ["a"], "b": ["b"]}
    assert values({"b": "3"}) == {"b": ["b"]}
    assert made == ["a", "b", "b"]
    with sqlite3.connect(folder / "own/cache.sqlite") as db:
        assert db.execute("SELECT name, key FROM named").fetchall() == [("a", "1"), ("b", "3")]
    db.close()
