"""Makes rows of the table `events` from the event log; it decides no build, and no row counts in a digest."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from orbit_registry.hook.events import FILES, NAMES, RETRIEVAL
from orbit_registry.snapshot.engine import duckdb

LONGEST = 65_536
_ROWS = """
WITH said AS (
    SELECT n, line, TRY_CAST(line AS JSON) AS members
    FROM (SELECT unnest(lines) AS line, unnest(range(len(lines))) AS n FROM (SELECT ?::VARCHAR[] AS lines))
),
known AS (
    SELECT
        n,
        line,
        TRY_CAST((members->>'$.at') AS TIMESTAMP) AS happened_at,
        (members->>'$.event') AS type,
        (members->>'$.surface') AS surface,
        (members->>'$.session') AS session,
        CASE WHEN (members->>'$.event') = ? THEN (members->>'$.hits[*]') ELSE (members->>'$.ids[*]') END AS ids
    FROM said
    WHERE json_type(members) = 'OBJECT'
)
SELECT happened_at, type, record_id, surface, session, line FROM (
    SELECT *, unnest(CASE WHEN len(ids) = 0 THEN [NULL] ELSE ids END) AS record_id FROM known
)
WHERE happened_at IS NOT NULL
    AND type IN (SELECT unnest(?::VARCHAR[]))
    AND (record_id IS NULL OR regexp_full_match(record_id, '[A-Za-z0-9][A-Za-z0-9_.-]{0,99}'))
ORDER BY n
"""


def event_lines(state: Path) -> list[str]:
    """Return the lines of a workspace's event log, in their order; what can't be read is left out."""
    lines: list[str] = []
    for name in FILES:
        path = state / "log" / name
        try:
            content = path.read_bytes() if path.is_file() and not path.is_symlink() else b""
        except OSError:
            continue  # it was turned over just now, or it is none of ours
        lines += (line.decode("utf-8", "replace") for line in content.splitlines() if 0 < len(line) <= LONGEST)
    return lines


def fill_events(connection: duckdb.DuckDBPyConnection, table: str, lines: Sequence[str]) -> None:
    """Fill a table with a row for each record of each event, and one for an event without; lines that are none go."""
    connection.execute(f"INSERT INTO {table} {_ROWS}", [list(lines), RETRIEVAL, list(NAMES)])


def replace_events(connection: duckdb.DuckDBPyConnection, lines: Sequence[str]) -> None:
    """Let a connection see these events in place of those that a snapshot was built with."""
    connection.execute("CREATE TEMP TABLE events AS FROM events LIMIT 0")
    fill_events(connection, "temp.events", lines)
