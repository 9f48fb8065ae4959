"""`orbit learning migrate-layout`: learnings of an older layout."""

from pathlib import Path

from orbit_registry.doors.answers.answer import Answer
from orbit_registry.doors.answers.call import Call
from orbit_registry.doors.answers.table import operation


@operation("learning migrate-layout", writes=True)
def migrate_layout(call: Call, dry_run: bool = False) -> Answer:
    """Move learnings of an older layout.

    Flat files (L-0001.yaml, superseded/) and ids with a day (L20260517-3) move to one folder a
    record, in one step. Old ids still resolve. A second run changes nothing.

    orbit learning migrate-layout --dry-run

    Args:
        dry_run: Print what would be moved; move nothing.
    """
    from orbit_import_orbit.importer import migrate_layout as migrate  # the help needs none

    report = migrate(Path.cwd(), dry_run=dry_run)
    return Answer(report.as_data(), report.text(), ["git diff --stat", "orbit check"])
