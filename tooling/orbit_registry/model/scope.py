"""Scope of a record, the task it is briefed for, and the weight of its versions."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

TASK_SCHEMA = Path(__file__).with_name("task.schema.json")
# version of records that are meant for no version; records without versions have it too
UNVERSIONED = "unversioned"
_LISTS = ("paths", "tags", "agents", "tasks", "symbols", "uses")
USES = "\x1a"
"""Prefix of a package or module among the globs of a scope."""
EXACT, SUPERSET, SUBSET, PARTIAL, UNSTATED = 1.0, 0.95, 0.85, 0.75, 0.70


@dataclass(frozen=True, slots=True)
class Scope:
    """The scope of a record; an empty axis does not restrict it."""

    paths: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    symbols: tuple[str, ...] = ()
    uses: tuple[str, ...] = ()  # packages and modules: files that import them are in the scope

    @property
    def is_empty(self) -> bool:
        """Whether nothing can match the scope by path, tag, symbol or import."""
        return not (self.paths or self.tags or self.symbols or self.uses)


def symbol_problem(symbol: str) -> str | None:
    """Return why a text is not a symbol, `path::name` with a path from the root, else None."""
    path, separator, name = symbol.partition("::")
    if not separator or not path.strip() or not name.strip() or symbol != " ".join(symbol.split()):
        return "it is not of the form path::name"

    parts = path.split("/")
    is_odd = path.startswith(("/", "~")) or "\\" in path or ":" in parts[0]
    if is_odd or not {"", ".", ".."}.isdisjoint(parts):
        return "its path is not one from the root, with `/`"

    return None


def symbol_glob(symbol: str) -> str:
    """Return the glob that matches the file of a symbol."""
    return re.sub(r"[*?\[{]", r"[\g<0>]", symbol.partition("::")[0])


def named_globs(paths: Iterable[str], symbols: Iterable[str]) -> dict[str, str]:
    """Return the globs of files by what a scope names: a glob, or a symbol in a file."""
    globs = {path: path for path in paths}
    for symbol in symbols:
        if symbol_problem(symbol) is None:
            globs[symbol] = symbol_glob(symbol)

    return globs


def files_by_package(imported: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """Return the files that import each package or module, as globs name it.

    `imported` are the packages and modules that each file imports.
    """
    files: dict[str, list[str]] = {}
    for path, names in imported.items():
        for name in names:
            files.setdefault(f"{USES}{name}", []).append(path)

    return files


def scope_from(data: Mapping[str, object]) -> Scope:
    """Return the scope in a record's valid `scope` mapping."""
    lists = {}
    for name in _LISTS:
        value = data.get(name)
        if isinstance(value, list):
            lists[name] = tuple(map(str, value))

    return Scope(**lists)


@dataclass(frozen=True, slots=True)
class Task:
    """One task; unknown parts are empty, `context_files` are paths as given."""

    id: str = ""
    title: str = ""
    text: str = ""
    context_files: tuple[str, ...] = ()
    project: str = ""  # its project in a repository of several, as records name them

    @property
    def words(self) -> str:
        """Title and text, as search and the classifier read them."""
        return "\n\n".join(part for part in (self.title.strip(), self.text.strip()) if part)


def version_factor(record_versions: Collection[str], requested: Collection[str]) -> float:
    """Return the weight of a record for some versions in a request for others, 0 if disjoint."""
    recorded = frozenset(record_versions) or {UNVERSIONED}
    asked_for = frozenset(requested)

    if not asked_for or recorded == asked_for:
        return EXACT
    if UNVERSIONED in recorded:
        return UNSTATED
    if recorded > asked_for:
        return SUPERSET
    if recorded < asked_for:
        return SUBSET

    if recorded & asked_for:
        return PARTIAL

    return 0.0
