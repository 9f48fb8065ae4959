"""`orbit audit`: what the history decided and no record explains."""

import click

from orbit_registry.cli.output import emit, format_option, open_registry, progress_display
from orbit_registry.lifecycle.audit import MOST_COMMITS
from orbit_registry.lifecycle.audit import audit as audited
from orbit_registry.render.changes import audit_text


@click.command("audit")
@click.option(
    "--commits",
    type=click.IntRange(min=1),
    default=MOST_COMMITS,
    show_default=True,
    help="Read only the newest ones.",
)
@format_option
def audit(commits: int, output: str) -> None:
    """List what the history decided and no record explains.

    It reads the commits of the branch that is checked out, the first parents alone: a merge is one
    step. It lists at most 25 things that look like a decision, are there still, and are named by no
    record: the strongest first, each with its commits and the command that starts the record. It
    writes nothing.

    orbit audit
    orbit audit --commits 1000 --format json
    """
    registry = open_registry()
    with progress_display() as show:
        report = audited(registry.workspace, commits, lambda done, of: show("commits", done, of))

    emit(output, report.as_data(), audit_text(report))
