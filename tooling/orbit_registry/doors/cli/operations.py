"""The commands of the table of operations: arguments as options, answers as text or JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache, cached_property, partial
from itertools import chain
from pathlib import Path
from typing import Any, NoReturn

import click

from orbit_registry.doors.answers.answer import Answer, answer_of
from orbit_registry.doors.answers.arguments import Argument, refuse_paths
from orbit_registry.doors.answers.call import Call
from orbit_registry.doors.answers.kinds import Verb, verbs_of
from orbit_registry.doors.answers.table import Operation, Row, commands, rows
from orbit_registry.doors.cli.help import finished
from orbit_registry.doors.cli.output import (
    edited_text,
    emit,
    format_option,
    open_registry,
    print_diagnostics,
    print_notes,
    print_refusals,
    progress_display,
    warn_of_unread,
)
from orbit_registry.doors.cli.writer import give, say
from orbit_registry.doors.render.blocks import rendered
from orbit_registry.errors import did_you_mean
from orbit_registry.model.ids import sequence_id
from orbit_registry.model.kind import Kind
from orbit_registry.repository.codec import hides_record
from orbit_registry.workspace.workspace import refuse_empty_path

EXAMPLE_NUMBER = 7


class Terminal:
    """The person at a terminal."""

    def confirm(self, shown: str, question: str, *, usual: bool = False) -> None:
        """Show a text and ask; stop unless the answer, or the usual one, is yes."""
        self.show(shown)
        click.confirm(question, default=usual, abort=True, err=True)

    def show(self, text: str) -> None:
        """Show a text that a question is about."""
        say(text)

    def answer(self, question: str, usual: str | None = None) -> str:
        """Ask for a line of text; no answer is the `usual` one."""
        return str(click.prompt(question, default=usual, err=True))

    def choice(self, question: str, choices: Sequence[str], usual: str) -> str:
        """Ask for one of some words; no answer is the `usual` one."""
        form = click.Choice(choices)
        return str(click.prompt(question, default=usual, type=form, show_choices=False, err=True))

    def stop(self) -> NoReturn:
        """End the call, as the person wants it."""
        raise click.exceptions.Exit(1)


class _FilePath(click.Path):
    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path; as a path, an empty word would be the current folder."""
        refuse_empty_path(str(value))
        return super().convert(value, param, ctx)


class _RequiredUnlessEdited(click.Option):
    def process_value(self, ctx: click.Context, value: Any) -> Any:
        """Return the value; where an editor is asked for, none is one too."""
        if ctx.params.get("editor"):
            if self.value_is_missing(value):
                return None

            return self.type_cast_value(ctx, value)
        return super().process_value(ctx, value)


def command_of(
    operation: Operation, kind: Kind | None = None, verb: Verb | None = None
) -> click.Command:
    """Return the command of an operation, or that of one kind; for a verb, with its status."""
    arguments = operation.arguments(kind)
    arguments = [each for each in arguments if "tool" not in each.schema]
    if any("parts" in each.schema for each in arguments):
        # The readers of YAML, which `list` does without.
        from orbit_registry.doors.answers.record_fields import part_arguments

        parts = (part_arguments(each, kind) for each in arguments)
        arguments = [*chain.from_iterable(parts)]

    fixed: Mapping[str, Any] = {}
    if verb is not None:
        arguments = [_of_verb(each, verb) for each in arguments if verb.takes(each.name)]
        fixed = {"status": verb.status}

    params = [parameter_of(argument, kind) for argument in arguments]
    command = click.Command(
        operation.verb if verb is None else verb.name,
        params=params,
        callback=partial(_run, operation, arguments, kind, fixed),
        help=_help_of(operation, kind, verb),
        hidden=operation.is_hidden if verb is None else verb.is_hidden,
    )
    if operation.formats:
        return format_option(command, operation.formats)

    return command


def _of_verb(argument: Argument, verb: Verb) -> Argument:
    """Return an argument with what a verb says of it."""
    if argument.name == "of_status":
        return replace(argument, schema={**argument.schema, "enum": verb.undecided})
    if argument.name == "any_ids":
        return replace(argument, required=not verb.undecided)

    return argument


def table_command(name: str) -> click.Command:
    """Return the command `orbit NAME`, with those below it where it is a group."""
    operation = commands()[name].load()
    if operation.is_group:
        return TableGroup(name, operation.words.help, usual=operation.usual)

    return command_of(operation)


class TableGroup(click.Group):
    """The commands whose names in the table begin with that of a group, and those of a kind; each
    is made, and its module imported, when it is wanted.
    """

    def __init__(self, name: str, words: str, kind: Kind | None = None, usual: str = "") -> None:
        super().__init__(name, help=words, no_args_is_help=True)
        self.kind = kind
        self.usual = usual

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Return the remaining arguments, with the usual command where none is named."""
        names = {*self.list_commands(ctx), *self.get_help_option_names(ctx)}
        if self.usual and args and args[0] not in names:
            args = [self.usual, *args]

        return super().parse_args(ctx, args)

    @cached_property
    def verbs(self) -> Mapping[str, Verb]:
        """What sets a status of the kind's records, by its word."""
        if self.kind is None:
            return {}

        return verbs_of(self.kind)

    @cached_property
    def rows(self) -> Mapping[str, Row]:
        """Rows of the table by the last words of their names."""
        of_kind = [row for row in rows() if self.kind is not None and row.serves(self.kind)]
        below = [row for row in rows() if row.name.startswith(f"{self.name} ")]
        by_word = {row.name.rpartition(" ")[2]: row for row in (*of_kind, *below)}
        if self.kind is None:
            return by_word

        status = by_word.pop("status", None)
        verbs = {} if status is None else dict.fromkeys(self.verbs, status)
        return {**verbs, **by_word}

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands."""
        return sorted({*self.commands, *self.rows})

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command of the arguments; name a near one if there is none."""
        word = args[0]
        if self.get_command(ctx, word) is None and not word.startswith("-"):
            near = did_you_mean(word, self.list_commands(ctx), "'")
            ctx.fail(f"No such command {word!r}. {near[:1].upper()}{near[1:]}".rstrip())

        return super().resolve_command(ctx, args)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command, one that is not in the table first; of a kind, `add` is `new` too."""
        if self.kind is not None and cmd_name == "add":
            cmd_name = "new"

        if cmd_name in self.commands or cmd_name not in self.rows:
            return self.commands.get(cmd_name)

        row = self.rows[cmd_name]
        verb = self.verbs.get(cmd_name)
        return finished(command_of(row.load(), self.kind if row.is_of_kinds else None, verb))


def _run(
    operation: Operation,
    arguments: list[Argument],
    kind: Kind | None,
    fixed: Mapping[str, Any],
    /,
    output: str = "text",
    **values: Any,
) -> None:
    call = call_of(kind, output)
    refuse_paths(arguments, values)
    chosen: dict[str, Any] = {}
    parts: dict[str, dict[str, Any]] = {}
    for argument in arguments:
        whole = argument.schema.get("part_of")
        if whole is None:
            chosen[argument.name] = values[argument.name]
        else:
            parts.setdefault(whole, {})[argument.public] = values[argument.name]

    if parts:
        from orbit_registry.doors.answers.record_fields import fields_from  # as above

        chosen |= {whole: fields_from(kind, entries) for whole, entries in parts.items()}

    answer = answer_of(operation.run(call, **fixed, **chosen))
    if operation.lists and output == "json":
        unread = filter(hides_record, call.registry.collection.problems)
        answer = replace(answer, diagnostics=[*answer.diagnostics, *unread])

    if output in ("text", "json"):
        print_answer(answer, output)
    else:
        write = say if output == "table" else give
        write(rendered(answer.text), nl=False)
        print_notes(answer.notes)
        if answer.refused:
            raise answer.refused[0]
        if not answer.ok:
            raise click.exceptions.Exit(1)

    if operation.lists:
        warn_of_unread(call.registry)


def call_of(kind: Kind | None, output: str) -> Call:
    """Return the call of a command: its registry is opened when it is wanted."""
    # A question goes to standard error, so the answer itself may go into a pipe.
    person = Terminal() if output == "text" and sys.stdin.isatty() else None
    return Call(
        cache(open_registry),
        kind,
        person,
        form=output,
        progress=progress_display,
        edited=edited_text,
    )


def print_answer(answer: Answer, output: str) -> None:
    """Print an answer as text or as JSON, then the notes for a person, then what was refused."""
    for data, line in answer.stream:
        if output == "json":
            give(json.dumps(data))
        else:
            say(line)

    if answer.stream:
        return

    if output == "text":
        print_diagnostics(answer.warned)

    text = rendered(answer.text)
    if answer.refused:
        print_refusals(output, answer.data, text, answer.refused)

    remarks = answer.remarks if output == "text" else ()
    emit(
        output,
        answer.data,
        text,
        next_commands=answer.next,
        diagnostics=answer.diagnostics,
        notes=[*remarks, *answer.notes],
        ok=answer.ok,
        exit_code=answer.exit_code,
    )


def parameter_of(argument: Argument, kind: Kind | None = None) -> click.Parameter:
    """Return the option or argument of the command line."""
    if not argument.flags:
        return _placed(argument, kind)

    form: Any = {"type": _click_type(argument.schema)}
    if argument.schema["type"] == "boolean":
        form = {"is_flag": True}
    elif argument.is_list:
        form |= {"multiple": True, "nargs": 2 if argument.is_of_pairs else 1}

    # None as a default would be a value: a required option needs none.
    if argument.is_list:
        form["default"] = ()
    elif not argument.required:
        form["default"] = argument.default

    # A field's description is a text of the kind, and may have braces.
    is_field = "part_of" in argument.schema
    is_hidden = "hidden" in argument.schema
    if kind is not None and not kind.in_record:
        is_hidden |= "of_records" in argument.schema

    make = _RequiredUnlessEdited if is_field and argument.required else click.Option
    return make(
        [*argument.flags, argument.name],
        required=argument.required,
        show_default=argument.default not in (None, "", (), False),
        metavar=argument.metavar or None,
        help=(argument.help or None) if is_field else filled(argument.help, kind),
        hidden=is_hidden,
        is_eager="eager" in argument.schema,
        **form,
    )


def _placed(argument: Argument, kind: Kind | None) -> click.Argument:
    metavar = filled(argument.metavar, kind) or None
    if "enum" in argument.schema and "|" not in argument.metavar:
        metavar = f"{{{' | '.join(argument.schema['enum'])}}}"

    placed = click.Argument(
        [argument.name],
        type=_click_type(argument.schema),
        nargs=-1 if argument.is_list else 1,
        required=argument.required,
        metavar=metavar,
    )
    if not (argument.is_list or argument.required):
        placed.default = argument.default

    return placed


def _click_type(schema: Mapping[str, Any]) -> Any:
    """Return what click makes of a value, by its JSON Schema."""
    if schema["type"] == "array":
        return _click_type(schema["items"])
    if "enum" in schema:
        return click.Choice([str(choice) for choice in schema["enum"]])
    if schema["type"] == "integer":
        if {"minimum", "maximum"} & schema.keys():
            return click.IntRange(schema.get("minimum"), schema.get("maximum"))
        return int
    if schema.get("format") == "path":
        return _FilePath(path_type=Path)
    if schema["type"] == "number":
        above = schema.get("exclusiveMinimum")
        least = schema.get("minimum", above)
        return click.FloatRange(least, schema.get("maximum"), min_open=above is not None)
    return str


def _help_of(operation: Operation, kind: Kind | None, verb: Verb | None) -> str:
    words = operation.words
    text = words.help if kind is None else words.of_kind or words.help
    if verb is None:
        return filled(text, kind)

    why = ' --reason "…"' if verb.is_closing else ""
    text = filled(text, kind, verb=verb.name, status=verb.status, example=why)
    if verb.undecided and kind is not None:
        text += f"\norbit {kind.name} {verb.name} --status {verb.undecided[0]} --dry-run"

    return text


def filled(text: str, kind: Kind | None, **words: str) -> str:
    """Return a text with the words of a kind in the place of `{a_kind}` and the like."""
    if kind is None:
        return text

    example_id = f"{kind.prefix}7k3fq"
    if kind.numbering == "sequence":
        example_id = sequence_id(kind.prefix, EXAMPLE_NUMBER)

    words = {"id": example_id, "prose": kind.prose, "HEADLINE": kind.headline.upper(), **words}
    if "{required}" in text:
        from orbit_registry.doors.answers.record_fields import required_words  # as above

        words["required"] = required_words(kind)

    return text.format(kind=kind.name, a_kind=kind.with_article, kinds=kind.labels.lower(), **words)
