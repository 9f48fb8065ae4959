"""`resolve` and `baseline`: a merge repaired, and findings that are accepted for now."""

from orbit_registry.checks.engine import update_baseline
from orbit_registry.doors.answers.answer import Answer
from orbit_registry.doors.answers.call import Call
from orbit_registry.doors.answers.table import operation
from orbit_registry.errors import plural
from orbit_registry.operations.merge.resolve import ResolveReport
from orbit_registry.operations.merge.resolve import resolve as repaired
from orbit_registry.repository.baseline import read_baseline


@operation("resolve", job="Check", writes=True)
def resolve(call: Call, dry_run: bool = False) -> ResolveReport:
    """Repair a merge: numbers, decision logs, votes.

    It works from git's index. If two branches took one number, the record of the default branch
    keeps it. The other one gets a new number, its citations follow, and its old id still resolves.
    Nothing is committed.

    orbit resolve --dry-run

    Args:
        dry_run: Print what would be done; do nothing.
    """
    return repaired(call.registry.refresh(), dry_run=dry_run)


@operation("baseline", job="Check", is_group=True)
def baseline(call: Call) -> None:
    """Record today's findings, so that only new ones fail.

    orbit baseline update
    """


@operation("baseline update", writes=True)
def update(call: Call) -> Answer:
    """Write all present findings into the baseline.

    orbit baseline update && git diff .orbit/baseline.yaml
    """
    workspace = call.workspace
    before = read_baseline(workspace)[0]
    count, changed = update_baseline(workspace)
    after = read_baseline(workspace)[0]
    added = (after - before).total()
    gone = (before - after).total()
    change = f": {added} new, {gone} gone" if changed else ", as before"
    data = {"held": count, "changed": changed, "added": added, "gone": gone}
    text = f"{plural(count, 'finding')} in the baseline{change}"
    return Answer(data, text, ["orbit check --all"])
