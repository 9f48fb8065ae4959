"""Freshness of a collection: probes what records depend on, then evaluates each record."""

from __future__ import annotations

import os
import re
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path

from orbit_registry.errors import GitError, OrbitError, UsageError, did_you_mean
from orbit_registry.formats.globs import readable_globs
from orbit_registry.model.freshness import (
    WINDOWS,
    FilesystemView,
    Freshness,
    derive,
    expiry_moments,
    fingerprint_inputs,
    source_hash,
)
from orbit_registry.model.record import Record
from orbit_registry.model.scope import symbol_problem
from orbit_registry.operations.freshness.fingerprints import Fingerprints
from orbit_registry.operations.glob_counts import Count, count_matches, counter_in
from orbit_registry.workspace.config import Config
from orbit_registry.workspace.files import inside, is_inside, missing_files
from orbit_registry.workspace.git import Git
from orbit_registry.workspace.workspace import Workspace

_COMMIT = re.compile(r"[0-9a-f]{4,64}\Z")
PLACE_IN_FILE = re.compile(r"(?:#.*|:\d+(?:[-:]\d+)*)\Z")
"""What evidence may say after a path: `src/app.py:12`, `src/app.py#L3-L9`."""
Evidence = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Dependencies:
    """What the records of a collection depend on, each thing once."""

    inputs: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    sources: tuple[tuple[str, str], ...] = ()
    """Files that texts were taken from, each with the hash it had then."""

    @classmethod
    def of(cls, records: Iterable[Record], kinds: Collection[str]) -> Dependencies:
        """Return what pending and live records depend on, with evidence of these kinds."""
        inputs: set[str] = set()
        evidence: set[Evidence] = set()
        sources: set[tuple[str, str]] = set()

        for record in records:
            if record.phase == "closed":
                continue

            inputs.update(entry.input for entry in fingerprint_inputs(record))
            evidence.update(item for item in record.evidence if item[0] in kinds)
            source = source_hash(record)
            if source is not None:
                sources.add(source)

        return cls(tuple(sorted(inputs)), tuple(sorted(evidence)), tuple(sorted(sources)))


def volatility_windows(config: Config) -> Mapping[str, int | None]:
    """Return after how many days a record of each volatility is due for another check."""
    windows = dict(WINDOWS)
    for name in WINDOWS:
        days = config.setting("freshness", f"{name}_days")
        if days is not None:
            windows[name] = days

    return windows


def evidence_kinds(config: Config) -> tuple[str, ...]:
    """Return the kinds of evidence that can be looked for;
    tasks only where the configuration says where they are.
    """
    if config.setting("freshness", "tasks"):
        return ("commit", "file", "task")
    return ("commit", "file")


def probe(
    workspace: Workspace,
    dependencies: Dependencies,
    tracked: Sequence[str] | None,
    untracked: Sequence[str] = (),
) -> FilesystemView:
    """Return the state of what records depend on; `tracked` is sorted, None outside git."""
    root, git = workspace.root, workspace.git
    lists, listed = (tracked or (), untracked), tracked is not None
    templates: Sequence[str] = workspace.config.setting("freshness", "tasks")
    untold: list[tuple[str, str]] = []
    is_present: dict[Evidence, bool] = {}
    commits: list[str] = []

    for kind, text in dependencies.evidence:
        if kind == "file":
            is_here = _has_file(root, text, lists, listed=listed)
            is_present[kind, text] = is_here or _names_of(text)[-1] in git.not_checked_out
        elif kind == "commit" and listed and _COMMIT.match(text):
            commits.append(text)
        elif kind == "task" and listed:
            paths = (form.replace("{id}", text).strip("/") for form in templates)
            is_present[kind, text] = any(_is_in(path, lists) for path in paths)

    for text, there in _commits(git, commits, untold).items():
        is_present["commit", text] = there

    fingerprints = Fingerprints(root, tracked, git)
    present = {evidence for evidence, there in is_present.items() if there}
    return FilesystemView(
        {text: fingerprints.find(text) for text in dependencies.inputs},
        frozenset(present),
        frozenset(is_present.keys() - present),
        tuple(untold),
        changed_sources(workspace, dependencies.sources),
    )


def changed_sources(
    workspace: Workspace, sources: Iterable[tuple[str, str]]
) -> dict[tuple[str, str], bool]:
    """Return the files that no longer have the hash they had, and whether they are gone."""
    root = workspace.root
    pairs = sorted(sources)
    inside_root = {path for path, _ in pairs if is_inside(root, path)}
    states = workspace.cache.hashes(root, inside_root)

    changed: dict[tuple[str, str], bool] = {}
    for path, sha256 in pairs:
        if path not in states and path in workspace.git.not_checked_out:
            continue
        if path not in states or f"sha256:{states[path].sha256}" != sha256:
            changed[path, sha256] = path not in inside_root or not (root / path).is_file()

    return changed


def dependency_files(workspace: Workspace, dependencies: Dependencies) -> Iterator[str]:
    """Yield every path, from the root, whose change can change what `probe` sees;
    clock and history are left out.
    """
    tracked: Sequence[str] | None = None
    files = (reference for kind, reference in dependencies.evidence if kind == "file")
    sources = (path for path, _ in dependencies.sources)

    for text in (*dependencies.inputs, *files, *sources):
        try:
            file = inside(workspace.root, PLACE_IN_FILE.sub("", text) or text)
        except OrbitError:
            continue

        path = workspace.relative(file)
        yield path

        if file.is_dir():
            if tracked is None:
                tracked = workspace.git.tracked() or ()

            prefix = "" if file == workspace.root else f"{path}/"
            for name in tracked:
                if name.startswith(prefix) and not name.startswith(".orbit/"):
                    yield name


def _commits(git: Git, references: Sequence[str], untold: list[tuple[str, str]]) -> dict[str, bool]:
    if not references:
        return {}

    queries = "".join(f"{reference}^{{commit}}\n" for reference in references).encode()
    try:
        output = git.run("cat-file", "--batch-check", stdin=queries)
    except GitError as error:
        message = f"whether commits named as evidence are there: {error.message}"
        untold.append((message, "try `git fsck`"))
        return {}

    answers = output.decode("utf-8", "replace").splitlines()
    present = {
        reference: not answer.endswith(" missing")
        for reference, answer in zip(references, answers, strict=False)
    }

    missing = [reference for reference, is_there in present.items() if not is_there]
    if missing and git.is_shallow:
        count = len(missing)
        verb = "is" if count == 1 else "are"
        message = f"whether {count} of the commits named as evidence {verb} there"
        hint = "fetch the history: `git fetch --unshallow`"
        untold.append((f"{message}: this clone is shallow", hint))
        for reference in missing:
            del present[reference]

    return present


def _is_in(path: str, lists: Iterable[Sequence[str]]) -> bool:
    folder = f"{path}/"
    for names in lists:
        index = bisect_left(names, path)
        if index < len(names) and names[index] == path:
            return True

        below = bisect_left(names, folder)
        if below < len(names) and names[below].startswith(folder):
            return True

    return False


def _names_of(reference: str) -> list[str]:
    """Return the paths that a reference may mean, the one without a place in the file last."""
    texts = dict.fromkeys((reference, PLACE_IN_FILE.sub("", reference)))
    return [text.removeprefix("./").rstrip("/") for text in texts]


def _has_file(root: Path, reference: str, lists: Sequence[Sequence[str]], *, listed: bool) -> bool:
    for path in _names_of(reference):
        try:
            if path and _is_in(path, lists) and os.path.lexists(f"{root}/{path}"):
                return True
            if not listed and inside(root, path).exists():
                return True
        except (OrbitError, OSError):
            continue

    return False


def refuse_missing_evidence(workspace: Workspace, evidence: object) -> None:
    """Raise where someone states a file as evidence that is neither on disk nor in git."""
    entries = evidence if isinstance(evidence, Sequence) else ()
    for entry in entries:
        if not isinstance(entry, Mapping) or entry.get("kind") != "file":
            continue

        reference = entry.get("reference")
        if not isinstance(reference, str):  # the schema of records refuses it
            continue

        names = _names_of(reference)
        if not is_inside(workspace.root, names[-1]):  # the writer of records refuses it
            continue

        is_here = any(os.path.lexists(workspace.root / name) for name in names)
        if is_here or names[-1] in workspace.git.not_checked_out:
            continue

        tracked, untracked = workspace.git.files()
        near = did_you_mean(names[-1], (*(tracked or ()), *untracked), "`")
        raise UsageError(
            f"evidence `file:{reference}`: {names[-1]} is not there",
            hint=f"{near}name a file from the root; for a deleted one, `commit:HASH`",
        )


@dataclass(frozen=True)
class FreshnessReport:
    """Freshness of records, and the state of disk and git that it follows from."""

    records: Iterable[Record]
    filesystem: FilesystemView
    tracked: Sequence[str] | None  # tracked files; None where git lists none
    untracked: Sequence[str]  # files that git would add
    missing_documents: Collection[str]
    now: datetime
    config: Config
    dependencies: Dependencies = field(default_factory=Dependencies)  # what was looked at
    count: Count = count_matches

    @cached_property
    def freshness(self) -> Mapping[str, Freshness]:
        """Freshness of pending and live records that are not fresh, by path."""
        windows = volatility_windows(self.config)
        result: dict[str, Freshness] = {}
        for record in self.records:
            if record.phase == "closed":
                continue

            freshness = derive(
                record,
                self.filesystem,
                self.now,
                windows,
                unmatched_scopes=self._unmatched,
                missing_documents=self.missing_documents,
            )
            if freshness.reasons:
                result[record.path] = freshness

        return result

    @cached_property
    def files(self) -> tuple[str, ...]:
        """Tracked files, and those that git would add."""
        return (*(self.tracked or ()), *self.untracked)

    @cached_property
    def scoped(self) -> tuple[tuple[Record, tuple[str, ...]], ...]:
        """Pending and live records that have a scope, each with its globs."""
        open_records = (record for record in self.records if record.phase != "closed")
        return tuple((record, paths) for record in open_records if (paths := record.globs))

    @cached_property
    def counts(self) -> Mapping[str, int]:
        """How many of the files each glob matches; one that matches none is left out."""
        globs = set().union(*(paths for _, paths in self.scoped))
        return self.count(globs, self.files)

    @cached_property
    def dead(self) -> Mapping[str, tuple[str, ...]]:
        """Globs that include and match no file, by the record's path."""
        dead: dict[str, tuple[str, ...]] = {}
        if self.tracked is None:
            return dead

        for record, paths in self.scoped:
            globs = dead_globs(paths, self.counts)
            if globs:
                dead[record.path] = globs

        return dead

    @cached_property
    def dead_symbols(self) -> Mapping[str, tuple[str, ...]]:
        """Symbols whose file is not there, by the record's path."""
        with_symbols = [record for record in self.records if record.symbols]
        if self.tracked is None or not with_symbols:
            return {}

        files = frozenset(self.files)
        dead: dict[str, tuple[str, ...]] = {}
        for record in with_symbols:
            symbols = (text for text in record.symbols if symbol_problem(text) is None)
            missing = tuple(text for text in symbols if text.partition("::")[0] not in files)
            if missing and record.phase != "closed":
                dead[record.path] = missing

        return dead

    @cached_property
    def _unmatched(self) -> frozenset[str]:
        matched = {record.path for record, paths in self.scoped if self.counts.keys() & paths}
        return frozenset(self.dead.keys() - matched)

    @property
    def relevant_untracked(self) -> tuple[str, ...] | None:
        """Untracked files, if one that appears or disappears can change a result;
        None if none can.
        """
        can_change = self.tracked is not None and (
            self.untracked or self._unmatched or self.filesystem.missing
        )
        if can_change:
            return tuple(self.untracked)

        return None


def dead_globs(paths: Sequence[str], counts: Mapping[str, int]) -> tuple[str, ...]:
    """Return the globs of a scope that include and match no file."""
    new = readable_globs(text for text in paths if text not in counts)
    return tuple(glob.text for glob in new if not glob.exclude)


def evaluate_freshness(
    workspace: Workspace,
    records: Sequence[Record],
    now: datetime | None = None,
    *,
    without: Sequence[str] = (),
) -> FreshnessReport:
    """Return the freshness of records now; untracked files in the folders `without`,
    Orbit's output, do not count.
    """
    tracked, untracked = workspace.git.files(without=without)
    dependencies = Dependencies.of(records, evidence_kinds(workspace.config))
    filesystem = probe(workspace, dependencies, tracked, untracked)
    documents = {record.source.path for record in records if record.source is not None}
    missing = frozenset(missing_files(workspace.root, documents))
    if missing:
        missing -= workspace.git.not_checked_out

    moment = now or datetime.now(UTC)
    return FreshnessReport(
        records,
        filesystem,
        tracked,
        untracked,
        missing,
        moment,
        workspace.config,
        dependencies,
        counter_in(workspace.cache, "freshness"),
    )


def expiring_today(records: Iterable[Record], now: datetime, config: Config) -> set[str]:
    """Return the paths of the records whose freshness the clock alone changes before the day (UTC)
    ends.
    """
    now, windows = now.astimezone(UTC), volatility_windows(config)
    tomorrow = now.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)

    def expires(record: Record) -> bool:
        return any(now < at <= tomorrow for at in expiry_moments(record, windows))

    return {record.path for record in records if expires(record)}
