"""What happened to records, as their fields tell it: proposed, accepted by whom, superseded,
edited.
"""

from typing import NamedTuple

from orbit_registry.lifecycle.built import State
from orbit_registry.model.record import Record
from orbit_registry.site.language import status_word, word
from orbit_registry.site.relations import Relations
from orbit_registry.site.words import date_of, is_adopted, states_none, status_css


class Event(NamedTuple):
    """What happened to a record last: a day, a verb, and who did it ("" if no person is named)."""

    day: str
    verb: str
    person: str
    record: Record
    about: str = ""
    """The subject of the commit that edited it."""
    others: int = 0
    """To how many other records the same happened."""

    @property
    def css(self) -> str:
        """The classes of its verb: an edit has no colour."""
        if self.is_edit:
            return ""

        return status_css(self.record.status)

    @property
    def is_edit(self) -> bool:
        """Whether only its text changed."""
        return self.verb == word("event.edited")


def event_of(record: Record, relations: Relations) -> Event:
    """Return what happened to a record last, as its fields tell it.

    Of a decision that was adopted unchanged, the day is the one that its document states.
    """
    created, updated = (_day(record, name) for name in ("created_at", "updated_at"))
    verb = _verb(record, relations)
    if record.phase == "closed" and (later := relations.replaced_by(record)):
        superseded = word("event.superseded", ids=", ".join(later))
        return Event(_replaced_on(record, relations), superseded, "", record)
    if (approved := _day_of(record.approval.get("approved_at"))) and approved == updated:
        return Event(updated, verb, str(record.approval.get("approved_by") or ""), record)
    if is_adopted(record):
        return _adopted(record, verb)
    if created == updated:
        done = verb if record.kind.in_document else word("event.added")
        return Event(updated, done, _author(record), record)
    if record.phase == "closed":
        return Event(updated, verb, "", record)

    return Event(updated, word("event.edited"), "", record)


def _adopted(record: Record, verb: str) -> Event:
    """Return the event of a decision that was adopted unchanged: without a date all that is known
    is when its document came into git.
    """
    day = date_of(record)[:10]
    if not day and record.first_commit:
        return Event(record.first_commit, word("event.added"), "", record)

    return Event(day, verb, ", ".join(record.words("deciders")[:2]), record)


def _verb(record: Record, relations: Relations) -> str:
    """Return what was done to a record, as a word: its status, where that says so."""
    if states_none(record):
        return word("event.added")

    built = relations.built.get(record.path)
    if record.phase == "live" and built is not None and built.state is State.BUILT:
        return f"{status_word(record.status)}, {word('event.built')}"

    return status_word(record.status)


def _replaced_on(record: Record, relations: Relations) -> str:
    if not is_adopted(record):
        return _day(record, "updated_at")

    later = (relations.by_id.get(any_id) for any_id in relations.replaced_by(record))
    days = [date_of(successor)[:10] for successor in later if successor is not None]
    return max([date_of(record)[:10], *days])


def _day(record: Record, name: str) -> str:
    return _day_of(record.text(name))


def _day_of(moment: object) -> str:
    return str(moment or "")[:10]


def _author(record: Record) -> str:
    author = record.data.get("created_by")
    if isinstance(author, dict):
        return str(author.get("name") or "")

    return ""


def history_of(record: Record, relations: Relations) -> list[Event]:
    """Return what is known of a record's way, the first event first, of a day the last one."""
    events = []
    if not is_adopted(record):
        verb = word("event.written" if record.kind.in_document else "event.added")
        events.append(Event(_day(record, "created_at"), verb, _author(record), record))

    approved = _day_of(record.approval.get("approved_at"))
    if approved:
        person = str(record.approval.get("approved_by") or "")
        events.append(Event(approved, word("status.approved"), person, record))

    events.append(event_of(record, relations))
    by_day = {event.day: event for event in events if event.day}
    return [by_day[day] for day in sorted(by_day)]
