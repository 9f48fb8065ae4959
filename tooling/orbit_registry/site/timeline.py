"""Timeline of a kind: a column for each month, with its records on hover and focus, and the records
in a list below.

A long time has a column for each quarter or year. Each column is a link to its part of the list.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from itertools import chain

from orbit_registry.model.kind import Kind
from orbit_registry.model.record import Record
from orbit_registry.site.groups import TAGS
from orbit_registry.site.language import (
    counted,
    digits,
    labels_of,
    status_word,
    thing_of,
    things_of,
    word,
)
from orbit_registry.site.sanitize import headline
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
    links = "".join(
        (
            f"<a "
            f'href="{escape(relative(page, target))}'
            f'"{" aria-current=page" if target == page else ""}>{name}</a>'
        )
        for name, target in views
    )
    return (
        f'<nav class="orbit-views" aria-label="{word("list.views")}">{links}</nav>'
        if len(views) > 1
        else ""
    )


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

    most = max(map(len, groups.values()))
    top = most + most % 2
    what = word(period, things=labels_of(kind))
    bounds = {"first": _name(first // size, size), "last": _name(last // size, size)}
    label = word("timeline.most", what=what, n=digits(most), **bounds)
    undated = len(records) - len(months)
    note = f'<p class="orbit-note">{counted("list.undated", undated)}</p>' if undated else ""

    scale = f"<small>{top:,}</small><small>{top // 2:,}</small>"
    dated = list(chain.from_iterable(groups.values()))
    legend = _legend(dated, what)

    return (
        f'{legend}<div class="orbit-columns" role="group" aria-label="{escape(label)}">{scale}'
        f"{''.join(_columns(kind, groups, size, top))}</div>{note}{_list(groups, size, url(kind))}"
    )


def _month(record: Record) -> int | None:
    """Return the month a record is from, counted from year 0; None where its date states none."""
    match = _MONTH.match(date_of(record))
    return int(match[1]) * 12 + int(match[2]) - 1 if match else None


def _name(number: int, size: int) -> str:
    year, month = divmod(number * size, 12)
    return {1: f"{year:04d}-{month + 1:02d}", 3: f"{year:04d}-Q{month // 3 + 1}"}.get(
        size, f"{year:04d}"
    )


def _legend(records: Sequence[Record], title: str) -> str:
    counts = Counter((status_word(record.status), status_css(record.status)) for record in records)
    chips = "".join(
        f'<span class="orbit-chip {css}">{escape(word)} {count:,}</span>'
        for (word, css), count in counts.items()
    )
    return f'<p class="orbit-legend"><b>{escape(title)}</b>{chips}</p>'


def _columns(
    kind: Kind, groups: Mapping[int, Sequence[Record]], size: int, most: int
) -> Iterator[str]:
    last = max(groups)
    numbers = range(max(min(groups), last - MOST_COLUMNS + 1), last + 1)
    ticks = {number: _name(number, size) for number in numbers}
    if len(numbers) > FEW_COLUMNS:
        januaries = [number for number in numbers if number * size % 12 == 0]
        labelled = januaries[:: 1 + len(januaries) // MOST_TICKS]
        ticks = {number: ticks[number][:4] for number in labelled} or {
            numbers[0]: ticks[numbers[0]]
        }

    for number in numbers:
        name = _name(number, size)
        tick = f"<small>{ticks[number]}</small>" if number in ticks else ""
        records = groups.get(number, ())
        counts = Counter(record.status.name for record in records)
        parts = [
            (status_css(status), counts[status.name])
            for status in kind.statuses.values()
            if counts[status.name]
        ]

        names = [f"<span>{escape(record.id)} {headline(record.title)}</span>" for record in records]
        names[MOST_NAMES:] = [f"<span>{word('record.more', n=len(names) - MOST_NAMES)}</span>"] * (
            len(names) > MOST_NAMES
        )
        noun = thing_of(kind) if len(records) == 1 else things_of(kind)
        yield (
            f'<a href="#{name}" aria-label="{name}: {len(records):,} '
            f'{escape(noun)}">{column(parts, most)}{tick}'
            f'<span class="orbit-shown"><b>{name}: {len(records):,}</b>{"".join(names)}</span></a>'
            if records
            else f"<i>{tick}</i>"
        )


def _list(groups: Mapping[int, Sequence[Record]], size: int, page: str) -> str:
    parts = []
    for number in sorted(groups, reverse=True):
        rows = [
            (record, f"<time>{escape(date_of(record))}</time>")
            for record in reversed(groups[number])
        ]
        heading = (
            f'<h2 id="{_name(number, size)}">{_name(number, size)} '
            f"<small>{len(rows):,}</small></h2>"
        )
        parts.append(f"{heading}{items_html(rows, page)}")

    return "".join(parts)


def column(parts: Sequence[tuple[str, int]], most: int) -> str:
    """Return a column of parts, each with its CSS classes and number,
    that is `most` high where it fills its box.
    """
    rects, top = "", most
    for css, number in parts:
        top -= number
        rects += f'<rect class="{escape(css)}" y="{top}" width="1" height="{number}"/>'

    return (
        f'<svg aria-hidden="true" viewBox="0 0 1 {most}" preserveAspectRatio="none">{rects}</svg>'
    )
