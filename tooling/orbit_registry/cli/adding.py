"""`orbit KIND add`: shows what is known already before it writes, and offers a vote for it instead."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import click

from orbit_registry.checks.duplicates import Neighbour, copies_of
from orbit_registry.cli.editor import copy_path, edited_text, kept_name
from orbit_registry.cli.fields import MANAGED, add_options, fields_from, text_from
from orbit_registry.cli.kind import one_of, with_examples
from orbit_registry.cli.output import emit, format_option, refuse
from orbit_registry.cli.places import open_registry, say_astray, say_unmatched
from orbit_registry.cli.terminal import visible
from orbit_registry.cli.voting import say_vote
from orbit_registry.errors import RefusedError, UsageError
from orbit_registry.model.kind import Kind
from orbit_registry.model.record import Record
from orbit_registry.operations.freshness.verify import fingerprinted
from orbit_registry.registry import Registry
from orbit_registry.render.hits import MOST_NAMED, known_already, near_text, neighbours_data, settles, shows
from orbit_registry.render.records import record_data
from orbit_registry.repository.writer import fields_of, records_added


def add_command(kind: Kind) -> click.Command:
    """Return `orbit KIND add`."""

    def add(
        output: str, yes: bool, pending: bool, dry_run: bool, body_file: str | None,
        editor: bool, task: str | None = None, fingerprint: tuple[str, ...] = (), **values: Any,
    ) -> None:  # fmt: skip
        registry = open_registry()
        if body_file is not None and values.get(kind.prose) is not None:
            raise UsageError(f"--{kind.prose} and --body-file say the same thing", hint="give one of them")
        fields = fields_from(kind, values)
        if fields.get(kind.headline) == "" and not editor:
            raise UsageError(f"--{kind.headline} is empty", hint=f'--{kind.headline} "Retry uploads with a new token"')
        if body_file is not None:
            fields[kind.prose] = text_from(body_file)
        if fingerprint:
            fields["freshness"] = fingerprinted(registry.workspace, fields.get("freshness"), fingerprint)
        if pending:
            fields["status"] = kind.initial["agent"]
        say = _Adding(registry, kind, output, ask=_may_ask(output, yes), dry_run=dry_run, task=task)
        if not editor:
            say.add(fields)
            return
        name = kept_name(registry.workspace, f"new-{kind.name}", fields)
        with edited_text(registry.workspace, name, registry.draft_text(kind.name, fields)) as text:
            status = {"status": fields["status"]} if pending else {}
            say.add({**fields_of(kind, text, copy_path(registry.workspace, name)), **status})

    options: list[click.Parameter] = [
        *add_options(kind),
        click.Option(["--body-file"], metavar="FILE", help=f"Read `{kind.prose}` from a file; - is stdin."),
        click.Option(
            ["--fingerprint"], multiple=True, metavar="PATH", help="What it rests on: a file, a folder, FILE#FIELD."
        ),
        click.Option(["--pending"], is_flag=True, help="Leave it for review, as an agent's record is."),
        click.Option(["--editor"], is_flag=True, is_eager=True, help="Complete it in $VISUAL or $EDITOR first."),
        click.Option(["--dry-run"], is_flag=True, help="Say what would be written, write nothing."),
        click.Option(["--yes", "-y"], is_flag=True, help="Ask nothing; what is known already is refused."),
    ]
    if kind.voted:
        options.append(click.Option(["--task"], help="For a vote, where it is known already."))
    said = with_examples(f"Add {one_of(kind)}.", f"orbit {kind.name} add {_required(kind, options)} --dry-run")
    return format_option(click.Command("add", params=options, callback=add, help=said))


def _required(kind: Kind, options: Sequence[click.Parameter]) -> str:
    """Return the options that have to be given, each with a value that it takes; `--set` for fields that have none."""
    found = []
    for one in options:
        if one.required:
            found.append(f"{one.opts[0]} " + (one.type.choices[0] if isinstance(one.type, click.Choice) else '"…"'))
    named = {one.name for one in options}
    for name in kind.schema.document.get("required", ()):
        if name not in named | MANAGED | kind.schema.managed:
            example = next(iter(kind.schema.document["properties"][name].get("examples", ())), "…")
            found.append(f"--set '{name}={_flow(example)}'")
    return " ".join(found)


def _flow(value: object) -> str:
    """Return an example of a field as YAML on one line."""
    if isinstance(value, dict):
        return f"{{{', '.join(f'{name}: {_flow(one)}' for name, one in value.items())}}}"
    return str(value)


@dataclass(frozen=True)
class _Adding:
    """One call of `add`: where it writes and how it answers."""

    registry: Registry
    kind: Kind
    output: str
    ask: bool
    dry_run: bool
    task: str | None

    def add(self, fields: dict[str, object]) -> None:
        """Write a record of some fields, unless it is known already; say what was done."""
        text, draft = self.registry.draft(self.kind.name, fields)
        near = self.registry.neighbours(draft)
        if near and self.ask:
            chosen = _ask(self.kind, near)
            if chosen is not None:
                task = self.task or click.prompt("In which task did it help")
                say_vote(self.registry, chosen.record.id, task, None, self.output)
                return
            apart = [one.record.id for one in near if one.is_duplicate]
            fields |= {"distinct_from": [*draft.words("distinct_from"), *apart]} if apart else {}
        else:
            _refuse_duplicate(self.output, self.kind, near, self.task)
        if self.dry_run:
            said = f"would write {draft.path} (its id is chosen when it is written)\n\n{text}"
            emit(
                self.output,
                {**record_data(draft), "neighbours": neighbours_data(near), "dry_run": True},
                said.rstrip("\n"),
            )
            say_near(near)
            say_unmatched(self.registry, draft)
        else:
            compared = {record.path for record in self.registry.collection.records.of_kind(self.kind.name)}

            def admit(new: Record) -> None:  # somebody may have added the same since it was compared
                since = records_added(self.registry.workspace, self.kind, compared)
                _refuse_duplicate(self.output, self.kind, copies_of(since, new), self.task)

            record = self.registry.add(self.kind.name, fields, admit=admit)
            say_added(record, self.output, near)
            say_astray(self.registry, record)


def say_added(record: Record, output: str, near: Sequence[Neighbour] = ()) -> None:
    """Print a record just written, and on the side which ones are like it."""
    waits = " (waits for review)" if record.phase == "pending" else ""
    text = f"{record.id}{waits}  {record.title}\n  {record.path}"
    data = {**record_data(record), "neighbours": neighbours_data(near)}
    emit(output, data, text, next_commands=[f"orbit show {record.id}", *shows(near), "orbit check"])
    say_near(near)


def say_near(near: Sequence[Neighbour]) -> None:
    """Name the nearest ones on the side."""
    for one in near[:MOST_NAMED]:
        click.echo(visible(f"near: {near_text(one)}"), err=True)


def _refuse_duplicate(output: str, kind: Kind, near: Sequence[Neighbour], task: str | None) -> None:
    """Raise where the gate would call one of the neighbours a duplicate."""
    same = next((one for one in near if one.is_duplicate), None)
    if same is None:
        return
    known = same.record
    vote = f"orbit {kind.name} vote {known.id} --task {task or 'TASK'}"
    instead = f"`{vote}` strengthens it" if kind.voted and known.phase == "live" else f"`orbit show {known.id}`"
    hint = f"{instead}; {settles(same, f'add `--distinct-from {known.id}`')}"
    follows = [vote, f"orbit show {known.id}"] if kind.voted and known.phase == "live" else [f"orbit show {known.id}"]
    refuse(output, RefusedError(known_already(same), hint=hint), next_commands=follows)


def _may_ask(output: str, yes: bool) -> bool:
    """Say whether somebody is there to answer."""
    return output == "text" and not yes and not os.environ.get("CI") and sys.stdin.isatty() and sys.stdout.isatty()


def _ask(kind: Kind, near: Sequence[Neighbour]) -> Neighbour | None:
    """Return the record to vote for instead, or None where the new one shall be added; ends where neither is wanted."""
    listed = list(near[:MOST_NAMED])
    click.echo("this may be known already:")
    for number, one in enumerate(listed, start=1):
        click.echo(visible(f"  {number}  {near_text(one)}"))
    numbers = [str(number) for number in range(1, len(listed) + 1)] if kind.voted else []
    asked = "vote for one (its number), add this one too (a), or stop (s)" if numbers else "add it (a), or stop (s)"
    default = "s" if any(one.is_duplicate for one in near) else "a"
    answer = click.prompt(asked, type=click.Choice([*numbers, "a", "s"]), default=default, show_choices=False)
    if answer == "s":
        raise click.exceptions.Exit(1)
    return None if answer == "a" else listed[int(answer) - 1]
