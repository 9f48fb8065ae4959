"""Finds the document that holds the prose of a decision taken over, and says whether two versions are the same text."""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from orbit_registry.errors import OrbitError
from orbit_registry.importers.orbit_layout import Foreign
from orbit_registry.records.record import Record
from orbit_registry.store.decisions.documents import Document
from orbit_registry.store.decisions.paths import decision_paths
from orbit_registry.store.files import DOCUMENT_LIMIT, inside, read_text
from orbit_registry.store.workspace import Workspace
from orbit_registry.text.adr import AdrDocument, read_document

_STATUS_LINE = re.compile(r"\A[ \t]*(?:[-*][ \t]+)?[*_]{0,2}Status[*_]{0,2}[ \t]*:.*$", re.IGNORECASE | re.MULTILINE)
_RULE = re.compile(r"^[ \t]*(?:-{3,}|\*{3,}|_{3,})[ \t]*$", re.MULTILINE)
_LINK = re.compile(r"\[([^\[\]]{0,300})\]\([^()\s]{1,500}\)")
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class ProseHome:
    """The entry of a document that is a decision's prose."""

    document: Document
    entry: AdrDocument

    @property
    def heading(self) -> str:
        """How the record finds the entry again."""
        return f"ADR-{self.entry.number}"

    @property
    def local_name(self) -> str:
        """The name the entry has among all logs."""
        return f"{posixpath.basename(posixpath.dirname(self.document.path))}/{self.heading}"


def find_homes(
    workspace: Workspace, wanted: Sequence[tuple[str, Foreign]], records: Sequence[Record]
) -> tuple[dict[str, ProseHome], int]:
    """Return the entry whose heading names each decision, by the decision's new id, and how many entries no record has.

    No entry is given twice. An entry whose `feature/ADR-001` is an earlier name of a record has that record.
    """
    claimed = {(record.source.path, record.source.heading) for record in records if record.source is not None}
    entries: dict[str, list[ProseHome]] = defaultdict(list)
    for document in _logs(workspace):
        for entry in document.file.entries:
            home = ProseHome(document, entry)
            if (document.path, home.heading) not in claimed:
                entries[home.heading].append(home)
    by_id: dict[str, list[tuple[str, Foreign]]] = defaultdict(list)
    for record_id, foreign in wanted:
        by_id[foreign.id].append((record_id, foreign))
    homes: dict[str, ProseHome] = {}
    for record_id, foreign in wanted:
        held = entries.get(foreign.id)
        if held:
            best = max(held, key=lambda home: _fit(home, foreign.data))
            rivals = [other for other in by_id[foreign.id] if other[0] != record_id]
            if any(_fit(best, other.data) > _fit(best, foreign.data) for _, other in rivals):
                continue
            homes[record_id] = best
            held.remove(best)
    known = {str(name) for _, foreign in wanted for name in _legacy(foreign)}
    known.update(name for record in records for name in record.legacy_ids)
    spare = sum(1 for held in entries.values() for home in held if home.local_name not in known)
    return homes, spare


def _legacy(foreign: Foreign) -> list[object]:
    names = foreign.data.get("legacy_ids")
    return names if isinstance(names, list) else []


def _logs(workspace: Workspace) -> Iterable[Document]:
    for path in sorted(set(decision_paths(workspace))):
        try:
            text = read_text(inside(workspace.root, path), limit=DOCUMENT_LIMIT)
        except OrbitError:
            continue
        file = read_document(text, path)
        if file.format == "log":
            yield Document(path, text, file)


def _fit(home: ProseHome, data: Mapping[str, object]) -> tuple[bool, bool, float]:
    """Return how well an entry fits a record: by title, by feature, by the words that the titles share."""
    title = _words(str(data.get("title", "")))
    heading = _words(home.entry.title)
    features = data.get("related_features")
    feature = posixpath.basename(posixpath.dirname(home.document.path))
    shared = len(set(title) & set(heading)) / max(1, len(set(title) | set(heading)))
    return title == heading, isinstance(features, list) and feature in features, shared


def same_prose(body: str, entry: str) -> bool:
    """Say whether two versions have the same words, leaving out the status line, rules, link targets and markup."""
    return _prose_words(body) == _prose_words(entry)


def same_words(one: str, other: str) -> bool:
    """Say whether two titles differ in markup and case alone."""
    return _words(one) == _words(other)


def _prose_words(text: str) -> list[str]:
    bare = _RULE.sub(" ", _LINK.sub(r"\1", _STATUS_LINE.sub(" ", text.strip(), count=1)))
    return _words(bare)


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())
