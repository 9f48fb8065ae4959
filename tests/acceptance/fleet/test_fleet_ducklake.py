"""A lake with a catalogue of DuckLake: many pushes at once in PostgreSQL, kills, compactions,
catalogues in files.
"""

import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import duckdb
import pytest
from tests.acceptance.conftest import orbit
from tests.acceptance.fleet.conftest import MakeRepository, ask, push, push_at_once, vote
from tests.files import commit, write_learning

from orbit_registry.errors import LakeError, UsageError
from orbit_registry.fleet.ducklake import COMPACTION, DuckLake, lake_at
from orbit_registry.fleet.report import report
from orbit_registry.workspace.config import without_user

pytest.importorskip("fsspec", reason="the fleet extra is not installed")
extension = pytest.mark.skipif(
    not find_spec("duckdb_extension_ducklake"), reason="needs DuckLake: `nox -s ducklake` brings it"
)
PROGRAMS = next(
    iter(sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)), Path("/usr/bin")
)
STATE = "SELECT repository, id, title, summary FROM records ORDER BY ALL"
ANSWERS = """
FROM (SELECT list(r ORDER BY r) AS records FROM records AS r),
    (SELECT list(v ORDER BY v) AS votes FROM votes AS v),
    (SELECT list(p ORDER BY p) AS repositories FROM repositories AS p)
"""
USER = "orbit"


@dataclass
class Server:
    """PostgreSQL on this machine."""

    port: int
    databases: int = 0

    def ask(self, sql: str) -> str:
        """Return the answer of the server's own client."""
        words = [
            "psql",
            "-XAtq",
            "-h",
            "127.0.0.1",
            "-p",
            str(self.port),
            "-U",
            USER,
            "-d",
            "postgres",
            "-c",
            sql,
        ]
        return subprocess.run(words, check=True, capture_output=True, text=True).stdout.strip()

    def database(self) -> str:
        """Make a database, and return the address of a lake in it."""
        self.databases += 1
        self.ask(f"CREATE DATABASE lake{self.databases}")
        return (
            f"ducklake:postgres:host=127.0.0.1 port={self.port} user={USER} "
            f"dbname=lake{self.databases}"
        )


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """Start PostgreSQL, which root may not run, in a folder of its own."""
    if not (PROGRAMS / "initdb").exists():
        pytest.skip("needs PostgreSQL: apt-get install postgresql")
    password = secrets.token_hex(16)
    account = "postgres" if os.getuid() == 0 else None
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with tempfile.TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patch:
        folder = Path(name)
        (folder / "password").write_text(password, "utf-8")
        for path in (folder, folder / "password"):
            if account:
                shutil.chown(path, account, account)
        data = f"{folder}/data"
        settings = {
            "listen_addresses": "127.0.0.1",
            "unix_socket_directories": "",
            "fsync": "off",
            "port": str(port),
        }
        options = " ".join(f"-c {key}={value!r}" for key, value in settings.items())
        for words in (
            [
                "initdb",
                "-D",
                data,
                "-U",
                USER,
                "-A",
                "scram-sha-256",
                "--no-sync",
                f"--pwfile={folder}/password",
            ],
            ["pg_ctl", "-D", data, "-w", "-l", f"{folder}/log", "-o", options, "start"],
        ):
            subprocess.run(
                [PROGRAMS / words[0], *words[1:]],
                check=True,
                stdout=subprocess.DEVNULL,
                user=account,
            )
        patch.setenv("PGPASSWORD", password)
        yield Server(port)
        subprocess.run(
            [PROGRAMS / "pg_ctl", "-D", data, "-m", "fast", "stop"], check=True, user=account
        )


@extension
@pytest.mark.timeout(600)
def test_pushes_at_once_lose_and_double_no_row(
    make_repository: MakeRepository, tmp_path: Path, server: Server
) -> None:
    """They make the lake at once too, and need more connections than the server has."""
    shop, lake = make_repository("shop"), server.database()
    number = 8 if "CI" in os.environ else 64  # these take a minute of two cores
    push_at_once(
        [(shop, f"acme/r{each}") for each in range(number)], lake, "--data", str(tmp_path / "data")
    )
    counts = "SELECT count(*) AS n, count(DISTINCT (repository, id)) AS different FROM records"
    assert ask(lake, counts) == [{"n": 2 * number, "different": 2 * number}]
    assert ask(lake, "SELECT count(*) AS n FROM scopes") == [{"n": 3 * number}]


@extension
@pytest.mark.timeout(300)
def test_of_pushes_of_one_repository_at_once_each_state_is_whole(
    make_repository: MakeRepository, tmp_path: Path, server: Server
) -> None:
    lake = server.database()
    copies = [make_repository(f"copy{number}") for number in range(4)]
    push_at_once([(copies[0], "acme/shop")] * 4, lake, "--data", str(tmp_path / "data"))
    assert lake_at(lake).bucket(0).pushes == 1
    for number, root in enumerate(copies, 1):
        write_learning(root, number, summary=f"Summary {number}")
        commit(root)
    push_at_once([(root, "acme/shop") for root in copies], lake)
    pushed = [
        row["summary"]
        for row in ask(lake, "SELECT summary FROM records WHERE id <> 'ADR-0001' ORDER BY id")
    ]
    first = "Close the database when a test ends"
    assert pushed in [["Summary 1"], *([first, f"Summary {number}"] for number in (2, 3, 4))]


@extension
def test_a_killed_push_leaves_the_last_state_and_the_next_one_completes(
    make_repository: MakeRepository, tmp_path: Path, server: Server
) -> None:
    """The server holds the push up where it writes to a table of the catalogue."""
    shop, lake = make_repository("shop"), server.database()
    push(shop, lake, "--data", str(tmp_path / "data"))
    before = ask(lake, STATE)
    write_learning(shop, 2)
    commit(shop)
    client = [
        "psql",
        "-Xq",
        "-h",
        "127.0.0.1",
        "-p",
        str(server.port),
        "-U",
        USER,
        "-d",
        lake.rpartition("=")[2],
    ]
    with subprocess.Popen(
        client, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdin
        assert holder.stdout
        holder.stdin.write("BEGIN; LOCK TABLE ducklake_data_file IN SHARE MODE;\n\\echo locked\n")
        holder.stdin.flush()
        assert holder.stdout.readline() == "locked\n"
        words = [
            sys.executable,
            "-m",
            "orbit_registry",
            "fleet",
            "push",
            lake,
            "--repository",
            "shop",
        ]
        with subprocess.Popen(words, cwd=shop) as pusher:
            while server.ask("SELECT count(*) FROM pg_locks WHERE NOT granted") == "0":
                with pytest.raises(subprocess.TimeoutExpired):
                    pusher.wait(0.1)
            pusher.kill()
        holder.stdin.write("ROLLBACK;\n")
        holder.stdin.close()
    assert ask(lake, STATE) == before
    assert push(shop, lake)["records_written"] == 1
    assert len(ask(lake, STATE)) == 3


@extension
def test_a_compaction_changes_no_answer_and_deletes_what_was_replaced(
    make_repository: MakeRepository, tmp_path: Path, server: Server
) -> None:
    shop, bank, lake = make_repository("shop"), make_repository("bank"), server.database()
    push(bank, lake, "--data", str(tmp_path / "data"))
    push(shop, lake)
    vote(shop, "T-1")
    push(shop, lake)
    orbit(shop, "fleet", "remove", lake, "bank", "--yes")
    before = ask(lake, ANSWERS)
    killed = tmp_path / "data/votes/bucket=00/shop.killed.parquet"
    killed.write_bytes(b"")
    os.utime(killed, (1, 1))
    orbit(shop, "fleet", "compact", lake, "--grace", "0")
    assert not killed.exists()
    assert ask(lake, ANSWERS) == before
    with duckdb.connect() as connection:
        files = list(map(str, (tmp_path / "data").rglob("*.parquet")))
        rows = connection.execute(
            "SELECT repository FROM read_parquet(?, union_by_name = true)", [files]
        ).fetchall()
    assert set(rows) == {("shop",)}
    vote(shop, "T-9")
    assert push(shop, lake)["rows"] == {"records": 1, "scopes": 1, "votes": 2}
    assert push(bank, lake)["records_written"] == 2
    assert len(ask(lake, STATE, "--repository", "shop")) == 2


@extension
@pytest.mark.parametrize("database", ["", "sqlite:"])
def test_a_file_has_the_catalogue_and_answers_as_a_folder_does(
    make_repository: MakeRepository, tmp_path: Path, database: str
) -> None:
    lakes = (f"ducklake:{database}{tmp_path}/lake.db", str(tmp_path / "folder"))
    shop, bank = make_repository("shop"), make_repository("bank")
    for lake in lakes:
        push(shop, lake)
        push(bank, lake)
        assert push(bank, lake)["outcome"] == "unchanged"
    assert ask(lakes[0], STATE) == ask(lakes[1], STATE)
    answers = [
        [answer.as_data() for answer in report(lake_at(lake), None, rows=100)] for lake in lakes
    ]
    assert answers[0] == answers[1]
    assert (tmp_path / "lake.db.files").is_dir()


@extension
def test_a_push_adds_columns_that_an_older_version_lacks(
    make_repository: MakeRepository, tmp_path: Path
) -> None:
    shop, lake = make_repository("shop"), f"ducklake:{tmp_path}/lake.db"
    push(shop, lake)
    older = lake_at(lake, writes=True)
    assert isinstance(older, DuckLake)
    older.connection.execute(
        "ALTER TABLE lake.lake_records DROP COLUMN title; DROP TABLE lake.lake_rejected"
    )
    del older
    push(shop, lake, "--force")
    orbit(shop, "fleet", "compact", lake, "--grace", "0")
    assert [row["title"] for row in ask(lake, STATE)] == [
        "Use PostgreSQL",
        "Close the database when a test ends",
    ]


@extension
def test_of_two_lakes_none_takes_the_folder_of_the_other(
    make_repository: MakeRepository, tmp_path: Path
) -> None:
    shop, folder, first = make_repository("shop"), tmp_path / "folder", f"ducklake:{tmp_path}/a.db"
    push(shop, folder)
    push(shop, first)
    for data in (folder, tmp_path / "a.db.files"):
        assert "--data" in orbit(
            shop, "fleet", "push", f"ducklake:{tmp_path}/b.db", "--data", str(data), code=1
        )
    assert "ducklake.json" in orbit(shop, "fleet", "push", str(tmp_path / "a.db.files"), code=1)


@extension
def test_a_compaction_keeps_the_files_of_a_lake_that_came_later(
    make_repository: MakeRepository, tmp_path: Path
) -> None:
    shop, lake = make_repository("shop"), f"ducklake:{tmp_path}/lake.db"
    push(shop, lake)
    files = tmp_path / "lake.db.files"
    (files / "ducklake.json").write_text('{"catalogue": "another"}', "utf-8")
    unknown = files / "votes/bucket=00/shop.unknown.parquet"
    unknown.parent.mkdir(parents=True)
    unknown.write_bytes(b"")
    os.utime(unknown, (1, 1))
    orbit(shop, "fleet", "compact", lake, "--grace", "0")
    assert unknown.exists()
    assert "another lake" in orbit(shop, "fleet", "push", lake, "--force", code=1)


@extension
def test_a_record_has_words_that_ducklake_replaces(
    make_repository: MakeRepository, tmp_path: Path
) -> None:
    shop, lake = make_repository("shop"), f"ducklake:{tmp_path}/lake.db"
    write_learning(shop, 1, summary="{METADATA_PATH} and {DATA_PATH} are words")
    commit(shop)
    push(shop, lake)
    assert push(shop, lake)["outcome"] == "unchanged"
    orbit(shop, "fleet", "compact", lake, "--grace", "0")
    assert ask(lake, STATE)[1]["summary"] == "{ METADATA_PATH} and { DATA_PATH} are words"


@extension
def test_a_question_writes_nothing(make_repository: MakeRepository, tmp_path: Path) -> None:
    shop, folder = make_repository("shop"), tmp_path / "lake"
    push(shop, f"ducklake:{folder}/lake.db")
    for name in ("lake.db.lock", "lake.db.holder"):
        (folder / name).unlink(missing_ok=True)
    before = sorted(folder.rglob("*"))
    assert len(ask(f"ducklake:{folder}/lake.db", STATE)) == 2
    assert sorted(folder.rglob("*")) == before


@extension
def test_a_writer_waits_for_the_others_not_for_ever(
    make_repository: MakeRepository, tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop, lake = make_repository("shop"), server.database()
    push(shop, lake, "--data", str(tmp_path / "data"))
    monkeypatch.setenv("ORBIT_LOCK_WAIT_SECONDS", "0.2")
    other = lake_at(lake, writes=True)
    assert isinstance(other, DuckLake)
    with other.turn(COMPACTION):
        assert "waited 0.2 s for a compaction" in orbit(shop, "fleet", "compact", lake, code=1)
        vote(shop, "T-1")
        push(shop, lake)
    with other.turn():
        vote(shop, "T-2")
        assert "waited 0.2 s for other pushes" in orbit(
            shop, "fleet", "push", lake, "--repository", "shop", code=1
        )


@extension
def test_an_error_has_the_reason_without_texts_of_records(
    make_repository: MakeRepository, tmp_path: Path, server: Server
) -> None:
    shop, lake = make_repository("shop"), server.database()
    push(shop, lake, "--data", str(tmp_path / "data"))
    name = lake.rpartition("=")[2]
    words = ["psql", "-Xq", "-h", "127.0.0.1", "-p", str(server.port), "-U", USER, "-d", name, "-c"]
    refuse = (
        "ALTER TABLE ducklake_file_column_stats ADD CONSTRAINT few CHECK (min_value NOT "
        "LIKE '%secret%')"
    )
    subprocess.run([*words, refuse], check=True)
    write_learning(shop, 2, summary='A "secret": text')
    commit(shop)
    message = orbit(shop, "fleet", "push", lake, "--repository", "shop", code=1)
    assert 'violates check constraint "few"' in message
    assert "secret" not in message


@extension
def test_an_object_store_has_the_files(
    make_repository: MakeRepository, tmp_path: Path, bucket_address: str
) -> None:
    shop, lake = make_repository("shop"), f"ducklake:{tmp_path}/lake.db"
    push(shop, lake, "--data", bucket_address)
    vote(shop, "T-1")
    push(shop, lake)
    orbit(shop, "fleet", "compact", lake, "--grace", "0")
    assert len(ask(lake, STATE)) == 2
    assert "s3://decisions/lake" in orbit(
        shop, "fleet", "push", lake, "--data", str(tmp_path), code=2
    )


@extension
def test_a_closed_lake_is_free(tmp_path: Path) -> None:
    address = f"ducklake:{tmp_path}/lake.db"
    first = lake_at(address, create=True, may_be_new=True)
    first.close()
    second = lake_at(address, writes=True)
    second.close()
    assert first is not second


@extension
def test_a_lake_that_is_not_there_is_named_without_its_password(
    tmp_path: Path, server: Server
) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        nobody = (
            f"ducklake:postgres:host=127.0.0.1 port={closed.getsockname()[1]} sslpassword=hunter2"
        )
        with pytest.raises(LakeError, match="refused") as refused:
            lake_at(nobody)
    assert "hunter2" not in refused.value.message
    with pytest.raises(LakeError, match="can't read the address") as mistaken:
        lake_at("ducklake:postgres:host=127.0.0.1 password='hunter2 x")
    assert "hunter2" not in mistaken.value.message
    with pytest.raises(LakeError, match="is no lake"):
        lake_at(server.database())
    with pytest.raises(UsageError, match="is no lake yet"):
        lake_at(server.database(), create=True, may_be_new=True)


@pytest.mark.skipif(
    bool(find_spec("duckdb_extension_ducklake")), reason="the extension is installed"
)
def test_without_the_extension_one_line_says_what_to_install(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="the extension ducklake") as missing:
        lake_at(f"ducklake:{tmp_path}/lake.db", may_be_new=True)
    assert "orbit-registry[ducklake]" in missing.value.hint


@pytest.mark.parametrize("address", ["ducklake:", "ducklake:mysql:host=x"])
def test_a_catalogue_is_in_postgresql_or_a_file(address: str) -> None:
    with pytest.raises(UsageError, match="catalogue"):
        lake_at(address)


@pytest.mark.parametrize("address", ["ducklake:sqlite:", "ducklake:~"])
def test_a_catalogue_is_no_folder(address: str) -> None:
    with pytest.raises(UsageError, match="folder"):
        lake_at(address, create=True, may_be_new=True)


@pytest.mark.parametrize("written", ["host=h pass='secret host=secret", "//u:secret/secret?@h"])
def test_a_message_shows_nothing_of_an_address(written: str) -> None:
    assert without_user(f"ducklake:postgres:{written}") == "ducklake:postgres:…"
