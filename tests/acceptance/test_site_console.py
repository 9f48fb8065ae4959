"""The page that asks in SQL: DuckDB in a real browser, from npm's archives,
with the macros and no other host.
"""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.acceptance.browsing import Tab, served
from tests.acceptance.conftest import npm_of_the_user
from tests.acceptance.site_cases import copied

from orbit_registry.registry import Registry
from orbit_registry.site import console
from orbit_registry.site.build import build_site
from orbit_registry.site.output import SiteResult

WAIT_MS = 120_000
ANSWERED = re.compile(r" ms\.|DuckDB says")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = copied("demo", tmp_path / "repo")
    config = folder / ".orbit/config.yaml"
    config.write_text(
        config.read_text("utf-8").replace("\nsite:\n", "\nsite:\n  console: true\n"), "utf-8"
    )
    return folder


def built(root: Path) -> SiteResult:
    return build_site(Registry.open(root), root.parent / "site")


@pytest.fixture
def _archives(pytestconfig: pytest.Config) -> Iterator[None]:
    with npm_of_the_user(pytestconfig):
        yield


@pytest.mark.usefixtures("_archives")
def test_a_browser_answers_from_the_snapshot(root: Path, tab: Tab) -> None:
    done = built(root)
    missing = [problem.message for problem in done.diagnostics if problem.code == console.MISSING]
    assert not [message for message in missing if "hash" in message]
    if missing:
        pytest.skip(f"needs npm's DuckDB for the browser: {missing[0]}")
    with served(done.out) as url:
        page = tab.go(f"{url}query/?sql=SELECT 1 AS one")
        assert console.DOWNLOAD in page.inner_text("[data-orbit-start]")
        page.click("[data-orbit-start]")
        page.wait_for_selector("#orbit-sql", state="visible", timeout=WAIT_MS)

        def asked(sql: str) -> tuple[str, str]:
            page.locator(".orbit-said").evaluate("said => said.textContent = ''")
            page.fill("#orbit-sql", sql)
            page.press("#orbit-sql", "Control+Enter")
            page.locator(".orbit-said").filter(has_text=ANSWERED).wait_for(timeout=WAIT_MS)
            return page.inner_text(".orbit-said"), page.inner_text(".orbit-answer")

        assert page.input_value("#orbit-sql") == "SELECT 1 AS one"
        for code in page.locator("[data-orbit-sql]").all_inner_texts():
            status, _ = asked(code)
            assert "row" in status, code
        assert (
            asked("SELECT count(*) FROM records WHERE kind = 'adr';")[1].splitlines()[-1].isdigit()
        )
        assert "<img src=x>" in asked("SELECT '<img src=x>' AS \"<b>\", NULL AS nothing")[1]
        assert page.locator(".orbit-answer img").count() == 0
        assert "read-only" in asked("DELETE FROM records")[1]
        assert tab.requests == []
        refused: list[str | None] = []
        page.on("requestfailed", lambda request: refused.append(request.failure))
        asked("FROM read_csv('https://example.org/x.csv')")
        assert set(refused) == {"csp"}


@pytest.mark.parametrize(
    ("npm", "words"),
    [
        (None, "npm, which fetches @duckdb/duckdb-wasm, is not installed"),
        ("#!/bin/sh\necho no network >&2; exit 1\n", "no network"),
        ("#!/bin/sh\necho another > duckdb-duckdb-wasm-1.32.0.tgz\n", "its hash is another"),
    ],
    ids=["no-npm", "no-network", "another-archive"],
)
def test_what_keeps_the_console_out_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, npm: str | None, words: str
) -> None:
    cache = only_npm(tmp_path, monkeypatch, npm)
    problem = console.fetched()
    assert problem is not None
    assert words in problem.message
    assert str(cache) in str(problem.hint)


def test_a_build_goes_on_without_the_console(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    only_npm(tmp_path, monkeypatch, None)
    for _ in range(2):
        done = built(root)
        assert [problem.code for problem in done.diagnostics if problem.code == console.MISSING]
    page = (done.out / "query/index.html").read_text("utf-8")
    assert "FROM ranked()" in page
    assert "wasm-unsafe-eval" not in page
    assert not (done.out / console.FOLDER).exists()


def only_npm(folder: Path, monkeypatch: pytest.MonkeyPatch, npm: str | None) -> Path:
    """Let no program but git and this npm be found, and the cache hold damaged archives;
    return the cache.
    """
    programs, cache = folder / "bin", folder / "cache/orbit-registry"
    for path in (programs, cache):
        path.mkdir(parents=True)
    (programs / "git").symlink_to(str(shutil.which("git")))
    if npm is not None:
        (programs / "npm").write_text(npm, "utf-8")
        (programs / "npm").chmod(0o755)
    for archive in console.ARCHIVES:
        (cache / archive.file).write_bytes(b"cut off")
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
    monkeypatch.setenv("PATH", str(programs))
    return cache
