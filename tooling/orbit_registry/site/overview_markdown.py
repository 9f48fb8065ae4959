"""Overviews as Markdown: the start page, what applies to paths, the map, health, and what can be
asked in SQL.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping

from orbit_registry.errors import plural
from orbit_registry.model.record import Record
from orbit_registry.render.records import unread_files
from orbit_registry.seams import load
from orbit_registry.site import console, health
from orbit_registry.site.curated import extra_pages
from orbit_registry.site.events import event_of
from orbit_registry.site.home import made_decisions
from orbit_registry.site.language import relation_within
from orbit_registry.site.list_markdown import (
    counts_markdown,
    documents_markdown,
    index_markdown,
    record_link,
    tasks_markdown,
    to,
)
from orbit_registry.site.markdown_words import code, escaped, fenced, table
from orbit_registry.site.published import Published
from orbit_registry.site.relations import Relations
from orbit_registry.site.sitemap import url_of
from orbit_registry.site.twins import TwinLinks
from orbit_registry.site.words import date_of

DECIDED, LATELY = 12, 20


def _home(data: Published, links: TwinLinks) -> str:
    """Return the newest decisions, each with its sentence, and what happened lately."""
    decided = []
    for record in made_decisions(data.records)[:DECIDED]:
        sentence = data.relations.sentence(record)
        decided.append(f"- {record_link(record, links)} {date_of(record)}".rstrip())
        decided += [f"  {escaped(sentence)}"] if sentence else []

    events = [event_of(record, data.relations) for record in data.records]
    events = [event for event in events if event.day]
    events.sort(key=lambda event: (event.day, event.record.sort_key), reverse=True)
    lately = []
    for event in events[:LATELY]:
        by = f" by {escaped(event.person)}" if event.person else ""
        line = f"- {event.day} {record_link(event.record, links)}: {escaped(event.verb)}{by}"
        lately.append(line)

    parts = ["## Decided\n\n" + "\n".join(decided)] if decided else []
    if lately:
        parts.append("## Lately\n\n" + "\n".join(lately))

    return "\n\n".join([*parts, _counts(data, links)])


def _counts(data: Published, links: TwinLinks) -> str:
    return counts_markdown(data.indexes.values(), links)


def _paths(data: Published, links: TwinLinks) -> str:
    """Return the globs of each live record."""
    lines = []
    for record in data.records:
        if record.phase == "live" and record.globs:
            globs = ", ".join(map(code, record.globs))
            lines.append(f"- {record_link(record, links)}: {globs}")

    scopes = "\n".join(lines) or "No record says which files it applies to."
    overlooked = f"{escaped(data.overlooked)}." if data.overlooked else ""
    command = "`orbit match PATH` says which records apply to a path."
    return "\n\n".join(filter(None, [command, overlooked, "## Scopes", scopes]))


def _map(data: Published, links: TwinLinks) -> str:
    """Return what each record supersedes and names, and what cites it."""
    lines: list[str] = []
    for record in data.records:
        related = _related(record, data.relations)
        if related:
            lines.append(f"- {record_link(record, links)} ({escaped(record.status.word)})")

        for label, others in related.items():
            words = (
                record_link(other, links) if isinstance(other, Record) else escaped(other)
                for other in others
            )
            lines.append(f"  - {label}: {'; '.join(words)}")

    return "\n".join(lines) or "No record names another yet."


def _related(record: Record, relations: Relations) -> dict[str, list[Record | str]]:
    """Return the records that one is related to, by how; the id of one that is not shown."""
    related: dict[str, list[Record | str]] = defaultdict(list)
    for any_id in relations.replaces(record):
        related[relation_within("supersedes")].append(relations.by_id.get(any_id) or any_id)

    for each in record.links:
        label = relation_within(each.rel)
        related[label].append(relations.by_id.get(each.to) or each.to)

    citing = relations.citers.records.get(url_of(record))
    if citing:
        related["cited by"] += citing

    return related


def _health(data: Published, links: TwinLinks) -> str:
    """Return what needs attention, with the command for it, coverage, and ages."""
    context, relations = data.context, data.relations
    publication = context.sources.publication
    judged = health.concerns_of(data.records, context.freshness, relations.today, data.visibility)
    concerns = [concern for concern in judged if concern.rows]
    unread = () if publication.is_active else unread_files(context.problems)
    parts = [] if concerns or unread else ["**Nothing needs attention.**"]

    for concern in concerns:
        rows = [
            (record_link(record, links), escaped(reason), code(command))
            for record, reason, command in concern.rows[: health.MOST_LISTED]
        ]
        parts += [
            f"## {concern.name} ({len(concern.rows):,})",
            f"{code(concern.command)} {escaped(concern.about)}",
            table(("Record", "Why", "Command"), rows),
        ]

    if unread:
        paths = "\n".join(f"- {code(path)}" for path in unread[: health.MOST_LISTED])
        parts += ["## Files without a readable record", paths]

    return "\n\n".join([*parts, *_coverage(data), *_ages(data)])


def _coverage(data: Published) -> list[str]:
    counts = health.coverage_of(data.context.sources.publication, data.records)
    rows = [
        (code(name or "."), f"{part.covered:,} of {part.files:,}")
        for name, part in sorted(counts.items())[: health.MOST]
    ]
    return ["## Coverage", table(("Folder", "Files with a record"), rows)] if rows else []


def _ages(data: Published) -> list[str]:
    ages = health.ages_of(data.records, data.relations.today)
    rows = "\n".join(f"- {name}: {count:,}" for name, count in ages)
    return [f"## {health.ages_title(ages)}", rows] if ages else []


def _console(data: Published, links: TwinLinks) -> str:
    name = code("snapshot.duckdb")
    file = to(name, "snapshot.duckdb", links) if data.has_database else name
    about = f"Every record, scope, link and vote is in {file}, a DuckDB file."
    examples = (
        f"{escaped(what)}\n\n{fenced(sql)}" for what, sql in console.examples_of(data.records)
    )
    return "\n\n".join([about, "## What can be asked", *examples])


_PARTS: Mapping[str, Callable[[Published, TwinLinks], str]] = {
    "home": _home,
    "counts": _counts,
    "paths": _paths,
    "explorer": _paths,
    "map": _map,
    "health": _health,
    "console": _console,
    "tasks": tasks_markdown,
    "documents": documents_markdown,
}


def part_markdown(data: Published, name: str, links: TwinLinks) -> str:
    """Return what a page shows by a name as Markdown; empty for a name that means none."""
    part = _PARTS.get(name)
    if part is not None:
        return part(data, links)

    page = extra_pages().get(name)
    if page is not None:
        return str(load(page.markdown)(data, links))

    index = data.indexes.get(name.removeprefix("index-"))
    if index is None:
        return ""

    on_its_page = TwinLinks(f"{index.kind.plural}/", links.base_url)
    if on_its_page.url == links.url:
        return index_markdown(index, data.relations, data.site, links)

    return (
        f"- {plural(len(index.records), 'record')}: {to(index.kind.labels, on_its_page.url, links)}"
    )
