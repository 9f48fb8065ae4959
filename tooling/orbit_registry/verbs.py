"""The operations of the table as methods; `verbs.pyi`, which is made from the table, has their
types.
"""

import functools
import importlib
from collections.abc import Callable
from typing import Any

TABLE = "orbit_registry.doors.answers.table"
CALL = "orbit_registry.doors.answers.call"


class Operations:
    """Each operation of the table, as it answers at the other doors:
    `registry.operations.search(["cache"])`.
    """

    def __init__(self, registry: Any) -> None:
        self._registry = registry

    def __getattr__(self, name: str) -> Callable[..., Any]:
        """Return the operation that Python calls by a name."""
        # The table lies above this room, and a program that reads records needs none of it.
        operation = None
        if not name.startswith("_"):
            operation = importlib.import_module(TABLE).by_method(name)

        if operation is None:
            raise AttributeError(f"there is no operation {name!r}")

        call = importlib.import_module(CALL).Call(lambda: self._registry)

        # `help` and editors see the arguments that a program gives.
        @functools.wraps(functools.partial(operation.run, call), assigned=())
        def method(*placed: object, **values: object) -> Any:
            return operation.called(call, *placed, **values)

        method.__name__ = name
        method.__doc__ = operation.run.__doc__
        return method

    def __dir__(self) -> list[str]:
        """Return the names of the operations, for those who look at what there is."""
        return sorted(importlib.import_module(TABLE).methods())


class Verbs:
    """A method for each operation but those of which the registry returns values:
    `registry.vote("L-7k3fq", "TASK-12")`.
    """

    @property
    def operations(self) -> Operations:
        """Every operation of the table by its name."""
        return Operations(self)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        """Return the operation that Python calls by a name."""
        try:
            return getattr(Operations(self), name)
        except AttributeError:
            message = f"{type(self).__name__!r} object has no attribute {name!r}"
            raise AttributeError(message) from None
