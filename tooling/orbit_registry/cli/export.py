"""`orbit export`: write what other programs read by themselves; it changes no record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from orbit_registry.cli.output import emit, format_option, plural
from orbit_registry.cli.places import open_registry

if TYPE_CHECKING:
    from orbit_registry.exporters.rules import Change, RuleExport

RULE_AGENTS = ("claude", "cursor", "copilot", "windsurf", "agents-md")
SKILL_AGENTS = ("claude", "codex", "copilot", "gemini")


@click.group()
def group() -> None:
    """Write rule files, skills or a plugin for agents, or the resources as plain files.

    \b
    orbit export rules --agent claude
    orbit export skills
    """


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
    from orbit_registry.exporters.rules import plan, write

    workspace = open_registry().workspace
    exports = plan(workspace, agents)
    lines = []
    for export in exports:
        if not (check or dry_run):
            write(workspace, export)
        lines += _said(export, written=not (check or dry_run))
    differs = check and any(export.changes for export in exports)
    again = " ".join(f"--agent {export.agent}" for export in exports)
    following = [f"orbit export rules {again}"] if (check or dry_run) and any(one.changes for one in exports) else []
    data = {"rules": [export.as_data() for export in exports], "written": not (check or dry_run)}
    emit(output, data, "\n".join(lines), ok=not differs, next_commands=following)
    if differs:
        raise click.exceptions.Exit(1)


@group.command()
@click.option("--agent", type=click.Choice(SKILL_AGENTS), default="claude", show_default=True, help="For which one.")
@click.option("--check", is_flag=True, help="Write nothing; exit 1 if a skill is not what it would be.")
@click.option("--dry-run", is_flag=True, help="Say what would be written, write nothing.")
@format_option
def skills(agent: str, check: bool, dry_run: bool, output: str) -> None:
    """Write the skills orbit-adr, orbit-learnings and orbit-brief where an agent looks for a project's skills.

    \b
    orbit export skills
    orbit export skills --agent codex
    """
    from orbit_registry.exporters.plugin import FOLDERS, skill_changes
    from orbit_registry.exporters.rules import apply_changes

    root = open_registry().workspace.root
    changes = skill_changes(root, agent)
    written = not (check or dry_run)
    if written:
        apply_changes(root, changes)
    following = [f"orbit export skills --agent {agent}"] if changes and not written else []
    head = f"{agent}: skills in {FOLDERS[agent]}" + ("" if changes else ", as they were")
    _say(output, {"agent": agent}, head, changes, written, following, ok=not (check and changes))


@group.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--dry-run", is_flag=True, help="Say what would be written, write nothing.")
@format_option
def plugin(folder: Path, dry_run: bool, output: str) -> None:
    """Write a plugin with skills, hooks and the MCP server into a folder, for agents that take plugins.

    \b
    orbit export plugin ~/orbit-plugin
    claude plugin marketplace add ~/orbit-plugin
    claude plugin install orbit@orbit
    """
    from orbit_registry.exporters.plugin import plugin_changes, plugin_files
    from orbit_registry.exporters.rules import apply_changes
    from orbit_registry.install.agents.claude import EVENTS
    from orbit_registry.install.install import launcher_text

    place = folder.expanduser().absolute()
    changes = plugin_changes(place, plugin_files(EVENTS, launcher_text()))
    if not dry_run:
        place.mkdir(parents=True, exist_ok=True)
        apply_changes(place, changes)
    head = f"{folder}: the plugin" + ("" if changes else ", as it was")
    _say(output, {"folder": str(place)}, head, changes, not dry_run, [f"claude plugin marketplace add {folder}"])


@group.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--dry-run", is_flag=True, help="Say what would be written, write nothing.")
@format_option
def reference(folder: Path, dry_run: bool, output: str) -> None:
    """Write the resources in force into a folder, as plain files by project, type and version.

    \b
    orbit export reference ~/reference --dry-run
    """
    from orbit_registry.exporters.reference import plan, write

    wanted = plan(open_registry().workspace, folder.expanduser())
    if not dry_run:
        write(wanted)
    head = f"{folder}: {plural(len(wanted.files), 'resource')}" + ("" if wanted.changes else ", as it was")
    data = {"folder": str(wanted.folder), "files": sorted(wanted.files), "notes": list(wanted.notes)}
    _say(output, data, head, wanted.changes, not dry_run, more=[f"  note: {one}" for one in wanted.notes])


def _say(
    output: str, data: Mapping[str, object], head: str, changes: Sequence[Change], written: bool,
    following: Sequence[str] = (), *, more: Sequence[str] = (), ok: bool = True,
) -> None:  # fmt: skip
    """Print what was written or would be; exits 1 where that is not as it should be."""
    whole = {**data, "changes": [change.as_data() for change in changes], "written": written}
    emit(output, whole, "\n".join([head, *_changed(changes, written), *more]), ok=ok, next_commands=following)
    if not ok:
        raise click.exceptions.Exit(1)


def _changed(changes: Sequence[Change], written: bool) -> list[str]:
    words = {"add": "added", "change": "changed", "remove": "removed"}
    return [f"  {words[one.what] if written else one.what}: {one.path}" for one in changes]


def _said(export: RuleExport, *, written: bool) -> list[str]:
    held = f"{plural(len(export.records), 'record')} in {plural(len(export.files), 'file')}"
    lines = [f"{export.agent}: {held}" + ("" if export.changes else ", as it was")]
    lines += _changed(export.changes, written)
    lines += [f"  not said: {one.glob} of {one.id}: {one.reason}" for one in export.unsupported]
    if export.omitted:
        lines.append(f"  {plural(export.omitted, 'record')} had no room: a file holds 1,000 tokens")
    if export.ignore and any(one.what == "add" for one in export.changes):
        lines.append(f"  to keep them out of git, put this into .gitignore: {export.ignore}")
    return lines
