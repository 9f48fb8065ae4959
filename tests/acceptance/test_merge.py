"""Merges of real clones: two records that took one number, logs that both sides extended, and runs that were killed."""

from __future__ import annotations

import os
import re
import shutil
import signal
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


def log_of(folder: Path) -> Path:
    """Return the log that the fixtures fill."""
    return folder / "docs" / "design" / "registry" / "4_decisions.md"


def headings(folder: Path) -> list[str]:
    """Return the numbers of the log's entries, in its order."""
    lines = log_of(folder).read_text("utf-8").splitlines()
    return [line.split(" ")[1] for line in lines if line.startswith("## ")]


def two_logs(clones: tuple[Path, Path], git: Git) -> Path:
    """Let both clones append to one log, under different numbers, and return the one that has to merge."""
    ours, theirs = clones
    add(theirs, "Ship a wheel", "registry", "log")
    commit(git, theirs, "Decide on a wheel")
    git(theirs, "push", "-q")
    registry = Registry.open(ours)
    add(ours, "Write a snapshot", "registry", "log")
    registry.renumber("ADR-0003", 9)
    commit(git, ours, "Decide on a snapshot")
    return ours


def test_two_branches_that_append_to_one_log_merge_by_the_driver(clones: tuple[Path, Path], git: Git) -> None:
    """With the merge driver, git merges them without a conflict, in ascending order."""
    ours = two_logs(clones, git)
    git(ours, "pull", "-q", "--no-rebase", "--no-edit")
    assert headings(ours) == ["ADR-0002", "ADR-0003", "ADR-0009"]
    orbit(ours, "check")


def test_two_branches_that_append_to_one_log_merge_by_resolve(clones: tuple[Path, Path], git: Git) -> None:
    """Without the driver, git stops at a conflict and `orbit resolve` mends it."""
    ours = two_logs(clones, git)
    git(ours, "config", "--remove-section", f"merge.{DRIVER}")
    conflict(ours, "pull", "-q", "--no-rebase", "--no-edit")
    said = orbit(ours, "resolve", "--dry-run")
    assert "<<<<<<<" in log_of(ours).read_text("utf-8")
    assert "merged by entry" in said
    orbit(ours, "resolve")
    assert headings(ours) == ["ADR-0002", "ADR-0003", "ADR-0009"]
    assert git(ours, "ls-files", "-u") == ""
    orbit(ours, "check")


@pytest.mark.parametrize(("style", "older"), [("file", True), ("log", True), ("log", False)])
def test_a_rebase_stops_and_resolve_lets_it_go_on(clones: tuple[Path, Path], git: Git, style: str, older: bool) -> None:
    """The decision on the default branch keeps its number, though git calls it ours; later steps follow the other."""
    ours, theirs = clones
    feature = "registry" if style == "log" else None
    add(theirs, "Ship a wheel", feature, style)
    commit(git, theirs, "Decide on a wheel")
    git(theirs, "push", "-q")
    add(ours, "Write a snapshot", feature, style)
    if older:  # git then sees a conflict in the record's times; else it mixes up the two records without a word
        file = ours / ".orbit/adrs/ADR-0003/adr.yaml"
        file.write_text(re.sub(r'_at: "20\d\d', '_at: "2020', file.read_text("utf-8")), "utf-8")
    (ours / "src" / "snapshot.py").write_text("# see ADR-0003\n", "utf-8")
    commit(git, ours, "Decide on a snapshot")
    record = Registry.open(ours).update("ADR-0003", lambda data: {**data, "summary": "Readers open the snapshot."})
    assert record.source is not None
    document = ours / record.source.path
    text = document.read_text("utf-8").replace("Write a snapshot.", "Write a snapshot, as ADR-0003 says.")
    document.write_text(text, "utf-8")
    commit(git, ours, "Say more")
    conflict(ours, "pull", "-q", "--rebase")
    assert Registry.open(ours).resolve().operation == "rebase"
    assert ids(ours)["ADR-0004"] == "Write a snapshot"
    conflict(ours, "-c", "core.editor=true", "rebase", "--continue")
    report = Registry.open(ours).resolve()
    assert (report.unresolved, report.renumbered, report.unclear) == ((), (), ())
    git(ours, "-c", "core.editor=true", "rebase", "--continue")
    record = Registry.open(ours).get("ADR-0004")
    assert record.text("summary") == "Readers open the snapshot."
    assert Registry.open(ours).get("ADR-0003").text("summary") is None
    assert record.source is not None
    assert "Write a snapshot, as ADR-0004 says." in (ours / record.source.path).read_text("utf-8")
    assert (ours / "src" / "snapshot.py").read_text("utf-8") == "# see ADR-0004\n"
    assert git(ours, "status", "--porcelain") == ""
    orbit(ours, "check")


def test_a_cherry_pick_is_mended_too(clones: tuple[Path, Path], git: Git) -> None:
    """A picked commit that brings a number twice gets a new one."""
    ours, _ = clones
    git(ours, "switch", "-q", "-c", "side")
    add(ours, "Write a snapshot")
    (ours / "src" / "snapshot.py").write_text("# see ADR-0003\n", "utf-8")
    commit(git, ours, "Decide on a snapshot")
    git(ours, "switch", "-q", "main")
    (ours / ".git" / "orbit" / "adr.json").unlink()
    git(ours, "branch", "-q", "-m", "side", "hidden")
    picked = git(ours, "rev-parse", "hidden").strip()
    git(ours, "branch", "-q", "-D", "hidden")
    assert add(ours, "Ship a wheel") == "ADR-0003"
    commit(git, ours, "Decide on a wheel")
    conflict(ours, "cherry-pick", picked)
    report = Registry.open(ours).resolve()
    assert report.operation == "cherry-pick"
    assert ids(ours)["ADR-0003"] == "Ship a wheel"
    assert ids(ours)["ADR-0004"] == "Write a snapshot"
    assert (ours / "src" / "snapshot.py").read_text("utf-8") == "# see ADR-0004\n"
    assert git(ours, "ls-files", "-u") == ""


def test_a_feature_branch_that_merges_main_gives_way(clones: tuple[Path, Path], git: Git) -> None:
    """Merged the other way round, it is our own decision that is renumbered, in every file that our side wrote."""
    ours, theirs = clones
    add(theirs, "Ship a wheel")
    commit(git, theirs, "Decide on a wheel")
    git(theirs, "push", "-q")
    git(ours, "switch", "-q", "-c", "feature")
    add(ours, "Write a snapshot")
    add(ours, "Name the snapshot")
    (ours / "docs" / "guide.md").write_text("ADR-0003, then [ADR-0004](adr/0004-name-the-snapshot.md).\n", "utf-8")
    (ours / "docs" / "list.md").write_text("See adr/0003-write-a-snapshot.md.\n", "utf-8")
    commit(git, ours, "Decide on a snapshot")
    git(ours, "fetch", "-q")
    conflict(ours, "merge", "-q", "origin/main")
    report = Registry.open(ours).resolve()
    assert [(one.old, one.new) for one in report.renumbered] == [("ADR-0003", "ADR-0005")]
    assert "origin/main" in report.renumbered[0].why
    guide = (ours / "docs" / "guide.md").read_text("utf-8")
    assert guide == "ADR-0005, then [ADR-0004](adr/0004-name-the-snapshot.md).\n"
    assert (ours / "docs" / "list.md").read_text("utf-8") == "See adr/0005-write-a-snapshot.md.\n"
    assert git(ours, "diff", "--name-only") == ""


def test_two_decisions_in_one_file_name_part(clones: tuple[Path, Path], git: Git) -> None:
    """Where both sides wrote a document of the same name, each record keeps its own text."""
    ours, theirs = clones
    for folder, word in ((theirs, "theirs"), (ours, "ours")):
        add(folder, "Write a snapshot")
        document = folder / "docs" / "adr" / "0003-write-a-snapshot.md"
        document.write_text(document.read_text("utf-8").replace("snapshot?", f"snapshot of {word}, ADR-0003?"), "utf-8")
        commit(git, folder, "Decide on a snapshot")
    git(theirs, "push", "-q")
    conflict(ours, "pull", "-q", "--no-rebase", "--no-edit")
    report = Registry.open(ours).resolve()
    assert report.unresolved == ()
    documents = ours / "docs" / "adr"
    assert "theirs, ADR-0003?" in (documents / "0003-write-a-snapshot.md").read_text("utf-8")
    assert "ours, ADR-0004?" in (documents / "0004-write-a-snapshot.md").read_text("utf-8")
    assert git(ours, "diff", "--name-only") == ""
    orbit(ours, "check")
    assert sorted(ids(ours)) == ["ADR-0001", "ADR-0002", "ADR-0003", "ADR-0004"]


def test_votes_of_both_sides_are_kept(clones: tuple[Path, Path], git: Git) -> None:
    """A forge that ignores union merge leaves a conflict; both sides' votes stand after resolving, each once."""
    ours, theirs = clones
    record = Registry.open(theirs).add("learning", {"summary": "Look before you leap", "scope": {"tags": ["care"]}})
    Registry.open(theirs).vote(record.id, "T-0", "model")
    commit(git, theirs, "Learn")
    git(theirs, "push", "-q")
    git(ours, "pull", "-q", "--no-edit")
    (ours / ".gitattributes").unlink()
    for folder, task in ((theirs, "T-1"), (ours, "T-2")):
        Registry.open(folder).vote(record.id, task, "model")
        commit(git, folder, "Vote")
    git(theirs, "push", "-q")
    conflict(ours, "pull", "-q", "--no-rebase", "--no-edit")
    assert Registry.open(ours).resolve().unresolved == ()
    assert {vote.task_id for vote in Registry.open(ours).get(record.id).votes} == {"T-0", "T-1", "T-2"}
    assert len((ours / record.folder / "votes.jsonl").read_text("utf-8").splitlines()) == 3
    assert git(ours, "ls-files", "-u") == ""


def edited_apart(
    clones: tuple[Path, Path], git: Git, ours_do: Callable[[Path], object], theirs_do: Callable[[Path], object]
) -> Path:
    """Let both clones change what they share, and return the one that stopped at the conflict."""
    ours, theirs = clones
    for folder, change in ((theirs, theirs_do), (ours, ours_do)):
        change(folder)
        commit(git, folder, "Change")
    git(theirs, "push", "-q")
    conflict(ours, "pull", "-q", "--no-rebase", "--no-edit")
    return ours


def fields(**values: object) -> Callable[[Path], object]:
    """Return a change of ADR-0001's fields."""
    return lambda folder: Registry.open(folder).update("ADR-0001", lambda data: {**data, **values})


def test_different_fields_of_one_record_merge(clones: tuple[Path, Path], git: Git) -> None:
    """A field that one side changed is taken from it, lists take what both added, the later time of change stands."""
    ours = edited_apart(
        clones, git, fields(priority=7, labels=["a", "b"]), fields(summary="Prose stands once.", labels=["a", "c"])
    )
    assert Registry.open(ours).resolve().unresolved == ()
    record = Registry.open(ours).get("ADR-0001")
    assert record.data["priority"] == 7
    assert record.text("summary") == "Prose stands once."
    assert set(record.words("labels")) == {"a", "b", "c"}
    assert git(ours, "ls-files", "-u") == ""


def test_one_field_that_both_sides_changed_stays_in_conflict(clones: tuple[Path, Path], git: Git) -> None:
    """The field is named, with both values; the file stays as git left it."""
    ours = edited_apart(clones, git, fields(summary="Prose stands once."), fields(summary="Prose has one home."))
    before = (ours / ".orbit/adrs/ADR-0001/adr.yaml").read_text("utf-8")
    said = orbit(ours, "resolve", code=1)
    assert '`summary` is "Prose stands once." in ours, "Prose has one home." in theirs' in said
    assert (ours / ".orbit/adrs/ADR-0001/adr.yaml").read_text("utf-8") == before
    assert git(ours, "ls-files", "-u") != ""


def decision(said: str) -> Callable[[Path], object]:
    """Return a change of the shared log entry's decision."""

    def change(folder: Path) -> None:
        log = log_of(folder)
        log.write_text(log.read_text("utf-8").replace("YAML.", said), "utf-8")

    return change


def test_an_entry_that_both_sides_changed_stays_in_conflict_alone(clones: tuple[Path, Path], git: Git) -> None:
    """The entry is named; the markers stand around its changed lines; entries of either side are merged."""
    ours, theirs = clones
    add(theirs, "Ship a wheel", "registry", "log")
    add(ours, "Write a snapshot", "registry", "log")
    Registry.open(ours).renumber("ADR-0003", 9)
    ours = edited_apart(clones, git, decision("YAML, in UTF-8."), decision("YAML 1.2."))
    report = Registry.open(ours).resolve()
    assert [(left.path, left.reason) for left in report.unresolved] == [
        ("docs/design/registry/4_decisions.md", "changed on both sides: ADR-0002")
    ]
    text = log_of(ours).read_text("utf-8")
    assert text.count("<<<<<<<") == text.count(">>>>>>>") == 1
    assert headings(ours) == ["ADR-0002", "ADR-0003", "ADR-0009"]
    assert text.index(">>>>>>>") < text.index("ADR-0003")
    assert "4_decisions.md" in git(ours, "ls-files", "-u")
    settled = text.replace("<<<<<<< ours\n", "").replace(">>>>>>> theirs\n", "").replace("=======\n", "")
    log_of(ours).write_text(settled, "utf-8")
    again = Registry.open(ours).resolve()
    assert "by hand" in again.unresolved[0].reason
    assert log_of(ours).read_text("utf-8") == settled


def test_what_a_person_typed_into_a_conflict_is_not_overwritten(clones: tuple[Path, Path], git: Git) -> None:
    """A file with a line that no side has was worked on, so it is left and named."""
    ours = two_logs(clones, git)
    git(ours, "config", "--remove-section", f"merge.{DRIVER}")
    conflict(ours, "pull", "-q", "--no-rebase", "--no-edit")
    log = log_of(ours)
    log.write_text(log.read_text("utf-8") + "\nMy own words.\n", "utf-8")
    before = log.read_text("utf-8")
    report = Registry.open(ours).resolve()
    assert "by hand" in report.unresolved[0].reason
    assert log.read_text("utf-8") == before


def test_a_dry_run_changes_nothing(clones: tuple[Path, Path], git: Git) -> None:
    """It reports the same renumbering, and neither the work tree, nor the index, nor the claims change."""
    ours, theirs = clones
    for folder, title in ((theirs, "Ship a wheel"), (ours, "Write a snapshot")):
        add(folder, title)
        commit(git, folder, "Decide")
    git(theirs, "push", "-q")
    conflict(ours, "pull", "-q", "--no-rebase", "--no-edit")
    claims = (ours / ".git/orbit/adr.json").read_text("utf-8")
    before = git(ours, "status", "--porcelain"), git(ours, "diff"), git(ours, "ls-files", "-s")
    planned = Registry.open(ours).resolve(dry_run=True)
    assert (git(ours, "status", "--porcelain"), git(ours, "diff"), git(ours, "ls-files", "-s")) == before
    assert (ours / ".git/orbit/adr.json").read_text("utf-8") == claims
    done = Registry.open(ours).resolve()
    assert [(one.old, one.new) for one in planned.renumbered] == [(one.old, one.new) for one in done.renumbered]
    assert [str(one) for one in planned.files] == [str(one) for one in done.files]


def test_other_changes_of_a_file_are_not_added_along(clones: tuple[Path, Path], git: Git) -> None:
    """A file that held unstaged edits before is rewritten, but left for its author to add."""
    ours, theirs = clones
    add(theirs, "Ship a wheel")
    commit(git, theirs, "Decide")
    git(theirs, "push", "-q")
    add(ours, "Write a snapshot")
    (ours / "src" / "mine.py").write_text("# ADR-0003\n", "utf-8")
    commit(git, ours, "Decide")
    (ours / "src" / "mine.py").write_text("# ADR-0003\nunfinished\n", "utf-8")
    (ours / "src" / "new.py").write_text("# ADR-0003, not yet tracked\n", "utf-8")
    conflict(ours, "pull", "-q", "--no-rebase", "--no-edit")
    report = Registry.open(ours).resolve()
    assert report.unstaged == ("src/mine.py",)
    assert (ours / "src" / "mine.py").read_text("utf-8") == "# ADR-0004\nunfinished\n"
    assert git(ours, "show", ":src/mine.py") == "# ADR-0003\n"
    assert [(one.path, one.position.line, one.position.column) for one in report.unclear] == [("src/new.py", 1, 3)]
    assert (ours / "src" / "new.py").read_text("utf-8") == "# ADR-0003, not yet tracked\n"


def test_files_that_are_not_the_registrys_are_named_and_left(clones: tuple[Path, Path], git: Git) -> None:
    """Another file in conflict is listed; citations on the renumbered side of it follow all the same."""
    ours, theirs = clones
    for folder, title in ((theirs, "Ship a wheel"), (ours, "Write a snapshot")):
        add(folder, title)
        (folder / "README.md").write_text(f"# {title}: see ADR-0003\n", "utf-8")
        commit(git, folder, "Decide")
    git(theirs, "push", "-q")
    conflict(ours, "pull", "-q", "--no-rebase", "--no-edit")
    report = Registry.open(ours).resolve()
    assert report.others == ("README.md",)
    text = (ours / "README.md").read_text("utf-8")
    assert "# Write a snapshot: see ADR-0004\n" in text
    assert "# Ship a wheel: see ADR-0003\n" in text
    assert git(ours, "diff", "--name-only", "--diff-filter=U").split() == ["README.md"]


def test_a_workspace_below_the_repositorys_root_is_mended(tmp_path: Path, git_repo: Path, git: Git) -> None:
    """Paths are the workspace's own, also where git counts them from further up."""
    project = git_repo / "services" / "billing"
    shutil.copytree(_workspace(tmp_path), project)
    add(project, "Keep prose in one place")
    commit(git, git_repo, "Set up")
    git(git_repo, "switch", "-q", "-c", "side")
    add(project, "Write a snapshot", "f", "log")
    (project / "code.py").write_text("# ADR-0002\n", "utf-8")
    commit(git, git_repo, "Snapshot")
    git(git_repo, "tag", "kept")
    tip = git(git_repo, "rev-parse", "HEAD").strip()
    git(git_repo, "switch", "-q", "main")
    git(git_repo, "branch", "-q", "-D", "side")
    git(git_repo, "tag", "-d", "kept")
    (git_repo / ".git" / "orbit" / "adr.json").unlink()
    assert add(project, "Ship a wheel", "f", "log") == "ADR-0002"
    commit(git, git_repo, "Wheel")
    conflict(git_repo, "merge", "-q", tip)
    report = Registry.open(project).resolve()
    assert report.unresolved == ()
    assert ids(project)["ADR-0002"] == "Ship a wheel"
    assert ids(project)["ADR-0003"] == "Write a snapshot"
    assert (project / "code.py").read_text("utf-8") == "# ADR-0003\n"
    assert git(git_repo, "ls-files", "-u") == ""


def _workspace(tmp_path: Path) -> Path:
    """Return an initialised workspace outside any repository."""
    folder = tmp_path / "plain"
    folder.mkdir()
    Registry.init(folder)
    return folder


def test_resolve_has_nothing_to_do_without_a_merge(origin: Path, git: Git) -> None:
    """Outside a merge it says so and changes nothing."""
    assert orbit(origin, "resolve").strip() == "nothing to resolve"
    assert git(origin, "status", "--porcelain") == ""


def test_a_kill_at_any_file_operation_is_finished_by_the_next_run(
    clones: tuple[Path, Path], git: Git, tmp_path: Path
) -> None:
    """Killed before each change of a file in turn, a second `resolve` ends where an undisturbed one does."""
    ours, theirs = clones
    for folder, title in ((theirs, "Ship a wheel"), (ours, "Write a snapshot")):
        add(folder, title, "registry", "log")
        (folder / "src" / f"{title.split()[0]}.py").write_text("# ADR-0003\n", "utf-8")
        commit(git, folder, "Decide")
    git(theirs, "push", "-q")
    conflict(ours, "pull", "-q", "--no-rebase", "--no-edit")
    for nth in range(1, 200):
        repo = Path(shutil.copytree(ours, tmp_path / f"killed-{nth}"))
        killed = run_killed(repo, nth)
        Registry.open(repo).resolve()
        assert git(repo, "ls-files", "-u") == ""
        assert headings(repo) == ["ADR-0002", "ADR-0003", headings(repo)[-1]]
        new = headings(repo)[-1]
        assert ids(repo)[new] == "Write a snapshot"
        assert (repo / "src" / "Write.py").read_text("utf-8") == f"# {new}\n"
        assert (repo / "src" / "Ship.py").read_text("utf-8") == "# ADR-0003\n"
        assert git(repo, "diff", "--name-only") == ""
        assert not list((repo / ".orbit/state/journal").glob("*"))
        shutil.rmtree(repo)
        if not killed:
            assert nth > 10
            return
    pytest.fail("the command never ended")


def run_killed(folder: Path, nth: int) -> bool:
    """Resolve in a child that kills itself before its `nth` change of a file; False if it ended before that."""
    child = os.fork()
    if child == 0:
        count = 0

        def watch(event: str, details: tuple[object, ...]) -> None:
            nonlocal count
            flags = details[2] if event == "open" and len(details) > 2 and isinstance(details[2], int) else 0
            if event in ("os.rename", "os.remove", "os.rmdir", "os.mkdir") or flags & (os.O_WRONLY | os.O_RDWR):
                count += 1
                if count == nth:
                    os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(watch)
        try:
            Registry.open(folder).resolve()
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


def take(git: Git, repo: Path, work: Callable[[], object]) -> str:
    """Do some work on a branch that nobody sees, forget its numbers, and return its commit."""
    claims = repo / ".git" / "orbit" / "adr.json"
    before = claims.read_bytes()
    git(repo, "switch", "-q", "-c", "hidden")
    work()
    commit(git, repo, "Hidden work")
    tip = git(repo, "rev-parse", "HEAD").strip()
    git(repo, "switch", "-q", "main")
    git(repo, "branch", "-q", "-D", "hidden")
    claims.write_bytes(before)
    return tip


def test_several_numbers_taken_twice_are_all_mended(origin: Path, git: Git) -> None:
    """Each loser gets a number of its own, and citations among them follow crosswise."""

    def two(first: str, second: str, file: str) -> None:
        add(origin, first)
        add(origin, second, "registry", "log")
        (origin / file).write_text("# ADR-0003 and ADR-0004\n", "utf-8")
        Registry.open(origin).update("ADR-0004", lambda d: {**d, "links": [{"rel": "amends", "to": "ADR-0003"}]})

    tip = take(git, origin, lambda: two("Write a snapshot", "Name the snapshot", "hidden.py"))
    two("Ship a wheel", "Sign the wheel", "seen.py")
    commit(git, origin, "Decide")
    conflict(origin, "merge", "-q", tip)
    report = Registry.open(origin).resolve()
    assert report.unresolved == ()
    assert [(one.old, one.new) for one in report.renumbered] == [("ADR-0003", "ADR-0005"), ("ADR-0004", "ADR-0006")]
    assert (origin / "hidden.py").read_text("utf-8") == "# ADR-0005 and ADR-0006\n"
    assert (origin / "seen.py").read_text("utf-8") == "# ADR-0003 and ADR-0004\n"
    registry = Registry.open(origin)
    assert registry.get("ADR-0006").links[0].to == "ADR-0005"
    assert registry.get("ADR-0004").links[0].to == "ADR-0003"
    assert headings(origin) == ["ADR-0002", "ADR-0004", "ADR-0006"]
    assert git(origin, "diff", "--name-only") == ""
    orbit(origin, "check")


def test_a_stash_and_a_squash_are_mended_from_the_index_alone(origin: Path, git: Git) -> None:
    """Where git names no other commit, the stages and the index say what came from there."""

    def work() -> None:
        add(origin, "Write a snapshot")
        (origin / "hidden.py").write_text("# ADR-0003\n", "utf-8")

    tip = take(git, origin, work)
    add(origin, "Ship a wheel")
    (origin / "seen.py").write_text("# ADR-0003\n", "utf-8")
    commit(git, origin, "Decide")
    conflict(origin, "merge", "-q", "--squash", tip)
    report = Registry.open(origin).resolve()
    assert report.operation is None
    assert ids(origin)["ADR-0003"] == "Ship a wheel"
    assert ids(origin)["ADR-0004"] == "Write a snapshot"
    assert (origin / "hidden.py").read_text("utf-8") == "# ADR-0004\n"
    assert (origin / "seen.py").read_text("utf-8") == "# ADR-0003\n"
    assert git(origin, "ls-files", "-u") == ""


def test_a_line_that_both_sides_wrote_is_left_for_a_person(origin: Path, git: Git) -> None:
    """Nothing tells which of the two it means, so it is listed with its place and stays."""

    def work(title: str, more: str) -> None:
        add(origin, title)
        (origin / "docs" / "a.md").write_text(f"See ADR-0003.\n{more}", "utf-8")

    tip = take(git, origin, lambda: work("Write a snapshot", ""))
    work("Ship a wheel", "\n\n\n\n\n\nAnd more.\n")
    commit(git, origin, "Decide")
    conflict(origin, "merge", "-q", tip)
    git(origin, "checkout", "-q", "--ours", "docs/a.md")
    git(origin, "add", "docs/a.md")
    report = Registry.open(origin).resolve()
    assert [(one.path, one.position.line, one.position.column) for one in report.unclear] == [("docs/a.md", 1, 5)]
    assert "See ADR-0003." in (origin / "docs" / "a.md").read_text("utf-8")
    assert "docs/a.md:1:5: ADR-0003 in: See ADR-0003." in report.text()


def test_a_renumbering_on_one_side_and_an_edit_on_the_other_merge(clones: tuple[Path, Path], git: Git) -> None:
    """The record is known by its uid: it takes the new number, the edit, and its document's edit."""
    ours, theirs = clones
    Registry.open(theirs).renumber("ADR-0001")
    commit(git, theirs, "Renumber")
    git(theirs, "push", "-q")
    Registry.open(ours).amend_adr("ADR-0001", "Holds for learnings too.", "T-1")
    commit(git, ours, "Amend")
    done = subprocess.run(["git", "pull", "-q", "--no-rebase", "--no-edit"], cwd=ours, check=False)
    assert done.returncode in (0, 1)
    assert Registry.open(ours).resolve().unresolved == ()
    record = Registry.open(ours).get("ADR-0003")
    assert record.words("tasks") == ("T-1",)
    assert record.source is not None
    assert "Holds for learnings too." in (ours / record.source.path).read_text("utf-8")
    assert "ADR-0001" not in ids(ours)
    assert git(ours, "ls-files", "-u") == ""
    orbit(ours, "check")


def test_a_record_removed_here_and_changed_there_is_left(clones: tuple[Path, Path], git: Git) -> None:
    """Nobody but a person can say whether it stays; the message says what each side did."""

    def remove(folder: Path) -> None:
        shutil.rmtree(folder / ".orbit" / "adrs" / "ADR-0001")

    ours = edited_apart(clones, git, remove, fields(summary="Prose has one home."))
    report = Registry.open(ours).resolve()
    assert [(left.path, left.reason) for left in report.unresolved] == [
        (".orbit/adrs/ADR-0001/adr.yaml", "ours removed ADR-0001, theirs changed it")
    ]


def test_a_record_that_no_tool_can_read_is_left(clones: tuple[Path, Path], git: Git) -> None:
    """A side with broken YAML is named; other conflicts of the same merge are mended."""

    def broken(folder: Path) -> None:
        (folder / ".orbit" / "adrs" / "ADR-0001" / "adr.yaml").write_text("id: [\n", "utf-8")
        fields_of_two(folder, 1)

    def fields_of_two(folder: Path, priority: int) -> None:
        text = (folder / ".orbit/adrs/ADR-0002/adr.yaml").read_text("utf-8")
        extra = f"priority: {priority}\n" if priority == 1 else "summary: Plain text.\n"
        (folder / ".orbit/adrs/ADR-0002/adr.yaml").write_text(text + extra, "utf-8")

    def other(folder: Path) -> None:
        fields(summary="Prose has one home.")(folder)
        fields_of_two(folder, 2)

    ours = edited_apart(clones, git, broken, other)
    report = Registry.open(ours).resolve()
    assert [(left.path, left.reason) for left in report.unresolved] == [
        (".orbit/adrs/ADR-0001/adr.yaml", "ours holds no valid record")
    ]
    record = Registry.open(ours).get("ADR-0002")
    assert (record.data["priority"], record.text("summary")) == (1, "Plain text.")
