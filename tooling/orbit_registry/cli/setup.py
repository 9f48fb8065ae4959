"""`orbit init` and `orbit import`: how a repository becomes a workspace."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from orbit_registry.cli.output import emit, format_option, plural
from orbit_registry.operations.init import SetupReport, most_folders
from orbit_registry.registry import Registry

SCHEMAS = ".orbit/schemas/"


@click.command()
@click.argument("folder", default=".", type=click.Path(file_okay=False, exists=True))
@click.option("--yes", "-y", is_flag=True, help="Ask nothing.")
@click.option("--dry-run", is_flag=True, help="Say what would be written, write nothing.")
@format_option
def init(folder: str, yes: bool, dry_run: bool, output: str) -> None:
    """Make this repository a workspace; running it again changes nothing.

    Writes .orbit/config.yaml with every default as a comment, the JSON Schemas for editors, and lines of .gitignore
    and .gitattributes.

    \b
    orbit init --yes
    """
    if not yes and not dry_run and sys.stdin.isatty():
        planned = Registry.init(Path(folder), dry_run=True)
        if planned.created or planned.changed or planned.driver:
            click.echo(_said(planned, "would be "))
            click.confirm("Go on?", default=True, abort=True)
    report = Registry.init(Path(folder), dry_run=dry_run)
    data: dict[str, object] = {
        "root": str(report.root),
        "created": report.created,
        "changed": report.changed,
        "kept": report.kept,
        "merge_driver": report.driver,
        "baselined": report.baselined,
    }
    steps = ["orbit adr add --title T", "orbit import . --dry-run", "orbit check"]
    said = _said(report, "would be " if dry_run else "")
    if report.created and not dry_run:
        said += f"\nnext: `{steps[0]}`, or `{steps[1]}` for decisions that are written down already"
    emit(output, data, said, next_commands=steps)


def _said(report: SetupReport, would: str) -> str:
    schemas = [path for path in report.created if path.startswith(SCHEMAS)]
    lines = [f"{path} {would}written" for path in report.created if path not in schemas]
    lines += [f"{SCHEMAS} {would}written: {plural(len(schemas), 'schema')} for editors"] if schemas else []
    if lines and report.root != Path.cwd().resolve():
        lines.insert(0, f"in {report.root}:")
    lines += [f"{path} {would}changed: lines added" for path in report.changed]
    if report.driver:
        lines.append(f"this clone's git settings {would}changed: it merges decision logs entry by entry")
    if report.detected is not None:
        style = "one file each in " + report.detected.folder if report.detected.style == "file" else "logs"
        lines.append(f"decisions: {style}")
        if (most := len(report.detected.folders)) == most_folders():
            lines.append(f"adr.folders names {most} further folders, those with the most decisions; it takes no more")
    if report.baselined:
        found = plural(report.baselined, "older finding is", "older findings are")
        lines.append(f"{found} baselined: `orbit check --all` lists them")
    return "\n".join(lines) or f"nothing to do: {report.root} is a workspace already"


@click.command("import")
@click.argument("path", type=click.Path(exists=True, path_type=Path))
@click.option(
    "--from",
    "source",
    type=click.Choice(["auto", "orbit", "madr", "nygard"]),
    default="auto",
    show_default=True,
    help="Which tool wrote it.",
)
@click.option(
    "--assume", type=click.Choice(["accepted", "proposed"]), help="The status of decisions whose document states none."
)
@click.option("--dry-run", is_flag=True, help="Say what would be taken, write nothing.")
@format_option
def import_records(path: Path, source: str, assume: str | None, dry_run: bool, output: str) -> None:
    """Take over records and decision documents; running it again changes nothing, and nothing is lost silently.

    \b
    orbit import .                      # an .orbit/ of another tool, in place
    orbit import docs/decisions --dry-run
    orbit import docs/decisions --assume accepted
    """
    report = Registry.import_from(path.resolve(), source, assume=assume, dry_run=dry_run)
    emit(output, report.as_data(), report.text(), next_commands=["orbit check", "orbit list"])
