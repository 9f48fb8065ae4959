"""`orbit learning`: the shared verbs, and by their old names those that every kind has elsewhere."""

from __future__ import annotations

import click

from orbit_registry.cli.freshness import prune, verify
from orbit_registry.cli.kind_group import kind_group
from orbit_registry.cli.output import emit, format_option
from orbit_registry.registry import Registry

group = kind_group("learning")
group.add_command(verify)
group.add_command(prune)


@group.command("migrate-layout")
@click.option("--dry-run", is_flag=True, help="Say what would be moved, move nothing.")
@format_option
def migrate_layout(dry_run: bool, output: str) -> None:
    """Bring learnings of an older layout into today's; a second run changes nothing.

    \b
    Flat files (L-0001.yaml, superseded/) and ids with a day (L20260517-3) are moved to a folder a record, as
    one step. Old ids go on resolving.

    \b
    orbit learning migrate-layout --dry-run
    """
    report = Registry.migrate_layout(dry_run=dry_run)
    emit(output, report.as_data(), report.text(), next_commands=["git diff --stat", "orbit check"])
