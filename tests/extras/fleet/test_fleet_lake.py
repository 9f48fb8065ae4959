"""A lake over time: many pushes at once, kills, removals, damage, older versions, object stores."""

import json
import shutil
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.acceptance.conftest import RunKilled, orbit
from tests.extras.fleet.conftest import PUSHES, MakeRepository, ask, push, push_at_once, vote
from tests.files import commit, write_learning

from orbit_fleet.database import open_lake
from orbit_fleet.lake import Lake
from orbit_registry.doors.cli.main import run
from orbit_registry.formats.yaml import load

pytest.importorskip("fsspec", reason="the fleet extra is not installed")
STATE = "SELECT repository, id, title FROM records ORDER BY ALL"
OLD = Path(__file__).parents[2] / "cases/fleet/lake-1"


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
    assert [path.name for path in lake.glob("records/*shop/*")] == ["records.parquet"]


def test_a_killed_push_leaves_a_whole_state_and_the_next_one_completes(
    make_repository: MakeRepository, tmp_path: Path, run_killed: RunKilled
) -> None:
    shop, original = make_repository("shop"), tmp_path / "original"
    push(shop, original)
    before = ask(original, STATE)
    write_learning(shop, 2)
    commit(shop)
    push(shop, Path(shutil.copytree(original, tmp_path / "after")))
    after = ask(tmp_path / "after", STATE)
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
        assert ask(lake, STATE) == after
        assert push(shop, lake)["outcome"] == "unchanged"
    assert len(states) > 3
    assert before in states
    assert all(state in (before, after) for state in states)


def test_a_kill_between_the_two_files_is_repaired_by_the_next_push(
    make_repository: MakeRepository, tmp_path: Path
) -> None:
    shop, lake = make_repository("shop"), tmp_path / "lake"
    push(shop, lake)
    (row,) = lake.glob("repositories/*shop/*.parquet")
    earlier = row.read_bytes()
    vote(shop, "T-1")
    push(shop, lake)
    row.write_bytes(earlier)
    assert push(shop, lake)["outcome"] == "pushed"
    assert push(shop, lake)["outcome"] == "unchanged"
    assert len(ask(lake, "FROM votes")) == 1


def test_a_kill_between_the_two_files_is_seen_where_the_change_was_taken_back(
    make_repository: MakeRepository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop, lake = make_repository("shop"), tmp_path / "lake"
    push(shop, lake)
    (row,) = lake.glob("repositories/*shop/*.parquet")
    earlier = row.read_bytes()
    vote(shop, "T-1")
    push(shop, lake)
    row.write_bytes(earlier)
    shutil.rmtree(shop / ".orbit/learnings/L-00001")
    write_learning(shop, 1, summary="Close the database when a test ends")
    monkeypatch.setenv("GIT_COMMITTER_DATE", "2090-01-01T00:00:00Z")
    commit(shop)
    assert push(shop, lake)["outcome"] == "pushed"
    assert ask(lake, "FROM votes") == []


def test_a_removed_repository_leaves_no_file(
    make_repository: MakeRepository, tmp_path: Path
) -> None:
    shop, lake = make_repository("shop"), tmp_path / "a lake"
    push(shop, lake)
    push(make_repository("bank"), lake)
    answer = json.loads(orbit(shop, "fleet", "remove", str(lake), "shop", "--format", "json"))
    assert answer["next"] == [f"orbit fleet remove '{lake}' shop --yes"]
    assert len(ask(lake, STATE)) == 4
    orbit(shop, "fleet", "remove", str(lake), "shop", "--yes")
    assert {row["repository"] for row in ask(lake, STATE)} == {"bank"}
    assert list(lake.glob("*/*shop*")) == []
    assert "did you mean bank?" in orbit(shop, "fleet", "remove", str(lake), "bnak", code=1)
    assert push(shop, lake)["records_written"] == 2


def test_a_lake_without_repositories_answers(
    make_repository: MakeRepository, tmp_path: Path
) -> None:
    shop, lake = make_repository("shop"), tmp_path / "lake"
    push(shop, lake)
    orbit(shop, "fleet", "remove", str(lake), "shop", "--yes")
    assert ask(lake, STATE) == []
    assert "nothing found" in orbit(shop, "fleet", "report", "states", "--lake", str(lake))


def test_a_lake_of_the_first_version_is_brought_up_to_date(
    make_repository: MakeRepository, tmp_path: Path
) -> None:
    shop, lake = make_repository("shop"), Path(shutil.copytree(OLD, tmp_path / "lake"))
    for words in (["query", STATE, "--lake", str(lake)], ["push", str(lake)]):
        assert "orbit fleet migrate" in orbit(shop, "fleet", *words, code=1)
    before = {path: path.read_bytes() for path in lake.rglob("*") if path.is_file()}
    orbit(shop, "fleet", "migrate", str(lake), "--dry-run")
    assert {path: path.read_bytes() for path in lake.rglob("*") if path.is_file()} == before
    orbit(shop, "fleet", "migrate", str(lake))
    assert ask(lake, STATE) == [
        {"repository": "acme/bank", "id": "ADR-0001", "title": "Use bank queues"},
        {"repository": "acme/shop", "id": "ADR-0001", "title": "Use shop queues"},
    ]
    assert (
        ask(lake, "SELECT record_id, option FROM rejected")
        == [{"record_id": "ADR-0001", "option": "Redis"}] * 2
    )
    assert ask(lake, "SELECT body FROM records WHERE repository = 'acme/shop'")[0]["body"].endswith(
        "More.\n\nMore."
    )
    assert list(lake.rglob("*bucket=*")) == []
    assert "0 repositories" in orbit(shop, "fleet", "migrate", str(lake))


def test_a_killed_migration_is_run_again(tmp_path: Path, run_killed: RunKilled) -> None:
    whole = Path(shutil.copytree(OLD, tmp_path / "whole"))
    orbit(tmp_path, "fleet", "migrate", str(whole))
    expected = ask(whole, STATE)
    killed = 0
    for nth in range(1, 60, 7):
        lake = Path(shutil.copytree(OLD, tmp_path / f"lake-{nth}"))
        if not run_killed(partial(run, ["fleet", "migrate", str(lake)]), nth, tmp_path, below=lake):
            break
        killed += 1
        orbit(tmp_path, "fleet", "migrate", str(lake))
        assert ask(lake, STATE) == expected
    assert killed > 1


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


def test_a_damaged_file_hides_no_other_one_and_a_push_repairs_it(
    make_repository: MakeRepository, tmp_path: Path
) -> None:
    shop, lake = make_repository("shop"), tmp_path / "lake"
    push(make_repository("bank"), lake)
    push(shop, lake)
    for table in ("records", "repositories"):
        (file,) = lake.glob(f"{table}/*shop/*.parquet")
        file.write_bytes(b"PAR1")
        message = orbit(shop, "fleet", "query", STATE, "--lake", str(lake), code=1)
        assert "the file of shop is damaged" in message
        assert "bank        ADR-0001" in message
        assert push(shop, lake)["outcome"] == "pushed"
        assert len(ask(lake, STATE)) == 4


def test_a_repository_without_its_row_does_not_count_until_the_next_push(
    make_repository: MakeRepository, tmp_path: Path
) -> None:
    shop, lake = make_repository("shop"), tmp_path / "lake"
    push(shop, lake)
    (file,) = lake.glob("repositories/*shop/*.parquet")
    file.unlink()
    assert ask(lake, STATE) == []
    assert push(shop, lake)["outcome"] == "pushed"
    assert len(ask(lake, STATE)) == 2


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", '{"version": 3}', '{"version": "x"}', '{"version": 1e999}', "[" * 100_000],
)
def test_a_mark_of_another_form_is_refused_in_one_line(tmp_path: Path, text: str) -> None:
    (tmp_path / "lake").mkdir()
    (tmp_path / "lake/lake.json").write_text(text, "utf-8")
    assert "names no version" in orbit(
        tmp_path, "fleet", "repositories", "--lake", str(tmp_path / "lake"), code=1
    )


def test_a_file_of_an_older_form_lacks_columns_and_is_read(
    make_repository: MakeRepository, tmp_path: Path
) -> None:
    duckdb: Any = pytest.importorskip("duckdb")
    shop, lake = make_repository("shop"), tmp_path / "lake"
    push(shop, lake)
    for table, row in (
        ("records", "'R-1' AS record_id, 'Old' AS title"),
        ("repositories", "1 AS records"),
    ):
        folder = lake / table / "repository=old"
        folder.mkdir()
        name = "records" if table == "records" else "repository"
        with duckdb.connect() as connection:
            connection.execute(f"COPY (SELECT {row}) TO '{folder / name}.parquet' (FORMAT parquet)")
    assert {"id": "R-1", "kind": None, "title": "Old"} in ask(
        lake, "SELECT id, kind, title FROM records"
    )
    assert ask(lake, "FROM scopes WHERE repository = 'old'") == []


@pytest.mark.parametrize(
    "words",
    [["collect", "folder", "--cache", "a.txt", "--lake", "lake"], ["site", "a.txt", "--lake", "."]],
)
def test_a_file_is_refused_as_a_folder(tmp_path: Path, words: list[str]) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "a.txt").touch()
    assert "a.txt is a file" in orbit(tmp_path, "fleet", *words, code=2)
    assert not (tmp_path / "lake").exists()


@pytest.mark.parametrize(("form", "printed"), [("table", "n\n-\n1\n(1 row)\n"), ("csv", "n\n1\n")])
def test_an_answer_ends_with_one_line_break(tmp_path: Path, form: str, printed: str) -> None:
    Lake(str(tmp_path)).make()
    words = ("fleet", "query", "SELECT 1 AS n", "--lake", str(tmp_path), "--format", form)
    assert orbit(tmp_path, *words) == printed


@pytest.mark.parametrize("memory", ["0", "8", "8 GB; SELECT 1", "-1GB"])
def test_a_size_of_another_form_is_refused(tmp_path: Path, memory: str) -> None:
    words = ("fleet", "query", "SELECT 1", "--lake", str(tmp_path), "--memory", memory)
    assert "is no size" in orbit(tmp_path, *words, code=2)


def test_a_question_spills_what_does_not_fit_into_memory(
    make_repository: MakeRepository, tmp_path: Path
) -> None:
    shop, lake = make_repository("shop"), tmp_path / "lake"
    push(shop, lake)
    sql = "SELECT count(*) AS n FROM (SELECT DISTINCT md5(range::VARCHAR) FROM range(3000000))"
    assert ask(lake, sql, "--memory", "100MB") == [{"n": 3_000_000}]


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


@pytest.mark.parametrize("path", ["src/app.py", "./src/app.py", "src//app.py"])
def test_a_path_is_read_as_one_from_the_root(
    make_repository: MakeRepository, tmp_path: Path, path: str
) -> None:
    root, lake = make_repository("shop"), tmp_path / "lake"
    push(root, lake)
    words = ("fleet", "explain", "--repository", "shop", "--lake", str(lake))
    assert "L-00001" in orbit(root, *words, path)
    assert "does not stay inside" in orbit(root, *words, "/src/app.py", code=2)


def test_an_id_without_a_digit_is_one(make_repository: MakeRepository, tmp_path: Path) -> None:
    root, lake = make_repository("shop"), tmp_path / "lake"
    write_learning(root, "kmnpq", summary="Close files")
    commit(root)
    push(root, lake)
    assert "shop L-kmnpq" in orbit(root, "fleet", "search", "l-KMNPQ", "--lake", str(lake))


def test_an_object_store_holds_a_lake(make_repository: MakeRepository, bucket_address: str) -> None:
    shop = make_repository("shop")
    push(shop, bucket_address)
    vote(shop, "T-1")
    push(shop, bucket_address)
    assert push(shop, bucket_address)["outcome"] == "unchanged"
    assert len(ask(bucket_address, STATE)) == 2
    orbit(
        shop, "fleet", "query", "FROM read_text('/etc/hostname')", "--lake", bucket_address, code=1
    )
    orbit(shop, "fleet", "repositories", "--lake", "s3://no-such-bucket/lake", code=1)


VECTORS: Any = load((Path(__file__).parents[2] / "cases/globs.yaml").read_text("utf-8"))


def test_scope_match_agrees_with_the_vectors_of_globs(
    make_repository: MakeRepository, tmp_path: Path
) -> None:
    """The vectors of one repository's `scope_match` hold for a lake's, which is another text."""
    cases = [(glob, path, expected) for glob, path, expected in VECTORS["cases"] if glob[0] != "!"]
    globs = list(dict.fromkeys(glob for glob, _, _ in cases))
    scopes = [[glob] for glob in globs] + [globs for globs, _, _ in VECTORS["scopes"]]
    root = make_repository("one")
    for number, scope in enumerate(scopes, 100):
        write_learning(root, number, scope={"paths": list(dict.fromkeys(scope))})
    commit(root)
    push(root, tmp_path / "lake")

    paths = {path for _, path, _ in cases} | {path for _, path, _ in VECTORS["scopes"]}
    matches: dict[str, dict[str, str]] = {}
    with open_lake(Lake(str(tmp_path / "lake"))) as connection:
        for path in paths:
            rows = connection.execute("SELECT id, pattern FROM scope_match(?)", [path]).fetchall()
            matches[path] = dict(rows)

    ids = {glob: f"L-{number:05d}" for number, glob in enumerate(globs, 100)}
    wrong = [
        (glob, path) for glob, path, expected in cases if (ids[glob] in matches[path]) != expected
    ]
    for number, (scope, path, expected) in enumerate(VECTORS["scopes"], 100 + len(globs)):
        if matches[path].get(f"L-{number:05d}") != expected:
            wrong.append((scope, path))

    assert wrong == []
