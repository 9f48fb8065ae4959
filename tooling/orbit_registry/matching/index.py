"""The index of records, for the rooms above: its type, and how to open it.

How its bytes are laid out only this room and the hook know.
"""

from collections.abc import Iterable

from orbit_registry.hook import index as reader
from orbit_registry.hook.index import MISSING, Index, NoIndex
from orbit_registry.matching.pack import Part, pack
from orbit_registry.workspace.workspace import Workspace

__all__ = ["MISSING", "Index", "NoIndex", "index_of_parts", "open_index"]


def open_index(workspace: Workspace) -> Index | NoIndex:
    """Return the index on disk, without a sync."""
    return reader.open_index(str(workspace.root))


def index_of_parts(parts: Iterable[Part]) -> Index | NoIndex:
    """Return an index of parts in push order that lasts as long as the process."""
    return reader.read_index(pack(parts), "")
