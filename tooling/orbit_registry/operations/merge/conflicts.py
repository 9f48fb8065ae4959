"""Records that conflict in a merge, and the id of each afterwards."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from orbit_registry.formats.adr.reader import read_document
from orbit_registry.model.ids import sequence_id, sequence_number
from orbit_registry.model.kind import Kind
from orbit_registry.model.record_set import RecordSet
from orbit_registry.model.votes import parse_time
from orbit_registry.operations.merge.state import SIDES, MergeState, Side, data_in, uid_in
from orbit_registry.operations.renumber import alias_ids
from orbit_registry.repository.documents import LOG_NAME
from orbit_registry.repository.ids import new_ids
from orbit_registry.workspace.workspace import ORBIT, Workspace


@dataclass(slots=True)
class MergedRecord:
    """One record of the merge, known by its uid, with its file and id on each side that has it."""

    kind: Kind
    uid: str
    paths: dict[Side, str] = field(default_factory=dict)
    texts: dict[Side, str] = field(default_factory=dict)
    final: str = ""
    """The id it has after the merge."""
    aliases: tuple[str, ...] = ()
    """New names, where the merge itself gives it a new number."""
    reason: str = ""

    def id_on(self, side: Side) -> str | None:
        """Return the id the record has on a side, as its file says: git may have followed a rename of its folder."""
        if side not in self.texts:
            return None
        return str((data_in(self.texts[side]) or {}).get("id") or self.paths[side].split("/")[-2])

    @property
    def home(self) -> str:
        """The folder of the kind's records that holds it."""
        return next(iter(self.paths.values())).rsplit("/", 2)[0]

    @property
    def final_path(self) -> str:
        """The record's file after the merge."""
        return f"{self.home}/{self.final}/{self.kind.name}.yaml"

    def unmerged_path(self, state: MergeState) -> str:
        """Return the record's file that is in conflict, else its final one."""
        return next((path for path in self.paths.values() if path in state.unmerged), self.final_path)

    @property
    def is_renumbered(self) -> bool:
        """Say whether this merge gives the record a number that no side knew."""
        return self.final not in {self.id_on(side) for side in self.paths}

    @property
    def side(self) -> Side:
        """The side that brings the record in."""
        return "theirs" if "theirs" in self.texts else "ours" if "ours" in self.texts else "base"

    @property
    def data(self) -> Mapping[str, object]:
        """The record's data on that side."""
        return data_in(self.texts[self.side]) or {}

    @property
    def title(self) -> str:
        """The record's title on that side."""
        return str(self.data.get("title") or self.id_on(self.side))

    @property
    def source(self) -> Mapping[str, object]:
        """The record's `source` on that side; empty where it has no document."""
        value = self.data.get("source")
        return value if isinstance(value, Mapping) else {}


@dataclass(frozen=True, slots=True)
class MergedRecords:
    """The records of a merge, and the files whose records can't be told."""

    all: tuple[MergedRecord, ...]
    unreadable: Mapping[str, str]
    """Path → why."""

    def renames(self, side: Side) -> dict[str, str]:
        """Return what the ids of one side become."""
        pairs = ((subject.id_on(side), subject.final) for subject in self.all)
        return {old: new for old, new in pairs if old is not None and old != new}

    def ids(self, side: Side) -> frozenset[str]:
        """Return the ids of these records on one side."""
        return frozenset(record_id for subject in self.all if (record_id := subject.id_on(side)) is not None)


def find_records(workspace: Workspace, state: MergeState) -> MergedRecords:
    """Return the records in unmerged files, and those with entries in unmerged logs under a contested number."""
    by_uid: dict[str, MergedRecord] = {}
    unreadable: dict[str, str] = {}
    for path, stages in state.unmerged.items():
        kind = kind_of(workspace, path)
        if kind is None or not stages:
            continue
        broken = [side for side in SIDES if side in stages and uid_in(state.text(side, path)) is None]
        is_needed = broken != ["base"] or len(stages) < len(SIDES)  # a base alone tells what was removed
        if broken and is_needed:
            unreadable[path] = f"{broken[0]} holds no valid record"
            continue
        _add(by_uid, state, kind, path, stages)
    for kind in workspace.kinds:
        if kind.numbering == "sequence":
            logs = _contested_in_logs(state, kind) if kind.in_document else []
            for path in dict.fromkeys((*logs, *_mixed_records(state, kind))):
                _add(by_uid, state, kind, path, SIDES)
    return MergedRecords(tuple(by_uid.values()), unreadable)


def kind_of(workspace: Workspace, path: str) -> Kind | None:
    """Return the kind of the record file at a path; None if it is no record file."""
    parts = path.split("/")
    kind = workspace.kinds.of_plural(parts[-3]) if len(parts) > 3 and parts[0] == ORBIT else None
    return kind if kind is not None and parts[-1] == f"{kind.name}.yaml" else None


def _add(by_uid: dict[str, MergedRecord], state: MergeState, kind: Kind, path: str, sides: Iterable[Side]) -> None:
    """Add each record that one of the sides has at a path, with where the other sides have it."""
    home = path.rsplit("/", 2)[0]
    for uid in dict.fromkeys(uid_in(state.text(side, path)) for side in SIDES if side in sides):
        if uid is None or uid in by_uid:
            continue
        subject = by_uid[uid] = MergedRecord(kind, uid)
        for side in SIDES:
            side_path = path if uid_in(state.text(side, path)) == uid else state.path_of_uid(side, uid, home)
            text = state.text(side, side_path) if side_path else None
            if side_path and text is not None:
                subject.paths[side], subject.texts[side] = side_path, text


def _contested_in_logs(state: MergeState, kind: Kind) -> list[str]:
    """Return the record files whose id means different records on the sides of an unmerged log."""
    paths: dict[str, None] = {}
    for path, stages in state.unmerged.items():
        if path.rpartition("/")[2] != LOG_NAME or len(stages) < 2 or state.is_oversized(path):
            continue
        texts: dict[int, set[str]] = defaultdict(set)
        for side in stages:
            text = state.text(side, path) or ""
            for entry in read_document(text, path).entries:
                texts[int(entry.number or 0)].add(entry.span.of(text).rstrip())
        for number in (number for number, versions in texts.items() if len(versions) > 1):
            record_id = sequence_id(kind.prefix, number)
            record_file = f"{ORBIT}/{kind.file_of(record_id)}"
            uids = {uid_in(state.text(side, record_file)) for side in SIDES} - {None}
            if record_file not in state.unmerged and len(uids) > 1:
                paths[record_file] = None
    return list(paths)


def _mixed_records(state: MergeState, kind: Kind) -> list[str]:
    """Return the record files in which git merged an edit of one record into another that has its number by now.

    That happens in the later steps of a rebase, after a record of the first was renumbered.
    """
    paths = _changed_on_both(state, kind)
    return [path for path in paths if len({uid_in(state.text(side, path)) for side in SIDES} - {None}) > 1]


def add_shared(workspace: Workspace, state: MergeState, subjects: MergedRecords) -> MergedRecords:
    """Return the subjects with the records that both sides changed and git merged by line: both may name one number,
    and mean two records.
    """
    by_uid = {subject.uid: subject for subject in subjects.all}
    if any(subjects.renames(side) for side in SIDES):
        for kind in workspace.kinds:
            for path in _changed_on_both(state, kind):
                _add(by_uid, state, kind, path, SIDES)
    for subject in by_uid.values():
        subject.final = subject.final or _merged_id(subject)
    return MergedRecords(tuple(by_uid.values()), subjects.unreadable)


def _changed_on_both(state: MergeState, kind: Kind) -> list[str]:
    """Return the record files that both sides changed since the base and that git could merge."""
    base = state.commits["base"]
    changed: list[set[str]] = []
    for side in ("ours", "theirs"):
        commit = state.commits[side]
        if not base or not commit:
            return []
        arguments = ("diff", "--name-only", "-z", "--relative", "--no-renames", "--no-ext-diff", "--diff-filter=M")
        changed.append({*state.git.run_names(*arguments, base, commit, "--", f"{ORBIT}/{kind.plural}", check=False)})
    both = sorted(path for path in changed[0] & changed[1] if path.endswith(f"/{kind.name}.yaml"))
    return [path for path in both if path not in state.unmerged]


def assign_ids(
    workspace: Workspace, state: MergeState, subjects: MergedRecords, records: RecordSet, *, claim: bool
) -> None:
    """Give each record its id after the merge.

    Of two records under one id, the one that the default branch has keeps it, else the older one. `claim` takes the
    new numbers for good; without it they are only looked up.
    """
    by_id: dict[tuple[str, str], list[MergedRecord]] = defaultdict(list)
    for subject in subjects.all:
        subject.final = _merged_id(subject)
        by_id[subject.kind.name, subject.final].append(subject)
    here = {record.uid: record for record in records}
    losers: list[MergedRecord] = []
    for (_, record_id), group in sorted(by_id.items()):
        kind = group[0].kind
        if kind.numbering != "sequence":
            continue
        keeper = _keeper(state, group, record_id, records)
        losers += [subject for subject in group if subject.uid != keeper]
    fresh: list[MergedRecord] = []
    for subject in losers:
        existing = here.get(subject.uid)
        if existing is not None and existing.id != subject.final:
            _renumber(subject, existing.id, records)
        else:
            fresh.append(subject)
    for kind_name in dict.fromkeys(subject.kind.name for subject in fresh):
        kind = workspace.kinds[kind_name]
        mine = sorted((new for new in fresh if new.kind.name == kind_name), key=lambda loser: (loser.final, loser.uid))
        numbers = [sequence_number(subject.final, kind.prefix) or 0 for subject in mine]
        ids = new_ids(workspace, kind, len(mine), numbers, dry_run=not claim)
        for subject, record_id in zip(mine, ids, strict=True):
            _renumber(subject, record_id, records)


def _merged_id(subject: MergedRecord) -> str:
    """Return the record's id before conflicts: one side may have renumbered it since the base."""
    base, ours, theirs = (subject.id_on(side) for side in SIDES)
    if ours and theirs:
        return theirs if ours == base else ours
    return ours or theirs or base or ""


def _keeper(state: MergeState, group: list[MergedRecord], record_id: str, records: RecordSet) -> str:
    """Return the uid of the record that keeps an id, and note why on the others."""
    path = f"{group[0].home}/{record_id}/{group[0].kind.name}.yaml"
    existing = records.with_id(record_id)
    settled = existing[0].uid if path not in state.unmerged and len(existing) == 1 else None
    uids = {subject.uid for subject in group}
    if settled is not None and settled not in uids:
        uids.add(settled)
        keeper, reason = settled, f"{record_id} is {existing[0].title!r}, which is merged already"
    elif len(uids) == 1:
        return group[0].uid
    else:
        keeper, branch = _on_default_branch(state, path, uids) or (_oldest(group), "")
        title = next(subject.title for subject in group if subject.uid == keeper)
        reason = f"{record_id} is {title!r} on {branch}" if branch else f"{title!r} is older"
    for subject in group:
        subject.reason = reason if subject.uid != keeper else ""
    return keeper


def _on_default_branch(state: MergeState, path: str, uids: set[str]) -> tuple[str, str] | None:
    git = state.git
    default = git.default_branch()
    for branch in dict.fromkeys((default, _local(default), "refs/heads/main", "refs/heads/master")):
        content = git.read(branch, path) if branch and git.commit(branch) else None
        uid = uid_in(content.decode("utf-8", "replace")) if content is not None else None
        if branch and uid in uids:
            short = branch.removeprefix("refs/heads/").removeprefix("refs/remotes/")
            return uid, short
    return None


def _local(branch: str | None) -> str | None:
    return f"refs/heads/{branch.removeprefix('refs/remotes/origin/')}" if branch else None


def _oldest(group: list[MergedRecord]) -> str:
    def age(subject: MergedRecord) -> tuple[float, str]:
        try:
            return parse_time(str(subject.data.get("created_at"))).timestamp(), subject.uid
        except ValueError:
            return float("inf"), subject.uid

    return min(group, key=age).uid


def _renumber(subject: MergedRecord, record_id: str, records: RecordSet) -> None:
    old = subject.final
    others = [record for record in records if record.uid != subject.uid]
    subject.aliases = alias_ids(subject.title, subject.uid, old, others, bare=False)
    subject.final = record_id
