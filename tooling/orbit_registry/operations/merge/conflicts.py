"""State of a merge in git, and the records that conflict in it, with the id of each afterwards.

Versions are read from the index's stages and from commits, never from conflict markers in the work
tree.
"""

import posixpath
import sys
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from orbit_registry.errors import GitError
from orbit_registry.model.ids import sequence_number
from orbit_registry.model.kind import Kind
from orbit_registry.model.rank import microseconds
from orbit_registry.model.record_set import RecordSet
from orbit_registry.operations.renumber import alias_ids, moved_document
from orbit_registry.repository.codec import data_in, mapping_in
from orbit_registry.repository.ids import new_ids, short_name
from orbit_registry.repository.record_path import kind_of_file
from orbit_registry.workspace.git import Git
from orbit_registry.workspace.workspace import ORBIT, Workspace

Side = Literal["base", "ours", "theirs"]
SIDES: tuple[Side, ...] = ("base", "ours", "theirs")
"""In the order of the index's stages 1, 2 and 3.

During a rebase, `ours` is the branch that is rebased onto.
"""


_OPERATIONS = (
    ("cherry-pick", "CHERRY_PICK_HEAD"),
    ("merge", "MERGE_HEAD"),
    ("revert", "REVERT_HEAD"),
)


@dataclass(frozen=True)
class MergeState:
    """A merge under way. Paths are from the workspace's root."""

    git: Git
    operation: str | None
    commits: Mapping[Side, str | None]
    """The commit of each side; None where the operation names none (a stash, a squash)."""
    unmerged: Mapping[str, Mapping[Side, str]]
    """Path → side → blob, for each path that git could not merge."""
    _texts: dict[tuple[Side, str], str | None] = field(default_factory=dict, repr=False)

    def text(self, side: Side, path: str) -> str | None:
        """Return a file's text on one side, line ends as the work tree has them;
        None where it has none.
        """
        if (side, path) not in self._texts:
            self._texts[side, path] = self._read(side, path)

        return self._texts[side, path]

    def _read(self, side: Side, path: str) -> str | None:
        name = f"{self.git.prefix}{path}"
        object_name = self._object_of(side, path, name)
        if object_name is None:
            return None

        try:
            data = self.git.run("cat-file", "--filters", f"--path={name}", object_name)
        except GitError:
            return None

        return data.decode("utf-8", "surrogateescape")

    def _object_of(self, side: Side, path: str, name: str) -> str | None:
        stages = self.unmerged.get(path)
        if stages is not None:
            return stages.get(side)

        # Of a stash or a squash git names no commit: what it merged without a conflict is in the
        # index.
        revision = self.commits[side]
        if not revision and side == "base":
            revision = self.commits["ours"]

        return f"{revision or ''}:{name}"

    def files_below(self, side: Side, folder: str) -> list[str]:
        """Return the files of a folder on one side, from the root."""
        staged = {
            path
            for path, stages in self.unmerged.items()
            if path.startswith(f"{folder}/") and side in stages
        }

        commit = self.commits[side]
        if commit:
            names = self.git.run_names(
                "ls-tree",
                "-r",
                "-z",
                "--name-only",
                commit,
                "--",
                f"{folder}/",
                check=False,
            )
            staged |= {name for name in names if name not in self.unmerged}

        return sorted(staged)

    def path_of_uid(self, side: Side, uid: str, folder: str) -> str | None:
        """Return the record file below a folder that has a uid on one side."""
        for path, stages in self.unmerged.items():
            is_candidate = path.startswith(f"{folder}/") and side in stages
            if is_candidate and _uid_in(self.text(side, path)) == uid:
                return path

        commit = self.commits[side]
        if not commit:
            return None

        arguments = ("grep", "-l", "-z", "-F", "--no-color", "-e", uid, commit, "--", folder)
        settings = ("-c", "grep.fullName=false")
        matches = self.git.run_names(*arguments, settings=settings, check=False)
        for match in matches:
            path = match.removeprefix(f"{commit}:")
            if _uid_in(self.text(side, path)) == uid:
                return path

        return None


def _rebase_folder(git: Git) -> Path | None:
    for name in ("rebase-merge", "rebase-apply"):
        where = git.ask("rev-parse", "--path-format=absolute", "--git-path", name)
        if where and Path(where).is_dir():
            return Path(where)

    return None


def rebased_tip(git: Git) -> str | None:
    """Return the commit that a rebase under way started from: the tip of the branch as it was."""
    folder = _rebase_folder(git)
    if folder is None:
        return None

    file = folder / "orig-head"
    if not file.is_file():
        return None

    return git.commit(file.read_text(encoding="ascii", errors="replace").strip())


def read_merge(workspace: Workspace) -> MergeState:
    """Return the merge under way; one without unmerged paths and operation where there is none."""
    git = workspace.git
    if git.top is None:
        message = "this is not a git repository, so there is nothing to resolve"
        raise GitError(message, hint="run it in the clone where the merge stopped")

    operation, theirs, base = _operation(git)
    commits: dict[Side, str | None] = {"base": base, "ours": git.head(), "theirs": theirs}
    return MergeState(git, operation, commits, _unmerged(git))


def _operation(git: Git) -> tuple[str | None, str | None, str | None]:
    """Return the operation under way, with the commits of `theirs` and of the base."""
    if _rebase_folder(git) is not None:
        picked = git.commit("REBASE_HEAD")
        parent = git.commit(f"{picked}^") if picked else None
        return "rebase", picked, parent

    for name, ref in _OPERATIONS:
        commit = git.commit(ref)
        if commit is None:
            continue

        if name == "merge":
            return name, commit, git.merge_base(commit)

        parent = git.commit(f"{commit}^")
        if name == "revert":
            return name, parent, commit

        return name, commit, parent

    return None, None, None


def _unmerged(git: Git) -> dict[str, dict[Side, str]]:
    stages_of: dict[str, dict[Side, str]] = {}
    for row in git.run_names("ls-files", "-u", "-z"):
        facts, _, path = row.partition("\t")
        mode, blob, stage = facts.split(" ")
        stages = stages_of.setdefault(posixpath.normpath(path), {})
        if mode.startswith("100"):
            stages[SIDES[int(stage) - 1]] = blob

    return stages_of


def _uid_in(text: str | None) -> str | None:
    data = data_in(text) or {}
    uid = data.get("uid")
    if isinstance(uid, str):
        return uid

    return None


@dataclass(frozen=True, slots=True)
class SideRecord:
    """A record's file on one side."""

    path: str
    data: Mapping[str, object]

    @property
    def id(self) -> str:
        """The id, as the file says: git may have followed a rename of its folder."""
        return str(self.data.get("id") or self.path.split("/")[-2])

    @property
    def folder(self) -> str:
        """The record's folder."""
        return self.path.rpartition("/")[0]

    @property
    def source(self) -> Mapping[str, object]:
        """The record's `source`; empty where it has no document."""
        return mapping_in(self.data, "source")

    @property
    def document(self) -> str:
        """The record's document; empty where it has none."""
        return str(self.source.get("path") or "")


@dataclass(slots=True)
class MergedRecord:
    """One record of the merge, known by its uid, with its file on each side that has it."""

    kind: Kind
    uid: str
    on: dict[Side, SideRecord] = field(default_factory=dict)
    final: str = ""  # the id it has after the merge
    aliases: tuple[str, ...] = ()  # new names, where the merge itself gives it a new number
    reason: str = ""

    @property
    def side(self) -> Side:
        """The side that brings the record in."""
        return next(side for side in reversed(SIDES) if side in self.on)

    @property
    def brought(self) -> SideRecord:
        """The record on that side."""
        return self.on[self.side]

    @property
    def title(self) -> str:
        """The record's title on that side."""
        return str(self.brought.data.get("title") or self.brought.id)

    @property
    def final_folder(self) -> str:
        """The record's folder after the merge."""
        homes = {side: here.folder.rpartition("/")[0] for side, here in self.on.items()}
        return f"{_settled(homes)}/{self.final}"

    def final_document(self, side: Side) -> str:
        """Return where the document of a side is after the merge; a log stays where it is."""
        if "heading" in self.on[side].source:
            return self.on[side].document
        if self.is_renumbered:
            return moved_document(self.brought.source, self.brought.id, self.final) or ""

        return _settled({other: here.document for other, here in self.on.items()})

    @property
    def is_renumbered(self) -> bool:
        """Say whether this merge gives the record a number that no side knew."""
        return all(here.id != self.final for here in self.on.values())


@dataclass(frozen=True, slots=True)
class MergedRecords:
    """The records of a merge, and the files whose records can't be told."""

    all: tuple[MergedRecord, ...]
    unreadable: Mapping[str, str]  # path → why

    def renames(self, side: Side) -> dict[str, str]:
        """Return what the ids of one side become."""
        there = [subject for subject in self.all if side in subject.on]
        pairs = ((subject.on[side].id, subject.final) for subject in there)
        return {old: new for old, new in pairs if old != new}

    def ids(self, side: Side) -> frozenset[str]:
        """Return the ids of these records on one side."""
        return frozenset(subject.on[side].id for subject in self.all if side in subject.on)


def find_records(workspace: Workspace, state: MergeState) -> MergedRecords:
    """Return the records in unmerged files, and those whose number another one took on a side."""
    by_uid: dict[str, MergedRecord] = {}
    unreadable: dict[str, str] = {}
    for path, stages in state.unmerged.items():
        kind = kind_of_file(workspace.kinds, path)
        if kind is None or not stages:
            continue

        staged = [side for side in SIDES if side in stages]
        broken = [side for side in staged if _uid_in(state.text(side, path)) is None]
        # A base alone tells what was removed.
        is_needed = broken != ["base"] or len(stages) < len(SIDES)
        if broken and is_needed:
            unreadable[path] = f"{broken[0]} holds no valid record"
            continue

        _add(by_uid, state, kind, path, staged)

    for kind in workspace.kinds:
        for path in _taken_over(state, kind) if kind.numbering == "sequence" else ():
            _add(by_uid, state, kind, path, SIDES)

    return MergedRecords(tuple(by_uid.values()), unreadable)


def _add(
    by_uid: dict[str, MergedRecord],
    state: MergeState,
    kind: Kind,
    path: str,
    sides: Iterable[Side],
) -> None:
    home = path.rsplit("/", 2)[0]
    for side in sides:
        uid = _uid_in(state.text(side, path))
        if uid is None or uid in by_uid:
            continue

        subject = by_uid[uid] = MergedRecord(kind, uid)
        for other in SIDES:
            other_path: str | None = path
            if _uid_in(state.text(other, path)) != uid:
                other_path = state.path_of_uid(other, uid, home)

            data = data_in(state.text(other, other_path)) if other_path else None
            if other_path and data is not None:
                subject.on[other] = SideRecord(other_path, data)


def _taken_over(state: MergeState, kind: Kind) -> list[str]:
    """Return the record files that the sides have for different records, and that git merged.

    In the later steps of a rebase it may merge an edit of a record into another with its number.
    """
    git = state.git
    base, *others = (state.commits[side] for side in SIDES)
    if not base or not all(others):
        return []

    changed: set[str] = set()
    for commit in map(str, others):
        arguments = ("--diff-filter=M", base, commit, "--", f"{ORBIT}/{kind.plural}")
        changed.update(git.differing(*arguments, check=False))

    uids: defaultdict[str, set[str | None]] = defaultdict(set)
    for commit in map(str, (base, *others)):
        for path, content in git.contents(commit, changed - state.unmerged.keys()).items():
            uids[path].add(_uid_in(content.decode("utf-8", "replace")))

    record_files = (path for path in sorted(uids) if path.endswith(f"/{kind.name}.yaml"))
    return [path for path in record_files if len(uids[path] - {None}) > 1]


def assign_ids(
    workspace: Workspace,
    state: MergeState,
    subjects: MergedRecords,
    records: RecordSet,
    *,
    claim: bool,
) -> None:
    """Give each record its id after the merge;
    `claim` takes new numbers, without it they are only looked up.
    """
    by_id: dict[tuple[str, str], list[MergedRecord]] = defaultdict(list)
    for subject in subjects.all:
        subject.final = _settled({side: here.id for side, here in subject.on.items()})
        by_id[subject.kind.name, subject.final].append(subject)

    here = {record.uid: record for record in records}
    fresh: dict[str, list[MergedRecord]] = defaultdict(list)
    for (kind_name, record_id), group in sorted(by_id.items()):
        if group[0].kind.numbering != "sequence":
            continue

        keeper = _keeper(state, group, record_id, records)
        for subject in group:
            if subject.uid == keeper:
                continue

            existing = here.get(subject.uid)
            if existing is not None and existing.id != subject.final:
                _renumber(subject, existing.id, records)
            else:
                fresh[kind_name].append(subject)

    for kind_name, subjects_of_kind in fresh.items():
        kind = workspace.kinds[kind_name]
        mine = sorted(subjects_of_kind, key=lambda loser: (loser.final, loser.uid))
        numbers = [sequence_number(subject.final, kind.prefix) or 0 for subject in mine]
        ids = new_ids(workspace, kind, len(mine), numbers, dry_run=not claim)

        for subject, record_id in zip(mine, ids, strict=True):
            _renumber(subject, record_id, records)


def _settled(values: Mapping[Side, str]) -> str:
    """Return the value after the merge: that of the side that changed it, ours if both did."""
    base, ours, theirs = map(values.get, SIDES)
    if ours and theirs:
        if ours == base:
            return theirs

        return ours

    return ours or theirs or base or ""


def _keeper(
    state: MergeState,
    group: list[MergedRecord],
    record_id: str,
    records: RecordSet,
) -> str:
    first = group[0]
    path = f"{first.final_folder.rpartition('/')[0]}/{record_id}/{first.kind.name}.yaml"
    by_uid = {subject.uid: subject for subject in group}
    existing = records.with_id(record_id)

    settled = existing[0] if path not in state.unmerged and len(existing) == 1 else None
    if settled is not None and settled.uid not in by_uid:
        keeper = settled.uid
        reason = f"{record_id} is {settled.title!r}, which is merged already"
    elif len(by_uid) == 1:
        return first.uid
    else:
        keeper, branch = _on_default_branch(state, path, by_uid) or (_oldest(group), "")
        title = by_uid[keeper].title
        reason = f"{record_id} is {title!r} on {branch}" if branch else f"{title!r} is older"

    for subject in group:
        subject.reason = reason if subject.uid != keeper else ""

    return keeper


def _on_default_branch(
    state: MergeState, path: str, uids: Collection[str]
) -> tuple[str, str] | None:
    git = state.git
    default = git.default_branch() or ""
    local = default.replace("refs/remotes/origin/", "refs/heads/")

    for branch in dict.fromkeys((default, local, "refs/heads/main", "refs/heads/master")):
        if not branch or not git.commit(branch):
            continue

        content = git.read(branch, path) or b""
        uid = _uid_in(content.decode("utf-8", "replace"))
        if uid is not None and uid in uids:
            return uid, short_name(branch)

    return None


def _oldest(group: list[MergedRecord]) -> str:
    def age(subject: MergedRecord) -> tuple[int, str]:
        created = microseconds(str(subject.brought.data.get("created_at")))
        if created is None:
            created = sys.maxsize

        return created, subject.uid

    return min(group, key=age).uid


def _renumber(subject: MergedRecord, record_id: str, records: RecordSet) -> None:
    old = subject.final
    others = [record for record in records if record.uid != subject.uid]
    subject.aliases = alias_ids(subject.title, subject.uid, old, others, bare=False)
    subject.final = record_id
