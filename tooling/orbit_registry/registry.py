"""The facade behind every door: one workspace, its records and the verbs on them; no work is done here."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

from orbit_registry.records.record import Record
from orbit_registry.records.record_set import RecordSet
from orbit_registry.store.documents import Documents, read_documents, with_prose
from orbit_registry.store.reader import Collection, read_collection
from orbit_registry.store.workspace import Workspace, find_workspace


class Registry:
    """One workspace and what can be done with it; values read once are kept until `refresh`."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace

    @classmethod
    def open(cls, path: str | Path = ".") -> Registry:
        """Return the registry of the workspace at or above a path.

        Raises:
            WorkspaceNotFoundError: there is none.
            ConfigError: its configuration can't be used.
        """
        return cls(find_workspace(Path(path)))

    def refresh(self) -> None:
        """Forget what was read; the next question reads again."""
        for name in ("collection", "documents", "records"):
            self.__dict__.pop(name, None)

    @cached_property
    def collection(self) -> Collection:
        """The records as their files state them, and the files that hold none."""
        return read_collection(self.workspace)

    @cached_property
    def documents(self) -> Documents:
        """The documents that hold decisions."""
        return read_documents(self.workspace, self.collection.records)

    @cached_property
    def records(self) -> RecordSet:
        """The records with their prose filled in."""
        return RecordSet(with_prose(self.workspace, record, self.documents) for record in self.collection.records)

    def get(self, any_id: str) -> Record:
        """Return the record an id or legacy id means.

        Raises:
            RecordNotFoundError: nothing has that id.
            AmbiguousIdError: several records have it.
        """
        return self.records.get(any_id)
