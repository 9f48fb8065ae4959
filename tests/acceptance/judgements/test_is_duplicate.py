"""Whether a learning is known already: the commands, the server and the gate say the same."""

import json
import re
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.acceptance.conftest import orbit
from tests.conftest import Git
from tests.files import commit, make_workspace, write_learning

from orbit_registry.formats.yaml import load
from orbit_registry.mcp.dispatch import reply
from orbit_registry.mcp.tool import Caller
from orbit_registry.registry import Registry

TABLE = Path(__file__).parents[2] / "cases/judgements/is_duplicate.yaml"
ROWS: list[dict[str, Any]] = load(TABLE.read_text("utf-8"))
NAMES = [row["what"] for row in ROWS]


@pytest.fixture
def project(tmp_path: Path, git: Git) -> Path:
    root = tmp_path / "repo"
    root.mkdir()
    git(root, "init", "--quiet", "--initial-branch=main")
    return make_workspace(root)


def fields(text: list[str]) -> dict[str, str]:
    summary, body = text
    return {"summary": summary, "body": body} if body else {"summary": summary}


def test_the_table_is_large_enough() -> None:
    assert len(ROWS) >= 40
    assert sum(name.startswith("harmless") for name in NAMES) >= 15


@pytest.mark.parametrize("row", ROWS, ids=NAMES)
def test_every_command_says_the_same(project: Path, row: dict[str, Any]) -> None:
    write_learning(project, "aaaaa", **fields(row["old"]))
    commit(project, "Old")
    verdicts = {
        "new": by_command(project, row),
        "add": by_server(project, row),
        "check": by_gate(project, row),
    }
    assert verdicts == dict.fromkeys(verdicts, row["verdict"])


def by_command(root: Path, row: dict[str, Any]) -> str:
    summary, body = row["new"]
    more = ("--body", body) if body else ()
    words = ("learning", "new", summary, *more, "--path", "src/**", "--dry-run")
    if row["verdict"] == "error":
        assert "this is known already" in orbit(root, *words, code=1)
        return "error"

    near = json.loads(orbit(root, *words, "--format", "json"))["data"]["neighbours"]
    return "warning" if near else ""


def by_server(root: Path, row: dict[str, Any]) -> str:
    arguments = {"kind": "learning", "fields": fields(row["new"])}
    caller = Caller("some-agent", "s", hosted=False)
    opened = partial(Registry.open, root)
    answer = reply("add", arguments, caller, opened)
    if not re.search(r"^near: ", answer.text, re.MULTILINE):
        return ""

    refused = reply("add", {**arguments, "confirm": True}, caller, opened)
    if "this is known already" in refused.text:
        return "error"

    (written,) = (root / ".orbit/state/inbox/learnings").iterdir()
    for file in written.iterdir():
        file.unlink()
    written.rmdir()
    return "warning"


def by_gate(root: Path, row: dict[str, Any]) -> str:
    write_learning(root, "bbbbb", **fields(row["new"]))
    ended: set[str] = set()
    for words in (("check",), ("check", "--against", "HEAD")):
        code = 1 if row["verdict"] == "error" else 0
        said = orbit(root, *words, "--all", code=code)
        found = re.search(r" (error|warning) ORB60[12] ", said)
        ended.add(found[1] if found else "")

    (verdict,) = ended
    return verdict
