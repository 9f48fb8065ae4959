"""Examines the hooks: where they stand, whether the agent takes what they answer, and what a silent call costs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from orbit_registry.doctor.finding import Finding
from orbit_registry.errors import OrbitError
from orbit_registry.hooks import installation, trial
from orbit_registry.hooks.agents import NAMES
from orbit_registry.hooks.installation import HookState
from orbit_registry.hooks.trial import Cost, Trial
from orbit_registry.store.workspace import Workspace

DEAR = 2.0
"""A silent call that costs more than so many times an interpreter that does nothing is too dear for each tool."""


@dataclass(slots=True)
class Hooks:
    """What was tried: pairs of an installed hook and what came of it, and the costs by agent and scope."""

    tried: list[tuple[HookState, Trial]] = field(default_factory=list)
    costs: list[tuple[HookState, Cost]] = field(default_factory=list)

    def as_data(self) -> list[dict[str, object]]:
        """Return what was tried as JSON shows it; the text that an agent would see is left out."""
        costs = {(state.agent.name, state.scope): one.as_data() for state, one in self.costs}
        return [
            {
                "agent": state.agent.name,
                "scope": state.scope,
                "path": str(state.path),
                "current": state.current,
                "asked": one.path,
                "spoke": bool(one.text),
                "problems": list(one.problems),
                "ms": round(one.milliseconds, 1),
                "cost": costs.get((state.agent.name, state.scope)),
            }
            for state, one in self.tried
        ]


def examined(workspace: Workspace, agent: str | None, found: Hooks) -> Iterator[Finding]:
    """Yield what is found of the hooks of one agent, or of all; `found` is filled in on the way."""
    states = installation.status(workspace.root, (agent,) if agent else NAMES)
    for state in states:
        if state.problem:
            yield Finding("problem", "hook", f"{_name(state)}: {state.problem}", str(state.path), "correct the file")
    installed = [state for state in states if state.installed]
    if not installed:
        said = f"no hook of {agent or 'any agent'} is installed"
        yield Finding("warning", "hook", said, "", f"orbit hook install {agent or 'claude'}")
    for state in installed:
        yield from _tried(workspace, state, found)
    yield from _twice(installed)


def _tried(workspace: Workspace, state: HookState, found: Hooks) -> Iterator[Finding]:
    again = f"orbit hook install {state.agent.name} --scope {state.scope}"
    try:
        command = installation.installed_command(workspace.root, state.agent, state.scope)
        one = None if command is None else trial.try_hook(workspace, state.agent, command)
    except OrbitError as error:
        yield Finding("problem", "hook", f"{_name(state)}: {error.message}", str(state.path), error.hint)
        return
    if one is None or command is None:
        return
    found.tried.append((state, one))
    if one.problems:
        yield Finding("problem", "hook", f"{_name(state)}: {'; '.join(one.problems)}", str(state.path), again)
        return
    spoke = f"speaks at an edit of {one.path}" if one.path else "is silent: no record is pushed for a tracked file"
    proven = "" if state.agent.proven else "; unproven: no real session was seen to show it"
    said = f"{_name(state)}: {spoke}, and its answer is what the agent takes{proven}"
    yield Finding("ok", "hook", said, str(state.path))
    spent = trial.silent_cost(workspace, state.agent, command)
    if spent is None:
        yield Finding("problem", "cost", f"{_name(state)}: a silent call does not end", str(state.path), again)
        return
    found.costs.append((state, spent))
    said = (
        f"{_name(state)}: a silent call costs {spent.ratio:.1f} × an interpreter that does nothing "
        f"({spent.hook:.0f} and {spent.nothing:.0f} ms CPU, medians of {spent.runs})"
    )
    if spent.ratio > DEAR:
        yield Finding("warning", "cost", said, "", "install it in scope local; or ask again when nothing else runs")
    else:
        yield Finding("ok", "cost", said)


def _twice(installed: Sequence[HookState]) -> Iterator[Finding]:
    """Yield a finding for an agent that runs the hook from several settings at each call."""
    for name in dict.fromkeys(state.agent.name for state in installed):
        scopes = [state.scope for state in installed if state.agent.name == name]
        if len(scopes) > 1:
            said = f"{name} runs it {len(scopes)} times a call: it stands in the settings {', '.join(scopes)}"
            yield Finding("warning", "hook", said, "", f"orbit hook uninstall {name} --scope {scopes[-1]}")


def _name(state: HookState) -> str:
    return f"{state.agent.name}, {state.scope}"
