"""What acceptance tests share: a child that ends itself before a chosen change of a file,
a small disk, a browser.
"""

import contextlib
import io
import os
import pwd
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Any, Protocol

import pytest
from filelock import FileLock
from playwright.sync_api import Browser
from tests.acceptance import browsing
from tests.acceptance.browsing import Tab
from tests.acceptance.site_cases import site_of
from tests.bench import synthetic

from orbit_registry.doors.cli.main import run
from orbit_registry.exchange.importers.importer import import_from
from orbit_registry.registry import Registry
from orbit_registry.site.build import build_site

CHANGES = frozenset(
    ("os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.truncate", "os.link", "os.symlink")
)
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_APPEND
RAISED = 70
ADDRESS = "https://example.org/why/"
Look = Callable[[str], tuple[str, str]]
DemoSite = Callable[..., Path]
Shared = Callable[[str, Callable[[Path], Any]], Path]


def orbit(folder: Path, *arguments: str, code: int = 0) -> str:
    """Run `orbit` in a folder, see it end with a code, and return what it printed:
    of a failure, its messages too.
    """
    out, err = io.StringIO(), io.StringIO()
    with contextlib.chdir(folder), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        ended = run([*arguments])
    assert ended == code, out.getvalue() + err.getvalue()
    return out.getvalue() + (err.getvalue() if code else "")


class RunKilled(Protocol):
    """Works in a child that kills itself before its `nth` change of a file; False if it ended
    before that.

    `work` returns an exit code, which has to be one of `codes`; it runs in `folder` where that is
    given. Only changes `below` a folder count where that is given.
    """

    def __call__(
        self,
        work: Callable[[], int],
        nth: int,
        folder: Path | None = None,
        codes: Collection[int] = (0, 1),
        below: Path | None = None,
    ) -> bool: ...


@contextlib.contextmanager
def npm_of_the_user(config: pytest.Config) -> Iterator[None]:
    """Let npm fetch as its user has set it up, and keep what it fetched for the next run."""
    assert config.cache is not None
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", pwd.getpwuid(os.getuid()).pw_dir)
        patch.setenv("XDG_CACHE_HOME", str(config.cache.mkdir("console")))
        for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"):
            patch.delenv(name, raising=False)
        yield


@pytest.fixture(scope="session")
def run_killed() -> RunKilled:
    """Return what runs work that is killed in the middle."""

    def work_in_child(
        work: Callable[[], int],
        nth: int,
        folder: Path | None = None,
        codes: Collection[int] = (0, 1),
        below: Path | None = None,
    ) -> bool:
        child = os.fork()
        if child == 0:
            code = RAISED
            try:
                os.chdir(folder or Path.cwd())
                _kill_before(nth, str(below or ""))
                code = work()
            finally:
                os._exit(code)
        _, status = os.waitpid(child, 0)
        killed = os.WIFSIGNALED(status)
        assert killed or os.WEXITSTATUS(status) in codes
        return killed

    return work_in_child


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Return a file system of its own with two megabytes."""
    folder = tmp_path / "small"
    folder.mkdir()
    words = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(folder)]
    if subprocess.run(words, capture_output=True, check=False).returncode:
        pytest.skip(
            "needs the superuser: it mounts a file system of two megabytes that can be filled"
        )
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def _kill_before(nth: int, below: str) -> None:
    """Let this process kill itself before its `nth` change of a file from here on,
    of those whose path begins so.
    """
    count = 0

    def watch(event: str, details: tuple[object, ...]) -> None:
        nonlocal count
        flags = (
            details[2]
            if event == "open" and len(details) > 2 and isinstance(details[2], int)
            else 0
        )
        if (event in CHANGES or flags & WRITES) and str(details[0]).startswith(below):
            count += 1
            if count == nth:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(watch)


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Shared:
    """Return a function that gives a folder which all workers read,
    filled by the first that asks for it.
    """
    top = tmp_path_factory.getbasetemp()
    top = top.parent if "PYTEST_XDIST_WORKER" in os.environ else top

    def folder(name: str, fill: Callable[[Path], Any]) -> Path:
        with FileLock(top / f"shared-{name}.lock"):
            if not (top / f"shared-{name}.filled").exists():
                (top / f"shared-{name}").mkdir()
                fill(top / f"shared-{name}")
                (top / f"shared-{name}.filled").touch()
        return top / f"shared-{name}"

    return folder


@pytest.fixture(scope="session")
def demo_site(shared: Shared) -> DemoSite:
    """Return a function that gives the site of the case `demo`, to be read alone; see `site_of`."""

    def site(*, every_kind: bool = False, has_address: bool = False) -> Path:
        address = ADDRESS if has_address else None
        name = f"demo-{every_kind:d}{has_address:d}"
        return (
            shared(name, lambda folder: site_of("demo", folder, address, every_kind=every_kind))
            / "site"
        )

    return site


@pytest.fixture(scope="session")
def synthetic_site(shared: Shared) -> Path:
    """Return the site of 120 made-up records, to be read alone; its repository stands beside it."""

    def fill(folder: Path) -> None:
        synthetic.make_repository(folder / "repo", 120)
        build_site(Registry.open(folder / "repo"), folder / "site", snapshot=True)

    return shared("synthetic", fill) / "site"


def real_repository(corpora: Path, folder: Path) -> Path:
    """Import the collection of 190 real records into a folder `repo`."""
    root = Path(shutil.copytree(corpora / "orbit-2026-07", folder / "repo"))
    (root / "dot_orbit").rename(root / ".orbit")
    import_from(root / ".orbit", start=root)
    return root


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Return a running browser, for one module:
    others start event loops of their own, beside which its can't run.
    """
    with browsing.chromium() as running:
        yield running


@pytest.fixture
def tab(browser: Browser) -> Iterator[Tab]:
    """Return a tab of the browser that nothing was opened in before."""
    with browsing.tab(browser) as opened:
        yield opened


@pytest.fixture
def look(tab: Tab) -> Look:
    """Return a function that opens an address and gives the page as it is after loading,
    and what the console said.
    """

    def opened(url: str) -> tuple[str, str]:
        tab.console.clear()
        return tab.settled(url), "\n".join(tab.console)

    return opened
