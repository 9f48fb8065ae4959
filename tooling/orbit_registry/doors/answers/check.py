"""`check`: the gate."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal

from orbit_registry.checks.check import all_checks
from orbit_registry.checks.engine import CheckOutcome
from orbit_registry.checks.report import (
    FORMATS,
    counts,
    next_commands,
    render,
    render_codes,
    with_codes,
)
from orbit_registry.doors.answers.answer import Answer
from orbit_registry.doors.answers.arguments import Form
from orbit_registry.doors.answers.call import Call, note
from orbit_registry.doors.answers.notes import overlooked_of_check
from orbit_registry.doors.answers.table import operation
from orbit_registry.errors import RefusedError, UsageError
from orbit_registry.lifecycle.record_checks import checks_of
from orbit_registry.model.diagnostic import Diagnostic, Severity
from orbit_registry.registry import Registry
from orbit_registry.seams import NO_LOOP, way
from orbit_registry.workspace.journal import FileChange, unified_diff
from orbit_registry.workspace.workspace import ORBIT


@operation(
    "check",
    line="Check all records: the gate for CI.",
    writes=True,
    formats=("text", "json", *FORMATS),
)
def check(
    call: Call,
    paths: tuple[str, ...] = (),
    fix: bool = False,
    dry_run: bool = False,
    side: Literal["record", "document"] | None = None,
    against: str | None = None,
    proposed: bool = False,
    everything: bool = False,
    codes: tuple[str, ...] = (),
    strict: bool = False,
    loops: bool = False,
    events: Annotated[Path, Form(dir_okay=False)] | None = None,
    days: Annotated[int, Form(minimum=1, maximum=36_500)] | None = None,
) -> Answer:
    """Check all records: the gate for CI.

    It finds what is invalid, duplicate or dangling. Exit codes: 0 clean, 1 errors.

    orbit check
    orbit check .orbit/learnings --against origin/main --format github
    orbit check --code ORB401
    orbit check --fix --dry-run
    orbit check --loop && ./next-item.sh

    Args:
        paths [PATHS]...: Files and folders to check; else all.
        fix: Fix what can be fixed, then check; baselined findings only with PATHS or --all.
        dry_run: With --fix: print each change; write nothing.
        side --from: With --fix: which side wins if a decision and its document differ.
        against REF: Compare with a branch: new findings, numbers taken twice.
        proposed: Run the checks of proposed records too; they give notes.
        everything --all: List findings of the baseline too.
        codes CODE: List only findings of this code, all of them.
        strict: Fail on warnings too.
        loops --loop: Check the event log for missing notes, retros and retrievals; read no record.
        events PATH: The same for a file of events; missing ones are errors.
        days --since DAYS: With --loop: only this many days.
    """
    registry = call.registry
    of_loop = loops or events is not None
    _refuse_unknown(registry, codes, of_loop=of_loop)

    if side is not None and not fix:
        raise UsageError("--from is about --fix", hint=f"`orbit check --fix --from {side}`")
    if dry_run and not fix:
        raise UsageError("--dry-run is about --fix", hint="`orbit check --fix --dry-run`")
    if of_loop and (paths or fix or against or proposed or everything):
        raise UsageError("--loop checks events only", hint="run `orbit check` for the records")
    if days is not None and not of_loop:
        raise UsageError("--since is about events", hint="`orbit check --loop --since 7`")

    if of_loop:
        outcome = _of_events(registry, events, days)
        return _answer(call, outcome, codes, everything=everything, strict=strict)

    if against is not None:
        _refuse_moved_workspace(registry, against)

    changes: list[str] = []

    def announce(diagnostic: Diagnostic, of_fix: Sequence[FileChange]) -> None:
        changes.extend(_fix_lines(diagnostic, of_fix, "would fix" if dry_run else "fixing"))

    checked = [_existing(call, path) for path in paths]
    outcome = registry.check(
        checked,
        against=against,
        fix=side or fix,
        everything=everything,
        announce=announce,
        dry_run=dry_run,
        proposed=proposed,
    )

    answer = _answer(call, outcome, codes, everything=everything, strict=strict, changes=changes)
    notes = [*answer.notes]
    if checked and not outcome.diagnostics and not _holds_record(registry, checked):
        notes.append(note("no record and no document of one is at these paths"))
    if call.form == "text" and not (paths or codes or against):
        notes += overlooked_of_check(registry)

    return replace(answer, notes=notes)


def _of_events(registry: Registry, events: Path | None, days: int | None) -> CheckOutcome:
    check_log = way("check --loop")
    if check_log is None:
        raise UsageError("no check of events is installed", hint=NO_LOOP)

    outcome: CheckOutcome = check_log(registry.workspace, events, days)
    return outcome


def _answer(
    call: Call,
    outcome: CheckOutcome,
    codes: Sequence[str],
    *,
    everything: bool,
    strict: bool,
    changes: Sequence[str] = (),
) -> Answer:
    """Return the answer of a check: all findings, or those of some codes.

    A report for another program is nothing but that: what was fixed goes next to it.
    """
    form = "text" if call.form == "json" else call.form
    report = render(form, outcome)
    if codes:
        part = with_codes(outcome, codes)
        command = "orbit check --all" if everything else "orbit check"
        report = render_codes(form, outcome, part, command)
        outcome = part

    text, notes = [report], [*changes]
    if call.form == "text":
        text, notes = [*changes, report.removesuffix("\n")], []

    warned = any(each.severity is Severity.WARNING for each in outcome.diagnostics)
    return Answer(
        counts(outcome),
        text,
        next_commands(outcome),
        notes,
        diagnostics=outcome.diagnostics,
        ok=outcome.ok and not (strict and warned),
    )


def _fix_lines(diagnostic: Diagnostic, changes: Sequence[FileChange], verb: str) -> list[str]:
    lines = [f"{verb} {diagnostic.location.path}: {diagnostic.code} {diagnostic.message}"]
    lines += [f"new file {change.path}" for change in changes if change.before is None]
    diff = unified_diff(change for change in changes if change.before is not None)
    return [*lines, *diff.splitlines()]


def _refuse_moved_workspace(registry: Registry, against: str) -> None:
    """Raise where the base has the records of this folder in another place: a change that moves
    them, or puts others nearer, does not choose what it is judged by.
    """
    git = registry.workspace.git
    base = git.merge_base(against)
    if base is None or git.top is None:
        return

    here = Path.cwd().resolve()
    folders = [folder for folder in (here, *here.parents) if folder.is_relative_to(git.top)]
    for folder in folders:
        prefix = folder.relative_to(git.top).as_posix()
        name = f"{'' if prefix == '.' else f'{prefix}/'}{ORBIT}/config.yaml"
        if git.ask("cat-file", "-t", f"{base}:{name}") != "blob":
            continue
        if folder == registry.workspace.root.resolve():
            return

        raise RefusedError(
            f"this change moves the records of this folder: at its base they are in {name}; "
            "nothing was checked",
            hint=f"leave {name} where it is, or let an administrator merge the move",
        )


def _refuse_unknown(registry: Registry, codes: tuple[str, ...], *, of_loop: bool) -> None:
    names = {check.code for check in all_checks()} if codes else set()
    if any("/" in code for code in codes):
        names |= {check.name.upper() for check in checks_of(registry.collection.records)}

    for code in codes:
        if code.upper() not in names:
            hint = "docs/reference/checks/index.md in Orbit's documentation lists the codes"
            raise UsageError(f"no finding has the code {code!r}", hint=hint)

        if (len(code) == 6 and code.upper().startswith("ORB9")) is not of_loop:
            option, subject = ("", "records") if of_loop else (" --loop", "the event log")
            raise UsageError(
                f"{code.upper()} is a check of {subject}",
                hint=f"`orbit check{option} --code {code}`",
            )


def _holds_record(registry: Registry, paths: Sequence[str]) -> bool:
    """Return whether one of some files and folders from the root has a record or a document."""
    files: list[str] = []
    for record in registry.collection.records:
        files.append(record.path)
        if record.source is not None:
            files.append(record.source.path)

    folders = [path.strip("./") for path in paths]
    if "" in folders:
        return True

    starts = tuple(f"{folder}/" for folder in folders)
    return any(f"{file}/".startswith(starts) for file in files)


def _existing(call: Call, path: str) -> str:
    relative = call.path(path)
    if not (call.workspace.root / relative).exists():
        raise UsageError(f"{path!r} is not there", hint="name files and folders from where you are")
    return relative
