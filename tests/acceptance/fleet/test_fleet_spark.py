"""Spark in separate processes gives the answers of DuckDB, also when one of its executors is killed."""

import os
import shutil
import signal
import subprocess
import threading
import time
from pathlib import Path

import pytest
from tests.bench.fleet import make_lake

from orbit_registry.errors import UsageError
from orbit_registry.fleet.lake import Lake
from orbit_registry.fleet.report import report

pytest.importorskip("pyspark", reason="pyspark is not installed")
java = pytest.mark.skipif(shutil.which("java") is None, reason="Java is not installed")
CLUSTER = "local-cluster[2,1,1024]"


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    folder = tmp_path_factory.mktemp("spark") / "lake"
    make_lake(folder, 40)
    return Lake(str(folder))


@pytest.fixture(autouse=True)
def cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ORBIT_SPARK_MASTER", CLUSTER)


def texts(lake: Lake, engine: str) -> dict[str, str]:
    return {
        answer.question.name: answer.result.render("csv") for answer in report(lake, None, rows=10_000, engine=engine)
    }


def executors() -> list[int]:
    done = subprocess.run(["pgrep", "-f", "CoarseGrainedExecutorBackend"], capture_output=True, text=True, check=False)
    return [int(line) for line in done.stdout.split()]


@java
@pytest.mark.timeout(900)
def test_spark_answers_as_duckdb_does_although_an_executor_is_killed(lake: Lake) -> None:
    earlier, killed = set(executors()), []

    def kill_one() -> None:
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline:
            started = sorted(set(executors()) - earlier)
            if len(started) > 1:
                os.kill(started[0], signal.SIGKILL)
                killed.append(started[0])
                return

    killer = threading.Thread(target=kill_one)
    killer.start()
    answers = texts(lake, "spark")
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
