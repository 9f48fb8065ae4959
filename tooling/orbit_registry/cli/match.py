"""`orbit match`, `explain`, `coverage` and `scope suggest`: which records apply where, and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from orbit_registry.cli.output import (
    emit,
    format_option,
    from_root,
    note_empty,
    note_overlooked,
    note_unknown,
    open_registry,
    print_note,
    visibility_data,
    visibility_of,
    warn_of_unread,
)
from orbit_registry.cli.writer import say
from orbit_registry.errors import UsageError, plural
from orbit_registry.formats.untrusted import escaped_line
from orbit_registry.model.record import Record
from orbit_registry.registry import Registry
from orbit_registry.workspace.journal import unified_diff

if TYPE_CHECKING:
    from orbit_registry.matching.suggest import Proposal
    from orbit_registry.matching.visibility import Visibility


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

    if not matches and files:
        note_overlooked(registry)
    elif not matches:
        note_empty(registry, by_scope=True)

    warn_of_unread(registry)


@click.command()
@click.argument("name", metavar="PATH|ID")
@click.option("--project", default="", help="The current project, if the repository has several.")
@format_option
def explain(name: str, project: str, output: str) -> None:
    """Explain what agents are shown at a file, or where they are shown a record.

    Of a file it says which records an edit shows and which it does not, with the reason, and which
    checks of records look at it. Of a record, or of its file or document, it says at which moments
    agents are shown it, or why never. It reads the files as they are.

    orbit explain src/app.py
    orbit explain ADR-0012
    """
    registry = open_registry()
    path = from_root(registry, name)
    records = _records_named(registry, name, path)
    if records and not Path(name).exists():
        _explain_records(registry, records, output)
        return

    is_id = registry.workspace.kinds.of_id(name) is not None
    if is_id and not Path(name).exists():
        registry.get(name)  # says that there is none, and which is near

    verdicts = registry.explain(path, project=project)
    lines: list[str] = []

    for verdict in verdicts:
        entry = verdict.as_data()
        cause = f" ({verdict.doubt})" if verdict.key in ("stale", "doubted") else ""
        lines.append(f"{'+' if entry['pushed'] else '-'} {entry['id']}  {entry['title']}")
        lines.append(f"    {verdict.way}: {entry['said']}{cause}")

    if Path(name).is_dir():
        print_note(
            f"{name} is a folder: `orbit match {path.rstrip('/')}/` lists what applies below"
        )
    elif not Path(name).exists():
        print_note(f"there is no file {name}")

    checks = registry.checks_of_file(path)
    lines = lines or ["no record applies"]
    lines += [
        f"  checked by {check.name} ({check.level}): {escaped_line(check.say)}" for check in checks
    ]
    data = {
        "verdicts": [verdict.as_data() for verdict in verdicts],
        "checks": [
            {"name": check.name, "level": check.level, "say": check.say} for check in checks
        ],
        "records": [],
    }

    if records:
        judged = visibility_of(registry, records)
        lines = [_record_lines(judged, record) for record in records] + lines
        data["records"] = _records_data(judged, records)

    emit(output, data, "\n".join(lines))

    if not verdicts:
        note_overlooked(registry)

    warn_of_unread(registry)


def _records_named(registry: Registry, name: str, path: str) -> list[Record]:
    """Return the records that a name means: by their file or document, else by an id."""
    records = registry.collection.records
    own = [
        record
        for record in records
        if path in (record.path, record.body_path, f"{record.folder}/")
        or (record.source is not None and record.source.path == path)
    ]
    return own or records.matches(name)


def _explain_records(registry: Registry, records: Sequence[Record], output: str) -> None:
    judged = visibility_of(registry, records)
    data = {"verdicts": [], "checks": [], "records": _records_data(judged, records)}
    text = "\n".join(_record_lines(judged, record) for record in records)
    emit(output, data, text, next_commands=[f"orbit show {record.id}" for record in records[:1]])
    warn_of_unread(registry)


def _record_lines(judged: Mapping[str, Visibility], record: Record) -> str:
    lines = judged[record.path].lines() if record.path in judged else ()
    return "\n  ".join([f"{record.id}  {record.title}", *lines])


def _records_data(
    judged: Mapping[str, Visibility], records: Sequence[Record]
) -> list[dict[str, object]]:
    return [
        {"id": record.id, "kind": record.kind.name, **visibility_data(judged, record)}
        for record in records
    ]


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
@click.option("--yes", "-y", "write", is_flag=True, help="Write it; else nothing is written.")
@click.option("--apply", "applied", is_flag=True, hidden=True)
@click.option("--dry-run", is_flag=True, help="Print what would change; change nothing.")
@format_option
def suggest(
    any_ids: tuple[str, ...], write: bool, applied: bool, dry_run: bool, output: str
) -> None:
    """Propose packages and globs for records as one diff to review.

    Clues are the packages that a title or decision names and files import, code that cites the
    record, the commits that made or name it, folders that its title names, and paths in its text.
    `git apply` takes the diff or a part of it; comments above it give the reasons.

    orbit scope suggest
    orbit scope suggest ADR-0042 --yes
    """
    registry = open_registry()
    write = (write or applied) and not dry_run
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
        done = "changed" if write else "would change: `--yes` writes it"
        lines.append(f"# {plural(len(changes), 'record')} {done}")

    without = [records[path] for path, proposals in suggestions.items() if not proposals]
    if without:
        kinds = sorted({record.kind.name for record in without})
        command = f"orbit {'|'.join(kinds)} update ID --path GLOB"
        lines.append(f"# no suggestion for {plural(len(without), 'record')}: {command}")
    if not records:
        lines.append("# there is no record yet")
    elif not suggestions:
        lines.append("# each open record names paths or packages")

    emit(
        output,
        data,
        "\n".join(lines),
        next_commands=["orbit coverage"] if write else ["orbit scope suggest --yes"],
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
