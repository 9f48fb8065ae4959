"""Dates as records write them: `2026-04` and `2026-04-01`."""

import datetime
import re

_ISO_DATE = re.compile(r"[0-9]{4}-[0-9]{2}(?:-[0-9]{2})?")  # Python also reads a week: `2026-W14-1`


def is_iso_date(text: str) -> bool:
    """Say whether `text` is a valid `YYYY-MM` or `YYYY-MM-DD`."""
    try:
        datetime.date.fromisoformat(text if len(text) > 7 else f"{text}-01")
    except ValueError:
        return False
    return _ISO_DATE.fullmatch(text) is not None


def first_day(text: str) -> datetime.date | None:
    """Return the day on which a `YYYY-MM` or `YYYY-MM-DD` begins; None for any other text."""
    if is_iso_date(text):
        return datetime.date.fromisoformat(f"{text}-01"[:10])

    return None
