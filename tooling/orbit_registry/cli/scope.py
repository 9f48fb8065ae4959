"""`orbit scope suggest`: globs for records that have none, shown as one diff and written when asked."""

from __future__ import annotations

import click

from orbit_registry.cli.output import emit, format_option, plural
from orbit_registry.cli.places import open_registry
from orbit_registry.cli.terminal import one_line
from orbit_registry.store.difference import unified_diff


@click.group(no_args_is_help=True)
def group() -> None:
    """Where records apply: propose globs for those that name none."""


@group.command("suggest")
@click.argument("any_ids", metavar="[ID]...", nargs=-1)
@click.option("--apply", "write", is_flag=True, help="Write it; without this nothing is written.")
@format_option
def suggest(any_ids: tuple[str, ...], write: bool, output: str) -> None:
    """Propose globs for records without any, or for those named, as one diff to review.

    Clues are paths in a record's text, files that cite it, commits that name it or its task, and commits that touched
    both. `git apply` takes the diff, or a part of it; the reasons stand above it as comments.

    \b
    orbit scope suggest
    orbit scope suggest ADR-0042 --apply
    """
    registry = open_registry()
    found = registry.suggest_scopes(any_ids)
    changes = registry.add_globs(found, write=write)
    records = {record.path: record for record in registry.collection.records}
    lines: list[str] = []
    for path, proposals in found.items():
        for one in proposals:
            said = "; ".join(one.reasons)
            lines.append(one_line(f"# {records[path].id}: {one.glob} ({plural(one.files, 'file')}): {said}"))
    none = sum(not proposals for proposals in found.values())
    diff = unified_diff(changes)
    end = f"# {plural(len(changes), 'record')} {'changed' if write else 'would change: `--apply` writes it'}"
    left = f"# nothing speaks of files for {plural(none, 'record')}" if none else ""
    whole = "" if found else "# every record that waits or holds names paths"
    text = "\n".join(part for part in (*lines, diff.rstrip("\n"), end if changes else "", left, whole) if part)
    data = {
        "suggestions": [
            {
                "id": records[path].id,
                "path": path,
                "globs": [{"glob": one.glob, "files": one.files, "reasons": list(one.reasons)} for one in proposals],
            }
            for path, proposals in found.items()
        ],
        "diff": diff,
        "written": write and bool(changes),
    }
    emit(output, data, text, next_commands=["orbit coverage"] if write else ["orbit scope suggest --apply"])
