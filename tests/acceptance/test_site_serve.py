"""`orbit site serve` as who writes sees it:
an open page of a real browser follows the files and says what is wrong.
"""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect
from tests.acceptance.browsing import Tab
from tests.acceptance.site_cases import copied
from tests.conftest import Git

ORBIT = (sys.executable, "-m", "orbit_registry.doors.cli.main")
WAIT_MS = 60_000
ADR = ".orbit/adrs/ADR-0003/adr.yaml"
BOX = "pre.orbit-live"


class Served:
    """A repository, the server of its site, and what that said."""

    def __init__(self, root: Path, server: subprocess.Popen[str]) -> None:
        self.root, self._server = root, server
        self.url = self.until("Ctrl-C").split()[0]

    def until(self, part: str) -> str:
        """Return the next line that holds `part`."""
        for line in self._server.stdout or ():
            if part in line:
                return line
        raise AssertionError(f"the server ended without a word of {part!r}")

    def interrupt(self) -> int:
        """Press Ctrl-C; return the exit code."""
        self._server.send_signal(signal.SIGINT)
        return self._server.wait(60)

    def write(self, name: str, text: str) -> str:
        before = (self.root / name).read_text("utf-8")
        (self.root / name).write_text(text, "utf-8")
        return before


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory, git: Git) -> Path:
    """Return a repository with a branch on which one decision has another title and one is gone."""
    root = copied("demo", tmp_path_factory.mktemp("served") / "repo")
    (root / ".gitignore").write_text("/.orbit/state/\n", "utf-8")
    git(root, "init", "--quiet")
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", "All")
    git(root, "checkout", "--quiet", "-b", "other")
    (root / ADR).write_text(
        (root / ADR).read_text("utf-8").replace("Nothing talks", "On the branch"), "utf-8"
    )
    shutil.rmtree(root / ".orbit/adrs/ADR-0005")
    git(root, "commit", "--quiet", "--all", "--message", "Other")
    git(root, "checkout", "--quiet", "main")
    return root


@pytest.fixture(scope="module")
def served(repo: Path) -> Iterator[Served]:
    """Serve the site of the repository; each test leaves the files as they were,
    and the last ends the server.
    """
    words = [*ORBIT, "site", "serve", "--port", "0"]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    # A shell starts what runs in its background with Ctrl-C ignored, and these tests with it, and
    # so their server.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    with subprocess.Popen(
        words, cwd=repo, env=environment, stdout=subprocess.PIPE, text=True
    ) as server:
        try:
            yield Served(repo, server)
        finally:
            server.kill()
            signal.signal(signal.SIGINT, before)


def test_an_open_page_follows_its_record(served: Served, tab: Tab) -> None:
    page = tab.go(f"{served.url}adrs/ADR-0003/")
    text = (served.root / ADR).read_text("utf-8")
    served.write(ADR, text.replace("Nothing talks", "Nobody talks"))
    expect(page.locator("h1")).to_contain_text("Nobody talks", timeout=WAIT_MS)
    served.write(ADR, "title: [\n")
    expect(page.locator(BOX)).to_contain_text(
        f"{ADR}:2:1: error ORB102 not valid YAML", timeout=WAIT_MS
    )
    served.until(f"{ADR}:2:1: error ORB102")
    served.write(ADR, text)
    expect(page.locator("h1")).to_contain_text("Nothing talks", timeout=WAIT_MS)
    expect(page.locator(BOX)).to_have_count(0)
    folder = served.root / ".orbit/adrs/ADR-0003"
    folder.rename(served.root / "aside")
    expect(page.locator("#orbit-lookup-text")).to_be_visible(timeout=WAIT_MS)
    (served.root / "aside").rename(folder)
    expect(page.locator("h1")).to_contain_text("Nothing talks", timeout=WAIT_MS)


def test_an_open_list_follows_what_comes_and_goes(served: Served, tab: Tab, git: Git) -> None:
    page = tab.go(f"{served.url}adrs/")
    words = [*ORBIT, "adr", "add", "--title", "Added while served", "--style", "file", "--yes"]
    subprocess.run(words, cwd=served.root, check=True, stdout=subprocess.DEVNULL)
    expect(page.locator("table.orbit-index")).to_contain_text("Added while served", timeout=WAIT_MS)
    old, new = (served.root / f".orbit/adrs/ADR-000{number}" for number in (5, 9))
    old.rename(new)
    (new / "adr.yaml").write_text(
        (new / "adr.yaml").read_text("utf-8").replace("ADR-0005", "ADR-0009"), "utf-8"
    )
    expect(page.locator("table.orbit-index a[href*='ADR-0009']").first).to_be_visible(
        timeout=WAIT_MS
    )
    expect(page.locator("table.orbit-index a[href*='ADR-0005']")).to_have_count(0)
    git(served.root, "add", "--all")
    git(served.root, "stash", "--quiet")
    git(served.root, "checkout", "--quiet", "other")
    expect(page.locator("table.orbit-index")).to_contain_text("On the branch", timeout=WAIT_MS)
    expect(page.locator("table.orbit-index")).not_to_contain_text("Added while served")
    page = tab.go(f"{served.url}documents/")
    (served.root / "docs/design/core/more").mkdir()
    (served.root / "docs/design/core/more/1_new.md").write_text("# Written while served\n", "utf-8")
    expect(page.locator(".md-content")).to_contain_text("Written while served", timeout=WAIT_MS)
    shutil.rmtree(served.root / "docs/design/core/more")
    git(served.root, "checkout", "--quiet", "main")


def test_where_nothing_can_be_built_the_last_site_stays(served: Served, tab: Tab) -> None:
    page = tab.go(f"{served.url}adrs/ADR-0002/")
    config = served.write(".orbit/config.yaml", "a: [\n")
    expect(page.locator(BOX)).to_contain_text("config.yaml:2:1: not valid YAML", timeout=WAIT_MS)
    served.until(f"not rebuilt: {served.root}")
    expect(page.locator("h1")).to_contain_text("Store sessions in files")
    titled = re.sub(r"(?m)^  title: .*\n", "", config).replace(
        "\nsite:\n", "\nsite:\n  title: Told while served\n"
    )
    (served.root / "mkdocs.yml").write_text("a: [\n", "utf-8")
    served.write(".orbit/config.yaml", titled)
    expect(page.locator(BOX)).to_contain_text("mkdocs.yml: ", timeout=WAIT_MS)
    (served.root / "mkdocs.yml").unlink()
    expect(page).to_have_title(re.compile("Told while served"), timeout=WAIT_MS)
    expect(page.locator(BOX)).to_have_count(0)
    served.write(".orbit/config.yaml", config)


def test_a_taken_port_is_said_before_anything_is_built(tmp_path: Path) -> None:
    repo = copied("demo", tmp_path / "repo")
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        words = [*ORBIT, "site", "serve", "--port", str(holder.getsockname()[1])]
        done = subprocess.run(
            words, cwd=repo, capture_output=True, text=True, timeout=120, check=False
        )
    assert done.returncode == 2
    assert "can't serve at port" in done.stderr
    assert "--port 0" in done.stderr
    assert not (repo / ".orbit/state/cache/site").exists()


def test_it_ends_in_peace(served: Served) -> None:
    port = int(served.url.rstrip("/").rpartition(":")[2])
    assert served.interrupt() == 0
    assert served.until("ended")
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind(("127.0.0.1", port))
    status = subprocess.run(
        ["git", "status", "--short"], cwd=served.root, capture_output=True, text=True, check=True
    )
    assert status.stdout == ""
