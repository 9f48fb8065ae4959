"""Indexes and lists of records, complete without JavaScript, and the filter above an index."""

from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any, NamedTuple
from urllib.parse import quote

from orbit_registry.model.kind import Kind, Status
from orbit_registry.model.record import Record
from orbit_registry.site import timeline
from orbit_registry.site.documents import MirroredDocument
from orbit_registry.site.filling import html_part, macros
from orbit_registry.site.language import (
    column_label,
    fact,
    status_word,
    thing_of,
    things_of,
    word,
)
from orbit_registry.site.relations import Relations
from orbit_registry.site.sitemap import folder_anchor, url_of
from orbit_registry.site.urls import relative
from orbit_registry.site.words import (
    CITED,
    IN_CODE,
    PHASES,
    built_word,
    date_of,
    day_of,
    own_columns,
    status_css,
    tags_of,
    texts_of,
    words_in,
)

ROWS_A_PAGE = 500


@dataclass
class Index:
    """The index of a kind: its records in the order of lists, divided into pages."""

    kind: Kind
    records: Sequence[Record]

    @cached_property
    def pages(self) -> Mapping[str, Sequence[Record]]:
        """The records on each page by its site URL, newest number first."""
        kind = self.kind
        ordered = list(reversed(self.records)) if kind.numbering == "sequence" else self.records
        chunks = [
            ordered[start : start + ROWS_A_PAGE] for start in range(0, len(ordered), ROWS_A_PAGE)
        ]

        return {
            f"{kind.plural}/page/{n}/" if n > 1 else f"{kind.plural}/": chunk
            for n, chunk in enumerate(chunks, 1)
        }

    @cached_property
    def choices(self) -> Mapping[str, Mapping[str, int]]:
        """Words that the records can be filtered by, with their counts:
        tags, a kind's own columns, years.
        """
        choices = {"tag": Counter(chain.from_iterable(map(tags_of, self.records)))}
        for column in own_columns(self.kind):
            choices[column] = Counter(texts_of(self.records, column))

        days = filter(None, map(date_of, self.records))
        choices["year"] = Counter(day[:4] for day in days)
        return choices

    @cached_property
    def constant(self) -> set[str]:
        """The kind's own columns in which all records say the same."""
        if len(self.records) < FEWEST_RECORDS:
            return set()

        return {column for column in own_columns(self.kind) if len(self._texts(column)) == 1}

    def _texts(self, column: str) -> set[str]:
        return {", ".join(words_in(record.data.get(column))) for record in self.records}

    @cached_property
    def timed(self) -> bool:
        """Whether there is a timeline."""
        return timeline.has_timeline(self.kind, self.records)

    def switch(self, url: str) -> str:
        """Return the links to table, timeline and tags."""
        return timeline.switch(self.kind, url, timed=self.timed, tagged=bool(self.choices["tag"]))

    def html(self, url: str, relations: Relations) -> str:
        """Return one page: the ways to look at it, the filter, the table."""
        kind, records = self.kind, self.pages[url]
        rows = [_row(record, url, relations) for record in records]
        cells = chain.from_iterable(row.cells for row in rows)
        used = {column for column, text, _ in cells if text} - self.constant
        columns = [(column, name_of(column)) for column in columns_of(kind) if column in used]
        pages = [_link_to(url, other, chunk) for other, chunk in self.pages.items()]
        values = {"thing": thing_of(kind), "things": things_of(kind), "total": len(self.records)}
        values |= {"on_page": len(records), "columns": columns, "pages": pages}
        values |= {"rows": rows, "used": used, "name_of": name_of}
        return f"{self.switch(url)}{html_part('index.html', **self._filter(url), **values)}"

    def _filter(self, page: str) -> dict[str, Any]:
        """Return what the filter above a page is made of."""
        kind = self.kind
        counts = Counter(record.status.name for record in self.records)
        choices = []
        for name, words in self.choices.items():
            if len(words) > 1:
                in_order = sorted(words, reverse=name == "year")
                choices.append((name, column_label(name), in_order, words))

        places = {
            "records": relative(page, "records.json"),
            "root": relative(page, ""),
            "kind": kind.name,
            "columns": " ".join(columns_of(kind)),
            "headline": kind.headline,
            "newest": "1" if kind.numbering == "sequence" else "",
        }
        statuses = [(status, counts[status.name]) for status in _in_order(kind, counts)]
        return {
            "is_filtered": len(self.records) >= FEWEST_RECORDS,
            "places": places,
            "statuses": statuses,
            "choices": choices,
            "most_choices": MOST_CHOICES,
            "script": relative(page, SCRIPT),
            "css": status_css,
            "status_word": status_word,
        }


def _link_to(page: str, url: str, records: Sequence[Record]) -> tuple[str, str]:
    """Return the address of a page of an index, and its first and last record."""
    return relative(page, url), f"{records[0].id} – {records[-1].id}"


def columns_of(kind: Kind) -> list[str]:
    """Return the columns that an index of a kind may have."""
    columns = list(kind.columns)
    if kind.in_document:
        columns.append(IN_CODE)

    return [*columns, CITED]


def name_of(column: str) -> str:
    """Return the name of a column as readers see it."""
    if column in (IN_CODE, CITED):
        return word(f"column.{column}")

    return column_label(column)


Cell = tuple[str, str, str]
"""A column, a text, and where it leads; "" for nowhere."""


class Row(NamedTuple):
    """A row of an index: its cells, and what they say besides."""

    record: Record
    cells: Sequence[Cell]
    sentence: str
    later: Sequence[tuple[str, str]]
    """What replaced the record: ids with their addresses."""
    due: str
    differs: bool


def cells_of(record: Record, page: str, relations: Relations) -> list[Cell]:
    """Return a cell for each column that the kind lists, then who cites the record."""
    cells = []
    url = relative(page, url_of(record))
    for column in record.kind.columns:
        if column == "id":
            cells.append((column, record.id, url))
        elif column in (record.kind.headline, "title"):
            cells.append((column, record.title, url))
        elif column == "status":
            cells.append((column, status_word(record.status), ""))
        elif column == "date":
            cells.append((column, day_of(record), ""))
        else:
            cells.append((column, ", ".join(words_in(record.data.get(column))), ""))

    if record.kind.in_document:
        cells.append((IN_CODE, built_word(relations.built.get(record.path)), ""))

    return [*cells, (CITED, str(relations.citers.count(url_of(record)) or ""), "")]


def _row(record: Record, page: str, relations: Relations) -> Row:
    later = []
    for any_id in relations.replaced_by(record):
        other = relations.by_id.get(any_id)
        later.append((any_id, relative(page, url_of(other)) if other else ""))

    due, built = relations.due.get(record.path), relations.built.get(record.path)
    return Row(
        record,
        cells_of(record, page, relations),
        relations.sentence(record),
        later,
        fact(due.mark) if due else "",
        built is not None and built.differs,
    )


def counts_html(indexes: Iterable[Index], doubted: Container[str], page: str) -> str:
    """Return a line of links: how many records each kind has, and decisions by status.

    `doubted` holds the paths of the records that are not fresh.
    """
    indexes = list(indexes)
    if not indexes:
        return ""

    records = chain.from_iterable(index.records for index in indexes)
    doubts = sum(record.phase == "live" and record.path in doubted for record in records)
    kinds = [_counted(index, page) for index in indexes]
    return str(macros("lists.html").counts(kinds, doubts, relative(page, "health/")))


def _counted(index: Index, page: str) -> tuple[str, int, str, list[tuple[str, str, int, str]]]:
    """Return the address of an index, its number of records, what these are called, and of
    decisions each status.
    """
    kind, records = index.kind, index.records
    href = relative(page, f"{kind.plural}/")
    counts = Counter(record.status.name for record in records if kind.in_document)
    statuses = []
    for status in _in_order(kind, counts):
        address = f"{href}?status={quote(status.name)}"
        number = counts[status.name]
        statuses.append((status_css(status), address, number, status_word(status)))

    name = thing_of(kind) if len(records) == 1 else things_of(kind)
    return href, len(records), name, statuses


def documents_html(
    documents: Sequence[MirroredDocument], titles: Mapping[str, str], page: str
) -> str:
    """Return the mirrored documents, by folder."""
    folders: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for document in documents:
        if document.path in titles:
            entry = (relative(page, document.url), titles[document.path])
            folders[document.path.rpartition("/")[0]].append(entry)

    shelves = [(folder_anchor(name), name, entries) for name, entries in sorted(folders.items())]
    return str(macros("lists.html").documents(shelves))


SCRIPT = "assets/orbit/filter.js"
MOST_CHOICES = 60  # a list with more entries is a text box with suggestions
FEWEST_RECORDS = 5


def _in_order(kind: Kind, counts: Mapping[str, int]) -> list[Status]:
    """Return the statuses that records have, live ones first."""
    used = (status for status in kind.statuses.values() if status.name in counts)
    return sorted(used, key=lambda status: PHASES.index(status.phase))
