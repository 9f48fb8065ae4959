"""Puts an examination together: the workspace, its hooks, the log, the transcripts; one page, or data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from orbit_registry.doctor import delivery, ground, hooks
from orbit_registry.doctor.finding import LEVELS, Finding
from orbit_registry.errors import OrbitError
from orbit_registry.loop.transcripts.delivery import Delivery
from orbit_registry.store.workspace import find_workspace


@dataclass(frozen=True, slots=True)
class Examination:
    """What was found, the hooks that were tried and the sessions that were compared."""

    findings: Sequence[Finding]
    hooks: hooks.Hooks
    deliveries: Sequence[Delivery]

    @property
    def healthy(self) -> bool:
        """Say whether nothing is a problem; warnings are none."""
        return all(one.level != "problem" for one in self.findings)

    @property
    def next_steps(self) -> list[str]:
        """What to do next, each once, for the gravest first."""
        grave = sorted(self.findings, key=lambda one: -LEVELS.index(one.level))
        steps = dict.fromkeys(one.next_step for one in grave if one.level != "ok")
        return [step for step in steps if step.startswith("orbit ")]

    def as_data(self) -> dict[str, object]:
        """Return the examination as JSON shows it."""
        return {
            "counts": {level: self._count(level) for level in LEVELS},
            "findings": [one.as_data() for one in self.findings],
            "hooks": self.hooks.as_data(),
            "transcripts": [one.as_data() for one in self.deliveries],
        }

    def text(self) -> str:
        """Return the examination as a page for people."""
        lines = [line for one in self.findings for line in one.lines()]
        counts = ", ".join(f"{self._count(level)} {level}" for level in LEVELS)
        return "\n".join([*lines, "", counts])

    def _count(self, level: str) -> int:
        return sum(one.level == level for one in self.findings)


def examine(start: Path, agent: str | None = None) -> Examination:
    """Return what is found in the workspace at or above a folder; what can't be examined is a finding.

    Index and snapshot are brought up to date; each installed hook is run a few times, under sessions that no count
    takes for real ones.
    """
    tried = hooks.Hooks()
    compared: list[Delivery] = []
    findings: list[Finding] = []
    try:
        workspace = find_workspace(start)
    except OrbitError as error:
        findings += ground.versions()
        findings.append(Finding("problem", "workspace", error.message, str(start), error.hint))
        return Examination(findings, tried, compared)
    findings += ground.examined(workspace)
    findings += hooks.examined(workspace, agent, tried)
    findings += delivery.examined(workspace, agent, bool(tried.tried), compared)
    return Examination(findings, tried, compared)
