"""The block of records in `AGENTS.md`: one marked block, every byte around it stays.

It has no globs, so each record's globs are in words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from orbit_registry.errors import RefusedError
from orbit_registry.exporters.rules import RuleExport, differences
from orbit_registry.hook.context import FRAME_TOKENS, TOKENS
from orbit_registry.hook.index import BROAD, GLOBS, ID, Index, Row
from orbit_registry.hook.render import END as NOTES_END
from orbit_registry.hook.render import INTRODUCTION, START, entry
from orbit_registry.hook.session import tokens
from orbit_registry.matching.compile import safe
from orbit_registry.matching.pack import SYMBOL
from orbit_registry.workspace.files import DOCUMENT_LIMIT, inside, read_bytes
from orbit_registry.workspace.workspace import Workspace

PATH = "AGENTS.md"
BEGIN = "<!-- orbit:begin: made by `orbit export rules --agent agents-md`, changes in here are lost -->"
END = "<!-- orbit:end -->"
_MARKS = (b"<!-- orbit:begin", END.encode())


def block_of(rows: Sequence[Row]) -> tuple[str, list[Row], int]:
    """Return the block's text (empty without records), the records in it, and how many had no room."""
    budget = TOKENS - FRAME_TOKENS
    lines: list[str] = []
    included: list[Row] = []
    scope = ""
    for row in rows:
        described = _scope(row)
        entry_lines = [f"Where {described}:"] if described != scope else []
        entry_lines += entry(row.teaser.replace("<!--", "&lt;!--"))
        cost = tokens("\n".join(entry_lines)) + 1
        if cost <= budget:
            budget -= cost
            lines += entry_lines
            included.append(row)
            scope = described
    if not included:
        return "", [], len(rows)
    omitted = len(rows) - len(included)
    notes = [START, INTRODUCTION, *lines, *([f"omitted: {omitted}"] if omitted else []), NOTES_END]
    return "\n".join([BEGIN, "", *notes, "", END]), included, omitted


def with_block(content: bytes | None, text: str) -> bytes | None:
    """Return a file's new bytes with a block in the place of the old one; None for no file."""
    current = content or b""
    begins, ends = (current.count(mark) for mark in _MARKS)
    if not begins and not ends:
        if not text:
            return content
        apart = b"" if not current else b"\n" if current.endswith(b"\n") else b"\n\n"
        return current + apart + text.encode() + b"\n"
    start, end = (current.find(mark) for mark in _MARKS)
    if (begins, ends) != (1, 1) or start > end:
        raise RefusedError(
            f"{PATH} does not have one beginning and one end of our block",
            hint=f"remove what is left of it, from `{_MARKS[0].decode()} …` to `{END}`, and run the command again",
        )
    after = end + len(_MARKS[1])
    if text:
        return current[:start] + text.encode() + current[after:]
    remaining = current[:start] + current[after:]
    return remaining if remaining.strip() else None


def _scope(row: Row) -> str:
    if row.flags & BROAD:
        return "you work on this project"
    globs = [text.removeprefix(SYMBOL) for text in row.words(GLOBS)]
    included = " or ".join(_quoted(glob) for glob in globs if not glob.startswith("!"))
    excluded = " or ".join(_quoted(glob[1:]) for glob in globs if glob.startswith("!"))
    return f"a file matches {included}" + (f" and not {excluded}" if excluded else "")


def _quoted(glob: str) -> str:
    return "`" + safe(glob).replace("`", "'") + "`"


@dataclass(frozen=True, slots=True)
class AgentsMd:
    """Exporter of the block in `AGENTS.md`."""

    agent: str = "agents-md"

    def plan(self, workspace: Workspace, index: Index, rows: Sequence[Row]) -> RuleExport:
        """Return what the file should be."""
        text, included, omitted = block_of(rows)
        path = inside(workspace.root, PATH)
        content = read_bytes(path, limit=DOCUMENT_LIMIT) if path.exists() else None
        changes = differences({PATH: content}, {PATH: with_block(content, text)})
        ids = sorted({row.values[ID] for row in included})
        return RuleExport(self.agent, [PATH] if text else [], ids, changes, omitted=omitted)


EXPORTERS = (AgentsMd(),)
