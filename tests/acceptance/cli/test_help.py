"""Help: every command says what it is for, and the first page shows first what most people need."""

import re
import shlex
import subprocess
import sys
from importlib.metadata import version

import click
import pytest
from tests.acceptance.cli.conftest import Shell
from tests.acceptance.cli.test_json import commands

from orbit_registry.doors.cli.main import run

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
    described = [
        option
        for option in command.params
        if isinstance(option, click.Option) and not option.hidden
    ]
    assert [option.opts[0] for option in described if not option.help] == []


def test_examples_can_be_pasted() -> None:
    lines = [line for _, command in TREE for line in (command.help or "").splitlines()]
    examples = [line for line in lines if re.match(r"\s*orbit ", line)]
    assert len(examples) > 100
    assert [line for line in examples if re.search(r"\S {2,}(?!#)\S", line)] == []


@pytest.mark.parametrize("kind", ["failure", "learning", "rule", "adr"])
def test_the_example_of_adding_is_one_that_runs(kind: str, shell: Shell) -> None:
    text = shell(kind, "new", "--help")[1]
    example = next(line for line in text.splitlines() if line.startswith(f"  orbit {kind} new"))

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


@pytest.mark.parametrize(
    "path",
    [path for path, command in TREE if path and isinstance(command, click.Group)],
    ids=" ".join,
)
def test_a_group_alone_shows_what_is_in_it(
    path: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(list(path)) in (0, 2)
    printed = capsys.readouterr()
    assert "Commands" in printed.out + printed.err


def test_the_first_page_shows_first_what_most_people_need(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run([]) == 0
    text = capsys.readouterr().out

    names = re.findall(r"(?m)^  (\w+)  +[A-Z].*\.$", text)
    assert names == [
        "init",
        "import",
        "hook",
        "adr",
        "learning",
        "review",
        "search",
        "show",
        "check",
        "site",
    ]
    assert text.endswith("orbit help --all\n")


def test_help_all_lists_every_command_by_job(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["help", "--all"]) == 0
    text = capsys.readouterr().out

    listed = re.findall(r"(?m)^  ([\w-]+)  +[A-Z].*\.$", text)
    named = re.findall(r"[\w-]+", text.partition("each with its --help:\n")[2])
    assert len(listed) > len(named) > 0
    every = {path[0] for path, _ in TREE if path}
    assert sorted(listed + named) == sorted(every - {"help", "new"})


def test_help_of_a_command_is_its_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["help", "adr", "add"]) == 0
    text = capsys.readouterr().out
    assert run(["adr", "add", "--help"]) == 0
    assert capsys.readouterr().out == text
    assert run(["help", "adr", "nw"]) == 2
    assert "new" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("program", "shell", "variable"),
    [
        ("orbit", "bash", "_ORBIT_COMPLETE="),
        ("orbit", "zsh", "_ORBIT_COMPLETE="),
        ("orbit", "fish", "_ORBIT_COMPLETE="),
        ("orbit-registry", "bash", "_ORBIT_REGISTRY_COMPLETE="),
    ],
)
def test_completion_is_for_the_program_that_was_called(
    program: str,
    shell: str,
    variable: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "argv", [f"/bin/{program}"])
    assert run(["completion", shell]) == 0
    assert variable in capsys.readouterr().out


def test_the_package_runs_as_a_module_of_its_version() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "orbit_registry", "--version"], capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (0, f"orbit, version {version('orbit-registry')}\n")


def test_the_package_runs_as_a_module() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "orbit_registry", "--version"], capture_output=True, text=True
    )
    assert (done.returncode, done.stdout.startswith("orbit, version ")) == (0, True)
