"""A copy that is made beside other work: whole, or said to have failed where it is waited for."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

from orbit_registry.snapshot.build import Base, write_database
from orbit_registry.snapshot.copying import Copy
from orbit_registry.snapshot.rows import rows_of


def test_a_copy_is_whole_once_it_was_waited_for(tmp_path: Path) -> None:
    """What is to be done first is done before the file is begun."""
    source, path = tmp_path / "source", tmp_path / "copy"
    source.write_bytes(b"x" * 3_000_000)
    there: list[bool] = []
    copy = Copy(source, path, lambda: there.append(path.exists()))
    copy.wait()
    assert there == [False]
    assert path.read_bytes() == source.read_bytes()


def test_a_copy_that_failed_says_so_where_it_is_waited_for(tmp_path: Path) -> None:
    """The thread's error is the waiting one's, each time it asks."""
    copy = Copy(tmp_path / "missing", tmp_path / "copy")
    for _ in range(2):
        with pytest.raises(FileNotFoundError, match="missing"):
            copy.wait()
    copy.drop()


@pytest.fixture
def begun() -> Iterator[Callable[[], None]]:
    """Return what holds a copy up until others had time to go on without it."""
    gate = threading.Event()
    timer = threading.Timer(0.3, gate.set)
    timer.start()
    yield lambda: assert_opened(gate)
    timer.join()


def assert_opened(gate: threading.Event) -> None:
    """Wait for an event."""
    assert gate.wait(30)


def test_of_a_copy_that_is_dropped_nothing_stays(tmp_path: Path, begun: Callable[[], None]) -> None:
    """Not even where it was not whole yet; what it was made of stays."""
    source = tmp_path / "source"
    source.write_bytes(b"x")
    copy = Copy(source, tmp_path / "copy", begun)
    copy.drop()
    copy.wait()
    assert [file.name for file in tmp_path.iterdir()] == ["source"]


def test_a_database_is_opened_in_a_copy_that_is_whole(project: Any, tmp_path: Path, begun: Callable[[], None]) -> None:
    """The engine makes an empty one where it finds none."""
    project.learning("aaaaa")
    held, path = project.sync().path, tmp_path / "next.duckdb"
    base = Base(held, [], {})
    write_database(path, rows_of(()), {"half_life_days": "180"}, base, copy=Copy(held, path, begun))
    with duckdb.connect(str(path), read_only=True) as reader:
        assert reader.execute("SELECT id FROM records").fetchall() == [("L-aaaaa",)]
