"""What the source files of a project lead to: by the records that they cite, and by imports."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from orbit_registry.matching.pack import Citation
from orbit_registry.model.record import Record
from orbit_registry.model.record_set import RecordSet
from orbit_registry.repository.reader import Reading
from orbit_registry.search.source_files import SourceFiles
from orbit_registry.workspace.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Routes:
    """By path of a source file: what its citations lead to, and what it imports of scopes."""

    cited: Mapping[str, Sequence[Citation]]
    imported: Mapping[str, Sequence[str]]


def routes_in(workspace: Workspace, reading: Reading) -> Routes:
    """Return the routes of a workspace's tracked files to the records that were read."""
    tracked = workspace.git.tracked() or ()
    return routes_of(SourceFiles(workspace, reading.chosen_records, tracked), reading)


def routes_of(sources: SourceFiles, reading: Reading) -> Routes:
    """Return the routes to the records that were read, but for those of this machine's inbox."""
    local = {entry.path for entry in reading.chosen if entry.pending}
    existing = RecordSet(sources.records)
    led_to: dict[str, list[Citation]] = {}
    cited: dict[str, list[Citation]] = {}
    for path, records in sources.cited.items():
        for record in records:
            if record.path in local:
                continue
            if record.path not in led_to:
                led_to[record.path] = _led_to(existing, record)
            if led_to[record.path]:
                cited.setdefault(path, []).extend(led_to[record.path])

    return Routes(cited, sources.imported)


def _led_to(existing: RecordSet, record: Record) -> list[Citation]:
    if record.phase == "closed":
        successors = existing.live_successors(record)
        return [Citation(later.path, record.path) for later in successors if later.status.pushed]

    waits = record.phase == "pending" and record.kind.in_document
    if record.status.pushed or waits:
        return [Citation(record.path)]

    return []
