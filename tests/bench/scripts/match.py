"""Prints how long a push index takes in process, in µs a path (`batch`: CPU s for 10,000); run
beside `rows`.

`first`: the records of paths in folders that were not asked about before. `batch`: those of 10,000
files, 20 a folder.
"""

import json
import sys
import time
from pathlib import Path

from orbit_registry.hook.index import Index, open_index

paths = json.loads(Path("paths.json").read_text("utf-8"))


def opened() -> Index:
    """Return the index, with nothing remembered."""
    index = open_index(str(Path.cwd()))
    if not isinstance(index, Index):
        sys.exit(index.reason)
    return index


def median(index: Index) -> float:
    """Return the median time for a path, in microseconds."""
    times = []
    for path in paths:
        began = time.perf_counter_ns()
        index.match(path)
        times.append(time.perf_counter_ns() - began)
    return sorted(times)[len(times) // 2] / 1000


match sys.argv[1]:
    case "first":
        print(min(median(opened()) for _ in range(3)))
    case "batch":
        folders = [path.rpartition("/")[0] for path in paths]
        files = [
            f"{folders[number // 20 % len(folders)]}/file{number % 20}.py"
            for number in range(10_000)
        ]
        index = opened()
        began = time.process_time()
        for path in files:
            index.match(path)
        print(time.process_time() - began)
