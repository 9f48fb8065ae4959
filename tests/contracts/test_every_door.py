"""Each operation has the same verdict, fields and errors at the command line, over MCP and in
Python.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.acceptance.cli.conftest import Shell

from orbit_registry.answers import table
from orbit_registry.answers.answer import answer_of
from orbit_registry.answers.call import Caller
from orbit_registry.answers.table import Operation
from orbit_registry.errors import OrbitError
from orbit_registry.mcp.dispatch import reply
from orbit_registry.registry import Registry

CALLS: Mapping[str, Mapping[str, Any]] = {
    "accept": {"any_ids": ["ADR-0001"], "dry_run": True},
    "add": {"fields": {"summary": "Close files"}},
    "adr amend": {"any_id": "ADR-0001", "task": "T-1", "text": "Holds for the export too."},
    "adr backfill": {"dry_run": True},
    "apply": {"any_id": "P-nnnnn", "dry_run": True},
    "audit": {},
    "baseline update": {},
    "brief": {"paths": ["src/a.py"]},
    "capture": {"agent": "claude"},
    "clear": {"target": "story:S-1"},
    "check_text": {"path": "src/a.py", "text": "import redis"},
    "coverage": {},
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
    "learning migrate-layout": {"dry_run": True},
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
    "note": {"skip_reason": "no-new-information"},
    "pitch": {},
    "propose": {},
    "prove": {"count": 1},
    "query": {"sql": "SELECT id FROM records ORDER BY id"},
    "related": {"any_id": "ADR-0001", "depth": 2},
    "queue": {},
    "review": {},
    "reject": {"any_ids": ["ADR-0001"], "reason": "no", "dry_run": True},
    "renumber": {"any_id": "ADR-0002", "number": 9, "dry_run": True},
    "replay": {},
    "resolve": {"dry_run": True},
    "retire": {"any_ids": ["ADR-0001"], "dry_run": True},
    "retro": {"loop": "L-1"},
    "run script": {"any_id": "RES-nnnnn"},
    "scope suggest": {"any_ids": ["ADR-0001"]},
    "search": {"query": ["cache"], "tags": ["cache"]},
    "show": {"any_id": "ADR-0001"},
    "site build": {"base_url": "nowhere"},
    "snapshot export": {"file": Path("out.duckdb")},
    "stale": {},
    "stats": {},
    "supersede": {"old_id": "ADR-0001", "replacement": "ADR-0002", "dry_run": True},
    "sync": {},
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
    "related": {"any_id": "ADR-0404"},
    "reject": {"any_ids": ["ADR-0001"], "reason": "no", "dry_run": True},
    "renumber": {"any_id": "ADR-0404"},
    "supersede": {"old_id": "ADR-0404", "replacement": "ADR-0001"},
    "show": {"any_id": "ADR-0404"},
    "vote": {"any_id": "L-nnnnn", "task": "T-1"},
}
"""Calls that each door refuses."""
OF_TOOLS = ("add", "check_text", "run script", "update")
"""Operations without a command."""
OF_AGENTS: Mapping[str, Mapping[str, Any]] = {
    "query": {"sql": ""},
    "link": {"subject": "ADR-0404", "rel": "amends", "to": "ADR-0002"},
    "supersede": {"old_id": "ADR-0404", "replacement": "ADR-0002"},
}
"""Calls that every caller is refused, of operations that answer an agent in another form."""
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
    "deduplicated",
    "retired_at",
    "rejected_at",
    "approved_at",
)


@pytest.fixture
def shell(git_repo: Any, monkeypatch: Any, capsys: Any) -> Shell:
    """Return a shell in a project with a decision and a learning."""
    monkeypatch.chdir(git_repo)
    shell = Shell(git_repo, capsys)
    assert shell("init", "--yes")[0] == 0
    (git_repo / "src").mkdir()
    (git_repo / "src/a.py").write_text("import redis\n", "utf-8")
    words = ("--path", "src/**", "--tag", "cache", "--body-file", shell.body)
    assert shell("adr", "new", "Use one cache", "--yes", *words)[0] == 0
    assert shell("adr", "new", "Name each queue", "--yes", "--body-file", shell.body)[0] == 0
    assert shell("learning", "new", "Close each file", "--tag", "cache", "--yes")[0] == 0
    assert shell("baseline", "update")[0] == 0
    assert shell("sync")[0] == 0  # the first call builds what the next one finds
    return shell


def rows() -> list[str]:
    return [row.name for row in table.rows() if "is_group=True" not in row.entry]


def named(name: str) -> Operation:
    return next(row.load() for row in table.rows() if row.name == name)


def words_of(operation: Operation, values: Mapping[str, Any]) -> list[str]:
    """Return a call as a person types it."""
    words = operation.name.split()
    if not operation.is_command:
        words = ["adr", *words]
    options: list[str] = []
    for argument in operation.arguments():
        value = values.get(argument.name)
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
    registry = Registry.open(".")
    is_own = row.method in vars(Registry)
    try:
        if is_own:  # a method of the registry's own, which answers with values
            from orbit_registry.answers.call import Call

            result = operation.run(Call(lambda: registry), **given)
        else:
            result = getattr(registry, row.method)(**given)
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


@pytest.mark.parametrize("name", [name for name in CALLS if name not in OF_TOOLS])
def test_python_answers_as_the_command_line_does(name: str, shell: Shell) -> None:
    operation = named(name)
    _, out, _ = shell(*words_of(operation, CALLS[name]), "--format", "json")
    envelope = json.loads(out)
    data, refusal = in_python(operation, CALLS[name])
    assert steady(data) == steady(envelope["data"])
    hint = f"\n{envelope['hint']}" if "hint" in envelope else ""
    assert refusal == f"{envelope.get('error') or ''}{hint}"


def in_mcp(operation: Operation, values: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the envelope of a call of the tool."""
    registry = Registry.open(".")
    arguments = {argument.name: argument for argument in operation.arguments()}
    public: dict[str, Any] = {}
    for name, value in values.items():
        is_words = arguments[name].public in ("query", "status")
        public[arguments[name].public] = " ".join(value) if is_words else value

    answer = reply(operation.tool, public, Caller("agent", "s-1"), lambda: registry)
    return json.loads(json.dumps(answer.structured, default=str))


# A script runs for an agent only where configuration and environment allow it.
@pytest.mark.parametrize(
    "name", [row.name for row in table.rows() if row.tool and row.name != "run script"]
)
def test_a_tool_answers_as_python_does(name: str, shell: Shell) -> None:
    operation = named(name)
    values = OF_AGENTS.get(name, CALLS[name])
    data, refusal = in_python(operation, values)
    envelope = in_mcp(operation, values)
    assert envelope.get("error") or refusal.partition("\n")[0] == ""
    if name not in SHORT:
        whole, answered = steady(data), steady(envelope["data"])
        assert whole is None or {name: answered[name] for name in whole} == whole


@pytest.mark.parametrize("name", REFUSED)
def test_every_door_refuses_alike(name: str, shell: Shell) -> None:
    operation = named(name)
    code, out, _ = shell(*words_of(operation, REFUSED[name]), "--format", "json")
    _, refusal = in_python(operation, REFUSED[name])
    assert code != 0
    assert refusal.partition("\n")[0] == json.loads(out)["error"]
    if operation.tool:
        assert in_mcp(operation, REFUSED[name])["error"] == json.loads(out)["error"]
