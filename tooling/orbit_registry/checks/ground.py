"""Remembers what the records of a collection rest on, so that a run in which no record changed builds none."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence

from orbit_registry.store.cache import code_stamp
from orbit_registry.store.freshness.ground import Ground, kinds_of
from orbit_registry.store.kept import KeptValue
from orbit_registry.store.reader import Reading, fingerprint
from orbit_registry.store.workspace import Workspace


def ground_of(workspace: Workspace, reading: Reading) -> Ground:
    """Return what the records rest on, asking them only where one of their files is another than before."""
    kinds = kinds_of(workspace.config)
    held = KeptValue(workspace, "ground", _key(workspace, reading, kinds))
    match held.value:
        case {"inputs": list(inputs), "evidence": list(evidence)}:
            return Ground(tuple(inputs), tuple((kind, reference) for kind, reference in evidence))
    ground = Ground.of(reading.collection.records, kinds)
    held.keep({"inputs": list(ground.inputs), "evidence": [list(one) for one in ground.evidence]})
    return ground


def _key(workspace: Workspace, reading: Reading, kinds: Sequence[str]) -> str:
    files = [[entry.path, reading.states[entry.path].sha256] for entry in reading.entries]
    phases = [[kind.name, status.name, status.phase] for kind in workspace.kinds for status in kind.statuses.values()]
    return hashlib.sha256(
        json.dumps([code_stamp(), fingerprint(workspace.kinds), kinds, phases, files]).encode()
    ).hexdigest()
