"""Allocation of numbers: one above the highest, with where that one was seen."""

import json
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.files import commit, write

from orbit_registry.model.kind import load_kinds
from orbit_registry.operations.init import setup_workspace
from orbit_registry.repository.ids import Allocation, allocate
from orbit_registry.workspace.workspace import open_workspace

Git = Callable[..., str]


def take(root: Path, count: int = 1) -> list[Allocation]:
    workspace = open_workspace(root)
    return allocate(workspace, workspace.kinds["adr"], count)


def record(root: Path, name: str, parent: str = ".orbit/adrs") -> None:
    (root / parent / name).mkdir(parents=True)
    (root / parent / name / "adr.yaml").write_text("x: 1\n", "utf-8")


@pytest.mark.parametrize(
    ("path", "next_id"),
    [
        (".orbit/adrs/ADR-0041/adr.yaml", "ADR-0042"),
        (".orbit/state/inbox/adrs/ADR-0041/adr.yaml", "ADR-0042"),
        (".orbit/adrs/ADR-12345/adr.yaml", "ADR-12346"),
        (".orbit/adrs/ADR-99999999999999999999/adr.yaml", "ADR-0001"),
        ("docs/adr/0041-x.md", "ADR-0042"),
        ("docs/adr/adr-041-x.md", "ADR-0042"),
        ("docs/adr/ADR-0041.md", "ADR-0042"),
        ("docs/adr/20240101-x.md", "ADR-0001"),
        ("docs/adr/2024-01-01-x.md", "ADR-0001"),
        ("docs/adr/template.md", "ADR-0001"),
        ("docs/adr/0041-x.txt", "ADR-0001"),
        (".orbit/adrs/notes.txt", "ADR-0001"),
        (".orbit/adrs/.tmp-ADR-0041-1-2/adr.yaml", "ADR-0001"),
        ("docs/other/0041-x.md", "ADR-0001"),
    ],
)
def test_a_number_in_a_name_counts(workspace_root: Path, path: str, next_id: str) -> None:
    file = workspace_root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("text\n", "utf-8")

    assert [allocation.id for allocation in take(workspace_root)] == [next_id]


@pytest.mark.parametrize(
    ("heading", "next_id"),
    [
        ("## ADR-0041 — X", "ADR-0042"),
        ("## [ADR-41] X", "ADR-0042"),
        ("### ADR 41: X", "ADR-0042"),
        ("See ADR-0041.", "ADR-0001"),
        ("## Like ADR-0041", "ADR-0001"),
        ("## ADR-0041x", "ADR-0001"),
    ],
)
def test_a_heading_in_a_log_counts(workspace_root: Path, heading: str, next_id: str) -> None:
    file = workspace_root / "docs/design/f/4_decisions.md"
    file.parent.mkdir(parents=True)
    file.write_bytes(f"# f\r\n\r\n{heading}\r\n".encode() + b"\xff\n")

    assert [allocation.id for allocation in take(workspace_root)] == [next_id]


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{",
        "[]",
        '{"highest": "many"}',
        '{"highest": null, "root": "x"}',
        '{"highest": -5, "root": "x"}',
        "\x00",
    ],
)
def test_a_broken_claim_is_no_number(workspace_root: Path, content: str) -> None:
    record(workspace_root, "ADR-0007")
    claims = write(workspace_root, ".orbit/state/claims/adr.json", content)

    assert [allocation.id for allocation in take(workspace_root)] == ["ADR-0008"]
    assert json.loads(claims.read_text("utf-8"))["highest"] == 8


def committed(repo: Path, git: Git, name: str) -> None:
    record(repo, name)
    commit(repo, name)


@pytest.fixture
def repo(git_repo: Path, git: Git) -> Path:
    setup_workspace(git_repo, load_kinds())
    commit(git_repo, "Init")
    return git_repo


@pytest.mark.parametrize("kind", ["branch", "tag", "detached"])
def test_a_number_on_any_ref_counts(repo: Path, git: Git, kind: str) -> None:
    git(repo, "checkout", "-qb", "other")
    committed(repo, git, "ADR-0041")
    if kind == "tag":
        git(repo, "tag", "v1")
    git(repo, "checkout", "-q", *(["--detach"] if kind == "detached" else []), "main")
    if kind == "tag":
        git(repo, "branch", "-qD", "other")

    assert take(repo) == [
        Allocation("ADR-0042", f"ADR-0041 on {'v1' if kind == 'tag' else 'other'}")
    ]


def test_a_number_on_a_remote_says_how_old_that_is(repo: Path, git: Git, tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", str(repo), str(clone))
    committed(repo, git, "ADR-0041")
    git(clone, "fetch", "-q")
    then = time.time() - 3 * 3600
    os.utime(clone / ".git/FETCH_HEAD", (then, then))

    [allocation] = take(clone)

    assert allocation.id == "ADR-0042"
    assert allocation.above in (
        "ADR-0041 on origin/main, fetched 3 h ago",
        "ADR-0041 on origin/HEAD, fetched 3 h ago",
    )


def test_a_workspace_in_a_subfolder_has_its_own_numbers(repo: Path, git: Git) -> None:
    committed(repo, git, "ADR-0041")
    (repo / "sub").mkdir()
    write(repo, "sub/.orbit/config.yaml", "format: orbit-registry\nschema_version: 1\n")
    (repo / ".git/orbit/adr.json").unlink(missing_ok=True)

    assert [allocation.id for allocation in take(repo / "sub")] == ["ADR-0001"]


@pytest.mark.parametrize("below", ["part", "part of/it"])
def test_a_workspace_below_the_root_sees_other_branches(repo: Path, git: Git, below: str) -> None:
    root = repo / below
    write(root, ".orbit/config.yaml", "format: orbit-registry\nschema_version: 1\n")
    commit(repo, "Part")
    git(repo, "checkout", "-qb", "other")
    committed(root, git, "ADR-0041")
    git(repo, "checkout", "-q", "main")

    assert take(root) == [Allocation("ADR-0042", "ADR-0041 on other")]


def test_a_claim_of_several_numbers_reserves_all_of_them(workspace_root: Path) -> None:
    """Another process may take a number before the records of the first are written."""
    several = [allocation.id for allocation in take(workspace_root, 3)]
    following = [allocation.id for allocation in take(workspace_root, 2)]
    assert several == ["ADR-0001", "ADR-0002", "ADR-0003"]
    assert following == ["ADR-0004", "ADR-0005"]
