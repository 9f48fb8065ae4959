"""Unified diffs of one file, as `git apply` and `patch` read them."""

import difflib
import os
import re

NO_END = "\\ No newline at end of file"
_QUOTED = re.compile(rb'[\x00-\x1f"\\\x7f-\xff]')


def unified_diff(path: str, before: str, after: str) -> str:
    """Return the diff, for `git apply` and `patch -p1`, of the file at `path`.

    No name or text can add a line to it.
    """
    hunks = hunks_of(before, after)
    if hunks:
        return "\n".join((*head_of(path), hunks))

    return ""


def hunks_of(before: str, after: str) -> str:
    """Return the hunks of a diff; empty for equal texts."""
    parts: list[str] = []
    for line in [*difflib.unified_diff(lines_of(before), lines_of(after))][2:]:
        parts.append(line)
        if not line.endswith("\n"):
            parts.append(f"\n{NO_END}\n")

    return "".join(parts)


def lines_of(text: str) -> list[str]:
    """Return the lines of a text, as git counts them, with their ends."""
    return re.findall(r"[^\n]*\n|[^\n]+\Z", text)


def head_of(path: str) -> list[str]:
    """Return the lines above the hunks of the diff of a file."""
    return [f"--- {_quoted_path(f'a/{path}')}", f"+++ {_quoted_path(f'b/{path}')}"]


def _quoted_path(path: str) -> str:
    """Return a path as git writes it in a header: quoted where a character would be ambiguous."""
    if path.isascii() and path.isprintable() and '"' not in path and "\\" not in path:
        return path

    octal = _QUOTED.sub(lambda match: b"\\%03o" % match[0][0], os.fsencode(path))
    return f'"{octal.decode("ascii")}"'
