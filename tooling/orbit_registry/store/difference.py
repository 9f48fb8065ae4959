"""Shows changes of files as one unified diff that `git apply` and `patch -p1` understand; it writes nothing.

Names and texts come from whoever wrote the repository: neither can begin a line of the diff that is not theirs.
"""

from __future__ import annotations

import difflib
import io
import os
import re
from collections.abc import Iterable

from orbit_registry.store.journal import Change

_QUOTED = re.compile(rb'[\x00-\x1f"\\\x7f-\xff]')


def unified_diff(changes: Iterable[Change]) -> str:
    """Return changes of files as one diff."""
    parts: list[str] = []
    for change in changes:
        before, after = _lines(change.before), _lines(change.after)
        for line in difflib.unified_diff(before, after, _name(f"a/{change.path}"), _name(f"b/{change.path}")):
            parts.append(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n")
    return "".join(parts)


def _lines(text: str | None) -> list[str]:
    """Return the lines as git counts them: line feeds alone end one, no other character that ends a line elsewhere."""
    return list(io.StringIO(text or "", newline="\n"))


def _name(path: str) -> str:
    """Return a path as git writes it in a header: in quotes where a character could be taken for something else."""
    if path.isascii() and path.isprintable() and '"' not in path and "\\" not in path:
        return path
    octal = _QUOTED.sub(lambda found: b"\\%03o" % found[0][0], os.fsencode(path))
    return f'"{octal.decode("ascii")}"'
