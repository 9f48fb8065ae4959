"""`orbit trust`: shows the commands that the configuration names, and has a person allow them; it runs none of them."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from orbit_registry.cli.output import emit, format_option
from orbit_registry.cli.places import open_registry
from orbit_registry.cli.terminal import visible
from orbit_registry.errors import OrbitError, RefusedError, UsageError
from orbit_registry.workspace import trusted_commands
from orbit_registry.workspace.author import acting_role


@click.command("trust")
@click.option("--yes", is_flag=True, help="Allow what is shown without asking.")
@click.option("--list", "listed", is_flag=True, help="What you allowed, in every repository.")
@click.option("--revoke", is_flag=True, help="Allow nothing here any more.")
@format_option
def trust(yes: bool, listed: bool, revoke: bool, output: str) -> None:
    """Allow the commands that this repository's configuration names, exactly as they stand there.

    None of them is run before; one that changes has to be allowed again, and so has one that names a file of the
    repository which changes. It is kept in your own configuration folder.

    \b
    orbit trust
    orbit trust --format json      # look without being asked
    orbit trust --list
    orbit trust --revoke
    """
    if yes + listed + revoke > 1:
        raise UsageError("--yes, --list and --revoke exclude each other", hint="give one of them")
    if listed:
        every = dict(trusted_commands.allowed_repositories())
        text = "\n\n".join("\n".join([place, *_lines(held)]) for place, held in every.items())
        emit(output, {"repositories": every}, text or "nothing is allowed anywhere")
        return
    workspace = open_registry().workspace
    if revoke:
        was = trusted_commands.revoke(workspace)
        emit(output, {"revoked": was}, "no command is allowed here any more" if was else "no command was allowed here")
        return
    named = {**trusted_commands.configured_commands(workspace), **_of_the_site(workspace.root)}
    files = {key: trusted_commands.files_of(workspace, words) for key, words in named.items()}
    states = {key: trusted_commands.permission_state(workspace, key, words) for key, words in named.items()}
    data = {"commands": {key: {"words": named[key], "files": files[key], "state": states[key]} for key in named}}
    shown = "\n".join(_lines(named, states, files))
    if set(states.values()) <= {"allowed"}:
        emit(output, data, f"{shown}\nall of them are allowed" if named else "the configuration names no command")
        return
    if output == "json" and not yes:  # to look is not to ask: a program or an agent may see what waits for a person
        emit(output, data, "", next_commands=["orbit trust"])
        return
    if acting_role() == "agent":
        raise RefusedError("an agent can't allow commands", hint="a person runs `orbit trust` in a terminal of theirs")
    if output == "text":
        click.echo(visible(f"{workspace.root}\n{shown}"))
    if not yes:
        if not sys.stdin.isatty():
            raise RefusedError("nobody is there to be asked", hint="read them, then `orbit trust --yes`")
        click.confirm("Run these commands when they are needed?", abort=True, err=True)
    file = trusted_commands.allow(workspace, named, files)
    data["commands"] = {key: {"words": named[key], "files": files[key], "state": "allowed"} for key in named}
    emit(output, data, f"allowed, in {file}", next_commands=["orbit trust --revoke"])


def _of_the_site(root: Path) -> Mapping[str, tuple[str, ...]]:
    """Return what of the repository's own mkdocs.yml runs code; nothing where that can't be built here anyway."""
    if not (root / "mkdocs.yml").is_file():
        return {}
    try:
        from orbit_registry.site.config import FILE, read_user_config

        own = read_user_config(root)
    except (ImportError, OrbitError):
        return {}
    return {FILE: own.code_settings} if own is not None and own.code_settings else {}


def _lines(
    commands: Mapping[str, Sequence[str]],
    states: Mapping[str, str] | None = None,
    files: Mapping[str, Mapping[str, str]] | None = None,
) -> list[str]:
    """Return a line for each command, every character that is not plain spelt out, and one for each file it names."""
    lines = []
    for key in sorted(commands):
        lines.append(f"  {f'{key} ({states[key]})' if states else key}: {json.dumps(commands[key])}")
        lines += [f"    {json.dumps(path)}  {said[:16]}" for path, said in sorted((files or {}).get(key, {}).items())]
    return lines
