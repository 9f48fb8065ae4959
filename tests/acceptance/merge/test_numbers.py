"""Two sides that took one number: who keeps it, who gives way,
and what follows the one that does.
"""

from __future__ import annotations

import re
from typing import Any

import pytest

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
    registry.update(
        "ADR-0004", lambda data: {**data, "links": [{"rel": "extends", "to": "ADR-0003"}]}
    )
    code = (ours.path / "src" / "app.py").read_text("utf-8")
    (ours.path / "src" / "app.py").write_text(
        code.replace("other = 2", "other = 2  # see ADR-0003, not ADR-00030"), "utf-8"
    )
    (ours.path / "docs" / "guide.md").write_text(
        "As [ADR-0003](x.md#adr-0003) and ADR-0001 say.\n", "utf-8"
    )
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
    (ours.path / "docs" / "guide.md").write_text(
        "ADR-0003, then [ADR-0004](adr/0004-name-the-snapshot.md).\n", "utf-8"
    )
    (ours.path / "docs" / "list.md").write_text("See adr/0003-write-a-snapshot.md.\n", "utf-8")
    ours.commit("Decide on a snapshot")
    ours.git("fetch", "-q")
    ours.conflict("merge", "-q", "origin/main")
    report = ours.registry.resolve()
    assert [(item.old, item.new) for item in report.renumbered] == [("ADR-0003", "ADR-0005")]
    assert "origin/main" in report.renumbered[0].reason
    guide = (ours.path / "docs" / "guide.md").read_text("utf-8")
    assert guide == "ADR-0005, then [ADR-0004](adr/0004-name-the-snapshot.md).\n"
    assert (ours.path / "docs" / "list.md").read_text(
        "utf-8"
    ) == "See adr/0005-write-a-snapshot.md.\n"
    assert ours.git("diff", "--name-only") == ""


@pytest.mark.parametrize("words", [("ours", "theirs"), ("both", "both")])
def test_two_decisions_in_one_file_name_part(clones: Clones, words: tuple[str, str]) -> None:
    ours, theirs = clones
    for folder, word in zip(clones, words, strict=True):
        folder.add("Write a snapshot")
        document = folder.path / "docs" / "adr" / "0003-write-a-snapshot.md"
        document.write_text(
            document.read_text("utf-8").replace("snapshot?", f"snapshot of {word}, ADR-0003?"),
            "utf-8",
        )
        folder.commit("Decide on a snapshot")
    theirs.git("push", "-q")
    ours.conflict()
    report = ours.registry.resolve()
    assert report.unresolved == {}
    documents = ours.path / "docs" / "adr"
    assert f"{words[1]}, ADR-0003?" in (documents / "0003-write-a-snapshot.md").read_text("utf-8")
    assert f"{words[0]}, ADR-0004?" in (documents / "0004-write-a-snapshot.md").read_text("utf-8")
    assert ours.git("diff", "--name-only") == ""
    # Two people decided under one headline: that is all there is to find.
    assert {row.code for row in ours.registry.check().diagnostics} == {"ORB601"}
    assert sorted(ours.ids()) == ["ADR-0001", "ADR-0002", "ADR-0003", "ADR-0004"]


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
    assert (
        ours.git("status", "--porcelain"),
        ours.git("diff"),
        ours.git("ls-files", "-s"),
    ) == before
    assert (ours.path / ".git/orbit/adr.json").read_text("utf-8") == claims
    done = ours.registry.resolve()
    assert [(row.old, row.new) for row in planned.renumbered] == [
        (row.old, row.new) for row in done.renumbered
    ]
    assert [str(file) for file in planned.files] == [str(file) for file in done.files]


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
