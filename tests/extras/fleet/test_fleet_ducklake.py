"""DuckLake reads the files of a lake where they are, as a catalogue of its own."""

from pathlib import Path
from typing import Any

import pytest
from tests.extras.fleet.conftest import MakeRepository, push

pytest.importorskip("fsspec", reason="the fleet extra is not installed")
extension: Any = pytest.importorskip(
    "duckdb_extension_ducklake", reason="needs DuckDB's extension ducklake"
)


def test_a_catalogue_lists_the_files_of_a_lake(
    make_repository: MakeRepository, tmp_path: Path
) -> None:
    duckdb: Any = pytest.importorskip("duckdb")
    lake = tmp_path / "lake"
    for name in ("shop", "bank"):
        push(make_repository(name), lake)

    with duckdb.connect() as connection:
        folder = Path(extension.__file__).parent / "extensions" / f"v{duckdb.__version__}"
        connection.execute(f"LOAD '{folder}/ducklake.duckdb_extension'")
        connection.execute(f"ATTACH 'ducklake:{tmp_path}/catalogue.db' AS org")
        files = f"'{lake}/records/*/*.parquet'"
        rows = f"read_parquet({files}, hive_partitioning = true)"
        connection.execute(f"CREATE TABLE org.records AS FROM {rows} LIMIT 0")
        connection.execute(
            f"CALL ducklake_add_data_files('org', 'records', {files}, hive_partitioning => true)"
        )
        counts = connection.execute(
            "SELECT repository, count(*) FROM org.records GROUP BY ALL ORDER BY ALL"
        ).fetchall()

    assert counts == [("bank", 2), ("shop", 2)]
