"""Which globs a record's scope may want, from what speaks of both the record and files; it reads and writes nothing."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from orbit_registry.formats.citations import find_citations
from orbit_registry.formats.globs import Glob, matches, parse_glob
from orbit_registry.model.record import Record
from orbit_registry.operations.citing_files import mentioning_files
from orbit_registry.repository.documents import decision_paths
from orbit_registry.workspace.files import document_text
from orbit_registry.workspace.git import Commit, newest_commits
from orbit_registry.workspace.workspace import ORBIT, SITE_MANIFEST, Workspace

Source = Literal["text", "citation", "named", "commit"]
"""Where a clue comes from: the record's own text, a file that cites the record, a commit that names the record or its
task, a commit that touched both."""

SURE, LIKELY = 1.0, 0.5
"""What a clue weighs: a name or a citation is meant, files of one commit may meet by chance."""
ENOUGH = 1.0
"""What a file's clues must come to, so that having met in one commit is not enough."""
MOST_GLOBS = 6
MOST_SHARE = 0.2
"""A scope that covers more of the project is shown nowhere but in briefs."""
FOLDER_FILES = 3
"""So many files of a folder, or all of them, stand for the folder."""

# No name is longer than 255 bytes; without that bound a long run of signs would be read again from each of them.
_PATH = re.compile(
    r"(?<![\w./-])(?:\./)?(?P<path>(?:[\w@.+*{},\[\]-]{1,255}/)+[\w@.+*{},\[\]-]{0,255}"
    r"|[\w@+-][\w@.+-]{0,255}\.\w{1,8})"
)
_NO_CODE = re.compile(
    r"(?:^|/)(?:\.|CHANGELOG|CHANGES|README|LICEN[CS]E|CONTRIBUTING|CLAUDE|AGENTS|GEMINI|[^/]*\.lock$|[^/]*-lock\.|uv\.lock|go\.sum)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Clue:
    """One reason to think that a record is about a file or folder; `words` say it to a person."""

    path: str
    """A tracked file, or a folder with a slash at its end."""
    source: Source
    words: str
    weight: float


@dataclass(frozen=True, slots=True)
class Proposal:
    """A glob, how many tracked files it matches, and why it is proposed."""

    glob: str
    files: int
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class Tree:
    """The tracked files that a scope may name: no hidden files, no change logs, no lock files, nothing of `without`."""

    tracked: Sequence[str]
    without: frozenset[str] = frozenset()
    """Documents of decisions; a record about them would be about itself."""
    files: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        kept = (path for path in self.tracked if path not in self.without and not _NO_CODE.search(path))
        object.__setattr__(self, "files", frozenset(kept))

    @cached_property
    def folders(self) -> Mapping[str, frozenset[str]]:
        """The files below each folder; the root is none."""
        found: defaultdict[str, set[str]] = defaultdict(set)
        for file in self.files:
            folder = file.rpartition("/")[0]
            while folder:
                found[folder].add(file)
                folder = folder.rpartition("/")[0]
        return {folder: frozenset(files) for folder, files in found.items()}

    @cached_property
    def by_name(self) -> Mapping[str, Sequence[str]]:
        """The files that have a name."""
        found: defaultdict[str, list[str]] = defaultdict(list)
        for file in self.files:
            found[file.rpartition("/")[2]].append(file)
        return found

    @cached_property
    def by_end(self) -> Mapping[str, Sequence[str]]:
        """The files that end with a path of two and more parts."""
        found: defaultdict[str, list[str]] = defaultdict(list)
        for file in self.files:
            parts = file.split("/")
            for start in range(1, len(parts) - 1):
                found["/".join(parts[start:])].append(file)
        return found


def clues_in_text(text: str, tree: Tree) -> Iterator[Clue]:
    """Yield the tracked files and folders that a text names: by path, by a path's end, or by a name that one has."""
    for found in dict.fromkeys(one["path"] for one in _PATH.finditer(text)):
        named = found.rstrip(".,")
        for path in _named(named, tree):
            yield Clue(path, "text", f"its text names `{named}`", SURE)


def _named(named: str, tree: Tree) -> Iterator[str]:
    bare = named.rstrip("/")
    if named in tree.files:
        yield named
    elif bare in tree.folders:
        yield f"{bare}/"
    elif any(sign in named for sign in "*{["):
        glob = parse_glob(named)
        if isinstance(glob, Glob) and not glob.exclude and any(matches(glob, file) for file in tree.files):
            yield named
    else:
        held = tree.by_end.get(named, ()) if "/" in named else tree.by_name.get(named, ())
        if len(held) == 1:
            yield held[0]


def propose(clues: Iterable[Clue], tree: Tree) -> list[Proposal]:
    """Return the globs that cover what the clues speak of, the best founded first, at most `MOST_GLOBS`.

    Files become their folder where most of it is spoken of; what is covered already is left out, and so is a glob that
    matches more than a fifth of the project.
    """
    held: defaultdict[str, dict[str, Clue]] = defaultdict(dict)
    for clue in clues:
        held[clue.path].setdefault(f"{clue.source} {clue.words}", clue)
    weights = {path: sum(clue.weight for clue in found.values()) for path, found in held.items()}
    files = {path for path, weight in weights.items() if path in tree.files and weight >= ENOUGH}
    wide = {path for path, weight in weights.items() if path not in tree.files and weight >= ENOUGH}
    chosen: dict[str, float] = {}
    for folder in sorted(_folders_of(files, tree), key=lambda one: (one.count("/"), one)):
        wide.add(f"{folder}/")
    for path in sorted(wide):
        glob = f"{path}**" if path.endswith("/") else path
        below = sum(weights[file] for file in files if file.startswith(path))
        chosen[glob] = weights.get(path, 0.0) + below
    covered = tuple(path for path in wide if path.endswith("/"))
    chosen |= {file: weights[file] for file in files if not file.startswith(covered)}
    chosen = {glob: weight for glob, weight in chosen.items() if not _is_inside(glob, chosen)}
    most = max(MOST_SHARE * len(tree.tracked), 1)
    result = []
    for glob in sorted(chosen, key=lambda one: (-chosen[one], one)):
        count = _count(glob, tree)
        if 0 < count <= most:
            result.append(Proposal(glob, count, _reasons(glob, held)))
    return result[:MOST_GLOBS]


def _folders_of(files: set[str], tree: Tree) -> Iterator[str]:
    """Yield the lowest folders of which three files and most of all, or at least two and all, are spoken of."""
    found: defaultdict[str, int] = defaultdict(int)
    for file in files:
        if "/" in file:
            found[file.rpartition("/")[0]] += 1
    for folder, count in found.items():
        whole = len(tree.folders[folder])
        if (count >= FOLDER_FILES and count * 2 > whole) or (count >= 2 and count == whole):
            yield folder


def _is_inside(glob: str, others: Iterable[str]) -> bool:
    return any(other != glob and other.endswith("/**") and glob.startswith(other[:-2]) for other in others)


def _count(glob: str, tree: Tree) -> int:
    parsed = parse_glob(glob)
    return sum(matches(parsed, file) for file in tree.tracked) if isinstance(parsed, Glob) else 0


def _reasons(glob: str, held: Mapping[str, Mapping[str, Clue]]) -> tuple[str, ...]:
    folder = glob[:-2] if glob.endswith("/**") else None
    found = [
        clue
        for path, clues in held.items()
        if path == glob or (folder is not None and path.startswith(folder))
        for clue in clues.values()
    ]
    ordered = sorted(found, key=lambda clue: (-clue.weight, clue.path))
    return tuple(dict.fromkeys(clue.words for clue in ordered))[:4]


# ------------------------------------------------------------------------------------------------------------ gathering

MOST_FILES = 25
"""A commit that touches more files says little of any two of them."""
FEW_FILES = 8
"""A commit that names a record and touches no more files is about the record in each of them."""
_MEDIA = re.compile(r"\.(?:png|jpe?g|gif|svg|webp|drawio|pdf|excalidraw)$", re.IGNORECASE)
"""Illustrations: no code that a decision applies to."""
PROSE = (".md", ".txt", ".rst", ".adoc")
"""What is changed along with much else."""


def suggestions(workspace: Workspace, records: Sequence[Record]) -> Mapping[str, list[Proposal]]:
    """Return for each record's path the globs that its scope may want; the records have their prose."""
    tracked = workspace.git.tracked() or []
    documents = {record.source.path for record in records if record.source is not None}
    sites = tuple(path.removesuffix(SITE_MANIFEST) for path in tracked if path.endswith(f"/{SITE_MANIFEST}"))
    pages = (path for path in tracked if sites and path.startswith(sites))
    tree = Tree(tracked, frozenset({*documents, *decision_paths(workspace), *filter(_MEDIA.search, tracked), *pages}))
    history = [commit for commit in newest_commits(workspace.git) if len(commit.files) <= MOST_FILES]
    cited = _citing(workspace, records, tree)
    found = {}
    for record in records:
        clues = [
            *clues_in_text(f"{record.title}\n{record.prose}", tree),
            *(Clue(path, "citation", f"`{path}` cites it", SURE) for path in cited.get(record.id, ())),
            *_from_history(record, history, tree),
        ]
        found[record.path] = propose(clues, tree)
    return found


def _citing(workspace: Workspace, records: Sequence[Record], tree: Tree) -> Mapping[str, list[str]]:
    """Return for each id the tracked files that cite it."""
    ids = {_plain(record.id): record.id for record in records}
    wanted: defaultdict[str, list[str]] = defaultdict(list)
    forms = workspace.kinds.id_forms
    code = "[0-9a-hjkmnp-tv-z]"
    patterns = [*(f"{prefix}[0-9]" for prefix in forms.numbered), *(f"{prefix}{code}{{5}}" for prefix in forms.coded)]
    for path in mentioning_files(workspace, patterns):
        text = document_text(workspace.root, path) if path in tree.files else None
        for cited in dict.fromkeys(_plain(one.id) for one in find_citations(text or "", forms)):
            if cited in ids:
                wanted[ids[cited]].append(path)
    return wanted


def _plain(record_id: str) -> str:
    """Return an id without the zeros before its number: `ADR 12` cites ADR-0012."""
    word, dash, rest = record_id.partition("-")
    return f"{word}{dash}{int(rest)}" if rest.isdecimal() else record_id


def _from_history(record: Record, history: Sequence[Commit], tree: Tree) -> Iterator[Clue]:
    """Yield the files of commits that touched the record or its document, or name it or one of its tasks."""
    own = {record.path, *([record.source.path] if record.source else [])}
    names = (record.id, *record.words("tasks"), *record.scope.tasks)
    for commit in history:
        touches = not own.isdisjoint(commit.files)
        named = next((name for name in names if _says(commit.message, name)), None)
        if not touches and named is None:
            continue
        words = f"commit {commit.short} names {named}" if named else f"commit {commit.short} touched both"
        for path in commit.files:
            if path in tree.files and not path.startswith(f"{ORBIT}/"):
                small = named is not None and len(commit.files) <= FEW_FILES and not path.endswith(PROSE)
                yield Clue(path, "named" if named else "commit", words, SURE if small else LIKELY)


def _says(message: str, name: str) -> bool:
    """Say whether a message names an id as a word of its own."""
    at = message.find(name)
    if at < 0:
        return False
    before, after = message[at - 1 : at], message[at + len(name) : at + len(name) + 1]
    return not (before.isalnum() or after.isalnum())
