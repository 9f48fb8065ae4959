"""What git said of the work tree is remembered as long as it would say it again, and no longer."""

from __future__ import annotations

import json
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.unit.store.test_cache import wait_for_the_next_tick

from orbit_registry.store.reader import Reading, read_collection
from orbit_registry.store.work_tree import Tracked, edited_files, tracked_files
from orbit_registry.store.workspace import Workspace, open_workspace

UID = "0123456789abcdef0123456789abcdef"
LEARNING = """schema_version: 1
id: L-{code}
uid: {uid}
status: active
summary: Summary {code}
created_at: 2026-05-17T12:00:00Z
updated_at: 2026-05-17T12:00:00Z
"""
CODES = ("aaaaa", "bbbbb", "ccccc", "ddddd")


def git(root: Path, *arguments: str) -> str:
    """Run git."""
    done = subprocess.run(["git", *arguments], cwd=root, check=True, capture_output=True)
    return done.stdout.decode("utf-8", "surrogateescape")


def record(root: Path, code: str) -> Path:
    """Return the file of a learning."""
    return root / f".orbit/learnings/L-{code}/learning.yaml"


@pytest.fixture(params=["", "part/", "two\nlines/", "no \udcff Unicode/"], ids=ascii)
def workspace(git_repo: Path, request: pytest.FixtureRequest) -> Workspace:
    """Return a workspace with four committed learnings, at the root of its repository or in a folder of it."""
    root = git_repo / request.param
    (root / ".orbit").mkdir(parents=True)
    (root / ".orbit/config.yaml").write_text("format: orbit-registry\nschema_version: 1\n", "utf-8")
    (root / ".gitignore").write_text(".orbit/state/\n", "utf-8")
    for number, code in enumerate(CODES):
        record(root, code).parent.mkdir(parents=True)
        record(root, code).write_text(LEARNING.format(code=code, uid=UID[number:] + UID[:number]), "utf-8")
    (root / "docs").mkdir()
    (root / "docs/guide.md").write_text("# Guide\n", "utf-8")
    git(git_repo, "add", "-A")
    git(git_repo, "commit", "-qm", "Start")
    wait_for_the_next_tick(root)
    found = open_workspace(root)
    read_collection(found)
    return found


def asked(workspace: Workspace) -> set[str]:
    """Return what differs from HEAD, as a new run would tell."""
    fresh = open_workspace(workspace.root)
    tracked = fresh.git.tracked() or ()
    return edited_files(fresh, Reading(fresh), tracked, fresh.git.head())


def said(workspace: Workspace) -> set[str]:
    """Return what git says when it is asked of everything; it writes no index anew, which would make it another one."""
    asked_for = ("--porcelain=v1", "-z", "--no-renames", "--untracked-files=no", "--", ".")
    rows = git(workspace.root, "--no-optional-locks", "status", *asked_for)
    top = len(workspace.git.prefix)
    return {row[3 + top :] for row in rows.split("\0") if row}


def append(path: Path, text: str = "# more\n") -> None:
    """Add a line to a file."""
    with path.open("a", encoding="utf-8") as file:
        file.write(text)


def restore(root: Path) -> None:
    """Give a learning the content again that HEAD has."""
    record(root, "aaaaa").write_text(git(root, "show", "HEAD:./.orbit/learnings/L-aaaaa/learning.yaml"), "utf-8")


STEPS: dict[str, Callable[[Path], object]] = {
    "nothing": lambda root: None,
    "a record": lambda root: append(record(root, "aaaaa")),
    "a record again": lambda root: append(record(root, "aaaaa"), "# once more\n"),
    "a record put back": restore,
    "a record edited after that": lambda root: append(record(root, "aaaaa")),
    "a document": lambda root: append(root / "docs/guide.md"),
    "votes": lambda root: append(record(root, "bbbbb").with_name("votes.jsonl"), "torn\n"),
    "votes staged": lambda root: git(root, "add", "-A"),
    "votes changed": lambda root: append(record(root, "bbbbb").with_name("votes.jsonl"), "torn\n"),
    "a record edited once more": lambda root: append(record(root, "aaaaa")),
    "a folder away": lambda root: record(root, "aaaaa").parent.rename(root / "aside"),
    "a folder back": lambda root: (root / "aside").rename(record(root, "aaaaa").parent),
    "a record touched": lambda root: record(root, "ccccc").touch(),
    "a record gone": lambda root: record(root, "ccccc").unlink(),
    "a folder gone": lambda root: shutil.rmtree(record(root, "ddddd").parent),
    "a folder renamed": lambda root: record(root, "bbbbb").parent.rename(record(root, "eeeee").parent),
    "all staged": lambda root: git(root, "add", "-A"),
    "HEAD alone moved": lambda root: git(root, "commit", "-qm", "Second"),
    "HEAD moved back": lambda root: git(root, "reset", "-q", "--soft", "HEAD~1"),
    "the index moved back": lambda root: git(root, "reset", "-q"),
    "the files moved back": lambda root: git(root, "checkout", "-q", "--", "."),
    "not to be looked at": lambda root: git(root, "update-index", "--assume-unchanged", "docs/guide.md"),
    "and changed": lambda root: append(root / "docs/guide.md"),
}


@pytest.mark.parametrize(
    ("workspace", "between"), [("", "nothing"), ("", "a reading"), ("part/", "time")], indirect=["workspace"]
)
def test_what_is_remembered_is_what_git_says(workspace: Workspace, between: str) -> None:
    """After each of many steps the answer is git's own, whether files had time to settle and were read, or not."""
    for name, step in STEPS.items():
        step(workspace.root)
        for _ in range(2):
            if between != "nothing":
                wait_for_the_next_tick(workspace.root)
            assert asked(workspace) == said(workspace), name
        if between == "a reading" and "folder" not in name:
            read_collection(open_workspace(workspace.root))
            assert asked(workspace) == said(workspace), name


def read_when_settled(workspace: Workspace) -> None:
    """Read the records when no later write can have a stamp of theirs: what is kept then says how all of them stand."""
    wait_for_the_next_tick(workspace.root)
    read_collection(open_workspace(workspace.root))


@pytest.mark.parametrize("is_edited", [False, True])
def test_what_could_not_be_seen_is_asked_again(workspace: Workspace, is_edited: bool) -> None:
    """A folder that is away when git is asked and then back has files with the stamps that are known."""
    folder = record(workspace.root, "aaaaa").parent
    append(record(workspace.root, "aaaaa"), "# more\n" if is_edited else "")
    read_when_settled(workspace)
    folder.rename(workspace.root / "aside")
    assert asked(workspace) == said(workspace)
    (workspace.root / "aside").rename(folder)
    assert asked(workspace) == said(workspace)
    assert bool(asked(workspace)) is is_edited


def test_what_git_said_of_another_state_is_not_believed(workspace: Workspace) -> None:
    """A record that was edited when git was asked, and is as it was when the records are read again."""
    append(record(workspace.root, "aaaaa"))
    read_when_settled(workspace)
    assert asked(workspace) == said(workspace) != set()
    restore(workspace.root)
    read_when_settled(workspace)
    assert asked(workspace) == said(workspace) == set()


def traced(workspace: Workspace, monkeypatch: pytest.MonkeyPatch, work: Callable[[], Any]) -> list[list[str]]:
    """Return the questions that git was asked meanwhile."""
    file = workspace.root.parent / f"trace-{time.monotonic_ns()}"
    with monkeypatch.context() as patch:
        patch.setenv("GIT_TRACE2_EVENT", str(file))
        work()
    lines = file.read_text("utf-8").splitlines() if file.exists() else []
    starts = [event["argv"] for line in lines if (event := json.loads(line))["event"] == "start"]
    return [argv[argv.index(verb) :] for argv in starts for verb in ("status", "ls-files") if verb in argv]


def test_git_is_asked_of_no_record_that_stands_as_it_did(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second run leaves records out; one that moved since is named, alone."""
    wait_for_the_next_tick(workspace.root)
    asked(workspace)
    own = ":(exclude,glob).orbit/learnings/*/"
    ((_, *first),) = traced(workspace, monkeypatch, lambda: edited_of(workspace))
    assert first[-3:] == [".", f"{own}learning.yaml", f"{own}votes.jsonl"]

    append(record(workspace.root, "bbbbb"))
    questions = traced(workspace, monkeypatch, lambda: edited_of(workspace))
    assert [question[-1] for question in questions] == [
        f"{own}votes.jsonl",
        ":(literal).orbit/learnings/L-bbbbb/learning.yaml",
    ]


def test_where_many_moved_git_looks_at_all(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """A command line that names each of ten thousand files is longer than some systems take."""
    asked(workspace)
    files = [
        ".orbit/learnings/L-aaaaa/learning.yaml",
        *(f".orbit/learnings/L-b{n:04}/learning.yaml" for n in range(101)),
    ]
    reading, head = Reading(workspace), workspace.git.head()
    ((*_, last),) = traced(workspace, monkeypatch, lambda: edited_files(workspace, reading, files, head))
    assert last == "."


def edited_of(workspace: Workspace) -> set[str]:
    """Return what `asked` does, with the files listed beforehand."""
    files = [f".orbit/learnings/L-{code}/learning.yaml" for code in CODES]
    return edited_files(workspace, Reading(workspace), files, workspace.git.head())


def test_the_tracked_files_are_listed_once(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are remembered with the choice among them; another index, other wishes and another place are asked anew."""

    def found(wanted: str) -> list[str]:
        fresh = open_workspace(workspace.root)
        listing = tracked_files(fresh, [wanted], lambda files: [path for path in files if path.startswith(wanted)])
        assert listing is not None
        assert listing.files == tuple(fresh.git.tracked() or ())
        return list(listing.chosen)

    def questions() -> int:
        fresh = open_workspace(workspace.root)
        return len(traced(workspace, monkeypatch, lambda: tracked_files(fresh, ["docs"], lambda files: ["nothing"])))

    assert found("docs") == ["docs/guide.md"]
    assert questions() == 0
    assert found("docs") == ["docs/guide.md"]
    assert found(".orbit/c") == [".orbit/config.yaml"]

    (workspace.root / "docs/more.md").write_text("# More\n", "utf-8")
    git(workspace.root, "add", "docs/more.md")
    assert found("docs") == ["docs/guide.md", "docs/more.md"]
    shutil.copy(own_index(workspace), workspace.root.parent / "another")
    git(workspace.root, "rm", "-q", "--cached", "docs/more.md")
    assert found("docs") == ["docs/guide.md"]
    with monkeypatch.context() as patch:
        patch.setenv("GIT_INDEX_FILE", str(workspace.root.parent / "another"))
        assert found("docs") == ["docs/guide.md", "docs/more.md"]
        assert asked(workspace) == said(workspace) == {"docs/more.md"}
    if workspace.git.prefix:
        other = workspace.root.rename(workspace.root.with_name("other"))
        assert tracked_files(open_workspace(other), ["docs"], list) == Tracked((), ())


def own_index(workspace: Workspace) -> Path:
    """Return git's index."""
    return workspace.root / git(workspace.root, "rev-parse", "--git-path", "index").strip()


def test_outside_git_nothing_is_tracked(tmp_path: Path) -> None:
    """There is nothing to list, and nothing is remembered."""
    (tmp_path / ".orbit").mkdir()
    (tmp_path / ".orbit/config.yaml").write_text("format: orbit-registry\nschema_version: 1\n", "utf-8")
    assert tracked_files(open_workspace(tmp_path), [], list) is None
