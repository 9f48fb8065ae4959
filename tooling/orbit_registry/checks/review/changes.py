"""What a change does to the records: those that apply to its files, those it edits,
and what the gate finds.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from textwrap import shorten

from orbit_registry.checks.engine import gate
from orbit_registry.checks.review.touched import touched_by
from orbit_registry.errors import GitError
from orbit_registry.lifecycle.history import brought_by
from orbit_registry.lifecycle.touches import Touch
from orbit_registry.lifecycle.unwritten import Candidate, unwritten
from orbit_registry.matching.match import Match, current_index, match, scope_widths
from orbit_registry.matching.visibility import Visibility, surroundings_of, visibilities
from orbit_registry.model.diagnostic import Diagnostic
from orbit_registry.model.fields import PATH
from orbit_registry.model.reach import is_cited_only
from orbit_registry.model.record import Record
from orbit_registry.model.record_set import RecordSet
from orbit_registry.repository.ids import branches_with_another
from orbit_registry.repository.reader import Reading
from orbit_registry.workspace.files import without_sites
from orbit_registry.workspace.git import Git
from orbit_registry.workspace.workspace import ORBIT, Workspace, open_workspace

_STATE = f"{ORBIT}/state/"
_UNSHOWN = frozenset({"updated_at", "schema_version"})  # fields that change with others
_COMPARED = ("status", "title", "summary", "authority")  # fields whose values are shown
_LONGEST = 80
MOST_NEW = 10  # decisions that a change adds, whose question is compared


@dataclass(frozen=True, slots=True)
class FieldChange:
    """A field that differs; the values are empty where only its name is shown."""

    name: str
    before: str = ""
    after: str = ""

    def __str__(self) -> str:
        if self.name == "scope":
            return " ".join(filter(None, ("scope", self.before, self.after)))
        if not self.before and not self.after:
            return self.name

        before, after = (
            shorten(value, _LONGEST, placeholder=" …") if value else "none"
            for value in (self.before, self.after)
        )
        return f"{self.name}: {before} → {after}"


@dataclass(frozen=True, slots=True)
class RecordChange:
    """A record that the change adds, changes, removes or makes unreadable (`what`)."""

    what: str
    record: Record
    fields: tuple[FieldChange, ...] = ()
    visibility: Visibility | None = None
    """Where agents are shown a record that the change adds."""

    def brings(self, name: str) -> bool:
        """Say whether the change adds the record, or changes this field of it."""
        return self.what == "added" or any(field.name == name for field in self.fields)

    def as_data(self) -> dict[str, object]:
        """Return it as JSON shows it."""
        record = self.record
        return {
            "change": self.what,
            "id": record.id,
            "kind": record.kind.name,
            "status": record.status.name,
            "title": record.title,
            "record": record.path,
            "fields": [
                {"name": field.name, "before": field.before, "after": field.after}
                for field in self.fields
            ],
            "visibility": None if self.visibility is None else self.visibility.as_data(),
        }


@dataclass(frozen=True, slots=True)
class Collision:
    """A number of the change that other branches gave to another record."""

    record: Record
    branches: tuple[str, ...]

    def as_data(self) -> dict[str, object]:
        """Return it as JSON shows it."""
        return {"id": self.record.id, "record": self.record.path, "branches": list(self.branches)}


@dataclass(frozen=True, slots=True)
class Touched:
    """A decision that the change adds or accepts, and those on the same question."""

    record: Record
    touches: tuple[Touch, ...]

    def as_data(self) -> dict[str, object]:
        """Return it as JSON shows it."""
        return {
            "id": self.record.id,
            "record": self.record.path,
            "touches": [touch.as_data(self.record) for touch in self.touches],
        }


@dataclass(frozen=True, slots=True)
class ChangeReport:
    """What a change does to the records."""

    base: str
    base_name: str  # the revision as given
    head: str  # the commit; empty for the work tree
    files: tuple[str, ...]
    matches: tuple[
        Match, ...
    ]  # accepted records that apply to the files, the narrowest scopes first
    records: tuple[RecordChange, ...]
    collisions: tuple[Collision, ...]
    allowed: tuple[Diagnostic, ...]  # broken decisions that a comment of the change allows
    findings: tuple[Diagnostic, ...]  # what the gate finds that it did not find before the change
    touches: tuple[Touched, ...]
    unwritten: tuple[Candidate, ...]  # what looks like a decision that no record explains
    titles: Mapping[str, str]  # of the records, by path; those of matches are escaped for agents

    def title(self, match: Match) -> str:
        """Return the title of a record that applies."""
        return self.titles.get(str(match.row.values[PATH]), str(match.as_data()["title"]))

    def as_data(self) -> dict[str, object]:
        """Return the report as JSON shows it; the findings are in the envelope."""
        matches = []
        for entry in self.matches:
            matches.append({**entry.as_data(), "title": self.title(entry)})

        data: dict[str, object] = {"base": self.base, "head": self.head or None}
        data["files"] = list(self.files)
        data["matches"] = matches
        data["records"] = [change.as_data() for change in self.records]
        data["collisions"] = [number.as_data() for number in self.collisions]
        data["touches"] = [touched.as_data() for touched in self.touches]
        data["allowed"] = [_allowance(finding) for finding in self.allowed]
        data["unwritten"] = [candidate.as_data() for candidate in self.unwritten]
        return data


def _allowance(finding: Diagnostic) -> dict[str, object]:
    """Return a broken decision that a comment of the change allows, as JSON shows it."""
    position = finding.location.position
    return {
        "path": finding.location.path,
        "line": position.line if position else None,
        "check": finding.check,
        "reason": finding.allowed,
    }


def compare(workspace: Workspace, revisions: str) -> ChangeReport:
    """Return what BASE..HEAD, or BASE for the work tree, does to the records;
    it begins at their merge base.
    """
    git = workspace.git
    start, dots, end = revisions.partition("..")
    head = _commit(git, end.removeprefix(".") or "HEAD")
    base = git.merge_base(_commit(git, start), head)
    if base is None:
        if git.is_shallow:
            hint = "fetch the history: `git fetch --unshallow`"
        else:
            hint = "name a branch of this repository"

        raise GitError(f"{start} and {end or 'HEAD'} share no commit", hint=hint)

    is_work_tree = not dots or (
        head == git.head() and not git.run("status", "--porcelain=v1", "-z", "--", ".")
    )
    with (
        nullcontext(workspace.root) if is_work_tree else git.checked_out(head) as folder,
        git.checked_out(base) as old,
    ):
        current = workspace if is_work_tree else open_workspace(folder)
        changed = {*current.git.differing(base, "--", ".")}
        if not dots:
            changed.update(without_sites(current.git.untracked(), current.root))

        files = tuple(sorted(changed))

        after = _records(current.root)
        changes = _record_changes(_records(old), after, current.root)
        records = tuple(_with_visibility(current, [*changes]))
        matches = tuple(_matches(current, files))
        collisions = tuple(_collisions(git, records))
        touches = tuple(_touches(current, after, records))
        unwritten = tuple(_unwritten(current, base, files, after))
        outcome = gate(current, partial(Reading, current), against=base)
        return ChangeReport(
            base=base,
            base_name=start,
            head=head if dots else "",
            files=files,
            matches=matches,
            records=records,
            collisions=collisions,
            touches=touches,
            unwritten=unwritten,
            allowed=outcome.allowed,
            findings=outcome.diagnostics,
            titles={record.path: record.title for record in after},
        )


def _commit(git: Git, revision: str) -> str:
    commit = git.commit(revision)
    if commit is None:
        git.require()
        raise git.names_no_commit(revision)

    return commit


def _records(folder: Path) -> RecordSet:
    if not (folder / ORBIT).is_dir():
        return RecordSet(())
    reading = Reading(open_workspace(folder))
    return reading.prose.filled(reading.collection.records)


def _matches(workspace: Workspace, files: Iterable[str]) -> list[Match]:
    index = current_index(workspace)
    widths = scope_widths(workspace, index)
    matches = match(workspace, [file for file in files if not file.startswith(f"{ORBIT}/")])
    project = [
        entry for entry in matches if not entry.is_personal and entry.row.number < index.pushed
    ]

    def position(entry: Match) -> tuple[bool, int]:
        return is_cited_only(entry.matched_by), widths.get(entry.row.number, 0)

    return sorted(project, key=position)  # stable: then in rank order


def _touches(
    workspace: Workspace, records: RecordSet, changes: Sequence[RecordChange]
) -> Iterator[Touched]:
    """Yield what the decisions that a change adds or accepts touch.

    A change that brings many of them adopts a collection, in which everything is near something.
    """
    news = [
        change.record
        for change in changes
        if change.record.kind.in_document
        and change.record.phase != "closed"
        and change.brings("status")
    ]
    if len(news) > MOST_NEW:
        return

    for new, touched in zip(news, touched_by(workspace, records, news), strict=True):
        if touched:
            yield Touched(new, tuple(touched))


def _unwritten(
    workspace: Workspace, base: str, files: Iterable[str], records: RecordSet
) -> Sequence[Candidate]:
    trees = brought_by(workspace, base, files)
    if trees is None:
        return ()

    return unwritten(*trees, records)


def _record_changes(before: RecordSet, after: RecordSet, root: Path) -> Iterator[RecordChange]:
    """Yield what differs; a record that moved has its uid at another path,
    a copy has it at a second one.
    """
    old = {(record.uid, record.path): record for record in before}
    new = {
        (record.uid, record.path): record for record in after if not record.path.startswith(_STATE)
    }
    moved = {uid: record for (uid, path), record in old.items() if (uid, path) not in new}
    compared = {key: old[key] if key in old else moved.pop(key[0], None) for key in new}

    for key, record in new.items():
        previous = compared[key]
        if previous is None:
            yield RecordChange("added", record)
        elif fields := tuple(_field_changes(previous, record)):
            yield RecordChange("changed", record, fields)

    paths = {path for _, path in new}
    for record in moved.values():
        is_unreadable = record.path not in paths and (root / record.path).is_file()
        yield RecordChange("unreadable" if is_unreadable else "removed", record)


def _with_visibility(
    workspace: Workspace, changes: Sequence[RecordChange]
) -> Iterator[RecordChange]:
    added = [change.record for change in changes if change.what == "added"]
    judged = visibilities(added, surroundings_of(workspace)) if added else {}
    for change in changes:
        is_added = change.what == "added"
        yield replace(change, visibility=judged[change.record.path]) if is_added else change


def _field_changes(before: Record, after: Record) -> Iterator[FieldChange]:
    if before.id != after.id:
        yield FieldChange("id", before.id, after.id)

    differing = [
        name
        for name in dict.fromkeys((*_COMPARED, *after.data, *before.data))
        if name not in _UNSHOWN and name != "id" and before.data.get(name) != after.data.get(name)
    ]
    for name in differing:
        if name == "scope":
            yield FieldChange("scope", *_scope_difference(before, after))
        elif name in _COMPARED:
            yield FieldChange(name, before.text(name) or "", after.text(name) or "")
        else:
            yield FieldChange(name)

    if before.prose != after.prose and before.kind.prose not in differing:
        yield FieldChange("text")


def _scope_difference(before: Record, after: Record) -> tuple[str, str]:
    """Return what the scope no longer has, each entry after `-`,
    and what is new in it, after `+`.
    """
    old, new = map(_scope_words, (before, after))
    removed = " ".join(f"-{entry}" for entry in old if entry not in new)
    return removed, " ".join(f"+{entry}" for entry in new if entry not in old)


def _scope_words(record: Record) -> list[str]:
    words = [*record.globs, *record.symbols]
    words += [f"uses:{name}" for name in record.uses]
    return [*words, *(f"#{tag}" for tag in record.tags)]


def _collisions(git: Git, changes: Sequence[RecordChange]) -> Iterator[Collision]:
    numbered = [
        change.record
        for change in changes
        if change.record.kind.numbering == "sequence" and change.brings("id")
    ]
    branches: dict[str, list[str]] = {}
    for kind in {record.kind.name: record.kind for record in numbered}.values():
        uids = {record.id: record.uid for record in numbered if record.kind.name == kind.name}
        branches |= branches_with_another(git, kind, uids)

    yield from (
        Collision(record, tuple(branches[record.id]))
        for record in numbered
        if record.id in branches
    )
