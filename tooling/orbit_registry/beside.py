"""Does one piece of work in a second process beside this one, where that can be; it knows no work, starts no program.

The second process is a copy of this one (`fork`): it has all that was read, so nothing is handed to it, and of what it
makes it hands back the result alone. Not every process may be copied: one with threads may hold a lock that nobody in
the copy gives back, one that serves is not ours to double, and the libraries of macOS forbid it.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Callable
from typing import NoReturn

from orbit_registry.lifetime import is_one_command

_STREAMS = (0, 1, 2)


def beside(work: Callable[[], object]) -> Callable[[], object] | None:
    """Begin a work, and return what waits for its result, to be called once; None where the caller has to do it.

    The result comes back as JSON holds it. A work that fails there, or whose process is killed, is done here when its
    result is asked for, so that its error is the caller's. One that nobody asks for ends when it is done.
    """
    if not _may_be_copied():
        return None
    try:
        reading, writing = os.pipe()
    except OSError:  # too many files are open
        return None
    try:
        if min(reading, writing) in _STREAMS:  # one of ours is closed, and the copy would take the pipe for it
            raise OSError
        process = os.fork()
    except OSError:  # no memory for another process, or no more of them allowed
        os.close(reading)
        os.close(writing)
        return None
    if process == 0:
        _do(work, writing)
    os.close(writing)
    return lambda: _result(work, process, reading)


def _may_be_copied() -> bool:
    if sys.platform != "linux" or not is_one_command() or len(os.sched_getaffinity(0)) == 1:
        return False
    try:
        return len(os.listdir("/proc/self/task")) == 1
    except OSError:
        return False


def _do(work: Callable[[], object], writing: int) -> NoReturn:
    """Do the work of the second process, and end it without a word: none of what the first has begun is its own."""
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


def _result(work: Callable[[], object], process: int, reading: int) -> object:
    with open(reading, encoding="ascii") as answer:
        said = answer.read()
    with contextlib.suppress(ChildProcessError):  # whoever started us may have asked not to hear of such ends
        os.waitpid(process, 0)
    try:
        return json.loads(said)
    except ValueError:
        return work()
