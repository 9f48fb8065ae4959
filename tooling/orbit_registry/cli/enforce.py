"""`orbit enforce`: trying the checks that records state, replaying them,
and raising their level.
"""

import click

from orbit_registry.checks.report import diagnostic_lines
from orbit_registry.cli.output import emit, format_option, from_root, open_registry
from orbit_registry.errors import UsageError, plural

SHOWN = 20


@click.group(no_args_is_help=True)
def group() -> None:
    """Try, replay and promote the checks that records state.

    orbit enforce try ADR-0042
    orbit enforce replay ADR-0042/no-mysql
    orbit enforce promote ADR-0042/no-mysql
    """


@group.command("try")
@click.argument("name", metavar="[ID[/CHECK]]", default="")
@click.option(
    "--file", "file", metavar="FILE", help="A YAML file with `checks:`, in place of a record."
)
@format_option
def try_check(name: str, file: str | None, output: str) -> None:
    """Run a record's checks over the whole tree.

    It verifies their examples first, reads no baseline, and runs the checks of proposed records
    too. Nothing is written.

    orbit enforce try ADR-0042
    orbit enforce try ADR-0042/no-mysql --format json
    orbit enforce try --file draft.yaml
    """
    if bool(name) == bool(file):
        raise UsageError(
            "name a record or a file with checks",
            hint="`orbit enforce try ADR-0042`, or `--file checks.yaml`",
        )

    registry = open_registry()
    trial = registry.try_checks(name, from_root(registry, file) if file else None)
    findings = [row for row in trial.diagnostics if row.check and row.allowed is None]
    allowed = [row for row in trial.diagnostics if row.allowed is not None]
    problems = [row for row in trial.diagnostics if not row.check]
    lines = [line for row in (*problems, *findings[:SHOWN]) for line in diagnostic_lines(row)]

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
    emit(output, data, "\n".join(lines), diagnostics=[*problems, *findings], ok=not problems)


@group.command("replay")
@click.argument("name", metavar="ID/CHECK")
@click.option(
    "--max",
    "most",
    type=click.IntRange(1, 100_000),
    default=2_000,
    show_default=True,
    help="Commits at most.",
)
@click.option(
    "--since",
    default="",
    metavar="DATE",
    help="Only later commits; the decision's date if not given.",
)
@format_option
def replay(name: str, most: int, since: str, output: str) -> None:
    """Replay a check over the history.

    It counts what the check would have found in each commit, and what became of that. The result is
    written to .orbit/enforcement.yaml.

    orbit enforce replay ADR-0042/no-mysql
    orbit enforce replay ADR-0042/no-mysql --since 2025-01-01 --max 10000
    """
    result = open_registry().replay_check(name, most, since)
    introduced = plural(len(result.introductions), "match was", "matches were")
    lines = [
        (
            f"{plural(result.commits, 'commit')} replayed, {result.relevant} changed a file of "
            f"{result.check}"
        ),
        f"{introduced} introduced: {result.count('edited away')} edited away, "
        f"{result.count('deleted')} deleted with "
        f"the file, {result.count('kept')} kept",
    ]
    lines += [
        f"    {row.key}  {row.commit[:9]} {row.path}: {row.text}" for row in result.kept[:SHOWN]
    ]
    emit(
        output,
        result.as_data(),
        "\n".join(lines),
        next_commands=[f"orbit enforce promote {result.check}"],
    )


@group.command("label", hidden=True)
@click.argument("name", metavar="ID/CHECK")
@click.argument("key")
@click.argument("verdict", type=click.Choice(["true", "false"]))
@format_option
def label(name: str, key: str, verdict: str, output: str) -> None:
    """Do nothing: labels no longer decide on a level.

    orbit enforce label ADR-0042/no-mysql 1f0c9a3e false
    """
    emit(
        output,
        {"check": name, "key": key, "true": verdict == "true"},
        "labels no longer do anything: a person sets the level of a check",
        next_commands=[f"orbit enforce promote {name}"],
    )


@group.command("promote")
@click.argument("name", metavar="ID/CHECK")
@format_option
def promote(name: str, output: str) -> None:
    """Raise a check's level by one: advice, warning, error.

    A person decides. `orbit enforce replay` says what the check would have found.

    orbit enforce promote ADR-0042/no-mysql
    """
    level = open_registry().promote_check(name)
    emit(
        output,
        {"check": name, "level": level},
        f"{name} has level {level} now",
        next_commands=["git diff .orbit"],
    )
