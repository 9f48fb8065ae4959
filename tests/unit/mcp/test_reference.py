"""The reference page of the server says what the server says of itself."""

import json
import re
from pathlib import Path

from orbit_registry.mcp import prompts
from orbit_registry.mcp.dispatch import ALIASES, LONGEST_ANSWER, PREFIX, available_tools

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs/reference/mcp.md").read_text("utf-8")
ROW = re.compile(r"^\| `(\w+)` \| [^|]+ \| ([^|]*) \|$", re.MULTILINE)


def test_the_table_of_tools_is_the_servers() -> None:
    rows = {name: re.findall(r"`(\w+)`", arguments) for name, arguments in ROW.findall(PAGE)}

    general = [tool for name, tool in available_tools().items() if not name.startswith(PREFIX)]
    assert rows == {tool.name: list(tool.properties) for tool in general}


def test_every_tool_is_tried_by_the_inspector() -> None:
    called = [name for name, _ in json.loads((ROOT / "tests/cases/mcp/calls.json").read_text("utf-8"))["calls"]]

    assert sorted(called) == sorted(available_tools())


def test_the_names_for_one_kind_are_told() -> None:
    text = " ".join(PAGE.split())
    assert f"`{PREFIX}search`" in text
    assert all(f"`{PREFIX}adr.{verb}`" in text for verb in ALIASES["adr"])
    assert "`orbit.learning.` with " + ", ".join(f"`{verb}`" for verb in ALIASES["learning"][:-1]) in text
    assert all(f"`{name}`" in text for name in prompts.PROMPTS)
    assert f"{LONGEST_ANSWER:,} characters" in text
