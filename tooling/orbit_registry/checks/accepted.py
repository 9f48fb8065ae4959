"""Which findings of the baseline count: a change accepts none that it brings."""

import contextlib
from collections.abc import Iterator
from itertools import chain

from orbit_registry.errors import OrbitError
from orbit_registry.model.record import Record
from orbit_registry.repository.baseline import Baseline, baseline_in, read_baseline
from orbit_registry.repository.reader import Reading
from orbit_registry.workspace.files import DOCUMENT_LIMIT, inside, read_bytes
from orbit_registry.workspace.workspace import ORBIT, Workspace


def accepted(workspace: Workspace, reading: Reading, against: str | None) -> Baseline:
    """Return the accepted findings that count.

    Against a revision these are the ones that its merge base accepts too, and those of documents
    that were there, which the change adopts. Where the change brings Orbit, all count.
    """
    baseline = read_baseline(workspace)[0]
    commit = workspace.git.merge_base(against) if against is not None else None
    if commit is None or not workspace.git.files_at(commit, ORBIT):
        return baseline

    path = workspace.relative(workspace.baseline)
    content = workspace.git.read(commit, path) or b""
    before = baseline_in(content.decode("utf-8", "replace"), path)[0]
    counts = baseline & before

    added = baseline - before
    adopted = {record.id for record in _adopted(workspace, reading, commit)} if added else set()
    for finding, count in added.items():
        if finding.record in adopted:
            counts[finding] += count

    return counts


def _adopted(workspace: Workspace, reading: Reading, commit: str) -> Iterator[Record]:
    """Yield the records that a commit does not have, of documents that are as they were there."""
    pairs: list[tuple[Record, str]] = []
    for record in reading.collection.records:
        if record.source is not None and record.path != record.source.path:
            pairs.append((record, record.source.path))

    paths = chain.from_iterable((record.path, document) for record, document in pairs)
    there = workspace.git.contents(commit, paths)
    for record, document in pairs:
        is_new = record.path not in there and document in there
        if is_new and _lines(_content(workspace, document)) == _lines(there[document]):
            yield record


def _content(workspace: Workspace, document: str) -> bytes:
    """Return what a document holds; nothing where it can't be read."""
    with contextlib.suppress(OrbitError):
        return read_bytes(inside(workspace.root, document), limit=DOCUMENT_LIMIT)
    return b""


def _lines(content: bytes) -> bytes:
    """Return a content without what git alters in a work tree: the ends of its lines."""
    return content.replace(b"\r\n", b"\n")
