"""The filter above an index: what can be chosen and how often it occurs; choosing is the browser's work."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from orbit_registry.kinds.table import Kind
from orbit_registry.records.record import Record
from orbit_registry.site.urls import relative
from orbit_registry.site.words import CITED, date_of, own_columns, status_css, tags_of, texts_of

SCRIPT = "assets/orbit/filter.js"
MOST_CHOICES = 60
"""Of a list with more entries one types the beginning, and the script proposes those there are."""
FEWEST_RECORDS = 5


@dataclass(frozen=True, slots=True)
class Choices:
    """What the records of a kind can be chosen by, and how often each occurs."""

    total: int
    statuses: Mapping[str, int]
    lists: Mapping[str, Mapping[str, int]]


def choices_of(kind: Kind, records: Sequence[Record]) -> Choices:
    """Return what the records of a kind can be chosen by."""
    lists: dict[str, Counter[str]] = {
        "tag": Counter(tag for record in records for tag in tags_of(record)),
        **{column: Counter(texts_of(records, column)) for column in own_columns(kind)},
        "year": Counter(day[:4] for record in records if (day := date_of(record))),
    }
    return Choices(len(records), Counter(str(record.data["status"]) for record in records), lists)


def bar(kind: Kind, choices: Choices, page: str) -> str:
    """Return the filter of an index, hidden until its script runs; nothing for a handful of records."""
    if choices.total < FEWEST_RECORDS:
        return ""
    chips = "".join(_status(kind, choices.statuses))
    selects = "".join(_choice(name, counts) for name, counts in choices.lists.items())
    places = {
        "records": relative(page, "records.json"),
        "root": relative(page, ""),
        "kind": kind.name,
        "columns": " ".join([*kind.columns, CITED]),
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


def _status(kind: Kind, counts: Mapping[str, int]) -> Iterable[str]:
    for status in kind.statuses.values():
        if number := counts.get(status.name):
            yield (
                f'<button type="button" class="orbit-chip {status_css(status)}" name="status" '
                f'value="{escape(status.name)}" aria-pressed="false">{escape(status.word)} {number:,}</button>'
            )


def _choice(name: str, counts: Mapping[str, int]) -> str:
    """Return what chooses one of some words: a list; a box to type in where there are many; "" where there is one."""
    if len(counts) < 2:
        return ""
    said = escape(name.replace("_", " ").capitalize())
    if len(counts) > MOST_CHOICES:
        return (
            f'<label>{said} <input name="{escape(name)}" list="orbit-{escape(name)}" placeholder="one of '
            f'{len(counts):,}" autocomplete="off"></label><datalist id="orbit-{escape(name)}"></datalist>'
        )
    named = sorted(counts, reverse=name == "year")
    options = "".join(f'<option value="{escape(one)}">{escape(one)} ({counts[one]:,})</option>' for one in named)
    return f'<label>{said} <select name="{escape(name)}"><option value="">any</option>{options}</select></label>'
