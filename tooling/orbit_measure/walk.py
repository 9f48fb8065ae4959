"""Walk of a history: what the edits of each commit would have been shown."""

from collections.abc import Callable, Iterable, Iterator, Sequence

from orbit_measure.history import Step
from orbit_registry.hook.context import Selection
from orbit_registry.hook.session import SessionLog

Edit = Callable[[Step, str, SessionLog], Selection]
"""Returns what the edit of a commit's file shows in a session."""


def walk(
    steps: Iterable[Step], edit: Edit, length: int = 1
) -> Iterator[tuple[Step, list[Selection]]]:
    """Yield each commit with what the edits of its files show; `length` commits are a session."""
    log = MemorySession()
    for position, step in enumerate(steps):
        if position % length == 0:
            log = MemorySession()

        yield step, [edit(step, file, log) for file in step.commit.files]


class MemorySession(SessionLog):
    """Log of a made-up session, which no file keeps."""

    def __init__(self) -> None:
        super().__init__("", "replay")
        self._ids: list[str] = []

    def begin(self) -> list[str]:
        """Return the ids that the session was shown."""
        return list(self._ids)

    def add(self, ids: list[str], titled: Sequence[str] = ()) -> None:
        """Note ids as shown, and others as named by title."""
        self._ids += ids
        self.named.update(titled)

    def end(self) -> None:
        """Do nothing: no file is open."""
