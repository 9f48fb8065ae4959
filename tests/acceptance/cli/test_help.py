"""Help: every command says what it is for, and the first page shows first what most people need."""

import re
import shlex
from importlib.metadata import version
from pathlib import Path

import click
import pytest
from tests.acceptance.cli.conftest import Shell
from tests.acceptance.cli.test_json import commands
from tests.files import write

from orbit_registry.cli.main import run

TREE = list(commands())


@pytest.mark.parametrize(
    ("path", "command"), TREE, ids=lambda value: " ".join(value) if isinstance(value, tuple) else ""
)
def test_every_command_explains_itself(
    path: tuple[str, ...], command: click.Command, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*path, "-h"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("Usage: orbit")
    purpose = next(line.strip() for line in text.splitlines()[2:] if line.strip())
    assert purpose[:1].isupper()
    assert "\n  orbit " in text  # an example, as one types it
    described = [option for option in command.params if isinstance(option, click.Option) and not option.hidden]
    assert [option.opts[0] for option in described if not option.help] == []


def test_examples_can_be_pasted() -> None:
    lines = [line for _, command in TREE for line in (command.help or "").splitlines()]
    examples = [line for line in lines if re.match(r"\s*orbit ", line)]
    assert len(examples) > 100
    assert [line for line in examples if re.search(r"\S {2,}(?!#)\S", line)] == []


@pytest.mark.parametrize("kind", ["failure", "learning", "rule", "adr"])
def test_the_example_of_adding_is_one_that_runs(kind: str, shell: Shell) -> None:
    text = shell(kind, "add", "--help")[1]
    example = next(line for line in text.splitlines() if line.startswith(f"  orbit {kind} add"))

    assert shell(*shlex.split(example)[1:], "--dry-run")[0] == 0


@pytest.mark.parametrize("name", ["orbit", "orbit-registry"])
def test_a_shell_completes_words_under_both_names(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(f"_{name.upper().replace('-', '_')}_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", f"{name} adr supers")
    monkeypatch.setenv("COMP_CWORD", "2")
    with pytest.raises(SystemExit, match="0"):
        run([])
    assert capsys.readouterr().out == "plain,supersede\n"


@pytest.mark.parametrize("path", [path for path, command in TREE if isinstance(command, click.Group)], ids=" ".join)
def test_a_group_alone_shows_what_is_in_it(path: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(list(path)) in (0, 2)
    printed = capsys.readouterr()
    assert "Commands" in printed.out + printed.err


def test_the_first_page_shows_first_what_most_people_need(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([]) == 0
    text = capsys.readouterr().out

    places = [
        text.index(f"\n  {name} ") for name in ("init", "adr", "learning", "check", "site", "list", "sync", "resolve")
    ]
    assert places == sorted(places)
    assert "merge-driver" not in text


def test_the_version_is_the_package_s(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--version"]) == 0
    assert capsys.readouterr().out == f"orbit, version {version('orbit-registry')}\n"


@pytest.mark.parametrize(("said", "listed"), [
    ("", False), ("loop:\n  enabled: true\n", True), ("loop: {enabled: true}\n", True),
    ("# loop:\n#   enabled: true\n", False),
    ("loop: # on\n\n  # yes\n  x-a: 1\n  enabled: true\n", True), ("loop:\n  enabled: false\n", False),
    ("loop:\n  x-a: 1\nmcp:\n  enabled: true\n", False),
])  # fmt: skip
def test_the_loops_commands_are_listed_where_it_is_enabled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], said: str, listed: bool
) -> None:
    write(tmp_path, ".orbit/config.yaml", f"format: orbit-registry\nschema_version: 1\n{said}")
    monkeypatch.chdir(tmp_path)
    assert run(["--help"]) == 0
    printed = capsys.readouterr().out
    assert [f"\n  {name} " in printed for name in ("events", "failure", "proposal", "rule")] == [listed] * 3 + [True]
    assert run(["events", "--help"]) == 0
