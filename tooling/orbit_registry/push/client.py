"""The hook client: a payload on standard input, a reply or nothing on standard output, and always exit code 0.

It stands between an agent and its tool, so it may fail in any way but one: it never holds the tool up. It imports
built-in modules alone, gives up by its own clock, and leaves without taking the interpreter apart.
"""

import posix
from time import monotonic, time

from orbit_registry.push import dialects
from orbit_registry.push.events import Event, append
from orbit_registry.push.folders import project_paths, project_root
from orbit_registry.push.ledger import Ledger, prune
from orbit_registry.push.reader import ID, NoIndex, open_index
from orbit_registry.push.render import render
from orbit_registry.push.select import SESSION, Context, select

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from signal import ITIMER_REAL, SIGALRM, setitimer, signal
    from typing import Protocol

    from orbit_registry.push.call import Call, Payload

    class Dialect(Protocol):
        """What a module in `push/dialects` offers."""

        def read(self, payload: Payload) -> Call | None:
            """Return what a payload asks; None where it is no event that is answered."""

        def reply(self, call: Call, text: str) -> str:
            """Return what is printed so that the agent sees a text."""

    def make_scanner(context: object) -> Callable[[str, int], tuple[object, int]]:
        """Return what reads JSON in a text from a place on, and says where it ends."""
else:
    from _json import make_scanner
    from _signal import ITIMER_REAL, SIGALRM, setitimer, signal  # the other one makes enumerations at its import

LARGEST = 5_000_000
"""Bytes of a payload; a larger one is not read to its end."""
DEADLINE_MS = 150
DEADLINE = b"ORBIT_HOOK_DEADLINE_MS"


def main(arguments: list[str]) -> None:
    """Answer one call of the hook of the agent that is named, and end the process."""
    try:
        Dispatch(arguments[0]).run()
    finally:  # whatever a broken payload, a damaged index or a full disk raised
        posix._exit(0)


class Dispatch:
    """One run of the hook: what is known of it so far, so that it can be noted wherever the clock ends it."""

    def __init__(self, agent: str) -> None:
        self.begun = monotonic()
        self.root: str | None = None
        self.event = Event("hook", time())
        self.dialect = dialect(agent)

    def run(self) -> None:
        """Read the payload, print the reply, note what was done, and have the index renewed if it is behind."""
        signal(SIGALRM, self._late)
        setitimer(ITIMER_REAL, _deadline())
        content = _input()
        if content is None:
            self.root = project_root(posix.getcwd())
            self.event.skip_reason = "too large"
            self._note()
            return
        call = self.dialect.read(_parsed(content))
        if call is None:
            return
        here = call.folder if call.folder.startswith("/") else posix.getcwd()
        root = self.root = project_root(here) or project_root(posix.environ.get(b"CLAUDE_PROJECT_DIR", b"").decode())
        if root is None:
            return
        event = self.event
        event.surface = f"hook:{call.event}"
        folder = call.folder or here
        paths, event.query = project_paths(root, folder, call)
        ledger = _Ledger(root, call.session, call.agent_id) if call.session else None
        if call.surface == SESSION:
            prune(root)
        if ledger is not None:
            event.session = ledger.name
            if call.forgets:
                ledger.forget()
        behind = False
        if paths or call.surface == SESSION:
            behind = self._show(root, call, paths, ledger)
        else:
            event.skip_reason = "nothing asked"
        self._note()
        if behind:
            from orbit_registry.push.refresh import refresh  # most calls find an index that is not behind

            refresh(root)

    def _show(self, root: str, call: "Call", paths: list[str], ledger: Ledger | None) -> bool:
        """Print what is chosen; say whether the index is behind the files."""
        event = self.event
        index = open_index(root, f"{root}/.orbit/state/cache")
        if isinstance(index, NoIndex):
            event.skip_reason = "no index"
            return True
        asked = Context(call.surface, event.at, paths=paths, agent=call.agent, task_class=call.task_class)
        chosen = select(index, asked, ledger)
        setitimer(ITIMER_REAL, 0)  # what comes now takes no time, and is not to be cut in two
        event.omitted, event.skip_reason = chosen.omitted, chosen.skip_reason
        event.hits = [one.row.values[ID] for one in chosen.matches]
        text = render(chosen)
        if text:
            posix.write(1, self.dialect.reply(call, text).encode())
        return index.damaged or index.stale

    def _late(self, number: int, frame: object) -> None:
        self.event.skip_reason = "deadline"
        self._note()
        posix._exit(0)

    def _note(self) -> None:
        setitimer(ITIMER_REAL, 0)
        self.event.ms = (monotonic() - self.begun) * 1000
        if self.root is not None:
            append(self.root, self.event)


def dialect(agent: str) -> "Dialect":
    """Return how an agent speaks: the module of its name, the only one of its kind that a call loads.

    Raises:
        ImportError: no module has this name.
    """
    found: Dialect = __import__(f"{dialects.__name__}.{agent}", None, None, ["read"])
    return found


class _Ledger(Ledger):
    """A ledger whose notes no clock cuts off from their reply: what is noted as shown will be shown."""

    def add(self, ids: list[str]) -> None:
        setitimer(ITIMER_REAL, 0)
        super().add(ids)


class _Plain:
    """How JSON is read: as everywhere, its few odd constants as numbers."""

    strict = False
    object_hook = object_pairs_hook = None
    parse_float = parse_constant = float
    parse_int = int


def _parsed(content: bytes) -> "dict[str, object]":
    """Return the object that a payload is.

    Raises:
        ValueError: it is none.
        StopIteration: it ends too early.
    """
    text = content.decode("utf-8").lstrip("\ufeff \t\r\n")
    found, _ = make_scanner(_Plain)(text, 0)
    if not isinstance(found, dict):
        raise ValueError("no object")
    return found


def _input() -> bytes | None:
    """Return what stands on standard input; None for more than is read."""
    parts: list[bytes] = []
    length = 0
    while part := posix.read(0, 1 << 16):
        parts.append(part)
        length += len(part)
        if length > LARGEST:
            return None
    return b"".join(parts)


def _deadline() -> float:
    """Return after how many seconds nobody waits any more; `ORBIT_HOOK_DEADLINE_MS` is for slow machines and tests."""
    said = posix.environ.get(DEADLINE, b"")
    return min(int(said), 60_000) / 1000 if said.isdigit() and len(said) < 9 else DEADLINE_MS / 1000
