"""Remembers what the records of a collection rest on, so that a run in which no record changed builds none."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence

from orbit_registry.store.freshness.ground import Ground, kinds_of
from orbit_registry.store.reader import Reading, cache_of
from orbit_registry.store.workspace import Workspace

_HOLDER = ".orbit/config.yaml"
"""The file under which the memory keeps its one value."""


def ground_of(workspace: Workspace, reading: Reading) -> Ground:
    """Return what the records rest on, asking them only where one of their files is another than before."""
    held = cache_of(workspace, "ground")
    state = held.state(_HOLDER)
    kinds = kinds_of(workspace.config)
    key = _key(workspace, reading, kinds)
    value = held.value(state)
    if isinstance(value, dict) and value.get("key") == key:
        return Ground(tuple(value["inputs"]), tuple((kind, reference) for kind, reference in value["evidence"]))
    ground = Ground.of(reading.collection.records, kinds)
    held.keep(state, {"key": key, "inputs": list(ground.inputs), "evidence": [list(one) for one in ground.evidence]})
    held.save()
    return ground


def _key(workspace: Workspace, reading: Reading, kinds: Sequence[str]) -> str:
    files = [[entry.path, reading.states[entry.path].sha256] for entry in reading.entries]
    phases = [[kind.name, status.name, status.phase] for kind in workspace.kinds for status in kind.statuses.values()]
    return hashlib.sha256(json.dumps([kinds, phases, files]).encode()).hexdigest()
