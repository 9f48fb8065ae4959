"""`orbit enforce`: trying the checks that records state."""

import click

from orbit_registry.checks.report import diagnostic_lines
from orbit_registry.cli.output import emit, format_option, from_root, open_registry, plural
from orbit_registry.errors import UsageError

SHOWN = 20


@click.group(no_args_is_help=True)
def group() -> None:
    """Try the checks that records state.

    \b
    orbit enforce try ADR-0042
    """


@group.command("try")
@click.argument("name", metavar="[ID[/CHECK]]", default="")
@click.option("--file", "file", metavar="FILE", help="A YAML file with `checks:`, in place of a record.")
@format_option
def try_check(name: str, file: str | None, output: str) -> None:
    """Run a record's checks over the whole tree.

    It verifies their examples first, reads no baseline, and runs the checks of proposed records too. Nothing is
    written.

    \b
    orbit enforce try ADR-0042
    orbit enforce try ADR-0042/no-mysql --format json
    orbit enforce try --file draft.yaml
    """
    if bool(name) == bool(file):
        raise UsageError(
            "name a record or a file with checks", hint="`orbit enforce try ADR-0042`, or `--file checks.yaml`"
        )
    registry = open_registry()
    trial = registry.try_checks(name, from_root(registry, file) if file else None)
    findings = [row for row in trial.diagnostics if row.check and row.allowed is None]
    allowed = [row for row in trial.diagnostics if row.allowed is not None]
    problems = [row for row in trial.diagnostics if not row.check]
    lines = [line for row in (*problems, *findings[:SHOWN]) for line in diagnostic_lines(row)]
    if len(findings) > SHOWN:
        lines.append(f"    … and {len(findings) - SHOWN:,} more: `--format json`")
    counts = f"{plural(len(findings), 'match', 'matches')}, {len(allowed)} allowed, {plural(len(problems), 'problem')}"
    lines.append(f"{plural(len(trial.names), 'check')} of {name or file}: {counts}")
    data = {"checks": list(trial.names), "matches": len(findings), "allowed": len(allowed), "problems": len(problems)}
    emit(output, data, "\n".join(lines), diagnostics=[*problems, *findings], ok=not problems)
