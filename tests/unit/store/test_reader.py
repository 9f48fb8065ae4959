"""Records read again are what a first reading says, whatever happened to their files between."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.unit.store.test_cache import wait_for_the_next_tick

from orbit_registry.store.reader import Reading, read_collection
from orbit_registry.store.workspace import Workspace, open_workspace

SECRET = "AKIA" + "Q7RZ5T3MWK2NV8HB"
LEARNING = """schema_version: 1
id: {id}
uid: {uid}
status: active
summary: {summary}
created_at: 2026-05-17T12:00:00Z
updated_at: 2026-05-17T12:00:00Z
"""


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """Return a workspace with three learnings."""
    (tmp_path / ".orbit").mkdir()
    (tmp_path / ".orbit/config.yaml").write_text("format: orbit-registry\nschema_version: 1\n", "utf-8")
    for code in ("aaaaa", "bbbbb", "ccccc"):
        write(tmp_path, code, f"Summary {code}")
    return open_workspace(tmp_path)


def write(root: Path, code: str, summary: str) -> Path:
    """Write a learning."""
    file = root / f".orbit/learnings/L-{code}/learning.yaml"
    file.parent.mkdir(parents=True, exist_ok=True)
    uid = hashlib.sha256(code.encode()).hexdigest()[:32]
    file.write_text(LEARNING.format(id=f"L-{code}", uid=uid, summary=summary), "utf-8")
    return file


def summaries(workspace: Workspace) -> list[str]:
    """Return the summaries of a workspace's learnings."""
    return [str(record.data["summary"]) for record in read_collection(workspace).records]


def test_a_planted_cache_puts_no_record_into_a_collection(workspace: Workspace, tmp_path: Path) -> None:
    """Values changed behind the reader's back, the seal left alone, do not reach anyone."""
    assert summaries(workspace) == ["Summary aaaaa", "Summary bbbbb", "Summary ccccc"]
    values = workspace.cache / "records.values"
    planted = values.read_bytes().replace(b"Summary aaaaa", b"Planted aaaaa")
    values.write_bytes(planted)
    assert b"Planted" in values.read_bytes()
    assert summaries(workspace) == ["Summary aaaaa", "Summary bbbbb", "Summary ccccc"]


Change = Callable[[Path], object]
REST = ["Summary bbbbb", "Summary ccccc"]
CHANGES: dict[str, tuple[Change, list[str]]] = {
    "edited": (lambda root: write(root, "aaaaa", "New"), ["New", "Summary bbbbb", "Summary ccccc"]),
    "added": (
        lambda root: write(root, "ddddd", "Fourth"),
        ["Summary aaaaa", "Summary bbbbb", "Summary ccccc", "Fourth"],
    ),
    "removed": (lambda root: shutil.rmtree(root / ".orbit/learnings/L-bbbbb"), ["Summary aaaaa", "Summary ccccc"]),
    "broken": (lambda root: (root / ".orbit/learnings/L-aaaaa/learning.yaml").write_text("id: ["), REST),
    "linked": (lambda root: replace_by_link(root / ".orbit/learnings/L-aaaaa"), REST),
    "renamed": (lambda root: (root / ".orbit/learnings/L-aaaaa").rename(root / ".orbit/learnings/L-eeeee"), REST),
}


def replace_by_link(folder: Path) -> None:
    """Put a symbolic link where a folder was."""
    folder.rename(folder.parent.parent.parent / "moved")
    folder.symlink_to(folder.parent.parent.parent / "moved")


def hash_of(workspace: Workspace) -> str:
    """Return a hash of the records' files, as a run would that may remember it."""
    reading = Reading(workspace)
    return reading.hashed("test", lambda: (f"{path} {one.sha256}" for path, one in reading.states.items()))


@pytest.mark.parametrize("name", CHANGES)
def test_a_warm_reading_sees_every_change(workspace: Workspace, name: str) -> None:
    """After any change the cached reading says what a first reading says, problems included."""
    wait_for_the_next_tick(workspace.root)
    read_collection(workspace)
    before = hash_of(workspace)
    change, expected = CHANGES[name]
    change(workspace.root)
    now = hash_of(workspace)
    warm = read_collection(workspace)
    assert [str(record.data["summary"]) for record in warm.records] == expected
    shutil.rmtree(workspace.cache)
    cold = read_collection(workspace)
    assert [record.data for record in warm.records] == [record.data for record in cold.records]
    assert warm.problems == cold.problems
    assert hash_of(workspace) == now != before


def test_a_warm_reading_opens_no_record(workspace: Workspace) -> None:
    """Once stamps have settled, a reading holds no bytes of any file and the same records."""
    wait_for_the_next_tick(workspace.root)
    first = read_collection(workspace)
    hash_of(workspace)
    second = Reading(workspace)
    assert second.hashed("test", lambda: pytest.fail("asked again")) == hash_of(workspace)
    assert {state.content for state in second.states.values()} == {None}
    assert [record.data for record in second.collection.records] == [record.data for record in first.records]


def test_votes_are_remembered_with_their_times(workspace: Workspace) -> None:
    """A cached vote equals the one in the file; a file with a bad line is read again and reported each time."""
    file = workspace.root / ".orbit/learnings/L-aaaaa/votes.jsonl"
    row = {"learning_id": "L-aaaaa", "voter_model": "m", "voted_at": "2026-05-01T10:00:00+02:00", "task_id": "T-1"}
    file.write_text(json.dumps(row) + "\n", "utf-8")
    wait_for_the_next_tick(workspace.root)
    cold = read_collection(workspace).records.get("L-aaaaa").votes
    warm = read_collection(workspace).records.get("L-aaaaa").votes
    assert warm == cold
    assert len(warm) == 1
    file.write_text(file.read_text("utf-8") + "torn", "utf-8")
    for _ in range(2):
        again = read_collection(workspace)
        assert again.records.get("L-aaaaa").votes == cold
        assert [problem.code for problem in again.problems] == ["ORB107"]


@pytest.mark.parametrize("form", ["bytes", "link"])
def test_votes_that_cannot_be_read_cost_their_record_alone(workspace: Workspace, form: str) -> None:
    """A symbolic link or bytes that are no text are one finding; the record stays, without votes."""
    file = workspace.root / ".orbit/learnings/L-aaaaa/votes.jsonl"
    if form == "link":
        file.symlink_to(workspace.root / ".orbit/config.yaml")
    else:
        file.write_bytes(b"\xff")
    found = read_collection(workspace)
    assert found.records.get("L-aaaaa").votes == ()
    assert [problem.code for problem in found.problems] == ["ORB107"]


def test_what_a_record_names_is_known_where_it_is_not_kept(workspace: Workspace) -> None:
    """One with a secret in it leaves nothing behind, and what it rests on is asked all the same."""
    proof = "evidence: [{kind: file, reference: src/app.py}]\n"
    for code, summary in (("aaaaa", "Summary"), ("bbbbb", f"Key {SECRET}")):
        file = write(workspace.root, code, summary)
        file.write_text(file.read_text("utf-8") + proof, "utf-8")
    for _ in range(2):
        wait_for_the_next_tick(workspace.root)
        reading = Reading(workspace)
        named = {entry.path.split("/")[2]: reading.named(entry) for entry in reading.entries}
        reading.save()
        assert {name: one and [*map(list, one.evidence)] for name, one in named.items()} == {
            "L-aaaaa": [["file", "src/app.py"]],
            "L-bbbbb": [["file", "src/app.py"]],
            "L-ccccc": None,
        }
