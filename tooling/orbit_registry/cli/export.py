"""`orbit export`: write what other programs read by themselves; it changes no record."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from orbit_registry.cli.kind import open_registry
from orbit_registry.cli.output import emit, format_option, plural

if TYPE_CHECKING:
    from orbit_registry.exporters import rule_files

RULE_AGENTS = ("claude", "cursor", "copilot", "windsurf", "agents-md")


@click.group()
def group() -> None:
    """Write rule files that agents read by themselves."""


@group.command()
@click.option("--agent", "agents", type=click.Choice(RULE_AGENTS), multiple=True, required=True, help="For which one.")
@click.option("--check", is_flag=True, help="Write nothing; exit 1 if a file is not what it would be.")
@click.option("--dry-run", is_flag=True, help="Say what would be written, write nothing.")
@format_option
def rules(agents: tuple[str, ...], check: bool, dry_run: bool, output: str) -> None:
    """Write the records that are in force and name paths as rule files of an agent.

    \b
    orbit export rules --agent claude
    orbit export rules --agent copilot --agent agents-md --check
    """
    from orbit_registry.exporters import rule_files

    workspace = open_registry().workspace
    exports = rule_files.plan(workspace, agents)
    lines = []
    for export in exports:
        if not (check or dry_run):
            rule_files.write(workspace, export)
        lines += _said(export, written=not (check or dry_run))
    differs = check and any(export.changes for export in exports)
    again = " ".join(f"--agent {export.agent}" for export in exports)
    following = [f"orbit export rules {again}"] if (check or dry_run) and any(one.changes for one in exports) else []
    data = {"rules": [export.as_data() for export in exports], "written": not (check or dry_run)}
    emit(output, data, "\n".join(lines), ok=not differs, next_commands=following)
    if differs:
        raise click.exceptions.Exit(1)


def _said(export: rule_files.RuleExport, *, written: bool) -> list[str]:
    held = f"{plural(len(export.records), 'record')} in {plural(len(export.files), 'file')}"
    lines = [f"{export.agent}: {held}" + ("" if export.changes else ", as it was")]
    words = {"add": "added", "change": "changed", "remove": "removed"}
    lines += [f"  {words[one.what] if written else one.what}: {one.path}" for one in export.changes]
    lines += [f"  not said: {one.glob} of {one.id}: {one.reason}" for one in export.unsaid]
    if export.omitted:
        lines.append(f"  {plural(export.omitted, 'record')} had no room: a file holds 1,000 tokens")
    if export.ignore and any(one.what == "add" for one in export.changes):
        lines.append(f"  to keep them out of git, put this into .gitignore: {export.ignore}")
    return lines
