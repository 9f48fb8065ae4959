"""What `orbit resolve` and the merge driver do with logs,
votes and fields that both sides changed.
"""

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
    """Let both clones append to one log, under different numbers,
    and return the one that has to merge.
    """
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


def test_the_driver_merges_two_appends_to_one_log(clones: Clones) -> None:
    ours = two_logs(clones)
    (ours.path / "click.py").write_text("raise SystemExit('imported')\n", "utf-8")
    ours.git("pull", "-q", "--no-rebase", "--no-edit")
    assert ours.headings() == ["ADR-0002", "ADR-0003", "ADR-0009"]
    (ours.path / "click.py").unlink()
    ours.orbit("check")


RECORD, LOG = ".orbit/adrs/ADR-0001/adr.yaml", "docs/design/registry/4_decisions.md"


@pytest.mark.parametrize(
    ("path", "ours_is", "theirs_is", "reason"),
    [
        (RECORD, b"\0\xff", b"\0\xfe", "ours holds no valid record"),
        (RECORD, b"", b"a: 1\n", "ours holds no valid record"),
        (RECORD, b"a: " + b"[" * 5000, b"a: " + b"{" * 5000, "ours holds no valid record"),
        (RECORD, b"<<<<<<< x\nid: ADR-0001\n", b"id: ADR-0001\n", "ours holds no valid record"),
        (LOG, b"\0\1", b"\0\2", "git merge-file: error: Cannot merge binary files: ours"),
        (LOG, b"a\n" * 2_600_000, b"b\n", "one side is larger than 5,000,000 bytes"),
    ],
)
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
    ours = edited_apart(
        clones, change(ours_is, "priority: 1\n"), change(theirs_is, "summary: Plain text.\n")
    )
    report = ours.registry.resolve()
    assert [*report.unresolved.items()] == [(path, reason)]
    assert (ours.registry.get("ADR-0002").data["priority"], report.others) == (1, ())
