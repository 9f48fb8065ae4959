"""Runs a program that the project's configuration names: a list of words without a shell, ended when its time is over.

Nothing else starts one, and none is started that this user did not allow (`store.consent`): whoever wrote a clone names
what they like. `ORBIT_PROGRAMS` in the environment decides where it is set: `off` runs none, `on` runs all of them.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from orbit_registry.errors import ProgramError
from orbit_registry.store import consent
from orbit_registry.store.workspace import Workspace

if TYPE_CHECKING:
    from orbit_registry.search.vectors import Embedder

LARGEST = 1_000_000
"""Bytes of what a program prints; one that prints more is ended."""
SAID = 500
"""Characters of its complaint that are passed on."""


@dataclass(frozen=True, slots=True)
class Printed:
    """What a program printed; `name` is how messages call it."""

    name: str
    text: str


def not_run(workspace: Workspace, key: str) -> str:
    """Return why the program under a key of the configuration is not run; empty where it is, or there is none."""
    words = consent.named(workspace).get(key)
    why = consent.why_not(workspace, key, words) if words else ""
    return f"`{key}` was not run: {why}" if why else ""


def run_program(
    workspace: Workspace, key: str, seconds: float, given: str = "", filled: Mapping[str, str] | None = None
) -> Printed:
    """Run the program under a key with `given` on its standard input, in the root, and return what it printed.

    `filled` is what stands in place of parts of its words.

    Raises:
        ProgramError: it is not allowed, can't be started, takes too long, prints too much or what is no UTF-8, or ends
            with an error; `fault` says it without a word of what it printed.
    """
    refused = not_run(workspace, key)
    if refused:
        raise ProgramError(refused, hint="`orbit trust`", fault=refused)
    words = list(consent.named(workspace)[key])
    for place, said in (filled or {}).items():
        words = [word.replace(place, said) for word in words]
    return _run(words, workspace.root, seconds, given)


def _run(words: Sequence[str], folder: Path, seconds: float, given: str) -> Printed:
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

    Where it is not allowed it is one that only says so: a model too is chosen by whoever wrote the configuration.
    """
    place, words = workspace.config.setting("search", "model"), workspace.config.setting("search", "command")
    if not place and not words:
        return None
    from orbit_registry.search.vectors import Command, Model2Vec, Unusable

    key = "search.model" if place else "search.command"
    refused = not_run(workspace, key)
    if refused:
        return Unusable(refused)
    if place:
        return Model2Vec(str(place), workspace.root)
    seconds = float(workspace.config.setting("search", "timeout_seconds"))
    return Command(words, lambda said: run_program(workspace, key, seconds, said).text)
