"""`orbit KIND update`: changes fields, or the file as a whole in an editor; what isn't named stays."""

from __future__ import annotations

import hashlib
from typing import Any

import click

from orbit_registry.cli.editor import edited_text
from orbit_registry.cli.fields import merged_edit, text_from, update_options, verbs_hint
from orbit_registry.cli.kind import example_id, one_of, registry_for, with_examples
from orbit_registry.cli.output import emit, format_option
from orbit_registry.cli.places import say_astray
from orbit_registry.errors import UsageError
from orbit_registry.model.kind import Kind
from orbit_registry.model.record import Record
from orbit_registry.registry import Registry
from orbit_registry.render.records import record_data
from orbit_registry.workspace.files import read_text
from orbit_registry.workspace.journal import unified_diff


def update_command(kind: Kind) -> click.Command:
    """Return `orbit KIND update`."""

    def update(
        any_id: str, output: str, dry_run: bool, body_file: str | None, editor: bool = False, **values: Any
    ) -> None:
        registry = registry_for(kind, any_id)
        if body_file is not None:
            if values.get(kind.prose) is not None:
                raise UsageError(f"--{kind.prose} and --body-file say the same thing", hint="give one of them")
            values[kind.prose] = text_from(body_file)
        given = any(value not in (None, ()) for value in values.values())
        if editor:
            if given or dry_run:
                raise UsageError("--editor stands alone", hint="change everything there, or nothing")
            record = _in_editor(registry, any_id)
        else:
            if not given:
                raise UsageError(
                    "there is nothing to change", hint=f"`orbit {kind.name} update --help` lists the fields"
                )
            title = values.pop("title", None) if kind.in_document else None
            edit = merged_edit(kind, values)
            if dry_run:
                record, changes = registry.planned_update(any_id, edit, title=title)
                said = unified_diff(changes)
                emit(output, {**record_data(record), "diff": said, "dry_run": True}, said.rstrip("\n") or "no change")
                return
            record = registry.update(any_id, edit, title=title)
        emit(output, record_data(record), f"{record.id}  {record.title}", next_commands=["orbit check"])
        if editor or values.get("path") or values.get("evidence"):
            say_astray(registry, record)

    def refuse(context: click.Context, option: click.Parameter, status: str | None) -> None:
        if status is not None:
            raise UsageError("a status is not a field to update", hint=verbs_hint(kind))

    params: list[click.Parameter] = [
        click.Argument(["any_id"], metavar="ID"),
        *update_options(kind),
        click.Option(["--status"], metavar="STATUS", hidden=True, expose_value=False, callback=refuse),
        click.Option(
            ["--body-file"],
            metavar="FILE",
            hidden=not kind.in_record,
            help=f"Read `{kind.prose}` from a file; - is stdin.",
        ),
        click.Option(["--dry-run"], is_flag=True, help="Print what would change as a diff, change nothing."),
    ]  # fmt: skip
    if not kind.in_document:
        params.append(click.Option(["--editor"], is_flag=True, help="Change the file in $VISUAL or $EDITOR."))
    said = with_examples(
        f"Change fields of {one_of(kind)}; lists gain entries, what isn't named stays.",
        f"orbit {kind.name} update {example_id(kind)} --add-tag network --dry-run",
    )
    return format_option(click.Command("update", params=params, callback=update, help=said))


def _in_editor(registry: Registry, any_id: str) -> Record:
    record = registry.get(any_id)
    before = read_text(registry.workspace.root / record.path)
    digest = hashlib.sha256(before.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    with edited_text(registry.workspace, f"{record.id}-{digest}", before) as after:
        return registry.replace_text(record.id, before, after)
