"""Lists of records as Markdown: indexes, timelines, tags, documents and tasks."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from orbit_registry.errors import plural
from orbit_registry.model.kind import Kind
from orbit_registry.model.record import Record
from orbit_registry.site.groups import tag_url
from orbit_registry.site.lists import Index, cells_of, columns_of, name_of
from orbit_registry.site.markdown_words import code, escaped, inline, link, table
from orbit_registry.site.published import Published
from orbit_registry.site.relations import Relations
from orbit_registry.site.sitemap import SiteMap, url_of
from orbit_registry.site.twins import TwinLinks
from orbit_registry.site.urls import relative
from orbit_registry.site.words import PHASES, date_of

UNDATED = "without a date"


def record_link(record: Record, links: TwinLinks) -> str:
    """Return the id and the title of a record as a link to its Markdown."""
    return to(f"{escaped(record.id)} {inline(record.title)}", url_of(record), links)


def to(words: str, url: str, links: TwinLinks) -> str:
    """Return words as a link to a page of the site."""
    return link(words, links.address(relative(links.url, url)))


def items(records: Iterable[Record], links: TwinLinks) -> str:
    """Return records as a list, each with its status."""
    return "\n".join(
        f"- {record_link(record, links)} ({escaped(record.status.word)})" for record in records
    )


def index_markdown(index: Index, relations: Relations, site: SiteMap, links: TwinLinks) -> str:
    """Return one page of an index as a table."""
    records = index.pages[links.url]
    rows = [_cells(record, relations, site, links) for record in records]
    used = [column for column in columns_of(index.kind) if column not in index.constant]
    used = [column for column in used if any(row.get(column) for row in rows)]

    total = len(index.records)
    noun = index.kind.label if total == 1 else index.kind.labels
    part = "" if len(records) == total else f", {len(records):,} on this page"
    heads = [name_of(column) for column in used]
    listed = table(heads, [[row.get(column, "") for column in used] for row in rows])
    parts = [f"{total:,} {noun.lower()}{part}", listed, _further(index, links)]
    return "\n\n".join(filter(None, parts))


def _cells(record: Record, relations: Relations, site: SiteMap, links: TwinLinks) -> dict[str, str]:
    """Return a row of an index by column, as Markdown."""
    headline = record.kind.headline
    row = {}
    for column, text, _ in cells_of(record, links.url, relations, site):
        row[column] = escaped(text)
        if column in ("id", headline, "title") and text:
            row[column] = to(inline(text), url_of(record), links)

    sentence = relations.sentence(record)
    if sentence and headline in row:
        row[headline] += f"\n{escaped(sentence)}"

    later = relations.replaced_by(record)
    if later and headline in row:
        row[headline] += f" → {', '.join(map(escaped, later))}"

    return row


def _further(index: Index, links: TwinLinks) -> str:
    if len(index.pages) < 2:
        return ""

    pages = (
        to(escaped(f"{some[0].id} – {some[-1].id}"), url, links)
        for url, some in index.pages.items()
    )
    return f"Pages: {', '.join(pages)}"


def timeline_markdown(records: Sequence[Record], links: TwinLinks) -> str:
    """Return records by the month that they are from, the newest first."""
    by_month: dict[str, list[Record]] = defaultdict(list)
    for record in records:
        by_month[date_of(record)[:7] or UNDATED].append(record)

    months = sorted(by_month, key=lambda month: (month != UNDATED, month), reverse=True)
    return "\n\n".join(_month(month, by_month[month][::-1], links) for month in months)


def _month(month: str, records: Sequence[Record], links: TwinLinks) -> str:
    listed = (
        f"- {date_of(record)} {record_link(record, links)} ({record.status.word})".strip()
        for record in records
    )
    return "\n\n".join([f"## {month} ({len(records):,})", "\n".join(listed)])


def tags_markdown(tags: Mapping[str, Sequence[Record]], links: TwinLinks) -> str:
    """Return the tags, each with its number of records."""
    return "\n".join(
        f"- {to(escaped(tag), tag_url(tag), links)} {len(records):,}"
        for tag, records in tags.items()
    )


def group_markdown(records: Sequence[Record], links: TwinLinks) -> str:
    """Return the records that share a word, live ones first."""
    ordered = sorted(records, key=lambda record: (PHASES.index(record.phase), record.sort_key))
    return f"{plural(len(ordered), 'record')}\n\n{items(ordered, links)}"


def documents_markdown(data: Published, links: TwinLinks) -> str:
    """Return the mirrored documents by folder."""
    titles = data.context.staged.titles
    folders: dict[str, list[str]] = defaultdict(list)
    for document in data.context.sources.documents:
        if document.path in titles:
            line = f"- {to(escaped(titles[document.path]), document.url, links)}"
            folders[document.path.rpartition("/")[0] or "."].append(line)

    sections = (f"## {escaped(name)}\n\n" + "\n".join(folders[name]) for name in sorted(folders))
    return "\n\n".join(sections)


def tasks_markdown(data: Published, links: TwinLinks) -> str:
    """Return the tasks, each with the records that name it."""
    tasks = data.context.sources.tasks
    lines = []
    for task, citing in tasks.by_name.items():
        lines.append(f"- {link(code(task), tasks.lookup.address(task) or '')}")
        lines += _citing(citing, links)

    return "\n".join(lines)


def _citing(citing: Iterable[tuple[Record, str]], links: TwinLinks) -> Iterator[str]:
    for record, way in citing:
        words = ", ".join(filter(None, [way, record.status.word]))
        yield f"  - {record_link(record, links)} ({escaped(words)})"


def counts_markdown(indexes: Iterable[Index], links: TwinLinks) -> str:
    """Return how many records each kind has, in all and by status."""
    return "\n".join(f"- {_counted(index.kind, index.records, links)}" for index in indexes)


def _counted(kind: Kind, records: Sequence[Record], links: TwinLinks) -> str:
    name = (kind.label if len(records) == 1 else kind.labels).lower()
    counts = Counter(record.status.word for record in records)
    words = ", ".join(f"{count:,} {escaped(word)}" for word, count in counts.items())
    return f"{to(f'{len(records):,} {escaped(name)}', f'{kind.plural}/', links)}: {words}"
