"""The path explorer in a real browser: the language of globs as everywhere,
and the records of `orbit match`.
"""

import json
import random
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest
import yaml
from playwright.sync_api import Page, expect
from tests.acceptance import browsing
from tests.acceptance.browsing import Tab
from tests.acceptance.conftest import DemoSite
from tests.bench import synthetic

from orbit_registry.formats.globs import Glob, parse_glob
from orbit_registry.matching import match as matches
from orbit_registry.model.fields import ID
from orbit_registry.registry import Registry
from orbit_registry.site.explorer import form_of

ORBIT = (
    sys.executable,
    "-c",
    "import sys; from orbit_registry.doors.cli.main import main; sys.exit(main())",
)
CASES = Path(__file__).parents[1] / "cases"
SCRIPT = Path(__file__).parents[2] / "site-overrides/assets/orbit/explorer.js"
MATCHES = "(cases) => cases.map(([form, path]) => globalThis.orbitPaths.matches(form, path))"
SQL = """SELECT a.path, m.id, m.pattern
    FROM asked AS a, LATERAL (FROM scope_match(a.path)) AS m JOIN ranked() AS r ON r.id = m.id ORDER BY r.rank"""  # noqa: E501
ALONE: dict[str, Any] = {"imports": {}, "cites": {}}
RECORD: dict[str, Any] = {"id": "L-00000", "uses": []}
APPLYING = """(asked) => asked.map(([data, paths]) => paths.map(
    (path) => globalThis.orbitPaths.applying(data, path).map(({ record, by }) => [record.id, by])))"""  # noqa: E501


@pytest.fixture
def script(tab: Tab) -> Iterator[Page]:
    tab.page.set_content("<!doctype html>")
    tab.page.add_script_tag(path=SCRIPT)
    yield tab.page
    assert tab.console == []


def test_a_browser_reads_globs_as_everything_else_does(script: Page) -> None:
    cases = yaml.safe_load((CASES / "globs.yaml").read_text("utf-8"))["cases"]
    forms = []
    for text, path, _ in cases:
        glob = parse_glob(text)
        assert isinstance(glob, Glob)
        forms.append([form_of(glob), path])

    answers = script.evaluate(MATCHES, forms)

    assert [
        (text, path)
        for (text, path, expected), answer in zip(cases, answers, strict=True)
        if answer is not expected
    ] == []
    assert len(cases) > 200


def test_a_browser_reads_scopes_as_everything_else_does(script: Page) -> None:
    cases = yaml.safe_load((CASES / "globs.yaml").read_text("utf-8"))["scopes"]
    questions = []
    for globs, path, _ in cases:
        forms = {
            text: form_of(glob) for text in globs if isinstance(glob := parse_glob(text), Glob)
        }
        questions.append(
            [{**ALONE, "globs": forms, "records": [{**RECORD, "globs": list(forms)}]}, [path]]
        )

    answers = script.evaluate(APPLYING, questions)

    assert answers == [[[["L-00000", by]] if by is not None else []] for _, _, by in cases]
    assert any(text.startswith("!") for globs, _, _ in cases for text in globs)


def paths_of(data: dict[str, Any], count: int) -> list[str]:
    """Return paths of the made-up repository's files, and others that begin as its scopes do."""
    chance = random.Random(3)
    starts = [
        re.sub(r"[*?\[{!].*", "", text) for text in chance.choices(list(data["globs"]), k=count)
    ]
    paths = [
        f"{start}{chance.choice(('x.py', 'a/b.ts', '', 'README.md', 'ü/日本.sql'))}"
        for start in starts
    ]
    return list(
        filter(None, dict.fromkeys([*paths[: count // 2], *synthetic.paths(count), *paths]))
    )[:count]


def test_browser_command_line_and_sql_agree(script: Page, synthetic_site: Path) -> None:
    registry = Registry.open(synthetic_site.parent / "repo")
    data = json.loads((synthetic_site / "paths.json").read_text("utf-8"))
    data["records"] = [
        row for row in data["records"] if row["group"] in ("must", "consider")
    ]  # what is pushed
    paths = paths_of(data, 500)

    (in_browser,) = script.evaluate(APPLYING, [[data, paths]])

    with duckdb.connect() as connection:
        connection.execute(f"ATTACH '{synthetic_site / 'snapshot.duckdb'}' AS s (READ_ONLY); USE s")
        connection.execute("CREATE TEMP TABLE asked AS SELECT unnest(?) AS path", [paths])
        rows = connection.execute(SQL).fetchall()
    in_sql: dict[str, list[list[str]]] = {path: [] for path in paths}
    for path, record_id, glob in rows:
        in_sql[path].append([record_id, glob])
    assert list(in_sql.values()) == in_browser
    assert sum(map(len, in_browser)) > 200
    richest = sorted(zip(paths, in_browser, strict=True), key=lambda pair: -len(pair[1]))
    for path, expected in [*richest[:30], *richest[::20]]:
        matched = matches.match(registry.workspace, [path])
        assert [match.row.values[ID] for match in matched] == [
            record_id for record_id, _ in expected
        ], path
        globs = [("/" + path, glob) for _, glob in expected]
        assert all(way in match.matched_by for match, way in zip(matched, globs, strict=True)), path
    path, expected = richest[0]
    words = [*ORBIT, "match", path, "--format", "json"]
    printed = json.loads(
        subprocess.run(words, cwd=registry.workspace.root, stdout=subprocess.PIPE).stdout
    )
    assert [match["id"] for match in printed["data"]["matches"]] == [
        record_id for record_id, _ in expected
    ]


def test_the_page_answers_its_address(tab: Tab, demo_site: DemoSite) -> None:
    site = demo_site()
    data = json.loads((site / "paths.json").read_text("utf-8"))
    record = next(row for row in data["records"] if row["group"] == "must")
    path = re.sub(r"[*?\[{!].*", "x", record["globs"][0])
    with browsing.served(site) as home:
        page = tab.go(f"{home}paths/?path={path}")
        expect(page.locator(".orbit-answer .orbit-id").first).to_have_text(record["id"])
        expect(page.locator(".orbit-said")).to_have_text(f"1 record applies to {path}")
        page.goto(f"{home}paths/?glob={record['globs'][0]}")
        expect(page.locator(".orbit-answer .orbit-id", has_text=record["id"])).to_be_visible()
        page.goto(home)
        expect(page.locator(".orbit-explorer[data-orbit-most='8']")).to_be_visible()
    assert tab.console == []
