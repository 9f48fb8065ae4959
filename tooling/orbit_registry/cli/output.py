"""Prints: text, the JSON envelope, progress; decides nothing about what is printed."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import click

from orbit_registry.cli.terminal import json_text, visible
from orbit_registry.errors import OrbitError
from orbit_registry.model.diagnostic import Diagnostic, Severity, envelope
from orbit_registry.render.unread import check_command, unread_files, unread_text
from orbit_registry.repository.legacy_layout import LEGACY_LAYOUT

if TYPE_CHECKING:
    from orbit_registry.registry import Registry
    from orbit_registry.workspace.git import Git

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
        click.echo(json_text(whole))
    elif text:
        click.echo(visible(text))


def refuse(output: str, error: OrbitError, *, next_commands: Sequence[str]) -> NoReturn:
    """Raise an error; as JSON it comes with the commands that make sense instead."""
    if output == "json":
        whole = envelope(None, ok=False, error=error.message, hint=error.hint, next_commands=next_commands)
        click.echo(json_text(whole))
        raise click.exceptions.Exit(error.exit_code)
    raise error


def say_refusals(output: str, data: object, text: str, errors: Sequence[OrbitError]) -> NoReturn:
    """Print what was done in spite of some refusals, then each refusal; as JSON they share one envelope."""
    if output == "json":
        said = "; ".join(error.message for error in errors)
        whole = envelope(data, ok=False, error=said, hint=errors[0].hint)
        click.echo(json_text(whole))
        raise click.exceptions.Exit(errors[0].exit_code)
    if text:
        click.echo(visible(text))
    for error in errors[:-1]:
        click.echo(visible(f"error: {error.message}"), err=True)
        click.echo(visible(f"  hint: {error.hint}"), err=True)
    raise errors[-1]


def progress(title: str, total: int | None = None) -> Callable[[int], None] | None:
    """Return something to call with the number done so far, or None where nobody watches a terminal."""
    if not sys.stderr.isatty():
        return None

    def show(done: int) -> None:
        whole = f"/{total}" if total else ""
        click.echo(f"\r{title} {done}{whole}", nl=False, err=True)

    return show


def warn_of_unread(registry: Registry) -> None:
    """Say on the error channel that files were left out because they hold no record."""
    problems = registry.collection.problems
    old = next((problem for problem in problems if problem.code == LEGACY_LAYOUT), None)
    if old is not None:
        click.echo(visible(f"{old.location.path}: {old.message}; {old.hint}"), err=True)
    files = unread_files(problems)
    if files:
        click.echo(f"{unread_text(files)}: `{check_command(registry.workspace, files)}` says why", err=True)


def say_diagnostics(diagnostics: Sequence[Diagnostic], most: int = 20) -> None:
    """Print the first diagnostics, errors before warnings, one a line with its hint, and how many more there are."""
    weighed = sorted(diagnostics, key=lambda one: list(Severity).index(one.severity))
    for diagnostic in weighed[:most]:
        said = f"{diagnostic.severity.value} {diagnostic.code} {diagnostic.message}"
        click.echo(visible(f"{diagnostic.location}: {said}"), err=True)
        if diagnostic.hint:
            click.echo(f"    {diagnostic.hint}", err=True)
    if len(weighed) > most:
        click.echo(f"… and {len(weighed) - most} more; --format json lists all", err=True)


def keep_out(git: Git, path: Path) -> list[str]:
    """Return a line on how what is not for others stays out of git, where the next `git add .` would take it."""
    line = git.ignore_line(path)
    return [] if line is None else [f"to keep it out of git, put this into .gitignore: {line}"]


def plural(count: int, one: str, many: str | None = None) -> str:
    """Return a count with its noun."""
    return f"{count} {one if count == 1 else many or one + 's'}"


def as_json(data: Any) -> str:
    """Return data as indented JSON."""
    return json_text(data)
