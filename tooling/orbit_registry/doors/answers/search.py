"""`search` and `related`: finding records by words and by links."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Annotated, Any

from orbit_registry.doors.answers.answer import Answer
from orbit_registry.doors.answers.arguments import (
    GENERAL,
    Count,
    Direction,
    Form,
)
from orbit_registry.doors.answers.call import Call, note
from orbit_registry.doors.answers.kinds import any_kind
from orbit_registry.doors.answers.notes import empty_notes, unknown_notes
from orbit_registry.doors.answers.records import clean, list_records
from orbit_registry.doors.answers.table import operation
from orbit_registry.doors.render import records as render
from orbit_registry.doors.render.hits import GENERIC, result_data, result_text
from orbit_registry.errors import plural, without_long_words
from orbit_registry.formats.secrets import without_secrets
from orbit_registry.formats.untrusted import inert_line
from orbit_registry.registry import Registry
from orbit_registry.repository.documents import prompts_of
from orbit_registry.repository.skills import SKILL
from orbit_registry.search.query import BUDGETS, Query, context_weights
from orbit_registry.search.search import SNIPPET, SearchResult, snippet

MOST_RELATED = 50
"""So many related records a tool shows."""


@operation(
    "search",
    job="Find",
    line="Find records by words.",
    of_kind=any_kind,
    tool="search",
    lists=True,
)
def search(
    call: Call,
    query: tuple[str, ...] = (),
    kind: Annotated[str | None, GENERAL] = None,
    tags: tuple[str, ...] = (),
    path: str | None = None,
    versions: tuple[str, ...] = (),
    context_tags: str = "",
    limit: Count | None = None,
    budget: Annotated[str | None, Form(enum=tuple(BUDGETS))] = None,
    explain: bool = False,
    everything: bool = False,
) -> Answer:
    """Find records of every kind by words.

    The best match comes first.

    orbit search "retry uploads" --tag network

    Args:
        query [TEXT]...: Words to look for.
        kind: Only of this kind.
        tags: Only with this scope tag.
        path PATH: Only records that apply to this file.
        versions: Only records for this version; all of several.
        context_tags TAGS: Tags that count more: `reviewer,jira-api=1.5`.
        limit: At most this many; else the budget decides.
        budget: How deep to search; else the text decides.
        explain: Print the parts of each score.
        everything --all: Include pending and closed records.

    Of a kind:
        Find {kinds} by words.

        The best match comes first.

        orbit {kind} search "retry uploads" --tag network
    """
    registry = call.registry
    is_agent = call.caller is not None
    if is_agent and not ("".join(query) or tags or path or versions or context_tags or budget):
        return list_records(call, kind, everything=everything, limit=limit)

    only = call.kind.name if call.kind is not None else kind
    if only not in (None, SKILL):
        only = registry.workspace.kinds.named(str(only)).name

    where = call.path(path) if path is not None and (path or not is_agent) else None
    question = Query(
        " ".join(query),
        kind=only,
        tags=tags,
        path=where,
        versions=versions,
        context=context_weights(context_tags),
        limit=limit or 0,
        everything=everything,
        budget=budget or "",
    )
    result = registry.search(question)
    if is_agent:
        result = _without_secrets(result, set(question.terms))

    in_project = [hit for hit in result.hits if not hit.record.path.startswith("~/")]
    text = result_text(result, explain=explain)
    return Answer(
        result_data(result, explain=explain),
        text,
        [*_show_commands(result)],
        unknown_notes(registry, tag=tags),
        [*_remarks(registry, question, result)],
        paths=[where] if where else [],
        record_ids=[hit.record.id for hit in in_project],
    )


def _remarks(registry: Registry, question: Query, result: SearchResult) -> Iterator[str]:
    """Yield what a person should know of a result, above all of an empty one."""
    if result.generic:
        yield GENERIC
    if result.note:
        yield result.note
    if not result.hits:
        yield from empty_notes(registry, by_scope=bool(question.path or question.tags))
        yield from _closed_notes(registry, question)
    if result.unknown and len(registry.collection.records):
        yield without_long_words(f"no record has {', '.join(result.unknown)}")


def _closed_notes(registry: Registry, question: Query) -> Iterator[str]:
    """Yield how many records would be found if those that wait or hold no longer counted."""
    if question.everything or question.is_generic:
        return

    result = registry.search(replace(question, everything=True))
    number = len(result.hits) + result.omitted
    if number:
        records = plural(
            number,
            "record that waits or holds no longer matches",
            "records that wait or hold no longer match",
        )
        yield note(f"{records}: add `--all`")


def _show_commands(result: SearchResult) -> Iterator[str]:
    for hit in result.hits[:3]:
        if hit.record.kind.name != SKILL:
            home = " -C ~" if hit.record.path.startswith("~/") else ""
            yield f"orbit{home} show {hit.name}"


def _without_secrets(result: SearchResult, query: set[str]) -> SearchResult:
    hits = []
    for hit in result.hits:
        prompts = prompts_of(hit.record.kind.folder, hit.record.kind.in_document)
        title = without_secrets(hit.record.title)
        excerpt = snippet(
            without_secrets(hit.text), query, title, prompts, markdown=hit.is_markdown
        )
        cut = inert_line(excerpt)[:SNIPPET]
        hits.append(replace(hit, record=clean(hit.record), snippet=cut))

    return replace(result, hits=tuple(hits))


@operation("related", job="Find", tool="related", lists=True)
def related(
    call: Call,
    any_id: str,
    depth: Annotated[int, Form(minimum=1, maximum=20)] = 1,
    direction: Direction = "both",
) -> Answer:
    """Show links and citations of a record.

    orbit related ADR-0012
    orbit related ADR-0012 --depth 2 --direction out

    Args:
        any_id ID: A record's id, or an earlier name of it.
        depth: At most this many links away.
        direction: Links from it, links to it, or both.
    """
    from orbit_registry.snapshot.related import related as walked  # DuckDB

    registry = call.registry
    record = registry.get(any_id)
    result = walked(registry.workspace, registry.reading, record, depth=depth, direction=direction)
    retirement = registry.collection.records.retirement(record)

    more: dict[str, Any] = {}
    text = ""
    if call.caller is not None:
        reached = [replace(near, record=clean(near.record)) for near in result.reached]
        omitted = len(reached[MOST_RELATED:])
        more["omitted"] = omitted
        result = replace(result, reached=tuple(reached[:MOST_RELATED]))
        if omitted:
            text = f"\nand {omitted} more: a smaller `depth`, or one `direction`"

    ids = [neighbour.record.id for neighbour in result.reached]
    return Answer(
        {**render.related_data(result), **more, **render.retirement_data(retirement)},
        render.with_retirement(retirement, render.related_text(result) + text),
        [f"orbit show {reached_id}" for reached_id in ids[:3]],
        record_ids=[record.id, *ids],
    )
