"""What the search box knows of records: one short row each, a line of `search/records.json`; finding is the browser's.

The theme's own index holds the curated pages; with thousands of records in it every reader would wait for it.
"""

from __future__ import annotations

import json
import re

from orbit_registry.records.record import Record
from orbit_registry.site.sitemap import url_of
from orbit_registry.site.words import status_class, tags_of

DATA = "search/records.json"
LONGEST_LEAD = 160
_SKIPPED = re.compile(
    r"(?:#|\||<!--|```|~~~|---|===|[-*+]?\s*\**(?:status|date|deciders|tags|legacy_id)\**\s*:)", re.IGNORECASE
)
_MARKS = re.compile(r"!?\[([^\]]*)\]\([^)]*\)|[`*_]{1,3}|^(?:[-*+>]|\d+[.)])\s+")


def description_of(record: Record, prose: str) -> str:
    """Return a record in one sentence, as those who list pages show it: its summary, else how its prose begins."""
    return record.text("summary") or lead(prose) or record.title


def row(record: Record, prose: str) -> str:
    """Return a record's row as JSON: id, title, address, status in words and its classes, other words, first line."""
    words = " ".join([*tags_of(record), *record.legacy_ids, record.kind.label])
    status = record.status.word, status_class(record)
    return json.dumps([record.id, record.title, url_of(record), *status, words, lead(prose)], ensure_ascii=False)


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


def rows_by_id(text: str) -> dict[str, str]:
    """Return the rows of an earlier file: each is a line, and begins with the record's id."""
    lines = (line.removesuffix(",") for line in text.split("\n"))
    return {line.split('"', 2)[1]: line for line in lines if line.startswith('["')}
