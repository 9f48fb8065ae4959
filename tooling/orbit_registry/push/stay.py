"""Answers the hook's calls of a host that keeps this process: a line in, a line out, until the host closes our input.

It ends with the host, which closes the pipe by ending; nothing outlives it. Built-in modules only.
"""

import gc
import posix
from sys import exc_info

from orbit_registry.push.client import LARGEST, Dispatch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from signal import ITIMER_REAL, setitimer
else:
    from _signal import ITIMER_REAL, setitimer


def stay(agent: str) -> None:
    """Answer each call with a line, an empty one where there is nothing to say.

    A call that the clock ends, or that a fault breaks, ends the process, and so does one after which our code is not
    what it was: the host starts us again at its next call.
    """
    gc.enable()
    made = _stamp()
    for line in _lines():
        dispatch = Dispatch(agent)
        try:
            dispatch.run([line].pop)
            setitimer(ITIMER_REAL, 0)
        finally:
            dispatch.close(exc_info()[1])
        if not dispatch.printed:
            posix.write(1, b"\n")
        if _stamp() != made:
            return


def _lines() -> "Iterator[bytes | None]":
    """Yield the lines of standard input; None for one that is too large, which is the last."""
    held = b""
    while part := posix.read(0, 1 << 16):
        *lines, held = (held + part).split(b"\n")
        yield from lines
        if len(held) > LARGEST:
            yield None
            return


def _stamp() -> int:
    """Return what tells another version of this code, also one without this file."""
    try:
        return posix.stat(__file__).st_mtime_ns
    except OSError:
        return 0
