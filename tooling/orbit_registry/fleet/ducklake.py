"""Lake with a catalogue of DuckLake: a push is a transaction of a database, so many can push at
once.

The catalogue takes the place of the manifests: it has the files of each table, and in `lake_pushes`
a row for each push, of which the newest of a repository counts. A push only adds: a deletion
conflicts with every writer of a table.
"""

from __future__ import annotations

import contextlib
import json
import random
import re
import time
from dataclasses import fields
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from orbit_registry.errors import LakeError, LockTimeoutError, RefusedError, UsageError
from orbit_registry.fleet.database import HEADS, ROW_GROUP
from orbit_registry.fleet.lake import MARK, TABLES, TABLES_SQL, Bucket, Lake, Push
from orbit_registry.fleet.store import Store
from orbit_registry.snapshot.export import OFFLINE, duckdb, quoted
from orbit_registry.snapshot.query import MEMORY
from orbit_registry.workspace.config import without_user
from orbit_registry.workspace.lock import locked, wait_seconds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Result = TypeVar("Result")
PREFIX = "ducklake:"
ATTEMPTS = 30  # times that other processes may disturb a transaction before it gives up
TURN = 0x6F726269740001  # key of the lock of writers in PostgreSQL
COMPACTION = TURN + 1  # key of the lock of compactions
TURN_SECONDS = 600.0  # how long a writer waits for the others: 64 pushes take a minute
LONGEST_WAIT = 5.0  # seconds before the next attempt
_EXTENSIONS = {
    "postgres": "postgres_scanner",
    "sqlite": "sqlite_scanner",
}  # by the database of the catalogue
_DISTURBED = re.compile(
    r"conflict|too many (?:clients|connections)|connection slots|already exists|duplicate "
    r"key|serializ|is locked",
    re.I,
)
_UNREACHED = re.compile(r'Unable to connect to Postgres at ".*": (?P<reason>[^\n]+)', re.DOTALL)
_MISTAKEN = re.compile(
    r"connection info string|connection option|in URI|URI|invalid (?:port|integer)", re.I
)
_QUERY = re.compile(r'query "(?:.*": (?=ERROR)|.*": )', re.DOTALL)  # with texts of records
_LONGEST_REASON = 300
_PLACEHOLDER = re.compile(r"\{(?=(?:AUTHOR|COMMIT_[A-Z_]+|DATA_PATH|METADATA_[A-Z_]+)\})")
"""The start of a word that DuckLake replaces in its own SQL,
where it lists the least and the greatest text too.
"""
OPTIONS = {
    "parquet_compression": "zstd",
    "parquet_row_group_size": ROW_GROUP,
}  # of files that are merged
_COLUMNS = tuple(field.name for field in fields(Push) if field.name not in ("rows", "files"))
PUSHES = "lake_pushes"
CLAIM = "ducklake.json"  # names the catalogue that a folder of files belongs to
NEWEST = (
    "FROM lake.lake_pushes QUALIFY row_number() OVER (PARTITION BY repository ORDER BY "
    "sequence DESC) = 1"
)


def lake_at(
    address: str,
    *,
    create: bool = False,
    may_be_new: bool = False,
    data: str = "",
    writes: bool = False,
) -> Lake:
    """Return the lake at an address: a folder with manifests, or a catalogue of DuckLake.

    `writes` is for those who change an existing lake; `create` includes it.

    Raises:
        UsageError: `data` is given for a folder.
    """
    if address.startswith(PREFIX):
        return DuckLake(address, create=create, may_be_new=may_be_new, data=data, writes=writes)
    if data:
        hint = "leave it out: the files are at this address"
        raise UsageError("--data is for addresses that begin with `ducklake:`", hint=hint)

    return Lake(address, create=create, may_be_new=may_be_new)


class DuckLake(Lake):
    """A lake of one bucket whose pushes are rows of a database."""

    writes_anew = False  # the catalogue lists a missing file until a compaction, which reads it

    def __init__(
        self,
        address: str,
        *,
        create: bool = False,
        may_be_new: bool = False,
        data: str = "",
        writes: bool = False,
    ) -> None:
        self._shown = without_user(address)
        self._database, self._catalogue = _parts(address)
        is_file = self._database != "postgres"
        self._mode = "" if create or writes else ", READ_ONLY"
        self._lock = contextlib.ExitStack()

        if is_file and (
            create or (writes and Path(self._catalogue).exists())
        ):  # a file is for one writer at a time
            self._lock.enter_context(locked(Path(f"{self._catalogue}.lock")))

        config = {**OFFLINE, "memory_limit": MEMORY, "temp_directory": ""}
        self.connection = duckdb.connect(":memory:", config=config)

        for name in ("ducklake", _EXTENSIONS.get(self._database, "")):
            self._load(name)

        self.is_new = not self._attached()

        if self.is_new:
            if not may_be_new:
                raise LakeError(f"{self._shown} is no lake", hint="`orbit fleet push` makes one")
            data = data or (f"{self._catalogue}.files" if is_file else "")
            if not data:
                hint = "say where the files of the new lake go: --data s3://decisions/files"
                raise UsageError(f"{self._shown} is no lake yet", hint=hint)

        super().__init__(data if self.is_new else self._data_path())
        self.address = self._shown

        if data and Store(data).path("") != self.store.path(""):
            raise UsageError(
                f"the files of {self.address} are in {self.store.path('')}", hint="leave out --data"
            )

        if not self.store.is_local:
            self.connection.register_filesystem(self.store.files)
        if self.is_new:
            self._refuse_used_folder()

        if create:
            self.connection.execute(
                TABLES_SQL.read_text("utf-8") + HEADS.replace("lake_heads", PUSHES)
            )

            if self.is_new:
                self.retried(lambda: self._attach(f"DATA_PATH {quoted(self.store.path(''))}"))
                self.is_new = False

            self._claim()

            if self._missing_columns():
                with self.turn():
                    self.transaction(self._add_columns)

    def close(self) -> None:
        """Close the connection, and let others write."""
        self.connection.close()
        self._lock.close()

    def _refuse_used_folder(self) -> None:
        """Raise where a new catalogue's folder has files,
        unless a push at the same time has made the catalogue.
        """
        name = self.store.foreign_file()
        self.is_new = not (name == CLAIM and self._attached())

        if self.is_new and name is not None:
            message = (
                f"{self.store.path('')} has {name}, and is no folder for the files of a new lake"
            )
            raise RefusedError(
                message, hint="name an empty folder, or one that does not exist yet: --data"
            )

    def _claim(self) -> None:
        """Note in the folder of the files that they are this catalogue's."""
        if self.owns_files():
            return

        if self.store.foreign_file() is None:
            text = json.dumps({"format": "orbit-ducklake", "catalogue": self._id()})
            self.store.create(CLAIM, text.encode())

        if self.store.read([CLAIM, MARK]) and not self.owns_files():
            message = f"{self.store.path('')} has the files of another lake"
            raise RefusedError(
                message, hint="remove this catalogue, and make a new one with another --data"
            )

    def owns_files(self) -> bool:
        """Say whether all files in the folder are this lake's."""
        marks = self.store.read([CLAIM, MARK])
        try:
            return MARK not in marks and json.loads(marks[CLAIM])["catalogue"] == self._id()
        except (KeyError, TypeError, ValueError):
            return False

    def _id(self) -> str:
        """Return what DuckLake calls this catalogue and no other."""
        name = (
            "SELECT schema_uuid FROM __ducklake_metadata_lake.ducklake_schema ORDER BY "
            "schema_id LIMIT 1"
        )
        return str(self.retried(lambda: self.connection.execute(name).fetchall())[0][0])

    def stored(self, line: str) -> str:
        """Return a row with a space in words that DuckLake would replace,
        such as `{ DATA_PATH}`.
        """
        return _PLACEHOLDER.sub("{ ", line)

    def bucket_of(self, repository: str) -> int:
        """Return the bucket of a repository: there is one."""
        return 0

    def all_buckets(self) -> list[Bucket]:
        """Return what counts, as one bucket."""
        return [self.bucket(0)]

    def bucket(self, number: int, repository: str | None = None) -> Bucket:
        """Return what counts, of one repository or of all:
        the newest pushes and the files of one moment.
        """
        return self.transaction(lambda: self._bucket_now(number, repository))

    def _bucket_now(self, number: int, repository: str | None) -> Bucket:
        if self.is_new:
            return Bucket(number, {}, (), 0, (), 0, ())

        names = ", ".join(f'"{name}"' for name in _COLUMNS)
        chosen = f"WHERE repository = {quoted(repository)}" if repository else ""
        rows = self.connection.execute(f"SELECT {names} FROM ({NEWEST}) {chosen}").fetchall()
        heads = {
            push.repository: push
            for push in (Push(**dict(zip(_COLUMNS, row, strict=True))) for row in rows)
        }
        files: list[str] = []

        for table in TABLES:
            listed = self.connection.execute(
                f"SELECT data_file FROM ducklake_list_files('lake', 'lake_{table}')"
            )
            files += [path.removeprefix(self.store.path("")) for (path,) in listed.fetchall()]

        count = self.connection.execute("SELECT count(*) FROM lake.lake_pushes").fetchall()[0][0]
        return Bucket(number, heads, tuple(files), 0, (), count, ())

    def next_sequence(self, repository: str, bucket: Bucket) -> int:
        """Return the number of a repository's next push."""
        head = bucket.heads.get(repository)
        return head.sequence + 1 if head else 1

    def commit(self, push: Push) -> bool:
        """Add a push and its files in one transaction; False if another push came between."""
        with self.turn():
            return self.transaction(lambda: self._added(push))

    def _added(self, push: Push) -> bool:
        newest = "SELECT max(sequence) FROM lake.lake_pushes WHERE repository = ?"
        last = self.connection.execute(newest, [push.repository]).fetchall()[0][0]
        if last is not None and last >= push.sequence:
            return False

        for name in push.files:
            table, path = name.partition("/")[0], quoted(self.store.path(name))
            options = "allow_missing => true, hive_partitioning => false"
            self.connection.execute(
                f"CALL ducklake_add_data_files('lake', 'lake_{table}', {path}, {options})"
            )

        marks = ", ".join("?" * len(_COLUMNS))
        names = ", ".join(f'"{name}"' for name in _COLUMNS)
        values = [getattr(push, name) for name in _COLUMNS]
        self.connection.execute(f"INSERT INTO lake.lake_pushes ({names}) VALUES ({marks})", values)

        return True

    @contextlib.contextmanager
    def turn(self, key: int = TURN) -> Iterator[None]:
        """Wait for the turn of this process to change the catalogue.

        DuckLake would let 64 pushes try again and again, and sees no conflict between two first
        pushes of a repository.

        Raises:
            LockTimeoutError: others had it all the time.
        """
        if self._database != "postgres":
            yield  # the file is locked
            return

        with self.retried(lambda: self._turn(key)):
            yield

    def _turn(self, key: int) -> duckdb.DuckDBPyConnection:
        """Return a connection whose transaction has a lock of PostgreSQL."""
        seconds = wait_seconds(TURN_SECONDS)
        limit = (
            f"SELECT set_config('lock_timeout', "
            f"'{max(1, min(int(seconds * 1000), 2**31 - 1))}', true)"
        )
        cursor = self.connection.cursor()
        try:
            cursor.execute("BEGIN")
            for sql in (limit, f"SELECT pg_advisory_xact_lock({key})::text"):
                cursor.execute(
                    f"FROM postgres_query('__ducklake_metadata_lake', {quoted(sql)})"
                ).fetchall()
        except BaseException as error:
            cursor.close()

            if "lock timeout" not in str(error):
                raise

            writer = "a compaction" if key == COMPACTION else "other pushes and compactions"
            message = f"{self._shown}: waited {seconds:g} s for {writer}"
            hint = (
                "run the command again; if no other runs, pg_stat_activity shows which "
                "session has the lock"
            )
            raise LockTimeoutError(message, hint=hint) from None

        return cursor

    def transaction(self, action: Callable[[], Result]) -> Result:
        """Do something in one transaction, again where other processes disturb it.

        Raises:
            LakeError: the database refuses it, or others disturb it all the time.
        """

        def once() -> Result:
            self.connection.execute("BEGIN")

            try:
                result = action()
                self.connection.execute("COMMIT")
            except BaseException:
                with contextlib.suppress(duckdb.Error):  # a failed COMMIT has ended it
                    self.connection.execute("ROLLBACK")
                raise

            return result

        return self.retried(once)

    def retried(self, action: Callable[[], Result]) -> Result:
        """Do something, again where other processes disturb it."""
        for attempt in range(ATTEMPTS):
            try:
                return action()
            except duckdb.Error as error:
                if attempt + 1 == ATTEMPTS or not _DISTURBED.search(str(error)):
                    raise self._error(error) from None
            time.sleep(random.uniform(0.1, 1) * min(LONGEST_WAIT, 0.2 * 2**attempt))

        raise AssertionError

    def _error(self, error: duckdb.Error) -> LakeError:
        text = _QUERY.sub("query: ", str(error).replace(self._catalogue or "\0", "…"))
        match = _UNREACHED.search(text)
        reason = match["reason"] if match else re.split(r"\n\n|\nLINE |\nDETAIL", text)[0]
        if match and _MISTAKEN.search(reason):  # it may have a part of a password
            reason = "PostgreSQL can't read the address"

        reason = without_user(" ".join(reason.split()))
        hint = (
            "see that the server runs, the address is right, and its user may write there; "
            "PGPASSWORD has the password"
        )
        return LakeError(f"{self._shown}: {reason[:_LONGEST_REASON]}", hint=hint)

    def _attached(self) -> bool:
        """Attach the catalogue; False where there is none."""
        if self._database != "postgres" and not Path(self._catalogue).exists():
            return False

        try:
            self.retried(lambda: self._attach(f"CREATE_IF_NOT_EXISTS false{self._mode}"))
        except LakeError as error:
            if "explicitly disabled" in error.message:
                return False
            raise

        return True

    def _attach(self, option: str) -> None:
        source = (
            f"{PREFIX}{self._database}:{self._catalogue}"
            if self._database
            else f"{PREFIX}{self._catalogue}"
        )
        statement = f"ATTACH {quoted(source)} AS lake ({option})"
        try:
            self.connection.execute(statement)
        except duckdb.Error as error:
            match = re.search(r"requires the extension (\w+)", str(error))
            if match is None:
                raise
            self._load(match[1])  # for the store of the files
            self.connection.execute(statement)

    def _load(self, name: str) -> None:
        """Load an extension from its package, or from where DuckDB has installed it.

        Raises:
            UsageError: it is not installed.
        """
        if not name:
            return

        spec = find_spec(f"duckdb_extension_{name}")
        folder = Path(spec.origin or "").parent / "extensions" if spec else Path()
        file = folder / f"v{duckdb.__version__}" / f"{name}.duckdb_extension"
        try:
            self.connection.execute(f"LOAD {quoted(str(file)) if file.is_file() else name}")
        except duckdb.Error:
            hint = "pip install 'orbit-registry[ducklake]', which brings DuckDB 1.5"
            message = f"the extension {name} for DuckDB {duckdb.__version__} is not installed"
            raise UsageError(message, hint=hint) from None

    def _data_path(self) -> str:
        path = (
            "SELECT value FROM __ducklake_metadata_lake.ducklake_metadata WHERE key = 'data_path'"
        )
        return str(self.connection.execute(path).fetchall()[0][0])

    def _columns(self, database: str = "lake") -> dict[str, dict[str, str]]:
        """Return the columns of each table with their types."""
        columns = (
            "SELECT table_name, column_name, data_type FROM duckdb_columns() WHERE "
            "database_name = ?"
        )
        result: dict[str, dict[str, str]] = {}
        for table, column, kind in self.connection.execute(columns, [database]).fetchall():
            result.setdefault(table, {})[column] = kind

        return result

    def _missing_columns(self) -> dict[str, dict[str, str]]:
        """Return the columns that the catalogue lacks, by table:
        it is new, or an older version made it.
        """
        existing, result = self._columns(), {}
        for table, columns in self._columns("memory").items():
            missing = {
                name: kind for name, kind in columns.items() if name not in existing.get(table, {})
            }
            if missing:
                result[table] = missing

        return result

    def _add_columns(self) -> None:
        existing = self._columns()
        for option, value in OPTIONS.items() if not existing else ():
            self.connection.execute(f"CALL lake.set_option('{option}', '{value}')")

        for table, columns in self._missing_columns().items():
            if table not in existing:
                self.connection.execute(f"CREATE TABLE lake.{table} AS FROM memory.{table} LIMIT 0")
                self.connection.execute(
                    f"ALTER TABLE lake.{table} SET SORTED BY (repository, sequence)"
                )
                continue

            for name, kind in columns.items():
                self.connection.execute(f'ALTER TABLE lake.{table} ADD COLUMN "{name}" {kind}')


def _parts(address: str) -> tuple[str, str]:
    """Return the database of a catalogue, "" for DuckDB, and its file or the words that connect to
    it.

    Raises:
        UsageError: Orbit can't use such a database.
    """
    kind, colon, rest = address.removeprefix(PREFIX).partition(":")
    if kind in ("postgres", "postgresql") and rest.startswith("//"):
        return "postgres", f"postgresql:{rest}"
    if not kind or (colon and kind not in _EXTENSIONS):
        hint = "ducklake:postgres:dbname=… host=…, or a file: ducklake:sqlite:FILE, ducklake:FILE"
        raise UsageError(f"the catalogue of a lake can't be in {kind or 'nothing'}", hint=hint)
    if kind == "postgres":
        return kind, rest

    file = Path(rest if colon else kind).expanduser()
    if file.is_dir():  # as is the empty name
        raise UsageError(
            f"{file} is a folder", hint="name the file of the catalogue: ducklake:lake.db"
        )

    return kind if colon else "", str(file.absolute())
