"""The MCP server of a lake, spoken to by the protocol's own client: it writes nothing."""

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.acceptance.conftest import orbit
from tests.extras.fleet.conftest import MakeRepository, push
from tests.files import commit, write_record

anyio = pytest.importorskip("anyio", reason="the extra `mcp` is not installed")
pytest.importorskip("mcp", reason="the extra `mcp` is not installed")
pytest.importorskip("fsspec", reason="the fleet extra is not installed")

from mcp.client.session import ClientSession  # noqa: E402
from mcp.client.stdio import StdioServerParameters, stdio_client  # noqa: E402

CALLS: list[tuple[str, dict[str, object]]] = [
    ("search", {"words": "close database"}),
    ("show", {"repository": "shop", "id": "ADR-0001"}),
    ("explain", {"repository": "shop", "path": "src/app.py"}),
    ("query", {"sql": "SELECT repository, count(*) AS n FROM records GROUP BY ALL"}),
    ("show", {"repository": "shop", "id": "ADR-9999"}),
    ("search", {"words": "close", "depth": 1}),
    ("search", {"words": "NATS", "all": True}),
    ("query", {"sql": "COPY records TO 'stolen.csv'"}),
]


async def answers(lake: Path) -> tuple[list[Any], list[Any]]:
    """Return the tools of a server, and its results of `CALLS`."""
    words = ["-m", "orbit_registry.doors.cli.main", "fleet", "mcp", "--lake", str(lake)]
    environment = {**os.environ}
    server = StdioServerParameters(
        command=sys.executable, args=words, cwd=str(lake.parent), env=environment
    )
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        tools = await session.list_tools()
        results = [await session.call_tool(name, arguments) for name, arguments in CALLS]

    return tools.tools, results


def data_of(result: Any) -> Any:
    content: Mapping[str, Any] = result.structured_content
    return content["data"]


def test_an_agent_asks_a_lake_and_can_write_nothing(
    make_repository: MakeRepository, tmp_path: Path
) -> None:
    lake = tmp_path / "lake"
    shop = make_repository("shop")
    write_record(shop, ".orbit/adrs/ADR-0002/adr.yaml", title="Use NATS", status="rejected")
    commit(shop)
    push(shop, lake)
    before = {file: file.read_bytes() for file in lake.rglob("*.parquet")}
    tools, results = anyio.run(answers, lake)

    assert [tool.name for tool in tools] == ["search", "show", "explain", "query"]
    assert all(tool.annotations.read_only_hint for tool in tools)
    hits, record, applies, counted, missing, wrong, every, refused = results
    assert data_of(hits)[0]["title"] == "Close the database when a test ends"
    assert "We use it." in record.content[0].text
    assert data_of(applies) == [] or data_of(applies)[0]["pattern"]
    assert data_of(counted) == [{"repository": "shop", "n": 3}]
    assert [hit["id"] for hit in data_of(every)] == ["ADR-0002"]
    assert [each.is_error for each in (missing, wrong, refused)] == [True, True, True]
    assert "search WORDS" in missing.content[0].text
    assert {file: file.read_bytes() for file in lake.rglob("*.parquet")} == before
    assert not (tmp_path / "stolen.csv").exists()


def test_a_record_is_shown_with_its_text(make_repository: MakeRepository, tmp_path: Path) -> None:
    push(make_repository("shop"), tmp_path / "lake")
    words = ("fleet", "show", "adr-0001", "--repository", "shop", "--lake", "lake")
    assert "We use it." in orbit(tmp_path, *words)
    data = json.loads(orbit(tmp_path, *words, "--format", "json"))["data"]
    assert (data["id"], data["status"]) == ("ADR-0001", "accepted")
