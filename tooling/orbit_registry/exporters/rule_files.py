"""Compares an agent's rule files with what they should be and makes them so; it touches no file without our mark."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from orbit_registry.errors import GitError, RefusedError
from orbit_registry.exporters import agents_md
from orbit_registry.exporters.placing import Change, compared, make
from orbit_registry.exporters.rule_formats import CLAUDE, COPILOT, CURSOR, WINDSURF, RuleFormat
from orbit_registry.exporters.rules import Rule, Unsaid, exported, rules_for
from orbit_registry.push.opened import MARK
from orbit_registry.push.reader import ID, Index
from orbit_registry.snapshot.matches import current_index
from orbit_registry.store.files import DOCUMENT_LIMIT, inside, read_bytes, write_atomic
from orbit_registry.store.workspace import Workspace

FORMATS: Mapping[str, RuleFormat] = {one.agent: one for one in (CLAUDE, CURSOR, COPILOT, WINDSURF)}
AGENTS = (*FORMATS, agents_md.AGENT)
IGNORE = ".gitignore"
IGNORED = "# Made by `orbit export rules`. Remove this file to commit the rules beside it; it is not made again.\n*\n"


@dataclass(frozen=True, slots=True)
class RuleExport:
    """What stands, or should stand, in one agent's rule files."""

    agent: str
    files: Sequence[str]
    records: Sequence[str]
    changes: Sequence[Change]
    unsaid: Sequence[Unsaid]
    omitted: int
    ignore: str
    """The line for a `.gitignore`; empty where the folder has one of its own."""

    def as_data(self) -> dict[str, object]:
        """Return it as JSON shows it."""
        return {
            "agent": self.agent,
            "files": list(self.files),
            "records": list(self.records),
            "changes": [change.as_data() for change in self.changes],
            "unsaid": [one.as_data() for one in self.unsaid],
            "omitted": self.omitted,
            "ignore": self.ignore or None,
        }


def plan(workspace: Workspace, agents: Sequence[str]) -> list[RuleExport]:
    """Return what the rule files of some agents should be; the index is brought up to date, nothing else written.

    Raises:
        RefusedError: a file of the user's stands where one of ours should, or `AGENTS.md` has a broken block.
        UnsafePathError: a folder on the way is a link.
    """
    index = current_index(workspace)
    return [_plan(workspace, index, FORMATS.get(agent), time.time()) for agent in dict.fromkeys(agents)]


def write(workspace: Workspace, export: RuleExport) -> None:
    """Make the files what they should be.

    Raises:
        WriteError: the disk refused; the files before that one are written.
    """
    make(workspace.root, export.changes)
    found = FORMATS.get(export.agent)
    if found is not None and found.own_folder and any(change.what == "add" for change in export.changes):
        folder = inside(workspace.root, found.folder)
        first = {path.name for path in folder.iterdir()} == {Path(change.path).name for change in export.changes}
        if first:
            write_atomic(folder / IGNORE, IGNORED)


def _plan(workspace: Workspace, index: Index, form: RuleFormat | None, now: float) -> RuleExport:
    rows = exported(index, now)
    if form is None:
        text, held, omitted = agents_md.block(index, rows)
        path = inside(workspace.root, agents_md.PATH)
        content = read_bytes(path, limit=DOCUMENT_LIMIT) if path.exists() else None
        changes = compared({agents_md.PATH: content}, {agents_md.PATH: agents_md.placed(content, text)})
        rules, unsaid = [agents_md.as_rule(held, omitted)], list[Unsaid]()
        files = [agents_md.PATH] if text else []
    else:
        rules, unsaid = rules_for(index, rows, form.language, _tracked(workspace))
        wanted: dict[str, bytes | None] = {form.path(rule): form.text(rule).encode() for rule in rules}
        changes = compared(_standing(workspace, form, wanted), wanted)
        files = sorted(wanted)
    ignore = "" if form is None or form.own_folder else f"/{form.folder}/{form.prefix}*{form.suffix}"
    return RuleExport(
        agents_md.AGENT if form is None else form.agent, files, _ids(rules), changes, unsaid,
        sum(rule.omitted for rule in rules), ignore,
    )  # fmt: skip


def _standing(workspace: Workspace, form: RuleFormat, wanted: Mapping[str, object]) -> dict[str, bytes | None]:
    """Return the files of ours that stand there."""
    folder = inside(workspace.root, form.folder)
    found: dict[str, bytes | None] = {}
    for path in sorted(folder.glob(f"{form.prefix}*{form.suffix}")) if folder.is_dir() else ():
        name = f"{form.folder}/{path.name}"
        content = read_bytes(path, limit=DOCUMENT_LIMIT) if path.is_file() and not path.is_symlink() else b""
        if f"<!-- {MARK}".encode() in content:
            found[name] = content
        elif name in wanted:
            raise RefusedError(f"{name} is not a file that we made", hint="move it away, then run the command again")
    return found


def _ids(rules: Sequence[Rule]) -> list[str]:
    return sorted({row.values[ID] for rule in rules for row in rule.rows})


def _tracked(workspace: Workspace) -> Sequence[str]:
    """Return the tracked files from the root; none outside git, where every glob is said."""
    try:
        return workspace.git.tracked() or []
    except GitError:
        return []
