"""`vote`: a record that helped."""

import shlex

from orbit_registry.doors.answers.call import Call
from orbit_registry.doors.answers.kinds import is_voted
from orbit_registry.doors.answers.table import operation
from orbit_registry.errors import UsageError
from orbit_registry.operations import votes


@operation("vote", job="Review", of_kind=is_voted, tool="vote", writes=True)
def vote(call: Call, any_id: str, task: str, model: str | None = None) -> votes.VoteResult:
    """Vote for a record that helped in a task.

    The same voter counts once a task. Agents get the records with the most votes first.

    orbit vote L-7k3fq --task TASK-12

    Args:
        any_id ID: A record's id, or an earlier name of it.
        task --task: The task in which it helped.
        model: Who votes; you if not given.

    Of a kind:
        Vote for {a_kind} that helped in a task.

        The same voter counts once a task.

        orbit {kind} vote {id} --task TASK-12
    """
    call.of_kind(any_id, shlex.join(["orbit", "vote", any_id, "--task", task]))
    if {"\n", "\r"} & {*task, *(model or "")}:
        raise UsageError("a task and a model are one line each", hint='for example "TASK-12"')

    return votes.vote(call.workspace, any_id, task, call.author(model))
