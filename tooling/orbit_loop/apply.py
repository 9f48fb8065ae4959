"""Application of an approved proposal: its diff, written into the file."""

from __future__ import annotations

import re
from collections.abc import Mapping

from orbit_loop.patch import Conflict, added_lines, apply_diff, digest_of, removes_lines
from orbit_loop.proposals import ADDITIVE, KIND, path_of
from orbit_registry.errors import RefusedError
from orbit_registry.formats.diff import unified_diff
from orbit_registry.formats.untrusted import HIDDEN
from orbit_registry.hook.events import APPLIED
from orbit_registry.model.record import Record
from orbit_registry.model.record_set import RecordSet
from orbit_registry.operations.lifecycle import refuse_transition
from orbit_registry.repository.guard import write_step
from orbit_registry.repository.reader import read_collection
from orbit_registry.repository.skills import head, is_skill
from orbit_registry.repository.writer import FIXED, prepare_edit, validated, writing
from orbit_registry.workspace.author import Author
from orbit_registry.workspace.event_log import write_event
from orbit_registry.workspace.files import DOCUMENT_LIMIT, inside, read_text
from orbit_registry.workspace.journal import FileChange
from orbit_registry.workspace.workspace import Workspace


def apply(
    workspace: Workspace, any_id: str, author: Author, *, dry_run: bool = False, expected: str = ""
) -> tuple[Record, str]:
    """Write an approved proposal into its file; return it and the diff.

    `expected` is the digest of the diff read.
    """
    with writing(workspace):
        records = read_collection(workspace).records
        proposal = records.get(any_id)
        _refuse_unready(proposal, bool(expected) or dry_run)
        path, diff = path_of(proposal), proposal.text("diff") or ""
        target = _target(records, proposal, path)

        before = read_text(inside(workspace.root, path), limit=DOCUMENT_LIMIT)
        after = apply_diff(diff, path, before)
        if isinstance(after, Conflict):
            raise _conflict_error(proposal, path, after)

        changes = [FileChange(path, before, after)]

        if target is not None:
            _refuse_other(target, validated(after, target.kind, path))
        else:
            _refuse_more_than_text(proposal, diff, before, after)

        current_diff = unified_diff(path, before, after)
        if expected not in ("", digest_of(current_diff)):
            message = (
                f"{proposal.id} would not do what was read: the digest of its diff is "
                f"{digest_of(current_diff)}"
            )
            raise RefusedError(
                message, hint=f"read it again: `orbit apply {proposal.id} --dry-run`"
            )

        closing, closed = prepare_edit(
            workspace, proposal, lambda data: {**data, "status": APPLIED}
        )

        if dry_run:
            return proposal, current_diff

        write_step(workspace, "proposal-apply", [*changes, closing], author=author)

    write_event(workspace, APPLIED, [proposal.id], {"path": path})
    return closed, current_diff


def _refuse_unready(proposal: Record, is_read: bool) -> None:
    if proposal.kind.name != KIND:
        raise RefusedError(
            f"{proposal.id} is not a proposal", hint="`orbit proposal list` names those there are"
        )

    if proposal.status.name != "approved":
        if proposal.phase == "pending":
            hint = f"`orbit accept {proposal.id}` first"
        else:
            hint = f"`orbit show {proposal.id}`"

        raise RefusedError(
            f"{proposal.id} is {proposal.status.name}; what is approved is applied alone", hint=hint
        )

    if proposal.data.get("drift") != ADDITIVE:
        hint = f"work it in by hand, then `orbit proposal done {proposal.id}`"
        raise RefusedError(f"{proposal.id} is a note: it has no diff to apply", hint=hint)

    approved = proposal.approval.get("change")
    if approved is None and not is_read:
        hint = (
            f"read what `orbit apply {proposal.id} --dry-run` prints, and give its digest to "
            f"--expect"
        )
        raise RefusedError(f"{proposal.id} does not say which diff was approved", hint=hint)

    if approved not in (None, proposal.change_digest):
        hint = f"`orbit proposal reject {proposal.id}`"
        raise RefusedError(f"{proposal.id} does not say any more what was approved", hint=hint)


def _target(records: RecordSet, proposal: Record, path: str) -> Record | None:
    target = proposal.data["target"]
    record_id = target.get("record") if isinstance(target, Mapping) else None
    if record_id is None and is_skill(path):
        return None

    record = records.get(str(record_id)) if record_id is not None else None
    if record is None or record.path != path or record.kind.in_document:
        message = f"{path} is neither a skill nor the file of the record that {proposal.id} names"
        raise RefusedError(message, hint=f"`orbit proposal reject {proposal.id}`")

    return record


def _refuse_more_than_text(proposal: Record, diff: str, before: str, after: str) -> None:
    problems = {
        "takes lines away, and is said to add alone": removes_lines(diff),
        "changes the head of the page, which says what the skill may do": head(before)
        != head(after),
        "adds invisible characters": re.search(HIDDEN, "\n".join(added_lines(diff))),
    }
    for problem, is_so in problems.items():
        if is_so:
            raise RefusedError(
                f"{proposal.id} {problem}", hint=f"`orbit proposal reject {proposal.id}`"
            )


def _refuse_other(before: Record, after: Record) -> None:
    """Refuse a diff that changes more of a record than its words and its status:
    a reviewer reads words.
    """
    if (before.id, before.uid) != (after.id, after.uid):
        raise RefusedError(f"it would make another record of {before.id}", hint="reject it")

    words = {"title", "summary", before.kind.headline, before.kind.prose, "status", "updated_at"}
    keys = sorted({*before.data, *after.data} - {"status", "updated_at"})
    changed = [name for name in keys if before.data.get(name) != after.data.get(name)]
    if forged := [name for name in changed if name in FIXED | before.kind.schema.managed]:
        raise RefusedError(
            f"it would change `{forged[0]}` of {before.id}, which verbs alone write",
            hint="reject it",
        )

    if other := [name for name in changed if name not in words]:
        hint = (
            f"a note says it (`drift: structural`); `orbit {before.kind.name} update "
            f"{before.id}` does it by name"
        )
        raise RefusedError(
            f"it would change `{other[0]}` of {before.id}, which is not in it", hint=hint
        )

    if before.status.name != after.status.name:
        refuse_transition(before, after.status.name)


def _conflict_error(proposal: Record, path: str, conflict: Conflict) -> RefusedError:
    here = f"{path}:{conflict.line}" if conflict.line else path
    done = (
        f"`orbit proposal done {proposal.id}` if the file says it already, or change it by "
        f"hand first"
    )
    hint = f"the file changed since: {done}; else `orbit proposal reject {proposal.id}`"
    return RefusedError(f"{proposal.id} does not fit {here}: {conflict.message}", hint=hint)
