"""Small repositories of one organisation, and what a lake answers about them."""

import contextlib
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.acceptance.conftest import orbit
from tests.files import commit, make_workspace, write, write_learning, write_record

MakeRepository = Callable[..., Path]
PUSHES = 64
RUN_ALL = """
import json, os, sys
import orbit_fleet.operations
from orbit_registry.doors.cli.main import run
children = []
for folder, *words in json.loads(sys.argv[1]):
    child = os.fork()
    if child == 0:
        os.chdir(folder)
        os._exit(run(words))
    children.append(child)
sys.exit(any([os.waitpid(child, 0)[1] for child in children]))
"""


def repository_in(folder: Path, name: str, settings: str = "") -> Path:
    """Make a repository `name` with a learning and a decision, committed."""
    root = folder / name
    root.mkdir()
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    make_workspace(root, settings)
    write(root, "README.md", f"# {name}\n")  # two repositories share no first commit
    write_learning(root, 1, summary="Close the database when a test ends")
    write(
        root,
        "docs/adr/0001-x.md",
        "# 1. Use PostgreSQL\n\nStatus: Accepted\n\n## Decision\n\nWe use it.\n",
    )
    fields = {
        "title": "Use PostgreSQL",
        "status": "accepted",
        "source": {"path": "docs/adr/0001-x.md"},
    }
    write_record(root, ".orbit/adrs/ADR-0001/adr.yaml", **fields)
    commit(root)
    return root


@pytest.fixture
def make_repository(tmp_path: Path) -> MakeRepository:
    """Make a repository in the folder of a test."""
    return partial(repository_in, tmp_path)


def push(root: Path, lake: Path | str, *arguments: str) -> dict[str, Any]:
    """Push a repository under the name of its folder."""
    words = ("fleet", "push", str(lake), "--repository", root.name, *arguments, "--format", "json")
    result: dict[str, Any] = json.loads(orbit(root, *words))["data"]
    return result


def ask(lake: Path | str, sql: str, *arguments: str) -> list[dict[str, Any]]:
    """Return the rows of an answer."""
    words = ("fleet", "query", sql, "--lake", str(lake), *arguments, "--format", "json")
    rows: list[dict[str, Any]] = json.loads(orbit(Path.cwd(), *words))["data"]
    return rows


def vote(root: Path, task: str) -> None:
    """Add a vote for the learning of a repository, and commit it."""
    row = {
        "learning_id": "L-00001",
        "voter_model": "m",
        "voted_at": "2026-01-01T00:00:00Z",
        "task_id": task,
    }
    with (root / ".orbit/learnings/L-00001/votes.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps(row) + "\n")
    commit(root)


def push_at_once(repositories: list[tuple[Path, str]], lake: Path | str, *arguments: str) -> None:
    """Push repositories under names, each in a process of its own."""
    words = [
        [str(root), "fleet", "push", str(lake), "--repository", name, *arguments]
        for root, name in repositories
    ]
    result = subprocess.run(
        [sys.executable, "-c", RUN_ALL, json.dumps(words)], capture_output=True, text=True
    )
    assert result.returncode == 0, result.stderr


@contextlib.contextmanager
def serve_objects(bucket: str) -> Iterator[dict[str, str]]:
    """Serve an object store with a bucket on this machine; yield the variables that lead to it."""
    moto: Any = pytest.importorskip("moto.server", reason="moto is not installed")
    s3fs: Any = pytest.importorskip("s3fs", reason="s3fs is not installed")
    server = moto.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    address = f"http://{host}:{port}"
    s3fs.S3FileSystem(key="x", secret="x", endpoint_url=address, skip_instance_cache=True).mkdir(
        bucket
    )
    yield {
        "AWS_ENDPOINT_URL": address,
        "AWS_ENDPOINT": address,
        "AWS_ALLOW_HTTP": "true",
        "AWS_ACCESS_KEY_ID": "x",
        "AWS_SECRET_ACCESS_KEY": "x",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_REGION": "us-east-1",
    }
    server.stop()


@pytest.fixture
def bucket_address(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Yield the address of an empty lake in an object store on this machine."""
    with serve_objects("decisions") as variables:
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        yield "s3://decisions/lake"
