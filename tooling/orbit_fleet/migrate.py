"""Migration of a lake of version 1: its pushes, in buckets with manifests, become one file a
repository.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from itertools import chain
from typing import Any

from orbit_fleet.lake import (
    MARK,
    Lake,
    Repository,
    damage,
    memory_database,
)
from orbit_registry.errors import LakeError
from orbit_registry.snapshot.export import duckdb, quoted

OLD_TABLES = ("records", "scopes", "links", "votes", "rejected")
_COMPACTION = re.compile(r"/compaction\.([0-9]{6})\.json\Z")
_FOLDERS = (*OLD_TABLES, "manifests")


@dataclass(frozen=True, slots=True)
class Migration:
    """What a migration wrote, or would write."""

    repositories: int
    records: int

    def as_data(self) -> dict[str, object]:
        """Return the migration as JSON shows it."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class _Head:
    """The newest push of a repository in the old form."""

    repository: str
    sequence: int
    since: int
    data: Mapping[str, Any]


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

    names = chain.from_iterable(map(lake.store.names, _FOLDERS))
    old = [name for name in names if "/bucket=" in name]
    heads, files = _heads(lake, [name for name in old if name.startswith("manifests/")])
    records = 0
    for head in heads.values():
        rows = _rows(lake, head, files)
        records += len(rows)
        if not dry_run:
            lake.write(_repository(head, len(rows)), rows)

    if not dry_run:
        lake.mark()
        lake.store.remove(old)

    return Migration(len(heads), records)


def _heads(lake: Lake, names: list[str]) -> tuple[dict[str, _Head], dict[str, list[str]]]:
    """Return the newest push of each repository, and the files of rows by bucket."""
    newest: dict[str, str] = {}
    for name in names:
        match = _COMPACTION.search(name)
        if match is not None:
            bucket = name.split("/")[1]
            newest[bucket] = max(newest.get(bucket, ""), name)

    heads: dict[str, _Head] = {}
    files: dict[str, list[str]] = defaultdict(list)
    for name in [*newest.values(), *(each for each in names if not _COMPACTION.search(each))]:
        data = _parsed(lake, name)
        bucket = name.split("/")[1]
        files[bucket] += data["files"]
        for entry in data.get("repositories", [data]):
            head = _Head(entry["repository"], entry["sequence"], entry["since"], entry)
            before = heads.get(head.repository)
            if before is None or head.sequence > before.sequence:
                heads[head.repository] = head

    return {name: head for name, head in heads.items() if not head.data.get("removed")}, files


def _parsed(lake: Lake, name: str) -> Mapping[str, Any]:
    content = lake.store.read(name) or b""
    try:
        data = json.loads(content)
        return data if data["files"] is not None else {}
    except (ValueError, KeyError, TypeError, RecursionError):
        message = f"{lake.store.path(name)} is damaged"
        hint = "remove it, then run this again; `orbit fleet push` there writes all records anew"
        raise LakeError(message, hint=hint) from None


def _repository(head: _Head, records: int) -> Repository:
    def text(name: str) -> str:
        return str(head.data.get(name) or "")

    return Repository(
        head.repository,
        records=records,
        commit=text("commit"),
        committed_at=text("committed_at"),
        pushed_at=text("pushed_at"),
        first_seen_at=text("pushed_at"),
        last_seen_at=text("pushed_at"),
        extends=text("extends"),
        origin=text("origin"),
        reader="orbit",
        # The rows of the next push have more columns: they differ from these in any case.
        digest="-",
    )


def _rows(lake: Lake, head: _Head, files: Mapping[str, list[str]]) -> list[dict[str, object]]:
    """Return the current rows of a repository, with the rows of its other tables as lists."""
    listed = sorted(set(chain.from_iterable(files.values())))
    with memory_database(lake) as connection:
        try:
            tables = {
                table: _current(connection, lake, head, table, listed) for table in OLD_TABLES
            }
        except duckdb.Error as error:
            raise damage(lake, error) from None

    result: dict[str, dict[str, object]] = {}
    for row in tables["records"]:
        result[str(row["record_id"])] = {**row, **{table: [] for table in OLD_TABLES[1:]}}

    for table in OLD_TABLES[1:]:
        for row in tables[table]:
            record = result.get(str(row.pop("record_id")))
            if record is not None:
                entries = record[table]
                assert isinstance(entries, list)
                entries.append(row)

    return [result[record_id] for record_id in sorted(result)]


def _current(
    connection: duckdb.DuckDBPyConnection,
    lake: Lake,
    head: _Head,
    table: str,
    listed: list[str],
) -> list[dict[str, object]]:
    """Return the rows of a table that the newest push of each record wrote."""
    paths = [quoted(lake.store.path(name)) for name in listed if name.startswith(f"{table}/")]
    if not paths:
        return []

    source = f"read_parquet([{', '.join(paths)}], union_by_name = true, hive_partitioning = false)"
    numbers = f"sequence BETWEEN {head.since} AND {head.sequence}"
    mine = f"repository = {quoted(head.repository)} AND {numbers}"
    if table == "records":
        connection.execute(
            f"CREATE TABLE newest AS SELECT record_id, max(sequence) AS sequence FROM {source} "
            f"WHERE {mine} GROUP BY record_id HAVING NOT arg_max(removed, sequence)"
        )

    rows = connection.execute(
        f"SELECT to_json(r)::VARCHAR FROM (FROM {source} WHERE {mine}) AS r "
        f"JOIN newest AS n ON n.record_id = r.record_id AND n.sequence = r.sequence"
    ).fetchall()
    result = []
    for (text,) in rows:
        row = json.loads(text)
        for name in ("repository", "sequence", "removed"):
            row.pop(name, None)

        result.append(row)

    return result
