"""Whether the moments that a record states are in the calendar."""

import re
from collections.abc import Iterator, Mapping
from datetime import date

from orbit_registry.formats.dates import first_day, is_iso_date
from orbit_registry.model.votes import time_in

_FIELDS = ("created_at", "updated_at", "reviewed_at")
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}(?:-[0-9]{2})?")
_EXACT = re.compile(rf"{_DAY.pattern}(?:T.*)?")
REMEDY = "write a moment of the calendar: RFC 3339 with a zone, such as 2027-01-31T00:00:00Z"
MOST_YEARS = 10
"""How far ahead a review may be."""
DAY_REMEDY = "write a month or a day of the calendar, such as 2027-03 or 2027-03-31"


def is_moment(text: str) -> bool:
    """Say whether a text is a moment with its zone that the calendar has."""
    return time_in(text) is not None


def is_date(text: str) -> bool:
    """Say whether a text is a month, a day or a moment that the calendar has."""
    if _DAY.fullmatch(text):
        return is_iso_date(text)

    return is_moment(text)


def is_review_day(text: str) -> bool:
    """Say whether a text is a month or a day of the calendar, from which on a review is due."""
    return first_day(text) is not None


def is_too_far(text: str, today: date) -> bool:
    """Say whether a month or a day of a review is so far ahead that it was mistyped."""
    day = first_day(text)
    if day is None:
        return False

    return (day.year - MOST_YEARS, day.month, day.day) > (today.year, today.month, today.day)


def impossible_moments(data: Mapping[str, object]) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield where a record states a moment that no calendar has, and its text."""
    for name in _FIELDS:
        value = data.get(name)
        if isinstance(value, str) and not is_moment(value):
            yield (name,), value

    day = data.get("date")
    if isinstance(day, str) and _looks_exact(day) and not is_date(day):
        yield ("date",), day

    review_by = data.get("review_by")
    if isinstance(review_by, str) and not is_review_day(review_by):
        yield ("review_by",), review_by

    for group in ("approval", "freshness"):
        fields = data.get(group)
        for name, value in fields.items() if isinstance(fields, Mapping) else ():
            if str(name).endswith("_at") and not is_moment(str(value)):
                yield (group, str(name)), str(value)


def _looks_exact(text: str) -> bool:
    """Say whether a date is in the form of records; documents may say `spring 2024`."""
    return _EXACT.fullmatch(text) is not None
