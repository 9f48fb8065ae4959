"""Each operation has the same verdict, fields and errors at the command line, over MCP and in
Python.
"""

import contextlib
import io
import itertools
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.acceptance.cli.conftest import BODY, Shell

from orbit_registry.doors.answers import table
from orbit_registry.doors.answers.answer import answer_of
from orbit_registry.doors.answers.arguments import Argument
from orbit_registry.doors.answers.call import Caller
from orbit_registry.doors.answers.table import Operation, commands
from orbit_registry.doors.cli.main import HIDDEN, SYNONYMS, command_lines, run
from orbit_registry.doors.mcp.dispatch import reply
from orbit_registry.errors import OrbitError, UsageError
from orbit_registry.model.kind import load_kinds
from orbit_registry.registry import Registry
from orbit_registry.repository.starters import COMMANDS

CALLS: Mapping[str, Mapping[str, Any]] = {
    "accept": {"any_ids": ["ADR-0001"], "dry_run": True},
    "add": {"fields": {"summary": "Close files"}},
    "adr amend": {"any_id": "ADR-0001", "task": "T-1", "text": "Holds for the export too."},
    "adr backfill": {"dry_run": True},
    "adr new": {"headline": "Use one queue", "dry_run": True},
    "apply": {"any_id": "P-nnnnn", "dry_run": True},
    "audit": {},
    "baseline update": {},
    "brief": {"paths": ["src/a.py"]},
    "capture": {"agent": "claude"},
    "check": {},
    "clear": {"target": "story:S-1"},
    "check_text": {"path": "src/a.py", "text": "import redis"},
    "coverage": {},
    "diff": {"revisions": "main"},
    "doctor": {},
    "enforce promote": {"name": "ADR-0001/none"},
    "enforce label": {"name": "ADR-0001/none", "key": "1f0c9a3e", "verdict": "true"},
    "enforce replay": {"name": "ADR-0001/none"},
    "enforce try": {"name": "ADR-0001"},
    "ensure": {"key": "k-1"},
    "events export": {},
    "events stats": {},
    "events tail": {"count": 0},
    "explain": {"name": "src/a.py"},
    "export codeowners": {"dry_run": True},
    "export plugin": {"folder": Path("plugin"), "dry_run": True},
    "export reference": {"folder": Path("reference"), "dry_run": True},
    "export rules": {"agents": ["claude"], "dry_run": True},
    "export skills": {"agent": "claude", "dry_run": True},
    "fleet collect": {"sources": ["none.txt"], "lake": "lake"},
    "fleet compact": {"dest": "lake"},
    "fleet explain": {"path": "src/a.py", "lake": "lake", "repository": "shop"},
    "fleet mcp": {"lake": "lake"},
    "fleet migrate": {"dest": "lake", "dry_run": True},
    "fleet push": {"dest": "src/a.py", "commit": "nonsense", "dry_run": True},
    "fleet query": {"sql": "FROM records", "lake": "lake"},
    "fleet remove": {"dest": "lake", "repository": "shop"},
    "fleet report": {"lake": "lake", "question": "votes"},
    "fleet repositories": {"lake": "lake"},
    "fleet search": {"words": ["pool"], "lake": "lake"},
    "fleet show": {"record_id": "ADR-0001", "lake": "lake", "repository": "shop"},
    "fleet site": {"dest": Path("site"), "lake": "lake"},
    "fleet update": {"dry_run": True},
    "hook install": {"agent": "claude", "dry_run": True},
    "hook status": {"agents": ["claude", "codex"]},
    "hook test": {"agent": "claude"},
    "hook uninstall": {"agent": "claude", "dry_run": True},
    "init": {"dry_run": True},
    "import doc": {"source": "src/a.py", "preview": True},
    "import script": {"source": "src/a.py", "preview": True},
    "import records": {"path": Path("docs/adr"), "dry_run": True},
    "learning migrate-layout": {"dry_run": True},
    "leave": {"dry_run": True},
    "fail": {"target": "nonsense", "reason": "no browser"},
    "learning prune": {},
    "lessons list": {},
    "lessons promote": {"names": ["close-each-file"], "dry_run": True},
    "lessons rm": {"names": ["close-each-file"], "dry_run": True},
    "lessons show": {"name": "close-each-file"},
    "lessons stale": {},
    "link": {"subject": "ADR-0001", "rel": "amends", "to": "ADR-0404"},
    "list": {"tags": ["cache"]},
    "match": {"paths": ["src/a.py"]},
    "mcp install": {"agent": "claude", "dry_run": True},
    "mcp uninstall": {"agent": "claude", "dry_run": True},
    "note": {"skip_reason": "no-new-information"},
    "pitch": {},
    "propose": {},
    "prove": {"count": 1},
    "query": {"sql": "SELECT id FROM records ORDER BY id"},
    "related": {"any_id": "ADR-0001", "depth": 2},
    "queue": {},
    "review": {},
    "reject": {"any_ids": ["ADR-0001"], "reason": "no", "dry_run": True},
    "refresh": {"any_id": "RES-nnnnn"},
    "renumber": {"any_id": "ADR-0002", "number": 9, "dry_run": True},
    "replay": {},
    "resolve": {"dry_run": True},
    "retire": {"any_ids": ["ADR-0001"], "dry_run": True},
    "retro": {"loop": "L-1"},
    "record new": {"kind": "learning", "headline": "Close each file"},
    "record update": {"any_id": "ADR-0001", "fields": {"labels": ["x"]}},
    "run": {"any_id": "RES-nnnnn"},
    "scope suggest": {"any_ids": ["ADR-0001"]},
    "search": {"query": ["cache"], "tags": ["cache"]},
    "set status": {"status": "deprecated", "any_ids": ["ADR-0001"], "dry_run": True},
    "show": {"any_id": "ADR-0001"},
    "site build": {"base_url": "nowhere"},
    "snapshot export": {"file": Path("out.duckdb")},
    "stale": {},
    "stats": {},
    "supersede": {"old_id": "ADR-0001", "replacement": "ADR-0002", "dry_run": True},
    "sync": {},
    "trust": {},
    "unlink": {"subject": "ADR-0001", "rel": "amends", "to": "ADR-0002"},
    "update": {"any_id": "ADR-0404", "fields": {"labels": ["x"]}},
    "verify": {"any_ids": ["ADR-0404"]},
    "vote": {"any_id": "L-nnnnn", "task": "T-1"},
    "watchdog": {"once": True},
}
"""A call of each operation, with the names that its arguments have in Python."""
REFUSED: Mapping[str, Mapping[str, Any]] = {
    "apply": {"any_id": "ADR-0001"},
    "accept": {},
    "lessons show": {"name": "no-such-lesson"},
    "list": {"status": ["nonsense"]},
    "match": {},
    "reject": {"any_ids": ["ADR-0001"], "reason": "no", "dry_run": True},
}
"""Calls that each door refuses."""
NAMES = {
    "any_id": False,
    "any_ids": True,
    "subject": False,
    "to": False,
    "old_id": False,
    "replacement": False,
}
"""Arguments that name a record, and whether they name several."""
RECORDS = {
    "unknown": "ADR-0404",
    "retired": "ADR-0003",
    "superseded": "ADR-0004",
    "withheld": "ADR-0005",
    "in another case": "adr-0404",
    "of another form": "ADR 1 or 2",
    "without a name": "",
}
"""What is odd about a record, and its id."""
OF_TOOLS = ("add", "check_text", "update")
"""Operations without a command."""
OF_AGENTS: Mapping[str, Mapping[str, Any]] = {
    "query": {"sql": ""},
    "link": {"subject": "ADR-0404", "rel": "amends", "to": "ADR-0002"},
    "supersede": {"old_id": "ADR-0404", "replacement": "ADR-0002"},
}
"""Calls that every caller is refused, of operations that answer an agent in another form."""
BY_AGENTS = ("link", "supersede", "run")
"""Operations that do something else for an agent: it proposes, or may not."""
VERBS = {"deprecated": "deprecate"}
"""What a person types for a status of a decision."""
SHORT = ("list", "show", "search", "queue")
"""Operations whose answer to an agent is shorter: each of its fields is one of the whole answer."""
VARYING = (
    "seconds",
    "ms",
    "prose",
    "records",
    "omitted",
    "unread",
    "truncated",
    "at",
    "updated_at",
    "created_at",
    "uid",
    "deduplicated",
    "retired_at",
    "rejected_at",
    "approved_at",
    "verified_at",
    "last",
    "expires",
)


@pytest.fixture(scope="session")
def project(_first_commit: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a project with decisions in each state and a learning."""
    folder = tmp_path_factory.mktemp("doors")
    root = Path(shutil.copytree(_first_commit, folder / "project"))
    body = folder / "body.md"
    body.write_text(BODY, "utf-8")

    def orbit(*words: str) -> None:
        # What is wrong shows in the tests: the project would lack it.
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            assert run(["-C", str(root), *words]) == 0

    here = Path.cwd()
    try:
        orbit("init", "--yes")
        (root / "src").mkdir()
        (root / "src/a.py").write_text("import redis\n", "utf-8")
        with (root / ".orbit/config.yaml").open("a", encoding="utf-8") as config:
            config.write('\nsite:\n  publish:\n    tags: ["!internal"]\n')
        words = ("--yes", "--body-file", str(body))
        orbit("adr", "new", "Use one cache", "--path", "src/**", "--tag", "cache", *words)
        orbit("adr", "new", "Name each queue", *words)
        orbit("adr", "new", "Ship on Fridays", *words)
        orbit("adr", "new", "Log to files", *words)
        orbit("adr", "new", "Pay in gold", "--tag", "internal", *words)
        orbit("adr", "retire", "ADR-0003", "--yes")
        orbit("adr", "supersede", "ADR-0004", "--with", "ADR-0002")
        orbit("learning", "new", "Close each file", "--tag", "cache", "--yes")
        orbit("baseline", "update")
        orbit("sync")  # the first call builds what the next one finds
    finally:
        os.chdir(here)

    return root


@pytest.fixture
def shell(project: Path, tmp_path: Path, monkeypatch: Any, capsys: Any) -> Shell:
    """Return a shell in a copy of the project."""
    shell = Shell(tmp_path / "project", capsys)
    shutil.copytree(project, shell.root)
    monkeypatch.chdir(shell.root)
    return shell


def afresh(project: Path, shell: Shell) -> None:
    """Put the project back: what one door wrote, the next one does not find."""
    os.chdir(project)
    shutil.rmtree(shell.root)
    shutil.copytree(project, shell.root)
    os.chdir(shell.root)


def rows() -> list[str]:
    return [row.name for row in table.methods().values()]


def named(name: str) -> Operation:
    return next(row.load() for row in table.rows() if row.name == name)


def words_of(operation: Operation, values: Mapping[str, Any]) -> list[str]:
    """Return a call as a person types it."""
    words = operation.name.split()
    if operation.name == "set status":
        words = ["adr", VERBS[values["status"]]]
        values = {name: value for name, value in values.items() if name != "status"}
    elif operation.name.startswith("record "):
        words = [values.get("kind", "adr"), operation.verb]
    elif not operation.is_command:
        words = ["adr", *words]
    options: list[str] = []
    for argument in operation.arguments():
        value = values.get(argument.name)
        if isinstance(value, dict):
            options += [f"--label={label}" for label in value["labels"]]
            continue
        if "general" in argument.schema and operation.name.startswith("record "):
            continue

        entries = value if isinstance(value, list) else [value]
        if value is None:
            continue
        if not argument.flags:
            words += map(str, entries)
        elif value is True:
            options.append(argument.flags[0])
        else:
            for entry in entries:
                options += [argument.flags[0], str(entry)]

    return [*words, *options]


def in_python(operation: Operation, values: Mapping[str, Any]) -> tuple[object, str]:
    """Return the data of a call in Python, or its refusal."""
    given = {
        name: tuple(value) if isinstance(value, list) else value for name, value in values.items()
    }
    row = next(row for row in table.rows() if row.name == operation.name)
    try:
        result = getattr(Registry.open(".").operations, row.method)(**given)
    except OrbitError as error:
        return None, f"{error.message}\n{error.hint}"

    answer = answer_of(result)
    if answer.refused:
        return answer.data, f"{answer.refused[0].message}\n{answer.refused[0].hint}"
    return json.loads(json.dumps(answer.data, default=str)), ""


def steady(data: Any) -> Any:
    """Return data without what differs from call to call."""
    if isinstance(data, dict):
        return {name: steady(part) for name, part in data.items() if name not in VARYING}
    return [steady(entry) for entry in data] if isinstance(data, list) else data


def test_each_operation_has_a_call() -> None:
    assert sorted(rows()) == sorted(CALLS)


SERVING = {name for name in CALLS if not named(name).formats}
OF_COMMANDS = [name for name in CALLS if name not in {*OF_TOOLS, *SERVING}]


@pytest.mark.parametrize("name", OF_COMMANDS)
def test_python_answers_as_the_command_line_does(name: str, project: Path, shell: Shell) -> None:
    same_at_two_doors(named(name), CALLS[name], project, shell)


def same_at_two_doors(
    operation: Operation, values: Mapping[str, Any], project: Path, shell: Shell
) -> str:
    """Compare what the command line and Python answer; return the refusal."""
    code, out, _ = shell(*words_of(operation, values), "--format", "json")
    envelope = json.loads(out)
    afresh(project, shell)
    data, refusal = in_python(operation, values)
    assert steady(data) == steady(envelope["data"])
    hint = f"\n{envelope['hint']}" if "hint" in envelope else ""
    assert refusal == f"{envelope.get('error') or ''}{hint}"
    assert bool(refusal) <= (code != 0)
    return refusal


def naming(name: str, record: str) -> Mapping[str, Any] | None:
    """Return the call of an operation with another record; None if it names none."""
    argument = next((each for each in NAMES if each in CALLS[name]), None)
    if argument is None:
        return None

    return {**CALLS[name], argument: [record] if NAMES[argument] else record}


@pytest.mark.parametrize("state", RECORDS)
@pytest.mark.parametrize("name", [name for name in CALLS if naming(name, "") is not None])
def test_each_door_says_the_same_of_an_odd_record(
    name: str, state: str, project: Path, shell: Shell
) -> None:
    operation, values = named(name), naming(name, RECORDS[state])
    assert values is not None
    if name not in OF_TOOLS:
        refusal = same_at_two_doors(operation, values, project, shell)
        assert refusal or state in ("retired", "superseded", "withheld")
        afresh(project, shell)

    if operation.tool and name not in BY_AGENTS:
        same_over_mcp(operation, values, project, shell)


def same_over_mcp(
    operation: Operation, values: Mapping[str, Any], project: Path, shell: Shell
) -> None:
    """Compare what Python and MCP answer."""
    data, refusal = in_python(operation, values)
    afresh(project, shell)
    envelope = in_mcp(operation, values)
    assert (envelope.get("error") or "") == refusal.partition("\n")[0]
    if operation.name not in SHORT and data is not None:
        whole, answered = steady(data), steady(envelope["data"])
        assert {name: answered[name] for name in whole} == whole


def in_mcp(operation: Operation, values: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the envelope of a call of the tool."""
    registry = Registry.open(".")
    arguments = {argument.name: argument for argument in operation.arguments()}
    public: dict[str, Any] = {}
    for name, value in values.items():
        is_words = name in arguments and arguments[name].public in ("query", "status")
        is_words = is_words and isinstance(value, list)
        public[arguments[name].public if name in arguments else name] = (
            " ".join(value) if is_words else value
        )

    answer = reply(operation.tool, public, Caller("agent", "s-1"), lambda: registry)
    return json.loads(json.dumps(answer.structured, default=str))


# A script runs for an agent only where configuration and environment allow it.
@pytest.mark.parametrize(
    "name", [row.name for row in table.rows() if row.tool and row.name != "run"]
)
def test_a_tool_answers_as_python_does(name: str, project: Path, shell: Shell) -> None:
    same_over_mcp(named(name), OF_AGENTS.get(name, CALLS[name]), project, shell)


@pytest.mark.parametrize("name", REFUSED)
def test_every_door_refuses_alike(name: str, project: Path, shell: Shell) -> None:
    operation = named(name)
    assert same_at_two_doors(operation, REFUSED[name], project, shell)
    if operation.tool:
        same_over_mcp(operation, REFUSED[name], project, shell)


def ill_formed(operation: Operation) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield calls that do not have the form of an operation, each with the argument at fault."""
    values = CALLS[operation.name]
    for argument in operation.arguments():
        schema = argument.schema
        if argument.required:
            yield argument.name, {name: values[name] for name in values if name != argument.name}
        if schema["type"] in ("integer", "number"):
            yield argument.name, {**values, argument.name: "many"}
        if "enum" in schema:
            yield argument.name, {**values, argument.name: "no such choice"}
        if "enum" in schema.get("items", {}):
            yield argument.name, {**values, argument.name: ["no such choice"]}
        if "minimum" in schema:
            yield argument.name, {**values, argument.name: schema["minimum"] - 1}


def words_for(argument: Argument) -> list[str]:
    """Return the words of which one is in what the command line says of an argument."""
    form = argument.schema.get("items", argument.schema)
    choices = [str(choice) for choice in form.get("enum", ())]
    return [*argument.flags, argument.metavar.strip("[].") or argument.name.upper(), *choices]


@pytest.mark.parametrize("name", CALLS)
def test_every_door_refuses_what_does_not_have_the_form(name: str, shell: Shell) -> None:
    operation = named(name)
    arguments = {argument.name: argument for argument in operation.arguments()}
    for fault, values in ill_formed(operation):
        argument = arguments[fault]
        data, refusal = in_python(operation, values)
        assert data is None
        assert f"`{fault}" in refusal

        # What is missing by place is the last: the others move up.
        placed = [each for each in arguments.values() if not each.flags]
        meant = placed if argument in placed else [argument]
        words = list(itertools.chain.from_iterable(map(words_for, meant)))
        is_fixed = name == "set status" and fault == "status"
        is_compared = name in OF_COMMANDS and "tool" not in argument.schema
        if is_compared and not is_fixed:
            code, out, _ = shell(*words_of(operation, values), "--format", "json")
            assert code == 2
            assert any(word in json.loads(out)["error"] for word in words), out

        if operation.tool and name != "run":
            error = in_mcp(operation, values)["error"]
            assert f"`{argument.public}" in error


@pytest.mark.parametrize("name", CALLS)
def test_every_door_refuses_an_argument_that_is_not_there(name: str, shell: Shell) -> None:
    operation, values = named(name), {**CALLS[name], "nope": "x"}
    data, refusal = in_python(operation, values)
    assert data is None
    assert "unknown field `nope`" in refusal
    if name not in OF_TOOLS:
        code, out, _ = shell(*words_of(operation, CALLS[name]), "--nope", "--format", "json")
        assert code == 2
        assert "'--nope'" in json.loads(out)["error"]

    if operation.tool and name != "run":
        assert "unknown field `nope`" in in_mcp(operation, values)["error"]


def texts_of(operation: Operation) -> Iterator[Argument]:
    """Yield the arguments of an operation that take any text."""
    for argument in operation.arguments():
        form = argument.schema.get("items", argument.schema)
        if form.get("type") == "string" and "enum" not in form:
            yield argument


@pytest.mark.parametrize("name", CALLS)
def test_every_door_refuses_a_zero_byte(name: str, shell: Shell) -> None:
    operation = named(name)
    for argument in texts_of(operation):
        value: object = ("a\0b",) if argument.is_list else "a\0b"
        if argument.schema.get("format") == "path":
            value = Path("a\0b")

        data, refusal = in_python(operation, {**CALLS[name], argument.name: value})
        assert data is None
        assert f"`{argument.name}` has a zero byte" in refusal


@pytest.mark.parametrize("name", CALLS)
def test_a_name_that_no_file_can_have_is_no_failure(name: str, shell: Shell) -> None:
    operation, long = named(name), "x" * 5_000
    for argument in texts_of(operation):
        value: object = (long,) if argument.is_list else long
        if argument.schema.get("format") == "path":
            value = Path(long)

        # Any refusal is one that the test knows: all other errors end it.
        in_python(operation, {**CALLS[name], argument.name: value})


def test_python_takes_values_by_place_and_each_of_them_once(shell: Shell) -> None:
    operations = Registry.open(".").operations
    assert len(dir(operations)) == len(CALLS)
    assert operations.related("ADR-0001", 2).data["id"] == "ADR-0001"
    with pytest.raises(UsageError, match="`any_id` is given twice"):
        operations.related("ADR-0001", any_id="ADR-0002")
    with pytest.raises(UsageError, match="4 values for 3 arguments"):
        operations.related("ADR-0001", 2, "both", "ADR-0002")
    with pytest.raises(UsageError, match="`any_ids` is a text, not a list"):
        operations.retire("ADR-0001")


def test_the_gate_knows_every_command() -> None:
    """A change to what starts one that it doesn't know would pass as another program's."""
    kinds = [kind.name for kind in load_kinds()]
    names = [*commands(), *command_lines(), *HIDDEN, *SYNONYMS, *kinds]
    assert {name.split()[0] for name in names} - COMMANDS == set()
