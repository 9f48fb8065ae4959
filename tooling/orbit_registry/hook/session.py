"""Remembers which records a session was shown: a file a session, an id a line, locked while somebody chooses.

It decides nothing. What is chosen under the lock is written before it is free again, so that calls which run at the
same time never show one record twice and never more than a session may see. Built-in modules only.
"""

import posix
from time import time

from orbit_registry.hook.index import PRIME
from orbit_registry.hook.project import private_folder

FOLDER = "sessions"
LONGEST_NAME = 60
LARGEST = 1 << 16
"""Bytes; a session log holds twenty ids, so a larger file is none, and is begun anew."""
LONGEST_ID = 64
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-_")
_IDS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.")
_MARK = "="
"""Begins a line that says when, in seconds since 1970, the session began anew."""
FAILED, ASKED = "failed", "asked"
"""Words about a session: a tool failed in it, it was asked for a note."""
_WORD = "-"
"""Begins a line with a word about the session, which holds whatever it was shown."""
_FLAGS = posix.O_RDWR | posix.O_CREAT | posix.O_APPEND | posix.O_NOFOLLOW | posix.O_CLOEXEC | posix.O_NONBLOCK


def safe_name(name: str) -> str:
    """Return a file name for what somebody else chose as a name: itself where it is plain, else a number made of it."""
    if name and len(name) <= LONGEST_NAME and name[0] not in "-_" and _PLAIN.issuperset(name):
        return name
    content = name.encode("utf-8", "surrogatepass")
    return f"_{int.from_bytes(content, 'little') % PRIME:x}-{len(content):x}"


class SessionLog:
    """What one context of an agent was shown. A subagent has a context of its own, and so a session log of its own."""

    def __init__(self, root: str, session: str, agent: str = "") -> None:
        """`root` is the project's; `session` and `agent` are ids as the agent's host gives them, whatever they are."""
        self._root = root
        self.name = f"{safe_name(session)}.{safe_name(agent)}" if agent else safe_name(session)
        self._handle = -1
        self._torn = False

    def begin(self) -> list[str]:
        """Return the ids that were shown, and keep every other process out until `end`.

        Raises:
            OSError: it can't be opened, locked or read.
        """
        return [
            line for line in self._lines() if len(line) <= LONGEST_ID and line[0] not in "-_." and _IDS.issuperset(line)
        ]

    def add(self, ids: list[str]) -> None:
        """Note ids as shown, in one write; only between `begin` and `end`.

        Raises:
            OSError: they can't be noted, all of them.
        """
        self._write("".join(f"{record_id}\n" for record_id in ids))

    def end(self) -> None:
        """Let the next one in."""
        if self._handle >= 0:
            posix.close(self._handle)
            self._handle = -1

    def mark(self, word: str, only_after: str = "") -> bool:
        """Note a word once for the session, if another one was noted; say whether that was done now.

        Raises:
            OSError: as `begin`.
        """
        try:
            lines = self._lines()
            is_new = f"{_WORD}{word}" not in lines and (not only_after or f"{_WORD}{only_after}" in lines)
            if is_new:
                self._write(f"{_WORD}{word}\n")
            return is_new
        finally:
            self.end()

    def forget(self, unless_within: float = 0) -> None:
        """Start anew: what was shown is no longer in the agent's context, and neither does the cap count it.

        Hosts tell of one compaction by several events, in an order of their own; what was shown between them is in the
        new context. So a second one passes `unless_within` so many seconds, and changes nothing after a first one.

        Raises:
            OSError: as `begin`.
        """
        now = int(time())
        try:
            lines = self._lines()
            marks = [line[1:] for line in lines if line[0] == _MARK]
            if unless_within and any(mark.isdigit() and 0 <= now - int(mark) < unless_within for mark in marks):
                return
            posix.ftruncate(self._handle, 0)
            self._torn = False
            self._write(
                "".join(f"{line}\n" for line in (f"{_MARK}{now}", *(line for line in lines if line[0] == _WORD)))
            )
        finally:
            self.end()

    def _lines(self) -> list[str]:
        """Open and lock the file, and return its lines; one that no session_log can be is emptied."""
        folder = private_folder(self._root, "log", FOLDER)
        while True:
            self._handle = posix.open(f"{folder}/{self.name}", _FLAGS, 0o600)
            posix.lockf(self._handle, posix.F_LOCK, 0)
            state = posix.fstat(self._handle)
            if state.st_nlink:
                break
            self.end()  # it was removed between the two: that file is nobody's
        if state.st_size > LARGEST:
            posix.ftruncate(self._handle, 0)
        content = posix.pread(self._handle, LARGEST, 0).decode("utf-8", "replace")
        self._torn = bool(content) and not content.endswith("\n")
        return content.split()

    def _write(self, text: str) -> None:
        content = f"\n{text}".encode() if self._torn else text.encode()
        if posix.write(self._handle, content) != len(content):
            raise OSError("the disk took a part of it")
