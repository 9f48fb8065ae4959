"""Rejected options: which prompts, edits and commands name one, and what is shown of it."""

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from orbit_registry.hook.call import Call
from orbit_registry.hook.context import Context
from orbit_registry.hook.index import Index, read_index
from orbit_registry.hook.payload import take_tool
from orbit_registry.hook.rejected_options import added_names
from orbit_registry.hook.select import select
from orbit_registry.hook.session import SessionLog
from orbit_registry.matching.pack import Part, pack
from orbit_registry.matching.words import parts_of
from orbit_registry.model import fields
from orbit_registry.model.kind import load_kinds
from orbit_registry.model.reach import BRIEF, PROMPT, TOOL
from orbit_registry.model.record import Record
from orbit_registry.search import index as search
from orbit_registry.search.rejected import rejected_rows
from orbit_registry.search.texts import words_in

NAMES = (
    "Redis",
    "PostgreSQL / MySQL",
    "Apache Kafka (Kafka)",
    "Polling",
    "Event sourcing",
    "Use Fuse.js",
    "SnakeYAML Engine",
    "Do nothing",
    "Option 2",
    "Kinesis or SQS",
    "A queue",
    "Go",
)


def decision(number: int, title: str, *names: str, chosen: str = "", **stated: object) -> Record:
    data: dict[str, object] = {
        "id": f"ADR-{number:04d}",
        "status": "accepted",
        "title": title,
        "date": f"2026-01-{number:02d}",
        **stated,
    }
    if names:
        data["rejected"] = [
            {"option": name, "reason": f"reason {at}"} for at, name in enumerate(names)
        ]

    prose = f"Chosen option: {chosen}" if chosen else ""
    return Record(load_kinds()["adr"], data, f"ADR-{number:04d}.yaml", prose)


def index_of(root: Path, *records: Record, words: search.Index | None = None) -> Index:
    """Return an index of decisions whose files are there, empty."""
    rows = rejected_rows(records, lambda word: 9 if word == "invoice" else 1)
    (root / ".orbit/state").mkdir(parents=True)
    parts = []
    for record in records:
        file = root / record.path
        file.write_text("", "utf-8")
        row = [""] * fields.FIELDS
        row[fields.ID], row[fields.PATH], row[fields.PHASE] = record.id, record.path, record.phase
        row[fields.MTIME], row[fields.SIZE] = str(file.stat().st_mtime_ns), "0"
        row[fields.TEASER] = f"- [{record.id}] {record.title}\n  more: docs/{record.id}.md"
        row[fields.REJECTED] = fields.LIST.join(rows.get(record.path, ()))
        parts.append(Part(tuple(row), 0, record.phase == "live"))
    parts_of_words = None if words is None else partial(parts_of, words)
    index = read_index(pack(parts, min_relevance=0.9, words=parts_of_words), str(root))
    assert isinstance(index, Index)
    return index


def shown(index: Index, session: str = "", **request: Any) -> list[str]:
    """Return what a request shows, without the lines that name the documents."""
    context = Context(PROMPT if "text" in request else TOOL, 0.0, **request)
    log = SessionLog(index.root, session) if session else None
    return [match.text.partition("\n")[0] for match in select(index, context, log).matches]


def option_of(line: str) -> str:
    return line.partition(" rejected ")[2].partition(": ")[0]


@pytest.mark.parametrize(
    ("text", "option"),
    [
        ("Move the jobs to Redis", "Redis"),
        ("could redis hold the sessions?", "Redis"),
        ("port it to MySQL", "PostgreSQL / MySQL"),
        ("port it to postgresql", "PostgreSQL / MySQL"),
        ("send the orders through kafka", "Apache Kafka (Kafka)"),
        ("model it with event sourcing", "Event sourcing"),
        ("search with fuse.js in the browser", "Use Fuse.js"),
        ("let the snakeyaml engine read it", "SnakeYAML Engine"),
        ("read from Kinesis", "Kinesis or SQS"),
        ("use polling for the status", "Polling"),
        ("switch to polling", "Polling"),
    ],
)
def test_a_prompt_names_an_option(tmp_path: Path, text: str, option: str) -> None:
    index = index_of(tmp_path, decision(1, "Use a table as the queue", *NAMES))

    assert list(map(option_of, shown(index, text=text))) == [option]


@pytest.mark.parametrize(
    "text",
    [
        "the status is slow because of the polling interval",
        "the event was sourced from the engine of a snake",
        "go on with option 2 and do nothing else",
        "why is the queue empty?",
        "rename src/redis/client.py",
        "continue",
        "",
    ],
)
def test_a_prompt_that_names_none(tmp_path: Path, text: str) -> None:
    assert shown(index_of(tmp_path, decision(1, "Use a table", *NAMES)), text=text) == []


@pytest.mark.parametrize("text", ["Switch the orders to MySQL", "switch the orders to mysql"])
def test_a_name_that_capitals_part_is_named_although_its_rest_is_accepted(
    tmp_path: Path, text: str
) -> None:
    index = index_of(tmp_path, decision(1, "Use PostgreSQL for orders", "MySQL"))

    assert list(map(option_of, shown(index, text=text))) == ["MySQL"]
    assert shown(index, text="Use an SQL view for the report") == []


@pytest.mark.parametrize(
    ("rejected", "text", "is_named"),
    [
        ("MySQL", "Use SQL", False),
        ("MySQL", "Use my SQL", False),
        ("MySQL", "Use MySQL", True),
        ("MySQL", "move to my_sql", True),
        ("MySQL", "port it to mysql8", True),
        ("NoSQL", "Use SQL", False),
        ("TheHive", "Let a hive of workers read it", False),
        ("TheHive", "Send alerts to TheHive", True),
        ("AnyCable", "Lay a cable to the office", False),
        ("JustMock", "Use a mock of the client", False),
        ("JustMock", "use justmock", True),
        ("OnTop", "Put the button on top", False),
        ("IsIt", "Is it slow?", False),
        ("use_the_cache_gem", "Use the cache gem", False),
    ],
)
def test_a_name_keeps_its_common_words(
    tmp_path: Path, rejected: str, text: str, is_named: bool
) -> None:
    index = index_of(tmp_path, decision(1, "Use a table", rejected))

    assert bool(shown(index, text=text)) is is_named


@pytest.mark.parametrize(
    ("rejected", "line", "is_named"),
    [
        ("MySQL", "using MySqlConnector;", True),
        ("MySQL", "import mysql.connector", True),
        ("MySQL", "using Microsoft.Data.SqlClient;", False),
        ("MySQL", "import sqlite3", False),
    ],
)
def test_an_import_names_a_package_by_all_of_its_words(
    tmp_path: Path, rejected: str, line: str, is_named: bool
) -> None:
    index = index_of(tmp_path, decision(1, "Use a table", rejected))
    names = added_names({"file_path": "src/a.cs", "content": line}, "src/a.cs", str(tmp_path))

    assert bool(shown(index, names=tuple(names))) is is_named


def test_what_is_shown_says_how_to_reopen_the_question(tmp_path: Path) -> None:
    index = index_of(tmp_path, decision(1, "Use a table", "Redis", "Valkey"))

    assert shown(index, "s", text="use redis") == [
        (
            "- [ADR-0001] rejected Redis: reason 0 (Use a table); to reopen: propose an ADR that "
            "supersedes ADR-0001"
        )
    ]
    assert shown(index, "s", text="redis again") == []
    assert list(map(option_of, shown(index, "s", text="then valkey"))) == ["Valkey"]
    assert list(map(option_of, shown(index, "other", text="redis"))) == ["Redis"]


def test_a_brief_names_an_option_too(tmp_path: Path) -> None:
    """The words of a task lead to it, and what its words alone lead to is not said to be
    left out.
    """
    record = decision(1, "Use a table", "Redis")
    texts = search.Index(
        {(record.path, 0): words_in(("Use a table", "", "a table and much more, Redis too"))}
    )
    index = index_of(tmp_path, record, words=texts)
    request = Context(BRIEF, 0.0, text="move every sort of job there is to redis at last")

    selection = select(index, request)

    assert [option_of(match.text) for match in selection.matches] == ["Redis"]
    assert selection.matches[0].triggers == [("text", ""), ("!Redis", "")]
    assert selection.drops == []


@pytest.mark.parametrize(
    "other",
    [
        decision(2, "Keep sessions in Redis"),
        decision(2, "Sessions", "A table", chosen="Redis"),
        decision(1, "Use a table, and Redis for sessions", "Redis"),
    ],
)
def test_an_option_that_was_accepted_later_is_not_shown(tmp_path: Path, other: Record) -> None:
    assert (
        shown(index_of(tmp_path, decision(1, "Use a table", "Redis"), other), text="use redis")
        == []
    )


@pytest.mark.parametrize(
    "other",
    [
        decision(2, "Use Valkey instead of Redis"),
        decision(2, "Keep sessions in Redis", status="proposed"),
        decision(2, "Keep sessions in Redis", status="superseded"),
        decision(2, "Keep sessions in Redis", date="2025-01-01"),
    ],
)
def test_an_option_that_was_not_accepted_since_is_shown(tmp_path: Path, other: Record) -> None:
    assert shown(index_of(tmp_path, decision(1, "Use a table", "Redis"), other), text="use redis")


@pytest.mark.parametrize("status", ["proposed", "rejected", "superseded", "deprecated", "unknown"])
def test_only_live_decisions_reject(tmp_path: Path, status: str) -> None:
    assert (
        shown(
            index_of(tmp_path, decision(1, "Use a table", "Redis", status=status)), text="use redis"
        )
        == []
    )


def test_the_names_that_a_person_states_are_those_that_count(tmp_path: Path) -> None:
    options = [{"option": "A broker of its own", "names": ["Kafka", "NATS"]}]
    index = index_of(tmp_path, decision(1, "Keep a queue", rejected=options))

    (line,) = shown(index, text="send it through nats")
    assert line.startswith("- [ADR-0001] rejected A broker of its own ")
    assert shown(index, text="we want a broker of its own") == []


@pytest.mark.parametrize(
    ("path", "new", "names"),
    [
        ("a.py", "import redis", ["redis"]),
        ("a.py", "import os, redis.asyncio as r", ["os", "redis.asyncio"]),
        ("a.py", "    from redis.client import Redis", ["redis.client"]),
        ("a.py", "from . import redis\nfrom .redis import x", []),
        ("a.ts", "import { createClient } from 'redis';", ["redis"]),
        ("a.ts", "import {\n  a,\n} from '@acme/redis';\nimport x from './redis'", ["@acme/redis"]),
        ("a.js", "const r = require('redis')\nconst s = 'redis'", ["redis"]),
        (
            "a.go",
            'import (\n\t"os"\n\tr "github.com/redis/go-redis/v9"\n)',
            ["os", "github.com/redis/go-redis/v9"],
        ),
        ("a.rs", "use redis::Commands;", ["redis::Commands"]),
        ("A.java", "import static redis.clients.jedis.Jedis.x;", ["redis.clients.jedis.Jedis.x"]),
        ("a.rb", "require 'redis'", ["redis"]),
        ("a.c", "#include <hiredis/hiredis.h>", ["hiredis/hiredis.h"]),
        ("a.cs", "using StackExchange.Redis;", ["StackExchange.Redis"]),
        (
            "package.json",
            '"description": "No redis",\n"redis": "^4.0.0", "private": true',
            ["redis"],
        ),
        ("requirements-dev.txt", "# redis\nredis[hiredis]>=5\n-r x.txt", ["redis"]),
        (
            "pyproject.toml",
            'dependencies = ["redis>=5", "click"]',
            ["dependencies", "redis", "click"],
        ),
        ("Cargo.toml", 'redis = "0.25"', ["redis"]),
        ("go.mod", "require github.com/redis/go-redis/v9 v9.5.1", ["github.com/redis/go-redis/v9"]),
        ("pom.xml", "<artifactId>jedis</artifactId>", ["jedis"]),
        (
            "build.gradle",
            "implementation 'redis.clients:jedis:5.1.0'",
            ["redis.clients:jedis:5.1.0"],
        ),
        ("README.md", "import redis", []),
        ("a.py", 'text = "import redis"\n# import redis', []),
    ],
)
def test_names_that_an_edit_adds(tmp_path: Path, path: str, new: str, names: list[str]) -> None:
    assert [
        name for name in added_names({"new_string": new}, path, str(tmp_path)) if name != "0.25"
    ] == names


def test_only_what_is_added_counts(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("import redis\n", "utf-8")
    patch = (
        "*** Begin Patch\n*** Update File: a.py\n-import redis\n+import valkey\n import "
        "kafka\n*** End Patch"
    )

    assert (
        added_names(
            {"old_string": "import redis\nx", "new_string": "import redis\ny"},
            "a.py",
            str(tmp_path),
        )
        == []
    )
    assert added_names({"content": "import redis\nimport kafka"}, "a.py", str(tmp_path)) == [
        "kafka"
    ]
    assert added_names({"content": "import redis"}, "b.py", str(tmp_path)) == ["redis"]
    assert added_names({"command": patch}, "a.py", str(tmp_path)) == ["valkey"]


@pytest.mark.parametrize(
    ("tool", "arguments", "names"),
    [
        ("Edit", {"file_path": "a.py", "old_string": "", "new_string": "import redis"}, ["redis"]),
        (
            "MultiEdit",
            {"file_path": "a.py", "edits": [{"old_string": "", "new_string": "import redis"}]},
            ["redis"],
        ),
        ("Bash", {"command": "cd x && npm install --save redis@4"}, ["redis"]),
        ("Bash", {"command": "pip install 'redis>=5'; git add kafka"}, ["redis"]),
        (
            "Bash",
            {"command": "go get github.com/redis/go-redis/v9"},
            ["github.com/redis/go-redis/v9"],
        ),
        (
            "apply_patch",
            {"input": "*** Begin Patch\n*** Add File: a.py\n+import redis\n*** End Patch"},
            ["redis"],
        ),
        (
            "shell",
            {"command": ["apply_patch", "*** Begin Patch\n*** Add File: a.py\n+import redis"]},
            ["redis"],
        ),
        ("Bash", {"command": "git add redis.py"}, []),
        ("Read", {"file_path": "a.py"}, []),
    ],
)
def test_tools_that_add_names(tool: str, arguments: dict[str, object], names: list[str]) -> None:
    call = Call("PreToolUse", TOOL)
    take_tool(call, tool, json.loads(json.dumps(arguments)))

    assert added_names(call.arguments, call.paths[0] if call.paths else "", "/nowhere") == names


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("redis", ["Redis"]),
        ("django-redis", ["Redis"]),
        ("fuse.js", ["Use Fuse.js"]),
        ("fuse", ["Use Fuse.js"]),
        ("org.snakeyaml:snakeyaml-engine:2.7", ["SnakeYAML Engine"]),
        ("polling", ["Polling"]),
        ("http-polling-client", []),
        ("hiredis", []),
        ("", []),
    ],
)
def test_a_package_names_an_option(tmp_path: Path, name: str, options: list[str]) -> None:
    index = index_of(tmp_path, decision(1, "Use a table as the queue", *NAMES))

    assert list(map(option_of, shown(index, names=[name]))) == options
