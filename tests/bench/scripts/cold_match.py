"""Prints what a process costs that shows five records for a path, in times of an interpreter that does nothing.

Both are run in turn, without site or environment, and the medians of their CPU times are compared; run beside `rows`.
Ours ends as a hook may, once it has said what it has to say: by leaving, not by taking the interpreter apart.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
from pathlib import Path

TIMES = 200
TOOLING = Path(__file__).resolve().parents[3] / "tooling"
SHOW = """
from orbit_registry.push.reader import open_index
from posix import _exit
import sys
def show(folder, path):
    index = open_index(folder)
    index.stale
    for hit in index.match(path, 5):
        row = index.row(hit >> 32)
        index.is_current(row)
        sys.stdout.write(row.teaser)
    sys.stdout.flush()
    _exit(0)
"""


def cpu(arguments: list[str]) -> float:
    """Return the CPU seconds of a child."""
    bare = [sys.executable, "-I", "-S", "-E", *arguments]
    quiet = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
    child = os.posix_spawn(sys.executable, bare, {}, file_actions=quiet)
    _, status, used = os.wait4(child, 0)
    if status:
        sys.exit(f"exit {status}")
    return used.ru_utime + used.ru_stime


here = Path.cwd()
(here / "show.py").write_text(SHOW, "utf-8")
path = json.loads(Path("paths.json").read_text("utf-8"))[7]
places = f"import sys; sys.path[:0] = [{str(here)!r}, {str(TOOLING)!r}]; import show; "
asked = ["-c", f"{places}show.show({str(here)!r}, {path!r})"]
costs: tuple[list[float], list[float]] = ([], [])
for number in range(TIMES):
    ours, floor = cpu(asked), cpu(["-c", "pass"])
    if number:  # the first writes the cached modules
        costs[0].append(ours)
        costs[1].append(floor)
print(statistics.median(costs[0]) / statistics.median(costs[1]))
