"""HTTP transport, local by default: token, Host and Origin checks, limits."""

import secrets
import socket
from collections.abc import Awaitable, Callable, MutableMapping
from pathlib import Path
from typing import Any

import anyio
import uvicorn
from mcp.server.transport_security import TransportSecuritySettings

from orbit_registry.doors.mcp.server import McpServer, begin_serving
from orbit_registry.errors import UsageError

PATH = "/mcp"
LARGEST_BODY = 1_000_000
MOST_SESSIONS, IDLE_SECONDS = 1_000, 1800.0
"""Clients that vanish leave a session for half an hour; so many of them still block no other."""
MOST_CONNECTIONS = 64
SHORTEST_TOKEN = 16
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Message, Receive, Send], Awaitable[None]]


def serve_http(
    root: Path | None,
    host: str,
    port: int,
    token: str | None,
    announce: Callable[[str, str], None],
    *,
    aliases: bool,
) -> None:
    """Serve clients over streamable HTTP until interrupted;
    `announce` gets the address and the token.
    """
    if token is not None and len(token) < SHORTEST_TOKEN:
        raise UsageError(
            "the token is too short", hint=f"give {SHORTEST_TOKEN} characters or more, or none"
        )

    begin_serving()
    shared_token = token or secrets.token_urlsafe(32)
    listening = _listening(host, port)
    at = listening.getsockname()[1]
    host_name = f"[{host}]" if ":" in host else host

    door = McpServer(root or Path.cwd(), aliases=aliases)
    app = _guarded(application(door, (*LOOPBACK, host_name), at), shared_token)
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        limit_concurrency=MOST_CONNECTIONS,
        server_header=False,
    )

    announce(f"http://{host_name}:{at}{PATH}", shared_token)
    anyio.run(uvicorn.Server(config).serve, [listening])


def application(door: McpServer, hosts: tuple[str, ...], port: int) -> Application:
    """Return the application, which answers only to these host names:
    a web page can't rebind its own name.
    """
    names = [f"{name}:{port}" for name in dict.fromkeys(hosts)]
    checks = TransportSecuritySettings(
        enable_dns_rebinding_protection=True,
        allowed_hosts=names,
        allowed_origins=[f"http://{address}" for address in names],
    )

    app: Application = door.server().streamable_http_app(
        streamable_http_path=PATH,
        transport_security=checks,
        max_request_body_size=LARGEST_BODY,
        session_idle_timeout=IDLE_SECONDS,
        max_sessions=MOST_SESSIONS,
    )
    return app


def _guarded(app: Application, token: str) -> Application:
    expected = token.encode()

    async def checked(scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await app(scope, receive, send)
            return

        values = [value for name, value in scope["headers"] if name == b"authorization"]
        scheme, _, credentials = values[0].partition(b" ") if len(values) == 1 else (b"", b"", b"")
        if scheme.lower() == b"bearer" and secrets.compare_digest(credentials.strip(), expected):
            await app(scope, receive, send)
            return

        headers = [(b"www-authenticate", b"Bearer"), (b"content-type", b"text/plain")]
        await send({"type": "http.response.start", "status": 401, "headers": headers})
        await send(
            {
                "type": "http.response.body",
                "body": b"a token is needed: Authorization: Bearer TOKEN\n",
            }
        )

    return checked


def _listening(host: str, port: int) -> socket.socket:
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM
        )[0]
        listener = socket.socket(family, kind, protocol)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(MOST_CONNECTIONS)
    except OSError as error:
        raise UsageError(
            f"could not listen at {host}:{port}: {error.strerror}", hint="choose another port"
        ) from None

    return listener
