"""Cost of a lake: `python -m tests.bench fleet --repositories 5000` makes one up, compacts it and
asks it.

A made-up repository has 100 records of about 1.3 kB, three globs and five votes each. Prints a
table in Markdown.
"""

import argparse
import json
import multiprocessing
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import duckdb
from tests.bench.synthetic import make_repository

from orbit_registry.fleet.lake import TABLES_SQL, Lake, Push, file_stem, folder_name
from orbit_registry.fleet.report import questions

RECORDS, VOTES = 100, 5
ROWS = f"""
CREATE TABLE made AS
SELECT 'acme/r' || r AS repository, r % 64 AS part, 'R-' || i AS record_id, i, hash(r, i) AS h
FROM range($repositories) AS a(r), range({RECORDS}) AS b(i);
INSERT INTO lake_records BY NAME SELECT
    repository, 1 AS sequence, false AS removed, md5(h::VARCHAR) AS digest, record_id, md5(h::VARCHAR) AS uid,
    CASE WHEN i % 4 = 0 THEN 'adr' ELSE 'learning' END AS kind,
    'Use tool ' || h % 40000 || ' for part ' || h % 7 AS title,
    CASE WHEN h % 20 = 0 THEN 'rejected' ELSE 'accepted' END AS status,
    CASE WHEN h % 20 = 0 THEN 'closed' ELSE 'live' END AS phase,
    array_to_string([md5((h + n)::VARCHAR) FOR n IN range(40)], ' ') AS body,
    'part' || h % 7 || ' tool' || h % 40000 AS title_key, md5((h % 900000)::VARCHAR) AS text_key, h % 50 = 1 AS negated
FROM made;
INSERT INTO lake_scopes BY NAME SELECT
    repository, 1 AS sequence, record_id, 'path' AS axis, 'src/m' || (h + n) % 500 || '/**' AS value, n AS position,
    false AS exclude, 'directory' AS anchor_kind, 'src/m' || (h + n) % 500 AS anchor
FROM made, range(3) AS c(n);
INSERT INTO lake_links BY NAME SELECT
    repository, 1 AS sequence, record_id, CASE WHEN h % 50 = 2 THEN 'overrides' ELSE 'related_to' END AS rel,
    CASE WHEN h % 50 = 2 THEN 'acme/r0:' ELSE '' END || 'R-' || h % {RECORDS} AS target, false AS derived
FROM made;
INSERT INTO lake_votes BY NAME SELECT
    repository, 1 AS sequence, record_id, 'model' AS voter_model, 'T-' || n AS task_id,
    TIMESTAMP '2026-01-01' + to_days((h % 300)::INTEGER) AS voted_at
FROM made, range({VOTES}) AS c(n);
INSERT INTO lake_rejected BY NAME SELECT
    repository, 1 AS sequence, record_id, 0 AS position, 'Tool' AS option,
    'part' || h % 7 || ' tool' || h % 30000 AS option_key
FROM made WHERE i % 8 = 0;
"""  # noqa: E501
MADE_TABLES = ("records", "scopes", "links", "votes", "rejected")


def make_lake(folder: Path, repositories: int) -> None:
    """Write one push of each repository, in lots of a few hundred:
    what their CI jobs would have written.
    """
    lake = Lake(str(folder), create=True)
    for first in range(0, repositories, 500):
        with duckdb.connect() as connection:
            connection.execute(TABLES_SQL.read_text("utf-8"))
            lot = ROWS.replace(
                "range($repositories)", f"range({first}, {min(first + 500, repositories)})"
            )
            connection.execute(lot)
            for number in range(first, min(first + 500, repositories)):
                name = f"acme/r{number}"
                bucket = folder_name(lake.bucket_of(name))
                files = [
                    f"{table}/{bucket}/{file_stem(name)}.000001.made.parquet"
                    for table in MADE_TABLES
                ]
                for table, file in zip(MADE_TABLES, files, strict=True):
                    (folder / file).parent.mkdir(parents=True, exist_ok=True)
                    rows = f"FROM lake_{table} WHERE repository = '{name}'"
                    connection.execute(
                        f"COPY ({rows}) TO '{folder / file}' (FORMAT parquet, COMPRESSION zstd)"
                    )
                when = "2026-01-01T00:00:00Z"
                lake.commit(
                    Push(
                        name,
                        1,
                        1,
                        "c",
                        when,
                        when,
                        RECORDS,
                        "d",
                        "acme/r0 0f3a",
                        files=tuple(files),
                    )
                )


def cost(arguments: Sequence[str], folder: Path) -> tuple[float, float, float]:
    """Run `orbit` and return its seconds, CPU seconds and peak memory in MB."""
    began = time.perf_counter()
    with tempfile.TemporaryFile("w+") as errors:
        command = [sys.executable, "-m", "orbit_registry", *arguments]
        process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=errors)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        errors.seek(0)
        if process.returncode:
            raise SystemExit(f"{arguments}: {errors.read()}")
    return time.perf_counter() - began, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def size_of(folder: Path) -> tuple[int, float]:
    sizes = [file.stat().st_size for file in folder.rglob("*") if file.is_file()]
    return len(sizes), sum(sizes) / 1e6


def print_row(name: str, figures: tuple[float, float, float]) -> None:
    print(f"| {name} | {figures[0]:.2f} s | {figures[1]:.2f} s | {figures[2]:.0f} MB |", flush=True)


def measure_pushes(folder: Path) -> None:
    """Measure pushes of one repository of 100 and of 1,000 records."""
    for number in (100, 1_000):
        root = folder / f"repository-{number}"
        make_repository(root, number)
        push = [
            "fleet",
            "push",
            str(folder / f"lake-{number}"),
            "--repository",
            "acme/made",
            "--commit",
        ]
        print_row(f"first push of {number:,} records", cost([*push, "c1"], root))
        print_row(f"push of {number:,} records, nothing changed", cost([*push, "c2"], root))
        learning = next((root / ".orbit/learnings").glob("*/learning.yaml"))
        learning.write_text(
            learning.read_text("utf-8").replace("summary: ", "summary: Changed ", 1), "utf-8"
        )
        print_row(f"push of {number:,} records, one changed", cost([*push, "c3"], root))


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="tests.bench fleet", description=__doc__)
    parser.add_argument("--repositories", type=int, default=200)
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        lake = folder / "lake"
        maker = multiprocessing.get_context("spawn").Process(
            target=make_lake, args=(lake, options.repositories)
        )
        maker.start()  # its memory would count as that of every command that this process starts
        maker.join()
        records = options.repositories * RECORDS
        print(
            f"{options.repositories:,} repositories, {records:,} records, {records * VOTES:,} "
            f"votes: ",
            end="",
        )
        print("{:,} files, {:,.0f} MB; ".format(*size_of(lake)), end="", flush=True)
        lookup = [
            "fleet",
            "query",
            "FROM scope_match('src/m7/a.py')",
            "--lake",
            str(lake),
            "--format",
            "json",
        ]
        uncompacted = cost([*lookup, "--repository", "acme/r1"], folder)
        compaction = cost(["fleet", "compact", str(lake), "--grace", "0"], folder)
        print("{:,} files, {:,.0f} MB after the compaction\n".format(*size_of(lake)))
        print("| what | seconds | CPU seconds | peak memory |\n|---|---|---|---|")
        print_row("lookup by path in one repository, before the compaction", uncompacted)
        print_row("compaction", compaction)
        print_row(
            "lookup by path in one repository", cost([*lookup, "--repository", "acme/r1"], folder)
        )
        print_row("lookup by path in all", cost(lookup, folder))
        for question in questions():
            print_row(
                f"report {question}",
                cost(["fleet", "report", question, "--lake", str(lake)], folder),
            )
        measure_pushes(folder)
    print(json.dumps({"load average": os.getloadavg()}))
    return 0
