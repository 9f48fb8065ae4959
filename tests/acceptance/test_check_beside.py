"""A cold check of many records compares them in a second process, and finds what one process finds."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.bench.synthetic import make_repository

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or len(os.sched_getaffinity(0)) == 1, reason="one process does all there"
)

LIKENESS = {"near-learning.values", "terms-learning.numbers"}
CHECK = """
import os, sys
from orbit_registry.cli.main import main
def watch(event, given):
    if event == "os.fork": print("copied", file=sys.stderr)
    if event == "os.rename" and str(given[1]).endswith(".values"): print(os.path.basename(given[1]), file=sys.stderr)
sys.addaudithook(watch)
sys.argv = ["orbit", "check", "--all", "--format", "json"]
if {alone}: os.sched_setaffinity(0, {{min(os.sched_getaffinity(0))}})
main()
"""


def checked(root: Path, *, alone: bool = False) -> tuple[dict[str, Any], list[str]]:
    """Return what a check says, and what its first process did of copying itself and comparing records.

    `alone` gives it one processor.
    """
    code = CHECK.format(alone=alone)
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    said = {"copied", "near-adr.values", "near-learning.values"}
    return json.loads(done.stdout), [line for line in done.stderr.splitlines() if line in said]


def forget(root: Path) -> None:
    """Take away what earlier runs kept."""
    for file in (root / ".orbit/state").rglob("*"):
        if file.is_file():
            file.unlink()


def kept(root: Path) -> dict[str, bytes]:
    """Return what is kept of the likeness of learnings."""
    files = (root / ".orbit/state").rglob("*-learning.*")
    return {file.name: file.read_bytes() for file in files if file.name in LIKENESS}


def test_a_second_process_changes_nothing_but_the_time(tmp_path: Path) -> None:
    """Findings are the same with it and without, and so is what the next run goes by."""
    make_repository(tmp_path, 2400)
    learnings = sorted((tmp_path / ".orbit/learnings").glob("*/learning.yaml"))
    first, other = (file.read_text("utf-8") for file in (learnings[0], learnings[800]))
    said = first[first.index("summary:") : first.index("category:")]
    copied = other[: other.index("summary:")] + said + "  Twice.\n" + other[other.index("category:") :]
    learnings[800].write_text(copied, "utf-8")
    learnings[7].write_text("id: [\n", "utf-8")

    alone, did = checked(tmp_path, alone=True)
    assert sorted(did) == ["near-adr.values", "near-learning.values"]
    likeness = kept(tmp_path)
    forget(tmp_path)
    together, did = checked(tmp_path)
    assert did == ["copied", "near-adr.values"]
    assert together == alone
    assert kept(tmp_path) == likeness
    assert likeness.keys() == LIKENESS
    codes = {one["code"] for one in together["diagnostics"]}
    assert {"ORB102", "ORB602"} <= codes, codes

    assert checked(tmp_path) == (alone, [])
    for name in ("checked.seal", "members.seal"):  # so that all is looked at again, and who is alike is known
        (tmp_path / ".orbit/state/cache" / name).unlink()
    assert checked(tmp_path) == (alone, [])
    learnings[800].write_text(other, "utf-8")
    mended, did = checked(tmp_path)
    assert did == ["near-learning.values"]
    assert codes - {one["code"] for one in mended["diagnostics"]} == {"ORB602"}

    for file in learnings[8:-1]:  # nearly all are read anew, and what the others say is not at hand to be compared
        file.write_text(file.read_text("utf-8") + "\n", "utf-8")
    assert checked(tmp_path) == (mended, [])


def test_few_records_are_compared_by_one_process(tmp_path: Path) -> None:
    """To copy it would take longer than they do."""
    make_repository(tmp_path, 100)
    assert sorted(checked(tmp_path)[1]) == ["near-adr.values", "near-learning.values"]
