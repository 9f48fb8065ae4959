"""Prints how long `scope_match` takes in an open snapshot, in milliseconds; run in a repository."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from orbit_registry.snapshot.query import opened
from orbit_registry.snapshot.sync import sync
from orbit_registry.store.workspace import open_workspace

times = []
with opened(sync(open_workspace(Path())).path) as connection:
    for path in json.loads(sys.argv[1])[:60]:
        began = time.perf_counter_ns()
        connection.execute("FROM scope_match(?)", [path]).fetchall()
        times.append(time.perf_counter_ns() - began)
print(sorted(times)[len(times) // 2] / 1_000_000)
