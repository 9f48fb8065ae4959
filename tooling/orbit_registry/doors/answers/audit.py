"""`orbit audit`: what the history decided and no record explains."""

from orbit_registry.doors.answers.answer import Answer
from orbit_registry.doors.answers.arguments import Count
from orbit_registry.doors.answers.call import Call
from orbit_registry.doors.answers.table import operation
from orbit_registry.doors.render.changes import audit_text
from orbit_registry.lifecycle.audit import MOST_COMMITS
from orbit_registry.lifecycle.audit import audit as audited


@operation("audit", job="Check")
def audit(call: Call, commits: Count = MOST_COMMITS) -> Answer:
    """List what the history decided and no record explains.

    It reads the commits of the branch that is checked out, the first parents alone: a merge is one
    step. It lists at most 25 things that look like a decision, are there still, and are named by no
    record: the strongest first, each with its commits and the command that starts the record. It
    writes nothing.

    orbit audit
    orbit audit --commits 1000 --format json

    Args:
        commits: Read only the newest ones.
    """
    registry = call.registry
    with call.progress() as show:
        report = audited(registry.workspace, commits, lambda done, of: show("commits", done, of))

    return Answer(report.as_data(), audit_text(report))
