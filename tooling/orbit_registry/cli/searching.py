"""`orbit search` and `orbit KIND search`: finds records by words; ranks nothing itself."""

from __future__ import annotations

from typing import Any

import click

from orbit_registry.answers.hits import result_data, result_text
from orbit_registry.cli.kind import open_registry
from orbit_registry.cli.output import emit, format_option, warn_of_unread
from orbit_registry.cli.places import from_root
from orbit_registry.cli.terminal import visible
from orbit_registry.kinds.table import Kind


def search_command(kind: Kind | None) -> click.Command:
    """Return `orbit search`, or `orbit KIND search`."""

    def search(text: tuple[str, ...], output: str, limit: int, everything: bool, **values: Any) -> None:
        registry = open_registry()
        wanted = kind.name if kind is not None else values.get("kind")
        path = values["path"]
        result = registry.search(
            " ".join(text),
            kind=wanted,
            tags=values["tag"],
            path=from_root(registry, path) if path is not None else None,
            limit=limit,
            everything=everything,
        )
        shown = [f"orbit show {hit.record.id}" for hit in result.hits[:3]]
        emit(output, result_data(result), result_text(result), next_commands=shown)
        if output == "text" and result.unknown:
            click.echo(visible(f"no record has {', '.join(result.unknown)}"), err=True)
        warn_of_unread(registry.collection.problems)

    params: list[click.Parameter] = [
        click.Argument(["text"], nargs=-1),
        click.Option(["--tag"], multiple=True, help="Only with this scope tag."),
        click.Option(["--path"], metavar="PATH", help="Only what applies to this file, named from where you are."),
        click.Option(["--limit"], type=click.IntRange(min=1), default=10, show_default=True, help="At most so many."),
        click.Option(["--all", "everything"], is_flag=True, help="What waits or is closed too."),
    ]
    if kind is None:
        params.insert(1, click.Option(["--kind"], help="Only of this kind."))
    what = kind.labels.lower() if kind is not None else "records of every kind"
    example = f"orbit {kind.name} search" if kind is not None else "orbit search"
    said = f'Find {what} by words, the best first.\n\n\b\n{example} "retry uploads" --tag network'
    return format_option(click.Command("search", params=params, callback=search, help=said))


search = search_command(None)
