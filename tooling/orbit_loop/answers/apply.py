"""`apply`: an accepted proposal written into its file."""

from orbit_loop.apply import apply as apply_proposal
from orbit_loop.patch import digest_of
from orbit_loop.proposals import path_of
from orbit_registry.doors.answers.answer import Answer
from orbit_registry.doors.answers.call import Call
from orbit_registry.doors.answers.table import operation
from orbit_registry.doors.render.records import record_data
from orbit_registry.errors import plural


@operation("apply", job="Review", writes=True)
def apply(
    call: Call, any_id: str, dry_run: bool = False, expect: str = "", yes: bool = False
) -> Answer:
    """Write an accepted proposal into its file.

    It writes the whole diff, or nothing if the diff no longer applies or differs from what was
    accepted.

    orbit apply P-7k3fq --dry-run
    orbit apply P-7k3fq --expect 3f0c9a4be21d7780

    Args:
        any_id ID: The proposal.
        dry_run: Print the diff, or why it does not fit; write nothing.
        expect DIGEST: Only if the diff has this digest, which --dry-run prints.
        yes: Do not ask; else a terminal shows the diff first.
    """
    workspace = call.workspace
    author = call.author()
    expected = expect.strip()
    if call.person is not None and not (dry_run or expected or yes):
        record, diff = apply_proposal(workspace, any_id, author, dry_run=True)
        call.person.confirm(diff, f"Put this into {path_of(record)}?")
        expected = digest_of(diff)

    record, diff = apply_proposal(workspace, any_id, author, dry_run=dry_run, expected=expected)
    path = path_of(record)
    digest = digest_of(diff)
    data = {
        "proposal": record_data(record),
        "path": path,
        "diff": diff,
        "digest": digest,
        "applied": not dry_run,
    }

    head = f"{record.id} is {record.status.name} to {path}"
    following = ["git diff", "orbit check"]
    if dry_run:
        head = f"{record.id} would change {path}"
        following = [f"orbit apply {record.id} --expect {digest}"]

    text = f"{head}: {plural(_changed(diff), 'line')}, digest {digest}\n\n{diff}"
    return Answer(data, text.rstrip("\n"), following)


def _changed(diff: str) -> int:
    lines = [line for line in diff.split("\n") if line[:1] in ("+", "-")]
    return sum(line[:3] not in ("+++", "---") for line in lines)
