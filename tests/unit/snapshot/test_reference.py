"""The reference page and the file say the same:
tables, views, macros, columns, types, and examples that run.
"""

import re
from pathlib import Path
from typing import Any

import duckdb
import pytest
from tests.unit.snapshot.conftest import made_project

PAGE = (Path(__file__).parents[3] / "docs" / "reference" / "snapshot.md").read_text("utf-8")
SECTIONS = {
    heading: text
    for part in re.split(r"(?m)^## ", PAGE)
    if part.startswith(("Tables", "Views", "Macros"))
    for heading, text in re.findall(r"(?ms)^### ([^\n]+)\n(.*?)(?=^### |\Z)", part)
}
EXAMPLE_CALLS = {
    "scope_match": "scope_match('a')",
    "ranked": "ranked()",
    "search": "search('a')",
    "resolve_id": "resolve_id('a')",
    "vote_scores": "vote_scores(1)",
}


def name_of(heading: str) -> str:
    return heading.partition("(")[0]


@pytest.fixture(scope="module")
def connection(tmp_path_factory: pytest.TempPathFactory) -> Any:
    project = made_project(tmp_path_factory.mktemp("reference"))
    project.learning("aaaaa", scope={"paths": ["src/**"], "tags": ["x"]})
    with duckdb.connect(str(project.build().path), read_only=True) as opened:
        yield opened


def test_every_table_view_and_macro_is_described(connection: Any) -> None:
    tables = connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()
    views = connection.execute("SELECT view_name FROM duckdb_views() WHERE NOT internal").fetchall()
    macros = connection.execute(
        "SELECT DISTINCT function_name FROM duckdb_functions() WHERE NOT internal AND "
        "function_type = 'table_macro'"
    ).fetchall()
    assert {name_of(heading) for heading in SECTIONS} == {
        name for (name,) in (*tables, *views, *macros)
    }


@pytest.mark.parametrize("heading", SECTIONS, ids=name_of)
def test_a_section_lists_the_columns(connection: Any, heading: str) -> None:
    name = name_of(heading)
    described = connection.execute(f"DESCRIBE FROM {EXAMPLE_CALLS.get(name, name)}").fetchall()
    row = r"(?m)^\| `([a-z0-9_]+)` \| ([A-Z]+(?:\[\])?) \| (\S.*) \|$"
    listed = re.findall(row, SECTIONS[heading])
    assert [(column, kind) for column, kind, _ in listed] == [(row[0], row[1]) for row in described]


@pytest.mark.parametrize("heading", SECTIONS, ids=name_of)
def test_a_sections_example_runs(connection: Any, heading: str) -> None:
    examples = re.findall(r"(?ms)^```sql\n(.*?)^```", SECTIONS[heading])
    assert examples
    for example in examples:
        assert name_of(heading) in example
        connection.execute(example).fetchall()


def test_meta_has_the_names_the_page_lists(connection: Any) -> None:
    names = re.search(r"(?m)^\| `name` \| VARCHAR \| (.*) \|$", PAGE)
    assert names is not None
    result = connection.execute("SELECT name FROM meta").fetchall()
    assert set(re.findall(r"`(\w+)`", names[1])) == {name for (name,) in result}
