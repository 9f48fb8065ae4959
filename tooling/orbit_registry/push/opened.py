"""Says which records a call reads: their own files, or the documents that say what they decide; it shows nothing."""

from orbit_registry.push.call import in_project
from orbit_registry.push.folders import record_in
from orbit_registry.push.reader import ID, Index

TYPE_CHECKING = False
if TYPE_CHECKING:
    from orbit_registry.push.call import Call
    from orbit_registry.push.ledger import Ledger
    from orbit_registry.push.reader import NoIndex

MOST = 20
"""So many records of one document are looked at: a log of decisions may hold hundreds."""


def opened(root: str, call: "Call", index: "Index | NoIndex", ledger: "Ledger | None") -> list[str]:
    """Return the ids of the records that a call reads.

    Of a document that says what several records decide, those count that the session was shown.

    Raises:
        OSError: the ledger can't be read.
    """
    found: dict[str, None] = {}
    for said in call.reads:
        path = in_project(root, call.folder or root, said)
        if path is None:
            continue
        if known := record_in(path):
            found[known] = None
        elif isinstance(index, Index):
            found |= dict.fromkeys(_told(index, path, ledger))
    return list(found)[:MOST]


def _told(index: Index, path: str, ledger: "Ledger | None") -> list[str]:
    """Return the ids of the records whose text stands in a document."""
    ids = [row.values[ID] for hit in index.under("m", path) if (row := index.row(hit >> 32)) is not None]
    if len(ids) < 2:
        return ids
    if ledger is None:
        return []
    try:
        shown = set(ledger.begin())
    finally:
        ledger.end()
    return [one for one in ids if one in shown]
