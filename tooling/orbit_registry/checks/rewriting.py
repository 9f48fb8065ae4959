"""Changes of records' files that fixes make."""

from collections.abc import Mapping, Sequence

from orbit_registry.checks.context import CheckContext
from orbit_registry.errors import OrbitError
from orbit_registry.model.diagnostic import Diagnostic
from orbit_registry.model.record import Record
from orbit_registry.workspace.journal import FileChange


def rewritten(
    context: CheckContext, record: Record, data: Mapping[str, object], *, touch: bool = True
) -> FileChange | None:
    """Return the change that makes a record's file hold data, with the time if `touch`;
    None where that is refused or can't be done.
    """
    from orbit_registry.repository.writer import prepare_edit  # brings ruamel, as only a fix does

    try:
        return prepare_edit(context.workspace, record, lambda _: data, touch=touch)[0]
    except OrbitError:
        return None


def follow_moves(context: CheckContext, diagnostic: Diagnostic) -> Sequence[FileChange]:
    """Write the new names of all files that a record names and that git saw move."""
    from orbit_registry.operations.freshness.renames import with_moves

    for record in context.records.with_id(diagnostic.record or ""):
        moves = context.moves.get(record.path, ())
        if record.path != diagnostic.location.path or not moves:
            continue

        # `updated_at` stays, because nothing was reviewed.
        change = rewritten(context, record, with_moves(record.data, moves), touch=False)
        if change is not None and change.before != change.after:
            return (change,)

    return ()


def move_hint(context: CheckContext, record: Record, name: str) -> str | None:
    """Return what to do about a name that git saw move; None where it has no new name."""
    move = context.move_of(record, name)
    if move is None or move.new is None:
        return None

    return f"git saw it move to `{move.new}`: `orbit check --fix` follows it"
