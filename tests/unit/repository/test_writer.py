"""Creating and changing records: validation, untouched bytes, unique ids."""

import json
from pathlib import Path

import pytest
from tests.files import write

from orbit_registry.errors import (
    InvalidRecordError,
    RecordNotFoundError,
    RefusedError,
    UnreadableFileError,
)
from orbit_registry.model.ids import code_id
from orbit_registry.registry import Registry
from orbit_registry.repository.writer import draft_text, free_code_id


def test_a_new_record_is_a_file_that_editors_understand(registry: Registry) -> None:
    Registry.init(registry.workspace.root, schemas=True)
    record = registry.add(
        "learning", {"x-own": [1], "summary": "Leap", "scope": {"paths": ["src/**"]}, "labels": []}
    )
    file = registry.workspace.root / record.path
    first, *lines = file.read_text("utf-8").splitlines()

    schema = first.removeprefix("# yaml-language-server: $schema=")
    assert json.loads((file.parent / schema).read_text("utf-8"))["title"] == "Learning"
    assert [line.partition(":")[0] for line in lines if not line.startswith(" ")] == [
        "schema_version",
        "id",
        "uid",
        "status",
        "summary",
        "scope",
        "created_at",
        "updated_at",
        "created_by",
        "x-own",
    ]
    assert record.path == f".orbit/learnings/{record.id}/learning.yaml"


def test_a_new_record_names_no_schema_that_is_not_there(registry: Registry) -> None:
    record = registry.add("learning", {"summary": "Leap"})
    assert (
        (registry.workspace.root / record.path).read_text("utf-8").startswith("schema_version: 1\n")
    )


def test_a_record_is_written_where_the_current_folder_is_gone(
    registry: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Registry.init(registry.workspace.root, schemas=True)
    folder = tmp_path / "gone"
    folder.mkdir()
    monkeypatch.chdir(folder)
    folder.rmdir()

    text = (registry.workspace.root / registry.add("learning", {"summary": "Leap"}).path).read_text(
        "utf-8"
    )

    assert text.startswith("# yaml-language-server: $schema=../../schemas/learning.schema.json\n")
    kind = registry.workspace.kinds["learning"]
    assert draft_text(registry.workspace, kind, registry.author(), {}).startswith(
        "# yaml-language-server: $schema=../../schemas/"
    )


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({}, "`summary` is missing"),
        ({"summary": ""}, "`summary` is missing"),
        ({"summary": "x", "colour": "red"}, "unknown field `colour`"),
        ({"summary": "x", "status": "live"}, '`status` is "live"'),
        ({"summary": "x", "priority": 300}, "the most allowed is 255"),
        ({"summary": "x", "scope": {"paths": "src"}}, "`scope.paths` is a text"),
        ({"summary": "x", "id": "L-00000"}, "is in the folder"),
        ({"summary": "x", "x-own": {1: 2}}, "is not a text"),
        ({"summary": "x", "x-own": float("nan")}, "a number without end or value"),
        ({"summary": "x", "x-own": [float("-inf")]}, "a number without end or value"),
        ({"summary": "x" * 10, "body": "y" * 50_001}, "50001 characters"),
        ({"summary": "half \udcff"}, ""),
    ],
)
def test_an_invalid_record_is_never_saved(
    registry: Registry, fields: dict[str, object], words: str
) -> None:
    with pytest.raises(InvalidRecordError) as caught:
        registry.add("learning", fields)

    assert words in caught.value.message
    assert not list(registry.workspace.orbit.glob("learnings/*"))


def test_a_decision_is_not_written_without_its_document(registry: Registry) -> None:
    with pytest.raises(RefusedError) as caught:
        registry.add("adr", {"title": "X"})

    assert "orbit adr new" in str(caught.value.hint)


def test_a_taken_code_grows(registry: Registry) -> None:
    workspace, kind, uid = (
        registry.workspace,
        registry.workspace.kinds["learning"],
        "0123456789abcdef" * 2,
    )
    (workspace.folder_of(kind) / code_id("L-", uid)).mkdir(parents=True)
    (workspace.folder_of(kind, pending=True) / code_id("L-", uid, 6)).mkdir(parents=True)

    assert free_code_id(workspace, kind, uid) == code_id("L-", uid, 7)


HAND_WRITTEN = """\
# mine
id: {id}
schema_version: 1   # first
uid: '{uid}'

status: active
summary: "Look before you leap"   # a rule
labels: [one,two]
# about scope
scope:
    paths:
        - src/**
x-own: {{a: 1}}
created_at: 2026-01-01T00:00:00Z
updated_at: 2026-01-01T00:00:00Z
"""


@pytest.fixture
def hand_written(registry: Registry) -> Path:
    text = HAND_WRITTEN.format(id="L-aaaaa", uid="0" * 32)
    return write(registry.workspace.root, ".orbit/learnings/L-aaaaa/learning.yaml", text)


def test_an_edit_touches_its_own_lines_and_the_time(registry: Registry, hand_written: Path) -> None:
    before = hand_written.read_text("utf-8").splitlines()

    record = registry.update("L-aaaaa", lambda data: {**data, "priority": 7})

    after = hand_written.read_text("utf-8").splitlines()
    assert [line for line in before if line not in after] == ["updated_at: 2026-01-01T00:00:00Z"]
    added = [line for line in after if line not in before]
    assert added[0] == "priority: 7"
    assert added[1:] == [f'updated_at: "{record.data["updated_at"]}"']


def test_an_edit_that_changes_nothing_writes_nothing(
    registry: Registry, hand_written: Path
) -> None:
    before = (hand_written.read_bytes(), hand_written.stat().st_mtime_ns)

    registry.update("L-aaaaa", lambda data: {**data, "labels": ["one", "two"]})

    assert (hand_written.read_bytes(), hand_written.stat().st_mtime_ns) == before


@pytest.mark.parametrize(
    "change",
    [
        {"priority": 300},
        {"summary": ""},
        {"status": "live"},
        {"summaries": "x"},
        {"id": "L-bbbbb"},
        {"uid": "x"},
    ],
)
def test_an_edit_that_would_break_the_record_is_refused(
    registry: Registry, hand_written: Path, change: dict[str, object]
) -> None:
    before = hand_written.read_bytes()

    with pytest.raises(InvalidRecordError):
        registry.update("L-aaaaa", lambda data: {**data, **change})

    assert hand_written.read_bytes() == before


def test_the_file_is_read_anew_before_it_is_changed(registry: Registry, hand_written: Path) -> None:
    assert registry.get("L-aaaaa").data["labels"] == ["one", "two"]
    hand_written.write_text(
        hand_written.read_text("utf-8").replace("[one,two]", "[one,two,three]"), "utf-8"
    )

    record = registry.update("L-aaaaa", lambda data: {**data, "priority": 7})

    assert record.data["labels"] == ["one", "two", "three"]


@pytest.mark.parametrize("content", [b"", b"id: [", b"\xff", b"- a\n", None])
def test_a_record_broken_meanwhile_is_not_overwritten(
    registry: Registry, hand_written: Path, content: bytes | None
) -> None:
    if content is None:
        hand_written.unlink()
    else:
        hand_written.write_bytes(content)

    with pytest.raises((InvalidRecordError, RecordNotFoundError, UnreadableFileError)):
        registry.update("L-aaaaa", lambda data: {**data, "priority": 7})

    assert content is None or hand_written.read_bytes() == content
