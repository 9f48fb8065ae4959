"""Timeline of a kind: a column for each month, with its records on hover and focus, and the records
in a list below.

A long time has a column for each quarter or year. Each column is a link to its part of the list.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from functools import partial
from html import escape
from itertools import chain
from typing import NamedTuple

from markupsafe import Markup

from orbit_registry.model.kind import Kind
from orbit_registry.model.record import Record
from orbit_registry.site.filling import html_part, macros
from orbit_registry.site.groups import TAGS
from orbit_registry.site.language import (
    digits,
    labels_of,
    status_word,
    thing_of,
    things_of,
    word,
)
from orbit_registry.site.urls import relative
from orbit_registry.site.words import date_of, items_html, status_css

MOST_COLUMNS, FEW_COLUMNS, MOST_TICKS, MOST_NAMES = 48, 6, 12, 12
PERIODS: Mapping[str, int] = {"timeline.month": 1, "timeline.quarter": 3, "timeline.year": 12}
_MONTH = re.compile(r"(\d{4})-(0[1-9]|1[0-2])")


def url(kind: Kind) -> str:
    """Return the URL of a kind's timeline."""
    return f"{kind.plural}/timeline/"


def has_timeline(kind: Kind, records: Sequence[Record]) -> bool:
    """Say whether a kind has one: records that are numbered in their order,
    from two months at least.
    """
    return kind.numbering == "sequence" and len({_month(record) for record in records} - {None}) > 1


def switch(kind: Kind, page: str, *, timed: bool, tagged: bool) -> str:
    """Return the ways to look at a kind's records as links, the one that is shown marked;
    "" where there is one.
    """
    views = [(word("list.table"), f"{kind.plural}/")]
    views += [(word("list.timeline"), url(kind))] if timed else []
    views += [(word("list.tags"), TAGS)] if tagged else []
    if len(views) < 2:
        return ""

    links = [(name, relative(page, target), target == page) for name, target in views]
    return str(macros("lists.html").views(links))


class Period(NamedTuple):
    """A column: its name, what is below it, its records and how many of them have each status."""

    name: str
    tick: str
    records: Sequence[Record]
    parts: Sequence[tuple[str, int]]


def timeline_html(kind: Kind, records: Sequence[Record]) -> str:
    """Return the columns with their scale and legend, and the records by month below."""
    months = {record.path: month for record in records if (month := _month(record)) is not None}
    first, last = min(months.values()), max(months.values())
    period = next(
        (name for name, size in PERIODS.items() if last // size - first // size < MOST_COLUMNS),
        "timeline.year",
    )
    size = PERIODS[period]
    groups: dict[int, list[Record]] = defaultdict(list)
    for record in records:
        if record.path in months:
            groups[months[record.path] // size].append(record)

    what = word(period, things=labels_of(kind))
    bounds = {"first": _name(first // size, size), "last": _name(last // size, size)}
    most = max(map(len, groups.values()))
    label = word("timeline.most", what=what, n=digits(most), **bounds)
    columns = _columns(kind, groups, size)
    values = {"what": what, "label": label, "top": most + most % 2, "legend": _legend(groups)}
    values |= {"thing": thing_of(kind), "things": things_of(kind), "most_names": MOST_NAMES}
    listed = [_period(kind, groups, number, size) for number in sorted(groups, reverse=True)]
    undated = len(records) - len(months)
    items = partial(_items, url(kind))
    lists = {"periods_listed": listed, "items": items, "undated": undated}
    return html_part("timeline.html", periods=columns, **values, **lists)


def _legend(groups: Mapping[int, Sequence[Record]]) -> Counter[tuple[str, str]]:
    """Return the statuses of records, each with its look, and how many have it."""
    records = chain.from_iterable(groups.values())
    return Counter((status_word(record.status), status_css(record.status)) for record in records)


def _columns(kind: Kind, groups: Mapping[int, Sequence[Record]], size: int) -> list[Period]:
    newest = max(groups)
    numbers = range(max(min(groups), newest - MOST_COLUMNS + 1), newest + 1)
    ticks = _ticks(numbers, size)
    return [_period(kind, groups, number, size, ticks.get(number, "")) for number in numbers]


def _period(
    kind: Kind, groups: Mapping[int, Sequence[Record]], number: int, size: int, tick: str = ""
) -> Period:
    records = groups.get(number, ())
    counts = Counter(record.status.name for record in records)
    parts = []
    for status in kind.statuses.values():
        if counts[status.name]:
            parts.append((status_css(status), counts[status.name]))

    return Period(_name(number, size), tick, records, parts)


def _ticks(numbers: range, size: int) -> dict[int, str]:
    """Return what is below the columns: of many the years, and not all of many years."""
    names = {number: _name(number, size) for number in numbers}
    if len(numbers) <= FEW_COLUMNS:
        return names

    januaries = [number for number in numbers if number * size % 12 == 0]
    labelled = januaries[:: 1 + len(januaries) // MOST_TICKS]
    years = {number: names[number][:4] for number in labelled}
    return years or {numbers[0]: names[numbers[0]]}


def _items(page: str, records: Sequence[Record]) -> Markup:
    rows = ((record, f"<time>{escape(date_of(record))}</time>") for record in reversed(records))
    return Markup(items_html(rows, page))


def _month(record: Record) -> int | None:
    """Return the month a record is from, counted from year 0; None where its date states none."""
    match = _MONTH.match(date_of(record))
    if match:
        return int(match[1]) * 12 + int(match[2]) - 1

    return None


def _name(number: int, size: int) -> str:
    year, month = divmod(number * size, 12)
    return {1: f"{year:04d}-{month + 1:02d}", 3: f"{year:04d}-Q{month // 3 + 1}"}.get(
        size, f"{year:04d}"
    )
