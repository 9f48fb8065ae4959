"""Local server of the site: builds again when a file changes, and reloads open pages."""

import contextlib
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from html import escape
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from orbit_registry.errors import OrbitError, UsageError, plural
from orbit_registry.model.diagnostic import Diagnostic, Severity
from orbit_registry.registry import Registry
from orbit_registry.site.build import CACHE, build_site
from orbit_registry.site.output import Progress, SiteResult, silent
from orbit_registry.site.stamps import stamp_of
from orbit_registry.workspace.workspace import open_workspace

HOST = "127.0.0.1"
POLL_SECONDS = 0.1
AGAIN_SECONDS = 1.0  # pause after a failed build
# path at which an open page waits for the next build; no page of a site is below it
LIVE = "/.orbit-live/"
WAIT_SECONDS = 25.0  # how long such a request waits
MOST_LISTED = 20  # most diagnostics in one report
_SCRIPT = f"""\
(() => {{
  const {{ build, message }} = document.currentScript.dataset;
  const ask = () =>
    fetch("{LIVE}" + build).then((answer) => answer.text()).then(
      (now) => (now === build ? ask() : location.reload()),
      () => setTimeout(ask, 1000),
    );
  ask();
  if (!message) return;
  const box = document.createElement("pre");
  box.className = "orbit-live";
  box.setAttribute("role", "alert");
  box.textContent = message;
  box.style.cssText = "position:fixed;z-index:9;inset:auto 0 0;margin:0;padding:1em;" +
    "max-height:40vh;overflow:auto;" +
    "white-space:pre-wrap;font:13px/1.5 monospace;background:#7f1d1d;color:#fff";
  document.body.append(box);
}})();
"""


class _Live:
    """The build that is served; requests wait for the next one."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self.build = str(time.time_ns())  # no page of an earlier server is of this build
        self.message = ""

    def announce(self, message: str) -> None:
        """Set the next build and the errors that pages show, and wake the waiting requests."""
        with self._changed:
            self.build, self.message = str(time.time_ns()), message
            self._changed.notify_all()

    def after(self, build: str) -> str:
        with self._changed:
            self._changed.wait_for(lambda: self.build != build, WAIT_SECONDS)
            return self.build


class _Handler(SimpleHTTPRequestHandler):
    """Answers with files of the site; only a request to this machine's own name is answered."""

    def __init__(self, live: _Live, *arguments: Any, **options: Any) -> None:
        self._live = live
        super().__init__(*arguments, **options)

    def do_GET(self) -> None:
        if not self._is_local():
            return

        path = urlsplit(self.path).path
        if path == f"{LIVE}live.js":
            self._answer(_SCRIPT.encode(), "text/javascript")
        elif path.startswith(LIVE):
            self._answer(self._live.after(path.removeprefix(LIVE)).encode(), "text/plain")
        elif not self._answered_with_page(path):
            super().do_GET()

    def _answered_with_page(self, path: str) -> bool:
        """Answer with a page that asks for later builds, the 404 page included;
        False for another file.
        """
        build, message = self._live.build, escape(self._live.message)
        script = (
            f'<script src="{LIVE}live.js" data-build="{build}" data-message="{message}"></script>'
        )
        file = Path(self.translate_path(path + ("index.html" if path.endswith("/") else "")))
        status = 200

        if not file.exists():  # the page may come back, and reloads then
            file, status = Path(self.translate_path("/404.html")), 404

        try:
            page = file.read_bytes() if file.suffix == ".html" else None
        except OSError:
            page = None

        if page is None:
            return False

        before, end, after = page.rpartition(b"</body>")
        self._answer(
            b"".join([before, script.encode(), end, after]), "text/html; charset=utf-8", status
        )
        return True

    def _answer(self, content: bytes, kind: str, status: int = 200) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        with contextlib.suppress(ConnectionError):  # who asked has left
            self.wfile.write(content)

    def translate_path(self, path: str) -> str:
        """Return the file of a path; a null character, which no file name has,
        would raise an error.
        """
        return super().translate_path(path).replace("\0", "\N{REPLACEMENT CHARACTER}")

    def do_HEAD(self) -> None:
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


class _Quiet(ThreadingHTTPServer):
    """A server that has nothing to say where a browser left before its answer:
    it went on to another page.
    """

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Report what went wrong, unless it is that."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


class SiteServer:
    """A server of one folder: `start` has it answer, `close` ends it.

    Open pages wait for `reload`.
    """

    def __init__(self, folder: Path, port: int) -> None:
        self._live = _Live()

        try:
            self._server = _Quiet(
                (HOST, port), partial(_Handler, self._live, directory=str(folder))
            )
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise UsageError(
                f"can't serve at port {port}: {reason}", hint="`--port 0` takes any free one"
            ) from None

        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    @property
    def url(self) -> str:
        """Where the site is."""
        return f"http://{HOST}:{self._server.server_port}/"

    def start(self) -> None:
        """Answer from now on."""
        self._thread.start()

    def reload(self, message: str = "") -> None:
        """Have open pages load themselves again, and say what went wrong."""
        self._live.announce(message)

    def close(self) -> None:
        """Stop serving."""
        self.reload()  # ends the waiting requests
        if self._thread.is_alive():
            self._server.shutdown()
            self._thread.join()
        self._server.server_close()


def serve_site(
    registry: Registry,
    port: int = 8000,
    out: Path | None = None,
    say: Callable[[str], None] = print,
    stop: threading.Event | None = None,
    progress: Progress = silent,
) -> None:
    """Build the site, serve it at 127.0.0.1, and build it again whenever something changed,
    until Ctrl-C or `stop`.
    """
    folder = out or registry.workspace.cache_folder / CACHE / "served"
    server = SiteServer(folder, port)  # a build may take long: a taken port is said before it
    try:
        watch = _Watch(registry, folder, server, say)
        watch.begin(progress)
        server.start()
        say(f"{server.url}  (Ctrl-C ends it)")
        pause, ended = POLL_SECONDS, stop or threading.Event()

        while not ended.wait(pause):
            began = time.perf_counter()
            if watch.follow():
                pause = AGAIN_SECONDS if watch.failure else POLL_SECONDS
            else:
                # Looking takes at most a tenth of the time, however many files there are.
                pause = max(POLL_SECONDS, 9 * (time.perf_counter() - began))
    except KeyboardInterrupt:
        say("ended")
    finally:
        server.close()


class _Watch:
    """Builds a site again where something changed, and says of each build what is new."""

    def __init__(
        self, registry: Registry, folder: Path, server: SiteServer, say: Callable[[str], None]
    ) -> None:
        self._registry, self._folder, self._server, self._say = registry, folder, server, say
        self._stamps: Mapping[str, str] | None = (
            None  # of what the last try rested on; None where it is not known
        )
        self._found: tuple[Diagnostic, ...] = ()
        self.failure = ""  # why the last try made no site

    def begin(self, progress: Progress) -> None:
        """Build for the first time."""
        self._report(build_site(self._registry, self._folder, snapshot=False, progress=progress))

    def follow(self) -> bool:
        """Build again if something is not as it was; say whether it was tried."""
        before = self._stamps
        now = None if before is None else {path: stamp_of(path) for path in before}
        if now is not None and now == before:
            return False

        try:
            self._registry.workspace = open_workspace(
                self._registry.workspace.root
            )  # its configuration may be another
            self._registry.refresh()
            result = build_site(self._registry, self._folder, snapshot=False)
        except (
            OrbitError,
            OSError,
        ) as error:  # files may go while they are read: a branch is switched
            self._stamps = now
            self._report_failure(error)
        else:
            self._report(result)

        return True

    def _report_failure(self, error: OrbitError | OSError) -> None:
        reason = f"{error.message}\n  {error.hint}" if isinstance(error, OrbitError) else str(error)
        message = f"not rebuilt: {reason}"
        if message != self.failure:
            self._say(message)
            self._server.reload(message)
        self.failure = message

    def _report(self, result: SiteResult) -> None:
        self._stamps = result.stamps
        new = [diagnostic for diagnostic in result.diagnostics if diagnostic not in self._found]

        if not (
            result.written or result.removed or result.diagnostics != self._found or self.failure
        ):
            return

        self._found, self.failure = result.diagnostics, ""
        errors = [
            diagnostic for diagnostic in result.diagnostics if diagnostic.severity is Severity.ERROR
        ]
        self._server.reload("\n".join(_lines(errors)))
        clock = time.strftime("%H:%M:%S")
        many = len(result.diagnostics)
        count = f", {plural(many, 'finding')}" if many else ""
        self._say(
            f"{clock}  {plural(result.pages, 'page')}, {plural(result.written, 'file')} written in "
            f"{result.seconds:.2f} s{count}"
        )

        for line in _lines(new):
            self._say(f"  {line}")


def _lines(diagnostics: Sequence[Diagnostic]) -> list[str]:
    weighed = sorted(diagnostics, key=lambda diagnostic: list(Severity).index(diagnostic.severity))
    lines = [
        f"{diagnostic.location}: {diagnostic.severity.value} {diagnostic.code} {diagnostic.message}"
        for diagnostic in weighed[:MOST_LISTED]
    ]
    if len(diagnostics) > MOST_LISTED:
        return [*lines, f"… and {len(diagnostics) - MOST_LISTED} more"]

    return lines
