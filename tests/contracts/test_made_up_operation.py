"""An operation is one function in one file: every door has it without another edit."""

import importlib.util
import inspect
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.acceptance.cli.conftest import Shell

import reference_pages
from orbit_registry.doors import answers
from orbit_registry.doors.answers import table
from orbit_registry.doors.answers.call import Caller
from orbit_registry.doors.cli.main import run
from orbit_registry.doors.mcp import operations
from orbit_registry.doors.mcp.dispatch import reply
from orbit_registry.registry import Registry

CASE = Path(__file__).parent.parent / "cases/operations"


@pytest.fixture
def shell(
    git_repo: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Shell]:
    """Return a shell in a project with two decisions, where the table has one operation more."""
    monkeypatch.setattr(answers, "__path__", [*answers.__path__, str(CASE)])
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.chdir(git_repo)
    for cached in (table.rows, operations.operations_with_tools):
        cached.cache_clear()

    shell = Shell(git_repo, capsys)
    assert shell("init", "--yes")[0] == 0
    for title in ("Use one cache", "Use two caches"):
        assert shell("adr", "new", title, "--yes", "--body-file", shell.body)[0] == 0

    assert shell("adr", "retire", "ADR-0002", "--reason", "one is enough")[0] == 0
    yield shell
    for cached in (table.rows, operations.operations_with_tools):
        cached.cache_clear()

    sys.modules.pop("orbit_registry.doors.answers.madeup", None)
    table.ENTRIES.pop("orbit_registry.doors.answers.madeup.weigh", None)


def test_help_lists_it_and_says_what_it_takes(shell: Shell) -> None:
    assert re.search(r"(?m)^  weigh +Weigh a record\.$", shell("help", "--all")[1])
    text = shell("weigh", "--help")[1]
    assert "Usage: orbit weigh [OPTIONS] ID" in text
    assert "--times INTEGER RANGE  How many of it are on the scales." in text


def test_the_command_answers_as_text_and_as_json(shell: Shell) -> None:
    assert shell("weigh", "ADR-0001", "--times", "2")[:2] == (0, "ADR-0001 weighs 26 g\n")
    code, envelope = shell.json("weigh", "ADR-0001")
    assert (code, envelope["data"]) == (0, {"id": "ADR-0001", "grams": 13, "note": None})


def test_every_door_gives_the_same_answer_and_the_same_refusal(shell: Shell) -> None:
    registry = Registry.open(".")
    caller = Caller("agent", "s-1")
    assert registry.weigh("ADR-0001", times=2).grams == 26
    answered = reply("weigh", {"id": "ADR-0001", "times": 2}, caller, lambda: registry)
    assert answered.text.startswith("ADR-0001 weighs 26 g")
    assert answered.structured["data"] == shell.json("weigh", "ADR-0001", "--times", "2")[1]["data"]

    _, envelope = shell.json("weigh", "ADR-0002")
    refused = reply("weigh", {"id": "ADR-0002"}, caller, lambda: registry)
    assert refused.structured["error"] == envelope["error"] == "ADR-0002 is closed"
    assert refused.structured["hint"] == envelope["hint"]
    too_many = reply("weigh", {"id": "ADR-0001", "times": 10}, caller, lambda: registry)
    assert too_many.is_error
    assert run(["weigh", "ADR-0001", "--times", "10"]) == 2


def test_a_tool_has_its_words_and_its_arguments(shell: Shell) -> None:
    tool = operations.tool_of(table.commands()["weigh"].load())
    assert tool.description == "Weigh a record before you carry it."
    assert tool.schema() == {
        "type": "object",
        "properties": {
            "id": {"type": "string", "description": "The record."},
            "times": {
                "type": "integer",
                "minimum": 1,
                "maximum": 9,
                "description": "How many of it are on the scales.",
            },
        },
        "required": ["id"],
        "additionalProperties": False,
    }


def test_the_reference_the_manual_the_schemas_and_the_stub_have_it(shell: Shell) -> None:
    pages = reference_pages.reference()
    assert "## `orbit weigh`" in pages["commands/find.md"]
    assert "`.weigh(any_id: str, times: int = 1) -> Weight`" in pages["python.md"]
    assert ".B orbit weigh\nWeigh a record." in reference_pages.manual()

    form = json.loads(reference_pages.schemas())["operations"]["weigh"]
    assert form["arguments"]["required"] == ["any_id"]
    assert form["data"]["properties"]["note"] == {"anyOf": [{"type": "string"}, {"type": "null"}]}
    assert "def weigh(self, any_id: str, times: int = 1) -> " in reference_pages.stub()


def test_python_knows_the_signature(shell: Shell) -> None:
    signature = inspect.signature(Registry.open(".").weigh)
    assert [*signature.parameters] == ["any_id", "times"]


def test_what_is_not_in_the_table_is_no_method(shell: Shell) -> None:
    registry = Registry.open(shell.root)
    with pytest.raises(AttributeError, match="'Registry' object has no attribute 'weight'"):
        _ = registry.weight


def test_the_text_of_the_modules_says_what_their_entries_say() -> None:
    for row in table.rows():
        operation = row.load()
        assert (row.name, row.tool, row.job) == (operation.name, operation.tool, operation.job)
        assert row.is_command == operation.is_command
        assert row.is_of_kinds == (operation.of_kind is not None)
        assert row.line == operation.line or operation.words.help.startswith(row.line)

    assert {row.function for row in table.rows()} == {
        each.run.__name__ for each in table.ENTRIES.values()
    }


def test_every_argument_has_words() -> None:
    for row in table.rows():
        operation = row.load()
        assert [each.name for each in operation.arguments() if not each.help] == [], row.name


def test_the_generated_files_are_those_of_the_table() -> None:
    assert reference_pages.STUB.read_text("utf-8") == reference_pages.stub()
    assert reference_pages.SCHEMAS.read_text("utf-8") == reference_pages.schemas()
    assert importlib.util.find_spec("orbit_registry.verbs") is not None
