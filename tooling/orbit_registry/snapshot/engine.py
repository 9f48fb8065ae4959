"""The database engine, in the one place where it is imported; it holds no SQL.

Of the package `duckdb` we use what is compiled: connections and errors. The rest of it, an interface to build questions
in Python, took three times as long to import as the engine itself.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import duckdb as duckdb
else:
    try:
        duckdb = importlib.import_module("_duckdb")
    except ImportError:  # the name is not promised: another version may call it otherwise
        duckdb = importlib.import_module("duckdb")
