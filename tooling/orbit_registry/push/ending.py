"""Asks for a note where a session stops in which a tool failed, once, and where `loop.ask_at_stop` is on; no more."""

import posix

from orbit_registry.push.ledger import ASKED, FAILED, Ledger

KEY = b"ask_at_stop:"
LARGEST = 1_000_000
QUESTION = (
    "The project's notes ask once, since a tool failed in this session: if what solved it would spare the next one the "
    'attempts, run `orbit note "WHAT WAS LEARNED" --attempts N --errors`. Otherwise stop; nothing else is wanted.'
)


def question(root: str, ledger: Ledger) -> str:
    """Return what a session is asked that stops; empty where nobody turned that on, nothing failed, or it was asked.

    Raises:
        OSError: the configuration or the ledger can't be read.
    """
    return QUESTION if is_on(root) and ledger.mark(ASKED, only_after=FAILED) else ""


def is_on(root: str) -> bool:
    """Say whether the configuration asks; a line of it says so, for YAML is not read here.

    Raises:
        OSError: it can't be read.
    """
    handle = posix.open(f"{root}/.orbit/config.yaml", posix.O_RDONLY | posix.O_NOFOLLOW | posix.O_CLOEXEC)
    try:
        lines = posix.read(handle, LARGEST).split(b"\n")
    finally:
        posix.close(handle)
    said = (line.partition(b"#")[0].partition(KEY)[2].strip(b" \t\r}") for line in lines)
    return any(value.partition(b",")[0].strip() == b"true" for value in said)
