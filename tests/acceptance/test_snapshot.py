"""The snapshot through the real command line:
two clones, killed builds, another DuckDB, a real collection.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import pytest
from tests.acceptance.conftest import orbit

from orbit_registry.registry import Registry

OTHER = "OTHER_DUCKDB_PYTHON"


def filled(repo: Path, number: int = 3) -> Path:
    Registry.init(repo)
    registry = Registry.open(repo)
    for position in range(number):
        fields = {
            "summary": f"Rule {position}",
            "scope": {"paths": [f"src/{position}/**"]},
            "body": "Text. " * 50,
        }
        registry.add("learning", fields)
    orbit(repo, "adr", "add", "--title", "Keep one log", "--yes")
    return repo


def rows(repo: Path, sql: str) -> list[dict[str, Any]]:
    result: list[dict[str, Any]] = json.loads(orbit(repo, "query", sql, "--format", "json"))["data"]
    return result


def states(repo: Path) -> tuple[list[str], str]:
    """Return the snapshots that are there, and what the current one says when it is asked without a
    sync.
    """
    cache = repo / ".orbit/state/cache"
    current = json.loads((cache / "snapshot.json").read_text("utf-8"))["file"]
    with duckdb.connect(str(cache / current), read_only=True) as connection:
        (digest,) = connection.execute(
            "SELECT value FROM meta WHERE name = 'digest'"
        ).fetchone() or ("",)
    return sorted(file.name for file in cache.glob("snapshot-*")), str(digest)


def test_a_sync_of_the_index_alone_leaves_the_snapshot(git_repo: Path) -> None:
    repo = filled(git_repo)
    alone = json.loads(orbit(repo, "sync", "--index", "--format", "json"))["data"]
    assert (alone["path"], sorted((repo / ".orbit/state/cache").glob("snapshot-*"))) == (None, [])

    both = json.loads(orbit(repo, "sync", "--format", "json"))["data"]
    assert Path(both["path"]).is_file()
    assert both["digest"] == alone["digest"] == states(repo)[1]


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
from orbit_registry.doors.cli.main import main
sys.addaudithook(watch)
sys.exit(main())
"""


def test_a_killed_build_leaves_the_old_snapshot(git_repo: Path) -> None:
    repo = filled(git_repo, 2)
    orbit(repo, "sync", "--rebuild")
    file = next((repo / ".orbit/learnings").glob("*/learning.yaml"))
    for nth in range(1, 100, 24):
        file.write_text(f"{file.read_text('utf-8')}# {nth}\n", "utf-8")
        command = [sys.executable, "-c", KILLED, str(nth), "query", "FROM meta"]
        done = subprocess.run(command, cwd=repo, capture_output=True, text=True, check=False)
        assert states(repo)[1]
        if done.returncode == 0:
            break
        assert done.returncode == -signal.SIGKILL, done.stderr
    assert nth > 10
    assert rows(repo, "SELECT count(*) AS n FROM records") == [{"n": 3}]
    assert list((repo / ".orbit/state/cache").glob(".tmp-*")) == []


def test_another_duckdb_reads_the_file(git_repo: Path) -> None:
    python = os.environ.get(OTHER)
    if not python:
        pytest.skip(f"needs another DuckDB: set {OTHER} to a Python that has it")
    repo = filled(git_repo)
    orbit(repo, "snapshot", "export", str(repo / "out.duckdb"))
    program = (
        "import duckdb\n"
        f"c = duckdb.connect({str(repo / 'out.duckdb')!r}, read_only=True)\n"
        "print(duckdb.__version__)\n"
        "for sql in (\"SELECT title FROM scope_match('src/1/a.py')\", 'SELECT count(*) FROM "
        "ranked(half_life := 30)',\n"
        "            \"SELECT title FROM resolve_id('ADR-0001')\", 'SELECT count(*) FROM "
        "vote_ranking',\n"
        "            'SELECT count(*) FROM system_knowledge', \"SELECT title FROM search('one "
        "logs')\"):\n"
        "    print(c.execute(sql).fetchall())\n"
    )
    environment = {"PATH": os.environ["PATH"]}
    done = subprocess.run(
        [python, "-c", program], capture_output=True, text=True, check=True, env=environment
    )
    version, *output = done.stdout.splitlines()
    assert version != duckdb.__version__
    assert output == [
        "[('Rule 1',)]",
        "[(4,)]",
        "[('Keep one log',)]",
        "[(0,)]",
        "[(4,)]",
        "[('Keep one log',)]",
    ]


def test_a_real_collection_arrives(corpora: Path, tmp_path: Path, git: Any) -> None:
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
    for row in ids[:3]:
        result = rows(repo, f"SELECT id FROM resolve_id('{row['legacy_id']}')")
        assert row["record_id"] in [item["id"] for item in result]
    assert rows(repo, "SELECT count(*) AS n FROM records WHERE body = ''") == [{"n": 0}]
    matched = rows(repo, "SELECT id FROM scope_match('crates/orbit-core/src/lib.rs')")
    assert "ADR-0183" in [row["id"] for row in matched]
