"""What may enter the snapshot: records to leave out, and texts to clean; by default, no secret gets in."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import replace

from orbit_registry.records.record import Record
from orbit_registry.text.secrets import NEEDLES, without_secrets
from orbit_registry.values import dataclass

_UNTOUCHED = frozenset(("id", "uid", "status", "schema_version", "created_at", "updated_at"))


@dataclass(frozen=True, slots=True)
class Policy:
    """What may enter the snapshot.

    `name` says which policy it is: another name means that the snapshot is built anew. `exclude` marks records to
    leave out. `redact` cleans a text that a person or an agent wrote; it is asked only about the records that
    `suspects` returns, where that is given.
    """

    name: str = ""
    exclude: Callable[[Record], bool] | None = None
    redact: Callable[[str], str] | None = None
    suspects: Callable[[Iterable[Record]], Iterable[Record]] | None = None

    def applied(self, records: Iterable[Record], unkept: Container[str] | None = None) -> list[Record]:
        """Return the records that may enter, cleaned, in their order.

        `unkept` has the paths of those that are not among what is kept, where no secret is: only they are suspects
        then. It is no help where prose was filled in since.
        """
        kept = self.admitted(records)
        if self.redact is None:
            return kept
        asked = kept if unkept is None else [record for record in kept if record.path in unkept]
        paths = {record.path for record in (kept if self.suspects is None else self.suspects(asked))}
        return [redacted(record, self.redact) if record.path in paths else record for record in kept]

    def admitted(self, records: Iterable[Record]) -> list[Record]:
        """Return the records that may enter, as they are."""
        return [record for record in records if self.exclude is None or not self.exclude(record)]

    def cleaned(self, text: str) -> str:
        """Return a text as it may enter."""
        return text if self.redact is None else self.redact(text)


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


def _suspects(records: Iterable[Record]) -> Sequence[Record]:
    from orbit_registry.checks.spelling import Spelling

    held = list(records)
    voted = [
        record for record in held if any(NEEDLES.search(f"{one.voter_model}\n{one.task_id}") for one in record.votes)
    ]
    return [*Spelling(held).suspects(NEEDLES), *voted]


NO_SECRETS = Policy("no secrets, 1", redact=without_secrets, suspects=_suspects)
"""The policy of every door; its number grows when the patterns do."""
