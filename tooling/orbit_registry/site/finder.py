"""What the search box knows of records: the terms that `orbit search` finds them by, and how each begins.

The browser splits what is typed into the same terms and looks them up. The theme's own index holds the curated pages;
with thousands of records in it every reader would wait.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence

from orbit_registry.records.record import Record
from orbit_registry.site.sitemap import url_of
from orbit_registry.site.words import status_class, tags_of

DATA = "search/records.json"
TERMS, ROWS = "search/terms.txt", "search/rows.txt"
FILES = (DATA, TERMS, ROWS)
LONGEST_LEAD = 160
TITLE, WORDS, LEAD = 4, 2, 1
"""The fields that a term of a record stands in, as bits; `search.js` weighs them as `orbit search` does."""
_as_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
_SKIPPED = re.compile(
    r"(?:#|\||<!--|```|~~~|---|===|[-*+]?\s*\**(?:status|date|deciders|tags|legacy_id)\**\s*:)", re.IGNORECASE
)
_MARKS = re.compile(r"!?\[([^\]]*)\]\([^)]*\)|[`*_]{1,3}|^(?:[-*+>]|\d+[.)])\s+")

Entry = tuple[str, str, str, str, str, str, str, Sequence[str]]
"""Of one record: id, title, address, status in words, its classes, other words that find it, first line, earlier
names."""


def description_of(record: Record, prose: str) -> str:
    """Return a record in one sentence, as those who list pages show it: its summary, else how its prose begins."""
    return record.text("summary") or lead(prose) or record.title


def entry(record: Record, first_line: str) -> Entry:
    """Return what the search box knows of a record."""
    words = " ".join([record.id, *tags_of(record), *record.legacy_ids, record.kind.label])
    look = record.status.word, status_class(record)
    return record.id, record.title, url_of(record), *look, words, first_line, record.legacy_ids


def entries(records: Iterable[Record], lead_of: Callable[[Record], str]) -> list[Entry]:
    """Return what the search box knows; `lead_of` says how a record's text begins."""
    # What the generator made a page of, its own search finds.
    return [entry(one, lead_of(one)) for one in records if one.page is None]


def files(entries: Sequence[Entry]) -> Iterator[tuple[str, str]]:
    """Yield the files by their path in the site.

    The first has each record's id and the number of its look, the `looks` (status in words, classes), the records of
    each earlier name, the `common` words that no term is made of and the `generic` ones that ask for nothing. The
    others are lines, of which a browser reads the few that a key asks for: a term and the records that hold it, as
    numbers to the base of 36, eight times the distance from the record before, plus the fields; and of each record
    title, address and first line as JSON.
    """
    from orbit_registry.search.query import GENERIC  # most builds leave these files as they are
    from orbit_registry.search.terms import STOP_WORDS

    looks = {look: number for number, look in enumerate(dict.fromkeys((one[3], one[4]) for one in entries))}
    names: dict[str, list[int]] = {}
    for number, one in enumerate(entries):
        for name in one[7]:
            names.setdefault(name.lower(), []).append(number)
    said = {
        "ids": [one[0] for one in entries],
        "look": [looks[one[3], one[4]] for one in entries],
        "looks": list(looks),
        "names": names,
        "common": sorted(STOP_WORDS),
        "generic": sorted(GENERIC),
    }
    yield DATA, _as_json(said)
    yield TERMS, "".join(f"{term} {held}\n" for term, held in _postings(entries).items())
    yield ROWS, "".join(f"{_as_json([one[1], one[2], one[6]])}\n" for one in entries)


def _postings(entries: Sequence[Entry]) -> dict[str, str]:
    held: dict[str, list[str]] = defaultdict(list)
    last: dict[str, int] = {}
    for number, one in enumerate(entries):
        for term, where in _fields(one).items():
            held[term].append(_to_36((number - last.get(term, 0)) * 8 + where))
            last[term] = number
    return {term: " ".join(held[term]) for term in sorted(held)}


def _fields(one: Entry) -> dict[str, int]:
    """Return the terms of a record, each with the fields that it stands in."""
    from orbit_registry.search.terms import terms

    fields: dict[str, int] = {}
    for text, field in ((one[1], TITLE), (one[5], WORDS), (one[6], LEAD)):
        for term in terms(text):
            fields[term] = fields.get(term, 0) | field
    return fields


def _to_36(number: int) -> str:
    digits = ""
    while number:
        number, rest = divmod(number, 36)
        digits = _DIGITS[rest] + digits
    return digits or "0"


def lead(prose: str) -> str:
    """Return the first line of a text that says something, without its Markdown: whole words, 160 characters."""
    for line in prose.splitlines():
        stripped = line.strip()
        if not stripped or _SKIPPED.match(stripped):
            continue
        said = " ".join(_MARKS.sub(lambda mark: mark[1] or "", stripped).split())
        if len(said) <= LONGEST_LEAD:
            return said
        return said[:LONGEST_LEAD].rpartition(" ")[0] + " …"
    return ""
