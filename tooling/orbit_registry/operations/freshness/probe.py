"""Looks at what records rest on, all of it at once: fingerprint inputs, commits, files and tasks; it judges nothing."""

from __future__ import annotations

import os
import re
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from orbit_registry.errors import GitError, OrbitError
from orbit_registry.model.freshness import WINDOWS, FilesystemView, fingerprint_inputs, source_hash
from orbit_registry.model.record import Record
from orbit_registry.operations.freshness.fingerprints import Fingerprints
from orbit_registry.workspace.config import Config
from orbit_registry.workspace.files import Folders, inside
from orbit_registry.workspace.git import Git
from orbit_registry.workspace.workspace import Workspace

_COMMIT = re.compile(r"[0-9a-f]{4,64}\Z")
_PLACE_IN_FILE = re.compile(r"(?:#.*|:\d+(?:[-:]\d+)*)\Z")
"""What evidence may say after a path: `src/app.py:12`, `src/app.py#L3-L9`."""
Evidence = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Ground:
    """What the records of a collection rest on, each thing once."""

    inputs: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    taken: tuple[tuple[str, str], ...] = ()
    """Files that texts were taken from, each with the hash it had then."""

    @classmethod
    def of(cls, records: Iterable[Record], kinds: Collection[str]) -> Ground:
        """Return what records that wait or hold rest on, evidence of these kinds among it."""
        held = [record for record in records if record.phase != "closed"]
        inputs = {entry.input for record in held if "freshness" in record.data for entry in fingerprint_inputs(record)}
        evidence = {
            (kind, reference)
            for record in held
            if "evidence" in record.data
            for kind, reference in record.evidence
            if kind in kinds
        }
        taken = {found for record in held if (found := source_hash(record)) is not None}
        return cls(tuple(sorted(inputs)), tuple(sorted(evidence)), tuple(sorted(taken)))


def windows_of(config: Config) -> Mapping[str, int | None]:
    """Return after how many days a record of each volatility wants another look."""
    own = {name: config.setting("freshness", f"{name}_days") for name in WINDOWS}
    return {name: own[name] if own[name] is not None else days for name, days in WINDOWS.items()}


def kinds_of(config: Config) -> tuple[str, ...]:
    """Return the kinds of evidence that can be looked for; tasks only where the configuration says where they are."""
    return ("commit", "file", "task") if config.setting("freshness", "tasks") else ("commit", "file")


def look(
    workspace: Workspace, ground: Ground, tracked: Sequence[str] | None, untracked: Sequence[str] = ()
) -> FilesystemView:
    """Return what is seen of it now.

    `tracked` are git's files from the root, sorted, None outside git; `untracked` those that git would add.
    """
    found = Fingerprints(workspace.root, tracked)
    by_kind: dict[str, list[str]] = {}
    for kind, reference in ground.evidence:
        by_kind.setdefault(kind, []).append(reference)
    there: set[Evidence] = set()
    gone: set[Evidence] = set()
    untold: list[tuple[str, str]] = []
    commits = [one for one in by_kind.get("commit", ()) if _COMMIT.match(one)] if tracked is not None else []
    for reference, is_there in _commits(workspace.git, commits, untold).items():
        (there if is_there else gone).add(("commit", reference))
    lists = (tracked or (), untracked)
    for reference in by_kind.get("file", ()):
        is_there = _has_file(workspace.root, reference, lists, listed=tracked is not None)
        (there if is_there else gone).add(("file", reference))
    places: Sequence[str] = workspace.config.setting("freshness", "tasks")
    for reference in by_kind.get("task", ()) if tracked is not None else ():
        is_there = any(_is_in(place.replace("{id}", reference).strip("/"), lists) for place in places)
        (there if is_there else gone).add(("task", reference))
    inputs = {text: found.find(text) for text in ground.inputs}
    return FilesystemView(inputs, frozenset(there), frozenset(gone), tuple(untold), moved(workspace, ground.taken))


def moved(workspace: Workspace, taken: Iterable[tuple[str, str]]) -> dict[tuple[str, str], bool]:
    """Return the files that no longer have the hash they had, and whether they are gone."""
    pairs = sorted(taken)
    inside_root = set(filter(Folders(workspace.root).contain, {path for path, _ in pairs}))
    states = workspace.values.hashes(workspace.root, inside_root)
    changed = [(path, known) for path, known in pairs if path not in states or f"sha256:{states[path].sha256}" != known]
    return {(path, known): path not in inside_root or not (workspace.root / path).is_file() for path, known in changed}


def files_of(workspace: Workspace, ground: Ground) -> Iterator[str]:
    """Yield every path, from the root, whose change can change what `look` sees, the clock and the history left out."""
    tracked: Sequence[str] | None = None
    files = (reference for kind, reference in ground.evidence if kind == "file")
    for text in (*ground.inputs, *files, *(path for path, _ in ground.taken)):
        try:
            place = inside(workspace.root, _PLACE_IN_FILE.sub("", text) or text)
        except OrbitError:
            continue
        yield workspace.relative(place)
        if place.is_dir():
            tracked = (workspace.git.tracked() or ()) if tracked is None else tracked
            prefix = "" if place == workspace.root else f"{workspace.relative(place)}/"
            yield from (name for name in tracked if name.startswith(prefix) and not name.startswith(".orbit/"))


def files_named(reference: str) -> tuple[str, ...]:
    """Return the paths that evidence may mean: as it is written, and without a place in the file behind it."""
    return tuple(dict.fromkeys((reference, _PLACE_IN_FILE.sub("", reference))))


def _commits(git: Git, references: Sequence[str], untold: list[tuple[str, str]]) -> dict[str, bool]:
    """Return whether the repository has each commit, all asked at once; what can't be told is left out."""
    if not references:
        return {}
    asked = "".join(f"{reference}^{{commit}}\n" for reference in references).encode()
    try:
        answers = git.run("cat-file", "--batch-check", stdin=asked).decode("utf-8", "replace").splitlines()
    except GitError as error:
        untold.append((f"whether commits named as evidence are there: {error.message}", "try `git fsck`"))
        return {}
    found = {reference: not answer.endswith(" missing") for reference, answer in zip(references, answers, strict=False)}
    if not all(found.values()) and git.is_shallow:
        count = sum(not is_there for is_there in found.values())
        said = f"whether {count} of the commits named as evidence {'is' if count == 1 else 'are'} there"
        untold.append((f"{said}: this clone is shallow", "fetch the history: `git fetch --unshallow`"))
        return {reference: True for reference, is_there in found.items() if is_there}
    return found


def _is_in(path: str, lists: Iterable[Sequence[str]]) -> bool:
    """Say whether a file, or a folder of one, is in one of the sorted lists of files."""
    folder = f"{path}/"
    for names in lists:
        place, below = bisect_left(names, path), bisect_left(names, folder)
        if (place < len(names) and names[place] == path) or (below < len(names) and names[below].startswith(folder)):
            return True
    return False


def _has_file(root: Path, reference: str, lists: Sequence[Sequence[str]], *, listed: bool) -> bool:
    """Say whether the file that evidence names is there; a place in it may follow the name."""
    for text in files_named(reference):
        path = text.removeprefix("./").rstrip("/")
        try:
            if path and _is_in(path, lists) and os.path.lexists(f"{root}/{path}"):
                return True
            if not listed and inside(root, path).exists():
                return True
        except (OrbitError, OSError):
            continue
    return False
