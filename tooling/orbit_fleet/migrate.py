"""Migration of a lake of version 1: its pushes, in buckets with manifests, become one file a
repository. `migrate.sql` reads the old form.
"""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import asdict, dataclass
from itertools import chain
from pathlib import Path

from orbit_fleet.lake import MARK, Lake, Repository, damage, memory_database
from orbit_fleet.rows import PARTS, Row, terms_row
from orbit_registry.search.text import stem
from orbit_registry.search.texts import words_in
from orbit_registry.snapshot.export import duckdb, quoted

MIGRATE_SQL = Path(__file__).with_suffix(".sql")
MANIFESTS = "manifests"
FOLDERS = ("records", *PARTS, MANIFESTS)
_OF_PUSHES = ("repository", "record_id", "sequence", "removed", "filename")
_NOTHING = (
    "(SELECT NULL::VARCHAR AS repository, NULL::VARCHAR AS record_id, 0 AS sequence, "
    "false AS removed, '' AS filename WHERE false)"
)
HEADS = "SELECT repository, commit, committed_at, pushed_at, extends, origin FROM heads"


@dataclass(frozen=True, slots=True)
class Migration:
    """What a migration wrote, or would write."""

    repositories: int
    records: int

    def as_data(self) -> dict[str, object]:
        """Return the migration as JSON shows it."""
        return asdict(self)


def migrate(lake: Lake, *, dry_run: bool = False) -> Migration:
    """Write the newest state of each repository in today's form, then remove the old files.

    A killed migration is run again: until the end the lake has the old version.

    Raises:
        LakeError: there is no lake of version 1 here, or a file of it is damaged.
    """
    mark = lake.store.read(MARK)
    if mark is None or b'"version": 1' not in mark:
        lake.check()
        return Migration(0, 0)

    names = chain.from_iterable(map(lake.store.names, FOLDERS))
    old = [name for name in names if "/bucket=" in name]
    try:
        repositories, rows = _read(lake, old) if old else ([], {})
    except duckdb.Error as error:
        raise damage(lake, error) from None

    if not dry_run:
        for each in repositories:
            lake.write(each, rows[each.repository])

        lake.mark()
        lake.store.remove(old)

    return Migration(len(repositories), sum(each.records for each in repositories))


def _read(lake: Lake, names: list[str]) -> tuple[list[Repository], dict[str, list[Row]]]:
    """Return the repositories of an old lake, and the newest rows of their records."""
    rows: dict[str, list[Row]] = defaultdict(list)
    sql = MIGRATE_SQL.read_text("utf-8")
    for folder in FOLDERS:
        paths = [lake.store.path(name) for name in names if name.startswith(f"{folder}/")]
        listed = ", ".join(map(quoted, paths))
        if folder == MANIFESTS:
            sql = sql.replace(f"${folder}", listed)
        elif paths:
            options = "union_by_name = true, hive_partitioning = false, filename = true"
            sql = sql.replace(f"${folder}", f"read_parquet([{listed}], {options})")
        else:
            sql = sql.replace(f"${folder}", _NOTHING)

    with memory_database(lake) as connection:
        connection.execute(sql)
        heads = connection.execute(HEADS).fetchall()
        for repository, record, parts in connection.execute("FROM migrated").fetchall():
            rows[repository].append(_row(json.loads(record), json.loads(parts or "{}")))

    return [_repository(head, len(rows[head[0]])) for head in heads], rows


def _row(row: Row, parts: dict[str, list[Row]]) -> Row:
    """Return a row without what the old form kept of pushes, with what its words count."""
    counted = words_in((str(row["title"]), "", str(row["body"] or "")))
    forms = {word: stem(word) for word in counted.forms}
    row |= {part: list(map(_plain, parts.get(part, ()))) for part in PARTS}
    return {**_plain(row), "record_id": row["record_id"], **terms_row(counted.counts, forms)}


def _plain(row: Row) -> Row:
    return {name: value for name, value in row.items() if name not in _OF_PUSHES}


def _repository(head: tuple[str | None, ...], records: int) -> Repository:
    name, commit, committed_at, pushed_at, extends, origin = (text or "" for text in head)
    return Repository(
        name,
        records=records,
        commit=commit,
        committed_at=committed_at,
        pushed_at=pushed_at,
        first_seen_at=pushed_at,
        last_seen_at=pushed_at,
        extends=extends,
        origin=origin,
        reader="orbit",
        # The rows of the next push have more columns: they differ from these in any case.
        digest="-",
    )
