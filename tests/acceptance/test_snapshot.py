"""The snapshot through the real command line: two clones, killed builds, another DuckDB, a real collection."""

from __future__ import annotations

import csv
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import duckdb
import pytest

from orbit_registry.registry import Registry

ORBIT = (sys.executable, "-c", "import sys; from orbit_registry.cli.main import main; sys.exit(main())")
OTHER = "OTHER_DUCKDB_PYTHON"


def orbit(folder: Path, *arguments: str, code: int = 0) -> str:
    """Run a command and return what it printed."""
    done = subprocess.run([*ORBIT, *arguments], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr
    return done.stdout if not code else done.stdout + done.stderr


def filled(repo: Path, number: int = 3) -> Path:
    """Make a workspace with some learnings and a decision."""
    Registry.init(repo)
    registry = Registry.open(repo)
    for position in range(number):
        fields = {"summary": f"Rule {position}", "scope": {"paths": [f"src/{position}/**"]}, "body": "Text. " * 50}
        registry.add("learning", fields)
    orbit(repo, "adr", "add", "--title", "Keep one log", "--yes")
    return repo


def rows(repo: Path, sql: str) -> list[dict[str, Any]]:
    """Ask through the command line."""
    found: list[dict[str, Any]] = json.loads(orbit(repo, "query", sql, "--format", "json"))["data"]
    return found


def test_a_newcomer_syncs_asks_and_exports(git_repo: Path, tmp_path: Path) -> None:
    """The three commands work in a row, in every format, and the export answers in plain DuckDB."""
    repo = filled(git_repo)
    assert "Built snapshot-000001.duckdb: 4 records" in orbit(repo, "sync")
    assert "Nothing changed" in orbit(repo, "sync")
    sql = "SELECT id, title FROM scope_match('src/1/a.py')"
    assert "Rule 1" in orbit(repo, "query", sql)
    assert [row["title"] for row in rows(repo, sql)] == ["Rule 1"]
    listed = list(csv.DictReader(orbit(repo, "query", sql, "--format", "csv").splitlines()))
    assert [row["title"] for row in listed] == ["Rule 1"]
    orbit(repo, "snapshot", "export", str(tmp_path / "out.duckdb"), "--parquet", str(tmp_path / "tables"))
    with duckdb.connect(str(tmp_path / "out.duckdb"), read_only=True) as connection:
        assert connection.execute(sql).fetchone()[1] == "Rule 1"
        parquet = connection.execute(f"SELECT count(*) FROM '{tmp_path}/tables/records.parquet'").fetchone()
        assert parquet == (4,)


def test_a_wrong_question_is_one_clear_error(git_repo: Path) -> None:
    """Exit 1, one message without a traceback, and the tables there are."""
    repo = filled(git_repo, 1)
    said = orbit(repo, "query", "SELECT * FROM recods", code=1)
    assert "recods" in said
    assert "vote_ranking" in said
    assert "Traceback" not in said
    assert "can't be changed" in orbit(repo, "query", "DROP TABLE records", code=1)


def test_two_clones_have_one_digest(git_repo: Path, git: Any, tmp_path: Path) -> None:
    """A clone builds a snapshot with the same digest, and follows when the other's change is pulled."""
    repo = filled(git_repo)
    git(repo, "add", "-A")
    git(repo, "commit", "-q", "-m", "Add records")
    git(repo.parent, "clone", "-q", str(repo), str(tmp_path / "clone"))
    digest = "SELECT value FROM meta WHERE name = 'digest'"
    assert rows(repo, digest) == rows(tmp_path / "clone", digest)
    orbit(repo, "learning", "vote", Registry.open(repo).records.of_kind("learning")[0].id, "--task", "T-1")
    assert rows(repo, digest) != rows(tmp_path / "clone", digest)
    git(repo, "add", "-A")
    git(repo, "commit", "-q", "-m", "Vote")
    git(tmp_path / "clone", "pull", "-q")
    assert rows(repo, digest) == rows(tmp_path / "clone", digest)


def states(repo: Path) -> tuple[list[str], str]:
    """Return the snapshots that are there, and what the current one says when it is asked without a sync."""
    cache = repo / ".orbit/state/cache"
    current = json.loads((cache / "snapshot.json").read_text("utf-8"))["file"]
    with duckdb.connect(str(cache / current), read_only=True) as connection:
        (digest,) = connection.execute("SELECT value FROM meta WHERE name = 'digest'").fetchone() or ("",)
    return sorted(file.name for file in cache.glob("snapshot-*")), str(digest)


def test_a_build_killed_at_any_moment_leaves_the_old_one(git_repo: Path) -> None:
    """Killed twenty times over the length of a build, a sync never leaves a current file that is not whole."""
    repo = filled(git_repo, 40)
    orbit(repo, "sync")
    _, old = states(repo)
    began = time.monotonic()
    orbit(repo, "sync", "--rebuild")
    whole = time.monotonic() - began
    file = next((repo / ".orbit/learnings").glob("*/learning.yaml"))
    killed = 0
    for part in range(1, 21):
        file.write_text(f"{file.read_text('utf-8')}# {part}\n", "utf-8")
        process = subprocess.Popen([*ORBIT, "sync"], cwd=repo, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            process.wait(timeout=whole * part / 16)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
            killed += 1
        names, digest = states(repo)
        assert names
        assert digest
    assert killed
    for left in (repo / ".orbit/state/cache").glob(".tmp-*"):
        os.utime(left, (0, 0))  # a young one may belong to another process
    assert "41 records" in orbit(repo, "sync", "--rebuild")
    names, new = states(repo)
    assert new != old
    assert len([name for name in names if name.endswith(".duckdb")]) == 2
    assert list((repo / ".orbit/state/cache").glob(".tmp-*")) == []


KILLED = """
import os, signal, sys
nth, count = int(sys.argv.pop(1)), 0
changes = {"os.rename", "os.remove", "os.rmdir", "os.mkdir"}
def watch(event, details):
    global count
    flags = details[2] if event == "open" and isinstance(details[2], int) else 0
    if event in changes or flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
        count += 1
        if count == nth:
            os.kill(os.getpid(), signal.SIGKILL)
from orbit_registry.cli.main import main
sys.addaudithook(watch)
sys.exit(main())
"""


def test_a_sync_killed_before_any_change_of_a_file_leaves_the_old_one(git_repo: Path) -> None:
    """Before each file it opens for writing, renames or removes in turn, a sync is killed; what is there is whole."""
    repo = filled(git_repo, 2)
    orbit(repo, "sync")
    file = next((repo / ".orbit/learnings").glob("*/learning.yaml"))
    for nth in range(1, 100):
        file.write_text(f"{file.read_text('utf-8')}# {nth}\n", "utf-8")
        command = [sys.executable, "-c", KILLED, str(nth), "sync"]
        done = subprocess.run(command, cwd=repo, capture_output=True, text=True, check=False)
        assert states(repo)[1]
        if done.returncode == 0:
            break
        assert done.returncode == -signal.SIGKILL, done.stderr
    assert nth > 10
    assert rows(repo, "SELECT count(*) AS n FROM records") == [{"n": 3}]


def test_another_duckdb_reads_the_file(git_repo: Path) -> None:
    """Tables and macros answer in the other DuckDB that we support."""
    python = os.environ.get(OTHER)
    if not python:
        pytest.skip(f"set {OTHER} to a Python whose DuckDB has another version to try the file with it")
    repo = filled(git_repo)
    orbit(repo, "snapshot", "export", str(repo / "out.duckdb"))
    program = (
        "import duckdb\n"
        f"c = duckdb.connect({str(repo / 'out.duckdb')!r}, read_only=True)\n"
        "print(duckdb.__version__)\n"
        "for sql in (\"SELECT title FROM scope_match('src/1/a.py')\", 'SELECT count(*) FROM ranked(half_life := 30)',\n"
        "            \"SELECT title FROM resolve_id('ADR-0001')\", 'SELECT count(*) FROM vote_ranking',\n"
        "            'SELECT count(*) FROM system_knowledge', \"SELECT title FROM search('one logs')\"):\n"
        "    print(c.execute(sql).fetchall())\n"
    )
    environment = {"PATH": os.environ["PATH"]}
    done = subprocess.run([python, "-c", program], capture_output=True, text=True, check=True, env=environment)
    version, *said = done.stdout.splitlines()
    assert version != duckdb.__version__
    assert said == ["[('Rule 1',)]", "[(4,)]", "[('Keep one log',)]", "[(0,)]", "[(4,)]", "[('Keep one log',)]"]


def test_a_real_collection_arrives(corpora: Path, tmp_path: Path, git: Any) -> None:
    """Imported, a real registry is in the snapshot with every id it ever had, and scopes match its paths."""
    repo = tmp_path / "orbit"
    shutil.copytree(corpora / "orbit-2026-07", repo, copy_function=shutil.copyfile)
    (repo / "dot_orbit").rename(repo / ".orbit")
    git(repo, "init", "-q")
    orbit(repo, "import", ".", "--from", "orbit")
    assert rows(repo, "SELECT kind, count(*) AS n FROM records GROUP BY kind ORDER BY kind") == [
        {"kind": "adr", "n": 140},
        {"kind": "learning", "n": 50},
    ]
    ids = rows(repo, "SELECT l.legacy_id, l.record_id FROM legacy_ids AS l")
    assert len(ids) > 50
    for row in ids[:10]:
        found = rows(repo, f"SELECT id FROM resolve_id('{row['legacy_id']}')")
        assert row["record_id"] in [one["id"] for one in found]
    assert rows(repo, "SELECT count(*) AS n FROM records WHERE body = ''") == [{"n": 0}]
    matched = rows(repo, "SELECT id FROM scope_match('crates/orbit-core/src/lib.rs')")
    assert "ADR-0183" in [row["id"] for row in matched]
