"""The operations of the table as methods of the registry; `verbs.pyi`, which is made from the
table, has their types.
"""

import functools
import importlib
from collections.abc import Callable
from typing import Any

TABLE = "orbit_registry.answers.table"
CALL = "orbit_registry.answers.call"


class Verbs:
    """A method for each operation: `registry.vote("L-7k3fq", "TASK-12")`."""

    def __getattr__(self, name: str) -> Callable[..., Any]:
        """Return the operation whose function has a name."""
        # The table lies above this room, and a program that reads records needs none of it.
        operation = None
        if not name.startswith("_"):
            operation = importlib.import_module(TABLE).by_method(name)

        if operation is None:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

        call = importlib.import_module(CALL).Call(lambda: self)
        return functools.partial(operation.run, call)
