"""A record as JSON shows it and as people read it; it prints nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from orbit_registry.answers.tallies import vote_data, vote_words
from orbit_registry.records.freshness import Freshness, expires
from orbit_registry.records.record import Record


def record_data(record: Record, *, prose: bool = False) -> dict[str, object]:
    """Return a record as JSON shows it: its file's fields, its kind, phase and path.

    `path` is the record's own file; where its text is a file, `text` says where that stands and was taken from.
    """
    head: dict[str, object] = {"kind": record.kind.name, "phase": record.phase, "path": record.path}
    source = record.source if record.kind.in_file else None
    text = {"text": {"path": source.path, "taken_from": record.text("path")}} if source is not None else {}
    votes = {"votes": vote_data(record.votes)} if record.votes or (prose and record.kind.voted) else {}
    return {
        **head,
        **record.data,
        **head,
        **(text if record.kind.in_file else {}),
        **votes,
        **({"prose": record.prose} if prose else {}),
    }


def _own(record: Record) -> set[str]:
    """Return the columns of a kind's list that are stated and stand in no line that every record has."""
    shown = {"id", "title", "status", record.kind.headline, "date", "tasks", "feature", "category", "path", "labels"}
    return {name for name in record.kind.columns if name in record.data} - shown


def _plain(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _review(record: Record) -> str:
    """Return who suggested a record and took it up or turned it down, when and why."""
    said = record.approval
    parts = [f"suggested by {said['suggested_by']}"] if "suggested_by" in said else []
    for verdict in ("approved", "rejected"):
        if f"{verdict}_by" in said:
            parts.append(f"{verdict} by {said[f'{verdict}_by']} on {said.get(f'{verdict}_at', '')[:10]}")
    return "; ".join([*parts, *([f"because {said['reason']}"] if "reason" in said else [])])


def record_text(record: Record, freshness: Freshness) -> str:
    """Return a record as people read it: head, facts, long text."""
    status = record.status
    end = expires(record) if record.phase == "live" else None
    lines = [f"{record.id}  {record.title}", f"{status.name}" + (f": {status.banner}" if status.banner else ""), ""]
    facts = [
        ("file", record.path),
        ("document", record.source.path if record.source else ""),
        *((name, _plain(record.data[name])) for name in record.kind.columns if name in _own(record)),
        ("review", _review(record)),
        ("summary", (record.text("summary") or "") if record.kind.headline != "summary" else ""),
        *((name, ":".join(map(str, value.values()))) for name, value in _references(record)),
        ("date", record.text("date") or ""),
        ("deciders", ", ".join(record.words("deciders"))),
        ("tasks", ", ".join(record.words("tasks"))),
        ("feature", record.text("feature") or ""),
        ("category", record.text("category") or ""),
        ("paths", ", ".join(record.scope.paths)),
        ("tags", ", ".join(record.scope.tags)),
        ("labels", ", ".join(record.words("labels"))),
        ("evidence", ", ".join(f"{kind}:{reference}" for kind, reference in record.evidence)),
        ("links", ", ".join(f"{link.rel} {link.to}" for link in record.links)),
        ("supersedes", ", ".join(record.supersedes)),
        ("superseded by", ", ".join(record.superseded_by)),
        ("legacy ids", ", ".join(record.legacy_ids)),
        ("votes", vote_words(record.votes) if record.votes or record.kind.voted else ""),
        *((freshness.state.value if not at else "", reason.message) for at, reason in enumerate(freshness.reasons)),
        ("holds until", f"{end:%Y-%m-%d}" if end else ""),
        ("updated", f"{record.text('updated_at')} (created {record.text('created_at')})"),
    ]
    lines += [f"  {name:<14}{' '.join(value.splitlines())}" for name, value in facts if value]
    return "\n".join([*lines, *(["", record.prose.strip("\n")] if record.prose.strip() else [])])


def details_text(record: Record) -> str:
    """Return the fields of its kind that fill lines of their own, each below its name: a diff, a list of sentences.

    Whoever decides on a proposal sees what it would change.
    """
    parts = [f"{name.replace('_', ' ').capitalize()}\n\n{text}" for name, text in _details(record)]
    return "".join(f"\n\n{part}" for part in parts)


_ON_LINES = frozenset({"links", "evidence", "labels", "tasks", "deciders"})
"""Lists that `record_text` puts on a line."""


def _details(record: Record) -> Iterator[tuple[str, str]]:
    for name in record.kind.schema.properties:
        if name in _ON_LINES:
            continue
        value = record.data.get(name)
        if isinstance(value, str) and "\n" in value and name != record.kind.prose:
            yield name, "\n".join(f"  {line}".rstrip() for line in value.rstrip("\n").split("\n"))
        elif isinstance(value, list) and any(isinstance(one, Mapping) or " " in str(one) for one in value):
            yield name, "\n".join(f"- {_item(one)}" for one in value)


def _item(value: object) -> str:
    """Return one entry of a list on a line; a reference stands for itself, anything else has its name before it."""
    if not isinstance(value, Mapping):
        return " ".join(str(value).split())
    said = [
        ":".join(map(str, one.values())) if isinstance(one, Mapping) else f"{name} {_plain(one)}"
        for name, one in value.items()
    ]
    return ", ".join(said)


def _references(record: Record) -> list[tuple[str, Mapping[str, object]]]:
    """Return the fields of its kind that name something outside the registry: a target, a run."""
    fields = ((name, record.data.get(name)) for name in record.kind.schema.properties)
    return [(name, value) for name, value in fields if isinstance(value, Mapping) and {"type", "id"} <= {*value}]
