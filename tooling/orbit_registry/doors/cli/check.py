"""`orbit check`, `baseline`, `resolve` and the merge driver that git calls."""

from collections.abc import Callable, Sequence
from pathlib import Path

import click

from orbit_registry.checks.check import Announce, all_checks
from orbit_registry.checks.report import FORMATS, render, render_codes, with_codes
from orbit_registry.doors.answers.notes import overlooked_decision_notes
from orbit_registry.doors.cli.output import (
    from_root,
    open_registry,
    print_note,
    print_notes,
)
from orbit_registry.doors.cli.writer import give, say
from orbit_registry.errors import RefusedError, UsageError
from orbit_registry.lifecycle.record_checks import checks_of
from orbit_registry.model.diagnostic import Diagnostic, Severity
from orbit_registry.registry import Registry
from orbit_registry.seams import NO_LOOP, way
from orbit_registry.workspace.journal import FileChange, unified_diff
from orbit_registry.workspace.workspace import ORBIT


@click.command()
@click.argument("paths", nargs=-1)
@click.option(
    "--fix",
    is_flag=True,
    help="Fix what can be fixed, then check; baselined findings only with PATHS or --all.",
)
@click.option("--dry-run", is_flag=True, help="With --fix: print each change; write nothing.")
@click.option(
    "--from",
    "side",
    type=click.Choice(["record", "document"]),
    help="With --fix: which side wins if a decision and its document differ.",
)
@click.option(
    "--against", metavar="REF", help="Compare with a branch: new findings, numbers taken twice."
)
@click.option(
    "--proposed", is_flag=True, help="Run the checks of proposed records too; they give notes."
)
@click.option("--all", "everything", is_flag=True, help="List findings of the baseline too.")
@click.option(
    "--code",
    "codes",
    multiple=True,
    metavar="CODE",
    help="List only findings of this code, all of them.",
)
@click.option("--strict", is_flag=True, help="Fail on warnings too.")
@click.option(
    "--loop",
    "loops",
    is_flag=True,
    help="Check the event log for missing notes, retros and retrievals; read no record.",
)
@click.option(
    "--events",
    type=click.Path(path_type=Path),
    help="The same for a file of events; missing ones are errors.",
)
@click.option(
    "--since",
    "days",
    type=click.IntRange(1, 36_500),
    metavar="DAYS",
    help="With --loop: only this many days.",
)
@click.option(
    "--format",
    "output",
    type=click.Choice(FORMATS),
    default="text",
    show_default=True,
    help="Output format.",
)
@click.pass_context
def check(
    context: click.Context,
    paths: tuple[str, ...],
    fix: bool,
    dry_run: bool,
    side: str | None,
    against: str | None,
    proposed: bool,
    everything: bool,
    codes: tuple[str, ...],
    strict: bool,
    loops: bool,
    events: Path | None,
    days: int | None,
    output: str,
) -> None:
    """Check all records: the gate for CI.

    It finds what is invalid, duplicate or dangling. Exit codes: 0 clean, 1 errors.

    orbit check
    orbit check .orbit/learnings --against origin/main --format github
    orbit check --code ORB401
    orbit check --fix --dry-run
    orbit check --loop && ./next-item.sh
    """
    registry = open_registry()
    _refuse_unknown(registry, codes, of_loop=loops or events is not None)

    if side is not None and not fix:
        raise UsageError("--from is about --fix", hint=f"`orbit check --fix --from {side}`")
    if dry_run and not fix:
        raise UsageError("--dry-run is about --fix", hint="`orbit check --fix --dry-run`")

    if loops or events is not None:
        if paths or fix or against or proposed or everything:
            raise UsageError("--loop checks events only", hint="run `orbit check` for the records")
        check_log = way("check --loop")
        if check_log is None:
            raise UsageError("no check of events is installed", hint=NO_LOOP)

        outcome = check_log(registry.workspace, events, days)
    else:
        if days is not None:
            raise UsageError("--since is about events", hint="`orbit check --loop --since 7`")

        if against is not None:
            _refuse_moved_workspace(registry, against)

        checked = [_existing(registry, path) for path in paths]
        announce = _announcement(output, dry_run=dry_run)
        outcome = registry.check(
            checked,
            against=against,
            fix=side or fix,
            everything=everything,
            announce=announce,
            dry_run=dry_run,
            proposed=proposed,
        )
        if checked and not outcome.diagnostics and not any(map(_holds_record(registry), checked)):
            print_note("no record and no document of one is at these paths")

    if codes:
        part = with_codes(outcome, codes)
        command = "orbit check --all" if everything else "orbit check"
        report = render_codes(output, outcome, part, command)
        outcome = part
    else:
        report = render(output, outcome)

    write = say if output == "text" else give
    write(report, nl=False)
    if output == "text" and not (paths or codes or against or loops or events):
        print_notes(overlooked_decision_notes(registry))

    if not outcome.ok or (
        strict
        and any(diagnostic.severity is Severity.WARNING for diagnostic in outcome.diagnostics)
    ):
        context.exit(1)


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


def _announcement(output: str, *, dry_run: bool) -> Announce:
    def announce(diagnostic: Diagnostic, changes: Sequence[FileChange]) -> None:
        verb = "would fix" if dry_run else "fixing"
        lines = [f"{verb} {diagnostic.location.path}: {diagnostic.code} {diagnostic.message}"]
        lines += [f"new file {change.path}" for change in changes if change.before is None]
        diff = unified_diff(change for change in changes if change.before is not None)
        say("\n".join([*lines, *diff.splitlines()]), err=output != "text")

    return announce


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


def _holds_record(registry: Registry) -> Callable[[str], bool]:
    """Return whether a file or a folder from the root holds a record or a document of one."""
    files: list[str] = []
    for record in registry.collection.records:
        files.append(record.path)
        if record.source is not None:
            files.append(record.source.path)

    def holds(path: str) -> bool:
        folder = path.strip("./")
        return not folder or any(f"{file}/".startswith(f"{folder}/") for file in files)

    return holds


def _existing(registry: Registry, path: str) -> str:
    relative = from_root(registry, path)
    if not (registry.workspace.root / relative).exists():
        raise UsageError(f"{path!r} is not there", hint="name files and folders from where you are")
    return relative


@click.command("merge-driver", hidden=True)
@click.argument("base", type=click.Path(path_type=Path))
@click.argument("ours", type=click.Path(path_type=Path))
@click.argument("theirs", type=click.Path(path_type=Path))
@click.argument("path")
@click.pass_context
def merge_driver(context: click.Context, base: Path, ours: Path, theirs: Path, path: str) -> None:
    """Merge a decision log entry by entry; git calls this with %O %A %B %P."""
    from orbit_registry.operations.merge import (
        texts,
    )  # of the other commands, only `resolve` reads merges

    del path  # git names the file
    context.exit(texts.merge_driver(base, ours, theirs))
