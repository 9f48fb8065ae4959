"""What an adopted document says replaced its decision, and the changes that write it at both ends; judges nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from orbit_registry.checks.context import CheckContext
from orbit_registry.records.record import SUPERSEDED, Record
from orbit_registry.records.vote import stamp
from orbit_registry.store.adopt.edges import UNRESOLVED, Unresolved, read_edges
from orbit_registry.store.decisions.documents import Document
from orbit_registry.store.journal import Change


@dataclass(frozen=True, slots=True)
class Named:
    """The records that a document names as successors, and the names in it that lead to none."""

    records: tuple[Record, ...] = ()
    unresolved: tuple[Unresolved, ...] = ()


def named_in_document(context: CheckContext, record: Record) -> Named:
    """Return what the document of an adopted record says replaced it; nothing where the record has the say."""
    home, source = context.homes.get(record.path), context.sources.get(record.path)
    if home is None or source is None or context.decides(source) != "document":
        return Named()
    path, text = home[0].path, home[0].text
    # The context's entries may be outlines, which leave relations out.

    entry = Document(path, text).entry(source.heading)
    if entry is None or entry.status != SUPERSEDED:
        return Named()
    found: dict[str, Record] = {}
    unresolved: list[Unresolved] = []
    for edge in read_edges(record.id, path, entry, context.targets):
        if isinstance(edge, Unresolved):
            unresolved += [edge] if edge.rel == "superseded_by" else []
        elif edge.rel == "supersedes" and edge.target == record.id:
            held = context.records.with_id(edge.subject)
            if record.id in context.records.reachable(edge.subject, "superseded_by"):
                written = edge.as_written.removeprefix("superseded_by ")
                unresolved.append(Unresolved("superseded_by", written, (), f"{edge.subject} is itself replaced by it"))
            elif len(held) == 1:
                found[edge.subject] = held[0]
    return Named(tuple(found.values()), tuple(unresolved))


def why_none(named: Named) -> str:
    """Return what is wrong with the names that lead to no record, as a sentence's end; empty where there is none."""
    said = []
    for one in named.unresolved:
        which = f" ({', '.join(one.candidates)})" if one.candidates else ""
        said.append(f"`{one.target}`: {one.why}{which}")
    return f"; its document names {'; '.join(said)}" if said else ""


def changes_for(context: CheckContext, record: Record, data: Mapping[str, object], named: Named) -> Sequence[Change]:
    """Return the changes that write `data` into a record, with its successors at both ends or at neither.

    Nothing where even the record by itself would break its schema.
    """
    other_end = [_written(context, other, _with(other.data, "supersedes", [record.id])) for other in named.records]
    others = [change for change in other_end if change is not None]
    whole = dict(data)
    if len(others) == len(named.records):
        whole = _with(whole, "superseded_by", [other.id for other in named.records])
    else:
        others = []
    whole = _with(whole, UNRESOLVED, [one.as_data() for one in named.unresolved])
    own = _written(context, record, whole)
    if own is None and whole != data:
        own, others = _written(context, record, data), []
    changes = (*others, own) if own is not None else ()
    return changes if any(change.before != change.after for change in changes) else ()


def _with(data: Mapping[str, object], name: str, values: Sequence[object]) -> dict[str, object]:
    """Return the data with values added to one of its lists; the same where there is nothing to add."""
    held = data.get(name)
    known = list(held) if isinstance(held, list) else []
    added = [value for value in values if value not in known]
    return {**data, name: [*known, *added]} if added else dict(data)


def _written(context: CheckContext, record: Record, data: Mapping[str, object]) -> Change | None:
    """Return the change that makes a record's file hold data; None where it breaks the schema or can't be read."""
    text = context.text(record.path)
    if text is None:
        return None
    if data == dict(record.data):
        return Change(record.path, text, text)
    whole = {**data, "updated_at": stamp(context.now)}
    if not record.kind.schema.is_valid(whole):
        return None
    from orbit_registry.text.yaml_edit import rewrite  # brings ruamel, which only a fix needs

    return Change(record.path, text, rewrite(text, whole, order=record.kind.schema.properties))
