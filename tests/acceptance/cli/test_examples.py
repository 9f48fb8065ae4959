"""The examples in the help of each command: each is one that the command takes, and those that
only look run in a project that has what they name.
"""

import io
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from tests.acceptance.cli.test_json import commands
from tests.files import commit, make_workspace, write, write_record

from orbit_registry.doors.answers.table import commands as rows
from orbit_registry.doors.cli.main import orbit, run
from orbit_registry.formats.yaml import load
from orbit_registry.model.kind import load_kinds

Words = tuple[str, ...]
_NOTE = re.compile(r"\s+#\s.*")
_LINE = re.compile(r"\s*(?:orbit|echo|[A-Z_]+=\S+ orbit) ")
_BETWEEN = frozenset(("|", "||", "&&", "<", ">"))


def examples() -> Iterator[Words]:
    """Yield the words of each call of `orbit` in the help of the commands."""
    for _, command in commands(with_hidden=True):
        text = (command.help or "").replace("\\\n", " ")
        for line in filter(_LINE.match, text.splitlines()):
            yield from _calls(_NOTE.sub("", line))


def _calls(line: str) -> Iterator[Words]:
    call: list[str] = []
    for word in (*shlex.split(line), "|"):
        if word not in _BETWEEN:
            call.append(word)
            continue

        if "orbit" in call:
            yield tuple(call[call.index("orbit") + 1 :])
        call = []


EXAMPLES = sorted(set(examples()))


def context_of(words: Words) -> click.Context:
    """Return what click makes of the words; it raises for what the command does not take."""
    # A command remembers by which names its help is asked for.
    context = click.Context(orbit, info_name="orbit", **orbit.context_settings)
    command: click.Command = orbit
    rest = list(words)
    while isinstance(command, click.Group) and rest:
        inner = command.get_command(context, rest[0])
        if inner is None:
            break

        context = click.Context(inner, info_name=rest.pop(0), parent=context)
        command = inner

    return command.make_context(context.info_name, rest, parent=context.parent)


_FOLDER = Path(__file__).parents[2] / "cases"
_PROJECT = load((_FOLDER / "project_of_examples.yaml").read_text("utf-8"))
FILES, RECORDS = _PROJECT["files"], _PROJECT["records"]
OUTSIDE = {
    ("capture",),
    ("doctor",),
    ("events", "export"),
    ("events", "tail", "--follow"),
    ("export", "plugin"),
    ("export", "reference"),
    ("fleet",),
    ("enforce", "label"),
    ("hook", "install"),
    ("hook", "test"),
    ("mcp",),
    ("replay", "--repo"),
    ("diff", "origin/main..HEAD"),
    ("export", "rules", "--agent", "copilot"),
    ("retro", "--session"),
    ("show", "RES-7k3fq#2c26b46b68"),
}
"""Beginnings of examples that need more than a project: a server, a lake, an agent's session."""
LOOKS = {("check",), ("completion",), ("diff",), ("doctor",), ("help",)}
"""What only looks, of the commands without an entry in the table of operations."""


def looks(words: Words) -> bool:
    """Say whether an example writes nothing and can run in any project."""
    if any(words[: len(start)] == start for start in OUTSIDE):
        return False
    if "--dry-run" in words or any(words[: len(start)] == start for start in LOOKS):
        return True

    verb = words[1:] if words and words[0] in {kind.name for kind in load_kinds()} else words
    names = (" ".join(verb[:count]) for count in (2, 1))
    row = next((rows()[name] for name in names if name in rows()), None)
    return row is not None and not row.is_group and not row.load().writes


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a project with the records and files that the examples name."""
    root = tmp_path_factory.mktemp("examples") / "shop"
    make_workspace(root, "adr: {folder: docs/adr}\n")
    subprocess.run(["git", "init", "-q", "-b", "main", str(root)], check=True)
    for path, text in FILES.items():
        write(root, path, text)
    for path, fields in RECORDS.items():
        write_record(root, path, created_by={"name": "Ada", "role": "human"}, **fields)

    commit(root)
    for name in ("refs/tags/v1.0", "refs/remotes/origin/main"):
        subprocess.run(["git", "update-ref", name, "HEAD"], cwd=root, check=True)

    # `check --loop` tells by what was logged.
    logging = [sys.executable, "-m", "orbit_registry", "brief", "the cache"]
    subprocess.run(logging, cwd=root, check=True, stdout=subprocess.DEVNULL)
    return root


@pytest.mark.parametrize("words", list(filter(looks, EXAMPLES)), ids=" ".join)
def test_an_example_that_only_looks_runs(
    words: Words, project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(project)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"Move the cache to Redis")))
    assert run(list(words)) == 0, "".join(capsys.readouterr())


@pytest.mark.parametrize("words", EXAMPLES, ids=" ".join)
def test_an_example_is_one_that_its_command_takes(words: Words) -> None:
    try:
        context_of(words)
    except click.BadParameter as error:
        if "does not exist" not in error.message:  # a file of the person who reads it
            raise
