"""What says the same as another record is refused: one judgement, in the words of each door."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from orbit_registry.checks.duplicates import Neighbour
from orbit_registry.doors.answers.call import Call
from orbit_registry.doors.answers.records import clean
from orbit_registry.doors.render.hits import duplicate_message, override_hint
from orbit_registry.errors import RefusedError
from orbit_registry.formats.wording import normalised
from orbit_registry.model.record import Record


@dataclass(frozen=True, slots=True)
class _Steps:
    """What to do in place of a copy, how to say that it is none, and the commands."""

    instead: str
    apart: str
    commands: Sequence[str] = ()


def refuse_copies(call: Call, near: Sequence[Neighbour], task: str | None = None) -> None:
    """Raise if one of the records near to a new one says the same."""
    same = next((neighbour for neighbour in near if neighbour.is_duplicate), None)
    if same is None:
        return

    neighbour = replace(same, record=clean(same.record))
    steps = _steps(call, neighbour.record, task)
    hint = f"{steps.instead}; {override_hint(neighbour, steps.apart)}"
    raise RefusedError(duplicate_message(neighbour), hint=hint, next_commands=steps.commands)


def refuse_same_title(call: Call, new: Record, apart: Sequence[str] = ()) -> None:
    """Raise if an open decision, which is not named as `apart`, has the title of a new one."""
    same = _same_title(call, new, apart)
    if same is None:
        return

    existing = clean(same)
    steps = _steps(call, existing)
    raise RefusedError(
        f"{existing.id} ({existing.status.name}) has the same title: {existing.title}",
        hint=f"{steps.instead}; if the two differ, {steps.apart}",
        next_commands=steps.commands,
    )


def _same_title(call: Call, new: Record, apart: Sequence[str]) -> Record | None:
    records = call.registry.collection.records
    ids = {records.get(any_id).id for any_id in apart}
    title = normalised(new.title)
    for record in records.of_kind("adr"):
        is_other = record.phase == "closed" or record.id in ids or record.uid == new.uid
        if not is_other and normalised(record.title) == title:
            return record

    return None


def _steps(call: Call, existing: Record, task: str | None = None) -> _Steps:
    may_vote = existing.kind.voted and existing.phase == "live"
    if call.caller is not None:
        instead = f"`show` {existing.id}"
        if may_vote:
            instead = f'`vote` {{"id": "{existing.id}", "task": …}} strengthens it'

        return _Steps(instead, f'call again with "distinct_from": ["{existing.id}"]')

    apart = f"add `--distinct-from {existing.id}`"
    show = f"orbit show {existing.id}"
    if not may_vote:
        return _Steps(f"`{show}`", apart, [show])

    votes = f"orbit {existing.kind.name} vote {existing.id} --task {task or 'TASK'}"
    return _Steps(f"`{votes}` strengthens it", apart, [votes, show])
