"""Search by meaning where a model is configured: cached vectors, exact cosines, z-score fusion.

Off by default: on the corpora measured here vectors of small models did not beat terms. A model
that is missing, fails or changes its vectors' length leaves the search to words, with one note.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import math
import os
import re
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from operator import mul
from pathlib import Path
from typing import NamedTuple

from orbit_registry.errors import ConfigError, OrbitError, UnsafePathError
from orbit_registry.workspace.files import inside
from orbit_registry.workspace.workspace import Workspace

Texts = Sequence[str]
Numbers = Sequence[float]
Pairs = dict[tuple[str, str], float]

LONGEST = 4_000  # characters of a record that its vector is made of, from its title on
_BATCH = 256
_EXTRA = (
    "install the extra `orbit-registry[semantic]`, or take `search.model` out of .orbit/config.yaml"
)
_LOCATION = (
    "name a folder of the project with a model, without links, or one on the hub, as `search.model`"
)
_ON_HUB = re.compile(r"[A-Za-z0-9][\w.-]*(?:/[A-Za-z0-9][\w.-]*)?", re.ASCII)
_PROGRAM = (
    'print {"vectors": [[…], …]}, one vector for each of the `texts` on standard input, '
    "all of one length"
)


@dataclass(frozen=True, slots=True)
class Embedder:
    """A model that turns texts into vectors of one length.

    Another `name` means that all vectors are made anew.
    """

    name: str  # which model it is, and in which state
    embed: Callable[[Texts], Sequence[Numbers]]
    """Returns a vector for each text; raises `ConfigError` where it can't."""


def configured(workspace: Workspace) -> Callable[[], Embedder] | None:
    """Return what loads the model of a project; None if it has none."""
    config = workspace.config
    path, words = config.setting("search", "model"), config.setting("search", "command")
    if not path and not words:
        return None

    from orbit_registry.workspace.trusted_commands import not_run_message, run_program

    key = "search.model" if path else "search.command"

    def load() -> Embedder:
        refusal = not_run_message(workspace, key)
        if refusal:
            raise ConfigError(refusal, hint="`orbit trust` shows it and asks")
        if path:
            return model2vec(str(path), workspace.root)

        seconds = float(config.setting("search", "timeout_seconds"))
        return program(words, lambda text: run_program(workspace, key, seconds, text))

    return load


def state_of_model(workspace: Workspace) -> str:
    """Return which model a project has, or why it can't be used; empty without a model."""
    load = configured(workspace)
    if load is None:
        return ""
    try:
        return load().name
    except OrbitError as error:
        return str(error)


def model2vec(location: str, root: Path) -> Embedder:
    """Return a static model of a folder, or of the hub by its name.

    `model2vec` loads it when it is first asked.
    """
    folder = _folder_of(location, root)
    digest = _digest("\n".join(_state_of(folder, location)) if folder else "")[:16]

    def embed(texts: Texts) -> Sequence[Numbers]:
        source = str(folder or location)
        try:
            model = importlib.import_module("model2vec").StaticModel.from_pretrained(source)
            return [list(map(float, vector)) for vector in model.encode(list(texts))]
        except ImportError:
            raise ConfigError("model2vec is not installed", hint=_EXTRA) from None
        except Exception as error:  # noqa: BLE001 - readers of models raise `Exception` itself too
            message = f"the model {source} can't be loaded: {_first_line(error)}"
            raise ConfigError(message, hint=_LOCATION) from None

    return Embedder(f"model2vec {location} {digest}", embed)


def _state_of(folder: Path, location: str) -> list[str]:
    """Return a line for each file of a model, which changes with it."""
    state = []
    try:
        for file in sorted(folder.rglob("*")):
            if file.is_symlink():
                message = f"the model {location} has a symbolic link, {file.name}"
                raise ConfigError(message, hint=_LOCATION)

            status = file.stat()
            state.append(f"{file.name} {status.st_size} {status.st_mtime_ns}")
    except OSError as error:
        message = f"the model {location} can't be read: {_first_line(error)}"
        raise ConfigError(message, hint=_LOCATION) from None

    return state


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _folder_of(location: str, root: Path) -> Path | None:
    try:
        folder = inside(root, location)
        if folder.is_dir():
            return folder
    except (UnsafePathError, OSError) as error:
        message = f"`search.model` can't be used: {_first_line(error)}"
        raise ConfigError(message, hint=_LOCATION) from None

    # A library that is given a name looks first for what is called so in the current folder.
    if not _ON_HUB.fullmatch(location) or os.path.lexists(folder) or os.path.lexists(location):
        message = f"`search.model`: {location[:200]!r} is not a folder of the project"
        raise ConfigError(message, hint=_LOCATION)

    return None


def _first_line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), "")[:200] or type(error).__name__


def program(words: Sequence[str], ask: Callable[[str], str]) -> Embedder:
    """Return a program that reads `{"texts": […]}` and prints `{"vectors": [[…], …]}`.

    `ask` runs it on a text.
    """

    def embed(texts: Texts) -> Sequence[Numbers]:
        try:
            vectors = json.loads(ask(json.dumps({"texts": list(texts)})))["vectors"]
            return [list(map(float, vector)) for vector in vectors]
        except (ValueError, TypeError, KeyError, RecursionError):
            raise ConfigError("`search.command` printed no vectors", hint=_PROGRAM) from None

    return Embedder(f"command {json.dumps(list(words))}", embed)


def unit(vector: Iterable[float]) -> array[float]:
    """Return a vector of length one with the same direction; a null vector is not changed."""
    numbers = array("f", vector)
    length = math.sqrt(math.fsum(map(mul, numbers, numbers)))
    if not length or not math.isfinite(length):
        return numbers

    return array("f", (number / length for number in numbers))


class Vectors(NamedTuple):
    """Vectors of one model, of records by path and of texts; their length is one, or 0."""

    model: str
    records: Mapping[str, Numbers]
    texts: Mapping[str, Numbers]


class Meanings:
    """The vectors of texts, by key, made only of those that changed since the last run."""

    def __init__(
        self,
        workspace: Workspace,
        embedder: Embedder,
        texts: Mapping[str, str],
        namespace: str = "vectors",
    ) -> None:
        """Make what is missing."""
        self._embedder = embedder
        self._cache, self._namespace = workspace.cache, namespace
        cut = {key: text[:LONGEST] for key, text in texts.items()}
        digests = {key: _digest(text) for key, text in cut.items()}

        # Equal texts have one vector; the cache has those of the last run.
        stored = workspace.cache.recall(namespace, embedder.name) or {}
        vectors = {digest: array("f", bytes.fromhex(numbers)) for digest, numbers in stored.items()}
        missing = {digest: cut[key] for key, digest in digests.items() if digest not in vectors}
        new = list(missing)

        for start in range(0, len(new), _BATCH):
            batch = new[start : start + _BATCH]
            embedded = self._embed([missing[digest] for digest in batch])
            vectors.update(zip(batch, embedded, strict=True))

        # What no text has any more leaves the cache.
        current = {digest: vectors[digest] for digest in digests.values()}
        if missing or len(current) < len(vectors):
            by_digest = {digest: vector.tobytes().hex() for digest, vector in current.items()}
            workspace.cache.remember(namespace, embedder.name, by_digest)

        self._digests = digests
        self._vectors = {key: current[digest] for key, digest in digests.items()}

    def cosines(self, text: str) -> dict[str, float]:
        """Return how near each text is to one, from -1 to 1."""
        (query_vector,) = self._embed([text[:LONGEST]])
        if any(len(vector) != len(query_vector) for vector in self._vectors.values()):
            hint = "delete orbit/cache.sqlite in git's folder"
            raise ConfigError("the model's vectors have another length than before", hint=hint)

        return {
            key: math.fsum(map(mul, query_vector, vector)) for key, vector in self._vectors.items()
        }

    def pairs(self, threshold: float, only: Set[str] | None = None) -> Pairs:
        """Return how near texts are, from a threshold up; with `only`, the pairs that have one of
        these keys.
        """
        if only is not None:
            return self._near(threshold, only)

        # All pairs of 1,000 texts take seconds, so those of the last run are remembered.
        namespace, key = f"{self._namespace} pairs", f"{threshold} {self._embedder.name}"
        compared: dict[str, str] = {}
        rows: list[tuple[str, str, float]] = []
        stored = self._cache.recall(namespace, key)
        if stored is not None:
            compared, rows = stored

        digests = self._digests
        changed = {text for text, digest in digests.items() if compared.get(text) != digest}
        near = self._near(threshold, changed)
        for first, second, nearness in rows:
            if changed.isdisjoint((first, second)) and {first, second} <= digests.keys():
                near[first, second] = nearness

        if compared != digests:
            near_rows = [[*pair, nearness] for pair, nearness in near.items()]
            self._cache.remember(namespace, key, [digests, near_rows])

        return near

    def _near(self, threshold: float, only: Set[str]) -> Pairs:
        near = {}
        for key in only:
            for other, vector in self._vectors.items():
                if other == key:
                    continue

                nearness = sum(map(mul, self._vectors[key], vector))
                if nearness >= threshold:
                    near[min(key, other), max(key, other)] = nearness

        return near

    def vectors(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors that there are, with those of more texts."""
        more = self._embed([text[:LONGEST] for text in texts]) if texts else []
        return Vectors(self._embedder.name, self._vectors, dict(zip(texts, more, strict=True)))

    def _embed(self, texts: Sequence[str]) -> list[array[float]]:
        vectors = [unit(vector) for vector in self._embedder.embed(texts)]
        if len(vectors) != len(texts) or len({len(vector) for vector in vectors}) > 1:
            counts = f"{len(vectors)} vectors for {len(texts)} texts, or of several lengths"
            raise ConfigError(f"{self._embedder.name} gave {counts}", hint=_PROGRAM)

        return vectors


def z_fused(
    by_terms: Mapping[str, float], by_meaning: Mapping[str, float], most: int
) -> list[tuple[str, float]]:
    """Return keys by the sum of how far each ranking sets them off, with falling scores.

    The nearest `most` by meaning join those that terms led to, if they are near at all. Scores are
    from 0 to 1 and stay those of the terms; what terms did not lead to brings its nearness as a
    part of the best of them, or whole where there is none.
    """
    near = [key for key, nearness in by_meaning.items() if round(nearness, 2) > 0]
    nearest = sorted(near, key=lambda key: (-by_meaning[key], key))[:most]
    keys = list(dict.fromkeys((*by_terms, *nearest)))

    terms = _z([by_terms.get(key, 0.0) for key in keys])
    meaning = _z([by_meaning.get(key, 0.0) for key in keys])
    # Two kinds of scores can't be added; how far each sets a key off can.
    best = max(by_terms.values(), default=1.0)
    scores = [by_terms.get(key, max(by_meaning.get(key, 0.0), 0.0) * best) for key in keys]
    scores.sort(reverse=True)

    order = sorted(range(len(keys)), key=lambda at: (-(terms[at] + meaning[at]), keys[at]))
    return list(zip([keys[at] for at in order], scores, strict=True))


def _z(values: Sequence[float]) -> list[float]:
    """Return how many standard deviations each value is above the mean."""
    if not values:
        return []
    mean = math.fsum(values) / len(values)
    spread = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / len(values))
    if not spread:
        return [0.0] * len(values)

    return [(value - mean) / spread for value in values]
