"""What a document says of its status: known, not understood, in a syntax that is not read, or
nothing. Only the last leaves it to the person who imports.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

from orbit_registry.model.record import UNREAD_STATUS, Record

Statement = Literal["stated", "not understood", "not read", "not stated"]
UNKNOWN = "unknown"  # the status of a decision that states none which is known
_QUOTED = 80


@dataclass(frozen=True, slots=True)
class StatusEvidence:
    """How a status is stated, in which words, and in which syntax if that is not read."""

    statement: Statement
    words: str = ""
    syntax: str = ""

    @property
    def is_silent(self) -> bool:
        """Whether the document states no status at all."""
        return self.statement == "not stated"

    def __str__(self) -> str:
        if self.statement == "not understood":
            return f"the status `{self.words}` is not recognised"
        if self.statement == "not read":
            return f"the status `{self.words}` is in {self.syntax}, which Orbit does not read"
        if self.is_silent:
            return "no status stated"

        return f"the status `{self.words}`"


def status_evidence(status: str, words: str, syntax: str = "") -> StatusEvidence:
    """Judge a status, the words that state it, and the syntax that holds them if it is not read."""
    quoted = " ".join(words.replace("`", "'").split())
    if len(quoted) > _QUOTED:
        quoted = f"{quoted[: _QUOTED - 1]}…"

    if status != UNKNOWN:
        return StatusEvidence("stated", quoted or status)
    if syntax:
        return StatusEvidence("not read", quoted, syntax)
    if quoted:
        return StatusEvidence("not understood", quoted)

    return StatusEvidence("not stated")


def with_evidence(records: Iterable[Record]) -> list[Record]:
    """Return the records; those with a status that is not known say which words state it."""
    return [_with_evidence(record) for record in records]


def _with_evidence(record: Record) -> Record:
    if not record.kind.in_document or record.stated_status.name != UNKNOWN:
        return record

    evidence = evidence_of(record)
    if evidence.is_silent:
        return record

    sentence = str(evidence)
    banner = f"Status {evidence.statement}: {sentence}"
    return replace(record, unclear_status=(f"status {evidence.statement}", banner))


def evidence_of(record: Record) -> StatusEvidence:
    """Judge what the document of a record said when it was last read."""
    status = record.stated_status.name
    return status_evidence(
        status, record.text("status_raw") or "", record.text(UNREAD_STATUS) or ""
    )
