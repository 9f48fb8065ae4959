"""Links between records, and globs in their scopes: add and remove."""

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from functools import partial

from orbit_registry.errors import RefusedError, UsageError
from orbit_registry.model.ids import OVERRIDES, RELATED, SUPERSEDES, Link, relation
from orbit_registry.model.record import Record
from orbit_registry.model.record_set import RecordSet
from orbit_registry.operations.edits import change_fields, plan_change
from orbit_registry.operations.link_targets import UNRESOLVED, without_answered
from orbit_registry.repository.codec import list_in, mapping_in
from orbit_registry.repository.guard import write_step
from orbit_registry.repository.writer import prepare_edit, writing
from orbit_registry.workspace.author import Author
from orbit_registry.workspace.journal import FileChange
from orbit_registry.workspace.workspace import Workspace


def link(
    workspace: Workspace,
    records: RecordSet,
    subject: str,
    word: str,
    target: str,
    author: Author,
    reason: str = "",
) -> tuple[Record, Link]:
    """Let one record state a link to another; return it and the link.

    `amended_by` is written at its other end.
    """
    if word in records:
        hint = f"the relation is between the two: `orbit link {subject} related_to {word}`"
        raise UsageError(f"`{word}` is a record, not a relation", hint=hint)

    record = records.get(subject)
    if record.uid == records.get(target).uid:
        raise RefusedError(f"{record.id} can't be linked to itself", hint="name another record")

    rel, inverted = _relation(records, subject, word, target)
    start, end = _ends(records, subject, target, inverted)
    if rel == OVERRIDES and not (end.origin and reason):
        hint = "`orbit fleet update` fetches records; give the reason with --reason TEXT"
        raise UsageError(
            "a record overrides an inherited one, such as org:ADR-0007, for a reason",
            hint=hint,
        )

    if rel == RELATED and Link(rel, start.id) in end.links:
        raise RefusedError(
            f"{end.id} {rel} {start.id} is stated already",
            hint="it reads the same from both ends",
        )

    def linked(data: dict[str, object]) -> Mapping[str, object]:
        links = list_in(data, "links")
        if any(_matches(entry, rel, _names(end)) for entry in links):
            raise RefusedError(
                f"{start.id} {rel} {end.id} is stated already",
                hint=f"`orbit related {start.id}`",
            )

        entry = {"rel": rel, "to": end.id}
        if reason:
            entry["reason"] = reason

        return without_answered({**data, "links": [*links, entry]}, rel, end)

    with writing(workspace):
        result, changes = plan_change(workspace, start.id, linked)
        changes += _answered(workspace, end, rel, start)
        write_step(workspace, f"{start.kind.name}-update", changes, author=author)

    return result, Link(rel, end.id)


def _answered(workspace: Workspace, end: Record, rel: str, start: Record) -> list[FileChange]:
    """Return the change of the other end, if its document states the same link and left it open."""
    if UNRESOLVED not in end.data or end.origin:
        return []

    edit = partial(without_answered, rel=rel, other=start, is_inverted=True)
    change, _ = prepare_edit(workspace, end, edit)
    if edit(end.data) != end.data:
        return [change]

    return []


def unlink(
    workspace: Workspace,
    records: RecordSet,
    subject: str,
    word: str,
    target: str,
    author: Author,
) -> tuple[Record, Link]:
    """Take back a link that a record states; `target` may be a name that no record has."""
    rel, inverted = _relation(records, subject, word, target)
    if target in records or inverted:
        start, end = _ends(records, subject, target, inverted)
        if rel == RELATED and Link(rel, start.id) in end.links:
            start, end = end, start

        names = _names(end)
    else:
        start, names = records.get(subject), (target,)

    def unlinked(data: dict[str, object]) -> Mapping[str, object]:
        links = list_in(data, "links")
        remaining = [entry for entry in links if not _matches(entry, rel, names)]
        if len(remaining) == len(links):
            hint = (
                f"`orbit show {start.id}` lists its links; what its text refers to goes with "
                f"the text"
            )
            raise RefusedError(f"{start.id} states no link {rel} {names[0]}", hint=hint)

        if remaining:
            return {**data, "links": remaining}

        return {key: value for key, value in data.items() if key != "links"}

    return change_fields(workspace, start.id, unlinked, author=author), Link(rel, names[0])


_USUAL = {
    "supersede": "supersedes",
    "replace": "supersedes",
    "replaces": "supersedes",
    "clarifies": "amends",
    "clarified by": "amended_by",
    "clarified-by": "amended_by",
    "clarified_by": "amended_by",
    "refines": "amends",
    "revises": "amends",
    "updates": "amends",
    "depends on": "references",
    "depends-on": "references",
    "depends_on": "references",
}
"""Words that other tools have for relations, among them the one that is no link, so that the
answer names the command for it.
"""


def _relation(records: RecordSet, subject: str, word: str, target: str) -> tuple[str, bool]:
    verb = word.strip().lower()
    rel, inverted = relation(_USUAL.get(verb, word))
    if rel == SUPERSEDES:
        old, new = (subject, target) if inverted else (target, subject)
        hint = (
            f"`orbit {records.get(old).kind.name} supersede {old} --with {new}`; to undo "
            f"one, edit both records"
        )
        raise UsageError(f"{word} is not a link: a record that is replaced is closed", hint=hint)

    return rel, inverted


def _ends(records: RecordSet, subject: str, target: str, inverted: bool) -> tuple[Record, Record]:
    first, other = records.get(subject), records.get(target)
    if inverted:
        return (other, first)

    return (first, other)


def _names(record: Record) -> tuple[str, ...]:
    return (record.id, *record.legacy_ids)


def _matches(entry: object, rel: str, names: Sequence[str]) -> bool:
    return isinstance(entry, Mapping) and entry.get("rel") == rel and entry.get("to") in names


def add_to_scopes(
    workspace: Workspace,
    additions: Sequence[tuple[Record, Mapping[str, Sequence[str]]]],
    *,
    write: bool,
) -> list[FileChange]:
    """Return the changes that add entries to lists of the records' scopes, such as `paths`;
    `write` writes them, all or none.
    """
    with writing(workspace) if write else nullcontext():
        changes: list[FileChange] = []
        for record, lists in additions:
            if not any(lists.values()):
                continue

            change, _ = prepare_edit(workspace, record, partial(_with_scope, lists))
            if change.before != change.after:
                changes.append(change)

        if write:
            write_step(workspace, "scope-suggest", changes)

    return changes


def _with_scope(
    lists: Mapping[str, Sequence[str]], data: dict[str, object]
) -> Mapping[str, object]:
    scope = {**mapping_in(data, "scope")}
    for name, entries in lists.items():
        if entries:
            scope[name] = [*dict.fromkeys((*list_in(scope, name), *entries))]

    return {**data, "scope": scope}
