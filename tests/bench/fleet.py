"""Cost of a lake: `python -m tests.bench fleet --repositories 340` makes one up and asks it.

A made-up repository has 100 records, or `--records` of them, of about 1.3 kB, with three globs and
five votes each. Prints a table in Markdown.
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

from orbit_fleet.lake import TABLES, TABLES_SQL, Lake, file_of
from orbit_fleet.report import questions

RECORDS, VOTES = 100, 5
ORBIT = (sys.executable, "-m", "orbit_registry")
MADE = """
CREATE TABLE made AS
SELECT 'acme/r' || r AS repository, r % 64 AS part, 'R-' || i AS record_id, i, hash(r, i) AS h
FROM range($first, $last) AS a(r), range($records) AS b(i)
"""
ROWS = f"""
INSERT INTO lake_records BY NAME SELECT
    record_id, md5(h::VARCHAR) AS digest, md5(h::VARCHAR) AS uid,
    CASE WHEN i % $every = 0 THEN 'adr' ELSE 'learning' END AS kind,
    'Use tool ' || h % 40000 || ' for part ' || h % 7 AS title,
    CASE WHEN h % 20 = 0 THEN 'rejected' ELSE 'accepted' END AS status,
    CASE WHEN h % 20 = 0 THEN 'closed' ELSE 'live' END AS phase,
    '## Decision\n\nSee [the code](src/app.py).\n\n' ||
    array_to_string(
        [left(md5((hash(h, n) % 20000)::VARCHAR), 7) FOR n IN range(150)], ' '
    ) AS body,
    CASE WHEN i % $every = 0 THEN '.orbit/adrs/' || record_id || '/adr.yaml'
    ELSE '.orbit/learnings/' || record_id || '/learning.yaml' END AS path,
    to_json({{id: record_id, title: title, summary: title, date: '2026-01-01', uid: uid}}) AS data,
    '2026-01-01' AS date, 'import' AS author_role,
    'part' || h % 7 || ' tool' || h % 40000 AS title_key, md5((h % 900000)::VARCHAR) AS text_key,
    h % 50 = 1 AS negated,
    array_to_string(
        [' ' || term || ':1 ' FOR term IN list_distinct(string_split(lower(title) || ' ' || body, ' '))
        IF regexp_full_match(term, '[a-z0-9]+')], ''
    ) AS terms,
    '' AS forms, 160 AS length,
    [
        {{axis: 'path', "value": 'src/m' || (h + n) % 500 || '/**', "position": n, "exclude": false,
        anchor_kind: 'directory', anchor: 'src/m' || (h + n) % 500}} FOR n IN range(3)
    ] AS scopes,
    [
        {{rel: CASE WHEN h % 50 = 2 THEN 'overrides' ELSE 'related_to' END,
        target: CASE WHEN h % 50 = 2 THEN 'acme/r0:' ELSE '' END || 'R-' || h % 100, derived: false}}
    ] AS links,
    [
        {{voter_model: 'model', task_id: 'T-' || n,
        voted_at: TIMESTAMP '2026-01-01' + to_days((h % 300)::INTEGER)}} FOR n IN range({VOTES})
    ] AS votes,
    CASE WHEN i % 8 = 0 THEN [
        {{"position": 0, "option": 'Tool', option_key: 'part' || h % 7 || ' tool' || h % 30000}}
    ] END AS rejected
FROM made WHERE repository = $name
"""  # noqa: E501
WHEN = "2026-01-01T00:00:00Z"


def make_lake(folder: Path, repositories: int, records: int = RECORDS, *, every: int = 4) -> None:
    """Write the records of each repository: what a collection would have written.

    One in `every` is a decision, the others are learnings.
    """
    lake = Lake(str(folder))
    lake.make()
    lot = max(50_000 // records, 1)
    for first in range(0, repositories, lot):
        last = min(first + lot, repositories)
        with duckdb.connect() as connection:
            connection.execute(TABLES_SQL.read_text("utf-8"))
            connection.execute(MADE, {"first": first, "last": last, "records": records})
            for number in range(first, last):
                _write(connection, folder, number, records, every)


def _write(
    connection: duckdb.DuckDBPyConnection, folder: Path, number: int, records: int, every: int
) -> None:
    name = f"acme/r{number}"
    connection.execute("DELETE FROM lake_records")
    connection.execute("DELETE FROM lake_repositories")
    connection.execute(ROWS, {"name": name, "every": every})
    state = {
        "commit": "c",
        "committed_at": WHEN,
        "pushed_at": WHEN,
        "first_seen_at": WHEN,
        "last_seen_at": WHEN,
        "extends": "acme/r0 0f3a",
        "reader": "orbit",
        "folder": "",
        "first_commit": f"{number:040x}",
        "error": "",
        "renamed_from": "",
    }
    columns = ", ".join(f"'{value}' AS \"{key}\"" for key, value in state.items())
    more = f"{records} AS records, false AS is_fork, false AS is_archived, true AS is_expected"
    connection.execute(f"INSERT INTO lake_repositories BY NAME SELECT {columns}, {more}")
    for table in TABLES:
        file = folder / file_of(table, name)
        file.parent.mkdir(parents=True, exist_ok=True)
        connection.execute(f"COPY lake_{table} TO '{file}' (FORMAT parquet, COMPRESSION zstd)")


def cost(
    arguments: Sequence[str], folder: Path, codes: Sequence[int] = (0,)
) -> tuple[float, float, float]:
    """Run `orbit` and return its seconds, CPU seconds and peak memory in MB."""
    began = time.perf_counter()
    with tempfile.TemporaryFile("w+") as errors:
        command = [*ORBIT, *arguments]
        process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=errors)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        errors.seek(0)
        if process.returncode not in codes:
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
    parser.add_argument("--records", type=int, default=RECORDS)
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        lake = folder / "lake"
        maker = multiprocessing.get_context("spawn").Process(
            target=make_lake, args=(lake, options.repositories, options.records)
        )
        maker.start()  # its memory would count as that of every command that this process starts
        maker.join()
        records = options.repositories * options.records
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
        print("\n")
        print("| what | seconds | CPU seconds | peak memory |\n|---|---|---|---|")
        print_row(
            "lookup by path in one repository", cost([*lookup, "--repository", "acme/r1"], folder)
        )
        print_row("lookup by path in all", cost(lookup, folder))
        count = ["fleet", "query", "SELECT count(*) FROM records", "--lake", str(lake)]
        print_row("count of all records", cost(count, folder))
        found = ["fleet", "search", "tool", "for", "part", "5", "--lake", str(lake)]
        print_row("search over all", cost(found, folder))
        for question in questions():
            print_row(
                f"report {question}",
                cost(["fleet", "report", question, "--lake", str(lake)], folder),
            )
        measure_pushes(folder)
    print(json.dumps({"load average": os.getloadavg()}))
    return 0
