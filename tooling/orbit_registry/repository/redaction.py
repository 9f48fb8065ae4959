"""Takes secrets out of records before they enter a snapshot, an index or a site; what one is, `text.secrets` says."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import replace

from orbit_registry.formats.secrets import NEEDLES, without_secrets
from orbit_registry.model.record import Record

_UNTOUCHED = frozenset(("id", "uid", "status", "schema_version", "created_at", "updated_at"))


def free_of_secrets(records: Iterable[Record]) -> list[Record]:
    """Return records in their order, those that hold a secret without it."""
    return [redacted(record, without_secrets) if NEEDLES.search(_text_of(record)) else record for record in records]


def redacted(record: Record, redact: Callable[[str], str]) -> Record:
    """Return a record with every text cleaned, keys of its own and votes among them; ids and times stay."""

    def cleaned(value: object) -> object:
        if isinstance(value, str):
            return redact(value)
        if isinstance(value, dict):
            return {redact(str(name)): cleaned(part) for name, part in value.items()}
        return [cleaned(part) for part in value] if isinstance(value, list) else value

    data = {redact(name): value if name in _UNTOUCHED else cleaned(value) for name, value in record.data.items()}
    votes = tuple(
        replace(vote, voter_model=redact(vote.voter_model), task_id=redact(vote.task_id)) for vote in record.votes
    )
    return replace(record, data=data, prose=redact(record.prose), votes=votes)


def _text_of(record: Record) -> str:
    votes = [f"{vote.voter_model}\n{vote.task_id}" for vote in record.votes]
    return "\n".join([json.dumps(record.data, ensure_ascii=False, default=str), record.prose, *votes])
