"""`orbit mcp`: the registry as an MCP server; the protocol's library is imported when a server starts, never before."""

from __future__ import annotations

from pathlib import Path

import click

from orbit_registry.errors import UsageError

SDK = frozenset(("mcp", "mcp_types", "anyio", "starlette", "uvicorn"))
"""What the extra `[mcp]` installs."""


@click.group()
def group() -> None:
    """Records for agents over the Model Context Protocol."""


@group.command()
@click.option(
    "--root", type=click.Path(file_okay=False, exists=True, path_type=Path),
    help="The project; where it is not given, the client's roots and the current folder are asked, at each call.",
)  # fmt: skip
@click.option("--no-aliases", is_flag=True, help="Leave out the names for one kind alone, `orbit.adr.add` and others.")
def serve(root: Path | None, no_aliases: bool) -> None:
    """Serve this project's records over standard input and output, until the input ends.

    \b
    orbit mcp serve
    claude mcp add orbit -- orbit mcp serve
    """
    try:
        from orbit_registry.mcp.server import serve_stdio
    except ModuleNotFoundError as error:
        raise _without_sdk(error) from None
    serve_stdio(root, aliases=not no_aliases)


def _without_sdk(error: ModuleNotFoundError) -> Exception:
    if (error.name or "").partition(".")[0] not in SDK:
        return error
    return UsageError("the MCP server needs the extra `mcp`", hint="pip install 'orbit-registry[mcp]'")
