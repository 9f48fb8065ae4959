"""Pages that list records as Markdown: a line for each record, with what the page says of it."""

from collections.abc import Iterable, Mapping, Sequence

from orbit_registry.model.record import Record
from orbit_registry.site import console, health
from orbit_registry.site.groups import tag_url
from orbit_registry.site.language import status_word, thing_of, things_of, word
from orbit_registry.site.lists import Index
from orbit_registry.site.map import related_edges, verb_within
from orbit_registry.site.markdown_words import code, escaped, fenced, inline, link
from orbit_registry.site.published import Published
from orbit_registry.site.sitemap import url_of
from orbit_registry.site.twins import TwinLinks
from orbit_registry.site.urls import relative
from orbit_registry.site.words import day_of


def to(words: str, url: str, links: TwinLinks) -> str:
    """Return words as a link to a page of the site."""
    return link(words, links.address(relative(links.url, url)))


def record_link(record: Record, links: TwinLinks) -> str:
    """Return the id and the title of a record as a link to its Markdown."""
    return to(f"{escaped(record.id)} {inline(record.title)}", url_of(record), links)


def line(record: Record, note: str, links: TwinLinks) -> str:
    """Return the line of a record, with its status and a note, which is Markdown."""
    facts = ", ".join(filter(None, [status_word(record.status), day_of(record)]))
    after = f": {note}" if note else ""
    return f"- {record_link(record, links)} ({escaped(facts)}){after}"


def items(data: Published, records: Iterable[Record], links: TwinLinks) -> str:
    """Return records as a list, decisions with their sentence."""
    relations = data.relations
    lines = []
    for record in records:
        note = escaped(relations.sentence(record))
        later = ", ".join(map(escaped, relations.replaced_by(record)))
        parts = [note, word("event.superseded", ids=later) if later else ""]
        lines.append(line(record, "; ".join(filter(None, parts)), links))

    return "\n".join(lines)


def index_markdown(data: Published, index: Index, links: TwinLinks) -> str:
    """Return one page of an index; on another page, a link to it."""
    if links.url not in index.pages:
        return f"- {_counted(index, links)}"

    listed = items(data, index.pages[links.url], links)
    others = [
        to(f"{some[0].id} – {some[-1].id}", url, links)
        for url, some in index.pages.items()
        if url != links.url
    ]
    return "\n\n".join([listed, *others])


def _counted(index: Index, links: TwinLinks) -> str:
    total = len(index.records)
    name = f"{total:,} {thing_of(index.kind) if total == 1 else things_of(index.kind)}"
    return to(escaped(name), f"{index.kind.plural}/", links)


def tags_markdown(tags: Mapping[str, Sequence[Record]], links: TwinLinks) -> str:
    """Return the tags, each with its number of records."""
    return "\n".join(
        f"- {to(escaped(tag), tag_url(tag), links)} {len(records):,}"
        for tag, records in tags.items()
    )


def counts(data: Published, links: TwinLinks) -> str:
    """Return how many records each kind has."""
    return "\n".join(f"- {_counted(index, links)}" for index in data.indexes.values())


def home(data: Published, links: TwinLinks) -> str:
    """Return the newest decisions, what happened lately, and the lists of records."""
    parts = []
    if data.home.decided:
        parts.append(f"## {word('home.decided')}")

    parts += [items(data, each.records, links) for each in data.home.decided]

    lines = []
    for event in (*data.home.first, *data.home.others):
        by = f" {word('record.by', name=escaped(event.person))}" if event.person else ""
        more = f" {word('event.more', n=event.others)}" if event.others else ""
        about = f": {escaped(event.about)}" if event.about else ""
        which = record_link(event.record, links)
        lines.append(f"- {event.day} {which}: {escaped(event.verb)}{more}{by}{about}")

    if lines:
        parts.append("\n".join([f"## {word('home.lately')}\n", *lines]))

    return "\n\n".join([*parts, counts(data, links)])


def paths(data: Published, links: TwinLinks) -> str:
    """Return the globs of each live record."""
    scoped = [record for record in data.records if record.phase == "live" and record.globs]
    lines = [line(record, ", ".join(map(code, record.globs)), links) for record in scoped]
    about = word("path.plain", command=code("orbit match PATH"))
    overlooked = f"{escaped(data.overlooked)}." if data.overlooked else ""
    return "\n\n".join(filter(None, [about, overlooked, "\n".join(lines)]))


def relations(data: Published, links: TwinLinks) -> str:
    """Return which record supersedes, names or cites which."""
    by_id = data.relations.by_id
    link_of = {any_id: record_link(record, links) for any_id, record in by_id.items()}
    edges = related_edges([*by_id.values()], data.relations)
    lines = [
        f"- {link_of[edge.source]} {verb_within(edge)} {link_of[edge.target]}" for edge in edges
    ]
    return "\n".join(lines)


def needs(data: Published, links: TwinLinks) -> str:
    """Return what needs attention, with the command for it."""
    today, freshness = data.relations.today, data.context.freshness
    parts = []
    for concern in health.concerns_of(data.records, freshness, today, data.visibility):
        rows = concern.rows[: health.MOST_LISTED]
        lines = [line(record, f"{escaped(why)} {code(does)}", links) for record, why, does in rows]
        if lines:
            parts += [f"## {concern.name}", f"{code(concern.command)} {concern.about}"]
            parts.append("\n".join(lines))

    return "\n\n".join(parts) or f"**{word('health.fine')}.**"


def queries(data: Published, links: TwinLinks) -> str:
    """Return what can be asked in SQL."""
    name = code("snapshot.duckdb")
    file = to(name, "snapshot.duckdb", links) if data.has_database else name
    shell, query = code("duckdb snapshot.duckdb"), code("orbit query")
    parts = [word("query.about", file=file, shell=shell, query=query)]
    for what, sql in console.examples_of(data.records):
        parts += [escaped(what), fenced(sql)]

    return "\n\n".join(parts)


def tasks(data: Published, links: TwinLinks) -> str:
    """Return the tasks, each with the records that name it."""
    sources = data.context.sources
    parts = []
    for task, citing in sources.tasks.by_name.items():
        parts.append(link(code(task), sources.tasks.lookup.address(task) or ""))
        parts.append("\n".join(line(record, way, links) for record, way in citing))

    return "\n\n".join(parts)


def documents(data: Published, links: TwinLinks) -> str:
    """Return the mirrored documents."""
    titles = data.context.staged.titles
    listed = [each for each in data.context.sources.documents if each.path in titles]
    return "\n".join(f"- {to(escaped(titles[each.path]), each.url, links)}" for each in listed)
