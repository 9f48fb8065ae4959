"""What single checks remember of earlier runs; each memory is void where what it depends on has another key."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping, Sequence

from orbit_registry.checks.catalogue import all_checks
from orbit_registry.checks.context import CheckContext
from orbit_registry.checks.inputs import Inputs, kinds_stamp
from orbit_registry.checks.matching import count_covered, count_matches
from orbit_registry.records.diagnostic import Diagnostic
from orbit_registry.search.kept import KeptIndex
from orbit_registry.search.similarity import Pair
from orbit_registry.store.cache import code_stamp
from orbit_registry.store.kept import KeptValue
from orbit_registry.store.workspace import Workspace


def digest(*parts: object) -> str:
    """Return a hash of values that JSON can hold."""
    return hashlib.sha256(json.dumps(parts, default=str).encode()).hexdigest()


class Proven:
    """The records in which the checks that look at one record alone found nothing."""

    def __init__(self, inputs: Inputs) -> None:
        self._tokens = _tokens(inputs)
        key = digest(code_stamp(), kinds_stamp(inputs.workspace), repr(inputs.workspace.config))
        self._kept = KeptValue(inputs.workspace, "proven", key)

    @property
    def paths(self) -> frozenset[str]:
        """Their files, as far as neither they nor their prose changed since."""
        known = self._kept.value
        return frozenset(path for path, token in self._tokens.items() if known.get(path) == token)

    def keep(self, context: CheckContext, found: Iterable[Diagnostic]) -> None:
        """Remember the records that the last run proved."""
        alone = {check.code for check in all_checks() if check.alone}
        wrong = {one.record for one in found if one.code in alone}
        paths = (record.path for record in context.records if record.id not in wrong)
        tokens = {path: self._tokens[path] for path in paths if path in self._tokens}
        if tokens != self._kept.value:
            self._kept.keep(tokens)


def _tokens(inputs: Inputs) -> dict[str, str]:
    """Return what tells each record and its prose from other versions of them."""
    tokens = {}
    for entry in inputs.reading.entries:
        named = inputs.reading.document_of(entry)
        prose = [path for path in (named, entry.body_path if entry.has_body else None) if path is not None]
        states = [inputs.reading.states[entry.path], *(inputs.texts[path] for path in prose if path in inputs.texts)]
        tokens[entry.path] = " ".join(state.sha256[:32] for state in states)
    return tokens


class Counts:
    """How many files each glob matches, while the files are the same."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def __call__(self, texts: Collection[str], files: Sequence[str]) -> Mapping[str, int]:
        """Return what `matching.count_matches` does, matching only globs that are new."""
        kept = KeptValue(self._workspace, "matches", digest(code_stamp(), files))
        known = {text: count for text, count in kept.value.items() if isinstance(count, int)}
        new = [text for text in texts if text not in known]
        if new:
            counted = count_matches(new, files)
            known |= {text: counted.get(text, 0) for text in new}
            kept.keep(dict(known))
        return {text: count for text in texts if (count := known[text])}


class Covered:
    """How many files each scope matches, while the files are the same; asked of broad scopes only."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def __call__(self, scopes: Collection[tuple[str, ...]], files: Sequence[str]) -> Mapping[tuple[str, ...], int]:
        """Return what `matching.count_covered` does, matching only scopes that are new."""
        kept = KeptValue(self._workspace, "covered", digest(code_stamp(), files))
        known = {tuple(json.loads(scope)): count for scope, count in kept.value.items() if isinstance(count, int)}
        if new := [scope for scope in scopes if scope not in known]:
            known |= count_covered(new, files)
            kept.keep({json.dumps(scope): count for scope, count in known.items()})
        return known


class Near:
    """The pairs of texts that are nearly the same: remembered while no text changed, else computed from what is."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def __call__(self, kind: str, texts: Mapping[str, str], threshold: float) -> Sequence[Pair]:
        """Return what `context.near_pairs` does."""
        whole = digest(code_stamp(), threshold, sorted(texts.items()))
        pairs = KeptValue(self._workspace, f"near-{kind}", whole)
        rows = pairs.value.get("pairs")
        if isinstance(rows, list):
            return [Pair(str(a), str(b), float(score)) for a, b, score in rows]
        kept = KeptIndex(self._workspace, kind)
        index = kept.of(texts)
        found = index.pairs(threshold)
        pairs.keep({"pairs": [[pair.a, pair.b, pair.score] for pair in found]})
        kept.keep(index, texts)
        return found
