"""What `orbit resolve` and the merge driver do with logs, votes and fields that both sides changed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from orbit_registry.operations.init import DRIVER

Clone = Any
"""`conftest.Clone`: a repository of this test's own, and what can be done in it."""
Clones = tuple[Clone, Clone]
Change = Callable[[Clone], object]


def two_logs(clones: Clones) -> Clone:
    """Let both clones append to one log, under different numbers, and return the one that has to merge."""
    ours, theirs = clones
    theirs.add("Ship a wheel", "log")
    theirs.commit("Decide on a wheel")
    theirs.git("push", "-q")
    registry = ours.registry
    ours.add("Write a snapshot", "log")
    registry.renumber("ADR-0003", 9)
    ours.commit("Decide on a snapshot")
    return ours


def edited_apart(clones: Clones, ours_do: Change, theirs_do: Change) -> Clone:
    """Let both clones change what they share, and return the one that stopped at the conflict."""
    ours, theirs = clones
    for folder, change in ((theirs, theirs_do), (ours, ours_do)):
        change(folder)
        folder.commit("Change")
    theirs.git("push", "-q")
    ours.conflict()
    return ours


def fields(**values: object) -> Change:
    return lambda folder: folder.registry.update("ADR-0001", lambda data: {**data, **values})


def test_the_driver_merges_two_appends_to_one_log(clones: Clones) -> None:
    ours = two_logs(clones)
    (ours.path / "click.py").write_text("raise SystemExit('imported')\n", "utf-8")
    ours.git("pull", "-q", "--no-rebase", "--no-edit")
    assert ours.headings() == ["ADR-0002", "ADR-0003", "ADR-0009"]
    (ours.path / "click.py").unlink()
    ours.orbit("check")


def decision(words: str) -> Change:
    def change(folder: Clone) -> None:
        log = folder.log
        log.write_text(log.read_text("utf-8").replace("YAML.", words), "utf-8")

    return change


def test_an_entry_that_both_sides_changed_stays_in_conflict_alone(clones: Clones) -> None:
    ours, theirs = clones
    theirs.add("Ship a wheel", "log")
    ours.add("Write a snapshot", "log")
    ours.registry.renumber("ADR-0003", 9)
    ours = edited_apart(clones, decision("YAML, in UTF-8."), decision("YAML 1.2."))
    report = ours.registry.resolve()
    assert [*report.unresolved.items()] == [("docs/design/registry/4_decisions.md", "changed on both sides: ADR-0002")]
    text = ours.log.read_text("utf-8")
    assert text.count("<<<<<<<") == text.count(">>>>>>>") == 1
    assert ours.headings() == ["ADR-0002", "ADR-0003", "ADR-0009"]
    assert text.index(">>>>>>>") < text.index("ADR-0003")
    assert "4_decisions.md" in ours.git("ls-files", "-u")
    settled = text.replace("<<<<<<< ours\n", "").replace(">>>>>>> theirs\n", "").replace("=======\n", "")
    ours.log.write_text(settled, "utf-8")
    again = ours.registry.resolve()
    assert "by hand" in next(iter(again.unresolved.values()))
    assert ours.log.read_text("utf-8") == settled


def test_votes_of_both_sides_are_kept(clones: Clones) -> None:
    ours, theirs = clones
    record = theirs.registry.add("learning", {"summary": "Look before you leap", "scope": {"tags": ["care"]}})
    theirs.registry.vote(record.id, "T-0", "model")
    theirs.commit("Learn")
    theirs.git("push", "-q")
    ours.git("pull", "-q", "--no-edit")
    (ours.path / ".gitattributes").unlink()
    for folder, task in ((theirs, "T-1"), (ours, "T-2")):
        folder.registry.vote(record.id, task, "model")
        folder.commit("Vote")
    theirs.git("push", "-q")
    ours.conflict()
    assert ours.registry.resolve().unresolved == {}
    assert {vote.task_id for vote in ours.registry.get(record.id).votes} == {"T-0", "T-1", "T-2"}
    assert len((ours.path / record.folder / "votes.jsonl").read_text("utf-8").splitlines()) == 3
    assert ours.git("ls-files", "-u") == ""


def test_the_later_of_two_verifications_stands(clones: Clones) -> None:
    early = {"verified_at": "2026-02-01T00:00:00Z", "verified_by": "Bea"}
    late = {"verified_at": "2026-03-01T00:00:00Z", "verified_by": "Ada"}
    ours = edited_apart(clones, fields(freshness=early), fields(freshness=late))
    assert ours.registry.resolve().unresolved == {}
    assert ours.registry.get("ADR-0001").data["freshness"] == late


def test_a_base_that_cannot_be_read_counts_as_none(clones: Clones) -> None:
    ours, theirs = clones
    text = ours.read(RECORD)
    (theirs.path / RECORD).write_text("id: [\n", "utf-8")
    theirs.commit("Break")
    theirs.git("push", "-q")
    ours.git("pull", "-q", "--no-edit")

    def mend(extra: str) -> Change:
        return lambda clone: (clone.path / RECORD).write_text(text + extra, "utf-8")

    ours = edited_apart(clones, mend("priority: 1\n"), mend("summary: Plain text.\n"))
    assert ours.registry.resolve().unresolved == {}
    record = ours.registry.get("ADR-0001")
    assert (record.data["priority"], record.text("summary")) == (1, "Plain text.")


RECORD, LOG = ".orbit/adrs/ADR-0001/adr.yaml", "docs/design/registry/4_decisions.md"


@pytest.mark.parametrize(("path", "ours_is", "theirs_is", "reason"), [
    (RECORD, b"\0\xff", b"\0\xfe", "ours holds no valid record"),
    (RECORD, b"", b"a: 1\n", "ours holds no valid record"),
    (RECORD, b"a: " + b"[" * 5000, b"a: " + b"{" * 5000, "ours holds no valid record"),
    (RECORD, b"<<<<<<< x\nid: ADR-0001\n", b"id: ADR-0001\n", "ours holds no valid record"),
    (LOG, b"\0\1", b"\0\2", "git merge-file: error: Cannot merge binary files: ours"),
    (LOG, b"a\n" * 2_600_000, b"b\n", "one side is larger than 5,000,000 bytes"),
])  # fmt: skip
def test_bad_input_is_named_and_hides_nothing_else(
    clones: Clones, path: str, ours_is: bytes, theirs_is: bytes, reason: str
) -> None:
    def change(data: bytes, extra: str) -> Change:
        def run(clone: Clone) -> None:
            (clone.path / path).write_bytes(data)
            other = clone.path / ".orbit/adrs/ADR-0002/adr.yaml"
            other.write_text(other.read_text("utf-8") + extra, "utf-8")

        return run

    clones[0].git("config", "--remove-section", f"merge.{DRIVER}")
    ours = edited_apart(clones, change(ours_is, "priority: 1\n"), change(theirs_is, "summary: Plain text.\n"))
    report = ours.registry.resolve()
    assert [*report.unresolved.items()] == [(path, reason)]
    assert (ours.registry.get("ADR-0002").data["priority"], report.others) == (1, ())


def test_a_symbolic_link_for_a_record_is_not_followed(clones: Clones) -> None:
    def link(clone: Clone) -> None:
        file = clone.path / RECORD
        file.unlink()
        file.symlink_to(clone.path / "README.md")

    ours = edited_apart(clones, link, fields(summary="Prose has one home."))
    before = ours.read("README.md")
    report = ours.registry.resolve()
    assert [*report.unresolved.items()] == [(RECORD, "it is not a regular file on one side")]
    assert ours.read("README.md") == before
