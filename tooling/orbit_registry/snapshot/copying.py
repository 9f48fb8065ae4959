"""Copies a snapshot beside the work that finds out what will change in it; it knows no database.

To copy the snapshot of 10,000 records and have it on disk takes some 50 ms, most of it in the kernel, and the engine
takes as long to start and to be asked what the snapshot holds.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import threading
from collections.abc import Callable
from pathlib import Path


class Copy:
    """A copy of a file that a thread makes and writes to disk, at a path where nothing must be yet.

    `first` is what the thread does before it.
    """

    def __init__(self, source: Path, path: Path, first: Callable[[], None] | None = None) -> None:
        self._source, self._path, self._first = source, path, first
        self._error: OSError | None = None
        self._thread = threading.Thread(target=self._make)
        self._thread.start()

    def wait(self) -> None:
        """Return once the copy is whole.

        Raises:
            OSError: it can't be made; a part of it may be there.
        """
        self._thread.join()
        if self._error is not None:
            raise self._error

    def drop(self) -> None:
        """Return once there is no copy at the path any more."""
        self._thread.join()
        with contextlib.suppress(OSError):
            self._path.unlink()

    def _make(self) -> None:
        try:
            if self._first is not None:
                self._first()
            shutil.copyfile(self._source, self._path)
            # What a database writes into it later is little: the kernel takes the rest to disk while that is found out.
            with self._path.open("rb") as file:
                os.fsync(file.fileno())
        except OSError as error:
            self._error = error
