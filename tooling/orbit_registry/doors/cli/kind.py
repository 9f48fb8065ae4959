"""Verbs that every kind has: add, list, show, update, vote, supersede,
and those of its status table.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import click

from orbit_registry.doors.answers.answer import answer_of
from orbit_registry.doors.answers.arguments import OF_FILES
from orbit_registry.doors.answers.call import Call
from orbit_registry.doors.answers.inputs import EXAMPLE, headline_of, text_from
from orbit_registry.doors.answers.notes import doubts, past_review, unmatched_notes
from orbit_registry.doors.cli.fields import (
    MANAGED,
    add_options,
    fields_from,
    merged_edit,
    update_options,
    verbs_hint,
)
from orbit_registry.doors.cli.operations import TableGroup, call_of, options_of, print_answer
from orbit_registry.doors.cli.output import (
    edited_path,
    edited_text,
    emit,
    format_option,
    may_ask,
    open_registry,
    print_notes,
    visibility_data,
    visibility_of,
    visibility_text,
)
from orbit_registry.doors.cli.writer import say
from orbit_registry.doors.render.hits import (
    MOST_NAMED,
    duplicate_message,
    near_text,
    neighbours_data,
    override_hint,
    show_commands,
)
from orbit_registry.doors.render.records import record_data
from orbit_registry.errors import RefusedError, UsageError
from orbit_registry.model.ids import sequence_id
from orbit_registry.model.kind import Kind, load_kinds
from orbit_registry.model.record import Record
from orbit_registry.operations import edits
from orbit_registry.operations.freshness.evaluate import refuse_missing_evidence
from orbit_registry.operations.freshness.verify import fingerprinted
from orbit_registry.registry import Registry
from orbit_registry.repository.writer import draft_text, fields_of
from orbit_registry.workspace.author import acting_role
from orbit_registry.workspace.files import read_text
from orbit_registry.workspace.journal import unified_diff

if TYPE_CHECKING:
    from orbit_registry.checks.duplicates import Neighbour


def kind_of(name: str) -> Kind:
    """Return a shipped kind without looking for a workspace, else one of the workspace here."""
    kinds = load_kinds()
    if name in kinds:
        return kinds[name]
    return Registry.open().workspace.kinds[name]


def _with_examples(summary: str, *lines: str) -> str:
    return "\n".join([summary, "", *lines])


def _example_id(kind: Kind) -> str:
    return sequence_id(kind.prefix, 7) if kind.numbering == "sequence" else f"{kind.prefix}7k3fq"


def _new_options(
    call: Call,
    body_file: str | None = None,
    fingerprint: tuple[str, ...] = (),
    pending: bool = False,
    dry_run: bool = False,
    yes: bool = False,
) -> None:
    """Options of `orbit KIND new`.

    Args:
        body_file FILE: Read `{prose}` from a file; - is stdin.
        fingerprint PATH: What it depends on: a file, a folder, FILE#FIELD.
        pending: Let it wait for review, as an agent's record does.
        dry_run: Print what would be written; write nothing.
        yes -y --yes: Do not ask; refuse a duplicate.
    """


def _vote_options(call: Call, task: str | None = None) -> None:
    """Options of `orbit KIND new` where a kind has votes.

    Args:
        task: The task of the vote, if the record exists already.
    """


def _update_options(
    call: Call,
    body_file: str | None = None,
    dry_run: bool = False,
    editor: Annotated[bool, OF_FILES] = False,
) -> None:
    """Options of `orbit KIND update`.

    Args:
        body_file FILE: Read `{prose}` from a file; - is stdin.
        dry_run: Print the change as a diff; change nothing.
        editor: Edit the file in $VISUAL or $EDITOR.
    """


def add_command(kind: Kind) -> click.Command:
    """Return `orbit KIND new`."""

    def add(
        output: str,
        yes: bool,
        pending: bool,
        dry_run: bool,
        body_file: str | None,
        headline: str | None,
        editor: bool,
        task: str | None = None,
        fingerprint: tuple[str, ...] = (),
        **values: Any,
    ) -> None:
        call = call_of(kind, output)
        registry = call.registry  # before a person is asked for anything

        if headline is not None or not editor:
            option = values.get(kind.headline)
            values[kind.headline] = headline_of(call, kind, headline, option, asks=not yes)

        _read_body(kind, values, body_file)
        fields = fields_from(kind, values)
        refuse_missing_evidence(registry.workspace, fields.get("evidence"))
        if fields.get(kind.headline) == "" and not editor:
            raise UsageError(
                f"the {kind.headline} is empty", hint=f"orbit {kind.name} new {EXAMPLE}"
            )

        if fingerprint:
            fields["freshness"] = fingerprinted(
                registry.workspace, fields.get("freshness"), fingerprint
            )

        if pending:
            fields["status"] = kind.initial["agent"]

        ask = may_ask(output, yes)
        if not editor:
            _add(registry, kind, fields, task, output, dry_run=dry_run, ask=ask)
            return

        name = f"new-{kind.name}"
        draft = draft_text(registry.workspace, kind, registry.author(), fields)
        with edited_text(registry.workspace, name, draft) as text:
            status = {"status": fields["status"]} if pending else {}
            edited = {**fields_of(kind, text, edited_path(registry.workspace, name)), **status}
            _add(registry, kind, edited, task, output, dry_run=dry_run, ask=ask)

    editor_help = "Open it in $VISUAL or $EDITOR first."
    options: list[click.Parameter] = [
        click.Argument(["headline"], metavar=f"[{kind.headline.upper()}]", required=False),
        *add_options(kind),
        *options_of(_new_options, kind),
        click.Option(["--editor"], is_flag=True, is_eager=True, help=editor_help),
    ]
    if kind.voted:
        options += options_of(_vote_options, kind)

    summary = _with_examples(
        f"Add {kind.with_article}.",
        " ".join(
            ["orbit", kind.name, "new", EXAMPLE, *_required_words(kind, options), "--dry-run"]
        ),
    )
    return format_option(click.Command("new", params=options, callback=add, help=summary))


def _read_body(kind: Kind, values: dict[str, Any], file: str | None) -> None:
    if file is None:
        return
    if values.get(kind.prose) is not None:
        raise UsageError(
            f"--{kind.prose} and --body-file say the same thing", hint="give one of them"
        )
    values[kind.prose] = text_from(file)


def _required_words(kind: Kind, options: Sequence[click.Parameter]) -> list[str]:
    words = []
    for option in options:
        if option.required:
            usual = option.type.choices[0] if isinstance(option.type, click.Choice) else '"…"'
            words.append(f"{option.opts[0]} {_example_of(kind, str(option.name), usual)}")

    names = {option.name for option in options}
    for name in kind.schema.document.get("required", ()):
        if name not in names | MANAGED | kind.schema.managed:
            words.append(f"--set '{name}={_flow_yaml(_example_of(kind, name, '…'))}'")

    return words


def _example_of(kind: Kind, name: str, usual: object) -> object:
    """Return the first example that the schema gives for a field."""
    form = kind.schema.document["properties"].get(name, {})
    return next(iter(form.get("examples", ())), usual)


def _flow_yaml(value: object) -> str:
    if isinstance(value, dict):
        return f"{{{', '.join(f'{name}: {_flow_yaml(part)}' for name, part in value.items())}}}"
    return str(value)


def _add(
    registry: Registry,
    kind: Kind,
    fields: dict[str, object],
    task: str | None,
    output: str,
    *,
    dry_run: bool,
    ask: bool,
) -> None:
    text, draft = registry.draft(kind.name, fields)
    near = registry.neighbours(draft)
    if ask and not all(each.is_settled for each in near):
        chosen = _ask_person(kind, near)
        if chosen is not None:
            task = task or click.prompt("In which task did it help")
            voted = registry.vote(chosen.record.id, task)
            print_answer(answer_of(voted), output)
            return

        apart = [neighbour.record.id for neighbour in near if neighbour.is_duplicate]
        fields |= {"distinct_from": [*draft.words("distinct_from"), *apart]} if apart else {}
    else:
        _refuse_duplicate(kind, near, task)

    if dry_run:
        judged = visibility_of(registry, [draft])
        message = f"would write {draft.path} (its id is chosen when it is written)"
        message += f"{visibility_text(judged, draft)}\n\n{text}".rstrip("\n")
        data = {**record_data(draft), "neighbours": neighbours_data(near), "dry_run": True}
        emit(output, {**data, **visibility_data(judged, draft)}, message)

        note_near(near)
        print_notes(unmatched_notes(registry, draft))
        return

    peers, refuse = (
        registry.collection.records.of_kind(kind.name),
        partial(_refuse_duplicate, kind, task=task),
    )
    from orbit_registry.checks.duplicates import refusing_copies

    record = registry.add(
        kind.name, fields, admit=refusing_copies(registry.workspace, kind, peers, refuse)
    )
    _print_added(registry, record, output, near)
    print_notes(doubts(registry, record))


def _print_added(
    registry: Registry, record: Record, output: str, near: Sequence[Neighbour] = ()
) -> None:
    waits = " (waits for review)" if record.phase == "pending" else ""
    accept = [f"orbit accept {record.id}"] if waits and acting_role() != "agent" else []
    text = "\n  ".join(
        [
            f"{record.id}{waits}  {record.title}",
            record.path,
            *(f"to accept it: {each}" for each in accept),
        ]
    )

    judged = visibility_of(registry, [record])
    text += visibility_text(judged, record)
    data = {**record_data(record), "neighbours": neighbours_data(near)}
    data |= visibility_data(judged, record)
    emit(
        output,
        data,
        text,
        next_commands=[f"orbit show {record.id}", *accept, *show_commands(near), "orbit check"],
    )

    note_near(near)


def note_near(near: Sequence[Neighbour]) -> None:
    """Name the most similar records on standard error."""
    for neighbour in near[:MOST_NAMED]:
        say(f"near: {near_text(neighbour)}", err=True)


def _refuse_duplicate(kind: Kind, near: Sequence[Neighbour], task: str | None) -> None:
    same = next((neighbour for neighbour in near if neighbour.is_duplicate), None)
    if same is None:
        return

    existing = same.record
    show = f"orbit show {existing.id}"
    vote = f"orbit {kind.name} vote {existing.id} --task {task or 'TASK'}"
    may_vote = kind.voted and existing.phase == "live"
    instead = f"`{vote}` strengthens it" if may_vote else f"`{show}`"
    raise RefusedError(
        duplicate_message(same),
        hint=f"{instead}; {override_hint(same, f'add `--distinct-from {existing.id}`')}",
        next_commands=[vote, show] if may_vote else [show],
    )


def _ask_person(kind: Kind, near: Sequence[Neighbour]) -> Neighbour | None:
    listed = list(near[:MOST_NAMED])
    say("this may be known already:")

    for number, neighbour in enumerate(listed, start=1):
        say(f"  {number}  {near_text(neighbour)}")

    numbers = [str(number) for number in range(1, len(listed) + 1)] if kind.voted else []
    question = (
        "vote for one (its number), add this one too (a), or stop (s)"
        if numbers
        else "add it (a), or stop (s)"
    )

    default = "s" if any(neighbour.is_duplicate for neighbour in near) else "a"
    answer = click.prompt(
        question, type=click.Choice([*numbers, "a", "s"]), default=default, show_choices=False
    )
    if answer == "s":
        raise click.exceptions.Exit(1)

    return None if answer == "a" else listed[int(answer) - 1]


def _update_command(kind: Kind) -> click.Command:
    def update(
        any_id: str,
        output: str,
        dry_run: bool,
        body_file: str | None,
        editor: bool = False,
        **values: Any,
    ) -> None:
        registry = open_registry()
        _read_body(kind, values, body_file)
        has_options = any(value not in (None, ()) for value in values.values())
        title = values.pop("title", None) if kind.in_document else None

        if editor:
            if has_options or dry_run:
                raise UsageError(
                    "--editor allows no other option", hint="change all fields in the editor"
                )
            record = _in_editor(registry, kind, any_id)
        else:
            if not has_options:
                hint = f"`orbit {kind.name} update --help` lists the fields"
                raise UsageError("there is nothing to change", hint=hint)

            added = fields_from(kind, {"evidence": values.get("evidence") or ()})
            refuse_missing_evidence(registry.workspace, added.get("evidence"))
            edit = merged_edit(kind, values)
            if dry_run:
                record, changes = edits.plan_change(
                    registry.workspace, any_id, edit, title, kind=kind
                )
                diff = unified_diff(changes)
                emit(
                    output,
                    {**record_data(record), "diff": diff, "dry_run": True},
                    diff.rstrip("\n") or "no change",
                )

                return

            record = registry.update(any_id, edit, title=title, kind=kind)

        files = [record.source.path] if title is not None and record.source else []
        text = "\n  ".join([f"{record.id}  {record.title}", *files, record.path])
        judged = visibility_of(registry, [record])
        text += visibility_text(judged, record)
        data = {**record_data(record), **visibility_data(judged, record)}
        emit(output, data, text, next_commands=["orbit check"])

        if editor or values.get("path") or values.get("evidence"):
            print_notes(doubts(registry, record))
        elif values.get("review_by"):
            print_notes(past_review(record))

    def refuse(context: click.Context, option: click.Parameter, status: str | None) -> None:
        if status is not None:
            raise UsageError("a status is not a field to update", hint=verbs_hint(kind))

    body_file, *others = options_of(_update_options, kind)
    assert isinstance(body_file, click.Option)
    body_file.hidden = not kind.in_record
    params: list[click.Parameter] = [
        click.Argument(["any_id"], metavar="ID"),
        *update_options(kind),
        click.Option(
            ["--status"], metavar="STATUS", hidden=True, expose_value=False, callback=refuse
        ),
        body_file,
        *others,
    ]

    summary = _with_examples(
        f"Change fields of {kind.with_article}.\n\nLists gain entries; fields that are not "
        f"named stay.",
        f"orbit {kind.name} update {_example_id(kind)} --add-tag network --dry-run",
    )
    return format_option(click.Command("update", params=params, callback=update, help=summary))


def _in_editor(registry: Registry, kind: Kind, any_id: str) -> Record:
    edits.refuse_other_kind(registry.collection.records, kind, any_id)
    record = registry.get(any_id)
    before = read_text(registry.workspace.root / record.path)
    digest = hashlib.sha256(before.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    with edited_text(registry.workspace, f"{record.id}-{digest}", before) as after:
        return edits.replace_text(registry.refresh(), record.id, before, after)


def kind_group(name: str) -> click.Group:
    """Return the command group of a kind with the verbs that every kind has."""
    kind = kind_of(name)
    decide = "`orbit accept`, `orbit reject` and `orbit retire` decide about records of every kind."
    summary = _with_examples(
        f"Write, list and change {kind.labels.lower()}.\n\n{decide}",
        f"orbit {name} list",
        f"orbit {name} show {_example_id(kind)}",
    )
    group = TableGroup(name, summary, kind)
    commands: list[click.Command] = [add_command(kind)] if kind.in_record else []
    commands.append(_update_command(kind))

    for command in commands:
        group.add_command(command)

    return group
