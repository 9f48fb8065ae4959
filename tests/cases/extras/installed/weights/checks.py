"""A check of the gate."""

from orbit_registry.checks.check import check
from orbit_registry.model.diagnostic import Severity


@check("ORB198", Severity.WARNING, "say it in fewer words")
def too_heavy(context):
    """A title is too heavy."""
    for record in context.records:
        if len(record.title) > 40:
            where = context.at(record, record.kind.headline)
            yield too_heavy.at(where, f"{record.id} is too heavy", record=record)
