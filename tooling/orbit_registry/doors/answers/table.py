"""The table of operations: what each is called, takes and answers. It reads no record.

An operation is a function with an entry, `@operation(…)`, in a module of this folder or of an
extra. The names are known from the text of the modules; a module is imported when one of its
operations runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from orbit_registry.doors import answers
from orbit_registry.doors.answers import kinds
from orbit_registry.seams import add, extras, load

if TYPE_CHECKING:
    from orbit_registry.doors.answers.arguments import Argument
    from orbit_registry.doors.answers.call import Call
    from orbit_registry.doors.answers.words import Words
    from orbit_registry.model.kind import Kind

Function = TypeVar("Function", bound=Callable[..., Any])
OfKind = Callable[["Kind"], bool]


@dataclass(frozen=True, slots=True)
class Operation:
    """One entry: a function, and at which doors it is called by which name.

    `name` is what a person types after `orbit`. `job` is its section in the list of all commands,
    `line` its words there, if they are not the first line of its help. Where `of_kind` says yes,
    `orbit KIND name` does it for that kind alone. `tool` is its name over MCP. `lists`: it reads
    records, so a note says which ones could not be read. No list has it if it `is_hidden`. A group
    (`is_group`) runs nothing: the names of its commands begin with its name, and its `usual` one
    runs where none is named. `formats` are those of
    its answer at the command line, none if it serves; `call.form` is the one that is wanted.
    """

    name: str
    run: Callable[..., Any]
    job: str = ""
    line: str = ""
    is_command: bool = True
    is_group: bool = False
    usual: str = ""
    is_hidden: bool = False
    of_kind: OfKind | None = None
    tool: str = ""
    writes: bool = False
    lists: bool = False
    formats: Sequence[str] = ("text", "json")

    @property
    def verb(self) -> str:
        """Return the last word of its name: `tail` of `events tail`."""
        return self.name.rpartition(" ")[2]

    @property
    def words(self) -> Words:
        """Return its words, as its docstring has them."""
        from orbit_registry.doors.answers.words import (
            words_of,  # the list of all commands does without
        )

        return words_of(self.run.__doc__ or "")

    def arguments(self, kind: Kind | None = None) -> list[Argument]:
        """Return its arguments; for a kind, with the words and choices of that kind."""
        from orbit_registry.doors.answers.arguments import arguments_of

        return arguments_of(self.run, self.words, kind)

    def called(self, call: Call, *placed: object, **values: object) -> Any:
        """Run it for a program, which gives the values by place or by name.

        Raises:
            UsageError: one is missing, unknown, given twice or of another form.
        """
        from orbit_registry.doors.answers.arguments import bound_values

        method = self.run.__name__ if " " not in self.name else self.name
        return self.run(call, **bound_values(method, self.arguments(), placed, values))


ENTRIES: dict[str, Operation] = {}
"""The operations of the modules that are imported, by the names of their functions."""


def operation(name: str, **entry: Any) -> Callable[[Function], Function]:
    """Enter the decorated function into the table; see `Operation` for the entry."""

    def enter(function: Function) -> Function:
        ENTRIES[f"{function.__module__}.{function.__name__}"] = Operation(name, function, **entry)
        return function

    return enter


@dataclass(frozen=True, slots=True)
class Row:
    """What the text of a module says of an operation, without importing it."""

    name: str
    module: str
    function: str
    job: str
    line: str
    entry: str

    @property
    def method(self) -> str:
        """Return its name in Python: `enforce_try` of a command of a group, else the function's."""
        if " " in self.name:
            return self.name.replace(" ", "_").replace("-", "_")

        return self.function

    @property
    def is_command(self) -> bool:
        """Return whether `orbit NAME` runs it."""
        return "is_command=False" not in self.entry

    @property
    def is_group(self) -> bool:
        """Return whether it runs nothing: the names of its commands begin with its name."""
        return "is_group=True" in self.entry

    @property
    def is_of_kinds(self) -> bool:
        """Return whether `orbit KIND NAME` may run it."""
        return "of_kind=" in self.entry

    def serves(self, kind: Kind) -> bool:
        """Return whether `orbit KIND NAME` runs it for a kind."""
        if not self.is_of_kinds:
            return False

        word = self.entry.partition("of_kind=")[2].partition(",")[0].strip("\n )")
        condition: OfKind | None = getattr(kinds, word, None) or self.load().of_kind
        return condition is not None and condition(kind)

    @property
    def tool(self) -> str:
        """Return its name over MCP; empty if no tool does it."""
        return _stated(self.entry, "tool")

    def load(self) -> Operation:
        """Import its module and return the operation."""
        load(self.module)
        return ENTRIES[f"{self.module}.{self.function}"]


def _modules() -> Iterator[tuple[str, str]]:
    for folder in map(Path, answers.__path__):
        for file in sorted(folder.glob("*.py")):
            yield f"{answers.__name__}.{file.stem}", file.read_text("utf-8")

    for extra in extras():
        for name in extra.operations:
            spec = find_spec(name)
            if spec is not None and spec.origin is not None:
                yield name, Path(spec.origin).read_text("utf-8")


@cache
def rows() -> tuple[Row, ...]:
    """Return what the modules of this folder declare, in the order of their files."""
    rows_read: list[Row] = []
    names: dict[str, Row] = {}
    tools: dict[str, Row] = {}
    for module, text in _modules():
        added = [_row(module, part) for part in text.split("\n@operation(")[1:]]
        if not module.startswith(f"{answers.__name__}."):
            add(names, {row.name: row for row in added}, "operation", module)
            add(tools, {row.tool: row for row in added if row.tool}, "tool", module)

        rows_read += added
        names |= {row.name: row for row in added}
        tools |= {row.tool: row for row in added if row.tool}

    return tuple(rows_read)


def _row(module: str, text: str) -> Row:
    """Return the row of an entry: `"name", job="Find")`, then its function with a docstring."""
    entry, _, after = text.partition(")\ndef ")
    function = after.partition("(")[0]
    summary = after.partition('"""')[2].partition("\n")[0].removesuffix('"""')
    line = _stated(entry, "line") or summary
    return Row(entry.split('"')[1], module, function, _stated(entry, "job"), line, entry)


def _stated(entry: str, name: str) -> str:
    """Return what an entry says by a name, if it is a text."""
    after = entry.partition(f'{name}="')[2]
    return after.partition('"')[0]


def commands() -> Mapping[str, Row]:
    """Return the rows that `orbit NAME` runs, by name."""
    return {row.name: row for row in rows() if row.is_command}


def methods() -> Mapping[str, Row]:
    """Return the rows that Python calls, by the names that they have there."""
    return {row.method: row for row in rows() if not row.is_group}


def by_method(name: str) -> Operation | None:
    """Return the operation that Python calls by a name; None if there is none."""
    row = methods().get(name)
    if row is None:
        return None

    return row.load()
