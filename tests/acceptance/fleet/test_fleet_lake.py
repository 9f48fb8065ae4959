"""A lake over time: many pushes at once, kills, compactions, removals,
older versions and object stores.
"""

import json
import os
import shutil
import time
from functools import partial
from pathlib import Path

import duckdb
import pytest
from tests.acceptance.conftest import RunKilled, orbit
from tests.acceptance.fleet.conftest import PUSHES, MakeRepository, ask, push, push_at_once, vote
from tests.files import commit, write_learning

from orbit_registry.cli.main import run
from orbit_registry.fleet.lake import Lake, file_stem

pytest.importorskip("fsspec", reason="the fleet extra is not installed")
STATE = "SELECT repository, id, title FROM records ORDER BY ALL"


def test_pushes_at_once_lose_and_double_no_row(
    make_repository: MakeRepository, tmp_path: Path
) -> None:
    shop, lake = make_repository("shop"), tmp_path / "lake"
    push_at_once([(shop, f"acme/r{number}") for number in range(PUSHES)], lake)
    counts = "SELECT count(*) AS n, count(DISTINCT (repository, id)) AS different FROM records"
    assert ask(lake, counts) == [{"n": 2 * PUSHES, "different": 2 * PUSHES}]
    assert ask(lake, "SELECT count(*) AS n FROM scopes") == [{"n": 3 * PUSHES}]


def test_pushes_of_one_repository_at_once_become_one_after_another(
    make_repository: MakeRepository, tmp_path: Path
) -> None:
    shop, lake = make_repository("shop"), tmp_path / "lake"
    push_at_once([(shop, "acme/shop")] * 8, lake)
    assert ask(lake, "SELECT count(*) AS n FROM records") == [{"n": 2}]
    assert [path.name for path in lake.rglob("manifests/*/*")] == [
        f"{file_stem('acme/shop')}.000001.json"
    ]


def test_a_killed_push_leaves_the_last_state_and_the_next_one_completes(
    make_repository: MakeRepository, tmp_path: Path, run_killed: RunKilled
) -> None:
    shop, original = make_repository("shop"), tmp_path / "original"
    push(shop, original)
    before = ask(original, STATE)
    write_learning(shop, 2)
    commit(shop)
    states = []
    for nth in range(1, 40, 2):
        lake = Path(shutil.copytree(original, tmp_path / f"lake-{nth}"))
        if not run_killed(
            partial(run, ["fleet", "push", str(lake), "--repository", "shop"]),
            nth,
            shop,
            below=lake,
        ):
            break
        states.append(ask(lake, STATE))
        push(shop, lake)
        assert len(ask(lake, STATE)) == 3
    assert len(states) > 3
    assert states[:-1] == [before] * (len(states) - 1)  # the last kill may come after the manifest


def test_a_compaction_changes_no_answer_and_deletes_what_counts_no_more(
    make_repository: MakeRepository, tmp_path: Path
) -> None:
    shop, lake = make_repository("shop"), tmp_path / "lake"
    for number in range(3):
        push(shop, lake)
        vote(shop, f"T-{number}")
    push(shop, lake)
    before = ask(lake, STATE), ask(lake, "FROM votes ORDER BY ALL"), ask(lake, "FROM repositories")
    orbit(shop, "fleet", "compact", str(lake), "--grace", "0")
    assert (
        ask(lake, STATE),
        ask(lake, "FROM votes ORDER BY ALL"),
        ask(lake, "FROM repositories"),
    ) == before
    assert len(list(lake.rglob("*.parquet"))) == 5
    assert len(list(lake.rglob("manifests/*/*"))) == 1
    vote(shop, "T-9")
    assert push(shop, lake)["rows"] == {"records": 1, "scopes": 1, "votes": 4}
    assert ask(lake, "SELECT count(*) AS n FROM votes") == [{"n": 4}]
    again = json.loads(orbit(shop, "fleet", "compact", str(lake), "--format", "json"))["data"]
    assert (again["compacted"], again["pushes"], again["files_removed"]) == (1, 1, 0)


def age(path: Path, days: int) -> None:
    """Make the files of a lake older."""
    for file in path.rglob("*") if path.is_dir() else [path]:
        os.utime(file, (time.time() - 86400 * days,) * 2)


def test_a_file_stays_for_the_grace_after_its_use_ended(
    make_repository: MakeRepository, tmp_path: Path
) -> None:
    shop, lake = make_repository("shop"), tmp_path / "lake"
    push(shop, lake)
    age(lake, 5)
    orbit(shop, "fleet", "compact", str(lake))
    first = set(lake.rglob("*.000001.*.parquet"))
    assert len(first) == 2 + 5  # the push and the compaction
    vote(shop, "T-1")
    push(shop, lake)
    age(lake, 3)
    orbit(
        shop, "fleet", "compact", str(lake)
    )  # the push of five days ago was replaced three days ago
    assert {file.name.partition(".")[0] for file in first if file.exists()} == {"compaction"}
    age(lake, 3)
    orbit(shop, "fleet", "compact", str(lake))
    assert len(list(lake.rglob("*.parquet"))) == 5


def test_a_compaction_without_grace_leaves_the_files_of_a_running_push(
    make_repository: MakeRepository, tmp_path: Path
) -> None:
    shop, lake = make_repository("shop"), tmp_path / "lake"
    push(shop, lake)
    (manifest,) = lake.rglob("*.000001.json")
    content = manifest.read_bytes()
    manifest.unlink()
    orbit(shop, "fleet", "compact", str(lake), "--grace", "0")
    manifest.write_bytes(content)
    assert len(ask(lake, STATE)) == 2
    manifest.unlink()
    age(lake, 1)
    orbit(shop, "fleet", "compact", str(lake), "--grace", "0")
    assert list(lake.rglob("*.parquet")) == []


def test_a_removed_repository_is_gone_from_files_after_a_compaction(
    make_repository: MakeRepository, tmp_path: Path
) -> None:
    shop, lake = make_repository("shop"), tmp_path / "lake"
    push(shop, lake)
    orbit(shop, "fleet", "compact", str(lake))
    copy = Path(shutil.copytree(lake, tmp_path / "a lake"))
    answer = json.loads(orbit(shop, "fleet", "remove", str(copy), "shop", "--format", "json"))
    assert answer["next"] == [f"orbit fleet remove '{copy}' shop --yes"]
    orbit(shop, "fleet", "remove", str(lake), "shop")
    assert len(ask(lake, STATE)) == 2
    orbit(shop, "fleet", "remove", str(lake), "shop", "--yes")
    assert ask(lake, STATE) == []
    orbit(shop, "fleet", "compact", str(lake), "--grace", "0")
    with duckdb.connect() as connection:
        assert (
            connection.execute("FROM read_parquet(?)", [f"{lake}/records/*/*.parquet"]).fetchall()
            == []
        )
    shutil.rmtree(shop / ".orbit/adrs")
    commit(shop)
    push(shop, lake)
    assert [row["id"] for row in ask(lake, STATE)] == ["L-00001"]


def test_a_lake_of_an_older_version_is_read(
    make_repository: MakeRepository, tmp_path: Path
) -> None:
    """Version 0 had fewer columns, fewer fields in a manifest, and one table less."""
    shop, lake = make_repository("shop"), tmp_path / "lake"
    push(shop, lake)
    bucket = f"bucket={Lake(str(lake)).bucket_of('old'):02d}"
    name = f"records/{bucket}/{file_stem('old')}.000001.00.parquet"
    (lake / name).parent.mkdir(exist_ok=True)
    rows = (
        "SELECT 'old' AS repository, 1::BIGINT AS sequence, false AS removed, 'R-1' AS "
        "record_id, 'Old' AS title"
    )
    with duckdb.connect() as connection:
        connection.execute(f"COPY ({rows}) TO '{lake / name}' (FORMAT parquet)")
    manifest = {
        "repository": "old",
        "sequence": 1,
        "since": 1,
        "commit": "c",
        "committed_at": "2020-01-01T00:00:00Z",
        "pushed_at": "2020-01-01T00:00:00Z",
        "records": 1,
        "digest": "d",
        "schema_version": 0,
        "files": [name],
        "later_field": {},
    }
    (lake / "manifests" / bucket).mkdir(exist_ok=True)
    (lake / "manifests" / bucket / f"{file_stem('old')}.000001.json").write_text(
        json.dumps(manifest), "utf-8"
    )
    assert {"id": "R-1", "kind": None, "title": "Old"} in ask(
        lake, "SELECT id, kind, title FROM records"
    )
    orbit(shop, "fleet", "compact", str(lake), "--grace", "0")
    assert len(ask(lake, STATE)) == 3


def test_a_query_reads_the_lake_alone(make_repository: MakeRepository, tmp_path: Path) -> None:
    shop, lake = make_repository("shop"), tmp_path / "lake"
    push(shop, lake)
    secret = tmp_path / "secret.csv"
    secret.write_text("a\n1\n", "utf-8")
    questions = (
        f"FROM '{secret}'",
        f"FROM '{lake}/../secret.csv'",
        "COPY records TO 'x.csv'",
        "INSTALL httpfs",
    )
    for sql in (
        *questions,
        f"COPY (SELECT 1) TO '{lake}/x.csv'",
        "SET enable_external_access = true",
    ):
        orbit(shop, "fleet", "query", sql, "--lake", str(lake), code=1)
    writes = f"COPY (SELECT 1) TO '{lake}/x.csv'"
    for sql in (
        f"EXPLAIN ANALYZE {writes}",
        f"EXPLAIN (ANALYZE) {writes}",
        f"WITH x AS ({writes}) SELECT 1",
        f"EXPLAIN ANALYZE WITH x AS ({writes}) SELECT 1",
    ):
        orbit(shop, "fleet", "query", sql, "--lake", str(lake), code=1)
    assert not (lake / "x.csv").exists()
    assert ask(lake, "EXPLAIN SELECT id FROM records")
    assert ask(lake, "SELECT 'copy' AS word;") == [{"word": "copy"}]


def test_a_damaged_file_or_number_is_named(make_repository: MakeRepository, tmp_path: Path) -> None:
    shop, lake = make_repository("shop"), tmp_path / "lake"
    push(shop, lake)
    (manifest,) = lake.rglob("*.000001.json")
    text = manifest.read_text("utf-8")
    manifest.write_text(text.replace('"sequence": 1', f'"sequence": {10**30}'), "utf-8")
    assert ask(lake, STATE) == []
    manifest.write_text(text, "utf-8")
    (file,) = lake.rglob("records/*/*.parquet")
    file.write_bytes(b"PAR1")
    vote(shop, "T-1")
    for words in (
        ["query", STATE, "--lake", str(lake)],
        ["push", str(lake), "--repository", "shop"],
    ):
        assert file.name in orbit(shop, "fleet", *words, code=1)
    assert "--force` in shop" in orbit(shop, "fleet", "compact", str(lake), code=1)


@pytest.mark.parametrize("how", ["force", "remove"])
@pytest.mark.parametrize("is_compacted", [False, True])
def test_a_lake_with_a_missing_file_is_repaired(
    make_repository: MakeRepository, tmp_path: Path, how: str, is_compacted: bool
) -> None:
    shop, lake = make_repository("shop"), tmp_path / "lake"
    push(shop, lake)
    if is_compacted:
        orbit(shop, "fleet", "compact", str(lake), "--grace", "0")
    (file,) = lake.rglob("records/*/*.parquet")
    file.unlink()
    assert "--force` in shop" in orbit(shop, "fleet", "query", STATE, "--lake", str(lake), code=1)
    if how == "remove":
        orbit(shop, "fleet", "remove", str(lake), "shop", "--yes")
        assert ask(lake, STATE) == []
    push(shop, lake, *(["--force"] if how == "force" else []))
    assert len(ask(lake, STATE)) == 2
    orbit(shop, "fleet", "compact", str(lake))


def test_a_damaged_removal_does_not_bring_a_repository_back(
    make_repository: MakeRepository, tmp_path: Path
) -> None:
    shop, lake = make_repository("shop"), tmp_path / "lake"
    push(shop, lake)
    orbit(shop, "fleet", "remove", str(lake), "shop", "--yes")
    (manifest,) = lake.rglob("*.000002.json")
    manifest.write_text("{", "utf-8")
    assert ask(lake, STATE) == []


def test_an_address_is_a_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", "utf-8")
    for address in ("", str(tmp_path / "file")):
        orbit(tmp_path, "fleet", "repositories", "--lake", address, code=2)


def test_a_path_is_looked_up_in_one_repository_or_in_all(
    make_repository: MakeRepository, tmp_path: Path
) -> None:
    lake = tmp_path / "lake"
    for name in ("shop", "bank"):
        push(make_repository(name), lake)
    sql = "SELECT repository, id FROM scope_match('src/app.py')"
    assert [row["repository"] for row in ask(lake, sql)] == ["bank", "shop"]
    assert ask(lake, sql, "--repository", "shop") == [{"repository": "shop", "id": "L-00001"}]
    assert "no repository" in orbit(
        tmp_path, "fleet", "query", sql, "--lake", str(lake), "--repository", "x", code=1
    )


def test_an_object_store_holds_a_lake(make_repository: MakeRepository, bucket_address: str) -> None:
    shop = make_repository("shop")
    push(shop, bucket_address)
    vote(shop, "T-1")
    push(shop, bucket_address)
    assert push(shop, bucket_address)["outcome"] == "unchanged"
    orbit(shop, "fleet", "compact", bucket_address, "--grace", "0")
    assert len(ask(bucket_address, STATE)) == 2
    orbit(
        shop, "fleet", "query", "FROM read_text('/etc/hostname')", "--lake", bucket_address, code=1
    )
    orbit(shop, "fleet", "repositories", "--lake", "s3://no-such-bucket/lake", code=1)
