"""`hook` and `mcp install`: what is put into an agent's settings, and whether it works there."""

import shutil
from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

from orbit_registry.agents.agent import Agent, Scope, hook_agents, load_agent
from orbit_registry.agents.install import install as installation
from orbit_registry.agents.install import mcp
from orbit_registry.agents.install.install import HookState
from orbit_registry.doors.answers.answer import Answer
from orbit_registry.doors.answers.arguments import Form
from orbit_registry.doors.answers.call import Call, note
from orbit_registry.doors.answers.notes import off_notes, overlooked_notes
from orbit_registry.doors.answers.table import operation
from orbit_registry.errors import RefusedError, UsageError, WorkspaceNotFoundError, listed
from orbit_registry.exchange.exporters import plugin
from orbit_registry.exchange.exporters.rules import Change, apply_changes
from orbit_registry.operations.init import SetupReport, add_lines
from orbit_registry.workspace.git import Git

HOOK_AGENTS = tuple(hook_agents())
HookAgent = Annotated[str, Form(enum=HOOK_AGENTS)]
ServerAgent = Annotated[str, Form(enum=tuple(mcp.server_agents()))]
LISTED = 10  # ids of a line
NO_ROUTE = "no path of a record matches it, and it neither imports nor cites what leads to one"
INSTALL_MCP = "install the extra `orbit-registry[mcp]`"


@operation("hook", job="Set up", is_group=True)
def hook_group(call: Call) -> None:
    """Show records to an agent at the files it edits.

    orbit hook install claude
    orbit hook test claude
    """


@operation("mcp", job="Set up", is_group=True)
def mcp_group(call: Call) -> None:
    """Serve records to agents over MCP.

    orbit mcp install claude
    orbit mcp serve
    """


@operation("hook install", writes=True)
def install(
    call: Call,
    agent: HookAgent | None = None,
    everything: bool = False,
    scope: Scope | None = None,
    with_skills: bool = False,
    dry_run: bool = False,
) -> Answer:
    """Install the hook in an agent's settings.

    Your other entries stay, and running it again changes nothing. A local settings file that git
    would commit gets a line in .gitignore.

    orbit hook install claude
    orbit hook install --all
    orbit hook install claude --scope user --with-skills
    orbit hook install codex --scope project --dry-run
    orbit hook test claude

    Args:
        agent [AGENT]: The agent.
        everything --all: All agents that have a folder in this project or your home.
        scope: local: only you, in this project; project: everyone, committed; user: you, in all
            projects. Default: local, or user if the agent has no local settings.
        with_skills: Write the skills of `orbit export skills` too.
        dry_run: Print what would change; change nothing.
    """
    if (agent is None) is not everything:
        raise UsageError("name one agent, or give --all", hint=f"agents: {', '.join(HOOK_AGENTS)}")

    root = _root(call, scope)
    names = installation.found_agents(root) if agent is None else [agent]
    if not names:
        raise RefusedError(
            "no agent has a folder here or in your home",
            hint="name one: `orbit hook install claude`",
        )

    hooks: list[dict[str, object]] = []
    lines: list[str] = []
    following: list[str] = []
    for name in names:
        state, skills = _installed(call, root, name, scope, with_skills, dry_run)
        lines += _install_lines(root, state, skills, dry_run=dry_run)
        hooks.append({**state.as_data(), "skills": [page.as_data() for page in skills]})
        following.append(f"orbit hook test {name} --scope {state.scope}")

    if agent is not None and not dry_run:
        lines.append(f"try it: `{following[0]}`")

    data = hooks[0] if agent is not None else {"hooks": hooks}
    off = off_notes(installation.status(root, names))
    return Answer(data, lines, following, [*_path_notes(hooks), *off])


def _installed(
    call: Call, root: Path, name: str, scope: Scope | None, with_skills: bool, dry_run: bool
) -> tuple[HookState, Sequence[Change]]:
    agent = load_agent(name)
    if with_skills and name not in plugin.FOLDERS:
        raise UsageError(
            f"{agent.title} reads no skills", hint=f"they are for {', '.join(plugin.FOLDERS)}"
        )

    skills = plugin.skill_changes(call.workspace.root, name) if with_skills else []
    state = installation.install(root, agent, scope, dry_run=dry_run)
    if not dry_run:
        apply_changes(root, skills)

    return state, skills


def _install_lines(
    root: Path, state: HookState, skills: Sequence[Change], *, dry_run: bool
) -> Iterator[str]:
    agent = state.agent
    yield f"{state.path} {_has(state, dry_run=dry_run)}"
    if state.launcher:
        was = "would be" if dry_run else "was"
        yield f"{root / installation.LAUNCHER}, which it starts, {was} written"
    if dry_run and state.diff:
        yield state.diff.rstrip("\n")

    if reach := installation.reach(agent, agent.settings, state.scope):
        yield reach

    wrote = "would write" if dry_run else "wrote"
    yield from (f"{wrote} the skill {page.path}" for page in skills)
    if state.scope == "local" and not dry_run:
        yield from _ignored(root, state.path)
    if agent.after and state.changed:
        yield agent.after
    if not agent.proven:
        yield f"unproven with {agent.title}: {agent.evidence}"


def _has(state: HookState, *, dry_run: bool) -> str:
    if not state.changed:
        return "has it"
    if dry_run:
        return "would have the hook"

    return "has the hook"


def _ignored(root: Path, path: Path) -> Iterator[str]:
    git = Git(root)
    line = git.ignore_line(path)
    if line is None or git.top is None:
        return

    lines = (f"{installation.IGNORED}\n{line}",)
    add_lines(SetupReport(git.top), ".gitignore", lines, dry_run=False)
    yield f"added to .gitignore: {line}"


def _path_notes(hooks: Sequence[Mapping[str, object]]) -> Iterator[str]:
    """Say that a hook of the project finds no program: it would be silent for all."""
    program = mcp.COMMAND[0]
    if any(hook["scope"] == "project" for hook in hooks) and shutil.which(program) is None:
        yield note(f"`{program}` is not on PATH: where an agent has this PATH, the hook is silent")


def _root(call: Call, scope: Scope | None) -> Path:
    try:
        return call.workspace.root
    except WorkspaceNotFoundError:
        if scope != "user":  # nothing of it depends on a project
            raise
        return Path.cwd()


@operation("hook uninstall", writes=True)
def uninstall(
    call: Call, agent: HookAgent, scope: Scope | None = None, dry_run: bool = False
) -> Answer:
    """Remove the hook from an agent's settings.

    The file is then byte for byte what it was before, and its line in .gitignore goes too.

    orbit hook uninstall claude

    Args:
        agent AGENT: The agent.
        scope: local: only you, in this project; project: everyone, committed; user: you, in all
            projects. Default: local, or user if the agent has no local settings.
        dry_run: Print what would change; change nothing.
    """
    root = _root(call, scope)
    state = installation.uninstall(root, load_agent(agent), scope, dry_run=dry_run)
    lines = [_out_of("hook", state.path, changed=state.changed, dry_run=dry_run)]
    if state.launcher:
        was = "would be" if dry_run else "was"
        lines.append(f"{root / installation.LAUNCHER} {was} removed")
    if dry_run and state.diff:
        lines.append(state.diff.rstrip("\n"))
    if state.scope == "local":
        lines += installation.stop_ignoring(root, state.path, dry_run=dry_run)

    for other in installation.status(root, [agent]):
        if other.installed and other.scope != state.scope:
            command = f"orbit hook uninstall {agent} --scope {other.scope}"
            lines.append(f"it is still in {other.path}: `{command}`")

    return Answer(state.as_data(), lines)


def _out_of(what: str, path: Path, *, changed: bool, dry_run: bool) -> str:
    if not changed:
        return f"the {what} was not in {path}"
    return f"the {what} {'would be' if dry_run else 'is'} out of {path}"


@operation("hook status")
def status(call: Call, agents: Annotated[tuple[HookAgent, ...], Form()] = ()) -> Answer:
    """List the settings that hold the hook.

    It also says whether each entry is the one that would be installed today.

    orbit hook status
    orbit hook status claude codex

    Args:
        agents [AGENT]...: Only these agents.
    """
    states = installation.status(call.workspace.root, agents)
    lines: list[str] = []
    for name in agents or HOOK_AGENTS:
        lines.append(_agent_line(name, load_agent(name)))
        for state in states:
            if state.agent.name == name:
                lines.append(f"  {state.scope}: {_state_text(state)} ({state.path})")

    following = []
    if not any(state.current for state in states):
        following = [f"orbit hook install {(agents or ['claude'])[0]}"]

    return Answer({"hooks": [state.as_data() for state in states]}, lines, following)


def _agent_line(name: str, agent: Agent) -> str:
    return f"{name} ({agent.title}: {agent.evidence})"


def _state_text(state: HookState) -> str:
    if state.problem:
        return f"not known: {state.problem}"
    text = "not installed"
    if state.installed:
        text = "installed" if state.current else "installed by another version: install it again"

    if state.off:
        return f"{text}; {state.off} switches all hooks off"

    return text


@operation("hook test", lists=True)
def hook_test(
    call: Call, agent: HookAgent, scope: Scope | None = None, file: str | None = None
) -> Answer:
    """Run the installed hook, and check its reply.

    It runs as the agent would run it. It exits 1 if the agent would not accept the reply. Without
    --scope it runs the first that is installed of local, project and user. Where an edit gets
    nothing, it says why.

    orbit hook test claude
    orbit hook test claude --file src/app.py

    Args:
        agent AGENT: The agent.
        scope: local: only you, in this project; project: everyone, committed; user: you, in all
            projects. Default: local, or user if the agent has no local settings.
        file PATH: What an edit of this file gets; else of one that gets a record.
    """
    from orbit_registry.agents.install import trial

    workspace, chosen = call.workspace, load_agent(agent)
    states = installation.status(workspace.root, [agent])
    scope = scope or next((state.scope for state in states if state.installed), None)
    state = installation.state_of(workspace.root, chosen, scope)
    command = installation.installed_command(workspace.root, chosen, state.scope)

    if command is None:
        scopes = [scope] if scope else [state.scope for state in states]
        paths = " or ".join(str(state.path) for state in states if state.scope in scopes)
        hint = f"`orbit hook install {agent}{f' --scope {scope}' if scope else ''}`"
        raise RefusedError(f"Orbit's hook is not in {paths}", hint=hint)

    path = "" if file is None else call.path(file)
    result = trial.try_hook(workspace, chosen, command, path)
    lines = [f"{'failed' if result.problems else 'works'}: {command}"]
    lines += [f"  {problem}" for problem in result.problems]
    if result.text:
        lines.append(f"  at an edit of {result.path}, in {result.milliseconds:.0f} ms:")
        lines += [f"    {line}" for line in result.text.splitlines()]
    elif file is not None and not result.problems:
        lines.append(f"  an edit of {result.path} shows no record:")
        lines += _silent_lines(result.reasons) or [f"    {NO_ROUTE}"]
    elif result.path is None:
        lines.append("  no edit of a file here shows a record")
        lines += _silent_lines(result.reasons)

    notes = off_notes(states)
    if not result.text:
        notes += overlooked_notes(call.registry)

    return Answer(result.as_data(), lines, notes=notes, ok=not result.problems)


def _silent_lines(reasons: Mapping[str, str]) -> list[str]:
    ids: dict[str, list[str]] = {}
    for record_id, reason in reasons.items():
        ids.setdefault(reason, []).append(record_id)

    return [f"    {listed(names, LISTED)}: {reason}" for reason, names in ids.items()]


@operation("mcp install", writes=True)
def install_server(
    call: Call, agent: ServerAgent, scope: Scope | None = None, dry_run: bool = False
) -> Answer:
    """Name the MCP server in an agent's settings.

    Your other entries stay, and running it again changes nothing.

    orbit mcp install claude
    orbit mcp install cursor --scope project --dry-run

    Args:
        agent AGENT: The agent.
        scope: local: only you, in this project; project: everyone, committed; user: you, in all
            projects. Default: local, or user if the agent has no local settings.
        dry_run: Print what would change; change nothing.
    """
    state = mcp.install_server(_root(call, scope), load_agent(agent), scope, dry_run=dry_run)
    lines = [f"{state.path} {'would name' if dry_run else 'names'} the server `{mcp.NAME}`"]
    if dry_run and state.diff:
        lines.append(state.diff.rstrip("\n"))
    if shared := mcp.sharing_agents(state):
        lines.append(f"{shared} reads this file too")
    if reach := installation.reach(state.agent, state.agent.servers, state.scope):
        lines.append(reach)
    if state.scope == "project":
        lines.append("git shares this file with everyone who uses the repository")

    notes: list[str] = []
    program = mcp.COMMAND[0]
    if find_spec("mcp") is None:
        notes.append(note(f"the server can't start yet: {INSTALL_MCP}"))
    if shutil.which(program) is None:
        missing = "an agent that has this PATH can't start the server"
        notes.append(note(f"`{program}` is not on PATH: {missing}"))

    return Answer(state.as_data(), lines, notes=notes)


@operation("mcp uninstall", writes=True)
def uninstall_server(
    call: Call, agent: ServerAgent, scope: Scope | None = None, dry_run: bool = False
) -> Answer:
    """Remove the MCP server from an agent's settings.

    The file is then byte for byte what it was before.

    orbit mcp uninstall claude

    Args:
        agent AGENT: The agent.
        scope: local: only you, in this project; project: everyone, committed; user: you, in all
            projects. Default: local, or user if the agent has no local settings.
        dry_run: Print what would change; change nothing.
    """
    root = _root(call, scope)
    state = mcp.uninstall_server(root, load_agent(agent), scope, dry_run=dry_run)
    lines = [_out_of("server", state.path, changed=state.changed, dry_run=dry_run)]
    if dry_run and state.diff:
        lines.append(state.diff.rstrip("\n"))

    shared = mcp.sharing_agents(state) if state.changed else ""
    if shared:
        verb = "would lose" if dry_run else "loses"
        lines.append(f"{shared} reads this file too, and {verb} the server")

    return Answer(state.as_data(), [*lines, *mcp.other_files(root, state)])
