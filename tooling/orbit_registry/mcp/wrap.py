"""Runs another MCP server and stands between it and its client: what it adds to results are records, nothing else.

It is not there but for that: bytes, the end of a stream, signals and the exit code pass as if the client had started
the server itself. Standard library only; no fault of ours stops or changes a message.
"""

from __future__ import annotations

import os
import resource
import secrets
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from types import FrameType

from orbit_registry.errors import UsageError
from orbit_registry.hook.hosts import session_of_process
from orbit_registry.hook.project import project_root
from orbit_registry.hook.refresh import refresh
from orbit_registry.hook.session import Ledger
from orbit_registry.hook.sidecar import asked_of, for_result
from orbit_registry.hook.words import LONGEST_TEXT
from orbit_registry.mcp.relay import Asked, Pending, Requests, Results
from orbit_registry.mcp.splice import Member, Places, UnreadableError

CHUNK = 1 << 16
PASSED_ON = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2)
FROM_TERMINAL = (signal.SIGINT, signal.SIGQUIT)


def run(command: Sequence[str], session: str, timeout_ms: int) -> int:
    """Run a server until it ends and return its exit code; where a signal ended it, this process ends of the same one.

    Raises:
        UsageError: it can't be started.
    """
    woken, wake = os.pipe()
    try:
        server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0, close_fds=False)
    except OSError as error:
        said = (error.strerror or str(error)).lower()
        raise UsageError(f"{command[0]} can't be started: {said}", hint="name a program after `--`") from None
    for number in PASSED_ON:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, lambda got, _frame: _pass_on(server, got))
    pending = Pending()
    threading.Thread(target=_say_when_ended, args=(server, wake), daemon=True).start()
    threading.Thread(target=_requests, args=(server, Requests(pending)), daemon=True).start()
    _results(server, woken, Results(pending, Beside(str(Path.cwd()), session, timeout_ms, pending).decide))
    code = server.wait()
    if code < 0:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # the server left its own
        with suppress(OSError):  # two signals have no handler
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    return code


def _pass_on(server: subprocess.Popen[bytes], number: int) -> None:
    """Give a signal to the server, unless it came from the terminal: then the server has it already."""
    if not (number in FROM_TERMINAL and sys.stderr.isatty()):
        server.send_signal(number)


def _say_when_ended(server: subprocess.Popen[bytes], wake: int) -> None:
    server.wait()
    os.write(wake, b".")


def _requests(server: subprocess.Popen[bytes], requests: Requests) -> None:
    """Give the server what the client says; where either closes its end, so does the other's."""
    into = server.stdin
    if into is None:
        return
    try:
        while chunk := _read(0):
            requests.feed(chunk)
            _write(into.fileno(), chunk)
    except OSError:
        _close(0)  # the server hears no more: the client is to notice
    with suppress(OSError):
        into.close()


def _results(server: subprocess.Popen[bytes], woken: int, results: Results) -> None:
    """Give the client what the server says, until it says no more, or has ended and left nothing behind."""
    out = server.stdout
    if out is None:
        return
    poll = select.poll()
    poll.register(out.fileno(), select.POLLIN | select.POLLHUP)
    poll.register(woken, select.POLLIN)
    try:
        while True:
            ready = dict(poll.poll())
            if out.fileno() not in ready:
                break
            chunk = _read(out.fileno())
            if not chunk:
                break
            _write(1, results.feed(chunk))
        _write(1, results.end())
        _close(1)
    except OSError:
        out.close()  # the client hears no more: the server is to notice


def _read(of: int) -> bytes:
    while True:
        try:
            return os.read(of, CHUNK)
        except BlockingIOError:  # whoever started us may have left a stream that never waits
            select.select([of], [], [])


def _write(to: int, content: bytes) -> None:
    left = memoryview(content)
    while left:
        try:
            left = left[os.write(to, left) :]
        except BlockingIOError:
            select.select([], [to], [])


def _close(number: int) -> None:
    """Close a standard stream; nothing that is opened later takes its place."""
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, number)
    os.close(nothing)


class _LateError(UnreadableError):
    """There is no time left for a message."""


class Beside:
    """What decides for one server: where the project is, whose session it is, and how long a message may wait."""

    def __init__(self, folder: str, session: str, timeout_ms: int, pending: Pending) -> None:
        self._folder, self._timeout, self._pending = folder, timeout_ms / 1000, pending
        self._root = project_root(folder)
        self._session = session
        self._own_session = f"wrap-{secrets.token_hex(8)}"
        self._deciding = False
        if self._root is not None:
            signal.signal(signal.SIGALRM, self._late)

    def decide(self, text: str, result: Member, asked: Asked) -> str:
        """Return a message with the records that go beside its result, or as it was.

        Raises:
            UnreadableError: nothing can be added, or there is no time left.
            OSError: the session's ledger can't be kept.
        """
        if self._root is None or not isinstance(result.value, dict):
            return text
        behind: list[str] = []
        places = Places(text, result)
        self._deciding = True
        signal.setitimer(signal.ITIMER_REAL, self._timeout)
        try:
            call = asked_of(asked.tool, asked.arguments, self._folder)
            found, behind = for_result(self._root, call, _words(result.value.get("content")), self._ledger())
            if found is None:
                return text
            return places.filled(found.text, found.learnings, structured=self._pending.admits(asked.tool))
        finally:
            self._deciding = False
            signal.setitimer(signal.ITIMER_REAL, 0)
            if behind:
                with suppress(OSError):
                    refresh(self._root, behind)

    def _ledger(self) -> Ledger:
        """Return the ledger of the agent's session, where it is known, else of this server's run."""
        root = self._root or ""
        if self._session:
            return Ledger(root, self._session)
        return Ledger(root, *(session_of_process(root) or (self._own_session, "")))

    def _late(self, _number: int, _frame: FrameType | None) -> None:
        if self._deciding:
            raise _LateError


def _words(content: object) -> str:
    """Return the text of a result's content, as much of it as paths are looked for in."""
    parts: list[str] = []
    left = LONGEST_TEXT
    for block in content if isinstance(content, list) else ():
        inner = block.get("resource") if isinstance(block, dict) else None
        for held in (block, inner):
            for said in (held.get("text"), held.get("uri")) if isinstance(held, dict) else ():
                if isinstance(said, str) and left > 0:
                    parts.append(said[:left])
                    left -= len(said) + 1
    return "\n".join(parts)
