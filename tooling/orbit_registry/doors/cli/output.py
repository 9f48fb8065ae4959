"""Output and input of the command line: envelope, notes, paths, the editor."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import click

from orbit_registry.doors.cli.writer import give, say
from orbit_registry.doors.render.records import unread_text
from orbit_registry.errors import OrbitError, UsageError
from orbit_registry.formats.untrusted import json_text
from orbit_registry.model.diagnostic import Diagnostic, Severity, envelope
from orbit_registry.registry import Registry
from orbit_registry.repository.reader import LEGACY_LAYOUT
from orbit_registry.workspace.author import acting_role
from orbit_registry.workspace.files import inside, read_text, write_atomic
from orbit_registry.workspace.workspace import Workspace

if TYPE_CHECKING:
    pass

Decorated = TypeVar("Decorated", bound=Callable[..., Any] | click.Command)


def format_option(command: Decorated, formats: Sequence[str] = ("text", "json")) -> Decorated:
    """Add `--format` to a command, as the argument `output`; the first format is the usual one."""
    option = click.option(
        "--format",
        "output",
        type=click.Choice(formats),
        default=formats[0],
        show_default=True,
        help="Output format.",
    )
    return option(command)


def emit(
    output: str,
    data: object,
    text: str,
    *,
    next_commands: Sequence[str] = (),
    diagnostics: Sequence[Diagnostic] = (),
    notes: Sequence[str] = (),
    ok: bool = True,
    exit_code: int = 1,
) -> None:
    """Print data as a JSON envelope, or the text, then notes for a person; only JSON includes the
    diagnostics.

    If not `ok`, end the command.
    """
    if output == "json":
        findings = [diagnostic.as_dict() for diagnostic in diagnostics]
        answer = envelope(data, ok=ok, diagnostics=findings, next_commands=next_commands)
        give(json_text(answer))
    elif text:
        say(text)

    print_notes(notes)
    if not ok:
        raise click.exceptions.Exit(exit_code)


def print_refusals(output: str, data: object, text: str, errors: Sequence[OrbitError]) -> NoReturn:
    """Print what succeeded, then each refusal; as JSON in one envelope."""
    if output == "json":
        message = "; ".join(error.message for error in errors)
        answer = envelope(data, ok=False, error=message, hint=errors[0].hint)
        give(json_text(answer))
        raise click.exceptions.Exit(errors[0].exit_code)

    if text:
        say(text)

    for error in errors[:-1]:
        say(f"error: {error.message}", err=True)
        say(f"  hint: {error.hint}", err=True)

    raise errors[-1]


@contextlib.contextmanager
def progress_display() -> Iterator[Callable[[str, int, int], None]]:
    """Yield a callback for a step's name, how much of it is done and how much there is;
    a terminal shows a bar, unless it is one of CI, whose log would keep each picture of it.
    """
    if not sys.stderr.isatty() or "CI" in os.environ:
        yield lambda step, done, of: None
        return

    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        task = bars.add_task("read", total=None)

        def show(step: str, done: int, of: int) -> None:
            # A step that can't say how far it is has a bar that moves. A new step is drawn at once.
            is_new = bars.tasks[0].description != step
            total = of if of > 1 else None
            bars.update(task, description=step, completed=done, total=total, refresh=is_new)

        yield show


def warn_of_unread(registry: Registry) -> None:
    """Warn on standard error of records that could not be read."""
    problems = registry.collection.problems
    old = next((problem for problem in problems if problem.code == LEGACY_LAYOUT), None)
    if old is not None:
        say(f"{old.location.path}: {old.message}; {old.hint}", err=True)
    if text := unread_text(problems):
        say(f"{text}; run `orbit check`", err=True)


def print_diagnostics(diagnostics: Sequence[Diagnostic], most: int = 5) -> None:
    """Print the first diagnostics, errors first, and how many more there are."""
    weighed = sorted(diagnostics, key=lambda entry: list(Severity).index(entry.severity))
    for diagnostic in weighed[:most]:
        line = f"{diagnostic.severity.value} {diagnostic.code} {diagnostic.message}"
        say(f"{diagnostic.location}: {line}", err=True)
        if diagnostic.hint:
            say(f"    {diagnostic.hint}", err=True)

    if len(weighed) > most:
        say(f"… and {len(weighed) - most} more; --format json lists all", err=True)


def open_registry() -> Registry:
    """Return the registry of the workspace here, after recovering interrupted writes."""
    registry = Registry.open()
    for words in registry.recover():
        say(f"note: an earlier command was interrupted: {words}", err=True)
    return registry


def print_notes(notes: Sequence[str]) -> None:
    """Print notes below an answer on standard error."""
    for text in notes:
        say(text, err=True)


@contextlib.contextmanager
def edited_text(workspace: Workspace, name: str, text: str) -> Iterator[tuple[str, str]]:
    """Open a copy of a text in $VISUAL or $EDITOR and yield the result, and the path of the copy.

    If the body of the `with` refuses the text, the copy stays, the error names it, and the next
    edit of `name` continues with it.
    """
    # Agents have copies of their own.
    whose = "agent/" if acting_role() == "agent" else ""
    relative = f"{workspace.relative(workspace.state)}/edits/{whose}{name}.yaml"
    copy = inside(workspace.root, relative)
    copy.parent.mkdir(parents=True, exist_ok=True)

    if not copy.exists():
        write_atomic(copy, text)
    elif read_text(copy) != text:  # an earlier edit's text differs from the registry's
        say(f"going on with the text in {relative}; remove that file to start again", err=True)

    try:
        click.edit(
            filename=os.path.relpath(copy)
        )  # older versions hand it to a shell: no folder's name is in it
    except (click.ClickException, ValueError) as error:
        hint = "set EDITOR to a program that opens a file and waits, such as vi or 'code --wait'"
        raise UsageError(f"the editor can't be used: {error}", hint=hint) from None

    try:
        yield read_text(copy), relative
    except OrbitError as error:
        hint = f"{error.hint}; " if error.hint else ""
        notice = f"your text is kept in {relative}"
        error.hint = (
            f"{hint}{notice}: the same command continues with it; remove that file to start again"
        )
        raise

    copy.unlink(missing_ok=True)
