"""Records read again are what a first reading says, whatever happened to their files between."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.files import make_workspace, write_learning, write_record

from orbit_registry.repository.reader import Reading, read_collection
from orbit_registry.workspace.workspace import Workspace, open_workspace


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    monkeypatch.setattr("orbit_registry.workspace.cache.SETTLED_NS", 0)
    (tmp_path / ".git").mkdir()
    make_workspace(tmp_path)
    for code in ("aaaaa", "bbbbb", "ccccc"):
        write_learning(tmp_path, code, summary=f"Summary {code}")
    return open_workspace(tmp_path)


def summaries(workspace: Workspace) -> list[str]:
    return [str(record.data["summary"]) for record in read_collection(workspace).records]


Change = Callable[[Path], object]
REST = ["Summary bbbbb", "Summary ccccc"]
CHANGES: dict[str, tuple[Change, list[str]]] = {
    "edited": (
        lambda root: write_learning(root, "aaaaa", summary="New"),
        ["New", "Summary bbbbb", "Summary ccccc"],
    ),
    "added": (
        lambda root: write_learning(root, "ddddd", summary="Fourth"),
        ["Summary aaaaa", "Summary bbbbb", "Summary ccccc", "Fourth"],
    ),
    "removed": (
        lambda root: shutil.rmtree(root / ".orbit/learnings/L-bbbbb"),
        ["Summary aaaaa", "Summary ccccc"],
    ),
    "broken": (
        lambda root: (root / ".orbit/learnings/L-aaaaa/learning.yaml").write_text("id: ["),
        REST,
    ),
    "linked": (lambda root: replace_by_link(root / ".orbit/learnings/L-aaaaa"), REST),
    "renamed": (
        lambda root: (root / ".orbit/learnings/L-aaaaa").rename(root / ".orbit/learnings/L-eeeee"),
        REST,
    ),
}


def replace_by_link(folder: Path) -> None:
    folder.rename(folder.parent.parent.parent / "moved")
    folder.symlink_to(folder.parent.parent.parent / "moved")


@pytest.mark.parametrize("name", CHANGES)
def test_a_warm_reading_sees_every_change(workspace: Workspace, name: str) -> None:
    before = Reading(workspace).states
    change, expected = CHANGES[name]
    change(workspace.root)
    warm = read_collection(workspace)
    assert [str(record.data["summary"]) for record in warm.records] == expected
    assert {path: state.sha256 for path, state in Reading(workspace).states.items()} != {
        path: state.sha256 for path, state in before.items()
    }
    workspace.cache.close()
    (workspace.private / "cache.sqlite").unlink()
    cold = read_collection(workspace)
    assert [record.data for record in warm.records] == [record.data for record in cold.records]
    assert warm.problems == cold.problems


def test_a_changed_schema_validates_its_records_again(workspace: Workspace) -> None:
    kind = workspace.root / ".orbit/kinds/note"
    shutil.copytree(workspace.kinds["learning"].folder, kind)
    text = (kind / "kind.yaml").read_text("utf-8")
    text = text.replace("kind: learning", "kind: note").replace(
        "plural: learnings", "plural: notes"
    )
    (kind / "kind.yaml").write_text(text.replace("prefix: L-", "prefix: N-"), "utf-8")
    schema = (kind / "schema.json").read_text("utf-8").replace("^(L-", "^(N-")
    (kind / "schema.json").write_text(schema, "utf-8")
    write_record(
        workspace.root, ".orbit/notes/N-aaaaa/note.yaml", status="active", summary="A note"
    )
    assert "A note" in summaries(open_workspace(workspace.root))
    (kind / "schema.json").write_text(schema.replace('"maxLength": 280', '"maxLength": 3'), "utf-8")
    assert "A note" not in summaries(open_workspace(workspace.root))


def test_votes_are_remembered_with_their_times(workspace: Workspace) -> None:
    file = workspace.root / ".orbit/learnings/L-aaaaa/votes.jsonl"
    row = {
        "learning_id": "L-aaaaa",
        "voter_model": "m",
        "voted_at": "2026-05-01T10:00:00+02:00",
        "task_id": "T-1",
    }
    file.write_text(json.dumps(row) + "\n", "utf-8")
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
    file = workspace.root / ".orbit/learnings/L-aaaaa/votes.jsonl"
    if form == "link":
        file.symlink_to(workspace.root / ".orbit/config.yaml")
    else:
        file.write_bytes(b"\xff")
    collection = read_collection(workspace)
    assert collection.records.get("L-aaaaa").votes == ()
    assert [problem.code for problem in collection.problems] == ["ORB107"]


def test_two_workspaces_of_a_repository_have_separate_caches(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    workspaces = []
    for name in ("one", "two"):
        (tmp_path / name / ".orbit").mkdir(parents=True)
        (tmp_path / name / ".orbit/config.yaml").write_text(
            "format: orbit-registry\nschema_version: 1\n", "utf-8"
        )
        workspaces.append(open_workspace(tmp_path / name))
        write_learning(tmp_path / name, "aaaaa", summary=name)
        summaries(workspaces[-1])
    assert [summaries(workspace) for workspace in workspaces] == [["one"], ["two"]]
    assert len(list((tmp_path / ".git/orbit").glob("cache*.sqlite"))) == 2
