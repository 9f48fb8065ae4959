"""Hashes of files, folders and fields of files that records depend on.

Line endings and trailing newlines of a file do not count, nor do the order of keys and the spacing
in JSON, TOML and YAML; a file of these that its strict reader refuses is text. What cannot be
hashed is a value with a message, never an exception.
"""

import hashlib
import json
import os
import re
import stat
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path, PurePosixPath

from orbit_registry.errors import OrbitError
from orbit_registry.formats.position import YamlProblemError
from orbit_registry.formats.yaml import load
from orbit_registry.model.freshness import InputState
from orbit_registry.workspace.files import DOCUMENT_LIMIT, decode, inside, read_bytes
from orbit_registry.workspace.git import Git

FILE_LIMIT = 20_000_000
FOLDER_FILES = 10_000
FOLDER_BYTES = 200_000_000
_FIELD = re.compile(r"(?is)(?P<file>.+?\.(?:json|toml|ya?ml))#(?P<field>.+)\Z")
_STEP = re.compile(r'"(?P<quoted>(?:[^"\\]|\\.)*)"|(?P<plain>[^."]+)')
_PLACE = re.compile(r"[0-9]{1,9}\Z")


class _RefusedError(Exception):
    def __init__(self, state: InputState) -> None:
        super().__init__(state.problem)
        self.state = state


class Fingerprints:
    """What inputs are now, each file read once;
    `tracked` files are sorted, None if git can't list them.
    """

    def __init__(self, root: Path, tracked: Sequence[str] | None, git: Git | None = None) -> None:
        self._root, self._git = root, git
        self._tracked = tracked
        self._found: dict[str, InputState] = {}
        self._values: dict[str, object] = {}
        self._safe: set[str] = set()

    def find(self, text: str) -> InputState:
        """Return the hash of an input, or why it has none:
        `src/app.py`, `src/parser/`, `package.json#scripts.test`.
        """
        if text not in self._found:
            try:
                self._found[text] = InputState(f"sha256:{self._hash(text)}")
            except _RefusedError as refused:
                self._found[text] = refused.state

        return self._found[text]

    def _hash(self, text: str) -> str:
        field = _FIELD.match(text) if "#" in text else None
        if field is not None and not os.path.lexists(f"{self._root}/{text}"):
            name = field["file"]
            return _hash_of_value(self._field(name, field["field"]), name)

        path, mode = self._place(text)
        if mode is None:
            raise _missing("is not there")

        if stat.S_ISDIR(mode):
            name = PurePosixPath(text).as_posix()
            prefix = "" if name == "." else f"{name}/"
            return self._folder(prefix)

        if text.endswith("/"):
            raise _unreadable("can't be read: it is a file, not a folder")

        return self._file(text, path)

    def _place(self, text: str) -> tuple[Path, int | None]:
        try:
            path = inside(self._root, text)
            return path, path.lstat().st_mode
        except (FileNotFoundError, NotADirectoryError):
            if self._git is not None and text in self._git.not_checked_out:
                problem = "can't be told: a sparse checkout leaves it out"
                raise _RefusedError(InputState(problem=problem, is_unknown=True)) from None

            return self._root / text, None
        except OrbitError as error:
            raise _unreadable(f"can't be read: {error.message}") from None
        except OSError as error:
            raise _unreadable(f"can't be read: {(error.strerror or str(error)).lower()}") from None

    def _file(self, name: str, path: Path) -> str:
        content = _read(path, FILE_LIMIT)
        if path.suffix.lower() in _READERS and len(content) <= DOCUMENT_LIMIT:
            try:
                return _hash_of_value(self._value(name, path, content), name)
            except _RefusedError:
                pass

        return _hash_of_bytes(content)

    def _field(self, name: str, field: str) -> object:
        path, mode = self._place(name)
        if mode is None:
            raise _missing(f"can't be read: {name} is not there")

        value = self._value(name, path, _read(path, DOCUMENT_LIMIT))
        for step in _steps(field):
            if isinstance(value, Mapping) and step in value:
                value = value[step]
            elif isinstance(value, list) and _PLACE.match(step) and int(step) < len(value):
                value = value[int(step)]
            else:
                raise _missing(f"is not there: {name} has no `{step}` in that place")

        return value

    def _value(self, name: str, path: Path, content: bytes) -> object:
        if name not in self._values:
            try:
                text = decode(content, name).removeprefix("\ufeff")
                self._values[name] = _READERS[path.suffix.lower()](text)
            except YamlProblemError as error:
                raise _unreadable(f"can't be read: {error.problem.at(name)}") from None
            except OrbitError as error:
                raise _unreadable(f"can't be read: {error.message}") from None
            except (ValueError, ArithmeticError, RecursionError) as error:
                raise _unreadable(f"can't be read: {name}: {error}") from None

        return self._values[name]

    def _folder(self, prefix: str) -> str:
        if self._tracked is None:
            raise _RefusedError(
                InputState(problem="can't be told: git does not list its files", is_unknown=True)
            )

        total, size, count = hashlib.sha256(), 0, 0
        for name in self._below(prefix):
            mark = self._member(name)
            if mark is None:
                continue

            digest, length = mark
            count += 1
            size += length
            if count > FOLDER_FILES or size > FOLDER_BYTES:
                limit = f"at most {FOLDER_FILES:,} files and {FOLDER_BYTES // 1_000_000} MB"
                raise _unreadable(f"is too large: {limit} of a folder are hashed")

            line = f"{name[len(prefix) :]}\0{digest}\n"
            total.update(line.encode("utf-8", "surrogateescape"))

        if not count:
            raise _missing("holds no tracked file")

        return total.hexdigest()

    def _below(self, prefix: str) -> Iterable[str]:
        """Yield the tracked files of a folder; records are no part of one,
        as verifying would change it.
        """
        tracked = self._tracked or ()
        with_records = prefix.startswith(".orbit/")
        for name in tracked[bisect_left(tracked, prefix) :]:
            if not name.startswith(prefix):
                break
            if with_records or not name.startswith(".orbit/"):
                yield name

    def _member(self, name: str) -> tuple[str, int] | None:
        path, parent = self._root / name, name.rpartition("/")[0]
        try:
            if parent and parent not in self._safe:
                inside(self._root, parent)
                self._safe.add(parent)

            status = path.lstat()
            if stat.S_ISLNK(status.st_mode):
                target = os.fsencode(path.readlink())
                return f"link {hashlib.sha256(target).hexdigest()}", 0
        except (OSError, OrbitError):
            return None

        if not stat.S_ISREG(status.st_mode):
            return "module", 0

        return _hash_of_bytes(_read(path, FILE_LIMIT, name)), status.st_size


def _read(path: Path, limit: int, name: str = "") -> bytes:
    try:
        return read_bytes(path, limit=limit)
    except OrbitError as error:
        message = error.message.removeprefix(str(path)).lstrip(": ").removeprefix("has ")
        if name:
            message = f"{name}: {message}"

        raise _unreadable(f"can't be read: {message}") from None


def _unreadable(problem: str) -> _RefusedError:
    return _RefusedError(InputState(problem=problem))


def _missing(problem: str) -> _RefusedError:
    return _RefusedError(InputState(problem=problem, is_missing=True))


def _hash_of_bytes(content: bytes) -> str:
    if b"\0" not in content:
        if b"\r" in content:
            content = content.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        content = content.rstrip(b"\n")

    return hashlib.sha256(content).hexdigest()


def _hash_of_value(value: object, name: str) -> str:
    try:
        text = json.dumps(value, sort_keys=True, separators=(",", ":"), default=_encode_special)
    except (ValueError, RecursionError) as error:
        # Dotted keys nest deeply, and numbers can be too long to write out.
        raise _unreadable(f"can't be read: {name}: {error}") from None

    return hashlib.sha256(text.encode()).hexdigest()


def _encode_special(value: object) -> list[str]:
    return ["\0", type(value).__name__, str(value)]


def _steps(field: str) -> list[str]:
    """Return the keys of `a.b."c.d".0`; a text of another form is one key."""
    steps: list[str] = []
    at = 0
    while at < len(field):
        step = _STEP.match(field, at)
        if step is None or (step.end() < len(field) and field[step.end()] != "."):
            return [field]

        key = step["plain"]
        if key is None:
            key = re.sub(r"\\(.)", r"\1", step["quoted"])

        steps.append(key)
        at = step.end() + 1

    return steps


def _json(text: str) -> object:
    from decimal import Decimal  # as the reader of TOML below: few runs look into such a file

    return json.loads(text, parse_float=Decimal)


def _toml(text: str) -> object:
    from decimal import Decimal

    from orbit_registry.formats.toml import load_toml

    return load_toml(text, Decimal)


_READERS = {".json": _json, ".toml": _toml, ".yaml": load, ".yml": load}
