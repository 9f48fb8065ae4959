"""The configuration: what is read, what a mistake is answered with, and what the file that `init` writes means."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from orbit_registry.errors import ConfigError
from orbit_registry.formats.yaml import load
from orbit_registry.operations.init import config_text
from orbit_registry.workspace.config import AdrConfig, Config, defaults, read_config

HEAD = "format: orbit-registry\nschema_version: 1\n"


def read(folder: Path, text: str | bytes) -> Config:
    """Return what a configuration with this text means."""
    file = folder / "config.yaml"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_config(file)


def uncommented(text: str) -> str:
    """Return a new configuration with every default written out as a setting."""
    lines = [re.sub(r"^# ( *[a-z_]+:|  )", r"\1", line) for line in text.splitlines()]
    return "\n".join(line for line in lines if not line.startswith("#")) + "\n"


def test_the_least_configuration_means_the_defaults(tmp_path: Path) -> None:
    """Two lines are enough."""
    config = read(tmp_path, HEAD)

    assert (config.project, config.schemas, config.design, config.inbox) == (
        "",
        ".orbit/schemas",
        "docs/design",
        "local",
    )
    assert config.adr == AdrConfig("file", "docs/adr", ())
    assert config.duplicates == {"error": 0.80, "warning": 0.55}


def test_a_new_configuration_means_the_defaults_with_and_without_its_comments(tmp_path: Path) -> None:
    """Each default that stands there as a comment is the one that holds; taking away every `#` changes nothing."""
    text = config_text(AdrConfig("file", "docs/adr"))
    written, plain = read(tmp_path, text), read(tmp_path, HEAD)
    spelled = read(tmp_path, uncommented(text))

    names = [name for name in Config.__slots__ if name != "raw"]
    assert [getattr(written, name) for name in names] == [getattr(plain, name) for name in names]
    assert [getattr(spelled, name) for name in names] == [getattr(plain, name) for name in names]
    assert written.raw == load(HEAD)
    assert spelled.raw == {**defaults(), **load(HEAD)}


@pytest.mark.parametrize(
    "found",
    [
        AdrConfig("log", "docs/adr"),
        AdrConfig("file", "doc/adr"),
        AdrConfig("file", "docs/architecture/decisions"),
        AdrConfig("file", "x" * 100),
        AdrConfig("file", "docs/architecture decisions", (".decisions", "a: b", "#x", "[y]")),
        AdrConfig("file", "docs/决定"),
    ],
)
def test_what_was_detected_reads_back(tmp_path: Path, found: AdrConfig) -> None:
    """Names of folders that YAML would misread are quoted."""
    assert read(tmp_path, config_text(found)).adr == found


def test_own_keys_and_slashes_are_let_be(tmp_path: Path) -> None:
    """`x-` keys are the user's; a slash at the end of a folder means nothing."""
    config = read(tmp_path, HEAD + "x-team: platform\nadr: {folder: docs/adr/, folders: [old/]}\ndesign: design/\n")

    assert (config.adr.folder, config.adr.folders, config.design) == ("docs/adr", ("old",), "design")
    assert config.setting("x-team", "name") is None
    assert config.setting("adr", "folder") == "docs/adr/"
    assert config.setting("checks", "ignore") == []


MISTAKES = {
    "a newer version": (HEAD.replace("1", "2"), "schema_version 2 is newer than this tool knows (1)", "upgrade"),
    "a misspelt key": (HEAD + "designs: docs\n", "config.yaml:3:1: unknown field `designs`", "did you mean `design`?"),
    "a misspelt key below": (HEAD + "adr:\n  stile: log\n", "config.yaml:4:3: unknown field `stile`", "`style`"),
    "a style nobody has": (HEAD + "adr: {style: wiki}\n", '`adr.style` is "wiki"', "one of: file, log"),
    "a text for a list": (HEAD + "citations: docs\n", "`citations` is a text, not a list", "a line `- …`"),
    "a threshold above one": (HEAD + "duplicates: {error: 80}\n", "`duplicates.error` is 80", ""),
    "a version that is a text": ("format: orbit-registry\nschema_version: one\n", "not a whole number", ""),
    "no version": ("format: orbit-registry\n", "`schema_version` is missing", "add"),
    "a key twice": (
        HEAD + "inbox: local\ninbox: local\n",
        "config.yaml:4:1: the key `inbox` stands here twice",
        "keep",
    ),
    "broken YAML": (HEAD + "adr: [\n", "config.yaml:4:1: not valid YAML", "brackets"),
    "bytes that are no text": (HEAD.encode() + b"project: \xff\n", "config.yaml:3:10: not valid UTF-8", "save"),
    "two mistakes": (HEAD + "inbox: far\nprojekt: x\n", "`inbox` is", ""),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_said_with_its_place(tmp_path: Path, name: str) -> None:
    """File, line, column, what is wrong, and what to do."""
    text, words, hint = MISTAKES[name]

    with pytest.raises(ConfigError) as caught:
        read(tmp_path, text)

    assert words in caught.value.message
    assert hint in (caught.value.hint or "")
    assert str(tmp_path / "config.yaml") in caught.value.message


@pytest.mark.parametrize("folder", ["../adr", "/srv/adr", "a/../../b", "..", "a/..", "a\\b"])
@pytest.mark.parametrize("key", ["folder", "folders", "design", "schemas"])
def test_a_folder_outside_the_root_is_refused(tmp_path: Path, key: str, folder: str) -> None:
    """No setting makes us read or write elsewhere."""
    setting = {
        "folder": f"adr: {{folder: {folder}}}",
        "folders": f"adr: {{folders: [{folder}]}}",
        "design": f"design: {folder}",
        "schemas": f"schemas: {folder}",
    }[key]

    with pytest.raises(ConfigError) as caught:
        read(tmp_path, f"{HEAD}{setting}\n")

    assert "config.yaml:3:" in caught.value.message


def test_a_missing_file_is_said(tmp_path: Path) -> None:
    """The way to a new one is named."""
    with pytest.raises(ConfigError) as caught:
        read_config(tmp_path / "config.yaml")

    assert "no such file" in caught.value.message
    assert "orbit init" in str(caught.value.hint)
