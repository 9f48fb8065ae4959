"""Prints how long it takes in process to find the scopes that cover a path, in microseconds; run in a repository."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from orbit_registry.store.reader import read_collection
from orbit_registry.store.workspace import open_workspace
from orbit_registry.text.globs import Glob, GlobIndex, parse_glob

paths = json.loads(sys.argv[1])
records = read_collection(open_workspace(Path())).records
scopes = [(one.id, [glob for text in one.scope.paths if isinstance(glob := parse_glob(text), Glob)]) for one in records]
index = GlobIndex(scopes)
times = []
for path in paths * 4:
    began = time.perf_counter_ns()
    index.match(path)
    times.append(time.perf_counter_ns() - began)
print(sorted(times)[len(times) // 2] / 1000)
