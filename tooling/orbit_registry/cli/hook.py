"""`orbit hook`: lets a coding agent ask for records by itself, or no longer; it changes settings files alone."""

from __future__ import annotations

import click

from orbit_registry.cli.kind import open_registry
from orbit_registry.cli.output import emit, format_option
from orbit_registry.errors import RefusedError

AGENT = click.argument("agent", type=click.Choice(["claude"]))
SCOPE = click.option(
    "--scope",
    type=click.Choice(["local", "project", "user"]),
    default="local",
    show_default=True,
    help="local: your own in this project, not committed; project: everybody's, committed; user: yours everywhere.",
)
DRY_RUN = click.option("--dry-run", is_flag=True, help="Say what would be written, write nothing.")


@click.group()
def group() -> None:
    """Hooks of coding agents: show the records that apply before a tool runs."""


@group.command()
@AGENT
@SCOPE
@DRY_RUN
@format_option
def install(agent: str, scope: str, dry_run: bool, output: str) -> None:
    """Put the hook into an agent's settings; entries of your own stay, and running it again changes nothing.

    \b
    orbit hook install claude
    orbit hook test claude
    """
    from orbit_registry.hooks import installation

    state = installation.install(open_registry().workspace, scope, dry_run=dry_run)
    said = f"{state.path} {'would have' if dry_run else 'has'} the hook" if state.changed else f"{state.path} has it"
    emit(output, state.as_data(), said, next_commands=[f"orbit hook test {agent} --scope {scope}"])


@group.command()
@AGENT
@SCOPE
@DRY_RUN
@format_option
def uninstall(agent: str, scope: str, dry_run: bool, output: str) -> None:
    """Take the hook out of an agent's settings; the file is then as it was before.

    \b
    orbit hook uninstall claude
    """
    from orbit_registry.hooks import installation

    state = installation.uninstall(open_registry().workspace, scope, dry_run=dry_run)
    would = "would be" if dry_run else "is"
    emit(
        output, state.as_data(), f"the hook {would if state.changed else 'was not'} {_gone(state.changed)}{state.path}"
    )


def _gone(changed: bool) -> str:
    return "out of " if changed else "in "


@group.command()
@format_option
def status(output: str) -> None:
    """Say in which settings the hook stands, and whether it is the one that would be installed today."""
    from orbit_registry.hooks import installation

    states = installation.status(open_registry().workspace)
    lines = [
        f"{state.agent} {state.scope}: {_standing(state.installed, state.current)} ({state.path})" for state in states
    ]
    following = [] if any(state.current for state in states) else ["orbit hook install claude"]
    emit(output, {"hooks": [state.as_data() for state in states]}, "\n".join(lines), next_commands=following)


def _standing(installed: bool, current: bool) -> str:
    return (
        "installed" if current else "installed by another version: install it again" if installed else "not installed"
    )


@group.command("test")
@AGENT
@SCOPE
@format_option
def test(agent: str, scope: str, output: str) -> None:
    """Run the installed hook as the agent would and judge its reply; exits 1 if the agent would not take it.

    \b
    orbit hook test claude
    """
    from orbit_registry.hooks import installation, trial

    workspace = open_registry().workspace
    command = installation.installed_command(workspace, scope)
    if command is None:
        path = installation.settings_path(workspace, scope)
        raise RefusedError(f"{path} has no hook of ours", hint=f"run `orbit hook install {agent} --scope {scope}`")
    found = trial.try_hook(workspace, command)
    lines = [f"{'failed' if found.problems else 'works'}: {command}", *(f"  {one}" for one in found.problems)]
    if found.path is None:
        lines.append("  no record is pushed for a tracked file, so it has nothing to say yet")
    else:
        lines.append(f"  at an edit of {found.path}, in {found.milliseconds:.0f} ms:")
        lines += [f"    {line}" for line in found.text.splitlines()]
    emit(output, found.as_data(), "\n".join(lines), ok=not found.problems)
    if found.problems:
        raise click.exceptions.Exit(1)
