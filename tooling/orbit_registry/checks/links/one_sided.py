"""ORB302: one record says that it replaces another, and the other does not say so; its fix writes the missing end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from orbit_registry.checks.check import Check
from orbit_registry.checks.context import CheckContext, is_ours
from orbit_registry.records.diagnostic import Diagnostic, Severity
from orbit_registry.records.record import Record
from orbit_registry.records.vote import stamp
from orbit_registry.store.journal import Change

OTHER_END = {"supersedes": "superseded_by", "superseded_by": "supersedes"}
_SAYS = {"supersedes": "replaces", "superseded_by": "is replaced by"}


def run(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield each supersession that only one of its two records states, at the record that states it."""
    for record in context.records:
        if OTHER_END.keys().isdisjoint(record.data):
            continue
        for name, other_name in OTHER_END.items():
            for index, target in enumerate(record.words(name)):
                other = _one(context, target)
                if other is None or other.uid == record.uid or _states(context, other, other_name, record):
                    continue
                message = (
                    f"{record.id} {_SAYS[name]} {other.id}, "
                    f"but {other.id} does not say that it {_SAYS[other_name]} {record.id}"
                )
                severity = Severity.ERROR if is_ours(record) and is_ours(other) else Severity.WARNING
                where, end = context.at(record, name, index), context.at(other, other_name)
                yield CHECK.at(where, message, severity=severity, record=record, related=[end])


def _one(context: CheckContext, target: str) -> Record | None:
    found = context.resolve(target)
    return found[0] if len(found) == 1 else None


def _states(context: CheckContext, record: Record, name: str, other: Record) -> bool:
    return any(found.uid == other.uid for target in record.words(name) for found in context.resolve(target))


def fix(context: CheckContext, diagnostic: Diagnostic) -> Sequence[Change]:
    """Write the missing end into the other record; a status that forbids it is left to a person."""
    from orbit_registry.text.yaml_edit import rewrite  # brings ruamel, which only a fix needs

    held = context.records.with_id(diagnostic.record or "")
    changes: dict[str, Change] = {}
    for record in held:
        for name, other_name in OTHER_END.items():
            for target in record.words(name):
                other = _one(context, target)
                if other is None or other.uid == record.uid or _states(context, other, other_name, record):
                    continue
                text = context.read(other.path)
                if text is not None and f"does not say that it {_SAYS[other_name]}" in diagnostic.message:
                    data = dict(other.data)
                    data[other_name] = [*other.words(other_name), record.id]
                    data["updated_at"] = stamp(context.now)
                    after = rewrite(text, data, order=other.kind.schema.properties)
                    changes[other.path] = Change(other.path, text, after)
    return tuple(changes.values())


CHECK = Check(
    "ORB302",
    "one-sided-supersession",
    Severity.ERROR,
    "Only one of two records says that one replaces the other.",
    "`orbit check --fix` writes the other end; or remove the line",
    run,
    fix,
)
