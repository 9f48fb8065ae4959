"""Changes of several files as one step: what is refused, what is put back,
and what a torn journal is worth.
"""

import json
import os
from pathlib import Path

import pytest
from tests.files import write

from orbit_registry.errors import UnsafePathError, WriteError
from orbit_registry.registry import Registry
from orbit_registry.workspace.journal import FileChange, apply_step, recover, unfinished_steps
from orbit_registry.workspace.lock import locked
from orbit_registry.workspace.workspace import Workspace, open_workspace


@pytest.fixture
def workspace(workspace_root: Path) -> Workspace:
    (workspace_root / "a.md").write_text("old", "utf-8")
    return open_workspace(workspace_root)


def tree(workspace: Workspace) -> dict[str, bytes]:
    files = [path for path in workspace.root.rglob("*") if path.is_file()]
    return {path.relative_to(workspace.root).as_posix(): path.read_bytes() for path in files}


def test_a_file_changed_meanwhile_stops_the_step(workspace: Workspace) -> None:
    before = tree(workspace)

    with pytest.raises(WriteError, match=r"a\.md was changed by someone else meanwhile"):
        apply_step(
            workspace, "step", [FileChange("b.md", None, "new"), FileChange("a.md", "other", "new")]
        )

    assert tree(workspace) == before


@pytest.mark.parametrize("path", ["../x", "/tmp/x", "link/x"])
def test_a_path_that_leads_out_stops_the_step(workspace: Workspace, path: str) -> None:
    (workspace.root / "link").symlink_to(workspace.root.parent)
    before = tree(workspace)

    with pytest.raises(UnsafePathError):
        apply_step(
            workspace, "step", [FileChange("a.md", "old", "new"), FileChange(path, None, "x")]
        )

    assert tree(workspace) == before


def test_a_step_that_the_disk_refuses_is_put_back(workspace: Workspace) -> None:
    (workspace.root / "file").write_text("x", "utf-8")
    before = tree(workspace)

    with pytest.raises(WriteError):
        apply_step(
            workspace,
            "step",
            [
                FileChange("a.md", "old", "new"),
                FileChange("deep/b.md", None, "b"),
                FileChange("file/c.md", None, "c"),
            ],
        )

    assert tree(workspace) == before
    assert not unfinished_steps(workspace)
    assert not (workspace.root / "deep").exists()


@pytest.fixture
def editor(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """Change `a.md` during the first fsync."""
    synced = os.fsync

    def fsync(handle: int) -> None:
        monkeypatch.setattr(os, "fsync", synced)
        (workspace.root / "a.md").write_text("by hand", "utf-8")
        synced(handle)

    monkeypatch.setattr(os, "fsync", fsync)


@pytest.mark.usefixtures("editor")
@pytest.mark.parametrize("after", ["new", None])
@pytest.mark.parametrize(
    "others", [[], [FileChange("b.md", None, "b"), FileChange("deep/c.md", None, "c")]]
)
def test_an_edit_made_during_a_step_stays(
    workspace: Workspace, after: str | None, others: list[FileChange]
) -> None:
    before = tree(workspace)
    if after is None and not others:
        others = [FileChange("b.md", None, "b")]

    with pytest.raises(WriteError, match=r"a\.md was changed by someone else meanwhile"):
        apply_step(workspace, "step", [*others, FileChange("a.md", "old", after)])

    assert tree(workspace) == {**before, "a.md": b"by hand"}


@pytest.mark.usefixtures("editor")
def test_an_edit_made_before_a_failed_write_stays(workspace: Workspace) -> None:
    (workspace.root / "file").write_text("x", "utf-8")

    with pytest.raises(WriteError, match=r"can't write"):
        apply_step(
            workspace,
            "step",
            [FileChange("file/c.md", None, "c"), FileChange("a.md", "old", "new")],
        )

    assert (workspace.root / "a.md").read_text("utf-8") == "by hand"


def test_a_folder_that_becomes_empty_goes(workspace: Workspace) -> None:
    for name in ("x/y/a", "x/b"):
        write(workspace.root, name, "1")

    apply_step(workspace, "step", [FileChange("x/y/a", "1", None)])

    assert [path.name for path in (workspace.root / "x").iterdir()] == ["b"]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"\xff",
        b"[]",
        b'{"step": "x"}',
        b'{"step": "x", "changes": [{"path": "a.md"}]}',
        b'{"step": "x", "changes": [{"path": "../evil", "before": null, "after": "x"}]}',
        b'{"step": "x", "changes": [{"path": 1, "before": null, "after": "x"}]}',
        b'{"step": "x", "changes": [{"path": "a.md", "before": "old", "after": 5}]}',
        b'{"step": "x", "changes": [{"path": "folder", "before": null, "after": "x"}]}',
        b'{"step": "x", "changes": [{"path": "a.md/b.md", "before": null, "after": "x"}]}',
        b'{"step": "x", "changes": [{"path": "a.md/b.md", "before": "old", "after": null}]}',
    ],
)
def test_an_unreadable_journal_is_set_aside(workspace: Workspace, content: bytes) -> None:
    workspace.journal.mkdir(parents=True, exist_ok=True)
    (workspace.journal / "adr-add-1.json").write_bytes(content)
    (workspace.root / "folder").mkdir()

    assert recover(workspace) == ["set aside the unreadable journal adr-add-1.json"]

    assert [path.name for path in workspace.journal.iterdir()] == ["adr-add-1.unreadable"]
    assert (workspace.root / "a.md").read_text("utf-8") == "old"
    assert not (workspace.root.parent / "evil").exists()
    assert not unfinished_steps(workspace)
    assert Registry.open(workspace.root).add("learning", {"summary": "Leap"}).id


def test_steps_are_finished_in_turn(workspace: Workspace) -> None:
    workspace.journal.mkdir(parents=True, exist_ok=True)
    for name in "bc":
        rows = [{"path": f"{name}.md", "before": None, "after": name}]
        (workspace.journal / f"{name}.json").write_text(
            json.dumps({"step": name, "changes": rows}), "utf-8"
        )
    (workspace.journal / ".tmp-x").write_text("half", "utf-8")
    (workspace.root / ".tmp-b.md-1-2").write_text("half", "utf-8")
    assert [path.name for path in unfinished_steps(workspace)] == ["b.json", "c.json"]

    assert recover(workspace) == ["finished b (b.md)", "finished c (c.md)"]

    assert {name: (workspace.root / name).read_text("utf-8") for name in ("b.md", "c.md")} == {
        "b.md": "b",
        "c.md": "c",
    }
    assert not list(workspace.root.rglob(".tmp-*"))


def test_a_reader_does_not_wait_for_a_long_step(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace.journal.mkdir(parents=True, exist_ok=True)
    rows = [
        {"path": "a.md", "before": "old", "after": "new"},
        {"path": "b.md", "before": None, "after": "b"},
    ]
    (workspace.journal / "s.json").write_text(json.dumps({"step": "s", "changes": rows}), "utf-8")
    monkeypatch.setenv("ORBIT_LOCK_WAIT_SECONDS", "0")
    registry = Registry.open(workspace.root)

    with locked(workspace.lock):
        registry.recover()
        assert (workspace.root / "a.md").read_text("utf-8") == "old"
    registry.recover()

    assert (workspace.root / "a.md").read_text("utf-8") == "new"


def test_every_text_is_durable_before_the_first_rename(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[str] = []
    sync, replace = os.fsync, Path.replace

    def synced(handle: int) -> None:
        calls.append("sync")
        sync(handle)

    def renamed(self: Path, target: Path) -> Path:
        calls.append(target.suffix)
        return replace(self, target)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(Path, "replace", renamed)
    apply_step(workspace, "step", [FileChange(f"{index}.yaml", None, "x") for index in range(5)])
    assert calls == ["sync", ".json", "sync", *["sync"] * 5, *[".yaml"] * 5, "sync"]


def test_one_file_is_written_where_the_journal_is_read_only(workspace: Workspace) -> None:
    write(workspace.root, ".git/orbit", "in the way")

    apply_step(workspace, "step", [FileChange("a.md", "old", "new")])
    with pytest.raises(WriteError):
        apply_step(
            workspace, "step", [FileChange("a.md", "new", "newer"), FileChange("b.md", None, "b")]
        )

    assert (workspace.root / "a.md").read_text("utf-8") == "new"


def test_a_finished_step_whose_file_was_edited_is_left_alone(workspace: Workspace) -> None:
    changes = [FileChange("a.md", "old", "new"), FileChange("b.md", None, "made")]
    apply_step(workspace, "step", changes)
    workspace.journal.mkdir(parents=True, exist_ok=True)
    rows = [
        {"path": change.path, "before": change.before, "after": change.after} for change in changes
    ]
    (workspace.journal / "step-1.json").write_text(
        json.dumps({"step": "step", "changes": rows}), "utf-8"
    )
    (workspace.root / "b.md").write_text("made, then edited", "utf-8")

    assert recover(workspace) == ["found step finished"]

    assert [(workspace.root / name).read_text("utf-8") for name in ("a.md", "b.md")] == [
        "new",
        "made, then edited",
    ]
    assert not unfinished_steps(workspace)


def test_an_interrupt_leaves_nothing(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    before, replace, renamed = tree(workspace), os.replace, []

    def interrupted(source: Path, target: Path) -> None:
        if target.name in ("a.md", "b.md"):
            renamed.append(target.name)
            if renamed == ["a.md", "b.md"]:
                raise KeyboardInterrupt
        replace(source, target)

    monkeypatch.setattr(Path, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        apply_step(
            workspace, "step", [FileChange("a.md", "old", "new"), FileChange("b.md", None, "made")]
        )

    assert tree(workspace) == before
    assert recover(workspace) == []


def test_an_edit_stays_when_a_later_file_fails(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace = os.replace

    def failing(source: Path, target: Path) -> None:
        if target.name == "b.md":
            (workspace.root / "a.md").write_text("by hand", "utf-8")
            raise OSError("no space left")
        replace(source, target)

    monkeypatch.setattr(Path, "replace", failing)
    with pytest.raises(WriteError):
        apply_step(
            workspace, "step", [FileChange("a.md", "old", "new"), FileChange("b.md", None, "made")]
        )

    assert (workspace.root / "a.md").read_text("utf-8") == "by hand"


def test_workspaces_of_one_repository_have_journals_of_their_own(git_repo: Path) -> None:
    folders = []
    for name in ("a", "b"):
        (git_repo / name / ".orbit").mkdir(parents=True)
        (git_repo / name / ".orbit/config.yaml").write_text(
            "format: orbit-registry\nschema_version: 1\n", "utf-8"
        )
        folders.append(open_workspace(git_repo / name).journal)
    assert folders[0] != folders[1]


def test_a_step_too_large_to_be_read_back_is_refused(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("orbit_registry.workspace.journal._LIMIT", 200)
    before = tree(workspace)

    with pytest.raises(WriteError, match="at most 200 are written at once; nothing was changed"):
        apply_step(
            workspace, "step", [FileChange("a.md", "old", "x" * 300), FileChange("b.md", None, "b")]
        )

    assert tree(workspace) == before


def test_a_step_over_a_folder_is_set_aside(workspace: Workspace) -> None:
    workspace.journal.mkdir(parents=True, exist_ok=True)
    rows = [
        {"path": "a.md", "before": "old", "after": "new"},
        {"path": "b.md", "before": None, "after": "b"},
    ]
    (workspace.journal / "s.json").write_text(json.dumps({"step": "s", "changes": rows}), "utf-8")
    (workspace.root / "b.md").mkdir()

    assert recover(workspace) == ["set aside the unreadable journal s.json"]

    assert (workspace.root / "a.md").read_text("utf-8") == "old"


@pytest.mark.parametrize("after", ["new", None])
def test_an_entry_below_a_file_is_set_aside(workspace: Workspace, after: str | None) -> None:
    workspace.journal.mkdir(parents=True, exist_ok=True)
    rows = [{"path": "a.md/b.md", "before": None if after else "old", "after": after}]
    (workspace.journal / "step-1.json").write_text(
        json.dumps({"step": "step", "changes": rows}), "utf-8"
    )

    assert recover(workspace) == ["set aside the unreadable journal step-1.json"]
    assert recover(workspace) == []
    assert (workspace.root / "a.md").read_text("utf-8") == "old"
