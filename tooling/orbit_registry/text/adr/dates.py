"""Reads the dates that decision documents state, in figures or with the month's name; it invents none."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable, Mapping
from typing import Literal

from orbit_registry.text.adr.words import MONTH_OF, plain

Order = Literal["day", "month"]
"""Which of a date's two numbers before the year comes first."""

_DATE = re.compile(r"\d{4}-\d\d(?:-\d\d)?(?![\w-])|\d{4}-\d\d-\d\d(?=T)")
_OF = r"(?:\.?,?[ -](?:de |del |of )?)"
_DATES = tuple(
    re.compile(form)
    for form in (
        r"(?P<y>(?:19|20)\d\d)-(?P<m>\d{1,2})-(?P<d>\d{1,2})(?![\w-])",
        r"(?P<y>(?:19|20)\d\d)[./年년][ ]?(?P<m>\d{1,2})[./月월][ ]?(?P<d>\d{1,2})(?![\w/])",
        r"(?P<y>(?:19|20)\d\d)[年년][ ]?(?P<m>\d{1,2})[月월][ ]?(?P<d>\d{1,2})[日일]",
        r"(?P<d>1[3-9]|2\d|3[01])[/-](?P<m>\d{1,2})[/-](?P<y>(?:19|20)\d\d)(?![\w/-])",  # no other order makes sense
        r"(?P<m>\d{1,2})[/-](?P<d>1[3-9]|2\d|3[01])[/-](?P<y>(?:19|20)\d\d)(?![\w/-])",
        r"0?(?P<d>\d{1,2})[/-]0?(?P<m>(?P=d))[/-](?P<y>(?:19|20)\d\d)(?![\w/-])",  # either order says the same
        r"(?P<d>\d{1,2})\.[ ]?(?P<m>\d{1,2})\.[ ]?(?P<y>(?:19|20)\d\d)(?!\w)",
        rf"(?P<d>\d{{1,2}})(?:st|[nr]d|th|er|º)?{_OF}(?P<m>[^\W\d_]{{3,12}}){_OF}(?P<y>(?:19|20)\d\d)(?!\w)",
        r"(?P<m>[^\W\d_]{3,12})\.?[ ](?P<d>\d{1,2})(?:st|[nr]d|th)?,?[ ](?P<y>(?:19|20)\d\d)(?!\w)",
        rf"(?P<m>[^\W\d_]{{3,12}}){_OF}(?P<y>(?:19|20)\d\d)(?!\w)",
    )
)

_SLASHED = re.compile(r"(?P<first>\d{1,2})[/-](?P<second>\d{1,2})[/-](?P<year>(?:19|20)\d\d)(?![\w/-])")
_MARKS = "*_`{}[]()<>\"' \t\r\n"
"""What stands around a date."""


def is_iso_date(text: str) -> bool:
    """Say whether `text` is a real `YYYY-MM` or `YYYY-MM-DD`."""
    try:
        datetime.date.fromisoformat(text if len(text) > 7 else f"{text}-01")
    except ValueError:
        return False
    return len(text) in (7, 10)


def read_date(text: str, order: Order | None = None) -> str | None:
    """Return the `YYYY-MM-DD` or `YYYY-MM` that a text begins with, in figures or with the month's name.

    `03/04/2026` takes an `order`: it is read differently in different countries. `17/04/2026` does not.
    """
    bare = text.strip(_MARKS)
    found = _read(bare, 0)
    if found is not None:
        return found[0]
    slashed = _SLASHED.match(bare) if order is not None else None
    if slashed is None:
        return None
    month, day = ("second", "first") if order == "day" else ("first", "second")
    iso = f"{slashed['year']}-{slashed[month]:0>2}-{slashed[day]:0>2}"
    return iso if is_iso_date(iso) else None


def is_of_two_orders(text: str) -> bool:
    """Say whether a text begins with a date that reads differently with the day or the month first."""
    return read_date(text) is None and read_date(text, "day") is not None and read_date(text, "month") is not None


def date_orders(dates: Iterable[tuple[str, str]]) -> Mapping[str, Order]:
    """Return the order that the dates of a folder agree on, from pairs of a folder and a date as it is written."""
    orders: dict[str, set[Order]] = {}
    for folder, written in dates:
        slashed = _SLASHED.match(written.strip(_MARKS))
        if slashed is not None and read_date(written) and int(slashed["first"]) != int(slashed["second"]):
            orders.setdefault(folder, set()).add("day" if int(slashed["first"]) > 12 else "month")
    return {folder: next(iter(found)) for folder, found in orders.items() if len(found) == 1}


def _read(text: str, at: int) -> tuple[str, int] | None:
    """Return the date that stands at an offset, and where it ends; None where what looks like one is none."""
    match = _DATE.match(text, at)
    if match:
        return (match.group(), match.end()) if is_iso_date(match.group()) else None
    for form in _DATES:
        match = form.match(text, at)
        if match:
            found = match.groupdict()
            month = found["m"] if found["m"].isdigit() else MONTH_OF.get(plain(found["m"]), "")
            iso = "-".join(part.zfill(2) for part in (found["y"], month, found.get("d") or "") if part)
            return (iso, match.end()) if month and is_iso_date(iso) else None
    return None
