"""Spark Connect gives the answers of DuckDB: a real server reads a lake in a folder and one in an
object store, in its own process.
"""

import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from tests.acceptance.conftest import orbit
from tests.bench.fleet import make_lake
from tests.extras.fleet.conftest import push, serve_objects
from tests.files import commit, make_workspace, write_learning

from orbit_fleet.database import Engine
from orbit_fleet.engines import answers
from orbit_fleet.lake import Lake
from orbit_fleet.report import report
from orbit_fleet.spark import question_in_spark
from orbit_registry.errors import UsageError

BUCKET = "decisions"
ENGINES = ("spark", "duckdb")
GLOBS = (
    ("src/app.py",),
    ("src/**", "!src/old/**"),
    ("*.py",),
    ("**/test/*.py",),
    ("src/*/api/[a-c]?.ts",),
    ("Makefile",),
    ("docs/{guide,design}/**/*.md",),
    ("src/a+b/(c)/**",),
)
PATHS = (
    "src/app.py",
    "src/old/app.py",
    "src/x/api/ab.ts",
    "src/x/api/zz.ts",
    "lib/test/x.py",
    "test",
    "Makefile",
    "lib/Makefile",
    "docs/guide/a/b.md",
    "docs/design/b.md",
    "src/a+b/(c)/d.txt",
    "a.pyc",
)
needs_server = pytest.mark.skipif(
    not find_spec("pysail") or not find_spec("pyspark"),
    reason="needs a Spark Connect server: `nox -s fleet` brings it",
)
SERVE = """
import sys
from pysail.spark import SparkConnectServer
server = SparkConnectServer("127.0.0.1", int(sys.argv[1]))
server.start(background=False)
"""


def free_port() -> int:
    with socket.socket() as place:
        place.bind(("127.0.0.1", 0))
        return int(place.getsockname()[1])


def wait_for(port: int, process: "subprocess.Popen[bytes]") -> None:
    """Wait until a server listens."""
    ticks = threading.Event()
    for _ in range(2400):
        assert process.poll() is None, "the server ended"
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        ticks.wait(0.05)
    raise AssertionError("the server does not listen")


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    folder = tmp_path_factory.mktemp("spark") / "lake"
    make_lake(folder, 40)
    return Lake(str(folder))


@pytest.fixture(scope="module")
def server(
    tmp_path_factory: pytest.TempPathFactory, lake: Lake
) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the address of a Spark Connect server, and the variables of an object store that has
    the lake, as the server knows it.
    """
    with serve_objects(BUCKET) as variables:
        environment = {**os.environ, **variables}
        import s3fs

        files: Any = s3fs.S3FileSystem(
            key="x",
            secret="x",
            endpoint_url=variables["AWS_ENDPOINT_URL"],
            skip_instance_cache=True,
        )
        files.put(lake.store.root, f"{BUCKET}/lake", recursive=True)
        port = free_port()
        log = tmp_path_factory.mktemp("server") / "log"
        with log.open("wb") as output:
            process = subprocess.Popen(
                [sys.executable, "-c", SERVE, str(port)],
                env=environment,
                stdout=output,
                stderr=output,
            )
        try:
            wait_for(port, process)
            yield f"sc://127.0.0.1:{port}", variables
        finally:
            process.kill()
            process.wait()


def texts(lake: Lake, engine: str, on_engine: str = "") -> dict[str, str]:
    reported = report(lake, None, rows=10_000, engine=Engine(engine, on_engine))
    return {answer.question.name: answer.result.render("csv") for answer in reported}


@needs_server
@pytest.mark.timeout(600)
@pytest.mark.parametrize("address", ["", "s3://decisions/lake", "s3a://decisions/lake"])
def test_spark_answers_as_duckdb_does(
    lake: Lake,
    server: tuple[str, dict[str, str]],
    address: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SPARK_REMOTE", server[0])
    by_spark = texts(lake, "spark", address)
    by_duckdb = texts(lake, "duckdb")
    assert by_spark == by_duckdb
    assert sum(text.count("\n") > 1 for text in by_spark.values()) >= len(by_spark) - 2


COUNTED = """
SELECT kind, count(*) AS n FROM records WHERE title ILIKE '%part 5%' GROUP BY kind ORDER BY kind
"""
ASKED = (
    ("query", COUNTED),
    ("query", "FROM scope_match('src/m7/a.py') ORDER BY repository, id"),
    ("query", "FROM scope_match('src/m7/it''s.py') ORDER BY repository, id"),
    ("query", "SELECT count(*) AS n FROM records", "--repository", "acme/r1"),
    ("search", "tool", "part", "5"),
    ("search", "tool", "part", "5", "--all"),
    ("search", "R-7"),
    ("explain", "src/m7/a.py", "--repository", "acme/r1"),
    ("show", "R-8", "--repository", "acme/r1"),
)
"""Questions at each door that both engines answer."""


@needs_server
@pytest.mark.timeout(300)
@pytest.mark.parametrize("words", ASKED, ids=" ".join)
def test_each_door_gives_the_rows_of_duckdb(
    lake: Lake,
    server: tuple[str, dict[str, str]],
    monkeypatch: pytest.MonkeyPatch,
    words: tuple[str, ...],
) -> None:
    monkeypatch.setenv("SPARK_REMOTE", server[0])
    words = ("fleet", *words, "--lake", lake.given, "--format", "json")
    by_spark = json.loads(orbit(Path.cwd(), *words, "--engine", "spark"))["data"]
    assert by_spark == json.loads(orbit(Path.cwd(), *words))["data"]
    assert by_spark


@needs_server
@pytest.mark.timeout(300)
def test_scopes_mean_the_same_in_both_engines(
    tmp_path: Path, server: tuple[str, dict[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "one"
    root.mkdir()
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    make_workspace(root)
    for number, globs in enumerate(GLOBS, 1):
        write_learning(root, number, scope={"paths": list(globs)})
    commit(root)
    push(root, tmp_path / "lake")
    monkeypatch.setenv("SPARK_REMOTE", server[0])
    lake = Lake(str(tmp_path / "lake"))
    for path in PATHS:
        sql = f"SELECT id, pattern FROM scope_match('{path}') ORDER BY id"
        (by_spark,), (by_duckdb,) = (answers(lake, [sql], Engine(name)) for name in ENGINES)
        assert by_spark.rows == by_duckdb.rows, path


@needs_server
@pytest.mark.timeout(300)
@pytest.mark.parametrize("sql", ["SELECT nothing FROM records", "SELEC 1", "FROM no_such_table"])
def test_a_wrong_question_is_one_line(
    lake: Lake, server: tuple[str, dict[str, str]], monkeypatch: pytest.MonkeyPatch, sql: str
) -> None:
    monkeypatch.setenv("SPARK_REMOTE", server[0])
    words = ("fleet", "query", sql, "--lake", lake.given, "--engine", "spark")
    for code in (1, 2):
        try:
            text = orbit(Path.cwd(), *words, code=code)
            break
        except AssertionError:
            if code == 2:
                raise
    assert "Traceback" not in text
    assert len(text.strip().splitlines()) <= 3


WRITES = (
    "DROP TABLE records",
    "SELECT 1; DROP TABLE records",
    "INSERT INTO records SELECT 1",
    "WITH a AS (INSERT INTO records SELECT 1) SELECT 1",
    "WITH a AS (DELETE FROM records) SELECT 1",
    "SELECT 1 INTO copied",
    "CREATE TABLE copied AS SELECT 1",
    "COPY records TO 'copied'",
    "MERGE INTO records USING votes ON 1 = 1 WHEN MATCHED THEN DELETE",
    "SET x = 1",
    "",
)


@pytest.mark.parametrize("sql", WRITES)
def test_a_question_changes_nothing_on_a_cluster(sql: str) -> None:
    with pytest.raises(UsageError, match=r"not a question|no form in Spark"):
        question_in_spark(sql)


@pytest.mark.parametrize(
    "sql",
    [
        "FROM records",
        "SELECT 1 UNION SELECT 2",
        "WITH a AS (SELECT 1 AS x) SELECT x FROM a",
        "SELECT 'INSERT INTO x' AS \"update\"",
    ],
)
def test_a_question_that_only_reads_is_translated(sql: str) -> None:
    assert question_in_spark(sql).startswith(("SELECT", "WITH"))


@pytest.mark.parametrize("address", ["sc://127.0.0.1:{}", "sc://no-such-host.invalid:15002"])
@pytest.mark.timeout(60)
def test_a_server_that_does_not_answer_is_one_line(
    lake: Lake, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    pytest.importorskip("pyspark", reason="needs Spark's client: `nox -s fleet` brings it")
    monkeypatch.setenv("SPARK_REMOTE", address.format(free_port()))
    words = ("fleet", "report", "states", "--lake", lake.given, "--engine", "spark")
    text = orbit(Path.cwd(), *words, code=1)
    assert "no server answers at" in text
    assert len(text.strip().splitlines()) == 2


@pytest.mark.parametrize("remote", ["", "spark.example", "http://x", "sc://", "sc://[", "sc://x:y"])
def test_a_missing_server_is_one_line(
    lake: Lake, monkeypatch: pytest.MonkeyPatch, remote: str
) -> None:
    monkeypatch.setenv("SPARK_REMOTE", remote)
    words = ("fleet", "report", "states", "--lake", lake.given, "--engine", "spark")
    text = orbit(Path.cwd(), *words, code=2)
    assert "SPARK_REMOTE" in text or "pyspark-client" in text
