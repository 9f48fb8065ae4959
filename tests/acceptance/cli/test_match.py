"""Which records apply where, asked as people and programs do: `orbit match`, `orbit explain`, `orbit coverage`."""

import json
import posix
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

SCHEMAS = Path(__file__).parents[3] / "docs" / "schemas"


def data_of(shell: Any, *arguments: str) -> Any:
    code, envelope = shell.json(*arguments)
    assert code == 0
    schema = json.loads((SCHEMAS / f"{arguments[0]}.schema.json").read_text("utf-8"))
    assert list(Draft202012Validator(schema).iter_errors(envelope)) == []
    return envelope["data"]


def test_the_project_of_the_environment_counts_unless_another_is_named(
    shell: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("shop", "billing"):
        shell.learn(f"For {name}", "--path", "src/**", "--project", name)
    monkeypatch.setitem(posix.environ, b"ORBIT_PROJECT", b"billing")  # what a process is started with

    def titles(*more: str) -> set[str]:
        return {match["title"] for match in data_of(shell, "match", "src/app.py", *more)["matches"]}

    assert titles() == {"For billing", "Use SQLite"}
    assert titles("--project", "shop") == {"For shop", "Use SQLite"}
    assert {row["why"] for row in data_of(shell, "explain", "src/app.py")["verdicts"]} == {"pushed", "project"}
    assert data_of(shell, "coverage")["broad"] == []
