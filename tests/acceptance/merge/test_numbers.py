"""Two sides that took one number: who keeps it, who gives way, and what follows the one that does."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from orbit_registry.model.kind import load_kinds
from orbit_registry.operations.init import setup_workspace

Clone = Any
"""`conftest.Clone`: a repository of this test's own, and what can be done in it."""
Clones = tuple[Clone, Clone]


@pytest.mark.parametrize("style", ["file", "log"])
def test_resolve_renumbers_one_of_two_equal_numbers(clones: Clones, style: str) -> None:
    ours, theirs = clones
    assert theirs.add("Ship a wheel", style) == "ADR-0003"
    theirs.commit("Decide on a wheel")
    (theirs.path / "src" / "wheel.py").write_text("# built as ADR-0003 says\n", "utf-8")
    theirs.commit("Build it")
    theirs.git("push", "-q")
    assert ours.add("Write a snapshot", style) == "ADR-0003"
    registry = ours.registry
    assert ours.add("Name the snapshot", style) == "ADR-0004"
    registry.update("ADR-0004", lambda data: {**data, "links": [{"rel": "extends", "to": "ADR-0003"}]})
    code = (ours.path / "src" / "app.py").read_text("utf-8")
    (ours.path / "src" / "app.py").write_text(
        code.replace("other = 2", "other = 2  # see ADR-0003, not ADR-00030"), "utf-8"
    )
    (ours.path / "docs" / "guide.md").write_text("As [ADR-0003](x.md#adr-0003) and ADR-0001 say.\n", "utf-8")
    ours.commit("Decide on a snapshot")
    ours.conflict()

    report = ours.registry.resolve()

    assert report.unresolved == {}
    assert report.unclear == ()
    assert report.others == ()
    assert ours.git("ls-files", "-u") == ""
    result = ours.ids()
    assert result["ADR-0003"] == "Ship a wheel"
    assert result["ADR-0004"] == "Name the snapshot"
    assert result["ADR-0005"] == "Write a snapshot"
    assert "see ADR-0005, not ADR-00030" in (ours.path / "src" / "app.py").read_text("utf-8")
    assert (ours.path / "src" / "wheel.py").read_text("utf-8") == "# built as ADR-0003 says\n"
    guide = (ours.path / "docs" / "guide.md").read_text("utf-8")
    assert guide == "As [ADR-0005](x.md#adr-0005) and ADR-0001 say.\n"
    registry = ours.registry
    assert registry.get("ADR-0004").links[0].to == "ADR-0005"
    assert registry.get("ADR-0003").title == "Ship a wheel"
    assert registry.get("write-a-snapshot/ADR-0003").id == "ADR-0005"
    source = registry.get("ADR-0005").source
    assert source is not None
    text = (ours.path / source.path).read_text("utf-8")
    if style == "file":
        assert source.path == "docs/adr/0005-write-a-snapshot.md"
        assert not (ours.path / "docs" / "adr" / "0003-write-a-snapshot.md").exists()
        assert text.startswith("# ADR-0005 — Write a snapshot\n")
    else:
        assert [line for line in text.splitlines() if line.startswith("## ")] == [
            "## ADR-0002 — Store records as YAML",
            "## ADR-0003 — Ship a wheel",
            "## ADR-0004 — Name the snapshot",
            "## ADR-0005 — Write a snapshot",
        ]
    assert ours.git("diff", "--name-only") == ""
    assert ours.registry.resolve().is_empty
    ours.orbit("check")
    ours.git("commit", "-q", "--no-edit")
    assert ours.git("status", "--porcelain") == ""


def test_a_feature_branch_that_merges_main_gives_way(clones: Clones) -> None:
    ours, theirs = clones
    theirs.add("Ship a wheel")
    theirs.commit("Decide on a wheel")
    theirs.git("push", "-q")
    ours.git("switch", "-q", "-c", "feature")
    ours.add("Write a snapshot")
    ours.add("Name the snapshot")
    (ours.path / "docs" / "guide.md").write_text("ADR-0003, then [ADR-0004](adr/0004-name-the-snapshot.md).\n", "utf-8")
    (ours.path / "docs" / "list.md").write_text("See adr/0003-write-a-snapshot.md.\n", "utf-8")
    ours.commit("Decide on a snapshot")
    ours.git("fetch", "-q")
    ours.conflict("merge", "-q", "origin/main")
    report = ours.registry.resolve()
    assert [(item.old, item.new) for item in report.renumbered] == [("ADR-0003", "ADR-0005")]
    assert "origin/main" in report.renumbered[0].reason
    guide = (ours.path / "docs" / "guide.md").read_text("utf-8")
    assert guide == "ADR-0005, then [ADR-0004](adr/0004-name-the-snapshot.md).\n"
    assert (ours.path / "docs" / "list.md").read_text("utf-8") == "See adr/0005-write-a-snapshot.md.\n"
    assert ours.git("diff", "--name-only") == ""


def test_a_link_means_the_decision_of_its_own_side(clones: Clones) -> None:
    ours, theirs = clones
    link = "[ADR-0003](design/registry/4_decisions.md#adr-0003--{})\n"
    for folder, title, words in (
        (theirs, "Ship a wheel", "ship-a-wheel"),
        (ours, "Write a snapshot", "write-a-snapshot"),
    ):
        assert folder.add(title, "log") == "ADR-0003"
        (folder.path / "docs" / f"{words}.md").write_text(link.format(words), "utf-8")
        folder.commit(title)
    theirs.git("push", "-q")
    ours.conflict()
    assert ours.registry.resolve().unclear == ()
    assert ours.read("docs/ship-a-wheel.md") == link.format("ship-a-wheel")
    assert ours.read("docs/write-a-snapshot.md") == link.format("write-a-snapshot").replace("0003", "0004")


def test_two_decisions_in_one_file_name_part(clones: Clones) -> None:
    ours, theirs = clones
    for folder, word in ((theirs, "theirs"), (ours, "ours")):
        folder.add("Write a snapshot")
        document = folder.path / "docs" / "adr" / "0003-write-a-snapshot.md"
        document.write_text(document.read_text("utf-8").replace("snapshot?", f"snapshot of {word}, ADR-0003?"), "utf-8")
        folder.commit("Decide on a snapshot")
    theirs.git("push", "-q")
    ours.conflict()
    report = ours.registry.resolve()
    assert report.unresolved == {}
    documents = ours.path / "docs" / "adr"
    assert "theirs, ADR-0003?" in (documents / "0003-write-a-snapshot.md").read_text("utf-8")
    assert "ours, ADR-0004?" in (documents / "0004-write-a-snapshot.md").read_text("utf-8")
    assert ours.git("diff", "--name-only") == ""
    ours.orbit("check")
    assert sorted(ours.ids()) == ["ADR-0001", "ADR-0002", "ADR-0003", "ADR-0004"]


def test_several_numbers_taken_twice_are_all_mended(origin: Clone) -> None:
    def two(first: str, second: str, file: str) -> None:
        origin.add(first)
        origin.add(second, "log")
        (origin.path / file).write_text("# ADR-0003 and ADR-0004\n", "utf-8")
        origin.registry.update("ADR-0004", lambda d: {**d, "links": [{"rel": "amends", "to": "ADR-0003"}]})

    tip = origin.take(lambda: two("Write a snapshot", "Name the snapshot", "hidden.py"))
    two("Ship a wheel", "Sign the wheel", "seen.py")
    origin.commit("Decide")
    origin.conflict("merge", "-q", tip)
    report = origin.registry.resolve()
    assert report.unresolved == {}
    assert [(item.old, item.new) for item in report.renumbered] == [("ADR-0003", "ADR-0005"), ("ADR-0004", "ADR-0006")]
    assert (origin.path / "hidden.py").read_text("utf-8") == "# ADR-0005 and ADR-0006\n"
    assert (origin.path / "seen.py").read_text("utf-8") == "# ADR-0003 and ADR-0004\n"
    registry = origin.registry
    assert registry.get("ADR-0006").links[0].to == "ADR-0005"
    assert registry.get("ADR-0004").links[0].to == "ADR-0003"
    assert origin.headings() == ["ADR-0002", "ADR-0004", "ADR-0006"]
    assert origin.git("diff", "--name-only") == ""
    origin.orbit("check")


@pytest.mark.parametrize(("command", "operation"), [("cherry-pick", "cherry-pick"), ("merge -q --squash", None)])
def test_a_picked_or_squashed_commit_is_resolved_too(origin: Clone, command: str, operation: str | None) -> None:
    def work() -> None:
        origin.add("Write a snapshot")
        (origin.path / "hidden.py").write_text("# ADR-0003\n", "utf-8")

    tip = origin.take(work)
    origin.add("Ship a wheel")
    (origin.path / "seen.py").write_text("# ADR-0003\n", "utf-8")
    origin.commit("Decide")
    origin.conflict(*command.split(), tip)
    report = origin.registry.resolve()
    assert report.operation == operation
    assert origin.ids()["ADR-0003"] == "Ship a wheel"
    assert origin.ids()["ADR-0004"] == "Write a snapshot"
    assert (origin.path / "hidden.py").read_text("utf-8") == "# ADR-0004\n"
    assert (origin.path / "seen.py").read_text("utf-8") == "# ADR-0003\n"
    assert origin.git("ls-files", "-u") == ""


def test_a_line_of_both_sides_is_left_alone(origin: Clone) -> None:
    def work(title: str, more: str) -> None:
        origin.add(title)
        (origin.path / "docs" / "a.md").write_text(f"See ADR-0003.\n{more}", "utf-8")

    tip = origin.take(lambda: work("Write a snapshot", ""))
    work("Ship a wheel", "\n\n\n\n\n\nAnd more.\n")
    origin.commit("Decide")
    origin.conflict("merge", "-q", tip)
    origin.git("checkout", "-q", "--ours", "docs/a.md")
    origin.git("add", "docs/a.md")
    report = origin.registry.resolve()
    assert [(item.path, item.position.line, item.position.column) for item in report.unclear] == [("docs/a.md", 1, 5)]
    assert "See ADR-0003." in (origin.path / "docs" / "a.md").read_text("utf-8")
    assert "docs/a.md:1:5: ADR-0003 in: See ADR-0003." in report.text()


def test_other_changes_of_a_file_are_not_added_along(clones: Clones) -> None:
    ours, theirs = clones
    theirs.add("Ship a wheel")
    theirs.commit("Decide")
    theirs.git("push", "-q")
    ours.add("Write a snapshot")
    (ours.path / "src" / "mine.py").write_text("# ADR-0003\n", "utf-8")
    ours.commit("Decide")
    (ours.path / "src" / "mine.py").write_text("# ADR-0003\nunfinished\n", "utf-8")
    (ours.path / "src" / "new.py").write_text("# ADR-0003, not yet tracked\n", "utf-8")
    ours.conflict()
    report = ours.registry.resolve()
    assert report.unstaged == ("src/mine.py",)
    assert (ours.path / "src" / "mine.py").read_text("utf-8") == "# ADR-0004\nunfinished\n"
    assert ours.git("show", ":src/mine.py") == "# ADR-0003\n"
    assert [(item.path, item.position.line, item.position.column) for item in report.unclear] == [("src/new.py", 1, 3)]
    assert (ours.path / "src" / "new.py").read_text("utf-8") == "# ADR-0003, not yet tracked\n"


def test_files_that_are_not_the_registrys_are_named_and_left(clones: Clones) -> None:
    ours, theirs = clones
    for folder, title in ((theirs, "Ship a wheel"), (ours, "Write a snapshot")):
        folder.add(title)
        (folder.path / "README.md").write_text(f"# {title}: see ADR-0003\n", "utf-8")
        folder.commit("Decide")
    theirs.git("push", "-q")
    ours.conflict()
    report = ours.registry.resolve()
    assert report.others == ("README.md",)
    text = (ours.path / "README.md").read_text("utf-8")
    assert "# Write a snapshot: see ADR-0004\n" in text
    assert "# Ship a wheel: see ADR-0003\n" in text
    assert ours.git("diff", "--name-only", "--diff-filter=U").split() == ["README.md"]


def test_a_dry_run_changes_nothing(clones: Clones) -> None:
    ours, theirs = clones
    for folder, title in ((theirs, "Ship a wheel"), (ours, "Write a snapshot")):
        folder.add(title)
        folder.commit("Decide")
    theirs.git("push", "-q")
    ours.conflict()
    claims = (ours.path / ".git/orbit/adr.json").read_text("utf-8")
    before = ours.git("status", "--porcelain"), ours.git("diff"), ours.git("ls-files", "-s")
    planned = ours.registry.resolve(dry_run=True)
    assert (ours.git("status", "--porcelain"), ours.git("diff"), ours.git("ls-files", "-s")) == before
    assert (ours.path / ".git/orbit/adr.json").read_text("utf-8") == claims
    done = ours.registry.resolve()
    assert [(row.old, row.new) for row in planned.renumbered] == [(row.old, row.new) for row in done.renumbered]
    assert [str(file) for file in planned.files] == [str(file) for file in done.files]


def test_a_workspace_below_the_repositorys_root_is_mended(git_repo: Path, at: type[Clone], tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    setup_workspace(tmp_path / "plain", load_kinds())
    project = at(Path(shutil.copytree(tmp_path / "plain", git_repo / "services" / "billing")))
    (project.path / ".gitignore").write_text(".orbit/state/\n", "utf-8")  # which a setup outside git can't see to
    project.add("Keep prose in one place")
    project.commit("Set up")

    def work() -> None:
        project.add("Write a snapshot", "log")
        (project.path / "code.py").write_text("# ADR-0002\n", "utf-8")

    tip = project.take(work)
    assert project.add("Ship a wheel", "log") == "ADR-0002"
    project.commit("Wheel")
    project.conflict("merge", "-q", tip)
    report = project.registry.resolve()
    assert report.unresolved == {}
    assert project.ids()["ADR-0002"] == "Ship a wheel"
    assert project.ids()["ADR-0003"] == "Write a snapshot"
    assert project.read("code.py") == "# ADR-0003\n"
    assert project.git("ls-files", "-u") == ""


@pytest.mark.parametrize("apart", [True, False])
def test_one_record_that_both_replace_is_replaced_by_both(origin: Clone, apart: bool) -> None:
    def work(title: str) -> None:
        origin.add(title)
        origin.registry.update("ADR-0002", lambda d: {**d, "links": [{"rel": "related_to", "to": "ADR-0003"}]})
        file = origin.path / ".orbit/adrs/ADR-0002/adr.yaml"
        stamp = "2030-01-01T00:00:00Z" if not apart else f"2030-01-01T00:00:{len(title)}Z"
        file.write_text(re.sub(r'updated_at: "?20[^"\n]*', f'updated_at: "{stamp}', file.read_text("utf-8")), "utf-8")

    tip = origin.take(lambda: work("Write a snapshot"))
    work("Ship a wheel")
    origin.commit("Decide")
    origin.conflict("merge", "-q", tip)
    report = origin.registry.resolve()
    assert (report.unresolved, report.unclear) == ({}, ())
    assert {link.to for link in origin.registry.get("ADR-0002").links} == {"ADR-0003", "ADR-0004"}
    assert origin.git("diff", "--name-only") == ""
    assert origin.registry.resolve().is_empty


def test_two_records_under_one_code_are_left(origin: Clone) -> None:
    def work(summary: str) -> None:
        record = origin.registry.add("learning", {"summary": summary, "scope": {"tags": ["care"]}})
        (origin.path / record.folder).rename(origin.path / ".orbit/learnings/L-00000")
        file = origin.path / ".orbit/learnings/L-00000/learning.yaml"
        file.write_text(re.sub(r"(?m)^id: .*$", 'id: "L-00000"', file.read_text("utf-8")), "utf-8")

    tip = origin.take(lambda: work("Look before you leap"))
    work("Measure twice")
    origin.commit("Learn")
    origin.conflict("merge", "-q", tip)
    before = origin.read(".orbit/learnings/L-00000/learning.yaml")
    report = origin.registry.resolve()
    assert [*report.unresolved] == [".orbit/learnings/L-00000/learning.yaml"]
    assert "two records took the code L-00000" in next(iter(report.unresolved.values()))
    assert origin.read(".orbit/learnings/L-00000/learning.yaml") == before
