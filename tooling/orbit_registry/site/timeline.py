"""Timeline of a kind as one drawing: a lane for each area, a dot for each record, an arc for each replacement.

Each dot is a link with its words, so it can be reached by keyboard and works without a script.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from html import escape

from orbit_registry.model.kind import Kind
from orbit_registry.model.record import Record
from orbit_registry.site.drawing import drawing
from orbit_registry.site.groups import TAGS
from orbit_registry.site.sitemap import url_of
from orbit_registry.site.urls import relative
from orbit_registry.site.views import Relations
from orbit_registry.site.words import area_of, date_of, status_css

WIDTH, LABEL, RIGHT = 980, 160, 16
LANE, DOT, TOP, FOOT = 32, 5, 26, 12
MOST_LANES = 24
FEWEST = 2
_DAY = re.compile(r"(\d{4})(?:-(\d{2}))?(?:-(\d{2}))?")


@dataclass(frozen=True, slots=True)
class _Dot:
    record: Record
    x: float
    y: float


def url(kind: Kind) -> str:
    """Return the URL of a kind's timeline."""
    return f"{kind.plural}/timeline/"


def has_timeline(kind: Kind, records: Sequence[Record]) -> bool:
    """Say whether a kind has one: records that are numbered in their order, and at least two of them with a day."""
    return kind.numbering == "sequence" and sum(_days(record) is not None for record in records) >= FEWEST


def switch(kind: Kind, page: str, *, timed: bool, tagged: bool) -> str:
    """Return the ways to look at a kind's records as links, the one that is shown marked; "" where there is one."""
    views = [("Table", f"{kind.plural}/")]
    views += [("Timeline", url(kind))] if timed else []
    views += [("Tags", TAGS)] if tagged else []
    links = "".join(
        f'<a href="{escape(relative(page, target))}"{" aria-current=page" if target == page else ""}>{name}</a>'
        for name, target in views
    )
    return f'<nav class="orbit-views" aria-label="Views">{links}</nav>' if len(views) > 1 else ""


def timeline_html(kind: Kind, records: Sequence[Record], relations: Relations) -> str:
    """Return the drawing, and below it in words how many records have no day."""
    page = url(kind)
    dated = [(record, days) for record in records if (days := _days(record)) is not None]
    lanes = _lanes([record for record, _ in dated])
    first, last = min(start for _, (start, _) in dated), max(end for _, (_, end) in dated)
    span = max((last - first).days, 1)
    dots = {dot.record.id: dot for dot in _dots(dated, lanes, first, span)}
    height = TOP + LANE * len(lanes) + FOOT
    arcs = _arcs(dots, relations)
    parts = [
        *_years(first, last, span, height),
        *(_lane(name, number) for name, number in lanes.items()),
        *arcs,
        *(_dot(dot, page) for dot in dots.values()),
    ]
    label = f"{len(dots):,} {kind.labels.lower()}, {first} to {last}; a lane an area"
    label += ", arcs lead to what replaced one" if arcs else ""
    svg = drawing("orbit-timeline", label, "".join(parts), (WIDTH, height))
    undated = len(records) - len(dots)
    note = f'<p class="orbit-note">{undated:,} without a day are left out.</p>' if undated else ""
    return f"{_legend([dot.record for dot in dots.values()], arcs)}{svg}{note}"


def _legend(records: Sequence[Record], arcs: Sequence[str]) -> str:
    counts = Counter((record.status.word, status_css(record.status)) for record in records)
    chips = "".join(
        f'<span class="orbit-chip {css}">{escape(word)} {count:,}</span>' for (word, css), count in counts.items()
    )
    phases = {record.phase for record in records}
    waits = [record.status.waits for record in records if record.phase == "pending"]
    words = ["an arc leads to what replaced a decision"] if arcs else []
    words += ["a ring is not decided" if all(waits) else "a ring is not decided, or unknown"] if waits else []
    words += ["a small dot no longer holds"] if "closed" in phases else []
    note = f"<span>{', '.join(words)}</span>" if words else ""
    return f'<p class="orbit-legend">{chips}{note}</p>'


def _dots(
    dated: Sequence[tuple[Record, tuple[date, date]]], lanes: dict[str, int], first: date, span: int
) -> Iterator[_Dot]:
    """Yield the dots; those of which only the month or the year is known are spread over it, none covers another."""
    scale = (WIDTH - LABEL - RIGHT) / span
    by_lane: dict[int, dict[tuple[date, date], list[Record]]] = defaultdict(lambda: defaultdict(list))
    for record, days in dated:
        by_lane[lanes.get(_own_area(record), lanes.get("others", 0))][days].append(record)
    for lane, groups in by_lane.items():
        placed = []
        for (start, end), together in groups.items():
            for number, record in enumerate(together, start=1):
                passed = (start - first).days + (end - start).days * number / (len(together) + 1)
                placed.append((LABEL + scale * passed, record))
        placed.sort(key=lambda pair: (pair[0], pair[1].sort_key))
        room = min(2.0 * DOT + 2, (WIDTH - LABEL - RIGHT) / len(placed))
        xs = [x for x, _ in placed]
        for number in range(1, len(xs)):
            xs[number] = max(xs[number], xs[number - 1] + room)
        right = float(WIDTH - RIGHT)
        for number in range(len(xs) - 1, -1, -1):
            xs[number] = right = min(xs[number], right)
            right -= room
        for x, (_, record) in zip(xs, placed, strict=True):
            yield _Dot(record, x, TOP + LANE * lane + LANE / 2)


def _lanes(records: Sequence[Record]) -> dict[str, int]:
    counts = Counter(map(_own_area, records))
    names = sorted(counts)
    if len(names) > MOST_LANES:
        largest = sorted(sorted(names, key=lambda name: -counts[name])[: MOST_LANES - 1])
        names = [*largest, "others"]
    return {name: number for number, name in enumerate(names)}


def _own_area(record: Record) -> str:
    return area_of(record) or "no area"


def _days(record: Record) -> tuple[date, date] | None:
    """Return the first and the last day that a record can be from, as far as its date says; None where it says none."""
    match = _DAY.match(date_of(record))
    if not match:
        return None
    year, month, day = int(match[1]), int(match[2] or 0), int(match[3] or 0)
    try:
        start = date(year, month or 1, day or 1)
        following = date(year + 1, 1, 1) if month in (0, 12) else date(year, month + 1, 1)
        return start, start if day else following - timedelta(days=1)
    except (ValueError, OverflowError):
        return None


def _years(first: date, last: date, span: int, height: int) -> list[str]:
    if span <= 550:
        numbers = [first.year * 12 + first.month - 1 + offset for offset in range(20)]
        ticks = [(day, f"{day:%Y-%m}") for day in (date(number // 12, number % 12 + 1, 1) for number in numbers)]
    else:
        ticks = [(date(year, 1, 1), str(year)) for year in range(first.year, last.year + 1)]
    marks = []
    for day, name in ticks:
        if first <= day <= last:
            x = LABEL + (WIDTH - LABEL - RIGHT) * (day - first).days / span
            marks.append(
                f'<path class="orbit-tick" d="M{x:.1f} {TOP - 6}V{height - FOOT}"/>'
                f'<text class="orbit-small" x="{x:.1f}" y="{TOP - 10}" text-anchor="middle">{name}</text>'
            )
    return marks or [f'<text class="orbit-small" x="{LABEL}" y="{TOP - 10}">{first}</text>']


def _lane(name: str, number: int) -> str:
    y = TOP + LANE * number + LANE / 2
    short = name if len(name) <= 20 else f"{name[:19]}…"
    return (
        f'<path class="orbit-lane" d="M{LABEL} {y}H{WIDTH - RIGHT}"/>'
        f'<text x="{LABEL - 10}" y="{y + 4}" text-anchor="end">{escape(short)}</text>'
    )


def _arcs(dots: dict[str, _Dot], relations: Relations) -> list[str]:
    arcs = []
    for dot in dots.values():
        for later in relations.replaced_by(dot.record):
            if end := dots.get(later):
                bend = f"{(dot.x + end.x) / 2:.1f} {min(dot.y, end.y) - 14 - min(abs(end.x - dot.x) / 12, 20):.1f}"
                curve = f"M{dot.x:.1f} {dot.y:.1f}Q{bend} {end.x:.1f} {end.y:.1f}"
                arcs.append(f'<path class="orbit-arc" d="{curve}"/>')
    return arcs


def _dot(dot: _Dot, page: str) -> str:
    record = dot.record
    title = f"{record.id} {record.title} ({record.status.word}, {date_of(record)})"
    return (
        f'<a href="{escape(relative(page, url_of(record)))}"><title>{escape(title)}</title>'
        f'<circle class="orbit-dot {status_css(record.status)}" cx="{dot.x:.1f}" cy="{dot.y:.1f}" r="{DOT}"/></a>'
    )
