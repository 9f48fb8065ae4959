"""Looks again at what changed since the last run and at what that reaches, and lets the other findings stand."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from orbit_registry.checks.catalogue import run_checks
from orbit_registry.checks.context import CheckContext
from orbit_registry.checks.derivation import turn_today
from orbit_registry.checks.families.files import CODES
from orbit_registry.checks.inputs import Inputs
from orbit_registry.checks.material import Material, Pairs
from orbit_registry.checks.members import Member, Memory, Reach, tokens_of
from orbit_registry.checks.neighbours import FEWEST_TO_ERR
from orbit_registry.checks.remembered import Result
from orbit_registry.records.diagnostic import Diagnostic, diagnostic_of, row_of
from orbit_registry.store.decisions.documents import UNREADABLE_DOCUMENT

_TIMED = "ORB107"
"""Findings that the clock alone can change: a vote dated ahead."""
_SAID_EACH_TIME = CODES - {UNREADABLE_DOCUMENT}
"""What reading the records says is said in each run, whichever of them it looks at."""


def run(inputs: Inputs) -> tuple[Result, bool]:
    """Return what the checks find, and whether it may be remembered under the key of these inputs."""
    memory, material = Memory(inputs), Material(inputs)
    now, changed = _members(memory, material, inputs)
    again = looked_at = set(now)
    if len(changed) < len(now):
        reach = Reach(memory.members, now)
        again = reach.of({*changed, *(memory.members.keys() - now.keys())})
        looked_at = again | reach.group(reach.asked_by(again))
    context = material.context(now, looked_at)

    found: list[Diagnostic] = []
    rows: dict[str, list[list[object]]] = defaultdict(list)
    for one in run_checks(context):
        owner = material.owner(one.location.path)
        if one.code in _SAID_EACH_TIME or owner is None:
            found.append(one)
        elif owner in again:
            found.append(one)
            rows[owner].append(row_of(one))
    standing = [diagnostic_of(row) for path, member in now.items() if path not in again for row in member.found]
    turning = turn_today(context.records, inputs.now, context.config)
    if material.is_steady:
        for path in again:
            now[path] = now[path]._replace(found=rows.get(path, []), token="" if path in turning else now[path].token)
        memory.keep(now)
    inputs.reading.save()
    lasts = not turning and not any(one.code == _TIMED for one in found)
    diagnostics = sorted({*found, *standing}, key=lambda one: one.sort_key)
    return Result(tuple(diagnostics), material.count, inputs.facts.base), material.is_steady and lasts


def _members(memory: Memory, material: Material, inputs: Inputs) -> tuple[dict[str, Member], set[str]]:
    """Return all members as they are now, and the paths of those that are not as they were."""
    before, now, changed = memory.members, dict[str, Member](), set[str]()

    def look_at(tokens: Mapping[str, str]) -> None:
        for path, token in tokens.items():
            member = before.get(path)
            if member is None or member.token != token:
                member = material.member(path, token)
                changed.add(path)
            now[path] = member

    own, others = tokens_of(inputs)
    look_at(own)
    look_at(others)
    for path, seen in material.seen(now, [*changed] if memory.has_files else [*now]):
        if seen != now[path].seen:
            now[path] = now[path]._replace(seen=seen)
            changed.add(path)
    inputs.reading.save()
    moved = {*changed, *(before.keys() - now.keys())}
    pairs: Pairs = {path: held.pairs for path in now if (held := before.get(path)) is not None and held.pairs}
    if any(_said(before, path) != _said(now, path) for path in moved):
        pairs = material.pairs(now, FEWEST_TO_ERR)
    for path, member in now.items():
        found = pairs.get(path, ())
        if found != member.pairs and (found or member.pairs):
            now[path] = member._replace(pairs=found)
            changed.add(path)
    return now, changed


def _said(members: Mapping[str, Member], path: str) -> str | None:
    return members[path].said if path in members else None


def context_of(inputs: Inputs) -> CheckContext:
    """Return what the checks look at where all of it is looked at, whatever the last run left."""
    material = Material(inputs)
    own, others = tokens_of(inputs)
    members = {path: material.member(path, token) for path, token in (own | others).items()}
    for path, pairs in material.pairs(members, FEWEST_TO_ERR).items():
        members[path] = members[path]._replace(pairs=pairs)
    return material.context(members, members.keys())
