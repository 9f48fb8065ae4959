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

from orbit_registry.errors import plural
from orbit_registry.formats.citations import IdForms, find_citations, numbered_name
from orbit_registry.formats.links import is_markdown, path_from_root, split_link
from orbit_registry.formats.markdown import Link, parse_markdown
from orbit_registry.formats.position import Position, Span, TextLines
from orbit_registry.formats.sources import is_foreign, is_source
from orbit_registry.model.kind import Kind
from orbit_registry.operations.citations import marked_numbers
from orbit_registry.repository.codec import data_in, decode_record
from orbit_registry.repository.inherited import source_of
from orbit_registry.repository.record_path import kind_of_file
from orbit_registry.repository.writer import ChangeSet
from orbit_registry.workspace.files import built_sites
from orbit_registry.workspace.workspace import ORBIT, Workspace

CitationMap = Callable[[str, str, str], str | None]
"""(path, line, id as written) → the id it should be;
the same one where it stays, None where it can't be told.
"""

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")


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
    name = numbered_name(record_id)
    if name is not None:
        return (name.word, name.number)

    return None


def number_of(record_id: str) -> int | None:
    """Return the number in an id such as `ADR-0007`, whatever its width."""
    name = numbered_name(record_id)
    if name is not None:
        return name.number

    return None


def search_patterns(ids: frozenset[str], moves: DocumentMoves) -> list[str]:
    """Return extended regular expressions for `git grep -i` that match every line with a mention,
    and few others.
    """
    patterns: list[str] = []
    for word, number in sorted(_numbers_of(ids)):
        patterns.append(f"{word}.*[^0-9]0*{number}([^0-9]|$)")

    for path in sorted(moves.paths):
        name = path.rpartition("/")[2]
        for text in dict.fromkeys((name, quote(name))):
            patterns.append(re.sub(r"[][\\.^$*+?{}()|]", r"\\\g<0>", text))

    return patterns


def _numbers_of(ids: Iterable[str]) -> set[tuple[str, int]]:
    return set(filter(None, map(_numbered, ids)))


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
            position = lines.position(mention.start)
            unclear.append(Unclear(path, position, mention.id, line.strip()[:200]))
        elif new != mention.id:
            edits[mention.number.start, mention.number.end] = new.rpartition("-")[2]

    for span, new in _file_names(text, path, links, moves):
        edits[span.start, span.end] = new

    return Rewritten(spliced(text, edits), len(edits), tuple(unclear))


def spliced(text: str, edits: Mapping[tuple[int, int], str]) -> str:
    """Return a text with edits by their spans; of two that overlap, the first counts."""
    parts: list[str] = []
    at = 0
    for (start, end), new in sorted(edits.items()):
        if start >= at:
            parts += (text[at:start], new)
            at = end

    return "".join((*parts, text[at:]))


def _mentions(text: str, forms: IdForms, ids: frozenset[str]) -> Iterator[_Mention]:
    numbers = _numbers_of(ids)
    for citation in find_citations(text, forms):
        if _numbered(citation.id) in numbers:
            yield _Mention(citation.id, citation.span.start, citation.number)

    for start, name, number in marked_numbers(text, forms):
        if _numbered(name) in numbers:
            yield _Mention(name, start, number)

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
    if not file or _SCHEME.match(file):
        return ""

    return path_from_root(file, posixpath.dirname(path))


def _file_names(
    text: str,
    path: str,
    links: tuple[Link, ...],
    moves: DocumentMoves,
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
        lead = rf"(?<![\w./-])(?:\./)?{re.escape(folder)}/"
        if name in moves.unique_names:
            lead = r"(?<![\w.-])"

        for match in re.finditer(rf"{lead}(?P<name>{re.escape(name)})(?![\w-]|\.\w)", text):
            yield Span(*match.span("name")), new.rpartition("/")[2]


_IDENTITY_KEYS = ("id", "uid", "legacy_ids", "status_raw", "source", "created_by")
"""Fields of a record that name the record itself, or what it once was;
they are never rewritten as citations.
"""
_TOP_KEY = re.compile(r"""["']?(?P<key>[A-Za-z_][\w-]*)["']?[ \t]*:""")
_GENERATED = (f"{ORBIT}/state/", f"{ORBIT}/schemas/")
_BUILT = frozenset((".next", ".nuxt", "_build", "_site", "build", "dist", "htmlcov", "target"))
"""Folders that tools build into. What git has in them is somebody's source."""
_SETTINGS = (
    "-c",
    "grep.lineNumber=false",
    "-c",
    "grep.column=false",
    "-c",
    "grep.fullName=false",
    "-c",
    "grep.patternType=extended",
    "-c",
    "color.grep=never",
    "-c",
    "color.ui=never",
    "-c",
    "submodule.recurse=false",
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
        path = f"{self.was} → {self.path}" if self.was else self.path
        details = [self.what] if self.what else []
        if self.citations:
            details.append(plural(self.citations, "citation"))

        if details:
            return f"{path}: {', '.join(details)}"

        return path

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
    candidates = {*mentioning_files(workspace, search_patterns(ids, moves))}
    for change in draft.changes:
        if change.after is None:
            candidates.discard(change.path)
        else:
            candidates.add(change.path)

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
    paths = sorted(change.path for change in draft.changes if change.after is not None)
    return tuple(
        ChangedFile(path, citations.get(path, 0), draft.came_from.get(path)) for path in paths
    )


def rewrite_file(
    workspace: Workspace,
    path: str,
    text: str,
    ids: frozenset[str],
    meaning: CitationMap,
    moves: DocumentMoves,
) -> Rewritten:
    """Return a file's text with its mentions rewritten; in a record's file, its own names stay."""
    kind = kind_of_file(workspace.kinds, path)
    forms = workspace.kinds.id_forms
    if kind is None:
        return rewrite_mentions(text, path, forms, ids, meaning, moves)

    joined, count, line = "", 0, 0
    unclear: list[Unclear] = []
    for is_own, piece in _stretches(text):
        result = Rewritten(piece)
        if not is_own:
            result = rewrite_mentions(piece, path, forms, ids, meaning, moves)

        for mention in result.unclear:
            position = Position(mention.position.line + line, mention.position.column)
            unclear.append(replace(mention, position=position))

        joined += result.text
        count += result.count
        line += piece.count("\n")

    problem = _damage(text, joined, kind, path)
    if problem:
        return Rewritten(text, 0, (*unclear, Unclear(path, Position(1), "", problem)))

    return Rewritten(joined, count, tuple(unclear))


def _damage(before: str, after: str, kind: Kind, path: str) -> str:
    """Return why a record's file can't get a new text; empty where it can."""
    if before == after:
        return ""

    if not _still_that_record(before, after):
        return "this file's form can't be edited safely"

    if decode_record(before, kind, path)[0] and not decode_record(after, kind, path)[0]:
        return "the record would become invalid"

    return ""


def _stretches(text: str) -> Iterator[tuple[bool, str]]:
    """Yield the stretches of a record file, with whether they name the record itself."""
    is_own, stretch = False, ""
    for line in text.splitlines(keepends=True):
        match = _TOP_KEY.match(line)
        mine = match["key"] in _IDENTITY_KEYS if match else is_own
        if mine != is_own and stretch:
            yield is_own, stretch
            stretch = ""

        is_own = mine
        stretch += line

    if stretch:
        yield is_own, stretch


def _still_that_record(before: str, after: str) -> bool:
    old, new = data_in(before), data_in(after)
    if old is None or new is None:
        return False

    return all(old.get(key) == new.get(key) for key in _IDENTITY_KEYS)


def mentioning_files(
    workspace: Workspace, patterns: Sequence[str], where: str = "--untracked"
) -> list[str]:
    """Return the text files that match one of the patterns.

    Others' code is left out, because ids there are those of another project, and so is what a tool
    built: the next build writes it anew. `where` is a commit, `--cached` for the index, or
    `--untracked` for the work tree with new files that git does not ignore.
    """
    git = workspace.git
    if not patterns or git.top is None:
        return []

    options = ("grep", "-l", "-z", "-I", "-i", "-E", *(f"-e{pattern}" for pattern in patterns))
    folders = (".", *(f":(exclude){folder}" for folder in _GENERATED))
    matches = git.run_names(*options, where, "--", *folders, settings=_SETTINGS, check=False)
    names = {name.removeprefix(f"{where}:") for name in matches}
    if not names:
        return []

    tracked, untracked = git.files()
    sites = built_sites([*(tracked or ()), *untracked], workspace.root)
    names.difference_update(path for path in untracked if not _is_new_source(path))
    return sorted(name for name in names if _is_own(name, sites))


def _is_own(path: str, sites: tuple[str, ...]) -> bool:
    """Say whether a file is a record, or neither others' code nor a page of a built site."""
    if path.startswith(f"{ORBIT}/"):
        return not source_of(path)

    return not is_foreign(path) and not path.startswith(sites)


def _is_new_source(path: str) -> bool:
    """Say whether a file that git does not have was written, and not built."""
    if path.startswith(f"{ORBIT}/") or is_markdown(path):
        return True

    return is_source(path) is not False and _BUILT.isdisjoint(path.split("/")[:-1])


def unique_names(workspace: Workspace, paths: Iterable[str]) -> frozenset[str]:
    """Return the names of files that only one file of the project has."""
    names = {path.rpartition("/")[2] for path in paths}
    if not names:
        return frozenset()

    tracked = set(workspace.git.tracked() or ())
    counts = Counter(path.rpartition("/")[2] for path in tracked)
    return frozenset(name for name in names if counts[name] < 2)
