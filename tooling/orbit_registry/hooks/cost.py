"""Measures what a call of the hook costs that shows nothing, beside an interpreter that does nothing, by turns."""

from __future__ import annotations

import json
import os
import resource
import secrets
import shlex
import statistics
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from orbit_registry.hooks.agent import PATH, ROOT, SESSION, Agent
from orbit_registry.hooks.trial import TIMEOUT_SECONDS, filled
from orbit_registry.push.ledger import Ledger
from orbit_registry.store.workspace import Workspace

NOTHING = f"{shlex.join([sys.executable, '-I', '-S', '-E', '-c', 'pass'])} 2>/dev/null || :"
NOWHERE = "no/record/applies/here"
RUNS = 7


@dataclass(frozen=True, slots=True)
class Cost:
    """Medians of so many runs, in milliseconds of CPU time of the whole process, the shell around it included."""

    runs: int
    hook: float
    nothing: float

    @property
    def ratio(self) -> float:
        """How many times the cost of doing nothing."""
        return self.hook / max(self.nothing, 0.001)

    def as_data(self) -> dict[str, object]:
        """Return the measurement as JSON shows it."""
        return {
            "runs": self.runs,
            "hook_ms": round(self.hook, 2),
            "nothing_ms": round(self.nothing, 2),
            "ratio": round(self.ratio, 2),
        }


def silent_cost(workspace: Workspace, agent: Agent, command: str, runs: int = RUNS) -> Cost | None:
    """Return what a silent call of an installed command costs; None where it does not end in time."""
    session = f"trial-{secrets.token_hex(6)}"
    words = {ROOT: str(workspace.root), PATH: str(workspace.root / NOWHERE), SESSION: session}
    content = json.dumps(filled(agent.payload, words)).encode()
    environment = {**os.environ, **{name: words.get(said, said) for name, said in agent.environment.items()}}

    def run(said: str) -> None:
        subprocess.run(
            ["/bin/sh", "-c", said], input=content, capture_output=True, cwd=workspace.root, env=environment,
            timeout=TIMEOUT_SECONDS, check=False,
        )  # fmt: skip

    hook: list[float] = []
    nothing: list[float] = []
    try:
        for _ in range(runs + 1):
            hook.append(_spent(lambda: run(command)))
            nothing.append(_spent(lambda: run(NOTHING)))
    except subprocess.TimeoutExpired:
        return None
    finally:
        _forget(workspace.state / "log/sessions" / Ledger(str(workspace.root), session).name)
    return Cost(
        runs, statistics.median(hook[1:]), statistics.median(nothing[1:])
    )  # the first one warms the disk's cache


def _spent(work: Callable[[], None]) -> float:
    """Return the CPU time, in milliseconds, of the processes that some work starts."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    work()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1000 * (after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)


def _forget(path: Path) -> None:
    path.unlink(missing_ok=True)
