"""Fixes of one round, each as one recoverable step under the write lock."""

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from datetime import UTC, datetime

from orbit_registry.checks.check import Announce, check_of, run_checks
from orbit_registry.checks.context import load_context
from orbit_registry.checks.inputs import collect_inputs
from orbit_registry.errors import RefusedError
from orbit_registry.model.diagnostic import Diagnostic
from orbit_registry.operations.adoption import Order, backfill, plan, read
from orbit_registry.repository.guard import refuse_for_agent, refuse_unmerged, write_step
from orbit_registry.repository.writer import writing
from orbit_registry.workspace.journal import FileChange
from orbit_registry.workspace.workspace import Workspace

UNRECORDED, UNFINISHED = "ORB702", "ORB706"
"""Findings without a fix function: adoption makes records for entries,
the next writer ends unfinished steps.
"""


@dataclass(slots=True)
class AppliedFixes:
    """Findings that a round fixed, and those that it left to a person, with the reason."""

    done: list[Diagnostic] = field(default_factory=list)
    refused: dict[Diagnostic, str] = field(default_factory=dict)


def apply_fixes(
    workspace: Workspace,
    diagnostics: Sequence[Diagnostic],
    against: str | None,
    is_selected: Callable[[Diagnostic], bool],
    authority: str | None,
    announce: Announce,
    *,
    dry_run: bool,
) -> AppliedFixes:
    """Fix what can be, one fix a file and round;
    `authority` decides where record and document differ.
    """
    applied = AppliedFixes()
    for diagnostic in diagnostics:
        if diagnostic.code == UNFINISHED and is_selected(diagnostic):
            announce(diagnostic, ())
            applied.done.append(diagnostic)

    with nullcontext() if dry_run else writing(workspace):  # which ends every unfinished step
        inputs = collect_inputs(workspace, against, datetime.now(UTC))
        context = load_context(inputs, authority=authority)
        fixable = [
            diagnostic
            for diagnostic in run_checks(context)
            if diagnostic.fixable and is_selected(diagnostic)
        ]

        touched: set[str] = set()
        for diagnostic in fixable:
            check = check_of(diagnostic.code)
            if check is None or check.fix is None:
                continue

            changes = check.fix(context, diagnostic)
            if not changes or touched & {change.path for change in changes}:
                continue

            refusal = _refusal(workspace, changes)
            if refusal:
                applied.refused[diagnostic] = refusal
                continue

            announce(diagnostic, changes)
            try:
                if not dry_run:
                    write_step(workspace, f"fix-{diagnostic.code.lower()}", changes)
                    touched |= {change.path for change in changes}

                applied.done.append(diagnostic)
            except RefusedError as error:
                applied.refused[diagnostic] = f"{error.message}; {error.hint}"

    unrecorded = [diagnostic for diagnostic in fixable if diagnostic.code == UNRECORDED]
    if unrecorded:
        _adopt(workspace, unrecorded, applied, announce, dry_run=dry_run)

    return applied


def _refusal(workspace: Workspace, changes: Sequence[FileChange]) -> str:
    """Return why a fix must not be made, before it is announced; empty where it may be."""
    try:
        refuse_unmerged(workspace, changes)
    except RefusedError as error:
        return f"{error.message}; {error.hint}, then `orbit check --fix`"

    try:
        refuse_for_agent(workspace, changes)
    except RefusedError as error:
        return f"{error.message}; a person runs `orbit check --fix`"

    return ""


def _adopt(
    workspace: Workspace,
    unrecorded: Sequence[Diagnostic],
    applied: AppliedFixes,
    announce: Announce,
    *,
    dry_run: bool,
) -> None:
    paths = sorted({diagnostic.location.path for diagnostic in unrecorded})
    order = Order(by_name=paths, dry_run=True)
    reading = read(workspace, paths, order.on_step)
    changes = plan(workspace, reading, order, take_numbers=False).changes
    try:
        refuse_for_agent(workspace, changes)
        for diagnostic in unrecorded:
            announce(diagnostic, changes if diagnostic is unrecorded[-1] else ())
        is_adopted = not dry_run and any(
            outcome.what == "taken" for outcome in backfill(workspace, paths).outcomes
        )
    except RefusedError as error:
        applied.refused |= dict.fromkeys(unrecorded, f"{error.message}; {error.hint}")
        return

    if is_adopted:
        applied.done += unrecorded
