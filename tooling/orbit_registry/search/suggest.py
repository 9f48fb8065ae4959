"""Suggested globs for a record's scope, from texts, citations and commits about it and files."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from orbit_registry.formats.citations import find_citations
from orbit_registry.formats.globs import Glob, match_any, matches, parse_glob, readable_globs
from orbit_registry.model.record import Record
from orbit_registry.operations.citation_rewrite import mentioning_files
from orbit_registry.repository.documents import decision_paths
from orbit_registry.workspace.files import document_text, without_sites
from orbit_registry.workspace.git import Commit, newest_commits
from orbit_registry.workspace.workspace import ORBIT, Workspace

SURE = 1.0  # what a clue weighs that is meant: a name or a citation
LIKELY = 0.5  # what it weighs if it may be chance: files of one commit
ENOUGH = 1.0  # what a file's clues must come to, so that having met in one commit is not enough
MOST_GLOBS = 6
MOST_SHARE = 0.2  # a scope that covers more of the project is shown nowhere but in briefs
FOLDER_FILES = 3  # so many files of a folder, or all of them, are replaced by the folder

# No name is longer than 255 bytes; without that bound a long run of signs would be read again from
# each of them.
_PATH = re.compile(
    r"(?<![\w./-])(?:\./)?(?P<path>(?:[\w@.+*{},\[\]-]{1,255}/)+[\w@.+*{},\[\]-]{0,255}"
    r"|[\w@+-][\w@.+-]{0,255}\.\w{1,8})"
)
_NO_CODE = re.compile(
    r"(?:^|/)(?:\.|CHANGELOG|CHANGES|README|LICEN[CS]E|CONTRIBUTING|CLAUDE|AGENTS|GEMINI"
    r"|[^/]*\.lock$|[^/]*-lock\.|uv\.lock|go\.sum)"
    r"|\.(?:png|jpe?g|gif|svg|webp|drawio|pdf|excalidraw)$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Clue:
    """One reason to think that a record is about a file or folder; `words` say it to a person."""

    path: str  # a tracked file, or a folder with a slash at its end
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
    """The tracked files that a scope may name: no hidden files, change logs, locks, pictures.

    Those of `without` are documents of decisions: a record about them would be about itself.
    """

    tracked: Sequence[str]
    without: frozenset[str] = frozenset()

    @cached_property
    def files(self) -> frozenset[str]:
        """Those that are left."""
        return frozenset(
            path for path in self.tracked if path not in self.without and not _NO_CODE.search(path)
        )

    @cached_property
    def folders(self) -> Mapping[str, frozenset[str]]:
        """The files below each folder; the root is none."""
        folders: defaultdict[str, set[str]] = defaultdict(set)
        for file in self.files:
            folder = file.rpartition("/")[0]
            while folder:
                folders[folder].add(file)
                folder = folder.rpartition("/")[0]

        return {folder: frozenset(files) for folder, files in folders.items()}

    @cached_property
    def by_end(self) -> Mapping[str, Sequence[str]]:
        """The files by their names, and by each longer end of their paths."""
        by_end = defaultdict(list)
        for file in self.files:
            parts = file.split("/")
            for start in range(1, len(parts)):
                by_end["/".join(parts[start:])].append(file)

        return by_end


def clues_in_text(text: str, tree: Tree) -> Iterator[Clue]:
    """Yield the tracked files and folders that a text names, by a path or its end."""
    for text_path in dict.fromkeys(match["path"] for match in _PATH.finditer(text)):
        name = text_path.rstrip(".,")
        for path in _resolve_name(name, tree):
            yield Clue(path, f"its text names `{name}`", SURE)


def _resolve_name(name: str, tree: Tree) -> Iterator[str]:
    """Yield what a name in a text means: a file, a folder, a glob, the only file of an end."""
    bare = name.rstrip("/")
    if name in tree.files:
        yield name
    elif bare in tree.folders:
        yield f"{bare}/"
    elif any(sign in name for sign in "*{["):
        globs = [glob for glob in readable_globs((name,)) if not glob.exclude]
        if any(match_any(globs, file) for file in tree.files):
            yield name
    else:
        matching_files = tree.by_end.get(name, ())
        if len(matching_files) == 1:
            yield matching_files[0]


def propose(clues: Iterable[Clue], tree: Tree) -> list[Proposal]:
    """Return the best founded globs for the clues: files, or folders of which most is meant.

    None covers more than a fifth of the project.
    """
    # The same words count once, however often they are said.
    clues_by_path: defaultdict[str, dict[str, Clue]] = defaultdict(dict)
    for clue in clues:
        clues_by_path[clue.path].setdefault(clue.words, clue)

    weights = {}
    for path, path_clues in clues_by_path.items():
        weights[path] = sum(clue.weight for clue in path_clues.values())

    enough = {path for path, weight in weights.items() if weight >= ENOUGH}
    files = enough & tree.files
    wide = enough - files
    wide.update(f"{folder}/" for folder in _folders_of(files, tree))

    chosen = {}
    for path in sorted(wide):
        glob = f"{path}**" if path.endswith("/") else path
        below = sum(weights[file] for file in files if file.startswith(path))
        chosen[glob] = weights.get(path, 0.0) + below

    # A file that a folder covers needs no glob, nor does a folder in a folder.
    covered = tuple(path for path in wide if path.endswith("/"))
    chosen |= {file: weights[file] for file in files if not file.startswith(covered)}
    chosen = {glob: weight for glob, weight in chosen.items() if not _is_inside(glob, chosen)}

    most = max(MOST_SHARE * len(tree.tracked), 1)
    result = []
    for glob in sorted(chosen, key=lambda glob: (-chosen[glob], glob)):
        count = _count(glob, tree)
        if 0 < count <= most:
            result.append(Proposal(glob, count, _reasons(glob, clues_by_path)))

    return result[:MOST_GLOBS]


def _folders_of(files: set[str], tree: Tree) -> Iterator[str]:
    """Yield the lowest folders of which three files and most, or two and all, are spoken of."""
    counts = Counter(file.rpartition("/")[0] for file in files if "/" in file)
    for folder, count in counts.items():
        total = len(tree.folders[folder])
        if (count >= FOLDER_FILES and count * 2 > total) or (count >= 2 and count == total):
            yield folder


def _is_inside(glob: str, others: Iterable[str]) -> bool:
    return any(
        other != glob and other.endswith("/**") and glob.startswith(other[:-2]) for other in others
    )


def _count(glob: str, tree: Tree) -> int:
    """Return how many tracked files a glob matches, those that no scope may name among them."""
    parsed = parse_glob(glob)
    if not isinstance(parsed, Glob):
        return 0

    return sum(matches(parsed, file) for file in tree.tracked)


def _reasons(glob: str, clues_by_path: Mapping[str, Mapping[str, Clue]]) -> tuple[str, ...]:
    """Return the words of the weightiest clues that a glob covers."""
    covered: list[Clue] = []
    for path, clues in clues_by_path.items():
        if path == glob or (glob.endswith("/**") and path.startswith(glob[:-2])):
            covered += clues.values()

    covered.sort(key=lambda clue: (-clue.weight, clue.path))
    return tuple(dict.fromkeys(clue.words for clue in covered))[:4]


MOST_FILES = 25  # a commit that touches more files says little of any two of them
FEW_FILES = 8
"""A commit that names a record and touches at most so many files is about the record in each."""
PROSE = (".md", ".txt", ".rst", ".adoc")  # what is changed along with much else


def suggestions(workspace: Workspace, records: Sequence[Record]) -> Mapping[str, list[Proposal]]:
    """Return for each record's path the globs that its scope may want.

    The records have their prose.
    """
    tracked = workspace.git.tracked() or []
    documents = {record.source.path for record in records if record.source is not None}
    pages = {*tracked}.difference(without_sites(tracked, workspace.root))
    tree = Tree(tracked, frozenset({*documents, *decision_paths(workspace), *pages}))
    history = [
        commit for commit in newest_commits(workspace.git) if len(commit.files) <= MOST_FILES
    ]

    cited = _citing_files(workspace, records, tree)
    proposals = {}
    for record in records:
        clues = list(clues_in_text(f"{record.title}\n{record.prose}", tree))
        for path in cited.get(record.id, ()):
            clues.append(Clue(path, f"`{path}` cites it", SURE))

        clues += _from_history(record, history, tree)
        proposals[record.path] = propose(clues, tree)

    return proposals


def _citing_files(
    workspace: Workspace, records: Sequence[Record], tree: Tree
) -> Mapping[str, list[str]]:
    ids = {_without_zeros(record.id): record.id for record in records}
    citing = defaultdict(list)
    forms = workspace.kinds.id_forms
    patterns = [f"{prefix}[0-9]" for prefix in forms.numbered]
    patterns += [f"{prefix}[0-9a-hjkmnp-tv-z]{{5}}" for prefix in forms.coded]

    for path in mentioning_files(workspace, patterns):
        if path not in tree.files:
            continue

        citations = find_citations(document_text(workspace.root, path) or "", forms)
        for cited in dict.fromkeys(_without_zeros(citation.id) for citation in citations):
            if cited in ids:
                citing[ids[cited]].append(path)

    return citing


def _without_zeros(record_id: str) -> str:
    """Return an id without the zeros before its number: `ADR 12` cites ADR-0012."""
    word, dash, number = record_id.partition("-")
    if not number.isdecimal():
        return record_id

    return f"{word}{dash}{int(number)}"


def _from_history(record: Record, history: Sequence[Commit], tree: Tree) -> Iterator[Clue]:
    """Yield a clue for each file of the commits that touch a record's files, or name it."""
    record_files = {record.path}
    if record.source is not None:
        record_files.add(record.source.path)

    names = (record.id, *record.words("tasks"), *record.scope.tasks)
    for commit in history:
        touches = not record_files.isdisjoint(commit.files)
        cited_name = next((name for name in names if _names_id(commit.message, name)), None)
        if not touches and cited_name is None:
            continue

        words = f"commit {commit.short} touched both"
        if cited_name:
            words = f"commit {commit.short} names {cited_name}"

        is_about_it = cited_name is not None and len(commit.files) <= FEW_FILES
        for path in commit.files:
            if path in tree.files and not path.startswith(f"{ORBIT}/"):
                weight = SURE if is_about_it and not path.endswith(PROSE) else LIKELY
                yield Clue(path, words, weight)


def _names_id(message: str, name: str) -> bool:
    """Say whether a message has a name as a separate word."""
    at = message.find(name)
    if at < 0:
        return False

    end = at + len(name)
    before = message[at - 1 : at]
    after = message[end : end + 1]
    return not (before.isalnum() or after.isalnum())
