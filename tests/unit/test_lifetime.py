"""Values are kept to the end of a process that runs one command, and of no other."""

from __future__ import annotations

import subprocess
import sys
import weakref
from pathlib import Path

import pytest

from orbit_registry import lifetime
from orbit_registry.registry import Registry
from orbit_registry.snapshot.build import engine
from orbit_registry.snapshot.engine import duckdb


class Value:
    """Something that can be seen to be gone."""


def test_what_is_kept_outlives_its_holder(monkeypatch: pytest.MonkeyPatch) -> None:
    """Until a process is said to end as it is, nothing is kept: one that serves would hold more and more."""
    value = Value()
    assert not lifetime.keep(value)
    seen = weakref.ref(value)
    del value
    assert seen() is None

    monkeypatch.setattr(lifetime, "_kept", None)
    lifetime.end_as_it_is()
    value = Value()
    assert lifetime.keep(value)
    seen = weakref.ref(value)
    del value
    assert seen() is not None


def test_a_database_is_closed_where_the_process_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is left open only to the end of one command."""
    with engine() as connection:
        pass
    with pytest.raises(duckdb.Error, match="closed"):
        connection.execute("SELECT 1")
    monkeypatch.setattr(lifetime, "_kept", [])
    with engine() as connection:
        pass
    assert connection.execute("SELECT 1").fetchall() == [(1,)]


@pytest.mark.parametrize(("command", "keeps"), [("sync", True), ("check", True), ("-C . check", True), ("list", False)])
def test_one_command_alone_ends_so(git_repo: Path, command: str, keeps: bool) -> None:
    """A sync and a check do, and what a sync wrote is whole: the next one finds nothing to do."""
    Registry.init(git_repo)
    code = "import atexit, sys; from orbit_registry import lifetime; from orbit_registry.cli.main import main; "
    code += f"atexit.register(lambda: print(lifetime._kept is not None)); sys.argv[1:] = {command.split()!r}; main()"
    done = subprocess.run([sys.executable, "-c", code], cwd=git_repo, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == str(keeps)
    assert not Registry.open(git_repo).sync().built or command != "sync"
