"""Freshness of a collection: probes what records depend on, then evaluates each record."""

from __future__ import annotations

import os
import re
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from orbit_registry.errors import GitError, OrbitError
from orbit_registry.formats.globs import Glob, parse_glob
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
from orbit_registry.operations.freshness.fingerprints import Fingerprints
from orbit_registry.operations.glob_counts import count_matches
from orbit_registry.repository.vcs_state import missing_files
from orbit_registry.workspace.config import Config
from orbit_registry.workspace.files import Folders, inside
from orbit_registry.workspace.git import Git
from orbit_registry.workspace.workspace import Workspace

_COMMIT = re.compile(r"[0-9a-f]{4,64}\Z")
_PLACE_IN_FILE = re.compile(r"(?:#.*|:\d+(?:[-:]\d+)*)\Z")
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
        open_records = [record for record in records if record.phase != "closed"]
        inputs = {entry.input for record in open_records for entry in fingerprint_inputs(record)}
        evidence = {item for record in open_records for item in record.evidence if item[0] in kinds}
        sources = {source for record in open_records if (source := source_hash(record)) is not None}
        return cls(tuple(sorted(inputs)), tuple(sorted(evidence)), tuple(sorted(sources)))


def volatility_windows(config: Config) -> Mapping[str, int | None]:
    """Return after how many days a record of each volatility wants another look."""
    configured = {name: config.setting("freshness", f"{name}_days") for name in WINDOWS}
    return {name: configured[name] if configured[name] is not None else days for name, days in WINDOWS.items()}


def evidence_kinds(config: Config) -> tuple[str, ...]:
    """Return the kinds of evidence that can be looked for; tasks only where the configuration says where they are."""
    return ("commit", "file", "task") if config.setting("freshness", "tasks") else ("commit", "file")


def probe(
    workspace: Workspace, dependencies: Dependencies, tracked: Sequence[str] | None, untracked: Sequence[str] = ()
) -> FilesystemView:
    """Return the state of what records depend on; `tracked` is sorted, None outside git."""
    fingerprints = Fingerprints(workspace.root, tracked)
    by_kind: dict[str, list[str]] = {}
    for kind, reference in dependencies.evidence:
        by_kind.setdefault(kind, []).append(reference)
    untold: list[tuple[str, str]] = []
    commits = [text for text in by_kind.get("commit", ()) if _COMMIT.match(text)] if tracked is not None else []
    lists = (tracked or (), untracked)
    is_present = {("commit", text): there for text, there in _commits(workspace.git, commits, untold).items()}
    for text in by_kind.get("file", ()):
        is_present["file", text] = _has_file(workspace.root, text, lists, listed=tracked is not None)
    templates: Sequence[str] = workspace.config.setting("freshness", "tasks")
    for text in by_kind.get("task", ()) if tracked is not None else ():
        is_present["task", text] = any(_is_in(form.replace("{id}", text).strip("/"), lists) for form in templates)
    return FilesystemView(
        {text: fingerprints.find(text) for text in dependencies.inputs},
        frozenset(evidence for evidence, there in is_present.items() if there),
        frozenset(evidence for evidence, there in is_present.items() if not there),
        tuple(untold),
        changed_sources(workspace, dependencies.sources),
    )


def changed_sources(workspace: Workspace, sources: Iterable[tuple[str, str]]) -> dict[tuple[str, str], bool]:
    """Return the files that no longer have the hash they had, and whether they are gone."""
    pairs = sorted(sources)
    inside_root = set(filter(Folders(workspace.root).contain, {path for path, _ in pairs}))
    states = workspace.cache.hashes(workspace.root, inside_root)
    changed = [
        (path, digest) for path, digest in pairs if path not in states or f"sha256:{states[path].sha256}" != digest
    ]
    return {
        (path, digest): path not in inside_root or not (workspace.root / path).is_file() for path, digest in changed
    }


def dependency_files(workspace: Workspace, dependencies: Dependencies) -> Iterator[str]:
    """Yield every path, from the root, whose change can change what `probe` sees; clock and history are left out."""
    tracked: Sequence[str] | None = None
    files = (reference for kind, reference in dependencies.evidence if kind == "file")
    for text in (*dependencies.inputs, *files, *(path for path, _ in dependencies.sources)):
        try:
            file = inside(workspace.root, _PLACE_IN_FILE.sub("", text) or text)
        except OrbitError:
            continue
        yield workspace.relative(file)
        if file.is_dir():
            tracked = (workspace.git.tracked() or ()) if tracked is None else tracked
            prefix = "" if file == workspace.root else f"{workspace.relative(file)}/"
            yield from (name for name in tracked if name.startswith(prefix) and not name.startswith(".orbit/"))


def evidence_paths(reference: str) -> tuple[str, ...]:
    """Return the paths that evidence may mean: as written, and without a trailing position in the file."""
    return tuple(dict.fromkeys((reference, _PLACE_IN_FILE.sub("", reference))))


def _commits(git: Git, references: Sequence[str], untold: list[tuple[str, str]]) -> dict[str, bool]:
    """Return whether the repository has each commit, all asked at once; what can't be told is left out."""
    if not references:
        return {}
    queries = "".join(f"{reference}^{{commit}}\n" for reference in references).encode()
    try:
        answers = git.run("cat-file", "--batch-check", stdin=queries).decode("utf-8", "replace").splitlines()
    except GitError as error:
        untold.append((f"whether commits named as evidence are there: {error.message}", "try `git fsck`"))
        return {}
    present = {
        reference: not answer.endswith(" missing") for reference, answer in zip(references, answers, strict=False)
    }
    if not all(present.values()) and git.is_shallow:
        count = sum(not is_there for is_there in present.values())
        message = f"whether {count} of the commits named as evidence {'is' if count == 1 else 'are'} there"
        untold.append((f"{message}: this clone is shallow", "fetch the history: `git fetch --unshallow`"))
        return {reference: True for reference, is_there in present.items() if is_there}
    return present


def _is_in(path: str, lists: Iterable[Sequence[str]]) -> bool:
    """Say whether a file, or a folder of one, is in one of the sorted lists of files."""
    folder = f"{path}/"
    for names in lists:
        index, below = bisect_left(names, path), bisect_left(names, folder)
        if (index < len(names) and names[index] == path) or (below < len(names) and names[below].startswith(folder)):
            return True
    return False


def _has_file(root: Path, reference: str, lists: Sequence[Sequence[str]], *, listed: bool) -> bool:
    """Say whether the file that evidence names is there; a place in it may follow the name."""
    for text in evidence_paths(reference):
        path = text.removeprefix("./").rstrip("/")
        try:
            if path and _is_in(path, lists) and os.path.lexists(f"{root}/{path}"):
                return True
            if not listed and inside(root, path).exists():
                return True
        except (OrbitError, OSError):
            continue
    return False


@dataclass(frozen=True, slots=True)
class FreshnessReport:
    """Freshness of records, and the file-system state it follows from."""

    freshness: Mapping[str, Freshness]
    """By the record's path; those left out are fresh or closed."""
    filesystem: FilesystemView
    files: tuple[str, ...] = ()
    """Tracked files, and those that git would add."""
    tracked: tuple[str, ...] = ()
    """The tracked ones of `files`."""
    dependencies: Dependencies = field(default_factory=Dependencies)
    """What was looked at."""
    scoped: Sequence[tuple[Record, tuple[str, ...]]] = ()
    """Pending and live records that have a scope, each with its globs."""
    counts: Mapping[str, int] | None = None
    """How many of the files each glob matches; None where git lists none."""
    lost: frozenset[str] = frozenset()
    """The files of records whose scope matches no file."""

    @property
    def relevant_untracked(self) -> tuple[str, ...] | None:
        """Untracked files, if one that appears or disappears can change a result; None if none can."""
        untracked = self.files[len(self.tracked) :]
        hangs = self.counts is not None and (untracked or self.lost or self.filesystem.missing)
        return untracked if hangs else None

    @property
    def dead(self) -> dict[str, tuple[str, ...]]:
        """Globs that include and match no file, by the record's path."""
        counts = self.counts
        if counts is None:
            return {}
        return {record.path: globs for record, paths in self.scoped if (globs := dead_globs(paths, counts))}


def dead_globs(paths: Sequence[str], counts: Mapping[str, int]) -> tuple[str, ...]:
    """Return the globs of a scope that include and match no file."""
    new = (text for text in paths if text not in counts)
    return tuple(text for text in new if isinstance(glob := parse_glob(text), Glob) and not glob.exclude)


def unmatched_scopes(scoped: Iterable[tuple[Record, tuple[str, ...]]], counts: Mapping[str, int]) -> frozenset[str]:
    """Return the files of records whose scope has globs that include, none of which matches a file."""
    return frozenset(
        record.path
        for record, paths in scoped
        if not any(text in counts for text in paths) and dead_globs(paths, counts)
    )


def stale_records(
    records: Iterable[Record],
    filesystem: FilesystemView,
    now: datetime,
    config: Config,
    lost: Collection[str],
    missing_documents: Collection[str],
) -> dict[str, Freshness]:
    """Return the freshness of pending and live records that are not fresh, by path; see `model.freshness.derive`."""
    windows = volatility_windows(config)
    derived = {
        record.path: derive(
            record, filesystem, now, windows, unmatched_scopes=lost, missing_documents=missing_documents
        )
        for record in records
        if record.phase != "closed"
    }
    return {path: freshness for path, freshness in derived.items() if freshness.reasons}


def evaluate_freshness(
    workspace: Workspace,
    records: Sequence[Record],
    now: datetime | None = None,
    *,
    without: Sequence[str] = (),
) -> FreshnessReport:
    """Return the freshness of records from the current state of disk and git.

    `without` are folders, from the root, whose untracked files are ignored: Orbit's own output.
    """
    tracked, untracked = _files(workspace, without)
    dependencies = Dependencies.of(records, evidence_kinds(workspace.config))
    filesystem = probe(workspace, dependencies, tracked, untracked)
    scoped = [(record, paths) for record in records if record.phase != "closed" and (paths := record.globs)]
    files = (*(tracked or ()), *untracked)
    counts: Mapping[str, int] | None = None
    if tracked is not None:
        counts = count_matches({text for _, paths in scoped for text in paths}, files)
    lost = unmatched_scopes(scoped, counts) if counts is not None else frozenset()
    documents = {record.source.path for record in records if record.source is not None}
    missing_documents = frozenset(missing_files(workspace.root, documents))
    freshness = stale_records(records, filesystem, now or datetime.now(UTC), workspace.config, lost, missing_documents)
    return FreshnessReport(freshness, filesystem, files, tuple(tracked or ()), dependencies, scoped, counts, lost)


def _files(workspace: Workspace, without: Sequence[str]) -> tuple[list[str] | None, list[str]]:
    """Return the tracked files, None where git lists none, and those that it would add."""
    try:
        tracked = workspace.git.tracked()
        if tracked is None:
            return None, []
        return tracked, workspace.git.untracked(without=without)
    except GitError:
        return None, []


def expiring_today(records: Iterable[Record], now: datetime, config: Config) -> set[str]:
    """Return the paths of the records of which the clock alone changes what is said before the day (UTC) ends."""
    now, windows = now.astimezone(UTC), volatility_windows(config)
    tomorrow = now.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)
    return {record.path for record in records if any(now < at <= tomorrow for at in expiry_moments(record, windows))}
