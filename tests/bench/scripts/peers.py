"""Prints how long others take to find the scopes that cover a path, in µs; run beside `rows`.

`brute`: the project's own language, every glob asked. `wcmatch`, `pathspec`: every glob compiled, every scope asked.
`sqlite`: anchors in an indexed table of a database in memory, as the index has them, hits numbered, none tried.
"""

from __future__ import annotations

import json
import sqlite3
import sys
import time
from collections.abc import Callable
from pathlib import Path

from orbit_registry.text.globs import Glob, anchors, match_any, parse_glob, probes

paths = json.loads(Path("paths.json").read_text("utf-8"))
scopes = json.loads(Path("scopes.json").read_text("utf-8"))


def brute() -> Callable[[str], object]:
    """Ask every glob."""
    parsed = [[glob for text in scope if isinstance(glob := parse_glob(text), Glob)] for scope in scopes]
    return lambda path: [number for number, globs in enumerate(parsed) if match_any(globs, path)]


def with_wcmatch() -> Callable[[str], object]:
    """Ask wcmatch for each scope."""
    from wcmatch import glob

    flags = glob.GLOBSTAR | glob.BRACE | glob.DOTGLOB | glob.FORCEUNIX
    compiled = [glob.compile(scope, flags=flags) for scope in scopes]
    return lambda path: [number for number, one in enumerate(compiled) if one.match(path)]


def with_pathspec() -> Callable[[str], object]:
    """Ask pathspec for each scope; a glob with a slash is anchored there too."""
    from pathspec import PathSpec

    compiled = [PathSpec.from_lines("gitignore", scope) for scope in scopes]
    return lambda path: [number for number, one in enumerate(compiled) if one.match_file(path)]


def with_sqlite() -> Callable[[str], object]:
    """Ask a table for the anchors that a path has."""
    base = sqlite3.connect(":memory:")
    base.execute("CREATE TABLE anchor (key TEXT, record INTEGER)")
    for number, scope in enumerate(scopes):
        for text in scope:
            if isinstance(glob := parse_glob(text), Glob):
                base.executemany("INSERT INTO anchor VALUES (?, ?)", [(repr(one.key), number) for one in anchors(glob)])
    base.execute("CREATE INDEX by_key ON anchor (key, record)")

    def ask(path: str) -> object:
        keys = [repr(key) for key in probes(path)]
        marks = ",".join("?" * len(keys))
        return base.execute(
            f"SELECT DISTINCT record FROM anchor WHERE key IN ({marks}) ORDER BY record", keys
        ).fetchall()

    return ask


ask = {"brute": brute, "wcmatch": with_wcmatch, "pathspec": with_pathspec, "sqlite": with_sqlite}[sys.argv[1]]()
times = []
for path in paths[:20] if sys.argv[1] != "sqlite" else paths:
    began = time.perf_counter_ns()
    ask(path)
    times.append(time.perf_counter_ns() - began)
print(sorted(times)[len(times) // 2] / 1000)
