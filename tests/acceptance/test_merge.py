"""Merges of real clones: two records that took one number, logs that both sides extended, and runs that were killed."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from orbit_registry.registry import Registry
from orbit_registry.store.adrs import NewAdr
from orbit_registry.store.setup import DRIVER

Git = Callable[..., str]
DRIVER_COMMAND = f"{sys.executable} -m orbit_registry.cli.main merge-driver %O %A %B %P"


def orbit(folder: Path, *arguments: str, code: int = 0) -> str:
    """Run the command line in a folder and return what it printed."""
    done = subprocess.run(
        [sys.executable, "-m", "orbit_registry.cli.main", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout


def commit(git: Git, folder: Path, message: str) -> None:
    """Commit everything there is."""
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", message)


def add(folder: Path, title: str, feature: str | None = None, style: str = "file") -> str:
    """Add a decision and return its id."""
    level = "##" if style == "file" else "###"
    body = f"{level} Context\n\n{title}?\n\n{level} Decision\n\n{title}.\n\n{level} Consequences\n\n- Cost: work.\n"
    wanted = NewAdr(title, feature=feature, style=style, status="accepted", body=body)
    return Registry.open(folder).add_adr(wanted).record.id


def ids(folder: Path) -> dict[str, str]:
    """Return id → title of every decision."""
    return {record.id: record.title for record in Registry.open(folder).records}


def conflict(folder: Path, *arguments: str) -> None:
    """Run git and see it stop at a conflict."""
    done = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode != 0, done.stdout
    assert "CONFLICT" in done.stdout + done.stderr


@pytest.fixture
def origin(git_repo: Path, git: Git) -> Path:
    """Return a repository with Orbit and one decision of each style."""
    Registry.init(git_repo)
    add(git_repo, "Keep prose in one place")
    add(git_repo, "Store records as YAML", "registry", "log")
    (git_repo / "src").mkdir()
    (git_repo / "src" / "app.py").write_text("# keeps ADR-0001\nvalue = 1\n\n\n\n\n\nother = 2\n", "utf-8")
    commit(git, git_repo, "Set up")
    return git_repo


@pytest.fixture
def clones(origin: Path, tmp_path: Path, git: Git) -> tuple[Path, Path]:
    """Return two clones that know nothing of each other's work."""
    result = []
    for name in ("ours", "theirs"):
        git(tmp_path, "clone", "-q", str(origin), name)
        result.append(tmp_path / name)
        Registry.init(result[-1])
        git(result[-1], "config", f"merge.{DRIVER}.driver", DRIVER_COMMAND)
    git(origin, "config", "receive.denyCurrentBranch", "updateInstead")
    return result[0], result[1]


@pytest.mark.parametrize("style", ["file", "log"])
def test_two_clones_that_took_one_number_meet_in_a_conflict_that_resolve_mends(
    clones: tuple[Path, Path], git: Git, style: str
) -> None:
    """The decision on the default branch keeps its number, the other gets a new one, and its citations follow."""
    ours, theirs = clones
    feature = "registry" if style == "log" else None
    assert add(theirs, "Ship a wheel", feature, style) == "ADR-0003"
    commit(git, theirs, "Decide on a wheel")
    (theirs / "src" / "wheel.py").write_text("# built as ADR-0003 says\n", "utf-8")
    commit(git, theirs, "Build it")
    git(theirs, "push", "-q")
    assert add(ours, "Write a snapshot", feature, style) == "ADR-0003"
    registry = Registry.open(ours)
    assert add(ours, "Name the snapshot", feature, style) == "ADR-0004"
    registry.update("ADR-0004", lambda data: {**data, "links": [{"rel": "extends", "to": "ADR-0003"}]})
    code = (ours / "src" / "app.py").read_text("utf-8")
    (ours / "src" / "app.py").write_text(code.replace("other = 2", "other = 2  # see ADR-0003, not ADR-00030"), "utf-8")
    (ours / "docs" / "guide.md").write_text("As [ADR-0003](x.md#adr-0003) and ADR-0001 say.\n", "utf-8")
    commit(git, ours, "Decide on a snapshot")
    conflict(ours, "pull", "-q", "--no-rebase", "--no-edit")

    report = Registry.open(ours).resolve()

    assert report.unresolved == ()
    assert report.unclear == ()
    assert report.others == ()
    assert git(ours, "ls-files", "-u") == ""
    found = ids(ours)
    assert found["ADR-0003"] == "Ship a wheel"
    assert found["ADR-0004"] == "Name the snapshot"
    assert found["ADR-0005"] == "Write a snapshot"
    assert "see ADR-0005, not ADR-00030" in (ours / "src" / "app.py").read_text("utf-8")
    assert (ours / "src" / "wheel.py").read_text("utf-8") == "# built as ADR-0003 says\n"
    guide = (ours / "docs" / "guide.md").read_text("utf-8")
    assert guide == "As [ADR-0005](x.md#adr-0005) and ADR-0001 say.\n"
    registry = Registry.open(ours)
    assert registry.get("ADR-0004").links[0].to == "ADR-0005"
    assert registry.get("ADR-0003").title == "Ship a wheel"
    assert registry.get("write-a-snapshot/ADR-0003").id == "ADR-0005"
    source = registry.get("ADR-0005").source
    assert source is not None
    text = (ours / source.path).read_text("utf-8")
    if style == "file":
        assert source.path == "docs/adr/0005-write-a-snapshot.md"
        assert not (ours / "docs" / "adr" / "0003-write-a-snapshot.md").exists()
        assert text.startswith("# ADR-0005 — Write a snapshot\n")
    else:
        assert [line for line in text.splitlines() if line.startswith("## ")] == [
            "## ADR-0002 — Store records as YAML",
            "## ADR-0003 — Ship a wheel",
            "## ADR-0004 — Name the snapshot",
            "## ADR-0005 — Write a snapshot",
        ]
    assert git(ours, "diff", "--name-only") == ""
    assert Registry.open(ours).resolve().is_empty
    orbit(ours, "check")
    git(ours, "commit", "-q", "--no-edit")
    assert git(ours, "status", "--porcelain") == ""
