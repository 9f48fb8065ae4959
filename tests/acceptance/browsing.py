"""A real browser for tests: it opens pages of a site and keeps what their console said and whom
they asked.
"""

import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import (
    Browser,
    ConsoleMessage,
    Page,
    Request,
    ViewportSize,
    sync_playwright,
)

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
)
"""Nothing but this machine has an address:
a page that asks elsewhere fails at once, and says so.
"""
DESK, TABLET, PHONE = 1440, 820, 390


@contextmanager
def chromium() -> Iterator[Browser]:
    """Yield the system's Chromium; skip the test where there is none."""
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        pytest.skip("needs Chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=ARGUMENTS)
        yield browser
        browser.close()


@dataclass
class Tab:
    """One page of a browser without history or storage.

    `console` has the warnings and errors of its console, those of the policy and of scripts among
    them; `requests` the addresses outside the first page's host that it wanted something from.
    """

    page: Page
    console: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    home: str = ""

    def __post_init__(self) -> None:
        self.page.on("console", self._console)
        self.page.on("pageerror", lambda error: self.console.append(f"error: {error}"))
        self.page.on("request", self._request)

    def go(self, url: str) -> Page:
        """Open an address and return the page once everything that it names has arrived."""
        self.home = self.home or urlsplit(url).netloc
        self.page.goto(url)
        return self.page

    def settled(self, url: str) -> str:
        """Open an address and return the page's markup once it has asked for nothing for half a
        second.
        """
        self.go(url).wait_for_load_state("networkidle")
        return self.page.content()

    def resized(self, width: int, scheme: str = "light") -> None:
        """Show the page at another width and in another scheme of colours,
        without loading it again.
        """
        self.page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
        self.page.set_viewport_size(
            ViewportSize(width=width, height=844 if width == PHONE else 900)
        )

    def _console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.console.append(f"{message.type}: {message.text} ({message.location['url']})")

    def _request(self, request: Request) -> None:
        address = urlsplit(request.url)
        if address.netloc != self.home and address.scheme not in ("data", "blob"):
            self.requests.append(request.url)


@contextmanager
def tab(browser: Browser, *, scripts: bool = True) -> Iterator[Tab]:
    """Yield a new tab, with or without scripts."""
    context = browser.new_context(java_script_enabled=scripts, reduced_motion="reduce")
    yield Tab(context.new_page())
    context.close()


class Silent(SimpleHTTPRequestHandler):
    """Answers with files, without a word."""

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing of requests."""


@contextmanager
def served(site: Path) -> Iterator[str]:
    """Yield the address of a folder that a plain server serves."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Silent, directory=str(site))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
