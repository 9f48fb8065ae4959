"""Journal steps: after a kill and edits, the next writer finishes or undoes them."""

import json
import shutil
import tempfile
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from orbit_registry.model.kind import load_kinds
from orbit_registry.workspace.config import config_of
from orbit_registry.workspace.journal import FileChange, apply_step, recover, unfinished_steps
from orbit_registry.workspace.workspace import Workspace

PATHS = ["a.md", "docs/b.md", "docs/deep/c.yaml", ".orbit/learnings/L-1/learning.yaml"]
TEXTS = st.one_of(
    st.none(), st.sampled_from(["", "one\n", "two\r\n", "\udcff\x00"]), st.text(max_size=5)
)
STATES = st.sampled_from(["before", "after", "foreign"])


@st.composite
def steps(draw: st.DrawFn) -> list[FileChange]:
    """Return the changes of one step: some files come, some change, some go."""
    changes = []
    for path in draw(st.lists(st.sampled_from(PATHS), min_size=2, max_size=4, unique=True)):
        before = draw(TEXTS)
        after = draw(TEXTS.filter(lambda text, old=before: text != old))
        changes.append(FileChange(path, before, after))
    return changes


def workspace_in(folder: str) -> Workspace:
    root = Path(folder).resolve()
    (root / ".orbit").mkdir()
    return Workspace(root, config_of({}), load_kinds())


def put(root: Path, path: str, text: str | None) -> None:
    file = root / path
    if text is None:
        file.unlink(missing_ok=True)
    else:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode("utf-8", "surrogateescape"))


def text_of(root: Path, path: str) -> str | None:
    file = root / path
    return file.read_bytes().decode("utf-8", "surrogateescape") if file.exists() else None


@given(steps(), st.data())
def test_a_step_that_was_begun_ends_done_or_undone(
    changes: list[FileChange], draw: st.DataObject
) -> None:
    states = [draw.draw(STATES) for _ in changes]
    with tempfile.TemporaryDirectory() as folder:
        workspace = workspace_in(folder)
        for change, state in zip(changes, states, strict=True):
            foreign = f"{change.before}{change.after} edited"
            put(
                workspace.root,
                change.path,
                {"before": change.before, "after": change.after, "foreign": foreign}[state],
            )
        workspace.journal.mkdir(parents=True)
        rows = [
            {"path": change.path, "before": change.before, "after": change.after}
            for change in changes
        ]
        (workspace.journal / "step-1.json").write_text(
            json.dumps({"step": "step", "changes": rows}), "utf-8"
        )
        assert unfinished_steps(workspace)

        [message] = recover(workspace)

        now = [text_of(workspace.root, change.path) for change in changes]
        expected = [
            {"before": c.before, "after": c.after, "foreign": f"{c.before}{c.after} edited"}[state]
            for c, state in zip(changes, states, strict=True)
        ]
        if "foreign" in states and all(
            text != change.before for change, text in zip(changes, expected, strict=True)
        ):
            assert message == "found step finished"
            assert now == expected
        elif "foreign" in states:
            assert message.startswith("undid step")
            for change, state, text in zip(changes, states, now, strict=True):
                assert text == (
                    f"{change.before}{change.after} edited" if state == "foreign" else change.before
                )
        else:
            assert message.startswith("finished step (")
            assert now == [change.after for change in changes]
        assert not unfinished_steps(workspace)
        assert recover(workspace) == []


@given(steps())
def test_a_step_is_made_whole(changes: list[FileChange]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        workspace = workspace_in(folder)
        for change in changes:
            put(workspace.root, change.path, change.before)

        apply_step(workspace, "step", changes)

        assert [text_of(workspace.root, change.path) for change in changes] == [
            change.after for change in changes
        ]
        assert not unfinished_steps(workspace)
        shutil.rmtree(workspace.state, ignore_errors=True)
        files = {
            path.relative_to(workspace.root).as_posix()
            for path in workspace.root.rglob("*")
            if path.is_file()
        }
        assert files == {change.path for change in changes if change.after is not None}
