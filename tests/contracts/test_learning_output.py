"""What the verbs of learnings print as JSON: records by the published schema, with a few keys of the output's own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from orbit_registry.cli.main import run
from orbit_registry.registry import Registry

SCHEMAS = Path(__file__).parents[2] / "docs/schemas"
ENVELOPE = Draft202012Validator(json.loads((SCHEMAS / "envelope.schema.json").read_text("utf-8")))
LEARNING = Draft202012Validator(json.loads((SCHEMAS / "learning.schema.json").read_text("utf-8")))
BESIDE = {"kind", "phase", "path", "votes", "prose", "neighbours", "diff", "dry_run"} | {
    "freshness_state",
    "freshness_reasons",
    "digest",
    "outcome",
}
"""Keys that the output adds to a record's own."""


@pytest.fixture
def learning(git_repo: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return the id of a learning with every field, in a workspace one stands in."""
    monkeypatch.chdir(git_repo)
    Registry.init(git_repo)
    registry = Registry.open(git_repo)
    scope = {"paths": ["src/**"], "tags": ["t"], "symbols": ["src/a.py::b"], "semantic_seed": "seed"}
    fields = {"summary": "Look before you leap", "body": "Why.", "scope": scope, "labels": ["l"], "x-own": {"a": [1]}}
    return registry.add("learning", {**fields, "evidence": [{"kind": "task", "reference": "T-1"}]}).id


def asked(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    """Return the data of a command's envelope."""
    code = run(["learning", *arguments, "--format", "json"])
    whole = json.loads(capsys.readouterr().out)
    assert list(ENVELOPE.iter_errors(whole)) == []
    assert (code, whole["ok"]) == (0, True)
    return whole["data"]


@pytest.mark.parametrize(
    "arguments",
    [
        ["add", "--summary", "Measure twice", "--tag", "t"],
        ["add", "--summary", "Measure twice", "--dry-run"],
        ["list"],
        ["list", "--sort", "votes"],
        ["show", "ID"],
        ["update", "ID", "--add-tag", "u"],
        ["update", "ID", "--add-tag", "u", "--dry-run"],
        ["supersede", "ID", "--with", "NEW"],
        ["retire", "ID"],
    ],
    ids=" ".join,
)
def test_records_are_printed_by_the_published_schema(
    learning: str, capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    """Each verb that prints records prints them as their files have them."""
    words = {"ID": learning}
    if "NEW" in arguments:
        words["NEW"] = Registry.open().add("learning", {"summary": "Leap before you look"}).id
    data = asked(capsys, *(words.get(word, word) for word in arguments))

    for record in data if isinstance(data, list) else [data]:
        own = {name: value for name, value in record.items() if name not in BESIDE}
        assert list(LEARNING.iter_errors(own)) == []


@pytest.mark.parametrize(
    ("arguments", "keys"),
    [
        (["vote", "ID", "--task", "T-1"], {"id", "new", "count", "score", "last", "tasks"}),
        (["search", "leap"], {"hits", "omitted", "unknown"}),
        (["sync"], {"votes", "skipped", "snapshot"}),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_other_answers_have_these_keys(
    learning: str, capsys: pytest.CaptureFixture[str], arguments: list[str], keys: set[str]
) -> None:
    """They may gain some, and lose none."""
    assert keys <= set(asked(capsys, *(learning if word == "ID" else word for word in arguments)))
