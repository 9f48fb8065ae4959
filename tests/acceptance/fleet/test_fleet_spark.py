"""Spark in separate processes gives the answers of DuckDB,
also when one of its executors is killed.
"""

import os
import shutil
import signal
import subprocess
import tempfile
import threading
from importlib.util import find_spec
from pathlib import Path

import pytest
from tests.bench.fleet import make_lake

from orbit_registry.errors import UsageError
from orbit_registry.fleet.lake import Lake
from orbit_registry.fleet.report import report

pytestmark = pytest.mark.skipif(
    not find_spec("pyspark"), reason="needs Spark: `nox -s fleet` brings it"
)
java = pytest.mark.skipif(
    shutil.which("java") is None, reason="needs Java: apt-get install openjdk-17-jre-headless"
)
CLUSTER = "local-cluster[2,1,1024]"
# Three programs that run for a minute: compiling what they run costs more than it gains, three
# times as much.
QUICK_START = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
ARGUMENTS = (
    f"--driver-java-options '{QUICK_START}' --conf 'spark.executor.extraJavaOptions={QUICK_START}' "
    "--conf spark.sql.codegen.wholeStage=false --conf spark.ui.showConsoleProgress=false "
    "pyspark-shell"
)


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    folder = tmp_path_factory.mktemp("spark") / "lake"
    make_lake(folder, 40)
    return Lake(str(folder))


@pytest.fixture(autouse=True)
def cluster(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ORBIT_SPARK_MASTER", CLUSTER)
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", ARGUMENTS)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))  # where Spark's own files are


def texts(lake: Lake, engine: str) -> dict[str, str]:
    return {
        answer.question.name: answer.result.render("csv")
        for answer in report(lake, None, rows=10_000, engine=engine)
    }


def executors() -> list[int]:
    done = subprocess.run(
        ["pgrep", "-f", "CoarseGrainedExecutorBackend"], capture_output=True, text=True, check=False
    )
    return [int(line) for line in done.stdout.split()]


def kill_in_the_middle(
    folder: Path, earlier: set[int], killed: list[int], ended: threading.Event
) -> None:
    """Kill an executor once two of them have results that the next steps read,
    which are lost with it.
    """
    while not ended.wait(0.05) and not killed:
        if len({file.parents[1] for file in folder.rglob("blockmgr-*/*/shuffle_*.data")}) > 1:
            killed.append(min(set(executors()) - earlier))
            os.kill(killed[0], signal.SIGKILL)


@java
@pytest.mark.timeout(600)
def test_spark_answers_as_duckdb_does_although_an_executor_is_killed(
    lake: Lake, tmp_path: Path
) -> None:
    killed: list[int] = []
    ended = threading.Event()
    killer = threading.Thread(
        target=kill_in_the_middle, args=(tmp_path, set(executors()), killed, ended)
    )
    killer.start()
    try:
        answers = texts(lake, "spark")
    finally:
        ended.set()
        killer.join()
    assert killed
    assert answers == texts(lake, "duckdb")
    assert all(text.count("\n") > 1 for text in answers.values())


def test_without_java_one_line_says_what_to_install(
    lake: Lake, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    with pytest.raises(UsageError, match="Java 17"):
        report(lake, "states", rows=1, engine="spark")
