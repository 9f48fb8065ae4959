"""`AGENTS.md`: one marked block inside a file that belongs to its owner; every byte around the block stays.

The format knows no globs, so that each record's own are said in words, before the notes they are for.
"""

from __future__ import annotations

from collections.abc import Sequence

from orbit_registry.errors import RefusedError
from orbit_registry.exporters.rules import PROJECT, Rule, as_written
from orbit_registry.hook.caps import tokens
from orbit_registry.hook.context import FRAME_TOKENS, TOKENS
from orbit_registry.hook.index import BROAD, GLOBS, Index, Row
from orbit_registry.hook.render import END as NOTES_END
from orbit_registry.hook.render import SAID, START, entry
from orbit_registry.matching.compile import safe

AGENT, PATH = "agents-md", "AGENTS.md"
BEGIN = "<!-- orbit:begin: made by `orbit export rules --agent agents-md`, changes in here are lost -->"
END = "<!-- orbit:end -->"
_MARKS = (b"<!-- orbit:begin", END.encode())


def block(index: Index, rows: Sequence[Row]) -> tuple[str, list[Row], int]:
    """Return the block's text (empty without records), the records in it, and how many had no room."""
    left = TOKENS - FRAME_TOKENS
    lines: list[str] = []
    held: list[Row] = []
    scope = ""
    for row in rows:
        named = _scope(index, row)
        wanted = [*([f"Where {named}:"] if named != scope else []), *entry(row.teaser.replace("<!--", "&lt;!--"))]
        cost = tokens("\n".join(wanted)) + 1
        if cost <= left:
            left -= cost
            lines += wanted
            held.append(row)
            scope = named
    if not held:
        return "", [], len(rows)
    omitted = len(rows) - len(held)
    notes = [START, SAID, *lines, f"omitted: {omitted}", NOTES_END]
    return "\n".join([BEGIN, "", *notes, "", END]), held, omitted


def placed(content: bytes | None, text: str) -> bytes | None:
    """Return a file's new bytes with a block in the place of the old one; None for no file.

    Raises:
        RefusedError: it can't be told where the old block begins and ends.
    """
    whole = content or b""
    begun, ended = (whole.count(mark) for mark in _MARKS)
    if not begun and not ended:
        if not text:
            return content
        apart = b"" if not whole else b"\n" if whole.endswith(b"\n") else b"\n\n"
        return whole + apart + text.encode() + b"\n"
    start, end = (whole.find(mark) for mark in _MARKS)
    if (begun, ended) != (1, 1) or start > end:
        raise RefusedError(
            f"{PATH} does not have one beginning and one end of our block",
            hint=f"remove what is left of it, from `{_MARKS[0].decode()} …` to `{END}`, and run the command again",
        )
    after = end + len(_MARKS[1])
    if text:
        return whole[:start] + text.encode() + whole[after:]
    rest = whole[:start] + whole[after:]
    return rest if rest.strip() else None


def as_rule(rows: Sequence[Row], omitted: int) -> Rule:
    """Return the block as one rule, for the report."""
    return Rule(PROJECT, (), tuple(rows), omitted)


def _scope(index: Index, row: Row) -> str:
    if row.flags & BROAD:
        return "you work on this project"
    globs = [as_written(text) for text in row.words(GLOBS)]
    included = " or ".join(_quoted(glob) for glob in globs if not glob.startswith("!"))
    excluded = " or ".join(_quoted(glob[1:]) for glob in globs if glob.startswith("!"))
    return f"a file matches {included}" + (f" and not {excluded}" if excluded else "")


def _quoted(glob: str) -> str:
    return "`" + safe(glob).replace("`", "'") + "`"
