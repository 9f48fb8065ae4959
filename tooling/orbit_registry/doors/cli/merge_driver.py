"""The merge driver that git calls."""

from pathlib import Path

import click


@click.command("merge-driver", hidden=True)
@click.argument("base", type=click.Path(path_type=Path))
@click.argument("ours", type=click.Path(path_type=Path))
@click.argument("theirs", type=click.Path(path_type=Path))
@click.argument("path")
@click.pass_context
def merge_driver(context: click.Context, base: Path, ours: Path, theirs: Path, path: str) -> None:
    """Merge a decision log entry by entry; git calls this with %O %A %B %P."""
    from orbit_registry.operations.merge import (
        texts,
    )  # of the other commands, only `resolve` reads merges

    del path  # git names the file
    context.exit(texts.merge_driver(base, ours, theirs))
