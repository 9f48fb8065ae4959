"""`orbit mcp`: the registry as an MCP server; the protocol's library is imported when a server starts, never before."""

from __future__ import annotations

from pathlib import Path

import click

from orbit_registry.errors import UsageError

SDK = frozenset(("mcp", "mcp_types", "anyio", "starlette", "uvicorn"))
"""What the extra `[mcp]` installs."""

TOKEN = "ORBIT_MCP_TOKEN"


@click.group()
def group() -> None:
    """Records for agents over the Model Context Protocol.

    \b
    orbit mcp serve
    """


@group.command()
@click.option(
    "--root", type=click.Path(file_okay=False, exists=True, path_type=Path),
    help="The project; where it is not given, the client's roots and the current folder are asked, at each call.",
)  # fmt: skip
@click.option("--no-aliases", is_flag=True, help="Leave out the names for one kind alone, `orbit.adr.add` and others.")
@click.option("--http", is_flag=True, help="Serve over streamable HTTP instead; each request needs a token.")
@click.option("--host", default="127.0.0.1", show_default=True, help="With --http: where to listen.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=0, help="With --http: the port; a free one if not given."
)
@click.option("--token", envvar=TOKEN, help=f"With --http: the token, better given as {TOKEN}; a random one if not.")
def serve(root: Path | None, no_aliases: bool, http: bool, host: str, port: int, token: str | None) -> None:
    """Serve this project's records over standard input and output, until the input ends.

    \b
    orbit mcp serve
    orbit mcp serve --http --port 8765
    """
    try:
        if not http:
            from orbit_registry.mcp.server import serve_stdio

            serve_stdio(root, aliases=not no_aliases)
            return
        from orbit_registry.mcp.http import serve_http
    except ModuleNotFoundError as error:
        raise _without_sdk(error) from None

    def announce(address: str, needed: str) -> None:
        click.echo(f"serving at {address}", err=True)
        if token is None:
            click.echo(f"token: {needed}", err=True)

    serve_http(root, host, port, token, announce, aliases=not no_aliases)


@group.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.option("--session", envvar="ORBIT_SESSION_ID", default="", help="What this session was shown is not repeated.")
@click.option(
    "--timeout", type=click.IntRange(min=0), default=150, show_default=True, metavar="MS",
    help="So long a result may wait for its records; 0: as long as it takes.",
)  # fmt: skip
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
def wrap(session: str, timeout: int, command: tuple[str, ...]) -> None:
    """Run another MCP server, and put the records that apply beside the results of its tools.

    Nothing else changes: not a byte of any other message, no signal, no exit code.

    \b
    orbit mcp wrap -- npx -y @modelcontextprotocol/server-filesystem .
    """
    from orbit_registry.mcp.wrap import run

    raise click.exceptions.Exit(run(command, session, timeout))


def _without_sdk(error: ModuleNotFoundError) -> Exception:
    if (error.name or "").partition(".")[0] not in SDK:
        return error
    return UsageError("the MCP server needs the extra `mcp`", hint="install the extra `orbit-registry[mcp]`")
