"""Merges that go on: the later steps of a rebase, edits of what was renumbered,
and runs that were killed.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

Clone = Any
"""`conftest.Clone`: a repository of this test's own, and what can be done in it."""
Clones = tuple[Clone, Clone]


@pytest.mark.parametrize(("style", "older"), [("file", True), ("log", True), ("log", False)])
def test_a_rebase_stops_and_resolve_lets_it_go_on(clones: Clones, style: str, older: bool) -> None:
    ours, theirs = clones
    theirs.add("Ship a wheel", style)
    theirs.commit("Decide on a wheel")
    theirs.git("push", "-q")
    ours.add("Write a snapshot", style)
    # git then sees a conflict in the record's times; else it mixes up the two records without a
    # word
    if older:
        file = ours.path / ".orbit/adrs/ADR-0003/adr.yaml"
        file.write_text(re.sub(r'_at: "20\d\d', '_at: "2020', file.read_text("utf-8")), "utf-8")
    (ours.path / "src" / "snapshot.py").write_text("# see ADR-0003\n", "utf-8")
    ours.commit("Decide on a snapshot")
    record = ours.registry.update(
        "ADR-0003", lambda data: {**data, "summary": "Readers open the snapshot."}
    )
    assert record.source is not None
    document = ours.path / record.source.path
    text = document.read_text("utf-8").replace(
        "Write a snapshot.", "Write a snapshot, as ADR-0003 says."
    )
    document.write_text(text, "utf-8")
    ours.commit("Say more")
    ours.conflict("pull", "-q", "--rebase")
    report = ours.registry.resolve()
    assert report.operation == "rebase"
    assert [(item.path, item.line) for item in report.later] == [
        (record.source.path, "Write a snapshot, as ADR-0003 says.")
    ]
    assert ours.ids()["ADR-0004"] == "Write a snapshot"
    ours.conflict("-c", "core.editor=true", "rebase", "--continue")
    report = ours.registry.resolve()
    assert (report.unresolved, report.renumbered, report.unclear) == ({}, (), ())
    ours.git("-c", "core.editor=true", "rebase", "--continue")
    record = ours.registry.get("ADR-0004")
    assert record.text("summary") == "Readers open the snapshot."
    assert ours.registry.get("ADR-0003").text("summary") is None
    assert record.source is not None
    assert "Write a snapshot, as ADR-0004 says." in (ours.path / record.source.path).read_text(
        "utf-8"
    )
    assert (ours.path / "src" / "snapshot.py").read_text("utf-8") == "# see ADR-0004\n"
    assert ours.git("status", "--porcelain") == ""
    ours.orbit("check")


def test_a_renumbering_and_an_edit_merge(clones: Clones) -> None:
    ours, theirs = clones
    theirs.registry.renumber("ADR-0001")
    theirs.commit("Renumber")
    theirs.git("push", "-q")
    ours.registry.adr_amend("ADR-0001", "T-1", "Holds for learnings too.")
    ours.commit("Amend")
    done = subprocess.run(
        ["git", "pull", "-q", "--no-rebase", "--no-edit"], cwd=ours.path, check=False
    )
    assert done.returncode in (0, 1)
    assert ours.registry.resolve().unresolved == {}
    record = ours.registry.get("ADR-0003")
    assert record.words("tasks") == ("T-1",)
    assert record.source is not None
    assert "Holds for learnings too." in (ours.path / record.source.path).read_text("utf-8")
    assert "ADR-0001" not in ours.ids()
    assert ours.git("ls-files", "-u") == ""
    ours.orbit("check")


def test_a_killed_resolve_is_finished_by_the_next(
    clones: Clones, tmp_path: Path, at: type[Clone], run_killed: Any
) -> None:
    ours, theirs = clones
    for folder, title in ((theirs, "Ship a wheel"), (ours, "Write a snapshot")):
        folder.add(title, "log")
        (folder.path / "src" / f"{title.split()[0]}.py").write_text("# ADR-0003\n", "utf-8")
        folder.commit("Decide")
    theirs.git("push", "-q")
    ours.conflict()
    for nth in range(1, 300, 29):
        repo = at(Path(shutil.copytree(ours.path, tmp_path / f"killed-{nth}")))
        killed = run_killed(partial(done, repo.registry.resolve), nth)
        repo.registry.resolve()
        assert repo.git("ls-files", "-u") == ""
        assert repo.headings() == ["ADR-0002", "ADR-0003", repo.headings()[-1]]
        new = repo.headings()[-1]
        assert repo.ids()[new] == "Write a snapshot"
        assert (repo.path / "src" / "Write.py").read_text("utf-8") == f"# {new}\n"
        assert (repo.path / "src" / "Ship.py").read_text("utf-8") == "# ADR-0003\n"
        assert repo.git("diff", "--name-only") == ""
        assert not list((repo.path / ".git/orbit/journal").glob("*"))
        shutil.rmtree(repo.path)
        if not killed:
            assert nth > 10
            return
    pytest.fail("the command never ended")


def test_a_renumbering_that_is_killed_is_finished_or_undone(
    origin: Clone, tmp_path: Path, at: type[Clone], run_killed: Any
) -> None:
    (origin.path / "src" / "more.py").write_text("# ADR-0001\n", "utf-8")
    for nth in range(1, 300, 29):
        repo = at(Path(shutil.copytree(origin.path, tmp_path / f"killed-{nth}")))
        killed = run_killed(partial(done, repo.registry.renumber, "ADR-0001", 9), nth)
        assert len(set(repo.ids().values())) == 2
        repo.registry.recover()
        new = "ADR-0009" if "ADR-0009" in repo.ids() else "ADR-0001"
        assert sorted(repo.ids()) == sorted(["ADR-0002", new])
        assert (repo.read("src/more.py"), repo.read("src/app.py")[:16]) == (
            f"# {new}\n",
            f"# keeps {new}",
        )
        assert [path.name[:4] for path in (repo.path / "docs/adr").iterdir()] == [new[-4:]]
        repo.orbit("check")
        shutil.rmtree(repo.path)
        if not killed:
            assert (nth > 10, new) == (True, "ADR-0009")
            return
    pytest.fail("the command never ended")


def done(work: Callable[..., object], *arguments: object) -> int:
    work(*arguments)
    return 0
