"""Hashes of files, folders and fields of files that records depend on.

Line endings and trailing newlines of a file do not count, nor do the order of keys and the spacing in JSON, TOML and
YAML. What cannot be hashed is a value with a message, never an exception.
"""

import contextlib
import hashlib
import json
import os
import re
import stat
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import takewhile
from pathlib import Path, PurePosixPath

from orbit_registry.errors import OrbitError
from orbit_registry.formats.position import YamlProblemError
from orbit_registry.formats.yaml import load
from orbit_registry.model.freshness import InputState
from orbit_registry.workspace.files import DOCUMENT_LIMIT, decode, inside, read_bytes

FILE_LIMIT = 20_000_000
FOLDER_FILES = 10_000
FOLDER_BYTES = 200_000_000
_FIELD = re.compile(r"(?is)(?P<file>.+?\.(?:json|toml|ya?ml))#(?P<field>.+)\Z")
_STEP = re.compile(r'"(?P<quoted>(?:[^"\\]|\\.)*)"|(?P<plain>[^."]+)')
_PLACE = re.compile(r"[0-9]{1,9}\Z")
_COMMENTED = re.compile(r"(?m)(?:^|[,{\[])[ \t]*/[/*]")
_TOML_PLACE = re.compile(r"(?s)(?P<said>.*) \(at (?:line (?P<line>\d+), column (?P<column>\d+)|end of document)\)\Z")
_DEEPEST = 200  # levels
_UNUSABLE = "it is nested too deeply, or holds a number of no use"
_MISSING = InputState(problem="is not there", is_missing=True)


class _RefusedError(Exception):
    def __init__(self, state: InputState) -> None:
        super().__init__(state.problem)
        self.state = state


class Fingerprints:
    """What inputs are now, each file read once; `tracked` files are sorted, None if git can't list them."""

    def __init__(self, root: Path, tracked: Sequence[str] | None) -> None:
        self._root = root
        self._tracked = tracked
        self._found: dict[str, InputState] = {}
        self._values: dict[str, object] = {}
        self._safe: set[str] = set()

    def find(self, text: str) -> InputState:
        """Return the hash of an input, or why it has none: `src/app.py`, `src/parser/`, `package.json#scripts.test`."""
        if text not in self._found:
            try:
                self._found[text] = InputState(f"sha256:{self._hash(text)}")
            except _RefusedError as refused:
                self._found[text] = refused.state
        return self._found[text]

    def _hash(self, text: str) -> str:
        field = _FIELD.match(text) if "#" in text else None
        if field is not None and not os.path.lexists(f"{self._root}/{text}"):
            return _hash_of_value(self._field(field["file"], field["field"]), field["file"])
        path, mode = self._place(text)
        if mode is None:
            raise _RefusedError(_MISSING)
        if stat.S_ISDIR(mode):
            name = PurePosixPath(text).as_posix()
            return self._folder("" if name == "." else f"{name}/")
        if text.endswith("/"):
            raise _unreadable("can't be read: it is a file, not a folder")
        return self._file(text, path)

    def _place(self, text: str) -> tuple[Path, int | None]:
        try:
            path = inside(self._root, text)
            return path, path.lstat().st_mode
        except (FileNotFoundError, NotADirectoryError):
            return self._root / text, None
        except OrbitError as error:
            raise _unreadable(f"can't be read: {error.message}") from None
        except OSError as error:
            raise _unreadable(f"can't be read: {(error.strerror or str(error)).lower()}") from None

    def _file(self, name: str, path: Path) -> str:
        content = _read(path, FILE_LIMIT)
        if path.suffix.lower() in _READERS and len(content) <= DOCUMENT_LIMIT:
            with contextlib.suppress(_AsTextError):
                return _hash_of_value(self._value(name, path, content), name)
        return _hash_of_bytes(content)

    def _field(self, name: str, field: str) -> object:
        path, mode = self._place(name)
        if mode is None:
            raise _RefusedError(InputState(problem=f"can't be read: {name} is not there", is_missing=True))
        try:
            value = self._value(name, path, _read(path, DOCUMENT_LIMIT))
        except _AsTextError as error:
            raise _unreadable(f"can't be read: {name}{error}") from None
        for step in _steps(field):
            if isinstance(value, Mapping) and step in value:
                value = value[step]
            elif isinstance(value, list) and _PLACE.match(step) and int(step) < len(value):
                value = value[int(step)]
            else:
                raise _RefusedError(
                    InputState(problem=f"is not there: {name} has no `{step}` in that place", is_missing=True)
                )
        return value

    def _value(self, name: str, path: Path, content: bytes) -> object:
        if name not in self._values:
            try:
                text = decode(content, path).removeprefix("\ufeff")
            except OrbitError as error:
                message = error.message.replace(f"{self._root}{os.sep}", "")
                raise _unreadable(f"can't be read: {message}") from None
            try:
                self._values[name] = _READERS[path.suffix.lower()](text, name)
            except (ValueError, ArithmeticError, RecursionError):
                raise _unreadable(f"can't be read: {name}: {_UNUSABLE}") from None
        return self._values[name]

    def _folder(self, prefix: str) -> str:
        if self._tracked is None:
            raise _RefusedError(InputState(problem="can't be told: git does not list its files", is_unknown=True))
        total, size, count = hashlib.sha256(), 0, 0
        for name in self._below(prefix):
            mark = self._member(name)
            if mark is None:
                continue
            count, size = count + 1, size + mark[1]
            if count > FOLDER_FILES or size > FOLDER_BYTES:
                limit = f"at most {FOLDER_FILES:,} files and {FOLDER_BYTES // 1_000_000} MB"
                raise _unreadable(f"is too large: {limit} of a folder are hashed")
            total.update(f"{name[len(prefix) :]}\0{mark[0]}\n".encode("utf-8", "surrogateescape"))
        if not count:
            raise _RefusedError(InputState(problem="holds no tracked file", is_missing=True))
        return total.hexdigest()

    def _below(self, prefix: str) -> Iterable[str]:
        """Yield the tracked files of a folder; records are no part of one, as verifying would change it."""
        tracked = self._tracked or ()
        for name in takewhile(lambda name: name.startswith(prefix), tracked[bisect_left(tracked, prefix) :]):
            if prefix.startswith(".orbit/") or not name.startswith(".orbit/"):
                yield name

    def _member(self, name: str) -> tuple[str, int] | None:
        path, parent = self._root / name, name.rpartition("/")[0]
        try:
            if parent and parent not in self._safe:
                inside(self._root, parent)
                self._safe.add(parent)
            status = path.lstat()
            if stat.S_ISLNK(status.st_mode):
                return f"link {hashlib.sha256(os.fsencode(path.readlink())).hexdigest()}", 0
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
        raise _unreadable(f"can't be read: {f'{name}: ' if name else ''}{message}") from None


def _unreadable(problem: str) -> _RefusedError:
    return _RefusedError(InputState(problem=problem))


def _hash_of_bytes(content: bytes) -> str:
    if b"\0" not in content:
        if b"\r" in content:
            content = content.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        content = content.rstrip(b"\n")
    return hashlib.sha256(content).hexdigest()


def _hash_of_value(value: object, name: str) -> str:
    try:
        if _is_deep(value):
            raise RecursionError
        text = json.dumps(value, sort_keys=True, separators=(",", ":"), default=_encode_special)
    except (ValueError, RecursionError):  # dotted keys nest without a bracket, numbers can be too long to write out
        raise _unreadable(f"can't be read: {name}: {_UNUSABLE}") from None
    return hashlib.sha256(text.encode()).hexdigest()


def _is_deep(value: object) -> bool:
    """Say whether a value nests deeper than any interpreter follows: how deep one goes differs by its version."""
    level = [value]
    for _ in range(_DEEPEST):
        mappings = [inner for node in level if isinstance(node, dict) for inner in node.values()]
        level = mappings + [inner for node in level if isinstance(node, list) for inner in node]
        if not level:
            return False
    return True


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
        quoted = step["quoted"]
        steps.append(step["plain"] if quoted is None else re.sub(r"\\(.)", r"\1", quoted))
        at = step.end() + 1
    return steps


class _AsTextError(Exception):
    """A file is of a form that our readers refuse though others take it; as a whole it is compared as text."""


def _json(text: str, name: str) -> object:
    from decimal import Decimal  # as `tomllib` below: few runs look into such a file

    def mapping(pairs: list[tuple[str, object]]) -> dict[str, object]:
        result = dict(pairs)
        if len(result) < len(pairs):
            twice = Counter(key for key, _ in pairs).most_common(1)[0][0]
            raise _unreadable(f"can't be read: {name}: the key {json.dumps(twice)} appears twice")
        return result

    def refuse(word: str) -> object:
        raise _unreadable(f"can't be read: {name}: {word} is not a number of JSON")

    try:
        return json.loads(text, parse_float=Decimal, parse_constant=refuse, object_pairs_hook=mapping)
    except json.JSONDecodeError as error:
        if _COMMENTED.search(text):
            raise _AsTextError(f":{error.lineno}: it holds comments, which JSON has not") from None
        raise _unreadable(f"can't be read: {name}:{error.lineno}:{error.colno}: {_lower(error.msg)}") from None


def _toml(text: str, name: str) -> object:
    import tomllib
    from decimal import Decimal

    try:
        return tomllib.loads(text, parse_float=Decimal)
    except tomllib.TOMLDecodeError as error:
        match = _TOML_PLACE.match(str(error))
        line = match["line"] if match else None
        where = f"{name}:{line}:{match['column']}" if match and line else f"{name}:{text.count(chr(10)) + 1}"
        raise _unreadable(f"can't be read: {where}: {_lower(match['said'] if match else str(error))}") from None


def _yaml(text: str, name: str) -> object:
    del name
    try:
        return load(text)
    except YamlProblemError as error:
        raise _AsTextError(error.problem.at("")) from None


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]


_READERS = {".json": _json, ".toml": _toml, ".yaml": _yaml, ".yml": _yaml}
