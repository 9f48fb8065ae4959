"""Lock between processes, with a note of its holder."""

import contextlib
import json
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from orbit_registry.errors import LockTimeoutError, UsageError
from orbit_registry.workspace.config import number_in
from orbit_registry.workspace.files import write_error

WAIT_SECONDS = 30.0
POLL_SECONDS = 0.005
_VERB = re.compile(r"[a-z][a-z-]{0,29}")


@contextlib.contextmanager
def locked(path: Path, *, wait: float | None = None) -> Iterator[None]:
    """Hold the lock file at `path`, and note the holder for those who wait."""
    from filelock import FileLock, Timeout  # 20 ms, which only a command that writes pays

    seconds = wait_seconds() if wait is None else wait
    holder = path.with_suffix(".holder")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = FileLock(path, timeout=seconds, poll_interval=POLL_SECONDS)
        lock.acquire()
    except Timeout:
        raise LockTimeoutError(
            f"{_holder(holder)} holds {path}; waited {seconds:g} s",
            hint="wait for it to end; the lock is freed when that process ends",
        ) from None
    except OSError as error:
        raise write_error(path, error) from None

    try:
        with contextlib.suppress(OSError):
            _note(holder)
        yield
    finally:
        lock.release()


def _note(holder: Path) -> None:
    """Write the holder: process and verb, but no argument, which may be a secret."""
    verb = next((word for word in sys.argv[1:2] if _VERB.fullmatch(word)), "")
    text = json.dumps({"pid": os.getpid(), "command": f"orbit {verb}".rstrip()})
    handle = os.open(
        holder, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_NONBLOCK, 0o666
    )
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)


def wait_seconds() -> float:
    """Return how long a writer waits for another."""
    value = os.environ.get("ORBIT_LOCK_WAIT_SECONDS")
    if not value:
        return WAIT_SECONDS

    seconds = number_in(value, sys.float_info.max)
    if seconds is None:
        raise UsageError(
            f"ORBIT_LOCK_WAIT_SECONDS is {value!r}",
            hint="set it to a number of seconds, such as 30",
        )

    return seconds


def _holder(path: Path) -> str:
    try:
        note = json.loads(path.read_text(encoding="utf-8"))
        return f"process {int(note['pid'])} ({str(note['command'])[:200]})"
    except (OSError, ValueError, KeyError, TypeError):
        return "another process"
