"""A new decision: what refuses it, and what is answered once it is written."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from orbit_registry.doors.answers.answer import Answer
from orbit_registry.doors.answers.notes import doubts, visibility_of
from orbit_registry.doors.render.hits import near_lines, neighbours_data, show_commands
from orbit_registry.doors.render.records import record_data
from orbit_registry.doors.render.touched import touches_lines
from orbit_registry.errors import RefusedError
from orbit_registry.formats.wording import normalised
from orbit_registry.model.record import Record
from orbit_registry.operations.adr import AddResult, NewAdr
from orbit_registry.registry import Registry
from orbit_registry.repository.ids import IN_THE_TREE


def same_title(registry: Registry, new: Record, apart: Sequence[str] = ()) -> Record | None:
    """Return an open decision with the title of a new one that is not named as `apart` from it."""
    records = registry.collection.records
    ids = {records.get(any_id).id for any_id in apart}
    title = normalised(new.title)
    for record in records.of_kind("adr"):
        is_other = record.phase == "closed" or record.id in ids or record.uid == new.uid
        if not is_other and normalised(record.title) == title:
            return record

    return None


def refuse_same_title(registry: Registry, new: Record, apart: Sequence[str] = ()) -> None:
    """Raise if an open decision has the title of a new one."""
    same = same_title(registry, new, apart)
    if same is not None:
        show = f"orbit show {same.id}"
        raise RefusedError(
            f"{same.id} ({same.status.name}) has the same title: {same.title}",
            hint=f"`{show}`; if the two differ, add `--distinct-from {same.id}`",
            next_commands=[show],
        )


def new_decision(registry: Registry, request: NewAdr, added: AddResult, *, dry_run: bool) -> Answer:
    """Return the answer to a new decision: what is written, what is like it, what comes next."""
    record = added.record
    with_text = replace(record, prose=request.body or "")
    near = registry.neighbours(with_text)
    touched = registry.touches(with_text)
    judged, unknown = visibility_of(registry, [record])
    judgement = judged.get(record.path)

    waits = record.phase == "pending" and not dry_run and registry.author().role != "agent"
    accept = [f"orbit accept {record.id}"] if waits else []
    replacing = []
    if record.phase != "live":
        replacing = [f"orbit adr supersede {old} --with {record.id}" for old in request.supersedes]

    lines = [*_written_lines(added, dry_run=dry_run)]
    when = f"; when its text is complete, with a cost: {accept[0]}" if accept else ""
    lines.append(f"{record.status.name}{when}")
    if record.phase == "live":
        verb = "would supersede" if dry_run else "supersedes"
        lines += [f"{verb} {old}" for old in record.supersedes or request.supersedes]
    elif replacing:
        lines.append(f"once it is accepted: {'; '.join(replacing)}")

    if judgement is not None and not judgement.is_obvious:
        lines += judgement.lines()

    lines += touches_lines(record, touched, is_written=not dry_run)
    text = "\n  ".join([f"{record.id}  {record.title}", *lines])

    data: dict[str, object] = {**record_data(record)}
    data |= {"document": added.document, "above": added.above, "dry_run": dry_run}
    data["visibility"] = None if judgement is None else judgement.as_data()
    data["neighbours"] = neighbours_data(near)
    data["touches"] = [touch.as_data(record, is_written=not dry_run) for touch in touched]

    following = [f"edit {added.document}", *accept, *replacing, *show_commands(near), "orbit check"]
    notes = [*unknown, *near_lines(near), *doubts(registry, record)]
    return Answer(data, text, following, notes)


def _written_lines(added: AddResult, *, dry_run: bool) -> Iterator[str]:
    if added.above and IN_THE_TREE not in added.above:
        yield f"the highest number so far is {added.above}"

    would = "would write " if dry_run else ""
    yield f"{would}{added.document}"
    yield f"{would}{added.record.path}"
