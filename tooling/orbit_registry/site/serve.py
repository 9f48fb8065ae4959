"""Serves the site on this machine alone, builds it again when a file changes, and has open pages load it again."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit

from orbit_registry.errors import OrbitError, UsageError
from orbit_registry.site.build import CACHE, build_site, stamps_of_last_build
from orbit_registry.site.result import Progress, Readable, SiteResult

HOST = "127.0.0.1"
POLL_SECONDS = 0.1
LIVE = "/.orbit-live/"
"""Where an open page asks which build it is of; below it no page of a site can stand."""
WAIT_SECONDS = 25.0
"""How long such a question is kept open while nothing changes."""
_SCRIPT = f"""\
(() => {{
  const held = document.currentScript.dataset.build;
  const ask = () =>
    fetch("{LIVE}" + held).then((answer) => answer.text()).then(
      (now) => (now === held ? ask() : location.reload()),
      () => setTimeout(ask, 1000),
    );
  ask();
}})();
"""


class Refreshable(Readable, Protocol):
    """A registry that can be read again."""

    def refresh(self) -> None:
        """Forget what was read."""
        ...


class _Live:
    """Which build is served; those who ask wait for the next one."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self.build = str(time.time_ns())  # no page of an earlier server is of this build

    def next(self) -> None:
        """Name another build, and wake those who wait for it."""
        with self._changed:
            self.build = str(time.time_ns())
            self._changed.notify_all()

    def after(self, held: str) -> str:
        """Return the build that is served, as soon as it is another than the one held."""
        with self._changed:
            self._changed.wait_for(lambda: self.build != held, WAIT_SECONDS)
            return self.build


class _Handler(SimpleHTTPRequestHandler):
    """Answers with files of the site; only a request to this machine's own name is answered."""

    def __init__(self, live: _Live | None, *arguments: Any, **named: Any) -> None:
        self._live = live
        super().__init__(*arguments, **named)

    def do_GET(self) -> None:
        """Answer with a file, with the build that is served, or with the site's own page for what is missing."""
        if not self._is_local():
            return
        asked = urlsplit(self.path).path
        if self._live is None:
            super().do_GET()
        elif asked == f"{LIVE}live.js":
            self._answer(_SCRIPT.encode(), "text/javascript")
        elif asked.startswith(LIVE):
            self._answer(self._live.after(asked.removeprefix(LIVE)).encode(), "text/plain")
        elif not self._answered_with_page(asked, self._live.build):
            super().do_GET()

    def _answered_with_page(self, asked: str, build: str) -> bool:
        """Answer with a page that asks for later builds; False where no page stands."""
        file = Path(self.translate_path(asked + ("index.html" if asked.endswith("/") else "")))
        if file.suffix != ".html" or not file.is_file():
            return False
        script = f'<script src="{LIVE}live.js" data-build="{build}"></script>'
        before, end, after = file.read_bytes().rpartition(b"</body>")
        self._answer(b"".join([before, script.encode(), end, after]), "text/html; charset=utf-8")
        return True

    def _answer(self, content: bytes, kind: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        with contextlib.suppress(ConnectionError):  # who asked has left
            self.wfile.write(content)

    def translate_path(self, path: str) -> str:
        """Return where a page would stand; no file has a name with a null character, and asking for one would fail."""
        return super().translate_path(path).replace("\0", "\N{REPLACEMENT CHARACTER}")

    def do_HEAD(self) -> None:
        """Answer with a file's headers."""
        if self._is_local():
            super().do_HEAD()

    def _is_local(self) -> bool:
        name = None
        # A page elsewhere whose name was pointed at this address must not read the site.
        with contextlib.suppress(ValueError):  # half an address
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
    """A running server of one folder; `close` ends it. Pages of a `live` one wait for `reload`.

    Raises:
        UsageError: the port is taken or not allowed.
    """

    def __init__(self, folder: Path, port: int, *, live: bool = False) -> None:
        self._live = _Live() if live else None
        try:
            self._server = ThreadingHTTPServer((HOST, port), partial(_Handler, self._live, directory=str(folder)))
        except OSError as error:
            said = (error.strerror or str(error)).lower()
            raise UsageError(f"can't serve at port {port}: {said}", hint="`--port 0` takes any free one") from None
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        """Where the site is."""
        return f"http://{HOST}:{self._server.server_port}/"

    def reload(self) -> None:
        """Have open pages load themselves again."""
        if self._live is not None:
            self._live.next()

    def close(self) -> None:
        """Stop serving."""
        self.reload()  # nobody goes on waiting
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def serve_site(
    registry: Refreshable,
    port: int = 8000,
    out: Path | None = None,
    say: Callable[[str], None] = print,
    stop: threading.Event | None = None,
    progress: Progress | None = None,
) -> None:
    """Build the site, serve it at 127.0.0.1, and build it again whenever something changed, until Ctrl-C or `stop`.

    Raises:
        OrbitError: the first build failed.
    """
    folder = out or registry.workspace.cache / CACHE / "served"
    ended = stop or threading.Event()
    _say(say, build_site(registry, folder, snapshot=False, progress=progress))
    server = SiteServer(folder, port, live=True)
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
                server.reload()
                _say(say, result)
    except KeyboardInterrupt:
        say("ended")
    finally:
        server.close()


def _say(say: Callable[[str], None], result: SiteResult) -> None:
    at = time.strftime("%H:%M:%S")
    found = f", {len(result.diagnostics)} findings" if result.diagnostics else ""
    say(f"{at}  {result.pages} pages, {result.written} files written in {result.seconds:.2f} s{found}")
