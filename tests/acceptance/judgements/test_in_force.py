"""Which records are in force: every command, the hook, the server and the site answer alike.

All cases of the table stand in one project; each test asks one of its doors about all of them.
"""

import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.acceptance.conftest import orbit
from tests.acceptance.hook.conftest import bring_up_to_date, run_client
from tests.acceptance.hook.replies import ids
from tests.conftest import Git
from tests.files import commit, make_workspace, write, write_record

from orbit_registry.doors.answers.call import Caller
from orbit_registry.doors.mcp.dispatch import reply
from orbit_registry.formats.yaml import load
from orbit_registry.registry import Registry
from orbit_registry.site.build import build_site

TABLE = Path(__file__).parents[2] / "cases/judgements/in_force.yaml"
DIGITS = "bcdfghjklm"
IN_FORCE = {"accepted", "active", "no status stated"}
LEARNING = {"active", "candidate", "retired"}


@dataclass(frozen=True)
class Expected:
    """A record of the table under its real id: what it is, and what took its place."""

    id: str
    what: str
    title: str
    path: str
    kind: str
    is_in_force: bool
    successors: tuple[str, ...]


def word(number: int, letter: str) -> str:
    """Return a word that no other record of the project has."""
    return "zu" + "".join(DIGITS[int(digit)] for digit in f"{number:02d}") + letter * 3


def id_of(number: int, letter: str, row: Mapping[str, Any]) -> str:
    if row["records"][letter]["status"] in LEARNING:
        return f"L-{word(number, letter)[2:6]}{letter}"

    return f"ADR-{100 + number * 10 + 'abcd'.index(letter):04d}"


def target(name: str, number: int, row: Mapping[str, Any]) -> str:
    if name == "?":
        return "ADR-9999"
    if name.startswith("@"):
        return f"old-{number}/ADR-{name[1:]}"

    return id_of(number, name, row)


def written(root: Path, number: int, row: Mapping[str, Any]) -> Iterator[Expected]:
    for letter, fields in row["records"].items():
        name, place = id_of(number, letter, row), f"src/{word(number, letter)}.py"
        title = f"Use {word(number, letter)} alone"
        is_learning = name.startswith("L-")
        data: dict[str, object] = {
            "status": fields["status"],
            "summary" if is_learning else "title": title,
            "scope": {"paths": [place]},
            "legacy_ids": [f"old-{number}/ADR-{letter}"],
        }
        for key, field in (("replaces", "supersedes"), ("replaced_by", "superseded_by")):
            names = dict.fromkeys(target(other, number, row) for other in fields.get(key, ()))
            data |= {field: list(names)} if names else {}
        for rel, other in fields.get("link", {}).items():
            data["links"] = [{"rel": rel, "to": id_of(number, other, row)}]
        if is_learning:
            del data["legacy_ids"]

        kind = "learning" if is_learning else "adr"
        write_record(root, f".orbit/{kind}s/{name}/{kind}.yaml", **data)
        if not is_learning:
            write(root, f".orbit/adrs/{name}/body.md", f"We use {word(number, letter)}.\n")
        write(root, place, "x = 1\n")
        successors = [
            id_of(number, other, row) for other in row.get("successors", {}).get(letter, ())
        ]
        is_in_force = letter in row["in_force"]
        yield Expected(name, row["what"], title, place, kind, is_in_force, tuple(successors))


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory, git: Git) -> tuple[Path, list[Expected]]:
    root = tmp_path_factory.mktemp("in_force") / "repo"
    root.mkdir()
    git(root, "init", "--quiet")
    make_workspace(root)
    rows = load(TABLE.read_text("utf-8"))
    expected = [each for number, row in enumerate(rows) for each in written(root, number, row)]
    commit(root)
    bring_up_to_date(root)
    return root, expected


Project = tuple[Path, list[Expected]]


def asked(root: Path, *arguments: str) -> Any:
    return json.loads(orbit(root, *arguments, "--format", "json"))["data"]


def in_force_of(expected: Sequence[Expected]) -> set[str]:
    return {each.id for each in expected if each.is_in_force}


def replaced(expected: Sequence[Expected]) -> list[Expected]:
    return [each for each in expected if each.successors]


def test_the_table_is_large_enough() -> None:
    rows = load(TABLE.read_text("utf-8"))
    assert len(rows) >= 40
    assert sum(row["what"].startswith("harmless") for row in rows) >= 15


def test_the_judgement(project: Project) -> None:
    root, expected = project
    records = Registry.open(root).collection.records
    wrong = {}
    for each in expected:
        record = records.get(each.id)
        is_live = record.phase == "live" or (record.phase == "pending" and record.status.pushed)
        successors = records.live_successors(record) if record.phase == "closed" else []
        answer = is_live, {successor.id for successor in successors}
        if answer != (each.is_in_force, set(each.successors)):
            wrong[f"{each.id} {each.what}"] = answer

    assert wrong == {}


def test_list(project: Project) -> None:
    root, expected = project
    listed = asked(root, "list", "--all")
    phases = {entry["id"]: (entry["phase"], entry["status"]) for entry in listed}
    live = {
        name for name, (phase, status) in phases.items() if phase == "live" or status == "unknown"
    }
    assert live == in_force_of(expected)


def test_match_and_explain(project: Project) -> None:
    root, expected = project
    paths = [each.path for each in expected]
    matches = asked(root, "match", *paths, "--limit", "200")["matches"]
    assert {entry["id"] for entry in matches} == in_force_of(expected)

    for each in replaced(expected):
        said = orbit(root, "explain", each.path)
        assert all(name in said for name in each.successors), each


def test_show(project: Project) -> None:
    root, expected = project
    for each in expected:
        first = orbit(root, "show", each.id).splitlines()[0]
        is_said = "was superseded by" in first
        assert is_said == bool(each.successors), each
        assert all(name in first for name in each.successors), each


def test_search(project: Project) -> None:
    root, expected = project
    for each in expected:
        hits = asked(root, "search", each.title.split()[1])["hits"]
        found = {hit["id"] for hit in hits}
        assert found >= set(each.successors), each
        if each.is_in_force:
            assert each.id in found, each
        if each.successors:
            assert each.id not in found, each


def test_hook(project: Project) -> None:
    root, expected = project
    for number, each in enumerate(expected):
        payload = {
            "hook_event_name": "PreToolUse",
            "session_id": f"s{number}",
            "cwd": str(root),
            "tool_name": "Edit",
            "tool_input": {"file_path": f"{root}/{each.path}"},
        }
        answer = run_client(root, json.dumps(payload).encode())
        shown = ids(json.loads(answer or b"{}"))
        assert shown == ([each.id] if each.is_in_force else []), each


def test_brief(project: Project) -> None:
    root, expected = project
    for each in expected:
        said = orbit(root, "brief", "--path", each.path)
        assert (f"[{each.id}]" in said) == each.is_in_force, each


def test_server(project: Project) -> None:
    root, expected = project
    ask = partial(Registry.open, root)
    caller = Caller("some-agent", "mcp-1", hosted=False)
    for each in expected:
        answer = reply("show", {"id": each.id}, caller, ask)
        assert ("was superseded by" in answer.text) == bool(each.successors), each
        assert all(name in answer.text for name in each.successors), each


def test_snapshot(project: Project) -> None:
    root, expected = project
    rows = asked(root, "query", "SELECT id, phase, status FROM records")
    live = {row["id"] for row in rows if row["phase"] == "live" or row["status"] == "unknown"}
    assert live == in_force_of(expected)

    pairs = asked(root, "query", "FROM successors")
    stored = {(row["record_id"], row["successor_id"]) for row in pairs}
    assert stored == {(each.id, name) for each in expected for name in each.successors}


def test_rules(project: Project) -> None:
    root, expected = project
    orbit(root, "export", "rules", "--agent", "agents-md")
    text = (root / "AGENTS.md").read_text("utf-8")
    named = {each.id for each in expected if each.id in text}
    assert named <= in_force_of(expected)


def test_site(project: Project, tmp_path: Path) -> None:
    root, expected = project
    build_site(Registry.open(root), tmp_path / "site", snapshot=False)
    listed = (tmp_path / "site/llms.txt").read_text("utf-8")
    for each in expected:
        line = next((line for line in listed.splitlines() if f"[{each.id} " in line), "")
        word = line.partition("): ")[2].partition(".")[0].partition(",")[0]
        assert (word in IN_FORCE) == each.is_in_force, line

        if each.successors:
            page = (tmp_path / f"site/{each.kind}s/{each.id}/index.md").read_text("utf-8")
            assert all(name in page for name in each.successors), each


def test_the_command_that_an_import_names_writes_the_status(
    project: Project, tmp_path: Path
) -> None:
    root, expected = project
    copy = Path(shutil.copytree(root, tmp_path / "repo"))
    before = Registry.open(copy).collection.records
    for each in expected:
        record = before.get(each.id)
        if not record.is_replaced or record.stated_status.phase != "live":
            continue

        orbit(copy, each.kind, "supersede", each.id, "--with", each.successors[0])
        after = Registry.open(copy).collection.records.get(each.id)
        assert (after.stated_status.name, after.is_replaced) == ("superseded", False), each
