"""Does one piece of work in a second process beside this one, where that can be; it knows no work, starts no program.

The second process is a copy of this one (`fork`): it has all that was read, so nothing is handed to it, and of what it
makes it hands back the result alone. Not every process may be copied: one with threads may hold a lock that nobody in
the copy gives back, one that serves is not ours to double, and the libraries of macOS forbid it.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import signal
import sys
from collections.abc import Callable
from typing import NoReturn

from orbit_registry.lifetime import is_one_command

_STREAMS = (0, 1, 2)
_first: int | None = None
"""In a copy the process that it was made of."""


def beside(work: Callable[[], object]) -> Callable[[], object] | None:
    """Begin a work, and return what waits for its result; None where the caller has to do it.

    The result comes back as JSON holds it, to the first that asks; whoever asks again does the work. So does who asks
    for one that failed, or whose process was killed: its error is the caller's. One that nobody asked for is ended with
    this process, unless that is killed: whoever keeps what comes of a work asks before whether it `is_wanted`.
    """
    if not _may_be_copied():
        return None
    try:
        reading, writing = os.pipe()
    except OSError:  # too many files are open
        return None
    first = os.getpid()
    try:
        if min(reading, writing) in _STREAMS:  # one of ours is closed, and the copy would take the pipe for it
            raise OSError
        process = os.fork()
    except OSError:  # no memory for another process, or no more of them allowed
        os.close(reading)
        os.close(writing)
        return None
    if process == 0:
        _do(work, writing, first)
    os.close(writing)
    return _Begun(work, process, reading)


def is_wanted() -> bool:
    """Say whether somebody is there for whom a work is done: in a copy, the process that it was made of."""
    return _first is None or os.getppid() == _first


def _may_be_copied() -> bool:
    if sys.platform != "linux" or not is_one_command() or len(os.sched_getaffinity(0)) == 1:
        return False
    try:
        return len(os.listdir("/proc/self/task")) == 1
    except OSError:
        return False


def _do(work: Callable[[], object], writing: int, first: int) -> NoReturn:
    """Do the work in the copy, and end it: no exit handler runs and no buffer is written, as they are the first's.

    That it ends well says nothing; an answer that is not whole does.
    """
    global _first
    _first = first
    try:
        _let_go_of_all_but(writing)
        with open(writing, "w", encoding="ascii") as answer:
            json.dump(work(), answer)
    finally:
        os._exit(0)


def _let_go_of_all_but(kept: int) -> None:
    """Close what the first process has open: whoever reads what it prints waits until nobody can write any more."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in _STREAMS:
        os.dup2(nothing, stream)
    for name in os.listdir("/proc/self/fd"):
        if int(name) not in (*_STREAMS, kept):
            with contextlib.suppress(OSError):  # the listing's own is closed
                os.close(int(name))


class _Begun:
    """A work that a copy does."""

    def __init__(self, work: Callable[[], object], process: int, reading: int) -> None:
        self._work, self._process, self._reading = work, process, reading
        atexit.register(self._end)

    def __call__(self) -> object:
        """Return the result."""
        if self._process == 0:
            return self._work()
        with os.fdopen(self._reading, encoding="ascii") as answer:
            said = answer.read()
        process, self._process = self._process, 0
        with contextlib.suppress(ChildProcessError):  # whoever started us may have asked not to hear of such ends
            os.waitpid(process, 0)
        atexit.unregister(self._end)
        try:
            return json.loads(said)
        except ValueError:
            return self._work()

    def _end(self) -> None:
        """End the copy, which nobody asks any more."""
        with contextlib.suppress(OSError):  # it has ended
            if self._process and os.waitpid(self._process, os.WNOHANG) == (0, 0):
                os.kill(self._process, signal.SIGKILL)
                os.waitpid(self._process, 0)
