"""What the configuration says of learnings for agents: the shipped table, what a project changes, what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from orbit_registry.errors import ConfigError
from orbit_registry.registry import Registry
from orbit_registry.workspace.config import Categories, Config, config_of, default_mapping, read_config

HEAD = "format: orbit-registry\nschema_version: 1\n"
PAGE = Path(__file__).parents[3] / "docs/reference/brief.md"
REQUIRED = {
    "engineer": ("azure-devops", "git", "pytest", "general"),
    "tester": ("pytest", "testing", "general"),
    "architect": ("architecture", "infrastructure", "general"),
    "security-specialist": ("security", "vulnerabilities", "general"),
}


def read(folder: Path, text: str) -> Config:
    """Return the configuration that a text is."""
    file = folder / "config.yaml"
    file.write_text(HEAD + text, "utf-8")
    return read_config(file)


@pytest.mark.parametrize("said", ["security-specialist", "Security Specialist", " SECURITY_SPECIALIST "])
def test_a_name_is_known_however_it_is_written(said: str) -> None:
    """Case and the sign between words make no difference."""
    assert config_of({}).learnings.categories_for(said) == Categories(REQUIRED["security-specialist"], True)


@pytest.mark.parametrize("said", ["", "  "])
def test_without_a_name_nothing_is_narrowed(said: str) -> None:
    """No categories is something else than none of them."""
    assert config_of({}).learnings.categories_for(said) is None


def test_a_project_changes_one_agent_and_keeps_the_others(tmp_path: Path) -> None:
    """An agent that is named gets exactly what is written, nothing too; one of its own is known from then on."""
    mapping = "agent_category_mapping: {Engineer: [sql], judge: [], Pilot: [weather, general]}"
    found = read(tmp_path, f"learnings_config:\n  {mapping}\n").learnings

    assert found.categories_for("engineer") == Categories(("sql",), True)
    assert found.categories_for("judge") == Categories((), True)
    assert found.categories_for("pilot") == Categories(("weather", "general"), True)
    assert found.categories_for("tester") == Categories(REQUIRED["tester"], True)


def test_the_limits_are_what_was_agreed(tmp_path: Path) -> None:
    """Five a category, a thousand tokens, five minutes; each can be set."""
    plain = config_of({}).learnings
    assert (plain.per_category, plain.tokens, plain.ttl_seconds) == (5, 1000, 300)
    said = "learnings_config: {max_learnings_per_category: 2, max_total_tokens: 300, cache_ttl_seconds: 0}\n"
    found = read(tmp_path, said).learnings
    assert (found.per_category, found.tokens, found.ttl_seconds) == (2, 300, 0)


@pytest.mark.parametrize(
    "said",
    [
        "learnings_config: {agent_mapping: {}}",
        "learnings_config: {agent_category_mapping: [engineer]}",
        "learnings_config: {agent_category_mapping: {engineer: git}}",
        "learnings_config: {agent_category_mapping: {engineer: [git, git]}}",
        "learnings_config: {agent_category_mapping: {engineer: ['']}}",
        "learnings_config: {max_learnings_per_category: 0}",
        "learnings_config: {max_total_tokens: 1.5}",
        "learnings_config: {cache_ttl_seconds: -1}",
        "tasks: {command: gh issue view}",
        "tasks: {timeout_seconds: 0}",
    ],
)
def test_a_wrong_setting_is_refused(tmp_path: Path, said: str) -> None:
    """An unknown key and a value of the wrong form stop every command at their place."""
    with pytest.raises(ConfigError) as caught:
        read(tmp_path, f"{said}\n")
    assert "config.yaml:3:" in caught.value.message


def test_init_writes_every_agent_and_a_fresh_project_is_clean(git_repo: Path) -> None:
    """The shipped table stands in the new file; with its `#` taken away it means the same, and nothing is found."""
    Registry.init(git_repo)
    file = git_repo / ".orbit/config.yaml"
    text = file.read_text("utf-8")
    lines = [f"#     {name}: [{', '.join(names)}]\n" for name, names in default_mapping().items()]
    assert [line for line in lines if line not in text] == []
    assert Registry.open(git_repo).check().diagnostics == ()

    start = text.index("# learnings_config:")
    own = "".join(line.removeprefix("# ") for line in text[start:].split("\n\n")[0].splitlines(keepends=True))
    file.write_text(f"{text[:start]}{own}\n", "utf-8")
    assert read_config(file).learnings == config_of({}).learnings
    assert Registry.open(git_repo).check().diagnostics == ()


def test_the_page_shows_the_shipped_table() -> None:
    """What is written about the table is the table."""
    rows = [f"| `{name}` | {', '.join(names)} |" for name, names in default_mapping().items()]
    assert [row for row in rows if row not in PAGE.read_text("utf-8").splitlines()] == []
