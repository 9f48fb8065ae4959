"""`orbit mcp serve` and `wrap`: the servers, which end when their client does."""

from importlib.util import find_spec
from pathlib import Path

import click

from orbit_registry.doors.answers.agents import INSTALL_MCP
from orbit_registry.doors.answers.table import commands
from orbit_registry.doors.cli.operations import TableGroup
from orbit_registry.doors.cli.writer import say
from orbit_registry.errors import UsageError

TOKEN = "ORBIT_MCP_TOKEN"
group = TableGroup("mcp", commands()["mcp"].load().words.help)


@group.command()
@click.option(
    "--root",
    type=click.Path(file_okay=False, exists=True, path_type=Path),
    help="The project; else the client's roots or the current folder.",
)
@click.option(
    "--aliases/--no-aliases", help="List the tools for one kind too, such as `orbit.adr.add`."
)
@click.option("--http", is_flag=True, help="Serve over HTTP; each request needs a token.")
@click.option(
    "--host", default="127.0.0.1", show_default=True, help="With --http: the address to listen on."
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    help="With --http: the port; a free one if not given.",
)
@click.option(
    "--token",
    envvar=TOKEN,
    help=f"With --http: the token, better given as {TOKEN}; a random one if not.",
)
def serve(
    root: Path | None, aliases: bool, http: bool, host: str, port: int, token: str | None
) -> None:
    """Serve this project's records over MCP.

    It reads standard input until that ends, or listens with --http.

    orbit mcp serve
    orbit mcp serve --http --port 8765
    """
    if find_spec("mcp") is None:
        raise UsageError("the MCP server needs the extra `mcp`", hint=INSTALL_MCP)

    if not http:
        from orbit_registry.doors.mcp.server import serve_stdio

        serve_stdio(root, aliases=aliases)
        return

    from orbit_registry.doors.mcp.http import serve_http

    def announce(address: str, needed: str) -> None:
        say(f"serving at {address}", err=True)
        if token is None:
            say(f"token: {needed}", err=True)

    serve_http(root, host, port, token, announce, aliases=aliases)


@group.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.option(
    "--session",
    envvar="ORBIT_SESSION_ID",
    default="",
    help="Do not repeat what this session was shown.",
)
@click.option(
    "--timeout",
    type=click.IntRange(min=0),
    default=150,
    show_default=True,
    metavar="MS",
    help="How long a result may wait for its records; 0: no limit.",
)
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
def wrap(session: str, timeout: int, command: tuple[str, ...]) -> None:
    """Run another MCP server, and add records to its results.

    All other messages, signals and exit codes pass unchanged.

    orbit mcp wrap -- npx -y @modelcontextprotocol/server-filesystem .
    """
    from orbit_registry.doors.mcp.proxy import run

    raise click.exceptions.Exit(run(command, session, timeout))
