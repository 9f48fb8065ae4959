"""The filter above an index: what can be chosen and how often it occurs; choosing is the browser's work."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from html import escape

from orbit_registry.kinds.table import Kind
from orbit_registry.records.record import Record
from orbit_registry.site.urls import relative
from orbit_registry.site.views import date_of, own_columns, status_class, tags_of, texts_of

SCRIPT = "assets/orbit/filter.js"
MOST_CHOICES = 60
"""A list with more entries is no help to choose from: the text box finds them."""
FEWEST_RECORDS = 5


def bar(kind: Kind, records: Sequence[Record], page: str) -> str:
    """Return the filter of an index, hidden until its script runs; nothing for a handful of records."""
    if len(records) < FEWEST_RECORDS:
        return ""
    chips = "".join(_status(kind, records))
    choices: dict[str, Counter[str]] = {
        "tag": Counter(tag for record in records for tag in tags_of(record)),
        **{column: Counter(texts_of(records, column)) for column in own_columns(kind)},
        "year": Counter(date_of(record)[:4] for record in records if date_of(record)),
    }
    selects = "".join(_select(name, counts) for name, counts in choices.items())
    places = {
        "records": relative(page, "records.json"),
        "root": relative(page, ""),
        "kind": kind.name,
        "columns": " ".join(kind.columns),
        "headline": kind.headline,
        "newest": "1" if kind.numbering == "sequence" else "",
    }
    data = "".join(f' data-orbit-{name}="{escape(value)}"' for name, value in places.items())
    return (
        f'<form class="orbit-filter"{data} role="search" aria-label="Filter {escape(kind.labels.lower())}" hidden>'
        '<input type="search" name="find" placeholder="Filter by words or id" aria-label="Words or id" '
        'autocomplete="off">'
        f'<span class="orbit-chips" role="group" aria-label="Status">{chips}</span>{selects}'
        '<button type="reset">Clear</button><output aria-live="polite"></output></form>'
        f'<script src="{relative(page, SCRIPT)}" defer></script>'
    )


def _status(kind: Kind, records: Sequence[Record]) -> Iterable[str]:
    held: dict[str, list[Record]] = {}
    for record in records:
        held.setdefault(record.status.name, []).append(record)
    for status in kind.statuses.values():
        if some := held.get(status.name):
            yield (
                f'<button type="button" class="orbit-chip {status_class(some[0])}" name="status" '
                f'value="{escape(status.name)}" aria-pressed="false">{escape(status.word)} {len(some):,}</button>'
            )


def _select(name: str, counts: Mapping[str, int]) -> str:
    if not 1 < len(counts) <= MOST_CHOICES:
        return ""
    named = sorted(counts, reverse=name == "year")
    options = "".join(f'<option value="{escape(one)}">{escape(one)} ({counts[one]:,})</option>' for one in named)
    said = escape(name.replace("_", " ").capitalize())
    return f'<label>{said} <select name="{escape(name)}"><option value="">any</option>{options}</select></label>'
