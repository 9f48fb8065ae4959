"""A record as JSON shows it and as people read it; it prints nothing."""

from __future__ import annotations

from orbit_registry.answers.tallies import vote_data, vote_words
from orbit_registry.records.freshness import Freshness
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
    lines = [f"{record.id}  {record.title}", f"{status.name}" + (f": {status.banner}" if status.banner else ""), ""]
    facts = [
        ("file", record.path),
        ("document", record.source.path if record.source else ""),
        *((name, _plain(record.data[name])) for name in record.kind.columns if name in _own(record)),
        ("review", _review(record)),
        ("date", record.text("date") or ""),
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
        ("updated", f"{record.text('updated_at')} (created {record.text('created_at')})"),
    ]
    lines += [f"  {name:<14}{' '.join(value.splitlines())}" for name, value in facts if value]
    texts = (record.prose, record.text("diff") or "")  # whoever decides on a proposal sees what it would change
    return "\n".join([*lines, *(part for one in texts if one.strip() for part in ("", one.strip("\n")))])
