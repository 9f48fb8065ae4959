"""`orbit hook` and `orbit mcp`: records for agents."""

import shutil
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from itertools import chain
from pathlib import Path

import click

from orbit_registry.agents.agent import Scope, hook_agents, load_agent
from orbit_registry.answers.notes import overlooked_notes
from orbit_registry.cli.output import (
    emit,
    format_option,
    from_root,
    open_registry,
    print_note,
    print_notes,
    warn_of_unread,
)
from orbit_registry.cli.writer import say
from orbit_registry.errors import RefusedError, UsageError, WorkspaceNotFoundError, listed
from orbit_registry.install import install as installation
from orbit_registry.install import mcp
from orbit_registry.install.install import HookState
from orbit_registry.workspace.git import Git

HOOK_AGENTS = hook_agents()
AGENT = click.argument(
    "agent", metavar=f"{{{' | '.join(HOOK_AGENTS)}}}", type=click.Choice(HOOK_AGENTS)
)
SERVER_AGENTS = mcp.server_agents()
SERVER_AGENT = click.argument(
    "agent", metavar=f"{{{' | '.join(SERVER_AGENTS)}}}", type=click.Choice(SERVER_AGENTS)
)
SCOPE = click.option(
    "--scope",
    type=click.Choice(["local", "project", "user"]),
    help="local: only you, in this project; project: everyone, committed; user: you, in all "
    "projects. "
    "Default: local, or user if the agent has no local settings.",
)
LISTED = 10  # ids of a line
NO_ROUTE = "no path of a record matches it, and it neither imports nor cites what leads to one"
INSTALL_MCP = "install the extra `orbit-registry[mcp]`"
DRY_RUN = click.option("--dry-run", is_flag=True, help="Print what would change; change nothing.")


@click.group()
def group() -> None:
    """Show records to an agent at the files it edits.

    orbit hook install claude
    orbit hook test claude
    """


@group.command()
@click.argument(
    "agent",
    metavar=f"{{{' | '.join(HOOK_AGENTS)}}}",
    type=click.Choice(HOOK_AGENTS),
    required=False,
)
@click.option(
    "--all",
    "is_all",
    is_flag=True,
    help="All agents that have a folder in this project or your home.",
)
@SCOPE
@click.option("--with-skills", is_flag=True, help="Write the skills of `orbit export skills` too.")
@DRY_RUN
@format_option
def install(
    agent: str | None,
    is_all: bool,
    scope: Scope | None,
    with_skills: bool,
    dry_run: bool,
    output: str,
) -> None:
    """Install the hook in an agent's settings.

    Your other entries stay, and running it again changes nothing. A local settings file that git
    would commit gets a line in .gitignore.

    orbit hook install claude
    orbit hook install --all
    orbit hook install claude --scope user --with-skills
    orbit hook install codex --scope project --dry-run
    orbit hook test claude
    """
    if (agent is None) is not is_all:
        raise UsageError("name one agent, or give --all", hint=f"agents: {', '.join(HOOK_AGENTS)}")

    if agent is not None:
        data, lines = _install(agent, scope, with_skills, dry_run)
        following = [f"orbit hook test {agent} --scope {data['scope']}"]
        lines += [] if dry_run else [f"try it: `{following[0]}`"]
        emit(output, data, "\n".join(lines), next_commands=following)
        _note_path([data])
        return

    names = installation.found_agents(_root(scope))
    if not names:
        raise RefusedError(
            "no agent has a folder here or in your home",
            hint="name one: `orbit hook install claude`",
        )

    results = [_install(name, scope, with_skills, dry_run) for name in names]
    following = [
        f"orbit hook test {name} --scope {data['scope']}"
        for name, (data, _) in zip(names, results, strict=True)
    ]
    text = "\n".join(chain.from_iterable(lines for _, lines in results))
    emit(output, {"hooks": [data for data, _ in results]}, text, next_commands=following)
    _note_path([data for data, _ in results])


def _note_path(hooks: Sequence[Mapping[str, object]]) -> None:
    """Say that a hook of the project finds no program: it would be silent for all."""
    program = mcp.COMMAND[0]
    if any(hook["scope"] == "project" for hook in hooks) and shutil.which(program) is None:
        print_note(f"`{program}` is not on PATH: where an agent has this PATH, the hook is silent")


def _install(
    agent: str, scope: Scope | None, with_skills: bool, dry_run: bool
) -> tuple[dict[str, object], list[str]]:
    from orbit_registry.exporters import plugin
    from orbit_registry.exporters.rules import apply_changes

    chosen, root = load_agent(agent), _root(scope)
    if with_skills and agent not in plugin.FOLDERS:
        raise UsageError(
            f"{chosen.title} reads no skills", hint=f"they are for {', '.join(plugin.FOLDERS)}"
        )

    pages = plugin.skill_changes(open_registry().workspace.root, agent) if with_skills else []
    state = installation.install(root, chosen, scope, dry_run=dry_run)

    if not dry_run:
        apply_changes(root, pages)

    lines = [f"{state.path} has it"]
    if state.changed:
        lines = [f"{state.path} {'would have' if dry_run else 'has'} the hook"]
    if state.launcher:
        lines.append(
            f"{root / installation.LAUNCHER}, which it starts, "
            f"{'would be' if dry_run else 'was'} written"
        )

    if dry_run:
        lines.append(state.diff.rstrip("\n"))

    lines.append(installation.reach(chosen, chosen.settings, state.scope))
    lines += [f"{'would write' if dry_run else 'wrote'} the skill {page.path}" for page in pages]
    if state.scope == "local" and not dry_run:
        lines += _ignore(root, state.path)

    lines += [chosen.after] if chosen.after and state.changed else []
    lines += [] if chosen.proven else [f"unproven with {chosen.title}: {chosen.evidence}"]
    return {**state.as_data(), "skills": [page.as_data() for page in pages]}, list(
        filter(None, lines)
    )


def _ignore(root: Path, path: Path) -> list[str]:
    from orbit_registry.operations.init import SetupReport, add_lines

    git = Git(root)
    line = git.ignore_line(path)
    if line is None or git.top is None:
        return []
    add_lines(
        SetupReport(git.top), ".gitignore", (f"{installation.IGNORED}\n{line}",), dry_run=False
    )
    return [f"added to .gitignore: {line}"]


@group.command()
@AGENT
@SCOPE
@DRY_RUN
@format_option
def uninstall(agent: str, scope: Scope | None, dry_run: bool, output: str) -> None:
    """Remove the hook from an agent's settings.

    The file is then byte for byte what it was before, and its line in .gitignore goes too.

    orbit hook uninstall claude
    """
    root = _root(scope)
    state = installation.uninstall(root, load_agent(agent), scope, dry_run=dry_run)
    would = "would be" if dry_run else "is"
    text = (
        f"the hook {would if state.changed else 'was not'} "
        f"{'out of' if state.changed else 'in'} {state.path}"
    )
    launcher = ""
    if state.launcher:
        launcher = f"{root / installation.LAUNCHER} {'would be' if dry_run else 'was'} removed"

    ignored: list[str] = []
    if state.scope == "local":
        ignored = installation.stop_ignoring(root, state.path, dry_run=dry_run)

    others = [
        f"it is still in {other.path}: `orbit hook uninstall {agent} --scope {other.scope}`"
        for other in installation.status(root, [agent])
        if other.installed and other.scope != state.scope
    ]
    lines = [text, launcher, state.diff.rstrip("\n") if dry_run else "", *ignored, *others]
    emit(output, state.as_data(), "\n".join(filter(None, lines)))


def _root(scope: Scope | None) -> Path:
    try:
        return open_registry().workspace.root
    except WorkspaceNotFoundError:
        if scope != "user":  # nothing of it depends on a project
            raise
        return Path.cwd()


@group.command()
@click.argument("agents", metavar="[AGENT]...", nargs=-1, type=click.Choice(HOOK_AGENTS))
@format_option
def status(agents: tuple[str, ...], output: str) -> None:
    """List the settings that hold the hook.

    It also says whether each entry is the one that would be installed today.

    orbit hook status
    orbit hook status claude codex
    """
    states = installation.status(open_registry().workspace.root, agents)
    lines = []
    for name in agents or HOOK_AGENTS:
        scopes = [state for state in states if state.agent.name == name]
        agent = scopes[0].agent
        lines.append(
            f"{name} ({agent.title}; {'proven' if agent.proven else 'unproven'}: {agent.evidence})"
        )
        lines += [f"  {state.scope}: {_state_text(state)} ({state.path})" for state in scopes]

    following = (
        []
        if any(state.current for state in states)
        else [f"orbit hook install {(agents or ['claude'])[0]}"]
    )

    emit(
        output,
        {"hooks": [state.as_data() for state in states]},
        "\n".join(lines),
        next_commands=following,
    )


def _state_text(state: HookState) -> str:
    if state.problem:
        return f"not known: {state.problem}"
    if not state.installed:
        return "not installed"
    return "installed" if state.current else "installed by another version: install it again"


@group.command("test")
@AGENT
@SCOPE
@click.option(
    "--file", metavar="PATH", help="What an edit of this file gets; else of one that gets a record."
)
@format_option
def test(agent: str, scope: Scope | None, file: str | None, output: str) -> None:
    """Run the installed hook, and check its reply.

    It runs as the agent would run it. It exits 1 if the agent would not accept the reply. Without
    --scope it runs the first that is installed of local, project and user. Where an edit gets
    nothing, it says why.

    orbit hook test claude
    orbit hook test claude --file src/app.py
    """
    from orbit_registry.install import trial

    registry, chosen = open_registry(), load_agent(agent)
    workspace = registry.workspace
    states = installation.status(workspace.root, [agent])
    scope = scope or next((state.scope for state in states if state.installed), None)
    state = installation.state_of(workspace.root, chosen, scope)
    command = installation.installed_command(workspace.root, chosen, state.scope)

    if command is None:
        scopes = [scope] if scope else [state.scope for state in states]
        paths = " or ".join(str(state.path) for state in states if state.scope in scopes)
        hint = f"`orbit hook install {agent}{f' --scope {scope}' if scope else ''}`"
        raise RefusedError(f"Orbit's hook is not in {paths}", hint=hint)

    path = "" if file is None else from_root(registry, file)
    result = trial.try_hook(workspace, chosen, command, path)
    warn_of_unread(registry)
    lines = [
        f"{'failed' if result.problems else 'works'}: {command}",
        *(f"  {problem}" for problem in result.problems),
    ]
    if result.text:
        lines.append(f"  at an edit of {result.path}, in {result.milliseconds:.0f} ms:")
        lines += [f"    {line}" for line in result.text.splitlines()]
    elif file is not None:
        lines.append(f"  an edit of {result.path} shows no record:")
        lines += _silent_lines(result.reasons) or [f"    {NO_ROUTE}"]
    elif result.path is None:
        lines.append("  no edit of a file here shows a record")
        lines += _silent_lines(result.reasons)

    emit(output, result.as_data(), "\n".join(lines), ok=not result.problems)
    if not result.text:
        print_notes(overlooked_notes(registry))


def _silent_lines(reasons: Mapping[str, str]) -> list[str]:
    ids: dict[str, list[str]] = {}
    for record_id, reason in reasons.items():
        ids.setdefault(reason, []).append(record_id)

    return [f"    {listed(names, LISTED)}: {reason}" for reason, names in ids.items()]


TOKEN = "ORBIT_MCP_TOKEN"


@click.group()
def mcp_group() -> None:
    """Serve records to agents over MCP.

    orbit mcp install claude
    orbit mcp serve
    """


@mcp_group.command()
@click.option(
    "--root",
    type=click.Path(file_okay=False, exists=True, path_type=Path),
    help="The project; else the client's roots or the current folder.",
)
@click.option(
    "--aliases/--no-aliases", help="List the tools for one kind too, such as `orbit.adr.add`."
)
@click.option("--http", is_flag=True, help="Serve over HTTP; each request needs a token.")
@click.option(
    "--host", default="127.0.0.1", show_default=True, help="With --http: the address to listen on."
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    help="With --http: the port; a free one if not given.",
)
@click.option(
    "--token",
    envvar=TOKEN,
    help=f"With --http: the token, better given as {TOKEN}; a random one if not.",
)
def serve(
    root: Path | None, aliases: bool, http: bool, host: str, port: int, token: str | None
) -> None:
    """Serve this project's records over MCP.

    It reads standard input until that ends, or listens with --http.

    orbit mcp serve
    orbit mcp serve --http --port 8765
    """
    if find_spec("mcp") is None:
        raise UsageError("the MCP server needs the extra `mcp`", hint=INSTALL_MCP)

    if not http:
        from orbit_registry.mcp.server import serve_stdio

        serve_stdio(root, aliases=aliases)
        return

    from orbit_registry.mcp.http import serve_http

    def announce(address: str, needed: str) -> None:
        say(f"serving at {address}", err=True)
        if token is None:
            say(f"token: {needed}", err=True)

    serve_http(root, host, port, token, announce, aliases=aliases)


@mcp_group.command("install")
@SERVER_AGENT
@SCOPE
@DRY_RUN
@format_option
def install_server(agent: str, scope: Scope | None, dry_run: bool, output: str) -> None:
    """Name the MCP server in an agent's settings.

    Your other entries stay, and running it again changes nothing.

    orbit mcp install claude
    orbit mcp install cursor --scope project --dry-run
    """
    state = mcp.install_server(_root(scope), load_agent(agent), scope, dry_run=dry_run)
    text = f"{state.path} {'would name' if dry_run else 'names'} the server `{mcp.NAME}`"
    shared = mcp.sharing_agents(state)
    lines = [
        text,
        state.diff.rstrip("\n") if dry_run else "",
        f"{shared} reads this file too" if shared else "",
    ]
    lines.append(installation.reach(state.agent, state.agent.servers, state.scope))

    lines += (
        ["git shares this file with everyone who uses the repository"]
        if state.scope == "project"
        else []
    )
    emit(output, state.as_data(), "\n".join(filter(None, lines)))

    if find_spec("mcp") is None:
        print_note(f"the server can't start yet: {INSTALL_MCP}")

    if shutil.which(mcp.COMMAND[0]) is None:
        print_note(
            f"`{mcp.COMMAND[0]}` is not on PATH: an agent that has this PATH can't start the server"
        )


@mcp_group.command("uninstall")
@SERVER_AGENT
@SCOPE
@DRY_RUN
@format_option
def uninstall_server(agent: str, scope: Scope | None, dry_run: bool, output: str) -> None:
    """Remove the MCP server from an agent's settings.

    The file is then byte for byte what it was before.

    orbit mcp uninstall claude
    """
    root = _root(scope)
    state = mcp.uninstall_server(root, load_agent(agent), scope, dry_run=dry_run)
    would = "would be" if dry_run else "is"
    text = (
        f"the server {would if state.changed else 'was not'} "
        f"{'out of' if state.changed else 'in'} {state.path}"
    )
    shared = mcp.sharing_agents(state) if state.changed else ""
    loses = ""
    if shared:
        verb = "would lose" if dry_run else "loses"
        loses = f"{shared} reads this file too, and {verb} the server"

    lines = [text, state.diff.rstrip("\n") if dry_run else "", loses, *mcp.other_files(root, state)]
    emit(output, state.as_data(), "\n".join(filter(None, lines)))


@mcp_group.command(
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False}
)
@click.option(
    "--session",
    envvar="ORBIT_SESSION_ID",
    default="",
    help="Do not repeat what this session was shown.",
)
@click.option(
    "--timeout",
    type=click.IntRange(min=0),
    default=150,
    show_default=True,
    metavar="MS",
    help="How long a result may wait for its records; 0: no limit.",
)
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
def wrap(session: str, timeout: int, command: tuple[str, ...]) -> None:
    """Run another MCP server, and add records to its results.

    All other messages, signals and exit codes pass unchanged.

    orbit mcp wrap -- npx -y @modelcontextprotocol/server-filesystem .
    """
    from orbit_registry.mcp.proxy import run

    raise click.exceptions.Exit(run(command, session, timeout))
