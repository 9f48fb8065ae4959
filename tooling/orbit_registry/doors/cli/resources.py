"""`orbit import doc`, `import script` and `run`: resources from files."""

import sys
from pathlib import PurePosixPath
from typing import Annotated, Any

import click

from orbit_registry.doors.answers.arguments import Form
from orbit_registry.doors.answers.call import Call
from orbit_registry.doors.answers.inputs import STANDARD_INPUT
from orbit_registry.doors.answers.table import commands
from orbit_registry.doors.cli.fields import fields_from, shared_options
from orbit_registry.doors.cli.operations import TableGroup, options_of
from orbit_registry.doors.cli.output import emit, format_option, from_root, open_registry
from orbit_registry.doors.cli.writer import say
from orbit_registry.doors.render.records import record_data
from orbit_registry.errors import UsageError, plural
from orbit_registry.exchange.resources import intake
from orbit_registry.exchange.resources.run import SECONDS, RunOptions, run
from orbit_registry.model.kind import load_kinds
from orbit_registry.model.record import Record
from orbit_registry.repository.codec import mapping_in
from orbit_registry.search.chunks import STRATEGIES, Chunk, Cut

_RECORDS = "records"


class _Import(TableGroup):
    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Return the remaining arguments; without a command name, that for records."""
        is_command = (
            not args
            or args[0] in self.list_commands(ctx)
            or args[0] in self.get_help_option_names(ctx)
        )
        return super().parse_args(ctx, args if is_command else [_RECORDS, *args])


import_group = _Import("import", commands()["import"].load().words.help)


def _file_options(
    call: Call,
    title: str | None = None,
    versions: tuple[str, ...] = (),
    strategy: Annotated[str, Form(enum=STRATEGIES)] | None = None,
    preview: bool = False,
    pending: bool = False,
    dry_run: bool = False,
) -> None:
    """Options of `orbit import doc` and `script`.

    Args:
        title --title: Its title; else its first heading or its file's name.
        versions --version V: A version it is for; repeatable.
        strategy --chunks: How search splits the text.
        preview: Print the chunks; write nothing.
        pending: Let it wait for review, as an agent's record does.
        dry_run: Print what would be written; write nothing.
    """


def _document_options(call: Call, name: str | None = None) -> None:
    """Options of `orbit import doc`.

    Args:
        name --name: The name of the copy; else the file's name.
    """


def _import_command(type_: str, summary: str) -> click.Command:
    kind = load_kinds()[intake.KIND]

    def take(
        source: str,
        title: str | None,
        versions: tuple[str, ...],
        strategy: str | None,
        pending: bool,
        preview: bool,
        dry_run: bool,
        output: str,
        name: str | None = None,
        **values: Any,
    ) -> None:
        registry = open_registry()
        workspace = registry.workspace
        fields = fields_from(kind, values)
        if pending:
            fields["status"] = kind.initial["agent"]

        chunking = dict(mapping_in(fields, "chunking"))
        if strategy:
            chunking["strategy"] = strategy

        if source == STANDARD_INPUT and type_ == intake.DOC:
            text = intake.source_from_stream(sys.stdin.buffer)
            if not (title or name):
                raise UsageError(
                    "a text from standard input has no name", hint="give it one: --title or --name"
                )
        else:
            text = intake.source_at(workspace, from_root(registry, source))

        file_name = name or (PurePosixPath(text.path).name if text.path else _file_name(str(title)))
        request = intake.IntakeRequest(type_, text, file_name, title, versions, chunking, fields)
        done = intake.import_resource(
            workspace, request, registry.author(), dry_run=dry_run or preview
        )
        if preview:
            emit(output, {**_cut_data(done.cut), "path": text.path}, _cut_text(done.cut))
            return

        waits = " (waits for review)" if done.record.phase == "pending" else ""
        was = "there already, unchanged"
        if done.is_new:
            was = "would be added" if dry_run else "added"

        head = f"{done.record.id}{waits}  {done.record.title}: {was}, {_chunk_count(done.cut)}"
        line = f"{head}\n  {_record_path(done.record, text)}"
        data = {
            **record_data(done.record),
            "added": done.is_new and not dry_run,
            "chunks": len(done.cut.chunks),
        }

        emit(
            output,
            {**data, "notes": list(done.notes)},
            line,
            next_commands=[f"orbit show {done.record.id}"],
        )

        _print_notes(done.notes)

    params: list[click.Parameter] = [
        click.Argument(["source"], metavar="PATH"),
        *options_of(_file_options, kind),
        *shared_options(),
    ]
    if type_ == intake.DOC:
        params += options_of(_document_options, kind)

    return format_option(click.Command(type_, params=params, callback=take, help=summary))


_DOC_HELP = """Keep a copy of a document; - reads standard input.

`orbit refresh` reads it again.

orbit import doc docs/deploying.md --version 2.1"""
_SCRIPT_HELP = """Make a script findable; it stays the file that it is.

orbit import script tools/migrate.sh --tag database"""
import_group.add_command(_import_command(intake.DOC, _DOC_HELP))
import_group.add_command(_import_command(intake.SCRIPT, _SCRIPT_HELP))


@click.command("run")
@click.argument("any_id", metavar="ID")
@click.argument("arguments", metavar="[-- ARGUMENTS]", nargs=-1, type=click.UNPROCESSED)
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    default=SECONDS,
    show_default=True,
    help="Time limit in seconds.",
)
@click.option(
    "--env", "passed", multiple=True, metavar="NAME", help="One more variable for the script."
)
@click.option("--trust", is_flag=True, help="Run it although it differs from the reviewed script.")
@format_option
def run_command(
    any_id: str,
    arguments: tuple[str, ...],
    timeout: float,
    passed: tuple[str, ...],
    trust: bool,
    output: str,
) -> None:
    """Run a reviewed script that is a resource.

    It runs in the project's root, and its exit code is that of this command. Script and record must
    be as committed, and the script as it was reviewed. A copy runs with a small environment. After
    the time limit it ends with exit code 124.

    orbit run RES-7k3fq -- --verbose staging
    """
    registry = open_registry()
    order = RunOptions(arguments, timeout, trust, passed, captured=output == "json")
    ran = run(registry.workspace, registry.get(any_id), registry.author(), order)
    if ran.is_over_time:
        say(f"ended after {timeout:g} s", err=True)

    emit(output, ran.as_data(any_id), "", ok=ran.exit_code == 0, exit_code=ran.exit_code)


def _cut_data(cut: Cut) -> dict[str, object]:
    names = (
        "code",
        "title",
        "breadcrumb",
        "sections",
        "first_line",
        "last_line",
        "tokens",
        "continues",
        "warning",
    )
    chunks = []
    for chunk in cut.chunks:
        row = {name: getattr(chunk, name) for name in names}
        chunks.append({**row, "warning": chunk.warning or None})

    return {"strategy": cut.strategy, "chunks": chunks}


def _cut_text(cut: Cut) -> str:
    return "\n".join([f"{_chunk_count(cut)}, cut by {cut.strategy}", *map(_chunk_line, cut.chunks)])


def _chunk_line(chunk: Chunk) -> str:
    warning = f"  {chunk.warning}" if chunk.warning else ""
    lines = f"lines {chunk.first_line}–{chunk.last_line}"
    return (
        f"  {chunk.code}  {lines}  {plural(chunk.tokens, 'token')}  "
        f"{chunk.breadcrumb or chunk.title}{warning}"
    ).rstrip()


def _chunk_count(cut: Cut) -> str:
    return plural(len(cut.chunks), "chunk")


def _record_path(record: Record, text: intake.IntakeSource) -> str:
    return record.source.path if record.source is not None else text.path or record.path


def _file_name(title: str) -> str:
    words = "".join(
        character if character.isalnum() else " " for character in title.lower()
    ).split()
    return f"{'-'.join(words)[:80] or 'text'}.md"


def _print_notes(notes: tuple[str, ...]) -> None:
    for note in notes:
        say(f"note: {note}", err=True)
