"""Whether code cites a decision that no longer holds or is not there: citation in, verdict out.

It reads names as the route `cites` does: docs/reference/push.md has their forms.
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from enum import StrEnum

from orbit_registry.formats.adr.file_names import is_foreign_folder
from orbit_registry.formats.sources import Purpose, purposes
from orbit_registry.model.record import SUPERSEDED, Record
from orbit_registry.model.record_set import RecordSet
from orbit_registry.search.source_files import SourceCitation, SourceFiles

_MIGRATION = re.compile(r"(?:^|/)(?:migrations?|migrate|alembic/versions)/", re.IGNORECASE)


class Verdict(StrEnum):
    """What is wrong with a citation."""

    REPLACED = "replaced"
    REJECTED = "rejected"
    MISSING = "missing"


@dataclass(frozen=True, slots=True)
class BadCitation:
    """A citation at a place in code, what is wrong with it, and the ids to cite instead."""

    path: str
    line: int
    column: int
    name: str
    verdict: Verdict
    record: str = ""
    """The id of the record that is cited; empty if there is none."""
    successors: tuple[str, ...] = ()


def judge_record(
    citation: SourceCitation, record: Record, records: RecordSet, near: AbstractSet[str]
) -> Verdict | None:
    """Judge a citation of a record; `near` are the ids that its line cites.

    A line tells how things came about if it says so or names the successor too. So does a
    migration, which no one changes later. A line that denies something follows a rejection.
    """
    if citation.is_history or _MIGRATION.search(citation.path):
        return None
    if record.is_rejected:
        if citation.is_denial:
            return None

        return Verdict.REJECTED
    if record.status.name != SUPERSEDED:
        return None

    if not near.isdisjoint(records.replacements(record)):
        return None

    return Verdict.REPLACED


def shows_made_up_names(path: str) -> bool:
    """Say whether a file may cite ids of no decision: of tests, examples, templates."""
    folder = path.rpartition("/")[0]
    return is_foreign_folder(folder) or bool(purposes(path) - {Purpose.PROSE})


def bad_citations(sources: SourceFiles) -> Iterator[BadCitation]:
    """Yield what is wrong with the citations of the source files, in their order."""
    records = RecordSet(sources.records)
    by_file: dict[str, list[SourceCitation]] = defaultdict(list)
    for citation in sources.citations():
        by_file[citation.path].append(citation)

    for path, citations in by_file.items():
        is_made_up = shows_made_up_names(path)
        ids_by_line: defaultdict[int, set[str]] = defaultdict(set)
        for citation in citations:
            record = sources.find(citation.name)
            if record is not None:
                ids_by_line[citation.line].add(record.id)

        seen: set[tuple[int, str]] = set()
        for citation in citations:
            record = sources.find(citation.name)
            if record is not None:
                verdict = judge_record(citation, record, records, ids_by_line[citation.line])
            else:
                is_missing = citation.is_sure and not is_made_up
                is_missing = is_missing and sources.is_missing(citation.name)
                verdict = Verdict.MISSING if is_missing else None

            place = citation.line, record.id if record is not None else citation.name
            if verdict is not None and place not in seen:
                seen.add(place)
                yield _bad(citation, verdict, record, records)


def _bad(
    citation: SourceCitation, verdict: Verdict, record: Record | None, records: RecordSet
) -> BadCitation:
    path, line, column, name, *_ = citation
    if record is None:
        return BadCitation(path, line, column, name, verdict)

    successors = tuple(sorted(records.replacements(record)))
    return BadCitation(path, line, column, name, verdict, record.id, successors)
