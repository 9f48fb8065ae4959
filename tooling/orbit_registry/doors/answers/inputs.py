"""Texts that a caller gives by a file or a pipe."""

import sys
from pathlib import Path
from typing import BinaryIO

from orbit_registry.errors import RefusedError
from orbit_registry.workspace.files import RECORD_LIMIT, decode, is_there, read_text

STANDARD_INPUT = "-"


def text_from(value: str) -> str:
    """Return the text of a file or pipe; `-` is standard input."""
    path = Path(value)
    if value == STANDARD_INPUT:
        return _read_stream(sys.stdin.buffer, "the standard input")
    if is_there(path) and path.is_fifo():  # process substitution: `--body-file <(command)`
        with path.open("rb") as pipe:
            return _read_stream(pipe, value)
    return read_text(path.resolve())


def _read_stream(stream: BinaryIO, name: str) -> str:
    """Read at most `RECORD_LIMIT`: a stream may be endless."""
    content = stream.read(RECORD_LIMIT + 1)
    if len(content) > RECORD_LIMIT:
        message = f"{name} has more than {RECORD_LIMIT:,} bytes, the most that is read"
        raise RefusedError(message, hint="move long text elsewhere")
    return decode(content, Path(name))
