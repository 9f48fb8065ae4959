"""Suggested packages and globs for a record's scope: code that its words, files that cite it and
the commits that made it lead to.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from orbit_registry.formats.globs import Glob, match_any, matches, parse_glob, readable_globs
from orbit_registry.formats.sources import is_source, is_test
from orbit_registry.matching.packages import Imports, packages_named
from orbit_registry.matching.visibility import SUGGEST, Visibility, overlooked, summary
from orbit_registry.model.record import Record
from orbit_registry.repository.documents import decision_paths
from orbit_registry.search.source_files import SourceFiles
from orbit_registry.workspace.files import without_sites
from orbit_registry.workspace.git_log import Commit, newest_commits
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
_DATA = re.compile(
    r"\.(?:json[c5]?|xml|html?|env[\w.-]*)$|(?:^|/)requirements[^/]*$"
    r"|(?:^|/)(?:backlog|board|dump|export|issue|milestone|note|plan|report|roadmap|task|ticket|todo)"
    r"s?(?:[._-][^/]*)?\.(?:ya?ml|toml|ini|cfg|conf|sql)$"
    r"|(?:^|/)(?:\.(?!github/)|[^/]*[.-]lock\b|go\.sum$)",
    re.IGNORECASE,
)
"""Files that are read or made along with much else: data, plans, settings of tools, locks."""


@dataclass(frozen=True, slots=True)
class Clue:
    """One reason to think that a record is about a file or folder; `words` say it to a person."""

    path: str  # a tracked file, or a folder with a slash at its end
    words: str
    weight: float


@dataclass(frozen=True, slots=True)
class Proposal:
    """A glob or a package, how many files it matches or import it, and why it is proposed."""

    glob: str
    files: int
    reasons: tuple[str, ...]
    package: str = ""


@dataclass(frozen=True)
class Tree:
    """The tracked files that a scope may name: code and configuration, never prose.

    Those of `without` are documents of decisions: a record about them would be about itself.
    """

    tracked: Sequence[str]
    without: frozenset[str] = frozenset()

    @cached_property
    def files(self) -> frozenset[str]:
        """Those that a text may name."""
        return frozenset(
            path
            for path in self.tracked
            if is_source(path) and path not in self.without and not path.startswith(f"{ORBIT}/")
        )

    @cached_property
    def code(self) -> frozenset[str]:
        """Those that a commit or a citation may mean: no data, no plans, no locks."""
        return frozenset(path for path in self.files if not _DATA.search(path))

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
"""A commit that makes or names a record and touches at most so many files is about it in each."""
_PLAIN = """
api app apps bin cmd code common config core data doc docs include internal lib libs main modules
packages pkg plugins public scripts server services shared source src static test tests tools utils
web
"""
_PLAIN_FOLDERS = frozenset(_PLAIN.split())
"""Names of folders that titles use as words."""


def suggestions(
    workspace: Workspace, records: Sequence[Record], chosen: Collection[str]
) -> Mapping[str, list[Proposal]]:
    """Return for the path of each chosen record what its scope may want: packages, then globs.

    The records, all there are, have their prose.
    """
    tracked = workspace.git.tracked() or []
    documents = Counter(record.source.path for record in records if record.source is not None)
    pages = {*tracked}.difference(without_sites(tracked, workspace.root))
    tree = Tree(tracked, frozenset({*documents, *decision_paths(workspace), *pages}))
    imports = Imports(workspace, sorted(tree.files), tracked)
    history = [
        commit for commit in newest_commits(workspace.git) if len(commit.files) <= MOST_FILES
    ]

    citing: defaultdict[str, list[str]] = defaultdict(list)
    for path, cited in SourceFiles(workspace, records, tracked).cited.items():
        for record in cited:
            citing[record.path].append(path)

    proposals: dict[str, list[Proposal]] = {}
    for record in records:
        if record.path not in chosen:
            continue

        clues = list(clues_in_text(f"{record.title}\n{record.prose}", tree))
        clues += folders_in_title(record.title, tree)
        clues += [
            Clue(path, f"`{path}` cites it", SURE)
            for path in citing[record.path]
            if path in tree.code
        ]
        # A text that names files means these, not all that came in the same commit.
        files = {record.path}
        if record.source is not None and documents[record.source.path] == 1:
            files.add(record.source.path)  # a log changes with every decision in it

        clues += _from_history(record, files, history, tree, is_silent=not clues)
        packages = _packages(record, imports, tree)
        globs = [
            proposal
            for proposal in propose(clues, tree)
            if not _is_covered(proposal.glob, record.globs, tree)
        ]
        proposals[record.path] = [*packages, *globs]

    return proposals


def _is_covered(proposed: str, globs: Sequence[str], tree: Tree) -> bool:
    """Say whether a record's own globs match each file that a proposed one would."""
    glob = parse_glob(proposed)
    if not globs or not isinstance(glob, Glob):
        return False

    own = readable_globs(globs)
    return all(match_any(own, path) for path in tree.files if matches(glob, path))


def wants_scope(record: Record) -> bool:
    """Say whether a record that waits or holds names neither files nor packages."""
    return record.phase != "closed" and not record.globs and not record.uses


def note_on_scopes(
    workspace: Workspace, records: Sequence[Record], judged: Mapping[str, Visibility]
) -> str:
    """Return a line on accepted decisions that no edit shows; empty where each has one.

    The records have their prose; `judged` says where agents are shown them, by path.
    """
    decisions = [record for record in records if record.kind.in_document]
    count = summary(decisions, judged)
    if not count:
        return ""

    missing = overlooked(decisions, judged)
    without = {record.path for record in missing if wants_scope(record)}
    proposals = suggestions(workspace, records, without)
    helped = sum(bool(entries) for entries in proposals.values())
    if helped:
        whose = "it" if len(missing) == 1 else f"{helped} of them"
        return f"{count}; suggestions for {whose}: `{SUGGEST}`"

    if len(missing) == 1:
        step = f"`orbit {missing[0].kind.name} update {missing[0].id} --path GLOB`"
        return f"{count}; say where it applies: {step}"

    return f"{count}; say where they apply: `orbit adr update ID --path GLOB`"


def _packages(record: Record, imports: Imports, tree: Tree) -> list[Proposal]:
    """Return the packages that a record names, but for those that much of the project imports."""
    most = max(MOST_SHARE * len(tree.code), 1)
    result: list[Proposal] = []
    for package in packages_named(record, imports):
        if package.files <= most:
            reason = f"its {package.place} names {package.word}"
            result.append(Proposal("", package.files, (reason,), package.name))

    return result[:MOST_GLOBS]


def folders_in_title(title: str, tree: Tree) -> Iterator[Clue]:
    """Yield the folder whose name a title has, if only one folder of code has that name."""
    words = re.findall(r"\w+", title.lower())
    phrases = {*words, *map("".join, pairwise(words))}
    by_name: defaultdict[str, list[str]] = defaultdict(list)
    for folder, files in tree.folders.items():
        name = folder.rpartition("/")[2]
        word = re.sub(r"[\W_]", "", name.lower())
        if word in phrases and word not in _PLAIN_FOLDERS and not files.isdisjoint(tree.code):
            by_name[word].append(folder)

    for folders in by_name.values():
        if len(folders) == 1:
            name = folders[0].rpartition("/")[2]
            yield Clue(f"{folders[0]}/", f"its title names the folder `{name}`", SURE)


def _from_history(
    record: Record,
    record_files: Set[str],
    history: Sequence[Commit],
    tree: Tree,
    *,
    is_silent: bool,
) -> Iterator[Clue]:
    """Yield a clue for each file of code in the commits that made a record, touch it or name it.

    That it was made with a record tells enough only of a silent one, which no other clue is about.
    """
    names = (record.id, *record.words("tasks"), *record.scope.tasks)
    touching = [commit for commit in history if not record_files.isdisjoint(commit.files)]
    # A first commit has all there was.
    made_in = {commit.name for commit in touching[-1:] if is_silent and commit.parents}
    for commit in history:
        cited_name = next((name for name in names if _names_id(commit.message, name)), None)
        if cited_name is not None:
            words = f"commit {commit.short} names {cited_name}"
        elif commit.name in made_in:
            words = f"commit {commit.short} made both"
        elif commit in touching:
            words = f"commit {commit.short} touched both"
        else:
            continue

        is_telling = cited_name is not None or commit.name in made_in
        weight = SURE if is_telling and len(commit.files) <= FEW_FILES else LIKELY
        for path in commit.files:
            if path in tree.code and not is_test(path):
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
