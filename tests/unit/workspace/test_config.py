"""The configuration: what is read, what a mistake is answered with,
and what the file that `init` writes means.
"""

import re
from pathlib import Path

import pytest

from orbit_registry.errors import ConfigError
from orbit_registry.formats.yaml import load
from orbit_registry.operations.init import SETTINGS, config_text
from orbit_registry.workspace.config import (
    AdrConfig,
    Categories,
    Config,
    config_of,
    default_mapping,
    read_config,
)

HEAD = "format: orbit-registry\nschema_version: 1\n"


def read(folder: Path, text: str | bytes) -> Config:
    file = folder / "config.yaml"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_config(file)


def uncommented(text: str) -> str:
    lines = [re.sub(r"^# ( *[a-z_]+:|  )", r"\1", line) for line in text.splitlines()]
    return "\n".join(line for line in lines if not line.startswith("#")) + "\n"


def test_the_file_of_init_means_the_defaults(tmp_path: Path) -> None:
    text = config_text(AdrConfig("file", "docs/adr"))
    parsed, plain = read(tmp_path, text), read(tmp_path, HEAD)
    spelled = read(tmp_path, uncommented(text))

    names = [name for name in Config.__slots__ if name != "raw"]
    assert [getattr(parsed, name) for name in names] == [getattr(plain, name) for name in names]
    assert [getattr(spelled, name) for name in names] == [getattr(plain, name) for name in names]
    assert parsed.raw == load(HEAD)
    pairs = {
        key: value if isinstance(value, dict) else {"": None} for key, value in spelled.raw.items()
    }
    names = {f"{key}.{name}".rstrip(".") for key, value in pairs.items() for name in value}
    assert names == {*SETTINGS, *load(HEAD)}


@pytest.mark.parametrize(
    "detected",
    [
        AdrConfig("log", "docs/adr"),
        AdrConfig("file", "doc/adr"),
        AdrConfig("file", "docs/architecture/decisions"),
        AdrConfig("file", "x" * 100),
        AdrConfig("file", "docs/architecture decisions", (".decisions", "a: b", "#x", "[y]")),
        AdrConfig("file", "docs/决定"),
    ],
)
def test_a_detected_folder_reads_back(tmp_path: Path, detected: AdrConfig) -> None:
    """Names of folders that YAML would misread are quoted."""
    assert read(tmp_path, config_text(detected)).adr == detected


def test_user_keys_and_trailing_slashes_are_accepted(tmp_path: Path) -> None:
    config = read(
        tmp_path,
        HEAD + "x-team: platform\nadr: {folder: docs/adr/, folders: [old/]}\ndesign: design/\n",
    )

    assert (config.adr.folder, config.adr.folders, config.design) == (
        "docs/adr",
        ("old",),
        "design",
    )
    assert config.setting("x-team", "name") is None
    assert config.setting("adr", "folder") == "docs/adr/"
    assert config.setting("checks", "ignore") == []


MISTAKES = {
    "a newer version": (
        HEAD.replace("1", "2"),
        "schema_version 2 is newer than this tool knows (1)",
        "upgrade",
    ),
    "a misspelt key": (
        HEAD + "designs: docs\n",
        "config.yaml:3:1: unknown field `designs`",
        "did you mean `design`?",
    ),
    "a misspelt key below": (
        HEAD + "adr:\n  stile: log\n",
        "config.yaml:4:3: unknown field `stile`",
        "`style`",
    ),
    "several mistakes, each with its line and its remedy": (
        HEAD + "adr:\n  stile: log\ndesigns: docs\nduplicates: {error: 80}\n",
        "config.yaml:4:3: unknown field `stile` (did you mean `style`?); line 5: unknown field "
        "`designs` (did you mean `design`?); line 6: `duplicates.error` is 80",
        "correct",
    ),
    "the same mistake in two sections": (
        HEAD + "adr: {whatever: 1}\nduplicates: {whatever: 1}\n",
        "config.yaml:3:7: unknown field `whatever` (one of: style, folder, folders, log); line 4: "
        "unknown field `whatever` (one of: error, warning, meaning)",
        "correct",
    ),
    "a style nobody has": (
        HEAD + "adr: {style: wiki}\n",
        '`adr.style` is "wiki"',
        "one of: file, log",
    ),
    "a text for a list": (
        HEAD + "citations: docs\n",
        "`citations` is a text, not a list",
        "a line `- …`",
    ),
    "a threshold above one": (HEAD + "duplicates: {error: 80}\n", "`duplicates.error` is 80", ""),
    "a version that is a text": (
        "format: orbit-registry\nschema_version: one\n",
        "not a whole number",
        "",
    ),
    "no version": ("format: orbit-registry\n", "`schema_version` is missing", "add"),
    "a key twice": (
        HEAD + "inbox: local\ninbox: local\n",
        "config.yaml:4:1: the key `inbox` appears twice",
        "keep",
    ),
    "broken YAML": (HEAD + "adr: [\n", "config.yaml:4:1: not valid YAML", "brackets"),
    "bytes that are no text": (
        HEAD.encode() + b"project: \xff\n",
        "config.yaml:3:10: not valid UTF-8",
        "save",
    ),
    "categories that are no list": (
        HEAD + "learnings_config: {agent_category_mapping: {engineer: git}}\n",
        "config.yaml:3:",
        "",
    ),
    "a limit of zero": (
        HEAD + "learnings_config: {max_learnings_per_category: 0}\n",
        "config.yaml:3:",
        "",
    ),
    "a command that is no list": (HEAD + "tasks: {command: gh issue view}\n", "config.yaml:3:", ""),
    "two mistakes": (HEAD + "inbox: far\nprojekt: x\n", "`inbox` is", ""),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_reported_with_its_position(tmp_path: Path, name: str) -> None:
    text, words, hint = MISTAKES[name]

    with pytest.raises(ConfigError) as caught:
        read(tmp_path, text)

    assert words in caught.value.message
    assert hint in (caught.value.hint or "")
    assert str(tmp_path / "config.yaml") in caught.value.message


@pytest.mark.parametrize("folder", ["../adr", "/srv/adr", "a/../../b", "..", "a/..", "a\\b"])
@pytest.mark.parametrize("key", ["folder", "folders", "design", "schemas"])
def test_a_folder_outside_the_root_is_refused(tmp_path: Path, key: str, folder: str) -> None:
    setting = {
        "folder": f"adr: {{folder: {folder}}}",
        "folders": f"adr: {{folders: [{folder}]}}",
        "design": f"design: {folder}",
        "schemas": f"schemas: {folder}",
    }[key]

    with pytest.raises(ConfigError) as caught:
        read(tmp_path, f"{HEAD}{setting}\n")

    assert "config.yaml:3:" in caught.value.message


def test_a_path_with_a_line_break_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "two\nlines"
    folder.mkdir()

    with pytest.raises(ConfigError, match=r"two\\nlines/config\.yaml' has a line break") as caught:
        read(folder, HEAD)

    assert caught.value.hint == "rename the folder that has it"


def test_a_missing_file_is_said(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        read_config(tmp_path / "config.yaml")

    assert "no such file" in caught.value.message
    assert "orbit init" in str(caught.value.hint)


PAGE = Path(__file__).parents[3] / "docs/reference/brief.md"
REQUIRED = {
    "engineer": ("azure-devops", "git", "pytest", "general"),
    "tester": ("pytest", "testing", "general"),
    "architect": ("architecture", "infrastructure", "general"),
    "security-specialist": ("security", "vulnerabilities", "general"),
}


@pytest.mark.parametrize(
    "name", ["security-specialist", "Security Specialist", " SECURITY_SPECIALIST "]
)
def test_an_agent_name_is_found_in_any_spelling(name: str) -> None:
    assert config_of({}).learnings.categories_for(name) == Categories(
        REQUIRED["security-specialist"], True
    )


@pytest.mark.parametrize("name", ["", "  "])
def test_without_a_name_nothing_is_narrowed(name: str) -> None:
    assert config_of({}).learnings.categories_for(name) is None


def test_a_project_changes_one_agent_and_keeps_the_others(tmp_path: Path) -> None:
    mapping = "agent_category_mapping: {Engineer: [sql], judge: [], Pilot: [weather, general]}"
    learnings = read(tmp_path, f"{HEAD}learnings_config:\n  {mapping}\n").learnings

    assert learnings.categories_for("engineer") == Categories(("sql",), True)
    assert learnings.categories_for("judge") == Categories((), True)
    assert learnings.categories_for("pilot") == Categories(("weather", "general"), True)
    assert learnings.categories_for("tester") == Categories(REQUIRED["tester"], True)


def test_the_page_shows_the_shipped_table() -> None:
    rows = [f"| `{name}` | {', '.join(names)} |" for name, names in default_mapping().items()]
    assert [row for row in rows if row not in PAGE.read_text("utf-8").splitlines()] == []


@pytest.mark.parametrize(
    ("pattern", "part"),
    [
        ("(a+)+b", "(a+)+"),
        (r"((\w+)-){2,}", r"((\w+)-){2,}"),
        ("(a+){10}", "(a+){10}"),
        ("(?=(a+)*b)", "(a+)*"),
        (r"(?i)project\s+falcon", ""),
        (r"(\d{1,3}\.)+", ""),
        ("(?:foo|bar)+", ""),
        ("(?>a+)+b", ""),
        ("(a++)+b", ""),
        (r"\(a+\)+", ""),
        ("[(a+)]+", ""),
        ("(a+){2}", ""),
        ("[]+)*]+", ""),
    ],
)
def test_a_pattern_that_repeats_a_repetition_is_refused(
    tmp_path: Path, pattern: str, part: str
) -> None:
    section = f"{HEAD}site: {{publish: {{redact: ['{pattern}']}}}}"
    if not part:
        read(tmp_path, section)
        return
    with pytest.raises(ConfigError) as caught:
        read(tmp_path, section)
    assert f"repeats a repetition in {part!r}" in str(caught.value)
