"""Lake: where the records of each repository are, and what is known of the repository.

    lake.json                                               version of the lake
    records/repository=acme%2Fshop/records.parquet          its records, with scopes and links
    repositories/repository=acme%2Fshop/repository.parquet  one row: its commit, when it was seen

A file is written whole and renamed, so a reader sees the old records of a repository or the new
ones. Each folder is a table that DuckDB, DuckLake, Spark and others read with Hive partitions.
"""

from __future__ import annotations

import contextlib
import json
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote as percent_encoded
from urllib.parse import unquote

from orbit_fleet.store import Store
from orbit_registry.errors import LakeError, RefusedError, UsageError
from orbit_registry.snapshot.export import OFFLINE, duckdb, fill_all, quoted

SCHEMA_VERSION = 3
"""Version of `tables.sql`, which each row of a repository has."""
TABLES_SQL = Path(__file__).with_name("tables.sql")
RECORDS, REPOSITORIES = TABLES = ("records", "repositories")
FILES = {RECORDS: "records.parquet", REPOSITORIES: "repository.parquet"}
MARK = "lake.json"
FORM = "repository=-"
"""The folder in each table of a file without rows: a lake without repositories has columns too."""
DIGEST = "orbit_digest"
"""The key of a file's own metadata that holds the hash of its records."""
ROW_GROUP = 8192
REPAIR = "`orbit fleet collect`, or `orbit fleet push --force` there,"
OLD_HINT = "an older Orbit wrote it: `orbit fleet migrate LAKE` brings it up to date"
_NAME = re.compile(r"[A-Za-z0-9~][A-Za-z0-9._/+~-]{0,199}\Z")
LONGEST_FOLDER = 240
"""Characters of a repository's folder, in which a `/` is `%2F`; file systems take 255."""
_PARTITION = re.compile(r"/repository=([^/]+)/[^/]+\Z")

Row = Mapping[str, object]
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Repository:
    """What a lake knows of one repository.

    Times are texts of ISO 8601; a text that is not known is empty.
    """

    repository: str
    address: str = ""  # what `git clone` takes, without user and token
    origin: str = ""  # host and path of its remote
    folder: str = ""  # in a repository that has several projects
    commit: str = ""  # "" where it was never read
    committed_at: str = ""
    pushed_at: str = ""  # when its records were written
    first_seen_at: str = ""
    last_seen_at: str = ""
    records: int = 0
    digest: str = ""
    extends: str = ""  # what it inherits: `acme/decisions 0f3a…`
    reader: str = ""  # `orbit`, or `documents` where it has no records of Orbit
    orbit_version: str = ""
    schema_version: int = SCHEMA_VERSION
    first_commit: str = ""
    forge_id: str = ""
    is_fork: bool = False
    is_archived: bool = False
    is_expected: bool = False  # a list of sources names it
    renamed_from: str = ""
    error: str = ""  # why it could not be read when it was last seen
    unread_commit: str = ""  # whose records can't be read, so that no one tries again
    source: str = ""  # the list, folder or account of a forge that names it
    forge: str = ""  # `gitlab`, where the host does not tell
    left_out: str = ""  # which documents could not be read, and why
    has_code: bool = False  # its files were searched for what they cite and import


@dataclass(frozen=True, slots=True)
class Written:
    """What the file of a repository's records says of them."""

    digest: str = ""  # of all
    digests: Mapping[str, str] = field(default_factory=dict)  # of each, by its id
    ids: Mapping[str, str] = field(default_factory=dict)  # by uid, and by document


class Lake:
    """One lake; every method reads its files anew."""

    def __init__(self, address: str) -> None:
        if address.startswith("ducklake:"):
            hint = "DuckLake reads the files of a lake in a folder: docs/guides/fleet.md"
            raise UsageError("a lake is a folder or an object store", hint=hint)

        self.store = Store(address)
        # With user and password, for another process.
        self.given = self.store.root if self.store.is_local else address
        self.address = self.store.address  # as messages show it
        self.damaged: dict[str, str] = {}
        """Repositories with a file that can't be read, and why; readers leave them out."""

    def check(self) -> None:
        """Refuse an address where there is no lake.

        Raises:
            LakeError: there is none, or another version of Orbit wrote it.
        """
        mark = self.store.read(MARK)
        if mark is None:
            hint = "give the address of a lake; `orbit fleet collect` and `fleet push` make one"
            raise LakeError(f"{self.address} is no lake: it has no {MARK}", hint=hint)

        version = _version_in(mark)
        if version == 1:
            raise LakeError(f"{self.address} has the files of version 1", hint=OLD_HINT)

        if version != 2:
            message = f"{self.store.path(MARK)} names no version that this Orbit reads"
            hint = "a newer Orbit may have written it: upgrade, or repair the file"
            raise LakeError(message, hint=hint)

    def make(self, *, dry_run: bool = False) -> None:
        """Make a lake where there is none yet.

        Raises:
            RefusedError: the folder has other files.
        """
        if self.store.read(MARK) is not None:
            self.check()
            return

        name = self.store.foreign_file()
        # Two processes may make one lake at once; a lake whose mark was not written yet is none.
        if name is not None and name not in (MARK, *TABLES):
            message = f"{self.address} is no lake: it has {name} and no {MARK}"
            hint = "give an empty folder, or one that does not exist yet"
            raise RefusedError(message, hint=hint)

        if not dry_run:
            self.mark()

    def mark(self) -> None:
        """Write the file that makes a folder a lake of today's version."""
        for table in TABLES:
            self._write(table, FORM, FILES[table], [], {})

        mark = json.dumps({"format": "orbit-lake", "version": 2})
        self.store.write(MARK, f"{mark}\n".encode())

    def names(self) -> list[str]:
        """Return the repositories of the lake by name."""
        return sorted(_repositories(self.store.names(REPOSITORIES)))

    def repositories(self) -> list[Repository]:
        """Return what is known of each repository.

        Raises:
            LakeError: a file is damaged.
        """
        if self.names():
            return self.reading(self._read_repositories)

        return []

    def repository(self, name: str) -> Repository | None:
        """Return what is known of one repository; None if the lake does not have it."""
        if not self.store.has(file_of(REPOSITORIES, name)):
            return None

        try:
            return self._read_repositories(name)[0]
        except (duckdb.Error, IndexError):
            return None  # the next push writes it anew

    def reading(self, read: Callable[[], Result]) -> Result:
        """Return what a function reads of the lake's files without those that are damaged, which
        `damaged` names.

        Raises:
            LakeError: an error is not one of a repository's file.
        """
        tried: set[str] = set()
        while True:
            try:
                return read()
            except duckdb.Error as error:
                name = _damaged_in(error)
                if name == "-" or name in self.damaged:
                    raise damage(self, error) from None

                if name in tried:  # another process may have replaced the file the first time
                    self.damaged[name] = str(error).splitlines()[0]

                tried.add(name)

    def files(self, table: str, repository: str | None = None) -> list[str]:
        """Return what DuckDB reads a table from: all of it, or one repository."""
        form = f"{table}/{FORM}/{FILES[table]}"
        names = [f"{table}/*/{FILES[table]}"]
        if repository is not None:
            file = file_of(table, repository)
            names = [form, file] if self.store.has(file) else [form]
        elif self.damaged:
            damaged = {file_of(table, name) for name in self.damaged}
            names = [name for name in self.store.names(table) if name not in damaged]

        return [self.store.path(name) for name in names]

    def _read_repositories(self, repository: str | None = None) -> list[Repository]:
        with memory_database(self) as connection:
            connection.execute(f"FROM {scan(self.files(REPOSITORIES, repository))}")
            names = [column[0] for column in connection.description or ()]
            rows = connection.fetchall()

        fields_of_rows = [dict(zip(names, row, strict=True)) for row in rows]
        result = [_repository_of(each) for each in fields_of_rows]
        return sorted(result, key=lambda each: each.repository)

    def written(self, name: str) -> Written:
        """Return what the file of a repository's records says of them; nothing if it can't be
        read.
        """
        file = file_of(RECORDS, name)
        if not self.store.has(file):
            return Written()

        path = quoted(self.store.path(file))
        with memory_database(self) as connection:
            try:
                metadata = f"SELECT decode(value) FROM parquet_kv_metadata({path})"
                whole = connection.execute(f"{metadata} WHERE decode(key) = '{DIGEST}'").fetchone()
                columns = "record_id, digest, uid, source_path"
                select = f"SELECT {columns} FROM read_parquet({path}) ORDER BY record_id DESC"
                rows = connection.execute(select).fetchall()
            except duckdb.Error:
                return Written()

        ids = {document: record_id for record_id, _, _, document in rows if document}
        ids.update((uid, record_id) for record_id, _, uid, _ in rows)
        digests = {record_id: digest for record_id, digest, _, _ in rows}
        return Written(str(whole[0]) if whole else "", digests, ids)

    def write(self, repository: Repository, records: Sequence[Row]) -> None:
        """Write the records of a repository, then what is known of it."""
        folder = folder_of(repository.repository)
        digest = {DIGEST: repository.digest}
        self._write(RECORDS, folder, FILES[RECORDS], list(map(json.dumps, records)), digest)
        self.note(repository)

    def note(self, repository: Repository) -> None:
        """Write what is known of a repository, and leave its records."""
        row = asdict(repository)
        folder = folder_of(row.pop("repository"))
        self._write(REPOSITORIES, folder, FILES[REPOSITORIES], [json.dumps(row)], {})

    def remove(self, name: str) -> None:
        """Remove a repository; its records no longer count as soon as its row is gone."""
        self.store.remove([file_of(REPOSITORIES, name), file_of(RECORDS, name)])

    def _write(
        self,
        table: str,
        folder: str,
        file_name: str,
        rows: Sequence[str],
        metadata: Mapping[str, str],
    ) -> None:
        with (
            self.store.reported(),
            tempfile.TemporaryDirectory() as temporary,
            memory_database(self) as connection,
        ):
            connection.execute(TABLES_SQL.read_text("utf-8"))
            fill_all(connection, {f"lake_{table}": rows}, Path(temporary))
            file = Path(temporary) / file_name
            pairs = ", ".join(f"{key}: {quoted(value)}" for key, value in metadata.items())
            own = f", KV_METADATA {{{pairs}}}" if pairs else ""
            connection.execute(
                f"COPY (FROM lake_{table}) TO {quoted(str(file))} "
                f"(FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE {ROW_GROUP}{own})"
            )
            self.store.write(f"{table}/{folder}/{file_name}", file.read_bytes())


def scan(paths: Sequence[str]) -> str:
    """Return the SQL that reads files of one table; a column that a file lacks is NULL."""
    listed = ", ".join(map(quoted, paths))
    return (
        f"(SELECT * FROM read_parquet([{listed}], union_by_name = true, hive_partitioning = true, "
        f"hive_types = {{'repository': VARCHAR}}) WHERE repository <> '-')"
    )


@contextlib.contextmanager
def memory_database(
    lake: Lake, config: Mapping[str, str] | None = None
) -> Iterator[duckdb.DuckDBPyConnection]:
    """Yield a database in memory that can read the lake's files."""
    connection = duckdb.connect(":memory:", config={**OFFLINE, **(config or {})})
    try:
        if not lake.store.is_local:
            connection.register_filesystem(lake.store.files)
        yield connection
    finally:
        connection.close()


def damage(lake: Lake, error: duckdb.Error) -> LakeError:
    """Return an error that names the repository of a damaged file, and what repairs it."""
    text = str(error).splitlines()[0]
    name = _damaged_in(error)
    if name == "-":
        return LakeError(f"{lake.address}: {text}", hint="see that you may read the lake")

    message = f"{lake.address}: the file of {name} is damaged: {text}"
    return LakeError(message, hint=f"{REPAIR} writes it anew")


def _damaged_in(error: duckdb.Error) -> str:
    """Return the repository whose file an error names; `-` for none."""
    match = re.search(r"repository=([^/'\"]+)/", str(error))
    if match:
        return unquote(match[1])

    return "-"


def folder_of(repository: str) -> str:
    """Return the name of a repository's folder in each table."""
    return f"repository={percent_encoded(repository, safe='')}"


def file_of(table: str, repository: str) -> str:
    """Return the path of a repository's file in a table."""
    return f"{table}/{folder_of(repository)}/{FILES[table]}"


def _repository_of(row: Mapping[str, Any]) -> Repository:
    """Return the repository of a row, which may lack columns or have those of a later version."""
    values = {each.name: row.get(each.name) for each in fields(Repository)}
    return Repository(**{name: value for name, value in values.items() if value is not None})


def _repositories(names: Iterable[str]) -> set[str]:
    matches = filter(None, map(_PARTITION.search, names))
    return {unquote(match[1]) for match in matches} - {"-"}


def valid_repository(name: str) -> str:
    """Return the name of a repository.

    Raises:
        UsageError: it has characters that a name may not have.
    """
    if not _NAME.match(name) or len(folder_of(name)) > LONGEST_FOLDER:
        hint = "letters, digits and . _ / + ~ - are allowed, at most 200: --repository example/shop"
        raise UsageError(f"{name!r} is no name of a repository", hint=hint)

    return name


def _version_in(mark: bytes) -> int:
    """Return the version that a mark states; 0 for another form."""
    try:
        data = json.loads(mark)
        return int(data["version"])
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
        return 0
