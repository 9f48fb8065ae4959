"""Which decisions new ones touch, worked out from the files: see `lifecycle/touches.py`."""

import re
from collections.abc import Iterable, Sequence

from orbit_registry.checks.duplicates import wording
from orbit_registry.formats.wording import without_citations
from orbit_registry.lifecycle.touches import Text, Touch, counted, touches
from orbit_registry.model.record import Record
from orbit_registry.search.similarity import counts_of_texts
from orbit_registry.workspace.workspace import Workspace

_FENCED = re.compile(r"(?ms)^[ \t]*(```|~~~).*?^[ \t]*\1[ \t]*$")
"""A block of code: what it is written in says nothing about the question."""


def touched_by(
    workspace: Workspace, records: Iterable[Record], news: Sequence[Record]
) -> list[list[Touch]]:
    """Return what each of some new decisions touches; all have their prose."""
    decisions = [record for record in records if record.kind.in_document]
    of_news = [new for new in news if new.kind.in_document]
    if not of_news:
        return [[] for _ in news]

    texts = _texts(workspace, decisions)
    own = _texts(workspace, of_news)
    return [
        touches(new, decisions, texts, own[new.path]) if new.path in own else [] for new in news
    ]


def _texts(workspace: Workspace, records: Sequence[Record]) -> dict[str, Text]:
    plain = {record.path: without_citations(_FENCED.sub("", wording(record))) for record in records}
    counts = counts_of_texts(plain, workspace.cache, "terms without code")
    return {
        record.path: counted(
            plain[record.path], without_citations(record.title), counts[record.path]
        )
        for record in records
    }
