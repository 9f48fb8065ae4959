"""What programs read: one envelope whatever happened,
and exit codes that mean the same everywhere.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest
from jsonschema import Draft202012Validator
from tests.acceptance.cli.conftest import ANSWERS

import orbit_registry
from orbit_registry.doors.cli.main import orbit
from orbit_registry.model.diagnostic import ENVELOPE_SCHEMA
from orbit_registry.model.kind import load_kinds

ENVELOPE = Draft202012Validator(json.loads(ENVELOPE_SCHEMA.read_text("utf-8")))


def commands(
    command: click.Command = orbit, path: tuple[str, ...] = (), *, with_hidden: bool = False
) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Yield each command with its words; those that only old habits type are hidden."""
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command, info_name=" ".join(("orbit", *path)))
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            assert inner is not None
            if with_hidden or not inner.hidden:
                yield from commands(inner, (*path, name), with_hidden=with_hidden)


LEAVES = [(path, command) for path, command in commands() if not isinstance(command, click.Group)]
SYNONYMS = {f"{path[0]} add" for path, _ in LEAVES if path[1:] == ("new",)}


def answers_in_json(command: click.Command) -> bool:
    return any("--format" in option.opts for option in command.params)


WITH_JSON = [path for path, command in LEAVES if answers_in_json(command)]


def test_every_command_with_json_has_a_form_of_its_data() -> None:
    forms = ANSWERS["$defs"]
    answering = {
        " ".join(path)
        for path, command in commands(with_hidden=True)
        if not isinstance(command, click.Group) and answers_in_json(command)
    }
    assert set(ANSWERS["commands"]) == answering | {"retro"} | SYNONYMS
    assert all(f'"#/$defs/{name}"' in json.dumps(ANSWERS) for name in forms)
    fields = {name for kind in load_kinds() for name in kind.schema.document["properties"]}
    assert {path[-1] for path, _ in LEAVES if path not in WITH_JSON} <= {
        "completion",
        "help",
        "mcp",
        "serve",
        "wrap",
    }, "those have no output"
    assert fields <= set(forms["record"]["properties"])
    assert forms["record"]["if"]["properties"]["kind"]["enum"] == [
        kind.name for kind in load_kinds()
    ]


@pytest.mark.parametrize(
    "arguments",
    [
        ["learning", "add", "--summary", "half \udcff"],
        ["adr", "add", "--title", "half \udcff"],
        ["query", "SELECT '\udcff'"],
        ["show", "\udcff"],
        ["-C", "\udcff", "list"],
    ],
)
def test_an_argument_that_is_no_text_is_refused(shell: Any, arguments: list[str]) -> None:
    code, answer = shell.json(*arguments)

    assert code == 2
    assert "is not valid UTF-8" in answer["error"]


def test_our_own_failure_ends_with_three(shell: Any, tmp_path: Path) -> None:
    """A bug is said to be one, with what is needed to report it: here a half-installed package."""
    package = Path(
        shutil.copytree(Path(orbit_registry.__file__).parent, tmp_path / "lib/orbit_registry")
    )
    (package / "repository/reader.py").write_text("def nothing() -> None: ...\n", "utf-8")

    for arguments in (["list"], ["list", "--format", "json"]):
        done = subprocess.run(
            [sys.executable, "-m", "orbit_registry.doors.cli.main", *arguments],
            env={**os.environ, "PYTHONPATH": str(tmp_path / "lib")},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 3
        assert "this is a bug, please report it" in done.stderr
        assert "ImportError" in done.stderr
        if "json" in arguments:
            assert list(ENVELOPE.iter_errors(json.loads(done.stdout))) == []
