"""What files and history show of decisions: gathered for all at once, kept until something changes.

It judges nothing: `built` does.
"""

from __future__ import annotations

import contextlib
import posixpath
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache, cached_property
from itertools import chain

from orbit_registry.errors import OrbitError, plural
from orbit_registry.formats.citations import numbered_name
from orbit_registry.formats.globs import GlobIndex, readable_globs
from orbit_registry.formats.links import is_markdown
from orbit_registry.formats.sources import (
    DATA_LIMIT,
    SOURCE_LIMIT,
    Purpose,
    is_foreign,
    is_readable_source,
    is_test,
    purposes,
)
from orbit_registry.formats.syntax import language_of
from orbit_registry.lifecycle.built import Evidence, EvidenceKind, Trace, Undone
from orbit_registry.lifecycle.commits import History, PastCommit, is_code
from orbit_registry.lifecycle.names import Names, forms_of, names_in, phrase_key, words_of
from orbit_registry.lifecycle.subjects import package_names
from orbit_registry.model.record import Record
from orbit_registry.search.source_files import SourceFiles
from orbit_registry.workspace.cache import to_row
from orbit_registry.workspace.files import inside, read_bytes, without_sites
from orbit_registry.workspace.workspace import ORBIT, Workspace

DAY = 86_400
BEFORE = 14 * DAY
"""Code that came so shortly before its document came with it."""
MOST_SHARE = 0.2
"""Share of the files that have a name which says nothing of any of them."""
FEW_FILES = 3
RECORD_SHARE, FEW_RECORDS = 0.05, 2
"""Share and number of the decisions that may have a name which still tells something."""
MOST_COMPARED = 8
"""Files with a name that are looked at as they were before the decision."""
MOST_FILES = 60
"""Files of code of a commit that made a document: a larger one has all kinds of things."""
INDEX_SHARE = 0.25
"""Share of the decisions that a file cites which lists them."""
FEWEST_LISTED = 8
SHORTEST_HASH = 7
MOST_LINKED = 4
"""Decisions that link one issue, which is about none of them then."""

_PROSE = re.compile(
    r"\.(?:md|mdx|markdown|rst|adoc|asciidoc|txt|tex|html?|svg|csv|po|lock|sum)$", re.I
)
_LISTING = re.compile(
    r"(?:^|/)(?:mkdocs|sidebars?|nav|CODEOWNERS|\.?(?:lychee|remark|markdownlint)[\w.-]*)(?:\.\w+)?$"
)


@dataclass(frozen=True)
class Surroundings:
    """The files and the history of a project, as far as they can show that decisions are built."""

    workspace: Workspace
    records: Sequence[Record]
    tracked: Sequence[str]
    history: History
    broken: Collection[str] = ()
    """Ids of records of which a check finds something."""

    @cached_property
    def files(self) -> Mapping[str, frozenset[str]]:
        """The names that each file has which may follow a decision, by its path."""
        documents = {record.source.path for record in self.records if record.source is not None}
        outside = without_sites(self.tracked, self.workspace.root)
        paths = [path for path in outside if _may_follow(path) and path not in documents]
        rows = self.workspace.cache.files(
            "names in code", self.workspace.root, paths, _names_row, limit=SOURCE_LIMIT
        )
        return {path: frozenset(row.value.split("\n")) for path, row in rows.items() if row.value}

    @cached_property
    def text(self) -> Callable[[str], str]:
        """Returns the text of a file in lower case; empty where it can't be read."""

        @cache
        def text(path: str) -> str:
            try:
                content = read_bytes(inside(self.workspace.root, path), limit=SOURCE_LIMIT)
            except OrbitError:
                return ""

            return content.decode("utf-8", "replace").lower()

        return text

    @cached_property
    def has_code(self) -> bool:
        """Whether some file is written in a language of code."""
        return any(language_of(path) is not None for path in self.files if is_code(path))

    @cached_property
    def files_by_name(self) -> Mapping[str, Sequence[str]]:
        """The files that have each name of a decision."""
        vocabulary: set[str] = set()
        for sought in self.sought.values():
            for forms in sought.values():
                vocabulary.update(forms)

        by_name: defaultdict[str, list[str]] = defaultdict(list)
        for path, words in self.files.items():
            for word in vocabulary & words:
                by_name[word].append(path)

        return by_name

    @cached_property
    def files_by_glob(self) -> Mapping[str, Sequence[str]]:
        """The files that each glob of a decision's scope matches: one look at each file."""
        texts = sorted(set(chain.from_iterable(record.globs for record in self.records)))
        index = GlobIndex((glob.text, [glob]) for glob in readable_globs(texts) if not glob.exclude)
        by_glob: defaultdict[str, list[str]] = defaultdict(list)
        for path in self.files:
            for text, _ in index.match(path):
                by_glob[text].append(path)

        return by_glob

    @cached_property
    def names(self) -> Mapping[str, Names]:
        """What each decision names, by the record's path."""
        by_path = {record.path: record for record in self.records}
        keys = {path: record.digest for path, record in by_path.items()}
        cache = self.workspace.cache
        rows = cache.values("decision names", keys, lambda path: to_row(names_in(by_path[path])))
        return {path: Names(*map(tuple, row)) for path, row in rows.items()}

    @cached_property
    def sought(self) -> Mapping[str, Mapping[str, Sequence[str]]]:
        """The forms in which code may write each name of a decision, by the record's path.

        A name that many decisions have tells nothing of any of them.
        """
        most = max(FEW_RECORDS, RECORD_SHARE * len(self.records))
        sought: dict[str, dict[str, Sequence[str]]] = {}
        for record in self.records:
            names = self.names[record.path]
            forms = {name: forms_of(name) for name in _scope_names(record)}
            for name in names.adopted:
                forms[name] = [*forms_of(name), *package_names(name)]
            for name in names.identifiers:
                if self.records_by_name[name.lower()] <= most:
                    forms.setdefault(name, forms_of(name))
            for phrase in names.phrases:
                if self.records_by_name[phrase] <= most:
                    forms.setdefault(phrase, [phrase_key(*phrase.split())])

            sought[record.path] = forms

        return sought

    @cached_property
    def records_by_name(self) -> Mapping[str, int]:
        """How many decisions have each name, in lower case."""
        counts: Counter[str] = Counter()
        for names in self.names.values():
            counts.update({name.lower() for name in names.identifiers})
            counts.update(set(names.phrases))

        return counts

    @cached_property
    def citing(self) -> Mapping[str, Sequence[tuple[str, int]]]:
        """The files of code that cite each record, each with its line; none that list many."""
        lines: defaultdict[str, dict[str, int]] = defaultdict(dict)
        for citation in self.sources.citations():
            record = self.sources.find(citation.name)
            if record is not None:
                first = lines[citation.path].get(record.path, citation.line)
                lines[citation.path][record.path] = min(first, citation.line)

        most = max(FEWEST_LISTED, INDEX_SHARE * len(self.records))
        citing: defaultdict[str, list[tuple[str, int]]] = defaultdict(list)
        for path in sorted(lines, key=_by_telling):
            is_list = len(lines[path]) > most or _LISTING.search(path)
            if not is_list and Purpose.MADE_UP not in purposes(path):
                for name, line in lines[path].items():
                    citing[name].append((path, line))

        return citing

    @cached_property
    def sources(self) -> SourceFiles:
        """The files of code, read for what they cite."""
        return SourceFiles(self.workspace, self.records, self.tracked)

    @cached_property
    def by_end(self) -> Mapping[str, Sequence[str]]:
        """The files by each end of their paths, and below each folder by its path."""
        by_end: defaultdict[str, list[str]] = defaultdict(list)
        for path in self.files:
            parts = path.split("/")
            for start in range(len(parts)):
                by_end["/".join(parts[start:])].append(path)
            for end in range(1, len(parts)):
                by_end["/".join(parts[:end]) + "/"].append(path)

        return by_end

    @cached_property
    def commits_by_name(self) -> Mapping[str, Sequence[PastCommit]]:
        """The commits whose messages have each name of a decision; those that change code."""
        by_name: defaultdict[str, list[PastCommit]] = defaultdict(list)
        for commit in self.history.commits:
            for name in commit.mentions if commit.files else ():
                by_name[name].append(commit)

        return by_name

    @cached_property
    def commits_by_issue(self) -> Mapping[int, Sequence[PastCommit]]:
        """The commits that name each issue or pull request; those that change code."""
        by_issue: defaultdict[int, list[PastCommit]] = defaultdict(list)
        for commit in self.history.commits:
            for number in commit.issues if commit.files else ():
                by_issue[number].append(commit)

        return by_issue

    @cached_property
    def commits_by_document(self) -> Mapping[str, PastCommit]:
        """The first commit that added a document of each name, if it has code too."""
        by_document: dict[str, PastCommit] = {}
        for commit in self.history.commits:
            for path in commit.documents:
                by_document[posixpath.basename(path)] = commit

        return by_document

    @cached_property
    def reverted(self) -> Mapping[str, PastCommit]:
        """What took each commit back, by its hash; nothing if that was taken back too."""
        by_name: defaultdict[str, list[PastCommit]] = defaultdict(list)
        for commit in self.history.commits:
            by_name[commit.name[:SHORTEST_HASH]].append(commit)
            by_name[commit.plain_subject].append(commit)

        undone: dict[str, PastCommit] = {}
        for commit in self.history.commits:
            for target in commit.reverts if commit.name not in undone else ():
                is_hash = re.fullmatch(r"[0-9a-f]{7,64}", target) is not None
                for other in by_name[target[:SHORTEST_HASH] if is_hash else target]:
                    if other.at <= commit.at and (not is_hash or other.name.startswith(target)):
                        undone.setdefault(other.name, commit)

        return undone

    @cached_property
    def issues(self) -> Mapping[str, Collection[int]]:
        """The numbers of this project's issues that each decision links, by the record's path."""
        addresses = self.workspace.git.web_addresses()
        linked: dict[str, set[int]] = {}
        counts: Counter[int] = Counter()
        for record in self.records:
            names = self.names[record.path]
            linked[record.path] = set(_own_issues(names.issues, addresses))
            counts.update(linked[record.path])

        common = {number for number, count in counts.items() if count > MOST_LINKED}
        return {path: numbers - common for path, numbers in linked.items()}

    @cached_property
    def shared_names(self) -> frozenset[str]:
        """Names in messages that may mean several records."""
        counts: Counter[str] = Counter()
        for record in self.records:
            counts.update(_message_names(record))

        return frozenset(name for name, count in counts.items() if count > 1)


def evidence_of(around: Surroundings, chosen: Iterable[Record]) -> dict[str, Evidence]:
    """Return the evidence for each chosen record, by its path."""
    plans = [_Plan.of(around, record) for record in chosen]
    before = _Before.of(around, plans)
    return {plan.record.path: _gathered(around, plan, before) for plan in plans}


@dataclass(frozen=True, slots=True)
class _Plan:
    """What is looked for: a record, when it was decided, and the files that have its names."""

    record: Record
    decided: float | None
    files_of: Mapping[str, Sequence[str]]

    @property
    def is_compared(self) -> bool:
        """Whether it matters if older files had the names before: of an accepted decision two names
        tell enough.
        """
        return self.record.phase == "pending" or sum(map(bool, self.files_of.values())) < 2

    @classmethod
    def of(cls, around: Surroundings, record: Record) -> _Plan:
        most = max(FEW_FILES, MOST_SHARE * len(around.files))
        files_of: dict[str, Sequence[str]] = {}
        for name, forms in around.sought[record.path].items():
            files: dict[str, None] = {}
            for form in forms:
                files.update(dict.fromkeys(around.files_by_name.get(form, ())))
            if len(files) <= most:
                files_of[name] = sorted(files, key=_by_telling)

        return cls(record, decided_at(around, record), files_of)


@cache
def _by_telling(path: str) -> tuple[bool, bool, str]:
    """Order files: code before tests, and both before configuration and pages."""
    return not is_code(path) or path.startswith("."), is_test(path), path


def _scope_names(record: Record) -> Iterator[str]:
    yield from record.uses
    yield from record.symbols


def decided_at(around: Surroundings, record: Record) -> float | None:
    """Return when a decision was made: its date, or the first commit of its document if earlier."""
    moments: list[float] = []
    date = record.text("date")
    if date:
        with contextlib.suppress(ValueError):
            moments.append(datetime.fromisoformat(date[:10]).replace(tzinfo=UTC).timestamp())

    source = record.source
    if source is not None and source.heading is None:
        born = around.history.born_at(source.path)
        if born is not None:
            moments.append(born)

    return min(moments, default=None)


@dataclass(frozen=True)
class _Before:
    """The names that files had before a decision, by the commit and the path."""

    around: Surroundings
    words: Mapping[tuple[str, str], frozenset[str]]

    @classmethod
    def of(cls, around: Surroundings, plans: Sequence[_Plan]) -> _Before:
        git = around.workspace.git
        wanted: dict[str, tuple[str, str]] = {}
        for plan in plans:
            commit = _commit_before(around, plan)
            if commit is None or not plan.is_compared:
                continue

            for files in plan.files_of.values():
                for path in _older(around, plan, files)[:MOST_COMPARED]:
                    wanted[f"{commit.name}:{git.prefix}{path}"] = commit.name, path

        words: dict[tuple[str, str], frozenset[str]] = {}
        for name, content in git.blobs(wanted, check=False).items():
            text = content[:SOURCE_LIMIT].decode("utf-8", "replace")
            words[wanted[name]] = frozenset(words_of(text))

        return cls(around, words)

    def is_new(self, plan: _Plan, name: str, files: Sequence[str]) -> bool:
        """Say whether the files have a name since the decision; unknown counts as not."""
        if plan.decided is None or self.around.history.born is None:
            return False

        commit = _commit_before(self.around, plan)
        if commit is None:
            # Older than the history is what another repository had before.
            return plan.decided >= self.around.history.start - BEFORE

        older = _older(self.around, plan, files)
        if not older or not plan.is_compared or len(older) > MOST_COMPARED:
            return not older

        forms = frozenset(self.around.sought[plan.record.path][name])
        earlier = [self.words.get((commit.name, path), frozenset()) for path in older]
        return not any(forms & words for words in earlier)


def _commit_before(around: Surroundings, plan: _Plan) -> PastCommit | None:
    if plan.decided is None:
        return None
    return around.history.before(plan.decided - BEFORE)


def _older(around: Surroundings, plan: _Plan, files: Sequence[str]) -> list[str]:
    """Return the files that were there before a decision."""
    decided = plan.decided or 0.0
    return [path for path in files if not _came_after(around, path, decided)]


def _came_after(around: Surroundings, path: str, decided: float) -> bool:
    born = around.history.born_at(path)
    return born is not None and born >= decided - BEFORE


def _gathered(around: Surroundings, plan: _Plan, before: _Before) -> Evidence:
    record = plan.record
    names = around.names[record.path]
    traces = [*_citations(around, record), *_checks(around, record), *_paths(around, plan)]
    traces += _commits(around, plan)

    about = {*names.adopted, *_scope_names(record)}
    unseen: list[str] = []
    for name, forms in around.sought[record.path].items():
        files = plan.files_of.get(name)
        if files is None:  # so many files have it that it tells nothing
            continue
        if not files:
            unseen.append(name)
            continue

        kind = EvidenceKind.TITLE if name in about else EvidenceKind.NAME
        is_new = before.is_new(plan, name, files)
        traces.append(Trace(kind, _has(around, files[0], name, forms), is_new))

    missing = [name for name in unseen if name in about]
    words = sum(" " not in name for name in unseen)
    seen = len(around.sought[record.path]) - len(unseen)
    return Evidence(traces, missing, words, seen, has_code=around.has_code)


def _has(around: Surroundings, path: str, name: str, forms: Sequence[str]) -> str:
    """Say in words that a file has a name: on which line, and in which other form."""
    text = around.text(path)
    joined = [name.replace(" ", sign) for sign in ("_", "-", "")]
    for form in (*forms_of(name), *joined):
        at = text.find(form)
        if at >= 0:
            return f"{path}:{_line(text, at)} has `{name}`"

    for form in forms:
        match = re.search(rf"(?<![\w-]){re.escape(form)}(?![\w-])", text)
        if match is not None:
            return f"{path}:{_line(text, match.start())} has `{form}`, which is {name}"

    return f"{path} has `{name}`"


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


def _citations(around: Surroundings, record: Record) -> Iterator[Trace]:
    citing = around.citing.get(record.path, ())
    for path, line in citing[:2]:
        yield Trace(EvidenceKind.CITES, f"{path}:{line} cites it")

    more = len(citing) - 2
    if more > 0:
        cite = "cites" if more == 1 else "cite"
        yield Trace(EvidenceKind.CITES, f"{plural(more, 'more file')} {cite} it")


def _checks(around: Surroundings, record: Record) -> Iterator[Trace]:
    checks = record.data.get("checks")
    if isinstance(checks, list) and checks and record.id not in around.broken:
        yield Trace(EvidenceKind.CHECK, "its checks hold" if len(checks) > 1 else "its check holds")


def _paths(around: Surroundings, plan: _Plan) -> Iterator[Trace]:
    for name in around.names[plan.record.path].paths:
        files = around.by_end.get(name) or around.by_end.get(f"{name}/", ())
        if not files or (len(files) > 1 and f"{name}/" not in around.by_end):
            continue
        yield _path_trace(around, plan, files, f"{name}, which it names,")

    for glob in readable_globs(plan.record.globs):
        files = around.files_by_glob.get(glob.text, ())
        if files and not glob.exclude:
            yield _path_trace(around, plan, files, f"{glob.text}, which its scope names,")


def _path_trace(around: Surroundings, plan: _Plan, files: Sequence[str], words: str) -> Trace:
    is_new = plan.decided is not None and all(
        _came_after(around, path, plan.decided) for path in files
    )
    came = "came with it or later" if is_new else "is there"
    return Trace(EvidenceKind.FILE, f"{words} {came}", is_new)


def _commits(around: Surroundings, plan: _Plan) -> Iterator[Trace]:
    """Yield a trace for each commit that is about a record."""
    record, seen = plan.record, set[str]()
    earliest = 0.0 if plan.decided is None else plan.decided - 2 * BEFORE
    naming: list[PastCommit] = []
    for name in _message_names(record):
        if name not in around.shared_names:
            naming += around.commits_by_name.get(name, ())

    for commit in naming:
        if commit.at >= earliest and commit.name not in seen:
            seen.add(commit.name)
            yield _commit_trace(around, commit, EvidenceKind.COMMIT, "names it and changed")

    if record.source is not None and record.source.heading is None:
        making = around.commits_by_document.get(posixpath.basename(record.source.path))
        if making is not None and making.name not in seen and _is_about_few(making):
            seen.add(making.name)
            yield _commit_trace(
                around, making, EvidenceKind.TOGETHER, "made its document and changed"
            )

    for number in sorted(around.issues[record.path]):
        for commit in around.commits_by_issue.get(number, ()):
            if commit.at >= earliest and commit.name not in seen:
                seen.add(commit.name)
                yield _commit_trace(
                    around,
                    commit,
                    EvidenceKind.LINKED,
                    f"names #{number}, which it links, and changed",
                )


def _is_about_few(commit: PastCommit) -> bool:
    return 0 < commit.files <= MOST_FILES and not commit.is_first


def _commit_trace(
    around: Surroundings, commit: PastCommit, kind: EvidenceKind, words: str
) -> Trace:
    changed = commit.code[0]
    if commit.files > 1:
        changed += f" and {commit.files - 1} more"

    trace = Trace(kind, f"commit {commit.short} {words} {changed}")
    undoing = around.reverted.get(commit.name)
    if undoing is not None:
        back = f"commit {undoing.short} took back commit {commit.short}, which {words} {changed}"
        return replace(trace, undone=Undone.REVERTED, words=back)
    if not any(map(around.history.is_there, commit.code)):
        back = f"commit {commit.short} {words} files that are gone: {changed}"
        return replace(trace, undone=Undone.GONE, words=back)

    return trace


def _message_names(record: Record) -> list[str]:
    """Return what a message may call a record: `adr-12`, the name of its document, its tasks."""
    names: dict[str, None] = {}
    for name in (record.id, *record.legacy_ids, *record.words("tasks"), *record.scope.tasks):
        numbered = numbered_name(name.rpartition("/")[2])
        if numbered is not None:
            names.setdefault(f"{numbered.word.lower()}-{numbered.number}")

    if record.source is not None and record.source.heading is None:
        names.setdefault(posixpath.splitext(posixpath.basename(record.source.path))[0].lower())

    return list(names)


def _own_issues(issues: Iterable[str], addresses: Collection[str]) -> Iterator[int]:
    """Yield the numbers of those issues that are this project's: `#12`, `owner/name#12`."""
    for issue in issues:
        repository, _, number = issue.partition("#")
        if not repository or any(address.endswith(f"/{repository}") for address in addresses):
            yield int(number)


def _may_follow(path: str) -> bool:
    is_ours = not path.startswith(f"{ORBIT}/") and not is_foreign(path)
    return (
        is_ours
        and not _PROSE.search(path)
        and not is_markdown(path)
        and Purpose.MADE_UP not in purposes(path)
    )


def _names_row(path: str, content: bytes) -> object:
    """Return what the cache keeps of a file: the names in it and in its path."""
    is_read = is_readable_source(path, content)
    if not is_read and (len(content) > DATA_LIMIT or b"\0" in content[:8_000]):
        return ""

    # One text: JSON and the search for secrets are faster than with a list.
    names = words_of(content.decode("utf-8", "replace")) | words_of(path)
    return "\n".join(sorted(names))
