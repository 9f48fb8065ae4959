"""Cache of derived values in one SQLite file; deleting it changes no answer."""

import contextlib
import hashlib
import json
import os
import sqlite3
import time
import weakref
import zlib
from collections.abc import Callable, Container, Hashable, Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import Any, NamedTuple, cast, get_args, get_origin, get_type_hints

from orbit_registry.errors import OrbitError
from orbit_registry.formats.secrets import has_secret
from orbit_registry.seams import packages
from orbit_registry.workspace.files import DOCUMENT_LIMIT, RECORD_LIMIT, read_bytes

SCHEMA = """
CREATE TABLE IF NOT EXISTS files (
    namespace TEXT, path TEXT, size INTEGER, mtime INTEGER, ctime INTEGER,
    sha256 TEXT, checksum INTEGER, value TEXT,
    PRIMARY KEY (namespace, path)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS memos (
    namespace TEXT PRIMARY KEY, key TEXT, checksum INTEGER, value TEXT
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS named (
    namespace TEXT, name TEXT, key TEXT, checksum INTEGER, value TEXT,
    PRIMARY KEY (namespace, name)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS version (code TEXT);
"""
PACKAGE = Path(__file__).parent.parent
SETTLED_NS = 2_000_000_000
"""A younger file may change again with the same time stamp,
as some file systems store whole seconds.
"""
LOCK_WAIT_SECONDS = 0.2
LARGEST = 4_000_000_000
"""Bytes from which on it is made anew: values of files that are gone stay until then.

The values of 100,000 records take 2 to 3 GB: with a smaller limit each of their runs were cold.
"""
Parse = Callable[[str, bytes], object]


class FileValue(NamedTuple):
    """A file's cached value (None where it has none), hash, size and time."""

    path: str
    value: Any = None
    sha256: str = ""  # hexadecimal; empty where the file can't be read
    size: int = 0
    mtime_ns: int = 0
    error: OrbitError | None = None  # the error of reading it
    is_clean: bool = False  # whether no text in the value holds a secret, as far as is known
    text: str = ""  # the value as JSON, if it is stored


class Cache:
    """Cache of one checkout; in memory where it has no usable file."""

    def __init__(self, file: Path | None, version: str) -> None:
        self._file = file
        self._version = version

    @cached_property
    def db(self) -> sqlite3.Connection:
        """The open database."""
        for file in (self._file, self._file, None):  # a damaged file is deleted and opened again
            try:
                return self._open(file)
            except (sqlite3.OperationalError, OSError):  # locked, read-only, no space
                continue
            except (sqlite3.DatabaseError, UnicodeError):
                self._delete()

        raise AssertionError("a database in memory can always be made")

    def _open(self, file: Path | None) -> sqlite3.Connection:
        database: str | Path = ":memory:"
        if file is not None:
            database = file
            file.parent.mkdir(parents=True, exist_ok=True)
            if file.exists() and file.stat().st_size > LARGEST:
                self._delete()

        connection = sqlite3.connect(
            database,
            timeout=LOCK_WAIT_SECONDS,
            isolation_level=None,
            check_same_thread=False,
        )
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = OFF")
            connection.executescript(SCHEMA)

            if connection.execute("SELECT code FROM version").fetchall() != [(self._version,)]:
                with _transaction(connection):
                    for table in ("files", "memos", "named", "version"):
                        connection.execute(f"DELETE FROM {table}")
                    connection.execute("INSERT INTO version VALUES (?)", [self._version])
        except BaseException:
            connection.close()
            raise

        self._closer = weakref.finalize(self, connection.close)
        _OPEN.add(self)
        return connection

    def _delete(self) -> None:
        if self._file is not None:
            for suffix in ("", "-wal", "-shm"):
                with contextlib.suppress(OSError):
                    Path(f"{self._file}{suffix}").unlink()

    def _fail(self, error: Exception) -> None:
        """Continue without a file; delete a damaged one."""
        if not isinstance(error, sqlite3.OperationalError) or "decode" in str(error):
            self._delete()
        self.close()
        self._file = None

    def close(self) -> None:
        """Close the database; the next query opens it again."""
        if "db" in self.__dict__:
            self._closer()
            del self.__dict__["db"]
            _OPEN.discard(self)

    def files(
        self,
        namespace: str,
        root: Path,
        paths: Iterable[str],
        parse: Parse,
        *,
        limit: int = RECORD_LIMIT,
    ) -> dict[str, FileValue]:
        """Return files' values, stored or parsed; values with a secret are not stored,
        missing files left out.
        """
        paths = list(paths)
        stored = self._stored(namespace, paths)
        results: dict[str, FileValue] = {}
        rows: list[tuple[object, ...]] = []
        now = time.time_ns()

        for path in paths:
            file = f"{root}/{path}"
            try:
                status = os.lstat(file)
            except OSError:
                continue

            stamp = (status.st_size, status.st_mtime_ns, status.st_ctime_ns)
            row = stored.get(path)
            if row is not None and row[:3] == stamp:
                value = json.loads(row[5])
                results[path] = FileValue(
                    path, value, row[3], *stamp[:2], is_clean=True, text=row[5]
                )
                continue

            try:
                content = read_bytes(file, limit=limit)
            except OrbitError as error:
                results[path] = FileValue(path, None, "", *stamp[:2], error)
                continue

            digest = hashlib.sha256(content).hexdigest()
            if row is not None and row[3] == digest:
                value = json.loads(row[5])
                text = row[5]
            else:
                value = parse(path, content)
                text = _storable(value)

            results[path] = FileValue(
                path,
                value,
                digest,
                *stamp[:2],
                is_clean=text is not None,
                text=text or "",
            )

            if text is not None and path.isprintable():
                is_settled = max(stamp[1:]) + SETTLED_NS < now
                settled = stamp if is_settled else (-1, 0, 0)
                rows.append((namespace, path, *settled, digest, _checksum(digest, text), text))

        self._write("INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows)
        return results

    def hashes(self, root: Path, paths: Iterable[str]) -> dict[str, FileValue]:
        """Return the states of texts without values."""
        return self.files("texts", root, paths, lambda path, content: "", limit=DOCUMENT_LIMIT)

    def _stored(self, namespace: str, paths: list[str]) -> dict[str, tuple[Any, ...]]:
        rows = self._rows(
            "SELECT files.path, size, mtime, ctime, sha256, checksum, files.value FROM "
            "json_each(?) AS names "
            "CROSS JOIN files ON namespace = ? AND files.path = names.value",
            json.dumps([path for path in paths if path.isprintable()]),
            namespace,
        )
        return {row[0]: row[1:] for row in rows if row[5] == _checksum(row[4], row[6])}

    def memo(self, namespace: str, key: str, make: Callable[[], object]) -> Any:
        """Return the value stored under a key, else what `make` returns;
        a namespace keeps only its newest key.
        """
        value = self.recall(namespace, key)
        if value is None:
            value = make()
            self.remember(namespace, key, value)
        return value

    def values(
        self,
        namespace: str,
        keys: Mapping[str, str],
        make: Callable[[str], object],
        *,
        clean: Container[str] = (),
    ) -> dict[str, Any]:
        """Return a value for each name: the stored one of its key, else what `make` returns.

        A key says all that a value is made from. A name keeps only the value of its newest key.
        The values of names in `clean` are made from texts without secrets: none is looked for.
        """
        stored = self._named(namespace, keys)
        values: dict[str, Any] = {}
        rows: list[tuple[object, ...]] = []
        for name, key in keys.items():
            if name in stored:
                values[name] = stored[name]
                continue

            values[name] = make(name)
            text = _storable(values[name], is_clean=name in clean)
            if text is not None and name.isprintable():
                rows.append((namespace, name, key, _checksum(key, text), text))

        self._write("INSERT OR REPLACE INTO named VALUES (?, ?, ?, ?, ?)", rows)
        return values

    def _named(self, namespace: str, keys: Mapping[str, str]) -> dict[str, Any]:
        rows = self._rows(
            "SELECT named.name, named.key, checksum, named.value FROM json_each(?) AS names "
            "CROSS JOIN named ON namespace = ? AND named.name = names.value",
            json.dumps([name for name in keys if name.isprintable()]),
            namespace,
        )
        return {
            name: json.loads(text)
            for name, key, checksum, text in rows
            if key == keys[name] and checksum == _checksum(key, text)
        }

    def recall(self, namespace: str, key: str) -> Any:
        """Return the value stored under a key, or None."""
        rows = self._rows(
            "SELECT checksum, value FROM memos WHERE namespace = ? AND key = ?", namespace, key
        )
        return next(
            (json.loads(text) for checksum, text in rows if checksum == _checksum(key, text)), None
        )

    def remember(self, namespace: str, key: str, value: object, *, is_clean: bool = False) -> None:
        """Store a value under a key, in place of the namespace's former one.

        In a clean value no secret is looked for.
        """
        text = _storable(value, is_clean=is_clean)
        if text is not None:
            row = (namespace, key, _checksum(key, text), text)
            self._write("INSERT OR REPLACE INTO memos VALUES (?, ?, ?, ?)", [row])

    def _rows(self, statement: str, *parameters: str) -> list[tuple[Any, ...]]:
        try:
            return self.db.execute(statement, parameters).fetchall()
        except (sqlite3.Error, UnicodeError) as error:
            self._fail(error)
            return []

    def _write(self, statement: str, rows: list[tuple[Any, ...]]) -> None:
        if not rows:
            return
        try:
            with _transaction(self.db):
                self.db.executemany(statement, rows)
        except (sqlite3.Error, UnicodeError) as error:
            self._fail(error)


_OPEN: weakref.WeakSet[Cache] = weakref.WeakSet()


def close_caches() -> None:
    """Close the databases that this process has open; the next query of a cache opens it again."""
    for opened in list(_OPEN):
        opened.close()


@contextlib.contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        with contextlib.suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _storable(value: object, *, is_clean: bool = False) -> str | None:
    """Return a value as JSON; None where there is none, JSON would change it or it has a secret."""
    if value is None:
        return None

    try:
        text = json.dumps(value, separators=(",", ":"))
        is_same = json.loads(text) == value
    except (TypeError, ValueError, RecursionError):
        return None

    if not is_same or (not is_clean and has_secret(value, text)):
        return None
    return text


def _checksum(key: object, text: object) -> float:
    """Return a checksum of a stored value; NaN, which equals nothing, where the row is damaged."""
    if not isinstance(key, str) or not isinstance(text, str):
        return float("nan")
    return zlib.crc32(text.encode(), zlib.crc32(key.encode()))


def to_row(value: Any) -> Any:
    """Return a value of dataclasses and tuples as lists, which JSON stores;
    `row_reader` gives what reads them.
    """
    if is_dataclass(value):
        return [to_row(getattr(value, field.name)) for field in fields(value)]
    if isinstance(value, list | tuple):
        return list(map(to_row, value))
    return value


@cache
def row_reader(kind: Hashable) -> Callable[[Any], Any]:
    """Return the function that makes a value of a type from its row."""
    if is_dataclass(kind):
        readers = [row_reader(part) for part in get_type_hints(kind).values()]
        return lambda row: cast("Any", kind)(
            *[read(part) for read, part in zip(readers, row, strict=True)]
        )

    if isinstance(kind, type) and issubclass(kind, Enum):
        return kind

    read = next(
        (row_reader(cast("Hashable", part)) for part in get_args(kind) if is_dataclass(part)), None
    )
    if get_origin(kind) is tuple:
        if read is None:
            return tuple

        return lambda rows: tuple(map(read, rows))
    if read is None:
        return lambda row: row

    return lambda row: None if row is None else read(row)


def digest(*parts: object) -> str:
    """Return a hash of values; what JSON can't express counts as its text."""
    return hashlib.sha256(json.dumps(parts, default=str).encode()).hexdigest()


@lru_cache(maxsize=1)
def code_version() -> str:
    """Return a hash of the names, sizes and times of the files of this package and of those that
    add to it.
    """
    files = [*_code_files(str(PACKAGE))]
    for path in packages():
        files += _code_files(str(path)) if path.is_dir() else [_state_of(path)]

    return hashlib.sha256("\n".join(files).encode("utf-8", "surrogateescape")).hexdigest()


def _code_files(folder: str) -> Iterator[str]:
    for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
        if entry.is_dir(follow_symlinks=False) and entry.name != "__pycache__":
            yield from _code_files(entry.path)
        elif entry.name.endswith((".py", ".json", ".sql", ".yaml")):
            yield _state_of(entry)


def _state_of(file: Path | os.DirEntry[str]) -> str:
    status = file.stat()
    return f"{os.fspath(file)} {status.st_size} {status.st_mtime_ns}"
