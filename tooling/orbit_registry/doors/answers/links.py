"""`link`, `unlink` and `supersede`: what ties one record to another."""

from typing import Annotated

from orbit_registry.doors.answers.answer import Answer
from orbit_registry.doors.answers.arguments import TOOL, FieldValues, Form
from orbit_registry.doors.answers.call import Call
from orbit_registry.doors.answers.kinds import is_superseded
from orbit_registry.doors.answers.proposing import propose_link, propose_successor
from orbit_registry.doors.answers.table import operation
from orbit_registry.doors.render.records import MOST_LINES, record_data
from orbit_registry.errors import UsageError
from orbit_registry.model.ids import Link
from orbit_registry.model.record import Record
from orbit_registry.operations import links
from orbit_registry.registry import Registry
from orbit_registry.search.source_files import SourceFiles


@operation("link", job="Write", tool="link", writes=True)
def link(
    call: Call,
    subject: str,
    rel: str,
    to: Annotated[str, Form(over_mcp="to")],
    reason: str = "",
) -> Answer:
    """Link two records.

    REL is amends, extends, derived_from, has_script, has_doc, proves, contradicts, overrides,
    related_to, implements, resolves or references. A word that reads from the other end
    (amended_by) is written there.

    orbit link ADR-0012 amends ADR-0007
    orbit link ADR-0007 amended_by ADR-0012        # the same
    orbit link RES-7k3fq proves R-9x2ab            # a script that enforces a rule
    orbit link ADR-0012 overrides org:ADR-0007 --reason "needs graph queries"

    Args:
        subject ID: The record that states the link.
        rel REL: How the two are related.
        to OTHER: The record that it leads to.
        reason TEXT: Why; `overrides` needs it.
    """
    if call.caller is not None:
        return propose_link(call, subject, rel, to)

    records, author = call.registry.collection.records, call.author()
    edge = links.link(call.workspace, records, subject, rel, to, author, reason.strip())
    return _linked(*edge, "")


@operation("unlink", job="Write", line="Remove a link between two records.", writes=True)
def unlink(call: Call, subject: str, rel: str, to: str) -> Answer:
    """Remove a link that a record states.

    orbit unlink ADR-0012 amends ADR-0007

    Args:
        subject ID: The record that states the link.
        rel REL: How the two are related.
        to OTHER: The record that it leads to, or a name that no record has.
    """
    records = call.registry.collection.records
    edge = links.unlink(call.workspace, records, subject, rel, to, call.author())
    return _linked(*edge, "no longer: ")


def _linked(record: Record, edge: Link, before: str) -> Answer:
    data = {"id": record.id, "rel": edge.rel, "to": edge.to, "path": record.path}
    text = [f"{before}{record.id} {edge.rel} {edge.to}", f"  {record.path}"]
    return Answer(data, text, [f"orbit related {record.id}", "orbit check"])


@operation("supersede", is_command=False, of_kind=is_superseded, tool="supersede", writes=True)
def supersede(
    call: Call,
    old_id: Annotated[str, Form(over_mcp="id")],
    new_id: str | None = None,
    replacement: Annotated[str, Form(over_mcp="by")] | None = None,
    dry_run: bool = False,
    fields: Annotated[FieldValues, TOOL] | None = None,
    confirm: Annotated[bool, TOOL] = False,
    distinct_from: Annotated[tuple[str, ...], TOOL] = (),
) -> Answer:
    """Replace a record by another.

    Both records are written, or neither.

    orbit adr supersede OLD --with NEW

    Args:
        old_id OLD: The record that is replaced.
        new_id [NEW]: The record that replaces it.
        replacement --with NEW: The record that replaces it.
        dry_run: Print what would change; change nothing.
        fields: In place of another record: the fields of a new one.
        confirm: Write it; else the nearest records are shown.
        distinct_from: Records that look like the new one but differ.

    Of a kind:
        Replace {a_kind} by another.

        Both records are written, or neither.

        orbit {kind} supersede OLD --with NEW
    """
    if call.caller is not None:
        new_fields, by = fields or {}, replacement or ""
        return propose_successor(call, old_id, by, new_fields, confirm, distinct_from)
    if new_id is None and replacement is None:
        kind = "KIND" if call.kind is None else call.kind.name
        raise UsageError(
            f"which record replaces {old_id}", hint=f"`orbit {kind} supersede {old_id} --with NEW`"
        )
    if new_id is not None and replacement is not None:
        message = f"both {new_id!r} and {replacement!r} are named to replace {old_id}"
        raise UsageError(message, hint="name one of them")

    registry, successor = call.registry, str(replacement if new_id is None else new_id)
    call.of_kind(old_id)
    before = registry.get(old_id)
    old, new = registry.supersede(old_id, successor, dry_run=dry_run)
    text = [f"{old.id} {'would be' if dry_run else 'is'} superseded by {new.id}"]
    if before.data == old.data:
        text = [f"{old.id} is already superseded by {new.id}"]
    else:
        document = [old.source.path] if old.kind.in_document and old.source else []
        text += [f"  {path}" for path in (*document, old.path, new.path)]

    data = record_data(old)
    cited = _cited_in_code(registry, old)
    if cited:
        text.append(f"code cites {old.id}; cite {new.id} where it follows that:")
        data["cited_in"] = [{"path": path, "line": number} for path, number, _ in cited]

    text += [f"  {path}:{number}: {name}" for path, number, name in cited[:MOST_LINES]]
    if len(cited) > MOST_LINES:
        text.append(f"  and {len(cited) - MOST_LINES} more: `orbit check` lists them")

    return Answer([data, record_data(new)], text)


def _cited_in_code(registry: Registry, record: Record) -> list[tuple[str, int, str]]:
    """Return path, line and name of each place in tracked code that cites a record."""
    workspace = registry.workspace
    sources = SourceFiles(workspace, [*registry.collection.records], workspace.git.tracked() or ())
    cited: list[tuple[str, int, str]] = []
    for path, line, _, name, *_ in sources.citations():
        target = sources.find(name)
        if target is not None and target.path == record.path:
            cited.append((path, line, name))

    return cited
