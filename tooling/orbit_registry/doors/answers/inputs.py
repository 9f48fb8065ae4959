"""Texts that a caller gives by a file or a pipe."""

import sys
from pathlib import Path
from typing import BinaryIO

from orbit_registry.doors.answers.arguments import TO_READ, refuse_path
from orbit_registry.doors.answers.call import Call
from orbit_registry.errors import RefusedError, UsageError
from orbit_registry.model.kind import Kind
from orbit_registry.workspace.files import RECORD_LIMIT, decode, read_text, resolved
from orbit_registry.workspace.workspace import refuse_empty_path

STANDARD_INPUT = "-"
EXAMPLE = '"Retry uploads with a new token"'
"""The headline of a record in help and hints."""


def headline_of(
    call: Call, kind: Kind, argument: str | None, option: str | None, *, asks: bool
) -> str:
    """Return the headline of a new record, from the argument or the option; a terminal asks for a
    missing one.

    Raises:
        UsageError: it is given twice, or not at all.
    """
    if argument is not None and option is not None:
        raise UsageError(f"the {kind.headline} is given twice", hint=f"leave --{kind.headline} out")

    headline = option if argument is None else argument
    if headline is None and asks and call.person is not None:
        headline = call.person.answer(f"{kind.headline.capitalize()} of the {kind.label.lower()}")

    if headline is None:
        message = f"{kind.with_article} needs a {kind.headline}"
        raise UsageError(message, hint=f"give it: orbit {kind.name} new {EXAMPLE}")

    return headline


def named_file(name: str) -> Path:
    """Return the path of a file that a caller names to be read.

    Raises:
        UsageError: it is empty, not there, or a folder.
    """
    refuse_empty_path(name)
    path = Path(name)
    refuse_path(path, TO_READ)
    return path


def text_from(value: str) -> str:
    """Return the text of a file or pipe; `-` is standard input.

    Raises:
        UsageError: there is no such file.
    """
    if value == STANDARD_INPUT:
        return _read_stream(sys.stdin.buffer, "the standard input")

    path = named_file(value)
    if path.is_fifo():  # process substitution: `--body-file <(command)`
        with path.open("rb") as pipe:
            return _read_stream(pipe, value)
    return read_text(resolved(path))


def _read_stream(stream: BinaryIO, name: str) -> str:
    """Read at most `RECORD_LIMIT`: a stream may be endless."""
    content = stream.read(RECORD_LIMIT + 1)
    if len(content) > RECORD_LIMIT:
        message = f"{name} has more than {RECORD_LIMIT:,} bytes, the most that is read"
        raise RefusedError(message, hint="move long text elsewhere")
    return decode(content, Path(name))
