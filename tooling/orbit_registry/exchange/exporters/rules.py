"""Rule files of agents: which records go into them, and under which globs.

Each module of an agent's rules writes its own files.

A record is exported if it is live, pushed by a path alone, and has globs. A glob that an agent's
language can't express is not exported: it is reported. An agent may read a glob as a wider one, and
then loads the rule for more files.
"""

import hashlib
import pkgutil
import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import chain
from pathlib import Path
from typing import Protocol

import orbit_registry.exchange.exporters
from orbit_registry.errors import RefusedError, UsageError
from orbit_registry.formats.globs import Alternative, Glob, parse_glob
from orbit_registry.hook.context import Match, Selection
from orbit_registry.hook.observe import MARK
from orbit_registry.hook.render import END as NOTES_END
from orbit_registry.hook.render import INTRODUCTION, START, entry, render
from orbit_registry.hook.select import standing_reason
from orbit_registry.hook.session import tokens
from orbit_registry.matching.index import Index
from orbit_registry.matching.match import current_index
from orbit_registry.matching.pack import SYMBOL
from orbit_registry.matching.personal import is_personal
from orbit_registry.matching.teaser import safe
from orbit_registry.model.fields import BROAD, GLOBS, ID, MOVED, Row
from orbit_registry.model.reach import FRAME_TOKENS, TOKENS
from orbit_registry.model.scope import USES
from orbit_registry.seams import add, extras, load
from orbit_registry.workspace.files import (
    DOCUMENT_LIMIT,
    inside,
    read_bytes,
    write_atomic,
    write_error,
)
from orbit_registry.workspace.workspace import Workspace

NO_IMPORTS = "what a file imports can't be said there"


@dataclass(frozen=True, slots=True)
class Change:
    """A file that is not what it should be.

    `what` is add, change or remove; `content` is None where the file is to go.
    """

    path: str
    what: str
    content: bytes | None

    def as_data(self) -> dict[str, str]:
        """Return it as JSON shows it."""
        return {"path": self.path, "what": self.what}


def differences(
    current: Mapping[str, bytes | None], expected: Mapping[str, bytes | None]
) -> list[Change]:
    """Return the changes that make the current files the expected ones; None is not a file."""
    changes = []
    for path in sorted({*current, *expected}):
        before, after = current.get(path), expected.get(path)
        if before == after:
            continue

        what = "change"
        if before is None:
            what = "add"
        elif after is None:
            what = "remove"
        changes.append(Change(path, what, after))

    return changes


def current_files(root: Path, paths: Iterable[str]) -> dict[str, bytes | None]:
    """Return the files below a folder as they are; None where there is none."""
    files = {path: inside(root, path) for path in paths}
    return {
        path: read_bytes(file, limit=DOCUMENT_LIMIT) if file.exists() else None
        for path, file in files.items()
    }


def apply_changes(root: Path, changes: Sequence[Change]) -> None:
    """Make files below a folder what they should be."""
    for change in changes:
        path = inside(root, change.path)
        if change.content is not None:
            write_atomic(path, change.content)
            continue

        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            raise write_error(path, error) from None


EVERYTHING = "**"
# the name of the rule that is always loaded: no other rule can have it, theirs end in a hash
PROJECT = "project"
_SPECIAL = re.compile(r"[*?[{]")
_APART = re.compile(r"[^a-z0-9]+")
_UNSEEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]"
)


class UnsupportedError(Exception):
    """An agent's glob language can't express a glob, and why."""


Spell = Callable[[Alternative], str]
"""Gives a glob without braces in an agent's spelling, or raises `UnsupportedError`."""


@dataclass(frozen=True, slots=True)
class Rule:
    """The file of a rule: its globs (none: always loaded), its records in rank order, and how many
    had no room.
    """

    name: str
    globs: tuple[str, ...]
    rows: tuple[Row, ...]
    omitted: int = 0


@dataclass(frozen=True, slots=True)
class UnsupportedGlob:
    """A glob of a record that is not exported, and why."""

    id: str
    glob: str
    reason: str


def exported(index: Index, now: float) -> list[Row]:
    """Return the project's records that rule files may hold, in rank order.

    `now` is in seconds since 1970.
    """
    rows = map(index.row, range(index.pushed))
    return [
        row
        for row in rows
        if row.words(GLOBS) and not is_personal(row) and not standing_reason(row, now)
    ]


def _own_globs(row: Row) -> list[str]:
    """Return the globs that a record states, without those that follow a rename."""
    return [text for text in row.words(GLOBS) if MOVED not in text]


def rules_for(rows: Sequence[Row], spell: Spell) -> tuple[list[Rule], list[UnsupportedGlob]]:
    """Return one rule for each distinct scope, by name, and the globs that could not be said."""
    grouped: dict[tuple[str, ...], list[Row]] = {}
    unsupported: list[UnsupportedGlob] = []
    for row in rows:
        texts = _own_globs(row)
        packages = [text for text in texts if text.startswith(USES)]
        globs = [(text, parsed(text)) for text in texts if text not in packages]
        unsupported += [
            UnsupportedGlob(row.values[ID], f"uses: {text.removeprefix(USES)}", NO_IMPORTS)
            for text in packages
        ]
        if row.flags & BROAD or _is_everything([glob for _, glob in globs]):
            grouped.setdefault((), []).append(row)
            continue

        patterns: list[str] = []
        excluded = False
        for text, glob in globs:
            try:
                patterns += spelled(glob, spell)
            except UnsupportedError as reason:
                unsupported.append(
                    UnsupportedGlob(row.values[ID], text.removeprefix(SYMBOL), str(reason))
                )
                excluded = excluded or glob.exclude

        if patterns and not excluded:  # without what it excludes a scope would be a wider one
            grouped.setdefault(tuple(sorted(set(patterns))), []).append(row)

    return [_rule(globs, members) for globs, members in sorted(grouped.items())], unsupported


def _is_everything(globs: Sequence[Glob]) -> bool:
    if any(glob.exclude for glob in globs):
        return False

    alternatives = chain.from_iterable(glob.alternatives for glob in globs)
    return any(alternative.text == EVERYTHING for alternative in alternatives)


def plain(alternative: Alternative) -> str:
    """Return a glob without our spelling of an exclamation mark at its start."""
    text = alternative.text
    if text.startswith("{!}"):
        return "!" + text.removeprefix("{!}")

    return text


def parsed(text: str) -> Glob:
    """Return a glob of the index; a symbol is the one path that it names."""
    if text.startswith(SYMBOL):
        text = _SPECIAL.sub(r"[\g<0>]", text.removeprefix(SYMBOL).partition("::")[0])
    glob = parse_glob(text)
    # The index holds no glob that can't be parsed; one without alternatives matches nothing.
    if isinstance(glob, Glob):
        return glob

    return Glob(text, False, ())


def spelled(glob: Glob, spell: Spell) -> list[str]:
    """Return a glob in an agent's spelling."""
    if glob.exclude:
        raise UnsupportedError("globs that exclude can't be said there: the record is left out")
    for alternative in glob.alternatives:
        if _UNSEEN.search(alternative.text):  # what people can't see has no place in front matter
            raise UnsupportedError("it has unseen characters")
    return [spell(alternative) for alternative in glob.alternatives]


def _rule(globs: tuple[str, ...], rows: Sequence[Row]) -> Rule:
    budget = TOKENS - FRAME_TOKENS
    included: list[Row] = []
    for row in rows:
        cost = tokens(row.teaser) + 1
        if cost <= budget:
            included.append(row)
            budget -= cost
    return Rule(_name(globs), globs, tuple(included), len(rows) - len(included))


def _name(globs: Sequence[str]) -> str:
    """Return the name of the file for a scope: words of its first glob, a hash of all globs."""
    if not globs:
        return PROJECT
    words = _APART.sub("-", globs[0].lower()).strip("-")[:40].strip("-")
    mark = hashlib.sha256("\n".join(globs).encode()).hexdigest()[:8]
    if words:
        return f"{words}-{mark}"

    return mark


@dataclass(frozen=True, slots=True)
class RuleExport:
    """One agent's rule files and their changes."""

    agent: str
    files: Sequence[str]
    records: Sequence[str]
    changes: Sequence[Change]
    unsupported: Sequence[UnsupportedGlob] = ()
    omitted: int = 0
    ignore: str = ""  # the line for a `.gitignore`; empty where the files need none
    own_folder: str = ""
    """The folder that has no other files; a first export writes a `.gitignore` there."""

    def as_data(self) -> dict[str, object]:
        """Return it as JSON shows it."""
        return {
            "agent": self.agent,
            "files": list(self.files),
            "records": list(self.records),
            "changes": [change.as_data() for change in self.changes],
            "unsaid": list(map(asdict, self.unsupported)),
            "omitted": self.omitted,
            "ignore": self.ignore or None,
        }


class Exporter(Protocol):
    """Exporter of one agent's rules; modules of this package list theirs in `EXPORTERS`."""

    @property
    def agent(self) -> str:
        """The name for `orbit export rules --agent`."""

    def plan(self, workspace: Workspace, rows: Sequence[Row]) -> RuleExport:
        """Return what the agent's files should be, from the records to export in rank order."""


def exporters() -> Mapping[str, Exporter]:
    """Return the exporters of this package's modules and of the extras', by agent."""
    by_agent: dict[str, Exporter] = {}
    of_core = pkgutil.iter_modules(orbit_registry.exchange.exporters.__path__)
    names = [f"orbit_registry.exchange.exporters.{listed.name}" for listed in of_core]
    for extra in extras():
        names += extra.exporters

    for name in names:
        of_module = getattr(load(name), "EXPORTERS", ())
        add(by_agent, {exporter.agent: exporter for exporter in of_module}, "exporter", name)

    return dict(sorted(by_agent.items()))


_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")
IGNORE = ".gitignore"
IGNORED = (
    "# Made by `orbit export rules`. Remove this file to commit the rules in this folder; "
    "it is not made again.\n*\n"
)


@dataclass(frozen=True, slots=True)
class RuleFormat:
    """One agent's rule files: `folder/prefix + name + suffix`.

    `own_folder` says that the folder has no others.
    """

    agent: str
    folder: str
    prefix: str
    suffix: str
    own_folder: bool
    spell: Spell
    head: Callable[[Sequence[str]], str]

    def path(self, rule: Rule) -> str:
        """Return the path of a rule, from the project's root."""
        return f"{self.folder}/{self.prefix}{rule.name}{self.suffix}"

    def text(self, rule: Rule) -> str:
        """Return a rule's whole file."""
        ids = " ".join(record_id for row in rule.rows if _ID.fullmatch(record_id := row.values[ID]))
        mark = f"<!-- {MARK} --agent {self.agent}`: changes are lost. Records: {ids} -->"
        notes = render(Selection([Match(row, []) for row in rule.rows], rule.omitted, []))
        return f"{self.head(rule.globs)}{mark}\n\n{notes}\n"

    def plan(self, workspace: Workspace, rows: Sequence[Row]) -> RuleExport:
        """Return what the rule files should be."""
        rules, unsupported = rules_for(rows, self.spell)
        expected: dict[str, bytes | None] = {
            self.path(rule): self.text(rule).encode() for rule in rules
        }
        changes = differences(self._existing_files(workspace, expected), expected)
        rows_in_rules = chain.from_iterable(rule.rows for rule in rules)
        ids = sorted({row.values[ID] for row in rows_in_rules})
        omitted = sum(rule.omitted for rule in rules)

        ignore, folder = "", self.folder
        if not self.own_folder:
            ignore, folder = f"/{self.folder}/{self.prefix}*{self.suffix}", ""

        return RuleExport(
            self.agent, sorted(expected), ids, changes, unsupported, omitted, ignore, folder
        )

    def _existing_files(
        self, workspace: Workspace, expected: Mapping[str, object]
    ) -> dict[str, bytes | None]:
        folder = inside(workspace.root, self.folder)
        files: dict[str, bytes | None] = {}
        if not folder.is_dir():
            return files

        for path in sorted(folder.glob(f"{self.prefix}*{self.suffix}")):
            name = f"{self.folder}/{path.name}"
            content = b""
            if path.is_file() and not path.is_symlink():
                content = read_bytes(path, limit=DOCUMENT_LIMIT)

            if f"<!-- {MARK}".encode() in content:
                files[name] = content
            elif name in expected:
                hint = "move it away, then run the command again"
                raise RefusedError(f"{name} is not a file that we made", hint=hint)

        return files


def plan(workspace: Workspace, agents: Sequence[str]) -> list[RuleExport]:
    """Return what the rule files of some agents should be.

    The index is brought up to date, nothing else is written.
    """
    available = exporters()
    for agent in agents:
        if agent not in available:
            raise UsageError(
                f"there are no rule files for {agent!r}", hint=f"one of {', '.join(available)}"
            )

    rows = exported(current_index(workspace), time.time())
    return [available[agent].plan(workspace, rows) for agent in dict.fromkeys(agents)]


def write(workspace: Workspace, export: RuleExport) -> None:
    """Make the files what they should be."""
    apply_changes(workspace.root, export.changes)
    if export.own_folder and any(change.what == "add" for change in export.changes):
        folder = inside(workspace.root, export.own_folder)
        present = {path.name for path in folder.iterdir()}
        if present == {Path(change.path).name for change in export.changes}:
            write_atomic(folder / IGNORE, IGNORED)


PATH = "AGENTS.md"
BEGIN = (
    "<!-- orbit:begin: made by `orbit export rules --agent agents-md`, changes in here are lost -->"
)
END = "<!-- orbit:end -->"
_MARKS = (b"<!-- orbit:begin", END.encode())


def block_of(rows: Sequence[Row]) -> tuple[str, list[Row], int]:
    """Return the block's text (empty without records), its records, and how many had no room.

    Each scope has one heading. The scope of the first record comes first.
    """
    budget = TOKENS - FRAME_TOKENS
    scopes: dict[str, list[str]] = {}
    included: list[Row] = []

    for row in rows:
        heading = f"Where {_scope(row)}:"
        entry_lines = entry(row.teaser.replace("<!--", "&lt;!--"))
        new_lines = entry_lines if heading in scopes else [heading, *entry_lines]
        cost = tokens("\n".join(new_lines)) + 1
        if cost <= budget:
            budget -= cost
            scopes.setdefault(heading, []).extend(entry_lines)
            included.append(row)

    if not included:
        return "", [], len(rows)

    lines: list[str] = []
    for heading, of_scope in scopes.items():
        lines += [heading, *of_scope]

    omitted = len(rows) - len(included)
    if omitted:
        lines.append(f"omitted: {omitted}")

    text = "\n".join([BEGIN, "", START, INTRODUCTION, *lines, NOTES_END, "", END])
    return text, included, omitted


def with_block(
    content: bytes | None, text: str, path: str = PATH, marks: tuple[bytes, bytes] = _MARKS
) -> bytes | None:
    """Return a file's bytes with a block in the place of the one between the marks, None for no
    file.
    """
    current = content or b""
    begins, ends = map(current.count, marks)
    if not begins and not ends:
        if not text:
            return content

        if current and not current.endswith(b"\n"):
            current += b"\n"
        if current:
            current += b"\n"  # a blank line above the block
        return current + text.encode() + b"\n"

    start, end = map(current.find, marks)
    if (begins, ends) != (1, 1) or start > end:
        raise RefusedError(
            f"{path} does not have one beginning and one end of our block",
            hint=f"remove what is left of it, from `{marks[0].decode()} …` to "
            f"`{marks[1].decode()}`, and run it again",
        )

    after = end + len(marks[1])
    if text:
        return current[:start] + text.encode() + current[after:]

    above, below = current[:start], current[after:]
    if above.endswith(b"\n\n") and below == b"\n":  # the lines that came with the block
        above, below = above[:-1], b""

    remaining = above + below
    if not remaining.strip():
        return None

    return remaining


def _scope(row: Row) -> str:
    if row.flags & BROAD:
        return "you work on this project"
    globs = [text.removeprefix(SYMBOL) for text in _own_globs(row)]
    packages = [glob.removeprefix(USES) for glob in globs if glob.startswith(USES)]
    included = " or ".join(_quoted(glob) for glob in globs if not glob.startswith(("!", USES)))
    excluded = " or ".join(_quoted(glob[1:]) for glob in globs if glob.startswith("!"))
    imports = " or ".join(map(_quoted, packages))
    ways = (("matches", included), ("imports", imports))
    described = " or ".join(f"{verb} {objects}" for verb, objects in ways if objects)
    if not excluded:
        return f"a file {described}"

    return f"a file {described} and not {excluded}"


def _quoted(glob: str) -> str:
    return "`" + safe(glob).replace("`", "'") + "`"


@dataclass(frozen=True, slots=True)
class AgentsMd:
    """Exporter of the block in `AGENTS.md`."""

    agent: str = "agents-md"

    def plan(self, workspace: Workspace, rows: Sequence[Row]) -> RuleExport:
        """Return what the file should be."""
        text, included, omitted = block_of(rows)
        current = current_files(workspace.root, [PATH])
        changes = differences(current, {PATH: with_block(current[PATH], text)})
        ids = sorted({row.values[ID] for row in included})
        return RuleExport(self.agent, [PATH] if text else [], ids, changes, omitted=omitted)


EXPORTERS = (AgentsMd(),)
