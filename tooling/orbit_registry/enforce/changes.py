"""Lines that a change touches, as git sees them."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence

from orbit_registry.workspace.git import Git

Ranges = Sequence[range]
EVERY_LINE = (range(1, 2**31),)
_HUNK = re.compile(r"@@ -\S+ \+(\d+)(?:,(\d+))? @@")
_OPTIONS = ("--unified=0", "--text", "--find-renames", "--no-color", "--no-ext-diff", "--no-textconv", "--relative",
            "--src-prefix=a/", "--dst-prefix=b/")  # fmt: skip


def changed_lines(git: Git, base: str, untracked: Sequence[str] = ()) -> Mapping[str, Ranges]:
    """Return the changed lines of each file against a commit; a moved file has only its edited lines.

    A file of which lines are only deleted, and one that only moves, is there without lines.
    """
    changes: dict[str, list[range]] = {
        name: [] for name in git.run_names("diff", "--name-only", "-z", "--relative", "--diff-filter=d", base, "--")
    }
    name, is_header = "", False
    for line in git.run("diff", *_OPTIONS, base, "--").decode("utf-8", "surrogateescape").split("\n"):
        if is_header and line.startswith("+++ "):  # an added line may start with it too
            name = _unquoted(line[4:]).rstrip("\t").removeprefix("b/")
        elif name and (match := _HUNK.match(line)):
            is_header = False
            start, count = int(match[1]), int(match[2] or 1)
            if count and name != "/dev/null":
                changes.setdefault(name, []).append(range(start, start + count))
        elif line.startswith("diff --git "):
            name, is_header = "", True
    return {**changes, **dict.fromkeys(untracked, EVERY_LINE)}


def earlier_files(git: Git, base: str) -> list[str]:
    """Return the files that a change edits, moves or deletes, by their names before it."""
    return git.run_names("diff", "--name-only", "-z", "--no-renames", "--relative", "--diff-filter=MDT", base, "--")


def moved_files(git: Git, base: str) -> dict[str, str]:
    """Return the earlier names of the files that a change moves, by their names now."""
    fields = git.run_names("diff", "--name-status", "-z", "--find-renames", "--relative", "--diff-filter=R", base, "--")
    return dict(zip(fields[2::3], fields[1::3], strict=True))


def touches(ranges: Ranges, first: int, last: int) -> bool:
    """Say whether a range of lines has a changed one."""
    return any(first < lines.stop and last >= lines.start for lines in ranges)


def _unquoted(name: str) -> str:
    if not name.startswith('"'):
        return name
    value: str = ast.literal_eval(name.encode("utf-8", "surrogateescape").decode("latin-1"))
    return value.encode("latin-1").decode("utf-8", "surrogateescape")
