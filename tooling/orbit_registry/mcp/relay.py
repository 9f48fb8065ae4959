"""Follows the messages between a client and a server, and says which bytes go on: no process, no file, no clock.

A message is a line. What the client says goes on unread where it is no call; of what the server says, only results of
calls are held until they are whole. Whatever can't be read goes on as it came.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass

from orbit_registry.mcp.splice import Member, admits_field, members

LARGEST = 4_000_000
"""Bytes of a message that is read; a larger one goes on in pieces, as it comes."""
MOST_PENDING = 1000
FAULTS = (ArithmeticError, AttributeError, LookupError, MemoryError, OSError, RuntimeError, TypeError, ValueError)
"""What a strange message or a fault of ours may raise: the message then goes on as it came."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A call that waits for its result."""

    tool: str
    arguments: dict[str, object]


@dataclass(frozen=True, slots=True)
class Listed:
    """A request for the tools: their schemas say what a result may hold."""


class Pending:
    """The requests that wait for an answer, by id, and what is known of the server's tools."""

    def __init__(self) -> None:
        self._asked: dict[int | str, Asked | Listed] = {}
        self._admits: dict[str, bool] = {}

    def __len__(self) -> int:
        return len(self._asked)

    def note(self, line: bytes) -> None:
        """Note what a client's message asks for, if it is a call of a tool or asks for the list of them."""
        if b"tools/call" not in line and b"tools/list" not in line:
            return
        try:
            message = json.loads(line)
        except FAULTS:
            return
        key = message.get("id") if isinstance(message, dict) else None
        if not isinstance(key, int | str) or isinstance(key, bool):
            return
        given = message.get("params")
        params = given if isinstance(given, dict) else {}
        if message.get("method") == "tools/list":
            self._add(key, Listed())
        elif message.get("method") == "tools/call":
            tool, arguments = params.get("name"), params.get("arguments", {})
            if isinstance(tool, str) and isinstance(arguments, dict):
                self._add(key, Asked(tool, arguments))

    def take(self, key: object) -> Asked | Listed | None:
        """Return the request that an answer is for; it no longer waits."""
        return self._asked.pop(key, None) if isinstance(key, int | str) and not isinstance(key, bool) else None

    def learn(self, tools: object) -> None:
        """Note which tools' results may have a field more."""
        for tool in tools if isinstance(tools, list) else ():
            if isinstance(tool, dict) and isinstance(name := tool.get("name"), str):
                self._admits[name] = admits_field(tool.get("outputSchema"))

    def admits(self, tool: str) -> bool:
        """Say whether a tool's structured result may have a field more; not if its schema was never seen."""
        return self._admits.get(tool, False)

    def _add(self, key: int | str, asked: Asked | Listed) -> None:
        for oldest in list(self._asked)[: max(0, len(self._asked) - MOST_PENDING + 1)]:  # answers that never came
            self._asked.pop(oldest, None)
        self._asked[key] = asked


class Requests:
    """The client's side: every byte goes on at once; a whole line is noted before its end goes on."""

    def __init__(self, pending: Pending) -> None:
        self._pending = pending
        self._line = bytearray()
        self._too_long = False

    def feed(self, chunk: bytes) -> None:
        """Follow some bytes, before they go on."""
        *ends, rest = chunk.split(b"\n")
        for end in ends:
            if not self._too_long and len(self._line) + len(end) <= LARGEST:
                self._pending.note(bytes(self._line + end))
            self._line.clear()
            self._too_long = False
        if self._too_long or len(self._line) + len(rest) > LARGEST:
            self._line.clear()
            self._too_long = True
        else:
            self._line += rest


Decide = Callable[[str, Member, Asked], str]
"""Returns a message's text with something beside its result, or as it was; it may raise what `Results` passes over."""


class Results:
    """The server's side: a line is held while a call waits, and goes on changed or as it came."""

    def __init__(self, pending: Pending, decide: Decide) -> None:
        self._pending, self._decide = pending, decide
        self._line = bytearray()
        self._passing = False  # in the middle of a line whose start is gone

    def feed(self, chunk: bytes) -> bytes:
        """Return the bytes that go on now."""
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
        rest = chunk[start:]
        if not self._passing and (not self._pending or len(self._line) + len(rest) > LARGEST):
            ready.append(bytes(self._line))
            self._line.clear()
            self._passing = bool(ready[-1] or rest)
        if self._passing:
            ready.append(rest)
        else:
            self._line += rest
        return b"".join(ready)

    def end(self) -> bytes:
        """Return what is held when no more comes."""
        left = bytes(self._line)
        self._line.clear()
        return left

    def answered(self, line: bytes) -> bytes:
        """Return a whole line as it goes on."""
        if not self._pending or (b'"result"' not in line and b'"error"' not in line):
            return line
        try:
            text = line.decode("utf-8")
            message = members(text)
            if "method" in message or "id" not in message:
                return line
            asked = self._pending.take(message["id"].value)
            result = message.get("result")
            if result is None or not isinstance(result.value, dict):
                return line
            if isinstance(asked, Listed):
                self._pending.learn(result.value.get("tools"))
            elif asked is not None and result.value.get("resultType", "complete") == "complete":
                return self._decide(text, result, asked).encode("utf-8")
        except FAULTS:
            return line
        return line
