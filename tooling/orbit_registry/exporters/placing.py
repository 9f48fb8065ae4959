"""Compares files with what they should be, and makes them so; it decides about no content."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from orbit_registry.workspace.files import inside, write_atomic, write_error


@dataclass(frozen=True, slots=True)
class Change:
    """A file that is not what it should be: `what` is add, change or remove; `content` None where it is to go."""

    path: str
    what: str
    content: bytes | None

    def as_data(self) -> dict[str, str]:
        """Return it as JSON shows it."""
        return {"path": self.path, "what": self.what}


def compared(held: Mapping[str, bytes | None], wanted: Mapping[str, bytes | None]) -> list[Change]:
    """Return what is to change so that the files held are those wanted; None stands for no file."""
    found = []
    for path in sorted({*held, *wanted}):
        before, after = held.get(path), wanted.get(path)
        if before != after:
            found.append(Change(path, "add" if before is None else "remove" if after is None else "change", after))
    return found


def make(root: Path, changes: Sequence[Change]) -> None:
    """Make files below a folder what they should be.

    Raises:
        UnsafePathError: a folder on the way is a link.
        WriteError: the disk refused; the files before that one are written.
    """
    for change in changes:
        path = inside(root, change.path)
        if change.content is not None:
            write_atomic(path, change.content)
            continue
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            raise write_error(path, error) from None
