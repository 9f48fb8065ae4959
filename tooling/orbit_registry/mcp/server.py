"""Speaks the protocol, through the official SDK: hands each request to what answers it; decides no answer itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server


def serve_stdio(root: Path | None) -> None:
    """Serve one client over standard input and output, until the input ends."""
    anyio.run(_over_stdio, root)


async def _over_stdio(root: Path | None) -> None:
    server = built(root)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


def built(root: Path | None) -> Server[Any]:
    """Return the server."""

    async def list_tools(_context: object, _params: object) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[])

    return Server("orbit", on_list_tools=list_tools)
