"""What the search box ranks whole texts by: of each record what its terms count; how they rank, `ranking.js` knows.

The files are many, so that an edit writes one of them: which one a record stands in, its id decides.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from zlib import crc32

from orbit_registry.records.rank import rank_order
from orbit_registry.records.record import Record
from orbit_registry.site.memo import Content, PageCache
from orbit_registry.site.shelf import Shelf
from orbit_registry.store.votes import half_life_days

FOLDER = "search/texts"
IN_A_FILE = 256
"""More records than that are parted into twice as many files; `ranking.js` works out the same number."""
_BODY = 2
"""Twice what a term counts that stands once in the text, which most do."""


def write(pages: PageCache, records: Sequence[Record], shelf: Shelf) -> None:
    """Write the files of which a record says something else than in the last build."""
    half_life = half_life_days()
    for path, members in _by_file(records).items():
        key = [half_life, [[record.path, shelf.stamp(record)] for record in members]]
        pages.page(path, key, partial(_content, members, shelf, half_life))


def _content(records: Sequence[Record], shelf: Shelf, half_life: float) -> Content:
    lines = [line for record in records for line in _lines(shelf.whole(record), half_life)]
    return Content("".join(f"{line}\n" for line in lines))


def paths(listed: int) -> list[str]:
    """Return the files that texts stand in where the box shows so many records: a power of two, by path in the site."""
    number = 1
    while number * IN_A_FILE < listed:
        number *= 2
    return [f"{FOLDER}/{at}.txt" for at in range(number)]


def _by_file(records: Sequence[Record]) -> dict[str, list[Record]]:
    """Return the records of each file, those among them that the theme's search shows: they count in what is rare."""
    found: dict[str, list[Record]] = {path: [] for path in paths(sum(one.page is None for one in records))}
    files = list(found.values())
    for record in records:
        files[crc32(record.id.encode()) % len(files)].append(record)
    return found


def _lines(record: Record, half_life: float) -> list[str]:
    """Return a record's lines: one for its own text and one for each chunk, which begins with a tab.

    They hold id, what its rank is made of, whether searches find it, and its terms, each with twice what it counts
    where that is not 2.
    """
    from orbit_registry.search.kept_texts import texts_of, weights_of  # most builds leave these files as they are

    votes, priority, updated, *_ = rank_order(record, half_life)
    head = f"{record.id}\t{votes!r} {priority} {updated}\t{'x' if record.status.searched else ''}"
    found = []
    for number, fields in enumerate(texts_of(record)):
        weights = weights_of(fields)
        said = " ".join(term if (weight := weights[term]) == _BODY else f"{term}:{weight}" for term in sorted(weights))
        found.append(f"{head if number == 0 else chr(9) * 2}\t{said}")
    return found
