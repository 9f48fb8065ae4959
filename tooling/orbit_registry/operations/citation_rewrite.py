"""Rewriting of what names a record in any file:
ids, anchors, folder paths, and links to its document.
"""

import posixpath
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from urllib.parse import quote

from orbit_registry.errors import GitError, plural
from orbit_registry.formats.citations import IdForms, find_citations
from orbit_registry.formats.markdown import (
    Link,
    is_markdown,
    parse_markdown,
    path_from_root,
    split_link,
)
from orbit_registry.formats.position import Position, Span, TextLines
from orbit_registry.model.kind import Kind
from orbit_registry.repository.codec import data_in, decode_record
from orbit_registry.repository.writer import ChangeSet
from orbit_registry.workspace.git import Git
from orbit_registry.workspace.workspace import ORBIT, Workspace

CitationMap = Callable[[str, str, str], str | None]
"""(path, line, id as written) → the id it should be;
the same one where it stays, None where it can't be told.
"""

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_SEQUENCE = re.compile(r"([A-Z][A-Z0-9]*-)(\d{1,9})\Z")


@dataclass(frozen=True, slots=True)
class Unclear:
    """A mention left unchanged, because it may mean several records."""

    path: str
    position: Position
    id: str
    line: str

    def as_dict(self) -> dict[str, object]:
        """Return the mention as JSON shows it."""
        data = {"path": self.path, "line": self.position.line, "column": self.position.column}
        return {**data, "id": self.id, "text": self.line}


@dataclass(frozen=True, slots=True)
class DocumentMoves:
    """Documents that move: old path → new path,
    and which of them can be told by their bare name.
    """

    paths: Mapping[str, str] = field(default_factory=dict)
    unique_names: frozenset[str] = frozenset()  # file names that only one file of the project has


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A text with its mentions rewritten: how many were, and which could not be."""

    text: str
    count: int = 0
    unclear: tuple[Unclear, ...] = ()


@dataclass(frozen=True, slots=True)
class _Mention:
    id: str
    start: int
    number: Span


def _numbered(record_id: str) -> tuple[str, int] | None:
    match = _SEQUENCE.match(record_id)
    return (match[1][:-1], int(match[2])) if match else None


def number_of(record_id: str) -> int | None:
    """Return the number in an id such as `ADR-0007`, whatever its width."""
    return (_numbered(record_id) or (None, None))[1]


def search_patterns(ids: frozenset[str], moves: DocumentMoves) -> list[str]:
    """Return extended regular expressions for `git grep -i` that match every line with a mention,
    and few others.
    """
    patterns = []
    for word, number in sorted(
        {numbered for record_id in ids if (numbered := _numbered(record_id)) is not None}
    ):
        name = word.lower()
        patterns += [
            f"{name}-0*{number}([^0-9]|$)",
            f"{name}s?[[:space:]].*[^0-9]0*{number}([^0-9]|$)",
        ]
        patterns.append(f"{name}s?[[:space:]]+0*{number}([^0-9]|$)")

    for path in sorted(moves.paths):
        name = path.rpartition("/")[2]
        patterns += [
            re.sub(r"[][\\.^$*+?{}()|]", r"\\\g<0>", text)
            for text in dict.fromkeys((name, quote(name)))
        ]

    return patterns


def rewrite_mentions(
    text: str,
    path: str,
    forms: IdForms,
    ids: frozenset[str],
    meaning: CitationMap,
    moves: DocumentMoves,
) -> Rewritten:
    """Return `text` with each mention as `meaning` says;
    `ids` are those whose number may have changed.
    """
    lines = TextLines(text)
    links = parse_markdown(text).links if is_markdown(path) and moves.paths else ()
    edits: dict[tuple[int, int], str] = {}
    unclear: list[Unclear] = []

    for mention in _mentions(text, forms, ids):
        index = lines.index_of(mention.number.start)
        line = text[lines.starts[index] : lines.ends[index]]
        new = meaning(path, line, mention.id)
        if new is None:
            unclear.append(
                Unclear(path, lines.position(mention.start), mention.id, line.strip()[:200])
            )
        elif new != mention.id:
            edits[mention.number.start, mention.number.end] = new.rpartition("-")[2]

    for span, new in _file_names(text, path, links, moves):
        edits[span.start, span.end] = new

    return Rewritten(_spliced(text, edits), len(edits), tuple(unclear))


def _spliced(text: str, edits: Mapping[tuple[int, int], str]) -> str:
    parts: list[str] = []
    at = 0
    for (start, end), new in sorted(edits.items()):
        if start >= at:
            parts += (text[at:start], new)
            at = end
    return "".join((*parts, text[at:]))


def _mentions(text: str, forms: IdForms, ids: frozenset[str]) -> Iterator[_Mention]:
    numbers = {_numbered(record_id) for record_id in ids} - {None}
    for citation in find_citations(text, forms):
        if _numbered(citation.id) in numbers:
            yield _Mention(citation.id, citation.span.start, citation.number)
    for name in sorted(ids):
        for match in _folder_pattern(name).finditer(text):
            yield _Mention(name, match.start(), Span(*match.span("number")))


def _folder_pattern(record_id: str) -> re.Pattern[str]:
    """Return what matches an anchor (`#adr-0007-title`) or a record's folder
    (`.orbit/adrs/ADR-0007/`).
    """
    prefix, number = record_id.rsplit("-", 1)
    folder = rf"\.orbit/[a-z_]+/{re.escape(prefix)}-(?=\d)"
    return re.compile(
        rf"(?:#(?i:{re.escape(prefix)})-|{folder})(?P<number>{number})(?![A-Za-z0-9_])"
    )


def _target(path: str, target: str) -> str:
    file, _ = split_link(target)
    return "" if not file or _SCHEME.match(file) else path_from_root(file, posixpath.dirname(path))


def _file_names(
    text: str, path: str, links: tuple[Link, ...], moves: DocumentMoves
) -> Iterator[tuple[Span, str]]:
    for link in links:
        old = _target(path, link.target)
        if old not in moves.paths or link.target_span is None:
            continue

        names = posixpath.basename(old), posixpath.basename(moves.paths[old])
        target = link.target_span.of(text)
        for name, becomes in (names, map(quote, names)):
            at = target.partition("#")[0].rfind(name)
            if at >= 0:
                start = link.target_span.start + at
                yield Span(start, start + len(name)), becomes
                break

    for old, new in moves.paths.items():
        folder, _, name = old.rpartition("/")
        lead = (
            r"(?<![\w.-])"
            if name in moves.unique_names
            else rf"(?<![\w./-])(?:\./)?{re.escape(folder)}/"
        )
        for match in re.finditer(rf"{lead}(?P<name>{re.escape(name)})(?![\w-]|\.\w)", text):
            yield Span(*match.span("name")), new.rpartition("/")[2]


_IDENTITY_KEYS = ("id", "uid", "legacy_ids", "status_raw", "source", "created_by")
"""Fields of a record that name the record itself, or what it once was;
they are never rewritten as citations.
"""
_TOP_KEY = re.compile(r"""["']?(?P<key>[A-Za-z_][\w-]*)["']?[ \t]*:""")
_GENERATED = (f"{ORBIT}/state/", f"{ORBIT}/schemas/")
_SETTINGS = tuple(
    part
    for name in (
        "grep.lineNumber=false",
        "grep.column=false",
        "grep.fullName=false",
        "grep.patternType=extended",
        "color.grep=never",
        "color.ui=never",
        "submodule.recurse=false",
    )
    for part in ("-c", name)
)


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """A file that changed: where it is now and was before, how many citations in it were rewritten,
    and what else.
    """

    path: str
    citations: int = 0
    was: str | None = None
    what: str = ""

    def __str__(self) -> str:
        moved = f"{self.was} → {self.path}" if self.was else self.path
        count = plural(self.citations, "citation") if self.citations else ""
        details = ", ".join(part for part in (self.what, count) if part)
        return f"{moved}: {details}" if details else moved

    def as_dict(self) -> dict[str, object]:
        """Return the file as JSON shows it."""
        return {"path": self.path, "was": self.was, "citations": self.citations, "what": self.what}


def rewrite_everywhere(
    workspace: Workspace,
    draft: ChangeSet,
    ids: frozenset[str],
    meaning: CitationMap,
    moves: DocumentMoves,
) -> tuple[tuple[ChangedFile, ...], tuple[Unclear, ...]]:
    """Draft every file that mentions the ids or the moved documents;
    return what changes, and what is unclear.
    """
    drafted = {change.path: change.after for change in draft.changes}
    removed = {path for path, after in drafted.items() if after is None}
    candidates = {*mentioning_files(workspace, search_patterns(ids, moves)), *drafted} - removed
    full = replace(moves, unique_names=unique_names(workspace, moves.paths))
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


def changed_files(
    draft: ChangeSet, citations: Mapping[str, int] = MappingProxyType({})
) -> tuple[ChangedFile, ...]:
    """Return what the draft changes, a moved file once,
    with how many citations in it were rewritten.
    """
    changed = [change for change in draft.changes if change.after is not None]
    return tuple(
        ChangedFile(change.path, citations.get(change.path, 0), draft.came_from.get(change.path))
        for change in sorted(changed, key=lambda change: change.path)
    )


def kind_of(workspace: Workspace, path: str) -> Kind | None:
    """Return the kind of the record file at a path; None if it is no record file."""
    parts = path.split("/")
    kind = workspace.kinds.of_plural(parts[-3]) if len(parts) > 3 and parts[0] == ORBIT else None
    return kind if kind is not None and parts[-1] == f"{kind.name}.yaml" else None


def rewrite_file(
    workspace: Workspace,
    path: str,
    text: str,
    ids: frozenset[str],
    meaning: CitationMap,
    moves: DocumentMoves,
) -> Rewritten:
    """Return a file's text with its mentions rewritten; in a record's file, its own names stay."""
    kind = kind_of(workspace, path)
    if kind is None:
        return rewrite_mentions(text, path, workspace.kinds.id_forms, ids, meaning, moves)

    joined, count, line = "", 0, 0
    unclear: list[Unclear] = []
    forms = workspace.kinds.id_forms
    for is_own, piece in _stretches(text):
        result = (
            Rewritten(piece)
            if is_own
            else rewrite_mentions(piece, path, forms, ids, meaning, moves)
        )
        for mention in result.unclear:
            position = Position(mention.position.line + line, mention.position.column)
            unclear.append(replace(mention, position=position))

        joined, count, line = joined + result.text, count + result.count, line + piece.count("\n")

    problem = ""
    if joined != text and not _still_that_record(text, joined):
        problem = "this file's form can't be edited safely"
    elif (
        joined != text
        and decode_record(text, kind, path)[0]
        and not decode_record(joined, kind, path)[0]
    ):
        problem = "the record would become invalid"

    if problem:
        return Rewritten(text, 0, (*unclear, Unclear(path, Position(1), "", problem)))

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
    old, new = data_in(before), data_in(after)
    return (
        old is not None
        and new is not None
        and all(old.get(key) == new.get(key) for key in _IDENTITY_KEYS)
    )


def mentioning_files(workspace: Workspace, patterns: Sequence[str]) -> list[str]:
    """Return the text files that match one of the patterns:
    tracked ones and new ones that git does not ignore.
    """
    if not patterns or workspace.git.top is None:
        return []

    options = ("grep", "-l", "-z", "-I", "-i", "-E", "--untracked", *_options(patterns))
    where = (".", *(f":(exclude){folder}" for folder in _GENERATED))
    return sorted(
        {*workspace.git.run_names(*options, "--", *where, settings=_SETTINGS, check=False)}
    )


def lines_at(git: Git, tree: str | None, patterns: Sequence[str]) -> dict[str, set[str]]:
    """Return, for each file of a commit (of the index where `tree` is None),
    its lines that match a pattern.
    """
    where = (tree,) if tree else ("--cached",)
    try:
        arguments = ("grep", "-z", "-I", "-i", "-E", *_options(patterns), *where, "--", ".")
        output = git.run(*arguments, settings=_SETTINGS, check=False)
    except GitError:
        return {}

    result: dict[str, set[str]] = {}
    for name, line in re.findall(
        r"([^\0]*)\0([^\n]*)\n", output.decode("utf-8", "surrogateescape")
    ):
        path = name.removeprefix(f"{tree}:") if tree else name
        result.setdefault(path, set()).add(line.rstrip("\r"))

    return result


def _options(patterns: Sequence[str]) -> list[str]:
    return [part for pattern in patterns for part in ("-e", pattern)]


def unique_names(workspace: Workspace, paths: Iterable[str]) -> frozenset[str]:
    """Return the names of files that only one file of the project has."""
    names = {path.rpartition("/")[2] for path in paths}
    if not names:
        return frozenset()
    counts = Counter(path.rpartition("/")[2] for path in {*(workspace.git.tracked() or ())})
    return frozenset(name for name in names if counts[name] < 2)
