"""ORB506: a category that the project maps an agent to, and that no record has: the agent is never told anything."""

from __future__ import annotations

from collections.abc import Iterator

from orbit_registry.checks.check import Check
from orbit_registry.checks.context import CheckContext
from orbit_registry.checks.places import place_of
from orbit_registry.errors import meant
from orbit_registry.records.diagnostic import Diagnostic, Location, Severity
from orbit_registry.store.config import GENERAL, LEARNINGS, MAPPING, agent_name, default_mapping

CONFIG = ".orbit/config.yaml"


def run(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield the categories of the project's own mapping that neither a record nor the shipped table knows.

    Who takes the `#` from the shipped lines has not chosen those words, and learnings for them may come.
    """
    mapping = context.config.raw.get(LEARNINGS, {}).get(MAPPING)
    if not mapping:
        return
    used = {str(record.data["category"]) for record in context.everything if _counts(record.phase, record.data)}
    known = {GENERAL, *used}.union(*default_mapping().values())
    text = context.read(CONFIG)
    for agent, categories in mapping.items():
        for number, name in enumerate(categories):
            if name in known:
                continue
            place = place_of(text, (LEARNINGS, MAPPING, agent, number)) if text is not None else None
            near = meant(name, sorted(known), "`")
            hint = f"{near}`orbit learning list` shows what there is" if near else None
            message = f"no record has the category `{name}`, which {agent_name(agent)} is mapped to"
            yield CHECK.at(Location(CONFIG, place), message, hint=hint)


def _counts(phase: str, data: object) -> bool:
    return phase != "closed" and isinstance(data, dict) and "category" in data


CHECK = Check(
    "ORB506",
    "unused-category",
    Severity.ERROR,
    "An agent is mapped to a category that no record has.",
    "correct the category, take it out, or add the learning: `orbit learning add --category NAME`",
    run,
)
