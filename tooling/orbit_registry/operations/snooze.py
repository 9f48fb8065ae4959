"""Put a review off to a later month, and write down that someone looked at the record."""

from collections.abc import Mapping
from datetime import UTC, date, datetime

from orbit_registry.errors import RefusedError, UsageError
from orbit_registry.formats.dates import first_day
from orbit_registry.model.record import Record
from orbit_registry.model.review import has_review
from orbit_registry.model.votes import format_time
from orbit_registry.repository.guard import refuse_closed, write_step
from orbit_registry.repository.reader import read_collection
from orbit_registry.repository.writer import prepare_edit, writing
from orbit_registry.workspace.author import Author
from orbit_registry.workspace.workspace import Workspace

MONTHS = 6
"""How far a review is put off where nothing is said."""


def snooze(workspace: Workspace, any_id: str, until: str | None, author: Author) -> Record:
    """Have a record reviewed later; its file keeps the date and when someone looked at it."""
    now = datetime.now(UTC)
    month = until or _months_after(now.date())
    day = first_day(month)
    if day is None:
        raise UsageError(f"{month!r} is not a month or a day", hint="write 2027-03 or 2027-03-31")
    if day <= now.date():
        raise UsageError(f"{month} has come already", hint="name a later month: `--until 2027-09`")

    with writing(workspace):
        record = read_collection(workspace).records.get(any_id)
        refuse_closed(record)
        if not has_review(record.kind.schema.document["properties"]):
            raise RefusedError(
                f"{record.id} is {record.kind.with_article}, which has no date of a review",
                hint=f"`orbit verify {record.id}` says that it still holds",
            )

        def edit(data: dict[str, object]) -> Mapping[str, object]:
            return {**data, "review_by": month, "reviewed_at": format_time(now)}

        change, result = prepare_edit(workspace, record, edit)
        write_step(workspace, f"{record.kind.name}-snooze", [change], author=author)
        return result


def _months_after(day: date) -> str:
    months = day.year * 12 + day.month - 1 + MONTHS
    return f"{months // 12}-{months % 12 + 1:02}"
