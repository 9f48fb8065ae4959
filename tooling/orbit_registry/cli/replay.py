"""`orbit replay`: what agents would have been shown in the commits of a history; it changes nothing."""

from __future__ import annotations

from pathlib import Path

import click

from orbit_registry.cli.output import emit, format_option
from orbit_registry.registry import Registry


@click.command()
@click.option(
    "--repo",
    type=click.Path(file_okay=False, exists=True, path_type=Path),
    default=".",
    help="The workspace whose records and history are asked; the current folder's if not given.",
)
@click.option("--since", metavar="REF", help="Leave out the commits up to this one: a commit, a tag or a branch.")
@click.option(
    "--commits",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Take the commits of this file: JSON lines of {commit, date, subject, files}.",
)
@click.option("--effect", "is_effect", is_flag=True, help="What records did: commits that had one beside earlier ones.")
@format_option
def replay(repo: Path, since: str | None, commits: Path | None, is_effect: bool, output: str) -> None:
    """Walk commits and say what would have been shown for the files each touched, with the records of then.

    One file is one call of an editing tool, one commit one session. Shown records that a commit speaks of, by id or by
    one of their tasks, count as right; most commits speak of none, so the counts stand beside each share.

    \b
    orbit replay --since v1.0
    orbit replay --repo ../project --commits history.jsonl --format json
    orbit replay --effect          whether commits were mended less often once a record stood
    """
    from orbit_registry.loop.replay.run import effect
    from orbit_registry.loop.replay.run import replay as replayed

    if is_effect:
        measured = effect(Registry.open(repo).workspace, since, commits)
        emit(output, measured.as_data(), measured.text(), next_commands=["orbit stats --effect", "orbit replay"])
        return
    found = replayed(Registry.open(repo).workspace, since, commits)
    emit(output, found.as_data(), found.text(), next_commands=["orbit scope suggest", "orbit coverage"])
