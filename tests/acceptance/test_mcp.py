"""The MCP server as hosts run it: a process of its own, spoken to by the protocol's own client."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

anyio = pytest.importorskip("anyio", reason="the extra `mcp` is not installed")
pytest.importorskip("mcp", reason="the extra `mcp` is not installed")

import httpx2  # noqa: E402
import mcp_types as types  # noqa: E402
from mcp.client.session import ClientSession  # noqa: E402
from mcp.client.stdio import StdioServerParameters, stdio_client  # noqa: E402
from mcp.client.streamable_http import streamable_http_client  # noqa: E402
from tests.conftest import Git  # noqa: E402
from tests.files import configure  # noqa: E402

from orbit_registry.doors.answers.call import Caller  # noqa: E402
from orbit_registry.doors.mcp.dispatch import reply  # noqa: E402
from orbit_registry.registry import Registry  # noqa: E402
from orbit_registry.workspace.author import Author  # noqa: E402

PERSON = Author("Ada Example", "human")
TOKEN = "a-token-of-this-test"
PROGRAM = [sys.executable, "-m", "orbit_registry.doors.cli.main", "mcp", "serve"]
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "t", "version": "1"},
    },
}
ACCEPTED = {"Accept": "application/json, text/event-stream"}


@pytest.fixture(scope="module")
def _filled(tmp_path_factory: pytest.TempPathFactory, git: Git) -> Path:
    """Make one project with two learnings, for `root` to copy."""
    root = tmp_path_factory.mktemp("mcp") / "repo"
    root.mkdir()
    git(root, "init", "--quiet")
    Registry.init(root)
    registry = Registry.open(root)
    for summary in ("Uploads are retried with a fresh token", "Cache entries expire after an hour"):
        registry.add("learning", {"summary": summary, "scope": {"paths": ["src/**"]}}, PERSON)
    return root


@pytest.fixture
def root(_filled: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(_filled, tmp_path / "repo"))


@asynccontextmanager
async def client(folder: Path, *roots: str, **options: Any) -> AsyncIterator[ClientSession]:
    """Yield a session with a server that was started in a folder,
    by a person as its environment says.
    """
    environment = {**os.environ, "ORBIT_ACTOR": "human"}
    server = StdioServerParameters(
        command=PROGRAM[0], args=PROGRAM[1:], cwd=str(folder), env=environment
    )

    async def named(_context: object) -> types.ListRootsResult:
        return types.ListRootsResult(
            roots=[types.Root.model_validate({"uri": entry}) for entry in roots]
        )

    async with (
        stdio_client(server) as (read, write),
        ClientSession(
            read, write, list_roots_callback=named if roots else None, **options
        ) as session,
    ):
        await session.initialize()
        yield session


def text(result: types.CallToolResult, index: int = 0) -> str:
    block = result.content[index]
    assert isinstance(block, types.TextContent)
    return block.text


def whole(result: types.CallToolResult) -> dict[str, Any]:
    assert isinstance(result.structured_content, dict)
    return result.structured_content


def test_a_client_lists_and_calls_the_tools(root: Path) -> None:
    async def talk() -> None:
        async with client(root) as session:
            tools = {tool.name: tool for tool in (await session.list_tools()).tools}
            assert {"search", "add", "vote"} <= tools.keys()
            assert not (await session.call_tool("queue", {})).is_error
            assert not (await session.call_tool("orbit.search", {"query": "token"})).is_error
            assert tools["add"].annotations is not None
            assert tools["add"].annotations.read_only_hint is False

            result = await session.call_tool("search", {"query": "token", "path": "src/a.py"})
            assert (result.is_error, whole(result)["ok"]) == (False, True)
            beside = whole(result)["learnings"]
            assert [entry["id"] in text(result, 1) for entry in beside] == [True]
            assert result.meta is not None
            assert result.meta["dev.orbit/learnings"] == beside

            expected = {"kind": "learning", "fields": {"summary": "Look twice"}, "confirm": True}
            added = whole(await session.call_tool("add", expected))["data"]
            assert (added["phase"], added["created_by"]) == (
                "pending",
                {"name": "mcp", "role": "agent"},
            )

            refused = await session.call_tool("show", {"id": "L-none"})
            assert (refused.is_error, whole(refused)["ok"], whole(refused)["hint"] != "") == (
                True,
                False,
                True,
            )

            (first, *_) = (await session.list_resources()).resources
            (read,) = (await session.read_resource(first.uri)).contents
            assert isinstance(read, types.TextResourceContents)
            assert first.name in read.text
            prompt = await session.get_prompt(
                "brief", {"task": "Retry uploads", "paths": "src/a.py"}
            )
            assert "Retry uploads" in prompt.messages[0].content.text

    anyio.run(talk)


def test_every_job_is_done_with_the_tools_that_are_listed(root: Path) -> None:
    configure(root, "loop: {enabled: true}\n")

    async def talk() -> None:
        async with client(root) as session:
            listed = {tool.name for tool in (await session.list_tools()).tools}
            assert len(listed) == 10

            async def call(name: str, **arguments: object) -> Any:
                assert name in listed
                result = await session.call_tool(name, arguments)
                assert not result.is_error, text(result)
                return whole(result)["data"]

            assert (
                await call("brief", paths=["src/a.py"], text="Retry uploads", task_class="code-gen")
            )["matches"]
            live = (await call("search", query="token"))["hits"][0]["id"]
            records = (await call("search", kind="learning"))["records"]
            assert live in [record["id"] for record in records]
            assert (await call("show", id=live))["id"] == live
            matched = await call("match", paths=["src/a.py"], new_text="x = 1\n")
            assert live in [record["id"] for record in matched["matches"]]
            assert matched["check"]["findings"] == []

            waits = (
                await call("add", kind="learning", fields={"summary": "Look twice"}, confirm=True)
            )["id"]
            changed = await call(
                "add", id=waits, fields={"links": [{"rel": "related_to", "to": live}]}
            )
            assert (changed["id"], changed["links"]) == (waits, [{"rel": "related_to", "to": live}])
            proposal = {"id": live, "fields": {"summary": "Tokens are renewed by the client"}}
            assert (await call("add", **proposal))["written"] is False
            successor = await call("add", **proposal, confirm=True)
            assert (successor["phase"], successor["links"]) == (
                "pending",
                [{"rel": "amends", "to": live}],
            )

            assert (await call("vote", id=live, task="T-1"))["new"] is True
            assert (await call("note", text="Uploads fail without a retry key", attempts=3))["asks"]
            assert (await call("fail", target="story:shop:S-1", reason="no browser"))["new"] is True
            assert (await call("retro", loop="L-1", struggled=["The sandbox has no browser"]))[
                "retro"
            ]
            assert {waits, successor["id"]} <= {
                record["id"] for record in (await call("queue"))["records"]
            }

    anyio.run(talk)


@pytest.mark.parametrize("value", ["", "on"])
def test_a_call_runs_no_program_of_the_project(
    root: Path, monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    prints = json.dumps({"title": "Fix", "class": "qa"})
    (root / "run.py").write_text(
        f"import sys\nopen(sys.argv[1], 'w').close()\nprint('{prints}')\n", "utf-8"
    )
    command, classifier = (
        [sys.executable, "run.py", name] for name in ("ran-command-{id}", "ran-classifier")
    )
    configure(root, f"tasks: {json.dumps({'command': command, 'classifier': classifier})}\n")
    monkeypatch.setenv("ORBIT_PROGRAMS", value)

    monkeypatch.setenv("ORBIT_ACTOR", "agent")
    arguments = {"task": "T-7", "text": "Fix the crash", "paths": ["src/a.py"]}
    result = reply("brief", arguments, Caller("some-agent", "s"), partial(Registry.open, root)).text
    assert [f"`tasks.{name}` was not run" in result for name in ("command", "classifier")] == 2 * [
        not value
    ]
    assert sorted(file.name for file in root.glob("ran-*")) == (
        ["ran-classifier", "ran-command-T-7"] if value else []
    )


def test_the_project_is_where_the_client_says(root: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    config = root / ".orbit/config.yaml"
    current = config.read_text("utf-8")

    async def talk() -> None:
        async with client(elsewhere, "file:///nowhere", root.as_uri()) as session:
            assert "Uploads" in text(await session.call_tool("list", {}))
            config.write_text("format: [", "utf-8")
            assert (await session.call_tool("list", {})).is_error
            config.write_text(current, "utf-8")
            assert "Uploads" in text(await session.call_tool("list", {}))

    anyio.run(talk)


def test_an_unreadable_request_gets_an_error(root: Path) -> None:
    lines = [
        json.dumps(HELLO).encode(),
        (
            b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"search",'
            b'"arguments":{"a":"\\ud83d"}}}'
        ),
        b'{"jsonrpc":"2.0","id":"a","method":["tools/list"]}',
        b'{"jsonrpc":"2.0","id":8,"method":"tools/call","params":' + b"[" * 10_000,
        b"not json",
        b"\xff\xfe",
        b'{"jsonrpc":"2.0","method":"notifications/initialized"}',
        b'{"jsonrpc":"2.0","id":2,"method":"ping"}',
    ]
    answers: list[dict[str, Any]] = []
    with subprocess.Popen(
        PROGRAM, cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as served:
        assert served.stdin is not None
        assert served.stdout is not None
        served.stdin.write(b"".join(line + b"\n" for line in lines))
        served.stdin.flush()
        while not {1, 2} <= {entry["id"] for entry in answers}:
            answers.append(json.loads(served.stdout.readline()))
        served.stdin.close()
        assert served.stdout.read() == b"", "standard output carries the protocol alone"

    refused = [
        entry["id"] for entry in answers if entry.get("error", {}).get("code") == types.PARSE_ERROR
    ]
    assert refused == [7, "a", None, None, None]
    assert (len(answers), served.returncode) == (7, 0)


@pytest.fixture(scope="module")
def address(_filled: Path) -> Iterator[str]:
    environment = {**os.environ, "ORBIT_ACTOR": "human", "ORBIT_MCP_TOKEN": TOKEN}
    with subprocess.Popen(
        [*PROGRAM, "--http"],
        cwd=_filled,
        env=environment,
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as server:
        assert server.stderr is not None
        text = server.stderr.readline().decode()
        try:
            yield text.removeprefix("serving at ").strip()
        finally:
            server.terminate()
            server.communicate()


def posted(address: str, **headers: str) -> httpx2.Response:
    content: Any = HELLO
    return httpx2.post(address, json=content, headers={**ACCEPTED, **headers}, trust_env=False)


def test_over_http_a_token_is_needed(address: str) -> None:
    assert address.startswith("http://127.0.0.1:")
    port = re.findall(r":(\d+)/", address)[0]
    bearer = {"Authorization": f"Bearer {TOKEN}"}

    assert posted(address).status_code == 401
    assert posted(address, Authorization="Bearer a-token").status_code == 401
    assert posted(address, **bearer, Host=f"example.org:{port}").status_code == 421
    assert posted(address, **bearer, Origin="http://example.org").status_code == 403
    assert posted(address, **bearer, Origin=f"http://127.0.0.1:{port}").status_code == 200
    large = httpx2.post(
        address, content=b" " * 1_100_000, headers={**ACCEPTED, **bearer}, trust_env=False
    )
    assert large.status_code == 413


def test_clients_that_went_away_lock_nobody_out(address: str) -> None:
    assert {posted(address, Authorization=f"bearer {TOKEN}").status_code for _ in range(40)} == {
        200
    }
    assert posted(address, Authorization=f"bearer {TOKEN.swapcase()}").status_code == 401


def test_over_http_a_client_is_answered(address: str) -> None:
    async def talk() -> None:
        async with (
            httpx2.AsyncClient(
                headers={"Authorization": f"Bearer {TOKEN}"}, trust_env=False
            ) as web,
            streamable_http_client(address, http_client=web) as (read, write, *_),
            ClientSession(read, write) as session,
        ):
            await session.initialize()
            result = [
                await session.call_tool("search", {"query": "token", "path": "src/a.py"})
                for _ in range(2)
            ]
            assert ["learnings" in whole(entry) for entry in result] == [True, False]

    anyio.run(talk)
