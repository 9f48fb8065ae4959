"""Compiles regular expressions at their first use; it knows none.

Of the patterns of the modules that a command imports it asks a few; to compile all took 5 ms of every start.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    lazy = re.compile
else:

    class lazy:  # noqa: N801 - it stands for a function
        """Stands for what `re.compile` would return, and takes its methods over when the first of them is asked for."""

        def __init__(self, source: str, flags: int = 0) -> None:
            self._said = source, flags

        def __getattr__(self, name: str) -> Any:
            found = self.__dict__[name] = getattr(re.compile(*self._said), name)
            return found
