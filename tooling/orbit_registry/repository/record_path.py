"""Which record a path belongs to: what every door asks that has the name of a file alone.

The hook, which imports none of this, answers `record_in` by the same cases.
"""

from dataclasses import dataclass

from orbit_registry.model.ids import is_safe_id
from orbit_registry.model.kind import Kind, KindTable
from orbit_registry.repository.inherited import is_inheritable, source_of
from orbit_registry.workspace.workspace import INHERITED, ORBIT

_INBOXES = (f"{ORBIT}/inbox", f"{ORBIT}/state/inbox")


@dataclass(frozen=True, slots=True)
class RecordPath:
    """A path in the folder of a record: `.orbit/adrs/ADR-0007/adr.yaml`."""

    kind: Kind
    folder: str
    name: str
    """The name of the folder, which is the record's id where it was made."""
    file: str
    """The path below the folder."""
    source: str = ""
    """Whose record it is a copy of; empty for one of this project."""
    is_pending: bool = False
    """Whether it waits in an inbox."""

    @property
    def is_record(self) -> bool:
        """Whether this is the file that the record is read from."""
        return self.file == f"{self.kind.name}.yaml"

    @property
    def id(self) -> str:
        """The id that the record has here."""
        if self.source:
            return f"{self.source}:{self.name}"

        return self.name


def record_path(kinds: KindTable, path: str) -> RecordPath | None:
    """Return what a path is to the record in whose folder it is; None for any other path."""
    source = source_of(path)
    homes = (f"{INHERITED}/{source}",) if source else (*_INBOXES, ORBIT)
    home = next((home for home in homes if path.startswith(f"{home}/")), None)
    if home is None:
        return None

    plural, _, below = path.removeprefix(f"{home}/").partition("/")
    name, _, file = below.partition("/")
    kind = kinds.of_plural(plural)
    if kind is None or not file or not is_safe_id(name):
        return None
    if source and not is_inheritable(kind):
        return None

    return RecordPath(kind, f"{home}/{plural}/{name}", name, file, source, home in _INBOXES)


def kind_of_file(kinds: KindTable, path: str) -> Kind | None:
    """Return the kind of the record file of this project at a path; None for any other path."""
    at = record_path(kinds, path)
    if at is not None and at.is_record and not at.source:
        return at.kind

    return None
