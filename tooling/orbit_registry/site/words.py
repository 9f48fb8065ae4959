"""Words of a record on pages: status, date, tags, columns; and its line in lists."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape

from orbit_registry.lifecycle.built import Built, State
from orbit_registry.model.kind import Kind, Status
from orbit_registry.model.record import Record
from orbit_registry.site.language import fact, status_word, word
from orbit_registry.site.sanitize import headline, unmarked
from orbit_registry.site.sitemap import url_of
from orbit_registry.site.urls import relative

IN_CODE = "in_code"  # a column of an index of decisions: whether the code follows it
CITED = "cited"  # the last column of an index: how many records and files cite the record
PHASES = ("live", "pending", "closed")  # the order of phases in lists


def status_css(status: Status) -> str:
    """Return the CSS classes of a status: its phase, then its name."""
    return f"orbit-{status.phase} orbit-status-{status.name}"


def states_none(record: Record) -> bool:
    """Say whether a record's status is not stated, so that it does not wait for a decision."""
    return record.phase == "pending" and not record.status.waits


def is_made(record: Record) -> bool:
    """Say whether readers follow a record: one that states no status counts."""
    return record.phase == "live" or states_none(record)


def is_adopted(record: Record) -> bool:
    """Say whether a record was taken from a document that was there before."""
    author = record.data.get("created_by")
    return isinstance(author, dict) and author.get("role") == "import"


def title_of(record: Record) -> str:
    """Return a record's title as plain text, where nothing draws its code and strong words."""
    return unmarked(record.title)


def date_of(record: Record) -> str:
    """Return the day a record is from, as precisely as known: `2026-05`, `2026-05-01`.

    Of a kind with dates it is the one that the record states: when a document came into git says
    nothing of when its decision was made.
    """
    date = record.text("date") or ""
    if date or "date" in record.kind.columns:
        return date

    return (record.text("created_at") or "")[:10]


def day_of(record: Record) -> str:
    """Return the day a record is from, else in words when its document first came into git."""
    day = date_of(record)[:10]
    if day or not record.first_commit:
        return day

    return word("day.committed", day=record.first_commit)


Age = tuple[str, str, tuple[object, ...]]


def ages_of(records: Iterable[Record]) -> dict[str, Age]:
    """Return what records are sorted by, the newest last, by path.

    One that states no day comes right after the one before it in its folder: git may have its
    document only since the collection was copied, so an old decision would be the newest.
    """
    ages: dict[str, Age] = {}
    last: dict[str, str] = {}
    for record in sorted(records, key=lambda record: record.sort_key):
        folder = record.source.path.rpartition("/")[0] if record.source else ""
        day = date_of(record).ljust(len("2026-01-01"), "~")  # a month comes after its days
        if not date_of(record):
            day = last.get(folder, "")

        last[folder] = day
        ages[record.path] = (day, record.first_commit, record.sort_key)

    return ages


_WORD = re.compile(r"[^\W_]+")
_LINK = re.compile(r"\[([^\]]*)\]\(([^)]*)\)")
_NUMBER = re.compile(
    r"(?:\S*/)?0*([0-9]{1,5})[-_.][^\W\d][^/]*"
)  # the number that the name of a file begins with
_NEXT_HEADING = re.compile(r"(.*?)(?=^#)", re.DOTALL | re.MULTILINE)
_KEYS = frozenset({"status", "date", "deciders"})
_SPELLINGS = {"superceded": "superseded", "supercedes": "supersedes"}  # words of adr-tools


def restates(text: str, record: Record) -> bool:
    """Say whether a text has only what the record states:
    status, date, deciders, tasks, links, earlier ids.
    """
    status = record.status
    facts = [
        status.name,
        status.word,
        record.text("date") or "",
        *record.words("deciders"),
        *record.words("tasks"),
    ]

    ids = [*record.superseded_by, *record.supersedes, *record.legacy_ids]
    for link in record.links:
        ids += (link.rel, link.to)

    known = {"by", "supersedes", "replaces", "legacy", "id", *_KEYS}.union(
        *map(_words, [*facts, *ids])
    )
    return _words(text) <= known


def without_restated(text: str, record: Record) -> str:
    """Return a decision's prose without the paragraphs at its start that only restate facts of the
    record.
    """
    remaining = text.lstrip()
    while True:
        paragraph, _, after = remaining.partition("\n\n")
        if paragraph.startswith("#") and _words(paragraph) == {"status"}:
            section = _NEXT_HEADING.match(after)
            if section is None or not restates(section[1], record):
                return remaining
            after = after[section.end() :]
        elif _words(paragraph).isdisjoint(_KEYS) or not restates(paragraph, record):
            return remaining

        remaining = after.lstrip()


def _words(text: str) -> set[str]:
    """Return the words of a text, its numbers without zeros before them;
    a link to a numbered file is its number.
    """
    plain = _LINK.sub(lambda link: (_NUMBER.match(link[2]) or link)[1], text).casefold()
    return {
        _SPELLINGS.get(word, word.lstrip("0") or word)
        for word in _WORD.findall(plain.replace("_", " "))
    }


def tags_of(record: Record) -> list[str]:
    """Return the tags of a record's scope, then its labels, each once."""
    return list(dict.fromkeys([*record.tags, *record.words("labels")]))


def date_source(record: Record) -> str:
    """Return where the day of a record is from if it is not the record: `git`."""
    if record.first_commit and not date_of(record):
        return "git"

    return ""


def own_columns(kind: Kind) -> list[str]:
    """Return the columns of a kind's index that only this kind has."""
    return [
        column
        for column in kind.columns
        if column not in ("id", "status", "title", "date", kind.headline)
    ]


def texts_of(records: Iterable[Record], column: str) -> Iterator[str]:
    """Yield what records say in one field, word by word where it is a list."""
    for record in records:
        yield from words_in(record.data.get(column))


def words_in(value: object) -> list[str]:
    """Return a field's value as texts, an entry each."""
    if isinstance(value, Mapping):
        return [f"{name}: {', '.join(words_in(inner))}" for name, inner in value.items()]
    if isinstance(value, list):
        return [", ".join(words_in(inner)) for inner in value]
    if isinstance(value, bool):
        return ["yes" if value else "no"]
    if value is None or value == "":
        return []

    return [str(value)]


def chip(record: Record) -> str:
    """Return a record's status as a word; the style sheet adds its icon."""
    text = escape(status_word(record.status))
    return f'<span class="orbit-chip {status_css(record.status)}">{text}</span>'


def built_word(built: Built | None) -> str:
    """Return whether the code follows a decision, as a word; empty if that can't be said."""
    if built is None or built.state is State.UNKNOWN:
        return ""

    return fact(built.words)


def items_html(rows: Iterable[tuple[Record, str]], page: str) -> str:
    """Return records as a list, each with HTML such as a day or a reason."""
    lines = "".join(
        f"<li>{record_link(record, page)}{added}{chip(record)}</li>" for record, added in rows
    )
    return f'<ul class="orbit-items">{lines}</ul>'


def record_link(record: Record, page: str) -> str:
    """Return the id and the title of a record as a link."""
    href = escape(relative(page, url_of(record)))
    name = f'<span class="orbit-name">{headline(record.title)}</span>'
    return f'<a href="{href}"><span class="orbit-id">{escape(record.id)}</span> {name}</a>'


def table_html(css: str, columns: Iterable[tuple[str, str]], rows: Iterable[Sequence[str]]) -> str:
    """Return a table: each column has a CSS class and a heading, each cell is HTML."""
    classes, names = zip(*columns, strict=True)
    heads = "".join(f'<th scope="col">{name}</th>' for name in names)
    body = ""
    for row in rows:
        cells = zip(classes, row, strict=True)
        columns_html = (f'<td class="{each}">{cell}</td>' for each, cell in cells)
        body += f"<tr>{''.join(columns_html)}</tr>"

    table = f"<thead><tr>{heads}</tr></thead><tbody>{body}</tbody>"
    return f'<div class="orbit-scroll"><table class="orbit-index {css}">{table}</table></div>'
