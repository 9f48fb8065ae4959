"""`orbit adr`: verbs that only decisions have."""

from dataclasses import replace
from typing import Any

import click

from orbit_registry.answers.inputs import text_from
from orbit_registry.answers.notes import doubts
from orbit_registry.cli.kind import add_synonym, kind_group, note_near, stated_headline
from orbit_registry.cli.output import (
    emit,
    format_option,
    may_ask,
    open_registry,
    print_notes,
    visibility_data,
    visibility_of,
    visibility_text,
)
from orbit_registry.errors import RefusedError, UsageError
from orbit_registry.formats.wording import normalised
from orbit_registry.model.kind import load_kinds
from orbit_registry.model.record import Record
from orbit_registry.operations.adr import NewAdr
from orbit_registry.registry import Registry
from orbit_registry.render.hits import neighbours_data, show_commands
from orbit_registry.render.records import record_data
from orbit_registry.render.touched import touches_lines
from orbit_registry.repository.ids import IN_THE_TREE

group = kind_group("adr")


@group.command("new")
@click.argument("headline", metavar="[TITLE]", required=False)
@click.option("--title", help="The decision in one line.")
@click.option("--feature", help="Its feature; this names the log if decisions are in logs.")
@click.option("--task", "tasks", multiple=True, help="The task in which it was made.")
@click.option("--decider", "deciders", multiple=True, help="Who decided.")
@click.option(
    "--legacy-id", "legacy_ids", multiple=True, help="An earlier name that still resolves."
)
@click.option("--path", "paths", multiple=True, metavar="GLOB", help="Files it applies to.")
@click.option("--tag", "tags", multiple=True, help="Topic it applies to (scope.tags).")
@click.option(
    "--uses",
    multiple=True,
    metavar="PACKAGE",
    help="Package or module; it applies to files that import it: redis.",
)
@click.option("--label", "labels", multiple=True, help="Word to group by (labels).")
@click.option("--summary", help="What it means for someone who edits this code (280 characters).")
@click.option(
    "--status",
    type=click.Choice(["proposed", "accepted", "rejected", "deprecated"]),
    help="Its status.",
)
@click.option(
    "--distinct-from",
    "distinct_from",
    multiple=True,
    metavar="ID",
    help="A record that looks alike but differs.",
)
@click.option(
    "--supersedes",
    multiple=True,
    metavar="ID",
    help="The decision that it replaces: both records and the new text say so.",
)
@click.option("--pending", is_flag=True, help="The same as --status proposed.")
@click.option("--date", help="YYYY-MM-DD or YYYY-MM; today if not given.")
@click.option("--review-by", metavar="DAY", help="When to look at it again: 2027-03 or 2027-03-31.")
@click.option(
    "--revisit-when",
    multiple=True,
    metavar="WHAT",
    help="What makes a review due: words of a commit, path: GLOB, or uses: PACKAGE.",
)
@click.option("--style", type=click.Choice(["file", "log"]), help="One file, or an entry in a log.")
@click.option(
    "--body-file",
    metavar="FILE",
    help="Context, Decision and Consequences; - is the standard input.",
)
@click.option("--dry-run", is_flag=True, help="Print what would be written; take no number.")
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
@format_option
def add(
    headline: str | None,
    body_file: str | None,
    pending: bool,
    dry_run: bool,
    yes: bool,
    output: str,
    **values: Any,
) -> None:
    """Add a decision: its record and its document.

    It takes the next free number on all branches. It is proposed while its text has prompts of the
    template: fill them in, then run `orbit accept`.

    orbit adr new "Keep the snapshot in DuckDB"
    orbit adr new --title "Keep the snapshot in DuckDB" --feature registry --task TASK-1
    """
    registry = open_registry()  # before a person is asked for anything
    values["title"] = stated_headline(
        load_kinds()["adr"], headline, values["title"], asks=may_ask(output, yes)
    )

    if pending and values["status"] not in (None, "proposed"):
        raise UsageError(
            "--pending and --status contradict each other", hint="leave one of them out"
        )

    if pending:
        values["status"] = "proposed"

    body = text_from(body_file) if body_file is not None else None
    if body is not None and not body.strip():
        raise UsageError(
            "the text is empty",
            hint="leave --body-file out: the document then has prompts to fill in",
        )

    if registry.author().role == "agent":
        if values["status"] not in (None, "proposed"):
            raise UsageError(
                "an agent proposes decisions; a person accepts them", hint="leave --status out"
            )
        values["status"] = "proposed"

    def admit(new: Record) -> None:  # runs under the lock: no record can be added meanwhile
        _refuse_duplicate_title(registry, new, values["distinct_from"])

    added = registry.add_adr(NewAdr(body=body, **values), admit=admit, dry_run=dry_run)
    record = added.record
    with_text = replace(record, prose=body or "")
    near = registry.neighbours(with_text)
    touched = registry.touches(with_text)
    would = "would write " if dry_run else ""
    above = (
        f"  the highest number so far is {added.above}\n"
        if IN_THE_TREE not in (added.above or IN_THE_TREE)
        else ""
    )
    text = f"{record.id}  {record.title}\n{above}  {would}{added.document}\n  {would}{record.path}"

    may_accept = record.phase == "pending" and not dry_run and registry.author().role != "agent"
    accept = [f"orbit accept {record.id}"] if may_accept else []
    text += (
        f"\n  "
        f"{record.status.name}"
        f"{f'; when its text is complete, with a cost: {accept[0]}' if accept else ''}"
    )

    replaced = [f"orbit adr supersede {old} --with {record.id}" for old in values["supersedes"]]
    if record.phase == "live":
        verb = "would supersede" if dry_run else "supersedes"
        text += "".join(f"\n  {verb} {old}" for old in record.supersedes or values["supersedes"])
    elif replaced:
        text += f"\n  once it is accepted: {'; '.join(replaced)}"
        accept += replaced

    judged = visibility_of(registry, [record])
    text += visibility_text(judged, record)
    lines = touches_lines(record, touched, is_written=not dry_run)
    text += "".join(f"\n  {line}" for line in lines)
    data = {
        **record_data(record),
        "document": added.document,
        "above": added.above,
        "dry_run": dry_run,
        **visibility_data(judged, record),
    }
    data["neighbours"] = neighbours_data(near)
    data["touches"] = [touch.as_data(record, is_written=not dry_run) for touch in touched]
    emit(
        output,
        data,
        text,
        next_commands=[f"edit {added.document}", *accept, *show_commands(near), "orbit check"],
    )

    note_near(near)
    print_notes(doubts(registry, record))


def _refuse_duplicate_title(registry: Registry, new: Record, apart: tuple[str, ...]) -> None:
    records = registry.collection.records
    ids = {records.get(any_id).id for any_id in apart}
    title = normalised(new.title)
    same_titles = (
        record
        for record in records.of_kind("adr")
        if record.phase != "closed" and normalised(record.title) == title
    )
    same = next((record for record in same_titles if record.id not in ids), None)

    if same is not None:
        hint = f"`orbit show {same.id}`; if the two differ, add `--distinct-from {same.id}`"
        message = f"{same.id} ({same.status.name}) has the same title: {same.title}"
        raise RefusedError(message, hint=hint, next_commands=[f"orbit show {same.id}"])


add_synonym(group)
