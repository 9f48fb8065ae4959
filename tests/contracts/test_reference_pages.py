"""Reference pages say what the program does: they are made from it, or held to it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from orbit_registry.cli.reference import reference
from orbit_registry.store.config import CONFIG_SCHEMA
from orbit_registry.store.setup import Detected, config_text

DOCS = Path(__file__).parent.parent.parent / "docs"


def test_the_page_of_commands_is_what_the_commands_say() -> None:
    """`python -m orbit_registry.cli.reference > docs/reference/cli.md` brings it up to date."""
    assert (DOCS / "reference/cli.md").read_text("utf-8") == reference()


def keys(schema: dict[str, Any], prefix: str = "") -> list[str]:
    """Return every key of a schema by its dotted name."""
    found = []
    for name, form in schema.get("properties", {}).items():
        found.append(prefix + name)
        found += keys(form, f"{prefix}{name}.")
    return found


def test_every_setting_is_explained() -> None:
    """The page of the configuration names each key of its schema."""
    page = (DOCS / "reference/configuration.md").read_text("utf-8")
    schema = json.loads(CONFIG_SCHEMA.read_text("utf-8"))

    assert [key for key in keys(schema) if f"`{key}`" not in page] == []


def test_a_new_configuration_shows_every_setting() -> None:
    """What `init` writes has every key, as a value or as a comment, so that nobody has to look it up."""
    text = config_text(Detected("file", "docs/adr"))
    schema = json.loads(CONFIG_SCHEMA.read_text("utf-8"))

    assert [key for key in keys(schema) if f"{key.rpartition('.')[2]}:" not in text] == []
