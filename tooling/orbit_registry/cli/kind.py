"""The verbs every kind has, made from its folder: add, list, show, update, supersede and those of its status table."""

from __future__ import annotations

from collections.abc import Sequence

import click

from orbit_registry.cli.output import emit, format_option, say_refusals, warn_of_unread
from orbit_registry.cli.places import open_registry, say_unknown
from orbit_registry.cli.records import binding_options, bound, say_part
from orbit_registry.errors import OrbitError, UsageError
from orbit_registry.model.ids import sequence_id
from orbit_registry.model.kind import PHASES, SHIPPED, Kind, load_kinds
from orbit_registry.model.record import Record
from orbit_registry.registry import Registry
from orbit_registry.render.records import ORDERS, in_order, record_data, records_table
from orbit_registry.workspace.author import Review


def kind_of(name: str) -> Kind:
    """Return a kind: a shipped one without looking for a workspace, else one of the workspace here."""
    if (SHIPPED / name / "kind.yaml").exists():
        return load_kinds()[name]
    return Registry.open().workspace.kinds[name]


def one_of(kind: Kind) -> str:
    """Return the kind's name with its article."""
    name = kind.label.lower()
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


def with_examples(said: str, *lines: str) -> str:
    """Return a help text that ends with commands as one types them."""
    return "\n".join([said, "", "\b", *lines])


def example_id(kind: Kind) -> str:
    """Return what an id of the kind looks like."""
    return sequence_id(kind.prefix, 7) if kind.numbering == "sequence" else f"{kind.prefix}7k3fq"


def registry_for(kind: Kind, any_id: str) -> Registry:
    """Return the registry here; raise when an id given to a kind's command is of another kind."""
    registry = open_registry()
    refuse_other_kind(registry, kind, any_id)
    return registry


def refuse_other_kind(registry: Registry, kind: Kind, any_id: str) -> None:
    """Raise when an id given to a kind's command is of another kind."""
    found = registry.collection.records.candidates(any_id)
    if found and all(record.kind.name != kind.name for record in found):
        other = found[0].kind
        raise UsageError(f"{found[0].id} is {one_of(other)}", hint=f"`orbit {other.name} --help` lists what it can do")


def list_command(kind: Kind) -> click.Command:
    """Return `orbit KIND list`."""
    said = f"List {kind.labels.lower()}."

    @click.command(
        "list", help=with_examples(said, f"orbit {kind.name} list", f"orbit {kind.name} list --all --sort updated")
    )
    @click.option("--status", type=click.Choice(list(kind.statuses)), multiple=True, help="With this status.")
    @click.option("--phase", type=click.Choice(PHASES), multiple=True, help="Waiting, in force or closed.")
    @click.option("--all", "everything", is_flag=True, help="Closed records too.")
    @click.option("--tag", multiple=True, help="Only with this scope tag.")
    @click.option("--label", multiple=True, help="Only with this label.")
    @click.option("--legacy-id", metavar="NAME", help="Only what once had this name: project/ADR-006.")
    @click.option("--feature", help="Only of this feature.")
    @click.option("--task", help="Only of this task.")
    @click.option(
        "--sort", type=click.Choice(list(ORDERS)), default="id", show_default=True,
        help="Most voted for (recent votes weigh more), changed last, or by id.",
    )  # fmt: skip
    @click.option("--limit", type=click.IntRange(min=1), help="At most so many.")
    @format_option
    def list_kind(
        output: str, status: tuple[str, ...], tag: tuple[str, ...], label: tuple[str, ...], legacy_id: str | None,
        feature: str | None, task: str | None, phase: tuple[str, ...], everything: bool, sort: str, limit: int | None,
    ) -> None:  # fmt: skip
        registry = open_registry()
        records = registry.collection.records.of_kind(kind.name)
        if legacy_id is not None:
            found = {record.path for record in registry.collection.records.with_former_name(legacy_id)}
            records = [record for record in records if record.path in found]
        closed_too = everything or status or phase or legacy_id is not None
        wanted = [
            record
            for record in records
            if (closed_too or record.phase != "closed")
            and (not status or str(record.data["status"]) in status)
            and (not phase or record.phase in phase)
            and registry.workspace.config.is_tagged(record.tags, tag)
            and all(word in record.words("labels") for word in label)
            and (feature is None or record.text("feature") == feature)
            and (task is None or task in record.words("tasks") or task in record.scope.tasks)
        ]
        wanted = in_order(wanted, sort)[:limit]
        columns = [*kind.columns, "votes"] if sort == "votes" and kind.voted else kind.columns
        emit(output, [record_data(record) for record in wanted], records_table(wanted, columns))
        say_unknown(registry, tag=tag, label=label, feature=[feature] if feature else ())
        warn_of_unread(registry)

    return list_kind


def show_command(kind: Kind) -> click.Command:
    """Return `orbit KIND show`."""
    said = f"Show {one_of(kind)} by any id."

    @click.command("show", help=with_examples(said, f"orbit {kind.name} show {example_id(kind)}"))
    @click.argument("any_id", metavar="ID")
    @format_option
    def show(any_id: str, output: str) -> None:
        registry = registry_for(kind, any_id)
        record, name = registry.part(any_id)
        refuse_other_kind(registry, kind, record.id)
        say_part(registry, record, name, output)

    return show


def supersede_command(kind: Kind) -> click.Command:
    """Return `orbit KIND supersede`."""
    said = f"Let one {kind.label.lower()} replace another; both ends are written, or neither."
    example = f"orbit {kind.name} supersede OLD --with NEW"

    @click.command("supersede", help=with_examples(said, example))
    @click.argument("old_id", metavar="OLD")
    @click.argument("new_id", metavar="[NEW]", required=False)
    @click.option("--with", "replacement", metavar="NEW", help="The record that replaces it.")
    @format_option
    def supersede(old_id: str, new_id: str | None, replacement: str | None, output: str) -> None:
        if (new_id is None) == (replacement is None):
            raise UsageError("name the record that replaces it once", hint=example)
        old, new = registry_for(kind, old_id).supersede(old_id, str(new_id or replacement))
        emit(output, [record_data(old), record_data(new)], f"{old.id} is superseded by {new.id}")

    return supersede


def renumber_command(kind: Kind) -> click.Command:
    """Return `orbit KIND renumber`, for a kind whose records are numbered."""
    follow = "its document and every citation follow" if kind.in_document else "every citation follows"
    said = f"Give {one_of(kind)} another number; {follow}, and the old id goes on resolving."

    @click.command("renumber", help=with_examples(said, f"orbit {kind.name} renumber {example_id(kind)} --dry-run"))
    @click.argument("any_id", metavar="ID")
    @click.option("--to", "number", type=click.IntRange(min=1), help="The new number; the next free one if not given.")
    @click.option("--dry-run", is_flag=True, help="Say what would change, change nothing.")
    @format_option
    def renumber(any_id: str, number: int | None, dry_run: bool, output: str) -> None:
        report = registry_for(kind, any_id).renumber(any_id, number, dry_run=dry_run)
        emit(output, report.as_data(), report.text(), next_commands=["git diff", "orbit check"])

    return renumber


def status_command(kind: Kind, verb: str, status: str) -> click.Command:
    """Return a verb that sets a status, as the kind's table names it."""

    live = kind.status(status).phase == "live"

    def move(
        any_ids: Sequence[str],
        output: str,
        by: str | None = None,
        reason: str | None = None,
        expect: str | None = None,
        yes: bool = False,
        of_status: str | None = None,
        dry_run: bool = False,
    ) -> None:
        if (of_status is None) == (not any_ids):
            raise UsageError("name ids, or give --status", hint=f"`orbit {kind.name} list` has the ids")
        said = Review(" ".join((by or "").split()), " ".join((reason or "").split()))
        registry = open_registry()
        if of_status is not None:
            records = registry.collection.records.of_kind(kind.name)
            any_ids = [record.id for record in records if record.status.name == of_status]
        reviewed = bound(any_ids, said, expect, yes or not live or dry_run or of_status is not None, output)
        moved: list[Record] = []
        failed: list[OrbitError] = []
        for any_id in any_ids:
            try:
                refuse_other_kind(registry, kind, any_id)
                moved.append(registry.transition(any_id, status, reviewed(registry.get(any_id)), dry_run=dry_run))
            except OrbitError as error:
                failed.append(error)
        becomes = "would be" if dry_run else "is"
        text = "\n".join(f"{record.id} {becomes} {record.status.name}  {record.title}" for record in moved)
        data = [record_data(record) for record in moved]
        if failed:
            say_refusals(output, data if moved else None, text, failed)
        emit(output, data, text or f"nothing is {of_status}")

    unstated = [
        one.name for one in kind.statuses.values() if one.phase == "pending" and not one.waits and status in one.to
    ]
    at_once = live and bool(unstated)
    params: list[click.Parameter] = [click.Argument(["any_ids"], metavar="ID...", nargs=-1, required=not at_once)]
    if live or kind.is_rejection(kind.status(status)):
        params += [
            click.Option(["--by"], metavar="WHO", help="Who decides; whoever runs this if not given."),
            click.Option(["--reason"], metavar="WHY", help="Why; kept in the record."),
        ]
    examples = [f"orbit {kind.name} {verb} {example_id(kind)}"]
    if at_once:
        params += [
            click.Option(["--status", "of_status"], type=click.Choice(unstated), help="All that have this status."),
            click.Option(["--dry-run"], is_flag=True, help="Say what would change, change nothing."),
        ]
        examples.append(f"orbit {kind.name} {verb} --status {unstated[0]} --dry-run")
    said = with_examples(f"Set the status to {status}.", *examples)
    command = click.Command(verb, params=params, callback=move, help=said)
    return format_option(binding_options(command) if live else command)
