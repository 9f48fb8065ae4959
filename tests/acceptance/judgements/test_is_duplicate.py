"""Whether a learning is known already: the commands, the server and the gate say the same."""

import json
import re
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.acceptance.conftest import orbit
from tests.conftest import Git
from tests.files import commit, make_workspace, write, write_learning

from orbit_registry.doors.answers.call import Caller
from orbit_registry.doors.mcp.dispatch import reply
from orbit_registry.formats.yaml import load
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


MODEL = """
import json
import sys

MEANINGS = [["retry", "again"], ["close", "shut"], ["keys", "secrets"], ["slow", "wait"]]
vectors = []
for text in json.load(sys.stdin)["texts"]:
    words = text.casefold().split()
    vectors.append([sum(word in words for word in meaning) + 0.01 for meaning in MEANINGS])

print(json.dumps({"vectors": vectors}))
"""
PARAPHRASES = [
    ("Retry an upload that failed", "Send the file again if it did not arrive"),
    ("Close the database when a test ends", "Tests shut their connections at the end"),
    ("Never log keys", "No line of output has secrets"),
    ("The first build is slow", "Wait long for a fresh compile"),
]


@pytest.mark.parametrize("has_model", [True, False])
@pytest.mark.parametrize("pair", PARAPHRASES, ids=["retry", "close", "keys", "slow"])
def test_the_same_in_other_words_is_for_a_model(
    project: Path, monkeypatch: pytest.MonkeyPatch, pair: tuple[str, str], has_model: bool
) -> None:
    if has_model:
        monkeypatch.setenv("ORBIT_PROGRAMS", "1")
        write(project, "model.py", MODEL)
        command = json.dumps([sys.executable, str(project / "model.py")])
        config = project / ".orbit/config.yaml"
        config.write_text(f"{config.read_text('utf-8')}search: {{command: {command}}}\n", "utf-8")

    write_learning(project, "aaaaa", summary=pair[0])
    write_learning(project, "ccccc", summary="Paint the hull of the ship blue")
    commit(project, "Old")
    row = {"new": [pair[1], "Seen in March."], "verdict": "warning" if has_model else ""}
    verdicts = {"new": by_command(project, row), "add": by_server(project, row)}
    verdicts["check"] = by_gate(project, row)
    assert verdicts == dict.fromkeys(verdicts, row["verdict"])


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
