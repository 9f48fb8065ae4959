"""`orbit match`, `explain`, `coverage` and `scope suggest`: which records apply where, and why."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from orbit_registry.cli.output import (
    emit,
    format_option,
    from_root,
    note_empty,
    note_stale_index,
    note_unknown,
    open_registry,
    print_note,
    warn_of_unread,
)
from orbit_registry.cli.writer import say
from orbit_registry.errors import UsageError, plural
from orbit_registry.formats.untrusted import escaped_line
from orbit_registry.workspace.journal import unified_diff

if TYPE_CHECKING:
    from orbit_registry.matching.suggest import Proposal


@click.command()
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option(
    "--tag", "tags", multiple=True, help="A tag; a record applies if any tag or path fits."
)
@click.option("--task", help="The current task; leaves out records of other tasks.")
@click.option("--project", default="", help="The current project; leaves out records of others.")
@click.option(
    "--all", "everything", is_flag=True, help="List pending, closed and expired records too."
)
@click.option(
    "--limit", type=click.IntRange(min=1), help="At most this many, the highest rank first."
)
@format_option
def match(
    paths: tuple[str, ...],
    tags: tuple[str, ...],
    task: str | None,
    project: str,
    everything: bool,
    limit: int | None,
    output: str,
) -> None:
    """List the records that apply to files or tags.

    The order is that of hooks; no cap applies but --limit. A path need not exist; "/" at its end
    makes it a folder.

    orbit match src/app.py
    orbit match src/app.py docs/guide.md --tag sql --limit 5
    """
    if not paths and not tags:
        raise UsageError(
            "nothing to match", hint="name a path or a `--tag`; `orbit list` lists every record"
        )

    from orbit_registry.matching.match import texts

    registry = open_registry()
    files = [from_root(registry, path) for path in paths]
    for missing in (path for path in paths if not Path(path).exists()):
        print_note(f"there is no file {missing}")

    matches = registry.match(files, tags, task=task, everything=everything, project=project)
    listed = matches[:limit]
    omitted = len(matches) - len(listed)
    text = (texts(listed) or "no record applies") + (f"\nomitted: {omitted}" if omitted else "")
    data = {"matches": [match.as_data() for match in listed], "omitted": omitted}
    emit(
        output,
        data,
        text,
        next_commands=[f"orbit show {match.as_data()['id']}" for match in listed[:1]],
    )

    note_unknown(registry, tag=tags)

    if not matches:
        note_empty(registry, by_scope=True)

    warn_of_unread(registry)


@click.command()
@click.argument("path")
@click.option("--project", default="", help="The current project, if the repository has several.")
@format_option
def explain(path: str, project: str, output: str) -> None:
    """Explain why records are shown for a file, or not.

    It says what a hook would do now, and says if the index is older than the files. It also names
    the checks of records that look at the file.

    orbit explain src/app.py
    """
    registry = open_registry()
    note_stale_index(registry)
    verdicts = registry.explain(from_root(registry, path), project=project)
    lines: list[str] = []

    for verdict in verdicts:
        entry = verdict.as_data()
        cause = f" ({verdict.doubt})" if verdict.key in ("stale", "doubted") else ""
        lines.append(f"{'+' if entry['pushed'] else '-'} {entry['id']}  {entry['title']}")
        lines.append(f"    {verdict.way}: {entry['said']}{cause}")

    if not lines and path in registry.collection.records:
        lines.append(
            f"no record applies to a path of that name; {path} is a record: `orbit show {path}`"
        )
    elif not Path(path).exists():
        print_note(f"there is no file {path}")

    checks = registry.checks_of_file(from_root(registry, path))
    lines = lines or ["no record applies"]
    lines += [
        f"  checked by {check.name} ({check.level}): {escaped_line(check.say)}" for check in checks
    ]
    data = {
        "verdicts": [verdict.as_data() for verdict in verdicts],
        "checks": [
            {"name": check.name, "level": check.level, "say": check.say} for check in checks
        ],
    }
    emit(output, data, "\n".join(lines))

    warn_of_unread(registry)


@click.command()
@click.option(
    "--enforced", is_flag=True, help="Show how far decisions are enforced by checks instead."
)
@format_option
def coverage(enforced: bool, output: str) -> None:
    """Show which files have which records.

    It also lists files without records, and records that match no file or very many.

    orbit coverage
    orbit coverage --format json
    orbit coverage --enforced
    """
    if enforced:
        report = open_registry().enforcement()
        emit(output, report.as_data(), report.text(), next_commands=["orbit check"])
        return

    result = open_registry().coverage()
    emit(output, result.as_data(), result.text())

    if output == "text" and result.uncovered:
        say(
            f"{plural(len(result.uncovered), 'file')} without a record: `--format json` lists them",
            err=True,
        )


@click.group(no_args_is_help=True)
def group() -> None:
    """Propose paths for records that name none.

    orbit scope suggest L-7k3fq
    """


@group.command("suggest")
@click.argument("any_ids", metavar="[ID]...", nargs=-1)
@click.option("--apply", "write", is_flag=True, help="Write it; else nothing is written.")
@format_option
def suggest(any_ids: tuple[str, ...], write: bool, output: str) -> None:
    """Propose packages and globs for records as one diff to review.

    Clues are the packages that a title or decision names and files import, code that cites the
    record, the commits that made or name it, folders that its title names, and paths in its text.
    `git apply` takes the diff or a part of it; comments above it give the reasons.

    orbit scope suggest
    orbit scope suggest ADR-0042 --apply
    """
    registry = open_registry()
    suggestions = registry.suggest_scopes(any_ids)
    changes = registry.add_suggestions(suggestions, write=write)
    records = {record.path: record for record in registry.collection.records}
    diff = unified_diff(changes)
    data = {
        "suggestions": [
            _suggestion_data(records[path].id, path, proposals)
            for path, proposals in suggestions.items()
        ],
        "diff": diff,
        "written": write and bool(changes),
    }

    lines = [
        _suggestion_line(records[path].id, proposal)
        for path, proposals in suggestions.items()
        for proposal in proposals
    ]
    if diff:
        lines.append(diff.rstrip("\n"))
    if changes:
        done = "changed" if write else "would change: `--apply` writes it"
        lines.append(f"# {plural(len(changes), 'record')} {done}")

    none = sum(not proposals for proposals in suggestions.values())
    if none:
        lines.append(
            f"# no suggestion for {plural(none, 'record')}: orbit adr update ID --path GLOB"
        )
    if not suggestions:
        lines.append("# every record that waits or holds names paths or packages")

    emit(
        output,
        data,
        "\n".join(lines),
        next_commands=["orbit coverage"] if write else ["orbit scope suggest --apply"],
    )


def _suggestion_line(record_id: str, proposal: Proposal) -> str:
    what = proposal.glob
    if proposal.package:
        what = f"uses {proposal.package}"

    head = f"# {record_id}: {what} ({plural(proposal.files, 'file')})"
    return escaped_line(f"{head}: {'; '.join(proposal.reasons)}")


def _suggestion_data(record_id: str, path: str, proposals: Sequence[Proposal]) -> dict[str, object]:
    globs: list[dict[str, object]] = []
    packages: list[dict[str, object]] = []
    for proposal in proposals:
        entry = {"files": proposal.files, "reasons": list(proposal.reasons)}
        if proposal.package:
            packages.append({"package": proposal.package, **entry})
        else:
            globs.append({"glob": proposal.glob, **entry})

    return {"id": record_id, "path": path, "globs": globs, "uses": packages}
