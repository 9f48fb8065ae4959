"""Serves the site on this machine alone and builds it again when a file changes; it opens no other address."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Protocol
from urllib.parse import urlsplit

from orbit_registry.errors import OrbitError, UsageError
from orbit_registry.site.build import CACHE, build_site, stamps_of_last_build
from orbit_registry.site.result import Readable, SiteResult

HOST = "127.0.0.1"
POLL_SECONDS = 0.5


class Refreshable(Readable, Protocol):
    """A registry that can be read again."""

    def refresh(self) -> None:
        """Forget what was read."""
        ...


class _Handler(SimpleHTTPRequestHandler):
    """Answers with files of the site; only a request to this machine's own name is answered."""

    def do_GET(self) -> None:
        """Answer with a file, or with the site's own page for what is missing."""
        if self._is_local():
            super().do_GET()

    def do_HEAD(self) -> None:
        """Answer with a file's headers."""
        if self._is_local():
            super().do_HEAD()

    def _is_local(self) -> bool:
        # A page elsewhere whose name was pointed at this address must not read the site.
        name = urlsplit(f"//{self.headers.get('Host', '')}").hostname
        if name in ("127.0.0.1", "localhost"):
            return True
        self.send_error(403, "only this machine is served")
        return False

    def end_headers(self) -> None:
        """Let no browser keep a page: the next one may be another."""
        self.send_header("Cache-Control", "no-store")
        super().end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing of requests."""


class SiteServer:
    """A running server of one folder; `close` ends it.

    Raises:
        UsageError: the port is taken or not allowed.
    """

    def __init__(self, folder: Path, port: int) -> None:
        try:
            self._server = ThreadingHTTPServer((HOST, port), partial(_Handler, directory=str(folder)))
        except OSError as error:
            said = (error.strerror or str(error)).lower()
            raise UsageError(f"can't serve at port {port}: {said}", hint="`--port 0` takes any free one") from None
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        """Where the site is."""
        return f"http://{HOST}:{self._server.server_port}/"

    def close(self) -> None:
        """Stop serving."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def serve_site(
    registry: Refreshable,
    port: int = 8000,
    out: Path | None = None,
    say: Callable[[str], None] = print,
    stop: threading.Event | None = None,
) -> None:
    """Build the site, serve it at 127.0.0.1, and build it again whenever something changed, until Ctrl-C or `stop`.

    Raises:
        OrbitError: the first build failed.
    """
    folder = out or registry.workspace.cache / CACHE / "served"
    ended = stop or threading.Event()
    _say(say, build_site(registry, folder, snapshot=False))
    server = SiteServer(folder, port)
    say(f"{server.url}  (Ctrl-C ends it)")
    try:
        held, pause, failure = stamps_of_last_build(registry, folder), POLL_SECONDS, ""
        while not ended.wait(pause):
            started = time.perf_counter()
            if held is not None and held.hold:
                # Looking takes at most a tenth of the time, however many files there are.
                pause = max(POLL_SECONDS, 9 * (time.perf_counter() - started))
                continue
            registry.refresh()
            try:
                result = build_site(registry, folder, snapshot=False)
            except OrbitError as error:
                if error.message != failure:
                    say(f"not rebuilt: {error.message}")
                failure = error.message
                continue
            held, failure = stamps_of_last_build(registry, folder), ""
            if result.written or result.removed:
                _say(say, result)
    except KeyboardInterrupt:
        say("ended")
    finally:
        server.close()


def _say(say: Callable[[str], None], result: SiteResult) -> None:
    at = time.strftime("%H:%M:%S")
    found = f", {len(result.diagnostics)} findings" if result.diagnostics else ""
    say(f"{at}  {result.pages} pages, {result.written} files written in {result.seconds:.2f} s{found}")
