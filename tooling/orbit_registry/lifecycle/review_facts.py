"""Which records of a workspace are due for a review: reads the facts that their conditions ask for.

Most projects state dates alone, and pay for no history.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from orbit_registry.lifecycle.review_due import (
    Change,
    Due,
    Facts,
    has_terms,
    looked_at,
    review_due,
)
from orbit_registry.model.freshness import AHEAD
from orbit_registry.model.record import Record
from orbit_registry.repository.reader import Reading
from orbit_registry.search.source_files import SourceFiles
from orbit_registry.workspace.cache import digest
from orbit_registry.workspace.files import DOCUMENT_LIMIT
from orbit_registry.workspace.workspace import Workspace


def due_now(workspace: Workspace, reading: Reading, now: datetime | None = None) -> dict[str, Due]:
    """Return why records of a project are due, by path."""
    return due_reviews(workspace, filter(has_terms, reading.filled), now)


def due_reviews(
    workspace: Workspace, records: Iterable[Record], now: datetime | None = None
) -> dict[str, Due]:
    """Return why records are due, by path; the records are read with their documents."""
    now = (now or datetime.now(UTC)).astimezone(UTC)
    in_question = [record for record in records if record.phase != "closed"]
    conditional = [record for record in in_question if record.review_terms.when]
    facts = _facts(workspace, conditional, now) if conditional else Facts()

    due: dict[str, Due] = {}
    for record in in_question:
        verdict = review_due(record, now.date(), facts)
        if verdict is not None:
            due[record.path] = verdict

    return due


def _facts(workspace: Workspace, records: Sequence[Record], now: datetime) -> Facts:
    """Return the commits since the first of the records was looked at, and who imports what.

    A commit of a clock that is ahead is left out: no look at a record would be later.
    """
    tracked, untracked = workspace.git.files()
    files = frozenset((*(tracked or ()), *untracked))
    importers = _importers(workspace, records, sorted(files))
    head = workspace.git.commit("HEAD")
    if head is None:
        return Facts(None, files, importers)

    known: set[tuple[str, str]] = set()
    for record in records:
        known.update((record.path, name) for name in _used_before(workspace, record, importers))

    since = min(map(looked_at, records))

    def read() -> list[list[object]]:
        from orbit_registry.workspace.git_log import commits_after

        commits = commits_after(workspace.git, since.timestamp())
        return [[each.short, each.at, each.message, list(each.files)] for each in commits]

    rows = workspace.cache.memo("commits for reviews", digest(head, since.isoformat()), read)
    changes = [
        Change(short, datetime.fromtimestamp(at, UTC), message, names)
        for short, at, message, names in rows
        if at <= (now + AHEAD).timestamp()
    ]
    return Facts(changes, files, importers, frozenset(known))


def _importers(
    workspace: Workspace, records: Sequence[Record], files: Sequence[str]
) -> dict[str, list[str]]:
    """Return the files that import the packages of conditions, which no scope has to name."""
    asking: list[Record] = []
    for record in records:
        packages = _packages(record)
        if packages:
            asking.append(replace(record, data={**record.data, "scope": {"uses": packages}}))

    importers: dict[str, list[str]] = {}
    imported = SourceFiles(workspace, asking, files).imported if asking else {}
    for path, names in imported.items():
        for name in names:
            importers.setdefault(name, []).append(path)

    return importers


def _packages(record: Record) -> list[str]:
    return [each.value for each in record.review_terms.when if each.kind == "uses"]


def _used_before(
    workspace: Workspace, record: Record, importers: Mapping[str, Sequence[str]]
) -> Iterator[str]:
    """Yield the packages of a record's conditions that were used when it was last looked at."""
    from orbit_registry.formats.imports import imported_names

    packages = [name for name in _packages(record) if importers.get(name)]
    if not packages:
        return

    git = workspace.git
    before = f"--before={int(looked_at(record).timestamp())}"
    commit = git.ask("rev-list", "--max-count=1", before, "HEAD")
    for package in packages if commit else ():
        contents = git.contents(str(commit), importers[package], DOCUMENT_LIMIT)
        for path, content in contents.items():
            if imported_names(path, content.decode("utf-8", "replace"), [package]):
                yield package
                break
