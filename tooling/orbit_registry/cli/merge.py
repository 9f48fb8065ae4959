"""`orbit resolve` and the merge driver that git calls: what to do where branches met."""

from __future__ import annotations

from pathlib import Path

import click

from orbit_registry.cli.output import emit, format_option
from orbit_registry.cli.places import open_registry
from orbit_registry.registry import Registry


@click.command()
@click.option("--dry-run", is_flag=True, help="Say what would be done, do nothing.")
@format_option
@click.pass_context
def resolve(context: click.Context, dry_run: bool, output: str) -> None:
    """Mend a merge: numbers taken twice, decision logs and votes that conflict.

    Works from git's index, by entry. The number that the default branch has stays; the other record gets a new one,
    its citations follow and its old id goes on resolving. Nothing is committed.

    \b
    orbit resolve --dry-run
    """
    report = open_registry().resolve(dry_run=dry_run)
    emit(output, report.as_data(), report.text(), next_commands=["git diff --cached", "orbit check"])
    if report.unresolved:
        context.exit(1)


@click.command("merge-driver", hidden=True)
@click.argument("base", type=click.Path(path_type=Path))
@click.argument("ours", type=click.Path(path_type=Path))
@click.argument("theirs", type=click.Path(path_type=Path))
@click.argument("path")
@click.pass_context
def merge_driver(context: click.Context, base: Path, ours: Path, theirs: Path, path: str) -> None:
    """Merge a decision log entry by entry; git calls this with %O %A %B %P."""
    context.exit(Registry.merge_driver(base, ours, theirs, path))
