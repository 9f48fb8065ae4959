"""Finds what records name and that is not there, and asks git where it went; what is written, the store writes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from orbit_registry.checks.derivation import Standing, standing
from orbit_registry.records.freshness import inputs_of, made
from orbit_registry.records.record import Record
from orbit_registry.store.freshness.relocation import Lost, Relocation, plan, relocate, renames_since
from orbit_registry.store.workspace import Workspace


def follow_renames(workspace: Workspace, records: Sequence[Record], *, write: bool) -> Relocation:
    """Return where git saw go, since the records were made, what they name; `write` puts the new names into them.

    Raises:
        RefusedError: an agent would change a record that holds; nothing was written.
    """
    found = standing(workspace, records)
    lost = lost_names(records, found)
    if not lost:
        return Relocation()
    renames = renames_since(workspace.git, min(made(one.record) for one in lost), found.files)
    return (relocate if write else plan)(workspace, lost, renames)


def lost_names(records: Iterable[Record], found: Standing) -> list[Lost]:
    """Return what records that wait or hold name and that is not there: globs, inputs, files of their evidence."""
    lost: list[Lost] = []
    for record in records:
        if record.phase == "closed":
            continue
        globs = found.dead.get(record.path, ())
        seen = found.sight.inputs
        inputs = tuple(one.input for one in inputs_of(record) if one.input in seen and seen[one.input].is_missing)
        files = tuple(
            reference for kind, reference in record.evidence if kind == "file" and (kind, reference) in found.sight.gone
        )
        if globs or inputs or files:
            lost.append(Lost(record, globs, inputs, files))
    return lost
