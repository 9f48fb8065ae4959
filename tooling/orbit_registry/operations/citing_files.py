"""Finds the files that mention a record and drafts their new texts; which record a mention means is its caller's."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from orbit_registry.errors import GitError
from orbit_registry.formats.position import Position, YamlProblemError
from orbit_registry.formats.yaml import load
from orbit_registry.operations.citation_rewrite import (
    CitationMap,
    DocumentMoves,
    Rewritten,
    Unclear,
    rewrite_mentions,
    search_patterns,
)
from orbit_registry.repository.codec import decode_record
from orbit_registry.repository.writer import ChangeSet
from orbit_registry.workspace.files import walk
from orbit_registry.workspace.git import Git
from orbit_registry.workspace.workspace import ORBIT, Workspace

_IDENTITY_KEYS = ("id", "uid", "legacy_ids", "status_raw", "source", "created_by")
"""Fields of a record that name the record itself, or what it once was; they are never rewritten as citations."""
_TOP_KEY = re.compile(r"""["']?(?P<key>[A-Za-z_][\w-]*)["']?[ \t]*:""")
_SETTINGS = tuple(
    part
    for name in ("grep.lineNumber=false", "grep.column=false", "grep.fullName=false", "grep.patternType=extended",
                 "color.grep=never", "color.ui=never", "submodule.recurse=false")
    for part in ("-c", name)
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """A file that changed: where it is now and was before, how many citations in it were rewritten, and what else."""

    path: str
    citations: int = 0
    was: str | None = None
    what: str = ""

    def __str__(self) -> str:
        moved = f"{self.was} → {self.path}" if self.was else self.path
        count = f"{self.citations} citation{'s' if self.citations != 1 else ''}" if self.citations else ""
        details = ", ".join(part for part in (self.what, count) if part)
        return f"{moved}: {details}" if details else moved

    def as_dict(self) -> dict[str, object]:
        """Return the file as JSON shows it."""
        return {"path": self.path, "was": self.was, "citations": self.citations, "what": self.what}


def rewrite_everywhere(
    workspace: Workspace, draft: ChangeSet, ids: frozenset[str], meaning: CitationMap, moves: DocumentMoves
) -> tuple[tuple[ChangedFile, ...], tuple[Unclear, ...]]:
    """Draft every file that mentions the ids or the moved documents; returns all files the draft changes, and what was
    left for a person.
    """
    drafted = {change.path: change.after for change in draft.changes}
    removed = {path for path, after in drafted.items() if after is None}
    candidates = {*mentioning_files(workspace, search_patterns(ids, moves)), *drafted} - removed
    full = replace(moves, unique_names=_unique_names(workspace, moves))
    counts: Counter[str] = Counter()
    unclear: list[Unclear] = []
    for path in sorted(candidates):
        text = draft.readable(path)
        if text is None:
            continue
        result = rewrite_file(workspace, path, text, ids, meaning, full)
        unclear += result.unclear
        counts[path] = result.count
        if result.text != text:
            draft.put(path, result.text)
    return changed_files(draft, counts), tuple(unclear)


def changed_files(draft: ChangeSet, citations: Mapping[str, int] = MappingProxyType({})) -> tuple[ChangedFile, ...]:
    """Return what the draft changes, a moved file once, with how many citations in it were rewritten."""
    changed = [change for change in draft.changes if change.after is not None]
    return tuple(
        ChangedFile(change.path, citations.get(change.path, 0), draft.came_from.get(change.path))
        for change in sorted(changed, key=lambda change: change.path)
    )


def rewrite_file(
    workspace: Workspace, path: str, text: str, ids: frozenset[str], meaning: CitationMap, moves: DocumentMoves
) -> Rewritten:
    """Return a file's text with its mentions rewritten; in a record's file, its own names stay."""
    parts = path.split("/")
    kind = workspace.kinds.of_plural(parts[-3]) if len(parts) > 3 and parts[0] == ORBIT else None
    if kind is None or parts[-1] != f"{kind.name}.yaml":
        return rewrite_mentions(text, path, workspace.kinds.id_forms, ids, meaning, moves)
    pieces: list[str] = []
    count = 0
    unclear: list[Unclear] = []
    line = 0
    forms = workspace.kinds.id_forms
    for is_own, piece in _stretches(text):
        result = Rewritten(piece) if is_own else rewrite_mentions(piece, path, forms, ids, meaning, moves)
        count += result.count
        unclear += [
            replace(mention, position=Position(mention.position.line + line, mention.position.column))
            for mention in result.unclear
        ]
        line += piece.count("\n")
        pieces.append(result.text)
    joined = "".join(pieces)
    if joined != text and not _still_that_record(text, joined):
        return Rewritten(text, 0, (*unclear, Unclear(path, Position(1), "", "this file's form can't be edited safely")))
    if joined != text and decode_record(text, kind, path)[0] and not decode_record(joined, kind, path)[0]:
        return Rewritten(text, 0, (*unclear, Unclear(path, Position(1), "", "the record would become invalid")))
    return Rewritten(joined, count, tuple(unclear))


def _stretches(text: str) -> Iterator[tuple[bool, str]]:
    """Yield the stretches of a record file, with whether they name the record itself."""
    is_own, stretch = False, ""
    for line in text.splitlines(keepends=True):
        match = _TOP_KEY.match(line)
        mine = match["key"] in _IDENTITY_KEYS if match else is_own
        if mine != is_own and stretch:
            yield is_own, stretch
            stretch = ""
        is_own, stretch = mine, stretch + line
    if stretch:
        yield is_own, stretch


def _still_that_record(before: str, after: str) -> bool:
    try:
        old, new = load(before), load(after)
    except YamlProblemError:
        return False
    if not isinstance(old, dict) or not isinstance(new, dict):
        return False
    return all(old.get(key) == new.get(key) for key in _IDENTITY_KEYS)


def mentioning_files(workspace: Workspace, patterns: Sequence[str]) -> list[str]:
    """Return the text files that match one of the patterns: tracked ones and new ones that git does not ignore."""
    if not patterns:
        return []
    if workspace.git.top is None:
        return sorted(_walked(workspace, patterns))
    names = workspace.git.run_names("grep", "-l", "-z", "-I", "-i", "-E", "--untracked", *_options(patterns), "--", ".",
                              f":(exclude){ORBIT}/state", f":(exclude){ORBIT}/schemas", settings=_SETTINGS,
                              check=False)  # fmt: skip
    return sorted({*names})


def lines_at(git: Git, tree: str | None, patterns: Sequence[str]) -> dict[str, set[str]]:
    """Return, for each file of a commit (of the index where `tree` is None), its lines that match a pattern."""
    where = (tree,) if tree else ("--cached",)
    try:
        arguments = ("grep", "-z", "-I", "-i", "-E", *_options(patterns), *where, "--", ".")
        output = git.run(*arguments, settings=_SETTINGS, check=False)
    except GitError:
        return {}
    result: dict[str, set[str]] = {}
    for name, line in re.findall(r"([^\0]*)\0([^\n]*)\n", output.decode("utf-8", "surrogateescape")):
        path = name.removeprefix(f"{tree}:") if tree else name
        result.setdefault(path, set()).add(line.rstrip("\r"))
    return result


def _options(patterns: Sequence[str]) -> list[str]:
    return [part for pattern in patterns for part in ("-e", pattern)]


def _walked(workspace: Workspace, patterns: Sequence[str]) -> Iterator[str]:
    """Yield matching files where there is no git."""
    expression = re.compile(
        "|".join(pattern.replace("[[:space:]]", r"\s") for pattern in patterns).encode(), re.IGNORECASE
    )
    for path in _all_files(workspace):
        try:
            data = (workspace.root / path).read_bytes()
        except OSError:
            continue
        if b"\0" not in data[:8000] and expression.search(data):
            yield path


def _all_files(workspace: Workspace) -> Iterator[str]:
    generated = (f"{ORBIT}/state/", f"{ORBIT}/schemas/")
    return (path for path in walk(workspace.root) if not path.startswith(generated))


def _unique_names(workspace: Workspace, moves: DocumentMoves) -> frozenset[str]:
    """Return the names of moved documents that no other file has."""
    names = {path.rpartition("/")[2] for path in moves.paths}
    if not names:
        return frozenset()
    paths = workspace.git.tracked()
    counts = Counter(path.rpartition("/")[2] for path in (paths if paths is not None else _all_files(workspace)))
    return frozenset(name for name in names if counts[name] < 2)
