"""Indexes and lists of records, complete without JavaScript, and the filter above an index."""

from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from itertools import chain
from urllib.parse import quote

from orbit_registry.model.kind import Kind, Status
from orbit_registry.model.record import Record
from orbit_registry.site import timeline
from orbit_registry.site.documents import MirroredDocument
from orbit_registry.site.language import (
    column_label,
    counted,
    status_word,
    thing_of,
    things_of,
    word,
)
from orbit_registry.site.relations import Relations
from orbit_registry.site.sanitize import headline
from orbit_registry.site.sitemap import SiteMap, folder_anchor, url_of
from orbit_registry.site.urls import relative
from orbit_registry.site.words import (
    CITED,
    IN_CODE,
    PHASES,
    built_chip,
    built_word,
    chip,
    date_of,
    day_of,
    own_columns,
    review_chip,
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

    def html(self, url: str, relations: Relations, site: SiteMap) -> str:
        """Return one page: the ways to look at it, the filter, the table."""
        return f"{self.switch(url)}{self._filter(url)}{self._table(url, relations, site)}"

    def _table(self, page: str, relations: Relations, site: SiteMap) -> str:
        kind, records, total = self.kind, self.pages[page], len(self.records)
        noun = thing_of(kind) if total == 1 else things_of(kind)
        cells = [cells_of(record, page, relations, site) for record in records]
        in_use = {column for column, text, _ in chain.from_iterable(cells) if text}
        used = in_use - self.constant
        heads = "".join(_head(column) for column in columns_of(kind) if column in used)

        rows = ""
        for record, row in zip(records, cells, strict=True):
            rows += _row(record, [cell for cell in row if cell[0] in used], page, relations)

        part = "" if len(records) == total else f", {len(records):,} on this page"
        caption = f"<caption>{total:,} {escape(noun)}{part}</caption>"
        table = (
            f"<table "
            f'class="orbit-index">{caption}<thead><tr>{heads}</tr></thead><tbody>{rows}</tbody>'
            f"</table>"
        )
        return f'<div class="orbit-scroll">{table}</div>{_pager(page, self.pages)}'

    def _filter(self, page: str) -> str:
        kind = self.kind

        if len(self.records) < FEWEST_RECORDS:
            return ""

        chips = "".join(_status_chips(kind, Counter(record.status.name for record in self.records)))
        selects = "".join(_choice(name, counts) for name, counts in self.choices.items())
        places = {
            "records": relative(page, "records.json"),
            "root": relative(page, ""),
            "kind": kind.name,
            "columns": " ".join(columns_of(kind)),
            "headline": kind.headline,
            "newest": "1" if kind.numbering == "sequence" else "",
        }
        data = "".join(f' data-orbit-{name}="{escape(value)}"' for name, value in places.items())

        return (
            f'<form class="orbit-filter"{data} role="search" '
            f'aria-label="{escape(word("list.filter", things=things_of(kind)))}" hidden>'
            f'<input type="search" name="find" placeholder="{word("list.find")}" '
            f'aria-label="{word("list.words")}" '
            'autocomplete="off">'
            f'<span class="orbit-chips" role="group" aria-label="{word("list.status")}">'
            f'{chips}</span>{selects}<button type="reset">{word("list.clear")}</button>'
            '<output aria-live="polite"></output></form>'
            f'<script src="{relative(page, SCRIPT)}" defer></script>'
        )


def columns_of(kind: Kind) -> list[str]:
    """Return the columns that an index of a kind may have."""
    columns = list(kind.columns)
    if kind.in_document:
        columns.append(IN_CODE)

    return [*columns, CITED]


def name_of(column: str) -> str:
    """Return the name of a column as readers see it."""
    return word(f"column.{column}") if column in (IN_CODE, CITED) else column_label(column)


def _head(column: str) -> str:
    label = name_of(column)
    return f'<th scope="col" class="orbit-col-{escape(column)}">{escape(label)}</th>'


def _pager(page: str, pages: Mapping[str, Sequence[Record]]) -> str:
    if len(pages) < 2:
        return ""

    links = []
    for url, chunk in pages.items():
        label = escape(f"{chunk[0].id} – {chunk[-1].id}")
        links.append(
            f"<b>{label}</b>"
            if url == page
            else f'<a href="{escape(relative(page, url))}">{label}</a>'
        )

    return f'<p class="orbit-pages">{" ".join(links)}</p>'


def cells_of(
    record: Record, page: str, relations: Relations, site: SiteMap
) -> Sequence[tuple[str, str, str | None]]:
    """Return one row of an index: (column, text, address) for each column that the kind lists,
    then who cites it.
    """
    cells: list[tuple[str, str, str | None]] = []
    url = relative(page, url_of(record))
    for column in record.kind.columns:
        if column == "id":
            cells.append((column, record.id, url))
        elif column in (record.kind.headline, "title"):
            cells.append((column, record.title, url))
        elif column == "status":
            cells.append((column, status_word(record.status), None))
        elif column == "date":
            cells.append((column, day_of(record), None))
        else:
            cells.append((column, ", ".join(words_in(record.data.get(column))), None))

    if record.kind.in_document:
        cells.append((IN_CODE, built_word(relations.built.get(record.path)), None))

    return [*cells, (CITED, str(relations.citers.count(url_of(record)) or ""), None)]


def _row(
    record: Record, row: Sequence[tuple[str, str, str | None]], page: str, relations: Relations
) -> str:
    cells = []
    for column, text, url in row:
        if column == "status":
            inner = chip(record) + review_chip(relations.due.get(record.path))
        elif column == IN_CODE:
            inner = built_chip(relations.built.get(record.path)) or escape(text)
        elif url and text:
            inner = f'<a href="{escape(url)}">{headline(text)}</a>'
        else:
            inner = escape(text)

        if column == record.kind.headline and (sentence := relations.sentence(record)):
            inner += f'<p class="orbit-sentence">{escape(sentence)}</p>'

        if column == record.kind.headline and (later := relations.replaced_by(record)):
            inner += (
                f" <small>→ {', '.join(_linked(other, page, relations) for other in later)}</small>"
            )

        label = f' data-label="{escape(name_of(column))}"' if text.isdecimal() else ""
        cells.append(f'<td class="orbit-col-{column}"{label}>{inner}</td>')

    return f'<tr class="orbit-row-{record.phase}">{"".join(cells)}</tr>'


def _linked(any_id: str, page: str, relations: Relations) -> str:
    record = relations.by_id.get(any_id)
    name = escape(any_id)
    return (
        f'<a class="orbit-id" href="{escape(relative(page, url_of(record)))}">{name}</a>'
        if record
        else name
    )


def counts_html(indexes: Iterable[Index], doubted: Container[str], page: str) -> str:
    """Return a line of links: how many records each kind has, and decisions by status.

    `doubted` holds the paths of the records that are not fresh.
    """
    indexes = list(indexes)
    parts = [_counted(index, page) for index in indexes]
    records = chain.from_iterable(index.records for index in indexes)
    doubts = sum(record.phase == "live" and record.path in doubted for record in records)
    if doubts:
        health = escape(relative(page, "health/"))
        parts.append(f'<a class="orbit-doubt" href="{health}">{counted("list.doubt", doubts)}</a>')

    return f'<p class="orbit-line">{" · ".join(parts)}</p>' if parts else ""


def _counted(index: Index, page: str) -> str:
    kind, records = index.kind, index.records
    href = escape(relative(page, f"{kind.plural}/"))
    name = thing_of(kind) if len(records) == 1 else things_of(kind)
    total = f'<a href="{href}">{len(records):,} {escape(name)}</a>'
    if not kind.in_document:
        return total

    counts = Counter(record.status.name for record in records)
    statuses = ", ".join(
        f'<a class="{status_css(status)}" href="{href}?status={quote(status.name)}">'
        f"{counts[status.name]:,} {escape(status_word(status))}</a>"
        for status in _in_order(kind, counts)
    )
    return f"{total}<span>: {statuses}</span>"


def documents_html(
    documents: Sequence[MirroredDocument], titles: Mapping[str, str], page: str
) -> str:
    """Return the mirrored documents, by folder."""
    folders: dict[str, str] = defaultdict(str)
    for document in documents:
        if document.path in titles:
            item = (
                f"<li><a "
                f'href="{escape(relative(page, document.url))}">{escape(titles[document.path])}'
                f"</a></li>"
            )
            folders[document.path.rpartition("/")[0]] += item

    sections = "".join(
        (
            f"<section><h2 "
            f'id="{folder_anchor(name)}">{escape(name or ".")}</h2><ul>{items}</ul></section>'
        )
        for name, items in sorted(folders.items())
    )
    return f'<div class="orbit-shelf">{sections}</div>'


SCRIPT = "assets/orbit/filter.js"
MOST_CHOICES = 60  # a list with more entries is a text box with suggestions
FEWEST_RECORDS = 5


def _status_chips(kind: Kind, counts: Mapping[str, int]) -> Iterable[str]:
    for status in _in_order(kind, counts):
        yield (
            f'<button type="button" class="orbit-chip {status_css(status)}" name="status" '
            f'value="{escape(status.name)}" aria-pressed="false">{escape(status_word(status))} '
            f"{counts[status.name]:,}</button>"
        )


def _in_order(kind: Kind, counts: Mapping[str, int]) -> list[Status]:
    """Return the statuses that records have, live ones first."""
    used = (status for status in kind.statuses.values() if status.name in counts)
    return sorted(used, key=lambda status: PHASES.index(status.phase))


def _choice(name: str, counts: Mapping[str, int]) -> str:
    if len(counts) < 2:
        return ""

    label = escape(column_label(name))
    if len(counts) > MOST_CHOICES:
        return (
            f'<label>{label} <input name="{escape(name)}" list="orbit-{escape(name)}" '
            f'placeholder="{counted("list.choice", len(counts))}" autocomplete="off"></label>'
            f'<datalist id="orbit-{escape(name)}"></datalist>'
        )

    words = sorted(counts, reverse=name == "year")
    options = "".join(
        f'<option value="{escape(word)}">{escape(word)} ({counts[word]:,})</option>'
        for word in words
    )
    return (
        f'<label>{label} <select name="{escape(name)}"><option '
        f'value="">{word("list.any")}</option>{options}</select></label>'
    )
