"""A table of paths, asked at each door: which records in force apply to a file."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
import yaml
from playwright.sync_api import Browser, Page, expect
from tests.acceptance import browsing
from tests.acceptance.conftest import orbit
from tests.acceptance.hook.conftest import run_client
from tests.acceptance.hook.replies import ids as ids_of
from tests.files import commit, write

from orbit_registry.matching.explain import explain
from orbit_registry.matching.match import current_index, match
from orbit_registry.model import fields
from orbit_registry.registry import Registry
from orbit_registry.site.build import build_site
from orbit_registry.snapshot.export import export_snapshot

TABLE = yaml.safe_load((Path(__file__).parents[1] / "cases/path_doors.yaml").read_text("utf-8"))
CASES = [pytest.param(path, ids, id=what) for what, path, ids in TABLE["cases"]]
ALL = [pytest.param(path, ids, id=what) for what, path, ids in TABLE["all"]]
DOCUMENT = "# {}. {}\n\n## Status\n\n{}\n\n## Context\n\nDisks fail.\n\n## Decision\n\nWe do.\n"
SQL = "SELECT id FROM scope_match(?) WHERE phase = 'live' ORDER BY id"
EVERY = "SELECT id FROM scope_match(?) ORDER BY id"
IN_FORCE = [f"ADR-{row[0]:04}" for row in TABLE["records"] if row[2] == "Accepted"]
COUNTS = ("No decision names", "1 record applies", "2 records apply")
SHOWN = ("pushed", "rule", "link")


@pytest.fixture(scope="module")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Registry:
    """Return the project of the table, committed."""
    root = tmp_path_factory.mktemp("paths") / "project"
    root.mkdir()
    subprocess.run(["git", "init", "-q", root], check=True)
    for number, title, status, _ in TABLE["records"]:
        slug = title.lower().replace(" ", "-")
        write(root, f"docs/adr/{number:04}-{slug}.md", DOCUMENT.format(number, title, status))
    for path, text in TABLE["files"].items():
        write(root, path, text)
    orbit(root, "init", "--yes")
    orbit(root, "import", "docs/adr")
    for number, *_, scope in TABLE["records"]:
        if scope:
            file = root / f".orbit/adrs/ADR-{number:04}/adr.yaml"
            data = {**yaml.safe_load(file.read_text("utf-8")), "scope": scope}
            file.write_text(yaml.safe_dump(data, sort_keys=False), "utf-8")

    commit(root)
    return Registry.open(root)


@pytest.fixture(scope="module")
def exported(registry: Registry) -> Path:
    file = registry.workspace.root.parent / "knowledge.duckdb"
    export_snapshot(registry.workspace, file)
    return file


@pytest.fixture(scope="module")
def lakes(registry: Registry) -> Path:
    """Return a folder with a lake that the project pushed, and one that collected its code."""
    pytest.importorskip("fsspec", reason="the fleet extra is not installed")
    root = registry.workspace.root
    orbit(root, "fleet", "push", "../pushed", "--repository", "project")
    write(root.parent, "list.yaml", "- {address: project, name: project}\n")
    words = ("--code", "--cache", "cache")
    orbit(root.parent, "fleet", "collect", "list.yaml", "--lake", "collected", *words)
    return root.parent


@pytest.mark.parametrize("lake", ["pushed", "collected"])
@pytest.mark.parametrize(("path", "ids"), CASES)
def test_explain_of_a_lake(lakes: Path, lake: str, path: str, ids: list[str]) -> None:
    words = ("fleet", "explain", path, "--repository", "project", "--lake", lake)
    rows = json.loads(orbit(lakes, *words, "--format", "json"))["data"]
    assert [row["id"] for row in rows] == ids


@pytest.mark.parametrize(("path", "ids"), CASES)
def test_match(registry: Registry, path: str, ids: list[str]) -> None:
    assert sorted(entry.row.id for entry in match(registry.workspace, [path])) == ids


@pytest.mark.parametrize(("path", "ids"), CASES)
def test_the_hook(registry: Registry, path: str, ids: list[str]) -> None:
    root = registry.workspace.root
    current_index(registry.workspace)
    call = {"hook_event_name": "PreToolUse", "session_id": path.replace("/", "-")}
    edit = {"tool_name": "Edit", "tool_input": {"file_path": f"{root}/{path}"}}
    reply = run_client(root, json.dumps({**call, **edit, "cwd": str(root)}).encode())
    assert sorted(ids_of(json.loads(reply or "{}"))) == ids


@pytest.mark.parametrize(("path", "ids"), CASES)
def test_explain(registry: Registry, path: str, ids: list[str]) -> None:
    entries = explain(registry.workspace, path)
    assert sorted(entry.row.id for entry in entries if entry.key in SHOWN) == ids


@pytest.mark.parametrize(("path", "ids"), CASES)
def test_search(registry: Registry, path: str, ids: list[str]) -> None:
    printed = orbit(registry.workspace.root, "search", "--path", path, "--format", "json")
    hits = json.loads(printed)["data"]["hits"]
    assert sorted(hit["id"] for hit in hits) == ids


@pytest.mark.parametrize(("path", "ids"), ALL)
def test_what_is_not_in_force_is_there_on_request(
    registry: Registry, path: str, ids: list[str]
) -> None:
    root = registry.workspace.root
    hits = json.loads(orbit(root, "search", "--path", path, "--all", "--format", "json"))
    assert sorted(hit["id"] for hit in hits["data"]["hits"]) == ids

    matches = match(registry.workspace, [path], everything=True)
    assert sorted(entry.row.values[fields.ID] for entry in matches) == ids

    with duckdb.connect(str(registry.sync().path), read_only=True) as connection:
        rows = connection.execute(EVERY, [path]).fetchall()
    assert [row[0] for row in rows] == ids


@pytest.mark.parametrize(("path", "ids"), CASES)
def test_sql(registry: Registry, path: str, ids: list[str]) -> None:
    with duckdb.connect(str(registry.sync().path), read_only=True) as connection:
        rows = connection.execute(SQL, [path]).fetchall()
    assert [row[0] for row in rows] == ids


@pytest.mark.parametrize(("path", "ids"), CASES)
def test_an_export(exported: Path, path: str, ids: list[str]) -> None:
    with duckdb.connect(str(exported), read_only=True) as connection:
        rows = connection.execute(SQL, [path]).fetchall()
    assert [row[0] for row in rows] == ids


@pytest.fixture(scope="module")
def answers(
    registry: Registry, browser: Browser, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Page]:
    """Return the site's page By path."""
    site = tmp_path_factory.mktemp("site")
    build_site(registry, site, snapshot=False)
    with browsing.served(site) as home, browsing.tab(browser) as tab:
        yield tab.go(f"{home}paths/")
        assert tab.console == []


@pytest.mark.parametrize(("path", "ids"), CASES)
def test_the_site(answers: Page, path: str, ids: list[str]) -> None:
    answers.fill(".orbit-explorer input", path)
    expect(answers.locator(".orbit-said")).to_contain_text(path)
    expect(answers.locator(".orbit-said")).to_contain_text(COUNTS[len(ids)])
    shown = answers.locator(".orbit-answer > .orbit-found .orbit-id").all_inner_texts()
    assert sorted(set(shown) & {*ids, *IN_FORCE}) == ids
