"""What the search box ranks whole texts by: of each record what its terms count; how they rank, `ranking.js` knows.

The files are many, so that an edit writes one of them: which one a record stands in, its id decides.
"""

from __future__ import annotations

from collections.abc import Sequence
from zlib import crc32

from orbit_registry.records.rank import rank_order
from orbit_registry.records.record import Record
from orbit_registry.site.memo import Made, Memo, key_of
from orbit_registry.site.output import Output
from orbit_registry.site.shown import Shown
from orbit_registry.store.votes import half_life_days

FOLDER = "search/texts"
IN_A_FILE = 256
"""More records than that are parted into twice as many files; `ranking.js` works out the same number."""
_BODY = 2
"""Twice what a term counts that stands once in the text, which most do."""


def write(out: Output, memo: Memo, shown: Shown) -> None:
    """Write the files whose records say something else than in the last build; only those records are read."""
    half_life, touched = half_life_days(), {record.path for record in shown.touched}
    for path, records in _by_file(shown.records).items():
        held = memo.held.get(path)
        known = held is not None and held.extra == half_life
        same = known and shown.is_near and touched.isdisjoint(one.path for one in records)
        wanted = (
            held.key if held is not None and same else key_of([[one.path, shown.shelf.stamp(one)] for one in records])
        )
        if held is None or not known or held.key != wanted or not out.keep(path):
            earlier = _by_id(out.read(path)) if known else {}
            made: list[str] = []
            for record in records:
                lines = earlier.get(record.id) if record.path not in touched else None
                made += lines or _lines(shown.shelf.whole(record), half_life)
            out.write(path, "".join(f"{line}\n" for line in made))
        memo.put(path, Made(wanted, path, extra=half_life))


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


def _by_id(text: str) -> dict[str, list[str]]:
    """Return the lines of each record."""
    held: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in text.split("\n")[:-1]:
        if not line.startswith("\t"):
            lines = held[line.partition("\t")[0]] = []
        lines.append(line)
    return held


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
