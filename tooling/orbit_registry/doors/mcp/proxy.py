"""`orbit mcp wrap`: a relay between host and server that adds records to results.

It uses file descriptors, because the protocol's SDK (`mcp` 2) has no proxy. Two of its transports,
joined, would do this with a loss: each message is validated and written anew, a line of another
form is dropped, the server gets a part of the environment, and the SDK starts in more than a second
of CPU for each wrapped server, where this module takes a tenth of one. ADR-0034 says more.
"""

import json
import os
import resource
import secrets
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from math import isfinite
from pathlib import Path
from types import FrameType
from typing import Any

from orbit_registry.errors import UsageError
from orbit_registry.hook.call import LONGEST_TEXT
from orbit_registry.hook.project import project_root, session_of_process
from orbit_registry.hook.refresh import refresh
from orbit_registry.hook.session import SessionLog
from orbit_registry.hook.sidecar import call_from_arguments, records_for_result

META = "dev.orbit/learnings"
FIELD = "learnings"
_OPEN_SCHEMA = frozenset(
    (
        "$defs",
        "$id",
        "$schema",
        "additionalProperties",
        "definitions",
        "description",
        "examples",
        "properties",
        "required",
        "title",
        "type",
    )
)
"""Keywords of schemas whose meaning we know; any other may forbid a field."""


class UnreadableError(ValueError):
    """A message can't be changed; it is passed on unchanged."""


def exact_json(text: str) -> Any:
    """Return the value of a JSON text; raise ValueError if it can't be written anew without
    a loss.
    """
    return json.loads(
        text,
        object_pairs_hook=_without_repeats,
        parse_float=_exact_number,
        parse_constant=_exact_number,
    )


def _without_repeats(members: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(members)
    if len(value) < len(members):
        raise UnreadableError("an object repeats a key")
    return value


def _exact_number(text: str) -> float:
    number = float(text)
    if not isfinite(number) or Decimal(text) != Decimal(repr(number)):
        raise UnreadableError("a number is too long, too large or none")
    return number


def can_take_records(result: Mapping[str, Any]) -> bool:
    """Return whether a result has a list of content, and metadata without records."""
    meta = result.get("_meta", {})
    return isinstance(result.get("content"), list) and isinstance(meta, dict) and META not in meta


def with_records(
    message: dict[str, Any], block: str, learnings: Sequence[Mapping[str, str]], *, structured: bool
) -> str:
    """Return a message with a block of content and records in its metadata,
    `structured` in its content too.
    """
    result = message["result"]
    meta, data = result.get("_meta", {}), result.get("structuredContent")
    item = {
        "type": "text",
        "text": block,
        "annotations": {"audience": ["assistant"], "priority": 0.9},
    }
    added = {"content": [*result["content"], item], "_meta": {**meta, META: learnings}}

    if structured and isinstance(data, dict) and FIELD not in data:
        added["structuredContent"] = {**data, FIELD: learnings}

    return json.dumps({**message, "result": {**result, **added}})


def admits_field(schema: object) -> bool:
    """Return whether an output schema allows one more field; no schema allows any."""
    if schema is None:
        return True
    if not isinstance(schema, Mapping) or not _OPEN_SCHEMA.issuperset(schema):
        return False
    properties = schema.get("properties")
    open_end = schema.get("additionalProperties", True)
    return open_end is True and not (isinstance(properties, Mapping) and FIELD in properties)


LARGEST = 4_000_000  # bytes of a message that is read; a larger one passes in pieces, unchanged
MOST_PENDING = 1000
FAULTS = (
    ArithmeticError,
    AttributeError,
    LookupError,
    MemoryError,
    OSError,
    RuntimeError,
    TypeError,
    ValueError,
)
"""What a strange message or our own fault may raise: the message then passes unchanged."""


@dataclass(frozen=True, slots=True)
class PendingCall:
    """Call that waits for its result."""

    tool: str
    arguments: dict[str, object]


LISTING = PendingCall("tools/list", {})
"""Request for the list of tools, whose schemas say what a result may have."""


class Pending:
    """Requests that wait for an answer, and the schemas of the server's tools."""

    def __init__(self) -> None:
        self._asked: dict[int | str, PendingCall] = {}
        self._admits: dict[str, bool] = {}

    def __len__(self) -> int:
        return len(self._asked)

    def note(self, line: bytes) -> None:
        """Note a client's message if it calls or lists tools."""
        if b"tools/call" not in line and b"tools/list" not in line:
            return

        try:
            message = json.loads(line)
        except FAULTS:
            return

        key = message.get("id") if isinstance(message, dict) else None
        if not isinstance(key, int | str) or isinstance(key, bool):
            return

        parameters = message.get("params")
        params = parameters if isinstance(parameters, dict) else {}
        if message.get("method") == "tools/list":
            self._add(key, LISTING)
        elif message.get("method") == "tools/call":
            tool, arguments = params.get("name"), params.get("arguments", {})
            if isinstance(tool, str) and isinstance(arguments, dict):
                self._add(key, PendingCall(tool, arguments))

    def take(self, key: object) -> PendingCall | None:
        """Remove and return the request of an answer."""
        if isinstance(key, int | str) and not isinstance(key, bool):
            return self._asked.pop(key, None)

        return None

    def learn(self, tools: object) -> None:
        """Note which tools' results may have one more field."""
        for tool in tools if isinstance(tools, list) else ():
            if isinstance(tool, dict) and isinstance(name := tool.get("name"), str):
                self._admits[name] = admits_field(tool.get("outputSchema"))

    def admits(self, tool: str) -> bool:
        """Return whether a tool's structured result may have one more field;
        not if its schema is unknown.
        """
        return self._admits.get(tool, False)

    def _add(self, key: int | str, request: PendingCall) -> None:
        for oldest in list(self._asked)[
            : max(0, len(self._asked) - MOST_PENDING + 1)
        ]:  # answers that never came
            self._asked.pop(oldest, None)
        self._asked[key] = request


class Requests:
    """Client side: bytes pass at once; a complete line is noted before its end passes."""

    def __init__(self, pending: Pending) -> None:
        self._pending = pending
        self._line = bytearray()
        self._too_long = False

    def feed(self, chunk: bytes) -> None:
        """Read bytes before they are passed on."""
        *ends, unfinished = chunk.split(b"\n")
        for end in ends:
            if not self._too_long and len(self._line) + len(end) <= LARGEST:
                self._pending.note(bytes(self._line + end))
            self._line.clear()
            self._too_long = False

        if self._too_long or len(self._line) + len(unfinished) > LARGEST:
            self._line.clear()
            self._too_long = True
        else:
            self._line += unfinished


Decide = Callable[[dict[str, Any], PendingCall], str]
"""Returns a message with records added to its result, empty for no change;
it may raise what `Results` passes over.
"""


class Results:
    """Server side: a line waits while a call is pending, and passes changed or unchanged."""

    def __init__(self, pending: Pending, decide: Decide) -> None:
        self._pending, self._decide = pending, decide
        self._line = bytearray()
        self._passing = False  # in the middle of a line whose start is gone

    def feed(self, chunk: bytes) -> bytes:
        """Return the bytes to pass on now."""
        if not self._passing and not self._line and not self._pending:
            self._passing = not chunk.endswith(b"\n")
            return chunk

        ready: list[bytes] = []
        start = 0
        while (end := chunk.find(b"\n", start) + 1) > 0:
            piece = chunk[start:end]
            ready.append(piece if self._passing else self.answered(bytes(self._line + piece)))
            self._line.clear()
            self._passing = False
            start = end

        remaining = chunk[start:]
        if not self._passing and (not self._pending or len(self._line) + len(remaining) > LARGEST):
            ready.append(bytes(self._line))
            self._line.clear()
            self._passing = bool(ready[-1] or remaining)

        if self._passing:
            ready.append(remaining)
        else:
            self._line += remaining

        return b"".join(ready)

    def end(self) -> bytes:
        """Return the remaining bytes at the end of the stream."""
        remaining = bytes(self._line)
        self._line.clear()
        return remaining

    def answered(self, line: bytes) -> bytes:
        """Return a complete line to pass on."""
        if not self._pending or (b'"result"' not in line and b'"error"' not in line):
            return line

        try:
            text = line.decode("utf-8")
            message = json.loads(text)
            if "method" in message or "id" not in message:
                return line

            request, result = self._pending.take(message["id"]), message.get("result")
            if not isinstance(result, dict):
                return line

            if request is LISTING:
                self._pending.learn(result.get("tools"))
            elif request is not None and result.get("resultType", "complete") == "complete":
                changed = self._decide(exact_json(text), request).encode()
                if changed:
                    return changed + line[len(line.rstrip()) :]

                return line
        except FAULTS:
            return line

        return line


CHUNK = 1 << 16
PASSED_ON = (
    signal.SIGTERM,
    signal.SIGINT,
    signal.SIGHUP,
    signal.SIGQUIT,
    signal.SIGUSR1,
    signal.SIGUSR2,
)
FROM_TERMINAL = (signal.SIGINT, signal.SIGQUIT)
ENDED = b"\0"  # byte that says that the server ended; signals write their number


def run(command: Sequence[str], session: str, timeout_ms: int) -> int:
    """Run a server until it ends and return its exit code; end by the same signal as the server."""
    woken, wake = os.pipe()

    try:
        server = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0, close_fds=False
        )
    except OSError as error:
        message = (error.strerror or str(error)).lower()
        raise UsageError(
            f"{command[0]} can't be started: {message}", hint="name a program after `--`"
        ) from None

    os.set_blocking(wake, False)
    signal.set_wakeup_fd(
        wake, warn_on_full_buffer=False
    )  # else one just before a blocking call waits for its end

    for number in PASSED_ON:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, lambda got, _frame: _pass_on(server, got))

    pending = Pending()
    threading.Thread(target=_say_when_ended, args=(server, wake), daemon=True).start()
    threading.Thread(target=_requests, args=(server, Requests(pending)), daemon=True).start()
    _results(
        server,
        woken,
        Results(pending, ResultAnnotator(str(Path.cwd()), session, timeout_ms, pending).decide),
    )

    while server.returncode is None:
        os.read(woken, CHUNK)

    code = server.returncode
    if code < 0:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # the server left its own
        with suppress(OSError):  # two signals have no handler
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)

    return code


def _pass_on(server: subprocess.Popen[bytes], number: int) -> None:
    """Give a signal to the server, unless it came from the terminal:
    then the server has it already.
    """
    if not (number in FROM_TERMINAL and sys.stderr.isatty()):
        server.send_signal(number)


def _say_when_ended(server: subprocess.Popen[bytes], wake: int) -> None:
    server.wait()
    os.write(wake, ENDED)


def _requests(server: subprocess.Popen[bytes], requests: Requests) -> None:
    into = server.stdin
    if into is None:
        return

    try:
        while chunk := _read(0):
            requests.feed(chunk)
            _write(into.fileno(), chunk)
    except OSError:
        _close(0)  # the server stopped reading: the client has to notice

    with suppress(OSError):
        into.close()


def _results(server: subprocess.Popen[bytes], woken: int, results: Results) -> None:
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
                if ENDED in os.read(woken, CHUNK):
                    break
                continue  # a signal came

            chunk = _read(out.fileno())
            if not chunk:
                break

            _write(1, results.feed(chunk))

        _write(1, results.end())
        _close(1)
    except OSError:
        out.close()  # the client stopped reading: the server has to notice


def _read(of: int) -> bytes:
    while True:
        try:
            return os.read(of, CHUNK)
        except BlockingIOError:  # the parent may have set the stream to non-blocking
            select.select([of], [], [])


def _write(to: int, content: bytes) -> None:
    remaining = memoryview(content)
    while remaining:
        try:
            remaining = remaining[os.write(to, remaining) :]
        except BlockingIOError:
            select.select([], [to], [])


def _close(number: int) -> None:
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, number)
    os.close(nothing)


class ResultAnnotator:
    """Adds records to the results of one server, within a time limit for each message."""

    def __init__(self, folder: str, session: str, timeout_ms: int, pending: Pending) -> None:
        self._folder, self._timeout, self._pending = folder, timeout_ms / 1000, pending
        self._root = project_root(folder)
        self._session = session
        self._own_session = f"wrap-{secrets.token_hex(8)}"
        self._deciding = False
        if self._root is not None:
            signal.signal(signal.SIGALRM, self._is_late)

    def decide(self, message: dict[str, Any], request: PendingCall) -> str:
        """Return a message with the records for its result; empty without any."""
        if self._root is None or not can_take_records(message["result"]):
            return ""

        behind: list[str] = []
        self._deciding = True
        signal.setitimer(signal.ITIMER_REAL, self._timeout)

        try:
            call = call_from_arguments(request.tool, request.arguments, self._folder)
            session = (self._session, "") if self._session else session_of_process(self._root)
            session_log = SessionLog(self._root, *(session or (self._own_session, "")))
            output = _result_text(message["result"]["content"])
            sidecar, behind = records_for_result(self._root, call, output, session_log)

            if sidecar is None:
                return ""

            admits = self._pending.admits(request.tool)
            return with_records(message, sidecar.text, sidecar.learnings, structured=admits)
        finally:
            self._deciding = False
            signal.setitimer(signal.ITIMER_REAL, 0)
            if behind:
                with suppress(OSError):
                    refresh(self._root, behind)

    def _is_late(self, _number: int, _frame: FrameType | None) -> None:
        if self._deciding:
            raise UnreadableError("the time limit of the message is over")


def _result_text(content: object) -> str:
    """Return the text of a result's content, up to the length searched for paths."""
    parts: list[str] = []
    remaining = LONGEST_TEXT
    for block in content if isinstance(content, list) else ():
        inner = block.get("resource") if isinstance(block, dict) else None
        for part in (block, inner):
            for value in (part.get("text"), part.get("uri")) if isinstance(part, dict) else ():
                if isinstance(value, str) and remaining > 0:
                    parts.append(value[:remaining])
                    remaining -= len(value) + 1

    return "\n".join(parts)
