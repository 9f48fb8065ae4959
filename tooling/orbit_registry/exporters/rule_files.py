"""Compares an agent's rule files with what they should be and makes them so; it touches no file without our mark.

Cursor and Windsurf read globs as one bare line, parted by commas. How they match is published by neither, so a glob may
be looked for below any folder, and what matches a folder may take all below it: it is said where no tracked file tells
these readings apart. The line is no YAML, so that only names which need no quotes can stand in it, and no space may
follow a comma. Windsurf's limit of 12,000 characters needs no code: a rule holds a thousand tokens of notes.

Copilot in VS Code looks for a glob below any folder; on GitHub and in the terminal it counts from the root. It is said
where no tracked file tells the two apart.

Claude Code reads `paths` as `.gitignore` does, after a `/**` at the end is taken away (seen in 2.1.110, and in
2.1.330): a name without a slash matches at any depth, so that every glob is anchored; what matches a folder takes all
below it; letter case does not count. HTML comments are cut out before the model sees a rule.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from orbit_registry.errors import GitError, RefusedError
from orbit_registry.exporters import agents_md
from orbit_registry.exporters.placing import Change, compared, make
from orbit_registry.exporters.rules import (  # fmt: skip
    EVERYTHING,
    Language,
    Rule,
    Unsaid,
    Unsayable,
    exported,
    plain,
    rules_for,
)
from orbit_registry.formats.globs import Alternative
from orbit_registry.hook.context import Choice, Selection
from orbit_registry.hook.index import ID, Index
from orbit_registry.hook.opened import MARK
from orbit_registry.hook.render import render
from orbit_registry.matching.match import current_index
from orbit_registry.workspace.files import DOCUMENT_LIMIT, inside, read_bytes, write_atomic
from orbit_registry.workspace.workspace import Workspace

_BARE = re.compile(r"[\w.*][\w./*?@+~=()!^$%\[\]-]*")
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")


@dataclass(frozen=True, slots=True)
class RuleFormat:
    """One agent's rule files: `folder/prefix + name + suffix`; `head` gives what stands above the notes.

    `own_folder` says that nobody else's files stand in the folder.
    """

    agent: str
    folder: str
    prefix: str
    suffix: str
    own_folder: bool
    language: Language
    head: Callable[[Sequence[str]], str]

    def path(self, rule: Rule) -> str:
        """Return where a rule stands, from the project's root."""
        return f"{self.folder}/{self.prefix}{rule.name}{self.suffix}"

    def text(self, rule: Rule) -> str:
        """Return a rule's whole file."""
        ids = " ".join(one for row in rule.rows if _ID.fullmatch(one := row.values[ID]))
        mark = f"<!-- {MARK} --agent {self.agent}`: changes are lost. Records: {ids} -->"
        notes = render(Selection([Choice(row, []) for row in rule.rows], rule.omitted, []))
        return f"{self.head(rule.globs)}{mark}\n\n{notes}\n"


def quoted(text: str) -> str:
    """Return a text in double quotes, as YAML and JSON both read it."""
    return json.dumps(text, ensure_ascii=False)


def _bare(alternative: Alternative) -> str | Unsayable:
    text = plain(alternative)
    return text if _BARE.fullmatch(text) else Unsayable("a name with such signs can't be said there")


def _anywhere(alternative: Alternative) -> Sequence[str]:
    text = alternative.text
    anywhere = text if text.startswith((EVERYTHING, "{!}")) else f"{EVERYTHING}/{text}"
    return (anywhere,) if text.endswith(EVERYTHING) else (anywhere, f"{anywhere}/**")


BARE_LINE = Language(_bare, _anywhere)


def _cursor_head(globs: Sequence[str]) -> str:
    always = "false" if globs else "true"
    return f"---\ndescription:\nglobs: {','.join(globs)}".rstrip() + f"\nalwaysApply: {always}\n---\n"


CURSOR = RuleFormat("cursor", ".cursor/rules/orbit", "", ".mdc", True, BARE_LINE, _cursor_head)


def _windsurf_head(globs: Sequence[str]) -> str:
    return f"---\ntrigger: glob\nglobs: {','.join(globs)}\n---\n" if globs else "---\ntrigger: always_on\n---\n"


WINDSURF = RuleFormat("windsurf", ".windsurf/rules", "orbit-", ".md", False, BARE_LINE, _windsurf_head)


def _copilot_say(alternative: Alternative) -> str | Unsayable:
    text = plain(alternative)
    if any(sign in text for sign in ",{}"):
        return Unsayable("a comma or brace in a name can't be said there")
    if text.startswith("!"):
        return Unsayable("a name with an exclamation mark at its start can't be said there")
    return text


def _copilot_wider(alternative: Alternative) -> Sequence[str]:
    text = alternative.text
    return () if text.startswith((EVERYTHING, "{!}")) else (f"{EVERYTHING}/{text}",)


def _copilot_head(globs: Sequence[str]) -> str:
    return f"---\napplyTo: {quoted(','.join(globs) or EVERYTHING)}\n---\n"


_COPILOT = Language(_copilot_say, _copilot_wider)
COPILOT = RuleFormat("copilot", ".github/instructions", "orbit-", ".instructions.md", False, _COPILOT, _copilot_head)


def _claude_say(alternative: Alternative) -> str | Unsayable:
    text = plain(alternative)
    if any(sign in text for sign in ",{}"):
        return Unsayable("a comma or brace in a name can't be said there")
    return text if text.startswith(EVERYTHING) else f"/{text}"


def _claude_wider(alternative: Alternative) -> Sequence[str]:
    folder = alternative.text.removesuffix("/**")  # what is left of it there matches a file too
    return (folder if folder != alternative.text else f"{folder}/**",)


def _claude_head(globs: Sequence[str]) -> str:
    if not globs:
        return ""
    return "".join(("---\npaths:\n", *(f"  - {quoted(glob)}\n" for glob in globs), "---\n"))


CLAUDE = RuleFormat(
    "claude", ".claude/rules/orbit", "", ".md", True, Language(_claude_say, _claude_wider), _claude_head
)

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
