"""The timeline: each dated record is in one column and in the list, over any length of time."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orbit_registry.model.kind import load_kinds
from orbit_registry.model.record import Record
from orbit_registry.site.timeline import MOST_COLUMNS, has_timeline, timeline_html

ADR = load_kinds()["adr"]


def decisions(*dates: str, status: str = "accepted") -> list[Record]:
    return [
        Record(
            ADR,
            {"id": f"ADR-{number:04d}", "title": "<b>", "status": status, "date": date},
            f"{number}.yaml",
        )
        for number, date in enumerate(dates, 1)
    ]


@given(st.lists(st.dates(), min_size=2, max_size=30))
def test_every_dated_record_is_listed(days: list[object]) -> None:
    records = decisions(*map(str, days), "", "2026", "soon")
    if not has_timeline(ADR, records):
        return
    html = timeline_html(ADR, records)
    assert len(re.findall(r"<time>", html)) == len(days)
    assert "3 whose month is not stated" in html
    assert len(re.findall(r'<i>|<a href="#', html)) <= MOST_COLUMNS
    assert "<b></span>" not in html


@pytest.mark.parametrize(
    ("first", "last", "columns", "ticks"),
    [
        ("2026-01", "2026-03", 3, ["2026-01", "2026-02", "2026-03"]),
        ("2024-06", "2026-03", 22, ["2025", "2026"]),
        ("2026-02", "2026-11", 10, ["2026-02"]),
        ("2016-06", "2026-03", 40, [str(year) for year in range(2017, 2027)]),
        ("1999-01", "2026-03", 28, [str(year) for year in range(1999, 2027, 3)]),
    ],
)
def test_a_long_time_has_fewer_columns(
    first: str, last: str, columns: int, ticks: list[str]
) -> None:
    html = timeline_html(ADR, decisions(first, last)).partition("<h2")[0]
    assert len(re.findall(r'<i>|<a href="#', html)) == columns
    assert re.findall(r"<small>([^<]{4,})</small>", html) == ticks


def test_a_column_is_divided_by_status() -> None:
    records = [
        *decisions("2026-01", "2026-01", "2026-02"),
        *decisions("2026-01", status="proposed"),
    ]
    records[-1] = Record(ADR, {**records[-1].data, "id": "ADR-0009"}, "9.yaml")
    html = timeline_html(ADR, records)
    assert 'aria-label="2026-01: 3 decisions"' in html
    assert 'viewBox="0 0 1 4"' in html
    heights = re.findall(r'<rect class="orbit-(\w+) [^"]*" y="(\d)" width="1" height="(\d)"', html)
    assert sorted(heights[:2]) == [("live", "1", "2"), ("pending", "3", "1")]


def test_a_single_month_is_no_timeline() -> None:
    assert not has_timeline(ADR, decisions("2026-01-01", "2026-01-30", "2026"))
