"""A date in figures with slashes is read where one order alone makes sense."""

from __future__ import annotations

import pytest

from orbit_registry.text.adr.dates import read_date


@pytest.mark.parametrize(
    ("written", "date"),
    [
        ("17/08/2020", "2020-08-17"),
        ("17-8-2020", "2020-08-17"),
        ("08/17/2020", "2020-08-17"),
        ("31/12/1999", "1999-12-31"),
        ("03/04/2026", None),
        ("12/12/2026", None),
        ("17/13/2020", None),
        ("31/02/2020", None),
        ("17/08/20", None),
        ("17/08/2020/1", None),
    ],
)
def test_slashes_are_read_where_they_are_clear(written: str, date: str | None) -> None:
    """A number above twelve is the day; two below it could be either, and what no calendar has is no date."""
    assert read_date(written) == date
