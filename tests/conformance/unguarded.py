"""Serves a workspace over HTTP without the token, for the conformance suite, which can't give one;
loopback alone.
"""

import socket
import sys
from pathlib import Path

import anyio
import uvicorn

from orbit_registry.doors.mcp.http import LOOPBACK, application
from orbit_registry.doors.mcp.server import McpServer, begin_serving


def main(root: Path) -> None:
    """Serve the workspace at `root`, and print the address on the first line."""
    begin_serving()
    listening = socket.create_server(("127.0.0.1", 0))
    port = listening.getsockname()[1]
    sys.stdout.write(f"http://127.0.0.1:{port}/mcp\n")
    sys.stdout.flush()
    config = uvicorn.Config(
        application(McpServer(root), LOOPBACK, port), log_level="error", access_log=False
    )
    anyio.run(uvicorn.Server(config).serve, [listening])


if __name__ == "__main__":
    main(Path(sys.argv[1]))
