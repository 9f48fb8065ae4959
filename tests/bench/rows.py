"""Writes a push index of any size from made-up scopes, without a file for each record;
measures nothing.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.bench.synthetic import scopes

from orbit_registry.matching.compile import order_in
from orbit_registry.matching.pack import Part, pack
from orbit_registry.model import fields

RECORD = ".orbit/learning.yaml"


def make_rows(root: Path, number: int) -> None:
    """Write the files of `write_rows` from a process of its own:
    a large one would be counted as its children's.
    """
    here = Path(__file__).resolve().parents[2]
    subprocess.run(
        [sys.executable, "-m", "tests.bench.rows", str(root), str(number)], cwd=here, check=True
    )


def make_hook_rows(root: Path, number: int) -> None:
    """Write the same files as a workspace's push index,
    with the one file that all its records claim to be.
    """
    make_rows(root, number)
    (root / ".orbit").mkdir()
    (root / ".orbit/config.yaml").write_text("format: orbit-registry\nschema_version: 1\n", "utf-8")
    (root / RECORD).touch()
    os.utime(root / RECORD, (0, 0))


def write_rows(root: Path, number: int) -> None:
    """Write a push index, `scopes.json` (up to 10,000 records) and `paths.json` into a folder."""
    root.mkdir(parents=True)
    paths, globs_of = scopes(number)
    parts: list[Part] = []
    saved: list[list[str]] = []
    for position, globs in enumerate(globs_of):
        if number <= 10_000:
            saved.append(globs)
        row = [""] * fields.FIELDS
        row[fields.ID], row[fields.KIND], row[fields.PHASE] = (
            f"L-{position:08d}",
            "learning",
            "live",
        )
        row[fields.PATH], row[fields.PRIORITY] = RECORD, "0"
        row[fields.MTIME] = row[fields.SIZE] = "0"
        row[fields.TEASER] = (
            f"- [L-{position:08d}] {'Words of a learning that says what to mind. ' * 3}"
        )
        row[fields.GLOBS] = fields.LIST.join(globs)
        parts.append(Part(tuple(row), 0, True))
    (root / ".git/orbit").mkdir(parents=True)
    (root / ".git/orbit/hook-18.idx").write_bytes(pack(sorted(parts, key=order_in)))
    (root / "scopes.json").write_text(json.dumps(saved), "utf-8")
    (root / "paths.json").write_text(json.dumps(paths[:2000]), "utf-8")


if __name__ == "__main__":
    write_rows(Path(sys.argv[1]), int(sys.argv[2]))
