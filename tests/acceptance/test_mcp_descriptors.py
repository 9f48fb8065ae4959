"""A server of many calls: it keeps no file open that a call has opened."""

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

anyio = pytest.importorskip("anyio", reason="the extra `mcp` is not installed")
pytest.importorskip("mcp", reason="the extra `mcp` is not installed")

import httpx2  # noqa: E402
from mcp.client.session import ClientSession  # noqa: E402
from mcp.client.streamable_http import streamable_http_client  # noqa: E402
from tests.acceptance.test_mcp import PROGRAM, TOKEN, client  # noqa: E402
from tests.conftest import Git  # noqa: E402
from tests.files import configure  # noqa: E402

from orbit_registry.registry import Registry  # noqa: E402
from orbit_registry.workspace.author import Author  # noqa: E402

CALLS = 50
OPENING = ("match", "search", "vote")  # tools that read what was derived from the records
SPARE = 3  # descriptors that a pipe, a log or a thread may have open at the moment of the count

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/fd").is_dir(), reason="open files are counted in /proc, which is Linux's"
)


@pytest.fixture
def root(tmp_path: Path, git: Git) -> Path:
    folder = tmp_path / "repo"
    folder.mkdir()
    git(folder, "init", "--quiet")
    Registry.init(folder)
    configure(folder, "loop: {enabled: true}\n")
    fields = {"summary": "Uploads are retried", "scope": {"paths": ["src/**"]}}
    Registry.open(folder).add("learning", fields, Author("Ada Example", "human"))
    return folder


def open_files(process: int) -> int:
    return len(os.listdir(f"/proc/{process}/fd"))


def children() -> set[int]:
    """Return the processes that this one has started and that still run."""
    listed = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text("utf-8")
    return set(map(int, listed.split()))


def calls_of(record_id: str) -> Mapping[str, Mapping[str, Any]]:
    """Return arguments for every tool that is listed."""
    return {
        "add": {"kind": "learning", "fields": {"summary": "Look twice"}},
        "brief": {"paths": ["src/a.py"], "text": "Retry uploads"},
        "fail": {"target": "story:shop:S-3", "reason": "no network"},
        "match": {"paths": ["src/a.py"], "new_text": "x = 1\n"},
        "note": {"summary": "Uploads fail without a key", "attempts": 3},
        "queue": {},
        "retro": {"loop": "L-18", "summary": "Nothing to say"},
        "search": {"query": "uploads"},
        "show": {"id": record_id},
        "vote": {"id": record_id, "task": "T-1"},
    }


async def kept_files(
    session: ClientSession, process: int, calls: Mapping[str, Mapping[str, Any]]
) -> dict[str, int]:
    """Return how many more files a server has open after many calls of each tool."""
    kept = {}
    for name, arguments in calls.items():
        await session.call_tool(name, dict(arguments))
        before = open_files(process)
        for _ in range(CALLS):
            await session.call_tool(name, dict(arguments))
        kept[name] = open_files(process) - before

    return kept


def test_no_tool_keeps_a_file_open(root: Path) -> None:
    (record,) = Registry.open(root).records

    async def talk() -> dict[str, int]:
        before = children()
        async with client(root) as session:
            (server,) = children() - before
            calls = calls_of(record.id)
            assert {tool.name for tool in (await session.list_tools()).tools} == set(calls)
            return await kept_files(session, server, calls)

    kept: dict[str, int] = anyio.run(talk)
    assert {name: count for name, count in kept.items() if count > SPARE} == {}


def test_over_http_no_tool_keeps_a_file_open(root: Path) -> None:
    (record,) = Registry.open(root).records
    environment = {**os.environ, "ORBIT_ACTOR": "human", "ORBIT_MCP_TOKEN": TOKEN}
    bearer = {"Authorization": f"Bearer {TOKEN}"}

    with subprocess.Popen(
        [*PROGRAM, "--http"], cwd=root, env=environment, stderr=subprocess.PIPE
    ) as server:
        assert server.stderr is not None
        address = server.stderr.readline().decode().removeprefix("serving at ").strip()

        async def talk() -> dict[str, int]:
            async with (
                httpx2.AsyncClient(headers=bearer, trust_env=False) as web,
                streamable_http_client(address, http_client=web) as (read, write, *_),
                ClientSession(read, write) as session,
            ):
                await session.initialize()
                calls = {name: calls_of(record.id)[name] for name in OPENING}
                return await kept_files(session, server.pid, calls)

        try:
            kept: dict[str, int] = anyio.run(talk)
        finally:
            server.terminate()

    assert {name: count for name, count in kept.items() if count > SPARE} == {}
