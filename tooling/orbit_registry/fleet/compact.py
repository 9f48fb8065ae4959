"""Compaction of a lake, and removal of a repository from it."""

import contextlib
import os
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from orbit_registry.errors import LakeError
from orbit_registry.fleet.database import CURRENT, add_state, add_tables, damage, memory_database
from orbit_registry.fleet.ducklake import COMPACTION, NEWEST, DuckLake
from orbit_registry.fleet.lake import TABLES, Bucket, Lake, Push, folder_name
from orbit_registry.fleet.push import write_parquet
from orbit_registry.model.votes import format_time
from orbit_registry.snapshot.export import duckdb

GRACE_HOURS = (
    24.0  # hours that a file stays after its use ended: a reader that is running may need it
)
# hours that data without a manifest stay at least: a push that is running writes its manifest last
PUSH_HOURS = 6.0


@dataclass(frozen=True, slots=True)
class CompactResult:
    """What a compaction did, or would do."""

    compacted: int  # buckets that were written anew
    unchanged: int  # buckets without a push since their last compaction
    pushes: int
    repositories: int
    files_written: int
    files_removed: int

    def as_data(self) -> dict[str, object]:
        """Return the result as JSON shows it."""
        return asdict(self)


def compact(
    lake: Lake, *, grace_hours: float = GRACE_HOURS, dry_run: bool = False
) -> CompactResult:
    """Write the state of each bucket that got pushes into one file a table,
    and remove files without a use.
    """
    if isinstance(lake, DuckLake):
        with contextlib.nullcontext() if dry_run else lake.turn(COMPACTION):
            return _compact_catalogue(lake, grace_hours, dry_run)

    totals = {
        "compacted": 0,
        "unchanged": 0,
        "pushes": 0,
        "repositories": 0,
        "files_written": 0,
        "files_removed": 0,
    }

    now = datetime.now(UTC)
    before = now - timedelta(hours=grace_hours)
    times = {
        name: time
        for folder in (*TABLES, "manifests")
        for name, time in lake.store.times(folder).items()
    }
    for bucket in lake.all_buckets():
        totals["repositories"] += sum(not push.removed for push in bucket.heads.values())

        if bucket.unreadable:
            continue  # its next push repairs it; until then no file goes

        if bucket.pushes:
            totals["compacted"] += 1
            totals["pushes"] += bucket.pushes

            if dry_run:
                totals["files_written"] += len(TABLES)
            else:
                totals["files_written"] += _compact_bucket(lake, bucket)
                bucket = lake.bucket(bucket.number)
        else:
            totals["unchanged"] += 1

        earlier = lake.bucket_before(bucket.number, times, before) if grace_hours else bucket
        limits = (before, min(before, now - timedelta(hours=PUSH_HOURS)))
        removable = list(_without_use(bucket, earlier, times, limits))
        totals["files_removed"] += len(removable)

        if not dry_run:
            lake.store.remove(removable)

    return CompactResult(**totals)


def _compact_bucket(lake: Lake, bucket: Bucket) -> int:
    """Write the rows that count, then the manifest; return the number of files."""
    stem = f"compaction.{bucket.compaction + 1:06d}.{os.urandom(8).hex()}"
    files: list[str] = []
    try:
        with tempfile.TemporaryDirectory() as folder, memory_database(lake) as connection:
            add_tables(connection, lake, bucket.files)
            add_state(connection, [bucket])

            for table in TABLES:
                file = Path(folder) / f"{table}.parquet"
                select = (
                    f"SELECT t.* FROM lake_{table} AS t JOIN lake_current USING (repository, "
                    f"record_id, sequence) "
                    "ORDER BY repository, record_id"
                )
                write_parquet(connection, select, file)
                files.append(f"{table}/{folder_name(bucket.number)}/{stem}.parquet")
                lake.store.put(file, files[-1])
    except duckdb.Error as error:
        raise damage(lake, error, bucket.number) from None

    if not lake.commit_compaction(bucket, files, bucket.heads.values()):
        lake.store.remove(files)  # another compaction was first
        return 0

    return len(files)


def _compact_catalogue(lake: DuckLake, grace_hours: float, dry_run: bool) -> CompactResult:
    """Delete the rows that were replaced, merge files, and delete files without a use:
    DuckLake does each of them.
    """
    bucket = lake.bucket(0)
    replaced = bucket.pushes - len(bucket.heads)
    written = 0
    if not dry_run:
        with lake.turn():
            lake.transaction(lambda: _delete_replaced(lake))

        for merge in (
            "rewrite_data_files('lake', delete_threshold => 0)",
            "merge_adjacent_files('lake')",
        ):
            written += _count(lake, "coalesce(sum(files_created), 0)::INTEGER", merge)

    # Without a grace nothing stays: what was replaced a moment ago goes too, also by a clock that
    # is ahead.
    before = datetime.now(UTC) - timedelta(hours=grace_hours or -1)
    options = f"'lake', older_than => '{before.isoformat()}', dry_run => {dry_run}"
    _count(lake, "count(*)", f"expire_snapshots({options})")
    removed = _count(lake, "count(*)", f"cleanup_old_files({options})")
    uncommitted = _uncommitted(
        lake, datetime.now(UTC) - timedelta(hours=max(grace_hours, PUSH_HOURS))
    )

    if not dry_run:
        lake.store.remove(uncommitted)

    repositories = sum(not push.removed for push in bucket.heads.values())
    done = (int(replaced > 0), int(not replaced), replaced, repositories)
    return CompactResult(*done, written, removed + len(uncommitted))


def _uncommitted(lake: DuckLake, before: datetime) -> list[str]:
    """Return the files of pushes that were killed before they added them to the catalogue."""
    if not lake.owns_files():
        return []

    times = {name: time for table in TABLES for name, time in lake.store.times(table).items()}
    tables = (
        f"__ducklake_metadata_lake.ducklake_{table}"
        for table in ("data_file", "files_scheduled_for_deletion")
    )
    select = " UNION ALL ".join(f"SELECT parse_filename(path) FROM {table}" for table in tables)
    committed = {
        name for (name,) in lake.retried(lambda: lake.connection.execute(select).fetchall())
    }

    return [
        name
        for name, time in times.items()
        if time < before and name.rsplit("/", 1)[1] not in committed
    ]


def _count(lake: DuckLake, column: str, function: str) -> int:
    select = f"SELECT {column} FROM ducklake_{function}"
    return int(lake.retried(lambda: lake.connection.execute(select).fetchall())[0][0])


def _delete_replaced(lake: DuckLake) -> None:
    """Delete rows of pushes that later ones replaced;
    the last push of a removed repository stays, for its number.
    """
    heads = f"WITH lake_heads AS (FROM ({NEWEST}) WHERE NOT removed)"
    current = f"{heads}, lake_records AS (FROM lake.lake_records) {CURRENT}"
    for table in reversed(TABLES):  # the records last: they say what counts
        rows = f"DELETE FROM lake.lake_{table} WHERE (repository, record_id, sequence)"
        lake.connection.execute(f"{rows} NOT IN ({current})")

    rows = "DELETE FROM lake.lake_pushes WHERE (repository, sequence)"
    lake.connection.execute(f"{rows} NOT IN (SELECT (repository, sequence) {NEWEST})")


def _without_use(
    bucket: Bucket,
    earlier: Bucket,
    times: Mapping[str, datetime],
    limits: tuple[datetime, datetime],
) -> Iterator[str]:
    """Yield the files of a bucket that count neither now nor earlier; damaged manifests stay for a
    person.

    `limits` are the times after which a file was written too late: one for files with a manifest,
    one without.
    """
    counted = {
        *bucket.files,
        *bucket.manifests,
        *bucket.unreadable,
        *earlier.files,
        *earlier.manifests,
    }
    for name, time in times.items():
        folder, bucket_folder, file = name.split("/", 2)
        if bucket_folder != folder_name(bucket.number) or name in counted:
            continue

        manifest = (
            name
            if folder == "manifests"
            else f"manifests/{bucket_folder}/{file.rsplit('.', 2)[0]}.json"
        )
        if times[manifest] <= limits[0] if manifest in times else time <= limits[1]:
            yield name


def removal(lake: Lake, repository: str) -> Push:
    """Return the push that would remove a repository.

    Raises:
        LakeError: the lake has no such repository.
    """
    bucket = lake.bucket(lake.bucket_of(repository), repository)
    head = bucket.heads.get(repository)
    if head is None or head.removed:
        hint = "`orbit fleet repositories` lists them"
        raise LakeError(f"{lake.address} has no repository {repository!r}", hint=hint)

    sequence = lake.next_sequence(repository, bucket)
    now = format_time(datetime.now(UTC))
    return replace(
        head, sequence=sequence, since=sequence, pushed_at=now, removed=True, rows={}, files=()
    )


def remove(lake: Lake, push: Push) -> None:
    """Remove a repository; the next compaction leaves its rows out.

    Raises:
        LakeError: another push came between.
    """
    if not lake.commit(push):
        raise LakeError(f"a push of {push.repository} came between", hint="run the command again")


def repositories(lake: Lake) -> list[Push]:
    """Return the newest push of each repository, by name."""
    pushes = [
        push for bucket in lake.all_buckets() for push in bucket.heads.values() if not push.removed
    ]
    return sorted(pushes, key=lambda push: push.repository)
