"""Reference pages say what the program does: they are made from it, or held to it."""

import json
import re
from pathlib import Path
from typing import Any

import click
import pytest
from tests.bench.measurements import MEASUREMENTS
from tests.bench.report import RECALL
from tests.contracts.test_documented_once import DOCS, PAGES, ROOT, settings

from orbit_import_orbit.files import LONGEST_SUMMARY
from orbit_measure.prove import MEASURES
from orbit_registry.agents.agent import JsonHooks, hook_agents, load_agent
from orbit_registry.doors.cli.main import orbit
from orbit_registry.hook import client
from orbit_registry.model.freshness import WINDOWS
from orbit_registry.model.kind import load_kinds
from orbit_registry.model.reach import MIN_RELEVANCE
from orbit_registry.workspace.config import config_schema, defaults
from reference_pages import reference

COMMAND = re.compile(r"(?m)(?:^(?:\$ )?|`)orbit(?:-registry)? ([a-z][^`\n]*)")
"""A command in a block of code or in a sentence."""
END = re.compile(r"\s(?:#|--|\||&&|;|…)(?=\s|$)|;")


def test_generated_pages_are_what_the_program_says() -> None:
    folder = DOCS / "reference"
    pages = {
        page.relative_to(folder).as_posix(): page.read_text("utf-8")
        for page in folder.glob("commands/*.md")
    }
    assert {**pages, "python.md": (folder / "python.md").read_text("utf-8")} == reference()


def test_the_table_of_proof_has_each_measure() -> None:
    text = (DOCS / "reference/proof.md").read_text("utf-8")
    _, _, table = (
        text.partition("<!-- proof:begin -->\n")[2]
        .partition("<!-- proof:end -->\n")[0]
        .partition("\n\n")
    )
    rows = [
        tuple(cell.strip() for cell in line.split("|")[1:3])
        for line in table.strip().splitlines()[2:-1]
    ]
    assert rows == [(name, better) for name, (better, _) in MEASURES.items()]


@pytest.mark.parametrize(
    "page",
    sorted([ROOT / "README.md", *PAGES, *ROOT.glob("tooling/**/skills/*/SKILL.md")]),
    ids=lambda page: f"{page.parent.name}/{page.name}",
)
def test_every_command_that_a_page_shows_exists(page: Path) -> None:
    assert [
        entry[:80] for entry in COMMAND.findall(page.read_text("utf-8")) if misspelled(entry)
    ] == []


def test_no_paragraph_is_swallowed_by_a_table() -> None:
    """A line right below a table's last row would be another row of it on the site."""
    pages = {
        page: re.sub(r"(?ms)^```.*?^```", "", page.read_text("utf-8"))
        for page in DOCS.rglob("*.md")
    }
    assert [
        (page.name, printed)
        for page, text in pages.items()
        for printed in re.findall(r"(?m)^\|.*\n([^|\n].*)", text)
    ] == []


def test_a_command_that_is_not_there_is_seen() -> None:
    assert misspelled("learning archive L-7k3fq --tag x") == ["archive"]
    assert misspelled("adr add --titel X --tag y # --not") == ["--titel"]


def misspelled(line: str) -> list[str]:
    """Return the words of a command that are neither a command nor an option of it."""
    command: click.Command = orbit
    names, *options = re.split(r"\s(?=[^a-z\s]|[a-z-]*[^a-z\s-])", END.split(line)[0], maxsplit=1)
    for word in names.split():
        if isinstance(command, click.Group):
            inner = command.get_command(click.Context(command, info_name="orbit"), word)
            if inner is None:
                return [word]
            command = inner
    # A group that is called without a command of its own has a usual one.
    suggestion = [command]
    if isinstance(command, click.Group):
        context = click.Context(command, info_name="orbit")
        inner_names = command.list_commands(context)
        suggestion += filter(None, (command.get_command(context, name) for name in inner_names))

    existing = {
        name
        for entry in suggestion
        for option in entry.params
        for name in (*option.opts, *option.secondary_opts)
    }
    used = re.findall(r"(?<!\S)--[a-z][a-z-]*", " ".join(options))
    return [word for word in used if word not in {*existing, "--help"}]


def shown(value: Any) -> str:
    return f"`{value}`" if isinstance(value, str) and value else f"`{json.dumps(value)}`"


def test_every_setting_and_its_default_are_on_the_page() -> None:
    page = (DOCS / "reference/configuration.md").read_text("utf-8")
    rows = [
        (key, cell.strip())
        for key, cell in re.findall(r"^\| `([a-z_.]+)` \| (.*?) ?\|", page, re.MULTILINE)
    ][2:]
    forms = dict(settings(config_schema().document["properties"]))
    del forms["format"], forms["schema_version"]

    assert [key for key, _ in rows] == [*forms]
    assert [
        (key, cell)
        for key, cell in rows
        if "`" in cell and cell != shown(forms[key].get("default"))
    ] == []
    assert [
        key
        for key, cell in rows
        if "`" not in cell and forms[key].get("default") not in (None, "", {})
    ] == ["learnings_config.agent_category_mapping"]


def test_every_setting_has_a_default_and_is_described() -> None:
    forms = dict(settings(config_schema().document["properties"]))
    own_names = {"format", "schema_version"}

    assert [
        key for key, form in forms.items() if key not in own_names and not form.get("description")
    ] == []
    assert [
        key
        for key, form in forms.items()
        if key not in own_names and ("default" in form) is ("properties" in form)
    ] == []
    assert config_schema().is_valid({"format": "orbit-registry", "schema_version": 1, **defaults()})


def test_figures_of_modules_equal_those_of_the_schema() -> None:
    freshness = defaults()["freshness"]
    longest = {kind: load_kinds()[kind].schema.longest("summary") for kind in ("adr", "learning")}

    assert defaults()["rules"]["min_relevance"] == MIN_RELEVANCE
    assert (freshness["stable_days"], freshness["volatile_days"]) == (
        WINDOWS["stable"],
        WINDOWS["volatile"],
    )
    assert longest["learning"] == LONGEST_SUMMARY
    assert f"edits this code ({longest['adr']} characters)." in reference()["commands/adr.md"]


BENCHMARKS = Path(__file__).parents[2] / "docs/explanation/benchmarks.md"


def test_the_table_of_costs_has_measurements_alone() -> None:
    figures, _, by_hand = BENCHMARKS.read_text("utf-8").partition(f"\n{RECALL}\n")
    costs = figures.partition("\n## Costs\n")[2].partition("\n## ")[0]
    names = {measurement.name for measurement in MEASUREMENTS}
    assert {row.split("|")[1].strip() for row in costs.splitlines()[4:] if row} <= names
    assert "\n## Measured by hand\n" in by_hand


HOOKS = (ROOT / "docs/reference/hooks.md").read_text("utf-8")
each_agent = pytest.mark.parametrize("name", hook_agents())


@each_agent
def test_an_agent_stands_on_the_page(name: str) -> None:
    agent = load_agent(name)
    _, _, section = HOOKS.partition(f"\n## {agent.title}\n")
    section = section.partition("\n## ")[0]
    evidence = f"{'Proven' if agent.proven else 'Unproven'}: {agent.evidence}."
    assert evidence in " ".join(section.split())
    for scope, file in agent.settings.items():
        assert f"| `{scope}` | `{file.path}`" in section
        assert not file.home or f"`{file.home}`" in section
        if isinstance(file.format, JsonHooks):
            assert [event for event in file.format.events if f"`{event}`" not in section] == []


@each_agent
def test_an_agent_has_recorded_payloads(name: str) -> None:
    module = client.load_agent(name)
    assert callable(module.read)
    assert callable(module.reply)
    if any(isinstance(file.format, JsonHooks) for file in load_agent(name).settings.values()):
        assert list((ROOT / "tests/cases/hooks" / name).glob("*.json")) != []
