"""`orbit search` and `orbit KIND search`: finds records by words; ranks nothing itself."""

from __future__ import annotations

from typing import Any

import click

from orbit_registry.cli.output import emit, format_option, warn_of_unread
from orbit_registry.cli.places import from_root, open_registry, say_unknown
from orbit_registry.cli.terminal import visible
from orbit_registry.model.kind import Kind
from orbit_registry.render.hits import GENERIC, result_data, result_text
from orbit_registry.repository.skills import SKILL
from orbit_registry.search.query import BUDGETS, Query, context_weights


def search_command(kind: Kind | None) -> click.Command:
    """Return `orbit search`, or `orbit KIND search`."""

    def search(text: tuple[str, ...], output: str, explain: bool, **values: Any) -> None:
        registry = open_registry()
        path = values["path"]
        query = Query(
            " ".join(text),
            kind=kind.name if kind is not None else values.get("kind"),
            tags=values["tag"],
            path=from_root(registry, path) if path is not None else None,
            versions=values["version"],
            context=context_weights(values["context_tags"]),
            limit=values["limit"] or 0,
            everything=values["everything"],
            budget=values["budget"] or "",
        )
        result = registry.search(query)
        there = [("orbit -C ~" if hit.record.path.startswith("~/") else "orbit", hit.name)
                 for hit in result.hits[:3] if hit.record.kind.name != SKILL]  # fmt: skip
        shown = [f"{orbit} show {name}" for orbit, name in there]
        said = result_text(result, explain=explain)
        emit(output, result_data(result, explain=explain), said, next_commands=shown)
        if output == "text" and result.generic:
            click.echo(GENERIC, err=True)
        if output == "text" and result.note:
            click.echo(visible(result.note), err=True)
        if output == "text" and result.unknown:
            click.echo(visible(f"no record has {', '.join(result.unknown)}"), err=True)
        say_unknown(registry, tag=values["tag"])
        warn_of_unread(registry)

    params: list[click.Parameter] = [
        click.Argument(["text"], nargs=-1),
        click.Option(["--tag"], multiple=True, help="Only with this scope tag."),
        click.Option(["--path"], metavar="PATH", help="Only what applies to this file, named from where you are."),
        click.Option(["--version"], multiple=True, help="Only what is for this version; several are all asked for."),
        click.Option(
            ["--context-tags"], default="", metavar="TAGS", help="Tags that weigh more here: `reviewer,jira-api=1.5`."
        ),
        click.Option(["--limit"], type=click.IntRange(min=1), help="At most so many; the budget's own if not given."),
        click.Option(
            ["--budget"], type=click.Choice(list(BUDGETS)),
            help="How deep to look; the shape of the text decides if not given.",
        ),
        click.Option(["--explain"], is_flag=True, help="Say what each score is made of."),
        click.Option(["--all", "everything"], is_flag=True, help="What waits or is closed too."),
    ]  # fmt: skip
    if kind is None:
        params.insert(1, click.Option(["--kind"], help="Only of this kind."))
    what = kind.labels.lower() if kind is not None else "records of every kind"
    example = f"orbit {kind.name} search" if kind is not None else "orbit search"
    said = f'Find {what} by words, the best first.\n\n\b\n{example} "retry uploads" --tag network'
    return format_option(click.Command("search", params=params, callback=search, help=said))


search = search_command(None)
