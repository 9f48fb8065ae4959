"""Prints: records, tables, the JSON envelope, progress; decides nothing about what is printed."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NoReturn, TypeVar

import click

from orbit_registry.cli.tallies import vote_cell, vote_data
from orbit_registry.cli.terminal import visible
from orbit_registry.errors import OrbitError
from orbit_registry.records.diagnostic import Diagnostic
from orbit_registry.records.envelope import envelope
from orbit_registry.records.record import Record
from orbit_registry.store.old_layout import OLD_LAYOUT

Decorated = TypeVar("Decorated", bound=Callable[..., Any] | click.Command)


def format_option(command: Decorated) -> Decorated:
    """Give a command `--format text|json`, as the argument `output`."""
    choice = click.Choice(["text", "json"])
    give = click.option("--format", "output", type=choice, default="text", show_default=True, help="How to print.")
    return give(command)


def emit(
    output: str,
    data: object,
    text: str,
    *,
    next_commands: Sequence[str] = (),
    diagnostics: Sequence[Diagnostic] = (),
    ok: bool = True,
) -> None:
    """Print data as JSON, or the text made of them; findings stand in the JSON alone."""
    if output == "json":
        found = [diagnostic.as_dict() for diagnostic in diagnostics]
        whole = envelope(data, ok=ok, diagnostics=found, next_commands=next_commands)
        click.echo(json.dumps(whole, ensure_ascii=False, indent=2))
    elif text:
        click.echo(visible(text))


def refuse(output: str, error: OrbitError, *, next_commands: Sequence[str]) -> NoReturn:
    """Raise an error; as JSON it comes with the commands that make sense instead."""
    if output == "json":
        whole = envelope(None, ok=False, error=error.message, hint=error.hint, next_commands=next_commands)
        click.echo(json.dumps(whole, ensure_ascii=False, indent=2))
        raise click.exceptions.Exit(error.exit_code)
    raise error


def say_refusals(output: str, data: object, text: str, errors: Sequence[OrbitError]) -> NoReturn:
    """Print what was done in spite of some refusals, then each refusal; as JSON they share one envelope."""
    if output == "json":
        said = "; ".join(error.message for error in errors)
        whole = envelope(data, ok=False, error=said, hint=errors[0].hint)
        click.echo(json.dumps(whole, ensure_ascii=False, indent=2))
        raise click.exceptions.Exit(errors[0].exit_code)
    if text:
        click.echo(visible(text))
    for error in errors[:-1]:
        click.echo(visible(f"error: {error.message}"), err=True)
        click.echo(visible(f"  hint: {error.hint}"), err=True)
    raise errors[-1]


def record_data(record: Record, *, prose: bool = False) -> dict[str, object]:
    """Return a record as JSON shows it: its file's fields, its kind, phase and path."""
    head: dict[str, object] = {"kind": record.kind.name, "phase": record.phase, "path": record.path}
    votes = {"votes": vote_data(record.votes)} if record.votes or (prose and record.kind.voted) else {}
    return {**head, **record.data, **votes, **({"prose": record.prose} if prose else {})}


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return rows as aligned columns; the last one takes what space is left."""
    listed = [tuple(cell.replace("\n", " ") for cell in row) for row in rows]
    if not listed:
        return ""
    heads = tuple(column.upper() for column in columns)
    widths = [min(40, max(len(row[index]) for row in (heads, *listed))) for index in range(len(columns))]

    def line(row: Sequence[str]) -> str:
        return "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()

    return "\n".join(map(line, (heads, *listed)))


def records_table(records: Sequence[Record], columns: Sequence[str]) -> str:
    """Return records as a table of the columns their kind names; the headline last, where it may run on."""
    if not records:
        return "no records"
    headline = records[0].kind.headline
    ordered = [column for column in columns if column not in (headline, "title")]

    def cell(record: Record, column: str) -> str:
        if column == "votes":
            return vote_cell(record.votes)
        return str(record.data.get(column, ""))

    rows = [[*(cell(record, column) for column in ordered), record.title] for record in records]
    return table([*ordered, headline], rows)


def progress(title: str, total: int | None = None) -> Callable[[int], None] | None:
    """Return something to call with the number done so far, or None where nobody watches a terminal."""
    if not sys.stderr.isatty():
        return None

    def show(done: int) -> None:
        whole = f"/{total}" if total else ""
        click.echo(f"\r{title} {done}{whole}", nl=False, err=True)

    return show


def warn_of_unread(problems: Sequence[Diagnostic]) -> None:
    """Say on the error channel that files were left out because they hold no record."""
    old = next((problem for problem in problems if problem.code == OLD_LAYOUT), None)
    if old is not None:
        click.echo(visible(f"{old.location.path}: {old.message}; {old.hint}"), err=True)
    paths = {problem.location.path for problem in problems if problem.code != OLD_LAYOUT}
    if paths:
        held = "1 file holds no record that can be read" if len(paths) == 1 else f"{len(paths)} files hold no record"
        click.echo(f"{held}: `orbit check` says why", err=True)


def plural(count: int, one: str, many: str | None = None) -> str:
    """Return a count with its noun."""
    return f"{count} {one if count == 1 else many or one + 's'}"


def as_json(data: Any) -> str:
    """Return data as indented JSON."""
    return json.dumps(data, ensure_ascii=False, indent=2, default=str)
