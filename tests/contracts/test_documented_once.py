"""Each name that a user types or reads has one home in the docs:
a heading or a row, and no home outlives its name.
"""

import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import fields
from itertools import chain
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

from orbit_registry.checks.check import all_checks
from orbit_registry.doors.cli.main import HIDDEN, orbit
from orbit_registry.doors.mcp.tools import PREFIX, available_tools
from orbit_registry.hook import events
from orbit_registry.seams import Extra, extras
from orbit_registry.workspace.config import config_schema
from reference_pages import HELP

ROOT = Path(__file__).parents[2]
DOCS, TOOLING = ROOT / "docs", ROOT / "tooling"
PAGES = {
    page: page.read_text("utf-8")
    for page in DOCS.rglob("*.md")
    if not {"design", "examples"} & {*page.parts}
}
TABLE = re.compile(r"(?m)^\| (\w+) \|.*\n\|[-|]+\|\n((?:\|.*\n)+)")
CREATED = r"CREATE (?:OR REPLACE )?(?:(?:TABLE|VIEW) (\w+)|MACRO (\w+)\(.*\) AS TABLE)"
WIDTH = 80


def headings(pattern: str) -> Counter[str]:
    return Counter(
        name for text in PAGES.values() for name in re.findall(rf"(?m)^#+ {pattern}$", text)
    )


def rows(column: str, word: str = r"`([^`]+)`") -> Counter[str]:
    """Return the names in the first cells of all tables with such a first column."""
    tables = "".join(
        rows for text in PAGES.values() for title, rows in TABLE.findall(text) if title == column
    )
    cells = re.findall(r"(?m)^\| ([^|]+) \|", tables)
    return Counter(name for cell in cells for name in re.findall(word, cell))


def commands(command: click.Command, path: str = "orbit") -> Iterator[tuple[str, click.Command]]:
    context = click.Context(command, info_name=path)
    names = (
        command.list_commands(context)
        if isinstance(command, click.Group) and path != "orbit new"
        else ()
    )
    for name in names:
        inner = command.get_command(context, name) if isinstance(command, click.Group) else None
        if inner is not None and (name not in HIDDEN if path == "orbit" else not inner.hidden):
            yield f"{path} {name}", inner
            yield from commands(inner, f"{path} {name}")


def settings(forms: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, form in forms.items():
        yield prefix + name, form
        yield from settings(form.get("properties", {}), f"{prefix}{name}.")


def sources(pattern: str, folder: str = "") -> set[str]:
    """Return what a pattern finds in the packages."""
    texts = [
        file.read_text("utf-8")
        for file in (TOOLING / folder).rglob("*")
        if file.suffix in (".py", ".sql")
    ]
    return {"".join(groups) for text in texts for groups in re.findall(pattern, text)}


def tables() -> set[str]:
    """Return the tables, views and macros of the snapshot, those of extras too."""
    added = chain.from_iterable(extra.tables for extra in extras())
    return {*sources(CREATED, "orbit_registry/snapshot"), *added}


NAMES = {
    "commands": (headings("`(orbit [a-z -]+)`"), [path for path, _ in commands(orbit)]),
    "checks": (headings(r"(ORB\d+)"), [check.code for check in all_checks()]),
    "settings": (
        rows("setting", r"^`([a-z_.]+)`$"),
        dict(settings(config_schema().document["properties"])),
    ),
    "variables": (rows("variable"), sources(r'"(ORBIT_[A-Z_]+)"') - {"ORBIT_COMMAND"}),
    "tools": (rows("tool"), [name for name in available_tools() if not name.startswith(PREFIX)]),
    "events": (rows("event"), events.NAMES),
    "tables": (headings(r"([a-z_]+)(?:\(.*\))?"), tables()),
    "seams": (rows("seam"), [each.name for each in fields(Extra)]),
    "schemas": (
        rows("schema", r"\[([^]]+)\]"),
        [file.name for file in (DOCS / "schemas").glob("*.json")],
    ),
}


@pytest.mark.parametrize("what", NAMES)
def test_each_name_is_documented_once(what: str) -> None:
    homes, names = NAMES[what]
    assert homes == Counter([*names])


def test_no_line_of_help_is_cut() -> None:
    for path, command in (("orbit", orbit), *commands(orbit)):
        width: Any = {
            "terminal_width": WIDTH,
            "max_content_width": WIDTH,
            "help_option_names": HELP,
        }
        lines = (
            command.get_help(click.Context(command, info_name=path, **width))
            .partition("\n\n")[2]
            .splitlines()
        )
        cut = [line for line in lines if line.endswith("...")]
        assert [line for line in cut if line.strip() not in (command.help or "")] == [], path


def links(page: Path) -> Iterator[Path]:
    for target in re.findall(r"\]\(([^)#\s]+\.md)", PAGES[page]):
        yield Path(os.path.normpath(page.parent / target))


def test_every_page_is_two_clicks_from_the_first() -> None:
    first = DOCS / "index.md"
    near = {page for page in links(first) if page in PAGES}
    assert {*PAGES} - {first, *near, *(page for source in near for page in links(source))} == set()


def test_the_navigation_names_every_page() -> None:
    text = (ROOT / "mkdocs.yml").read_text("utf-8")
    assert [page for page in PAGES if f" {page.relative_to(DOCS).as_posix()}\n" not in text] == []
    nav = yaml.safe_load(text.partition("\nnav:")[2])
    reference = next(entry["Reference"] for entry in nav if "Reference" in entry)
    assert len(reference) <= 13  # its own page, and twelve entries


@pytest.mark.parametrize(
    "guide", sorted((DOCS / "guides").glob("*.md")), ids=lambda guide: guide.stem
)
def test_a_guide_is_short_and_leads_on(guide: Path) -> None:
    assert len(PAGES[guide].splitlines()) <= 125
    assert "\n## Read on\n" in PAGES[guide]
