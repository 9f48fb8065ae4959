"""`orbit link`, `orbit unlink`, `orbit related`: links between records of every kind, as they are stated or derived."""

from __future__ import annotations

import click

from orbit_registry.cli.output import emit, format_option, warn_of_unread
from orbit_registry.cli.places import open_registry
from orbit_registry.model.ids import DIRECTIONS, Link
from orbit_registry.model.record import Record
from orbit_registry.registry import Registry
from orbit_registry.render.related import related_data, related_text


@click.command("link")
@click.argument("subject", metavar="ID")
@click.argument("rel")
@click.argument("target", metavar="OTHER")
@format_option
def link(subject: str, rel: str, target: str, output: str) -> None:
    """State what a record is to another; words that read from the other end are written there.

    \b
    orbit link ADR-0012 amends ADR-0007
    orbit link ADR-0007 amended_by ADR-0012        # the same
    orbit link RES-7k3fq proves R-9x2ab            # a script that enforces a rule
    """
    from orbit_registry.operations import links as linking  # it reads documents, which `related` does not

    registry = open_registry()
    stated = linking.link(registry.workspace, registry.collection.records, subject, rel, target, registry.author())
    _say(*stated, output, "")


@click.command("unlink")
@click.argument("subject", metavar="ID")
@click.argument("rel")
@click.argument("target", metavar="OTHER")
@format_option
def unlink(subject: str, rel: str, target: str, output: str) -> None:
    """Take back a link that a record states.

    \b
    orbit unlink ADR-0012 amends ADR-0007
    """
    from orbit_registry.operations import links as linking

    registry = open_registry()
    stated = linking.unlink(registry.workspace, registry.collection.records, subject, rel, target, registry.author())
    _say(*stated, output, "no longer: ")


def _say(record: Record, stated: Link, output: str, before: str) -> None:
    data = {"id": record.id, "rel": stated.rel, "to": stated.to, "path": record.path}
    text = f"{before}{record.id} {stated.rel} {stated.to}\n  {record.path}"
    emit(output, data, text, next_commands=[f"orbit related {record.id}", "orbit check"])


@click.command("related")
@click.argument("any_id", metavar="ID")
@click.option("--depth", type=click.IntRange(1, 20), default=1, show_default=True, help="At most so many links away.")
@click.option(
    "--direction", type=click.Choice(DIRECTIONS), default="both", show_default=True,
    help="What it leads to, what leads to it, or both.",
)  # fmt: skip
@format_option
def related(any_id: str, depth: int, direction: str, output: str) -> None:
    """Show what a record has to do with: links that are stated, supersession, and what texts and code cite.

    \b
    orbit related ADR-0012
    orbit related ADR-0012 --depth 2 --direction out
    """
    from orbit_registry.snapshot.related import related as walked  # DuckDB

    registry = Registry.open()
    record = registry.get(any_id)
    found = walked(registry.workspace, registry.reading, record, depth=depth, direction=direction)
    shows = [f"orbit show {one.record.id}" for one in found.reached[:3]]
    emit(output, related_data(found), related_text(found), next_commands=shows)
    warn_of_unread(registry)
