"""`orbit sync`, `orbit query`, `orbit snapshot export`: the derived file and questions to it."""

from __future__ import annotations

import json
from pathlib import Path

import click

from orbit_registry.cli.output import emit, format_option
from orbit_registry.cli.places import open_registry, say_unread
from orbit_registry.hook.events import SYNCED
from orbit_registry.workspace.event_log import write_event


@click.command()
@click.option("--rebuild", is_flag=True, help="Make it anew, whatever is there.")
@format_option
def sync(rebuild: bool, output: str) -> None:
    """Bring snapshot and push index up to date with the files; cheap when nothing changed.

    \b
    orbit sync
    """
    registry = open_registry()
    result = registry.sync(rebuild=rebuild)
    write_event(registry.workspace, SYNCED, [], result.counted(), result.seconds)
    emit(output, result.as_data(), result.text(), next_commands=['orbit query "FROM vote_ranking"'])
    say_unread(registry)


@click.command()
@click.argument("sql")
@click.option(
    "--format",
    "output",
    type=click.Choice(["table", "json", "csv"]),
    default="table",
    show_default=True,
    help="How to print.",
)
def query(sql: str, output: str) -> None:
    """Ask the snapshot one SQL question; it is brought up to date first and can't be changed.

    \b
    orbit query "SELECT id, title FROM records WHERE status = 'accepted'"
    orbit query "FROM scope_match('src/app.py')"
    orbit query "FROM resolve_id('project-learnings/ADR-006')" --format json
    """
    answer = open_registry().query(sql, output)
    if output == "json":
        emit(output, json.loads(answer), "")
    else:
        click.echo(answer, nl=False)


@click.group()
def group() -> None:
    """The snapshot as a file for others.

    \b
    orbit snapshot export registry.duckdb
    """


@group.command("export")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--parquet", type=click.Path(file_okay=False, path_type=Path), help="Also a Parquet file a table, here.")
@click.option("--unfiltered", is_flag=True, help="Also what `site.publish` withholds.")
@click.option("--vectors", is_flag=True, help="Also the vectors of the configured model, a row a record.")
@format_option
def export(file: Path, parquet: Path | None, unfiltered: bool, vectors: bool, output: str) -> None:
    """Write a copy of the snapshot without local state, readable by DuckDB 1.2 and later.

    \b
    orbit snapshot export orbit.duckdb --parquet tables/
    """
    from orbit_registry.snapshot.current import export_snapshot  # of the other commands none needs it

    registry = open_registry()
    made = registry.vectors if vectors else None
    written = export_snapshot(registry.workspace, file, parquet, unfiltered=unfiltered, vectors=made)
    emit(output, {"written": [str(path) for path in written]}, "\n".join(str(path) for path in written))
