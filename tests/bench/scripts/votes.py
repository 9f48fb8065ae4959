"""Prints how long it takes to weigh so many votes, ten a record, in ms; nothing is read from disk.

`python`: the key that the index and the snapshot store. `sql`: the snapshot's macro at another half-life. `brute`: the
definition, a power a vote, summed as it comes. `sqlite`: the same as one grouped query.
"""

from __future__ import annotations

import random
import sqlite3
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import duckdb

import orbit_registry
from orbit_registry.records.rank import vote_key
from orbit_registry.records.vote import Vote

A_RECORD = 10
HALF_LIFE = 90.0
NOW = datetime(2026, 1, 1, tzinfo=UTC)


def made(number: int) -> list[tuple[str, str, datetime, str]]:
    """Return votes: record, voter, time, task."""
    chance = random.Random(7)
    start = datetime(2024, 1, 1, tzinfo=UTC)
    return [
        (f"L-{place // A_RECORD:07d}", "m", start + timedelta(seconds=chance.randint(0, 63_000_000)), f"T-{place}")
        for place in range(number)
    ]


def in_python(rows: list[tuple[str, str, datetime, str]]) -> Callable[[], object]:
    """Weigh each record's votes."""
    held: defaultdict[str, list[Vote]] = defaultdict(list)
    for record, voter, at, task in rows:
        held[record].append(Vote(record, voter, at, task))
    return lambda: {record: vote_key(votes, HALF_LIFE) for record, votes in held.items()}


def by_definition(rows: list[tuple[str, str, datetime, str]]) -> Callable[[], object]:
    """Add a power a vote."""

    def weigh() -> object:
        scores: defaultdict[str, float] = defaultdict(float)
        for record, _, at, _ in rows:
            scores[record] += 2.0 ** (-(NOW - at).total_seconds() / 86400 / HALF_LIFE)
        return scores

    return weigh


def in_sql(rows: list[tuple[str, str, datetime, str]]) -> Callable[[], object]:
    """Ask the snapshot's macro."""
    base = duckdb.connect()
    folder = Path(orbit_registry.__file__).parent / "snapshot"
    base.execute((folder / "tables.sql").read_text("utf-8"))
    base.execute((folder / "macros.sql").read_text("utf-8"))
    chosen = [(record, voter, at.replace(tzinfo=None).isoformat(), task) for record, voter, at, task in rows]
    columns = {name: [row[place] for row in chosen] for place, name in enumerate(("r", "v", "t", "k"))}
    base.execute(
        "INSERT INTO votes (record_id, voter_model, voted_at, task_id) "
        "SELECT unnest($r), unnest($v), unnest($t)::TIMESTAMP, unnest($k)", columns
    )  # fmt: skip
    return lambda: base.execute(f"SELECT count(*), sum(rank_key) FROM vote_scores({HALF_LIFE})").fetchall()


def in_sqlite(rows: list[tuple[str, str, datetime, str]]) -> Callable[[], object]:
    """Group in SQLite, whose `pow` is Python's where it was built without."""
    base = sqlite3.connect(":memory:")
    base.create_function("power", 2, lambda a, b: a**b, deterministic=True)
    base.execute("CREATE TABLE votes (record TEXT, day REAL)")
    base.executemany("INSERT INTO votes VALUES (?, ?)", [(row[0], row[2].timestamp() / 86400) for row in rows])
    now = NOW.timestamp() / 86400
    asked = f"SELECT record, sum(power(2.0, (day - {now}) / {HALF_LIFE})) FROM votes GROUP BY record"
    return lambda: base.execute(asked).fetchall()


weigh = {"python": in_python, "sql": in_sql, "brute": by_definition, "sqlite": in_sqlite}[sys.argv[1]](
    made(int(sys.argv[2]))
)
times = []
for _ in range(3):
    began = time.process_time_ns()
    weigh()
    times.append(time.process_time_ns() - began)
print(min(times) / 1e6)
