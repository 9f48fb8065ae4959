"""The site in a real browser: hostile text stays text, nothing breaks the policy, the theme works under it."""

from __future__ import annotations

import http.server
import re
import threading
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from tests.acceptance.site_cases import site_of

from orbit_registry.site.serve import SiteServer

CASES = Path(__file__).parents[1] / "cases" / "site"
FIRED = "data-fired="
POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy"[^>]*>')

Look = Callable[[str], tuple[str, str]]


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Serve a site made of hostile records and documents, as it is published."""
    server = SiteServer(site_of("hostile", tmp_path_factory.mktemp("hostile")), 0)
    yield server.url
    server.close()


@pytest.fixture(scope="module")
def unguarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Serve the hostile site with the policy taken out of every page: the markup alone has to hold."""
    site = site_of("hostile", tmp_path_factory.mktemp("unguarded"))
    for page in site.rglob("*.html"):
        page.write_text(POLICY.sub("", page.read_text("utf-8")), "utf-8")
    server = SiteServer(site, 0)
    yield server.url
    server.close()


PAGES = ["", "adrs/", "adrs/ADR-0001/", "learnings/", "learnings/L-ev1s0/", "documents/", "health/", "404.html"]
PAGES += ["design/evil/1_overview/", "design/evil/4_decisions/"]


def test_the_alarm_rings_where_text_would_run(look: Look, tmp_path: Path) -> None:
    """A page with the same text as raw markup sets the flag that the other tests look for."""
    (tmp_path / "a.html").write_text("<img src=x onerror=document.documentElement.dataset.fired=1>", "utf-8")
    assert FIRED in look((tmp_path / "a.html").as_uri())[0]


@pytest.mark.parametrize("page", PAGES)
def test_hostile_text_stays_text(hostile: str, look: Look, page: str) -> None:
    """Scripts, handlers, addresses and template syntax in every field of a record are shown, never run."""
    dom, console = look(hostile + page)
    assert "md-header" in dom
    assert not re.search(r"<html[^>]*data-fired", dom)
    assert "Content Security Policy" not in console
    assert not re.search(r"href=\"?\s*javascript:", dom, re.IGNORECASE)


@pytest.mark.parametrize("page", PAGES)
def test_the_policy_is_only_the_second_wall(unguarded: str, look: Look, page: str) -> None:
    """Without the policy nothing runs either."""
    dom, _ = look(unguarded + page)
    assert "md-header" in dom
    assert not re.search(r"<html[^>]*data-fired", dom)


def test_template_syntax_is_shown_as_written(hostile: str, look: Look) -> None:
    """Neither the theme nor our own templates evaluate what a record says."""
    dom, _ = look(f"{hostile}adrs/ADR-0001/")
    assert "{{ config.items() }}" in dom
    assert "{{ 7*7 }}" in dom
    assert "@@orbit:title@@" in dom


def test_no_heading_takes_an_id_of_the_theme(hostile: str, look: Look) -> None:
    """The theme's switches are where it looks for them, whatever a heading is called."""
    for page in ("adrs/ADR-0001/", "design/evil/1_overview/"):
        assert re.findall(r'<(\w+)[^>]*\sid="__search"', look(hostile + page)[0]) == ["input"]


@pytest.mark.parametrize(
    "page", ["", "adrs/", "adrs/ADR-0001/", "learnings/L-7k3fq/", "design/core/1_overview/", "health/", "404.html"]
)
def test_the_theme_works_under_the_policy(look: Look, tmp_path_factory: pytest.TempPathFactory, page: str) -> None:
    """Every type of page loads without an error in the console, and its scripts ran."""
    site = tmp_path_factory.getbasetemp() / "demo-site"
    if not site.is_dir():
        site_of("demo", tmp_path_factory.mktemp("demo")).rename(site)
    server = SiteServer(site, 0)
    try:
        dom, console = look(server.url + page)
    finally:
        server.close()
    assert console == ""
    assert re.search(r'<html[^>]*class="js', dom)


def test_a_site_works_below_a_path(look: Look, tmp_path: Path) -> None:
    """Nothing on a page assumes that the site is its host's only one."""
    site_of("demo", tmp_path)
    (tmp_path / "site").rename(tmp_path / "why")
    handler = partial(http.server.SimpleHTTPRequestHandler, directory=str(tmp_path))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        dom, console = look(f"http://127.0.0.1:{server.server_port}/why/adrs/ADR-0002/")
    finally:
        server.shutdown()
        server.server_close()
    assert console == ""
    assert re.search(r'<html[^>]*class="js', dom)


def test_an_earlier_name_arrives_without_scripts(look: Look, tmp_path: Path) -> None:
    """A browser that opens the page of a legacy id ends on the record's page."""
    server = SiteServer(site_of("demo", tmp_path), 0)
    try:
        dom, _ = look(f"{server.url}legacy/core/ADR-001/")
    finally:
        server.close()
    assert "Replaced by a later decision" in dom
