"""The files that a snapshot is made from: the rows of the table `sources`, and their digest."""

from collections.abc import Collection, Iterable
from datetime import UTC, datetime
from operator import itemgetter

from orbit_registry.repository.documents import ProseReading
from orbit_registry.repository.reader import Reading
from orbit_registry.repository.votes import NAME as VOTES
from orbit_registry.workspace.cache import digest

Row = dict[str, object]


def sources_of(
    reading: Reading,
    prose: ProseReading,
    records: Collection[str],
    *,
    inbox: bool = False,
    with_times: bool = True,
) -> list[Row]:
    """Return the rows of the files that some records, named by their paths, came from.

    `inbox` says that it is local.
    """
    rows: list[Row] = []

    def add(role: str, path: str, local: bool = False) -> None:
        state = reading.states.get(path) or prose.states.get(path)
        if state is None:
            return

        row: Row = {
            "path": path,
            "role": role,
            "inbox": local,
            "sha256": state.sha256,
            "size": state.size,
            "mtime": None,
        }
        if with_times:
            seconds = state.mtime_ns // 1_000_000 / 1000
            row["mtime"] = utc_time(datetime.fromtimestamp(seconds, UTC))
        rows.append(row)

    documents: set[str] = set()
    for entry in reading.entries:
        if entry.path not in records:
            continue

        local = inbox and entry.pending
        add("record", entry.path, local)
        if entry.has_votes:
            add("votes", f"{entry.folder}/{VOTES}", local)
        if entry.has_body:
            add("body", entry.body_path, local)

        document = reading.document_of(entry)
        if document is not None and not local:
            documents.add(document)

    for document in sorted(documents & prose.states.keys()):
        add("document", document)

    return rows


def content_digest(sources: Iterable[Row]) -> str:
    """Return a hash of the files that git carries of some rows: equal in two clones of a commit."""
    content_of = itemgetter("path", "role", "sha256", "size")
    shared = [row for row in sources if not row["inbox"]]
    return digest(sorted(map(str, map(content_of, shared))))


def utc_time(at: datetime) -> str:
    """Return a moment for a column, in UTC without a zone."""
    return at.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="microseconds")
