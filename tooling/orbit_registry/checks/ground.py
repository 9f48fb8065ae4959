"""Remembers what the records of a collection rest on, so that a run in which no record changed builds none."""

from __future__ import annotations

import hashlib
import json

from orbit_registry.store.cache import code_stamp
from orbit_registry.store.freshness import Ground
from orbit_registry.store.reader import Reading, cache_of
from orbit_registry.store.workspace import Workspace

_HOLDER = ".orbit/config.yaml"
"""The file under which the memory keeps its one value."""


def ground_of(workspace: Workspace, reading: Reading) -> Ground:
    """Return what the records rest on, asking them only where one of their files is another than before."""
    held = cache_of(workspace, "ground")
    state = held.state(_HOLDER)
    key = _key(reading)
    value = held.value(state)
    if isinstance(value, dict) and value.get("key") == key:
        return Ground(tuple(value["inputs"]), tuple((kind, reference) for kind, reference in value["evidence"]))
    ground = Ground.of(reading.collection.records)
    held.keep(state, {"key": key, "inputs": list(ground.inputs), "evidence": [list(one) for one in ground.evidence]})
    held.save()
    return ground


def _key(reading: Reading) -> str:
    files = [[entry.path, reading.states[entry.path].sha256] for entry in reading.entries]
    return hashlib.sha256(json.dumps([code_stamp(), files]).encode()).hexdigest()
