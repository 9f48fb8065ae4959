"""What a session's stop leads to where somebody turned it on: it is asked once for a note, its turn noted by itself."""

import posix

from orbit_registry.hook.context import ASKS_AT_STOP, NOTES_TURNS
from orbit_registry.hook.events import MOMENTS, NAME, NOTED, Event, append
from orbit_registry.hook.index import Index, open_index
from orbit_registry.hook.session import ASKED, FAILED, SessionLog

_NO_CALLS = (b"Start", b"Prompt", b"Agent", b"Failure")
"""Stand in the names of the moments that are no call of a tool, or the end of one, whichever the agent."""
TAIL = 65_536
"""Bytes at the end of the log in which a turn is looked for."""
QUESTION = (
    "The project's notes ask once, since a tool failed in this session: if what solved it would spare the next one the "
    'attempts, run `orbit note "WHAT WAS LEARNED" --attempts N --errors`. Otherwise stop; nothing else is wanted.'
)


def stop_question(root: str, session_log: SessionLog) -> str:
    """Return what a session is asked that stops; empty where nobody turned that on, nothing failed, or it was asked.

    Raises:
        OSError: the session log can't be read.
    """
    return QUESTION if setting_is_on(root, ASKS_AT_STOP) and session_log.mark(ASKED, only_after=FAILED) else ""


def note_turn(root: str, ended: Event) -> None:
    """Note a turn that ends and that nobody noted, where that is turned on: how many calls it had, and if one failed.

    A turn without a call has taught nothing, and says so. No word of it is written.

    Raises:
        OSError: the log can't be read.
    """
    if not setting_is_on(root, NOTES_TURNS):
        return
    calls, failed = 0, False
    session_field = f'"session": "{ended.session}"'.encode()
    for line in reversed(_end_of_log(root)):
        if session_field not in line:
            continue
        if _has_event(line, MOMENTS[0]):
            break
        if _has_event(line, NOTED):
            return
        surface = line.partition(b'"surface": "hook:')[2].partition(b'"')[0]
        calls += _has_event(line, "retrieval") and surface != b"" and not any(word in surface for word in _NO_CALLS)
        failed |= b'"result": "failed"' in line
    note = Event(ended.surface, ended.at)
    note.name, note.session, note.agent = NOTED, ended.session, ended.agent
    parts = ("hook", ended.agent, ended.surface.rpartition(":")[2], ended.session, str(int(ended.at)))
    reason = "null" if calls else '"no-new-information"'
    errors = "true" if failed else "false"
    note.details = f', "turn": "{":".join(parts)}", "tools": {calls}, "errors": {errors}, "skip_reason": {reason}'
    append(root, note)


def _has_event(line: bytes, name: str) -> bool:
    return f'"event": "{name}"'.encode() in line


def _end_of_log(root: str) -> list[bytes]:
    try:
        handle = posix.open(f"{root}/.orbit/state/log/{NAME}", posix.O_RDONLY | posix.O_NOFOLLOW | posix.O_CLOEXEC)
    except FileNotFoundError:
        return []
    try:
        size = posix.fstat(handle).st_size
        return posix.pread(handle, TAIL, max(0, size - TAIL)).split(b"\n")
    finally:
        posix.close(handle)


def setting_is_on(root: str, setting: int) -> bool:
    """Say whether the configuration turned a setting on when the index was made from it."""
    index = open_index(root)
    return isinstance(index, Index) and bool(index.settings & setting)
