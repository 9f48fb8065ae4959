"""Drawings: votes are bars with words."""

import re
from datetime import UTC, date, datetime

import pytest

from orbit_registry.model.kind import load_kinds
from orbit_registry.model.votes import Vote, by_month
from orbit_registry.site.record_page import article, sparkline


def vote(at: str, task: str) -> Vote:
    return Vote("L-1", "m", datetime.fromisoformat(at).replace(tzinfo=UTC), task)


def test_votes_are_counted_by_month() -> None:
    votes = [
        vote("2026-11-30T23:59:59", "a"),
        vote("2026-11-01T00:00:00", "b"),
        vote("2026-11-02T00:00:00", "b"),
        vote("2026-10-31T23:59:59", "c"),
        vote("2025-12-01T00:00:00", "d"),
        vote("2025-11-30T00:00:00", "e"),
        vote("2026-12-01T00:00:00", "f"),
    ]

    assert by_month(votes, date(2026, 11, 15), 12) == (1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2)
    assert by_month([], date(2026, 1, 1), 3) == (0, 0, 0)


@pytest.mark.parametrize("numbers", [(0, 1, 2, 4), (0,) * 24, (10**9, 1)])
def test_bars_are_as_high_as_their_numbers(numbers: tuple[int, ...]) -> None:
    heights = [int(height) for height in re.findall(r"v-(\d+)h3V16z", sparkline(numbers, "x"))]

    bars = [number for number in numbers if number]
    assert len(heights) == len(bars)
    assert heights == [max(1, round(number / max(bars) * 16)) for number in bars]


def test_a_drawing_says_what_it_shows_and_loads_nothing() -> None:
    html = sparkline((1, 2), 'Votes "a" <month>')

    assert 'role="img" aria-label="Votes &quot;a&quot; &lt;month&gt;"' in html
    assert set(re.findall(r'fill="([^"]*)"', html)) == {"currentColor"}
    assert not re.search(r"style=|<style|<script|href|url\(|#[0-9a-f]{3}|://| on\w+=", html)


def test_a_page_draws_its_votes_once() -> None:
    kind = load_kinds()["learning"]
    months = [0] * 24
    months[-1], months[-12] = 2, 1
    view = {
        "title": '<span class="orbit-sparkline"></span>',
        "votes": None,
        "data": {},
        "scope": {},
        "source": None,
        "file": {"path": "x", "url": None},
        "id": "L-1",
        "neighbours": [None, None],
        "cited_by": {},
        "own": {},
    }
    votes = {"count": 3, "last": "2026-02-01", "months": months, "until": "2026-02"}
    prose = '<p><svg><path d="M0 0"/></svg><script>x</script></p>'

    assert "<svg" not in article(kind, view, prose)
    html = article(kind, {**view, "votes": votes}, prose)
    assert html.count("<svg") == 1
    assert 'aria-label="Votes a month, the last 24 months: 1 in 2025-03, 2 in 2026-02"' in html
    assert html.index("<svg") > html.index("<dt>Votes</dt>")
