"""One call of an operation: the project, who asks, and a person who can be asked back."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn, Protocol

from orbit_registry.doors.answers.arguments import TO_READ, refuse_path
from orbit_registry.errors import UsageError, without_long_words
from orbit_registry.formats.untrusted import escaped_line
from orbit_registry.hook.events import OPENED, Event, append
from orbit_registry.hook.project import session_of_process
from orbit_registry.hook.session import SessionLog
from orbit_registry.model.kind import Kind
from orbit_registry.model.record import Record
from orbit_registry.registry import Registry
from orbit_registry.workspace import event_log
from orbit_registry.workspace.author import Author
from orbit_registry.workspace.workspace import Workspace, path_from_root, refuse_empty_path

SHOW = "mcp:show"


@dataclass(frozen=True, slots=True)
class Caller:
    """Calling agent: its host's name, and the session whose log counts the records shown.

    `hosted`: the agent's host started this process, so hooks know its session.
    """

    name: str
    session: str
    hosted: bool = False

    def session_at(self, root: str) -> tuple[str, str] | None:
        """Return the session of the host, else of the connection, and its agent;
        None if there is none.
        """
        process_session = session_of_process(root) if self.hosted else None
        return process_session or ((self.session, "") if self.session else None)

    def ledger(self, root: str) -> SessionLog | None:
        """Return the log of what its session was shown; None without a session."""
        name = self.session_at(root)
        if name is not None:
            return SessionLog(root, *name)

        return None

    def author(self, model: str | None = None) -> Author:
        """Return the author of its records, never a person."""
        return Author(self.name, "agent", model)


class Person(Protocol):
    """Who sits at the terminal, and can be asked."""

    def confirm(self, shown: str, question: str, *, usual: bool = False) -> None:
        """Show a text and ask; the call ends here unless the answer, or the usual one, is yes."""

    def show(self, text: str) -> None:
        """Show a text that a question is about."""

    def answer(self, question: str, usual: str | None = None) -> str:
        """Ask for a line of text; no answer is the `usual` one."""

    def choice(self, question: str, choices: Sequence[str], usual: str) -> str:
        """Ask for one of some words; no answer is the `usual` one."""

    def stop(self) -> NoReturn:
        """End the call, as the person wants it."""


Progress = Callable[[str, int, int], None]
"""Takes the name of a step, how much of it is done and how much there is."""


@contextlib.contextmanager
def unseen() -> Iterator[Progress]:
    """Yield a progress that no one sees."""
    yield lambda step, done, of: None


Edited = Callable[[Workspace, str, str], contextlib.AbstractContextManager[tuple[str, str]]]
"""Opens a text, by a name, in an editor, and yields the result and the path of the copy."""


def no_editor(workspace: Workspace, name: str, text: str) -> NoReturn:
    """Refuse to open an editor."""
    raise UsageError("only the command line opens an editor", hint="give the fields")


@dataclass(frozen=True, slots=True)
class Call:
    """The registry, the kind of the command, and who asks.

    `form` is the format of the answer that is wanted. `person` is None where no one can be asked,
    `caller` is None but over MCP.
    """

    open: Callable[[], Registry]
    kind: Kind | None = None
    person: Person | None = None
    caller: Caller | None = None
    form: str = "json"
    progress: Callable[[], contextlib.AbstractContextManager[Progress]] = unseen
    edited: Edited = no_editor

    @property
    def registry(self) -> Registry:
        """Return the registry of the project; it is opened once."""
        return self.open()

    @property
    def workspace(self) -> Workspace:
        """Return the project."""
        return self.registry.workspace

    def author(self, model: str | None = None) -> Author:
        """Return the person or agent who asks."""
        if self.caller is None:
            return self.registry.author(model)

        return self.caller.author(model)

    def path(self, path: str) -> str:
        """Return a path from the project's root; a person gives it from the current folder.

        Links in its parent folders are resolved; it need not exist. A folder ends with "/".
        """
        root = self.workspace.root
        refuse_empty_path(path)
        if self.caller is not None:
            return path_from_root(root, root, path)

        relative = path_from_root(root, Path.cwd(), path)
        is_open = relative != "" and not relative.endswith("/")
        if is_open and (root / relative).is_dir():
            return f"{relative}/"

        return relative

    def file(self, name: str) -> str:
        """Return the path from the root of a file that the caller names to be read.

        Raises:
            UsageError: it is not there, or a folder.
        """
        path = self.path(name)
        refuse_path(self.workspace.root / path, TO_READ, name)
        return path

    def of_kind(self, any_id: str, instead: str = "") -> str:
        """Return an id if a record of the command's kind may have it; refuse another kind's, and
        name the command that takes it `instead`, if there is one.
        """
        if self.kind is None:
            return any_id

        hint = f"`{instead}` does it for every kind" if instead else ""
        if self.caller is not None:
            hint = "call the tool that serves every kind"

        self.registry.collection.records.refuse_other_kind(any_id, self.kind, hint)
        return any_id

    def opened(self, record: Record) -> None:
        """Log that a record was shown in full."""
        if self.caller is None:
            event_log.note_opened(self.workspace, record.id)
            return

        root = str(self.workspace.root)
        ledger = self.caller.ledger(root)
        event = Event(SHOW, time.time())
        event.name = OPENED
        event.opened = [record.id]
        event.session = ledger.name if ledger is not None else ""
        append(root, event)


def note(message: str) -> str:
    """Return a note for a person, as the command line prints it below an answer."""
    return f"note: {escaped_line(without_long_words(message))}"
