"""Runs a program that the project's configuration names: a list of words without a shell, ended when its time is over.

Such a program is the project's own code, as a Makefile is. `ORBIT_PROGRAMS=off` in the environment runs none; a server
of agents and a hook, which meet whatever project a person opens, run none unless the environment says `on`.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from orbit_registry.errors import ProgramError
from orbit_registry.store.workspace import Workspace

if TYPE_CHECKING:
    from orbit_registry.search.vectors import Embedder

SWITCH = "ORBIT_PROGRAMS"
LARGEST = 1_000_000
"""Bytes of what a program prints; one that prints more is ended."""
SAID = 500
"""Characters of its complaint that are passed on."""


@dataclass(frozen=True, slots=True)
class Printed:
    """What a program printed; `name` is how messages call it."""

    name: str
    text: str


def is_allowed() -> bool:
    """Say whether programs of the project may be run."""
    return os.environ.get(SWITCH, "").casefold() not in ("off", "0", "no", "false")


def forbid_unless_wanted() -> None:
    """Run no program of a project in this process, unless whoever started it said that they want them."""
    if os.environ.get(SWITCH, "").casefold() not in ("on", "1", "yes", "true"):
        os.environ[SWITCH] = "off"


def run_program(words: Sequence[str], folder: Path, seconds: float, given: str = "") -> Printed:
    """Run a program in a folder with `given` on its standard input and return what it printed.

    Raises:
        ProgramError: it can't be started, takes too long, prints too much or what is no UTF-8, or ends with an error;
            `fault` says it without a word of what it printed.
    """
    name = words[0]
    with tempfile.TemporaryFile() as stdin:
        stdin.write(given.encode("utf-8", "replace"))
        stdin.seek(0)
        try:
            process = subprocess.Popen(
                words, cwd=folder, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
            )
        except (OSError, ValueError) as error:
            said = getattr(error, "strerror", None) or str(error)
            raise _failed(name, f"it can't be started: {said.lower()}", "install it, or name it by its path") from None
    with process:
        try:
            output, complaint = _read(process, name, time.monotonic() + seconds, seconds)
        finally:
            _end(process)
    if process.returncode:
        lines = (complaint or output).decode("utf-8", "replace").strip()[-SAID:]
        raise _failed(name, f"it ended with exit code {process.returncode}", "run it by hand", lines)
    try:
        return Printed(name, output.decode("utf-8"))
    except UnicodeDecodeError:
        raise _failed(name, "what it printed is not valid UTF-8", "let it print UTF-8") from None


def _read(process: subprocess.Popen[bytes], name: str, end: float, seconds: float) -> tuple[bytes, bytes]:
    """Return what a process prints and what it complains of, both read to their end."""
    parts: dict[int, list[bytes]] = {}
    size = 0
    with selectors.DefaultSelector() as waiting:
        for pipe in (process.stdout, process.stderr):
            assert pipe is not None
            parts[pipe.fileno()] = []
            waiting.register(pipe, selectors.EVENT_READ)
        while waiting.get_map():
            left = end - time.monotonic()
            ready = waiting.select(max(left, 0))
            if not ready and left <= 0:
                hint = "make it faster, or raise `tasks.timeout_seconds`"
                raise _failed(name, f"it took more than {seconds:g} s", hint)
            for key, _ in ready:
                content = os.read(key.fd, 1 << 16)
                if not content:
                    waiting.unregister(key.fileobj)
                parts[key.fd].append(content)
                size += len(content)
                if size > LARGEST:
                    raise _failed(name, f"it printed more than {LARGEST:,} bytes", "let it print less")
    # It is looked at and left a zombie: as long as it is one, its group's number is nobody else's. Nothing that works
    # everywhere waits for that with a limit, so it is asked again and again; the output has ended, it ends any moment.
    while os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
        if time.monotonic() > end:
            raise _failed(name, f"it took more than {seconds:g} s", "let it end once it has printed")
        time.sleep(0.002)
    output, complaint = parts.values()
    return b"".join(output), b"".join(complaint)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a process that nobody waited for yet, and all that it started: they may outlive it."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _failed(name: str, fault: str, hint: str, printed: str = "") -> ProgramError:
    said = f"; it printed: {printed}" if printed else ""
    return ProgramError(f"`{name}`: {fault}{said}", hint=hint, fault=fault)


def embedder_of(workspace: Workspace) -> Embedder | None:
    """Return the model of meaning that the configuration names, static or a program; None where it names none.

    Where programs are off it is one that only says so: a model too is chosen by whoever wrote the configuration.
    """
    place, words = workspace.config.setting("search", "model"), workspace.config.setting("search", "command")
    if not place and not words:
        return None
    from orbit_registry.search.vectors import Command, Model2Vec, Unusable

    if not is_allowed():
        return Unusable(f"{SWITCH} is off, so `search.{'model' if place else 'command'}` was not used")
    if place:
        return Model2Vec(str(place), workspace.root)
    seconds = float(workspace.config.setting("search", "timeout_seconds"))
    return Command(words, lambda said: run_program(words, workspace.root, seconds, said).text)
