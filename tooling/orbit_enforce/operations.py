"""`orbit enforce`: trying the checks that records state, replaying them,
and raising their level.
"""

from itertools import chain
from typing import Annotated

from orbit_enforce.enforce import record_of_file, try_checks
from orbit_enforce.levels import promote as raise_level
from orbit_enforce.replay import replay_check
from orbit_enforce.spec import DecisionCheck, check_named
from orbit_registry.checks.lines import diagnostic_lines
from orbit_registry.doors.answers.answer import Answer
from orbit_registry.doors.answers.arguments import Form
from orbit_registry.doors.answers.call import Call
from orbit_registry.doors.answers.table import operation
from orbit_registry.doors.render.blocks import Block
from orbit_registry.errors import UsageError, plural

SHOWN = 20


@operation(
    "enforce",
    job="Check",
    line="Try, replay and promote the checks of records.",
    is_group=True,
)
def group(call: Call) -> None:
    """Try, replay and promote the checks that records state.

    orbit enforce try ADR-0042
    orbit enforce replay ADR-0042/no-mysql
    orbit enforce promote ADR-0042/no-mysql
    """


def _parts(name: str) -> tuple[str, str]:
    """Return the id of a record and that of its check, which may be empty: `ADR-0042/no-mysql`."""
    any_id, slash, check_id = name.rpartition("/")
    if slash:
        return (any_id, check_id)

    return (name, "")


def _check_of(call: Call, name: str) -> DecisionCheck:
    any_id, check_id = _parts(name)
    return check_named(call.registry.collection.records.get(any_id), check_id)


@operation("enforce try")
def try_check(call: Call, name: str = "", file: str | None = None) -> Answer:
    """Run a record's checks over the whole tree.

    It verifies their examples first, reads no baseline, and runs the checks of proposed records
    too. Nothing is written.

    orbit enforce try ADR-0042
    orbit enforce try ADR-0042/no-mysql --format json
    orbit enforce try --file draft.yaml

    Args:
        name [ID[/CHECK]]: The record, or one check of it.
        file FILE: A YAML file with `checks:`, in place of a record.
    """
    if bool(name) == (file is not None):
        raise UsageError(
            "name a record or a file with checks",
            hint="`orbit enforce try ADR-0042`, or `--file checks.yaml`",
        )

    registry = call.registry
    any_id, check_id = _parts(name)
    if file is not None:
        record = record_of_file(registry.workspace, call.file(file))
    else:
        record = registry.collection.records.get(any_id)

    trial = try_checks(registry.workspace, record, check_id)
    findings = [row for row in trial.diagnostics if row.check and row.allowed is None]
    allowed = [row for row in trial.diagnostics if row.allowed is not None]
    problems = [row for row in trial.diagnostics if not row.check]
    shown = map(diagnostic_lines, (*problems, *findings[:SHOWN]))
    lines: list[Block] = [*chain.from_iterable(shown)]

    if len(findings) > SHOWN:
        lines.append(f"    … and {len(findings) - SHOWN:,} more: `--format json`")

    counts = (
        f"{plural(len(findings), 'match', 'matches')}, {len(allowed)} allowed, "
        f"{plural(len(problems), 'problem')}"
    )
    lines.append(f"{plural(len(trial.names), 'check')} of {name or file}: {counts}")
    data = {
        "checks": list(trial.names),
        "matches": len(findings),
        "allowed": len(allowed),
        "problems": len(problems),
    }
    return Answer(data, lines, diagnostics=[*problems, *findings], ok=not problems)


@operation("enforce replay")
def replay(
    call: Call,
    name: str,
    most: Annotated[int, Form(minimum=1, maximum=100000)] = 2_000,
    since: str = "",
) -> Answer:
    """Replay a check over the history.

    It counts what the check would have found in each commit, and what became of that: from this a
    person decides on its level. Nothing is written.

    orbit enforce replay ADR-0042/no-mysql
    orbit enforce replay ADR-0042/no-mysql --since 2025-01-01 --max 10000

    Args:
        name ID/CHECK: The check.
        most --max: Commits at most.
        since DATE: Only later commits; the decision's date if not given.
    """
    result = replay_check(call.registry.workspace, _check_of(call, name), most, since)
    introduced = plural(len(result.introductions), "match was", "matches were")
    ends = f"{result.count('edited away')} edited away, {result.count('deleted')} deleted"
    replayed = plural(result.commits, "commit")
    lines: list[Block] = [
        f"{replayed} replayed, {result.relevant} changed a file of {result.check}",
        f"{introduced} introduced: {ends} with the file, {result.count('kept')} kept",
    ]
    for row in result.kept[:SHOWN]:
        lines.append(f"    {row.commit[:9]}  {row.path}: {row.text}")

    return Answer(result.as_data(), lines, [f"orbit enforce promote {result.check}"])


@operation("enforce label", is_hidden=True)
def label(
    call: Call, name: str, key: str, verdict: Annotated[str, Form(enum=("true", "false"))]
) -> Answer:
    """Do nothing: labels no longer decide on a level.

    orbit enforce label ADR-0042/no-mysql 1f0c9a3e false

    Args:
        name ID/CHECK: The check.
        key KEY: The match.
        verdict [true|false]: Whether it was right.
    """
    return Answer(
        {"check": name, "key": key, "true": verdict == "true"},
        "labels no longer do anything: a person sets the level of a check",
        [f"orbit enforce promote {name}"],
    )


@operation("enforce promote", writes=True)
def promote(call: Call, name: str) -> Answer:
    """Raise a check's level by one: advice, warning, error.

    A person decides. `orbit enforce replay` says what the check would have found.

    orbit enforce promote ADR-0042/no-mysql

    Args:
        name ID/CHECK: The check.
    """
    registry = call.registry
    level = raise_level(registry.workspace, _check_of(call, name), registry.author())
    registry.refresh()
    return Answer(
        {"check": name, "level": level}, f"{name} has level {level} now", ["git diff .orbit"]
    )
