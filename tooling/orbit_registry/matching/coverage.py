"""Coverage: which tracked files have which records, for the whole tree at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from orbit_registry.errors import GitError
from orbit_registry.hook import index as reader
from orbit_registry.matching.match import current_index
from orbit_registry.matching.personal import is_personal
from orbit_registry.workspace.workspace import ORBIT, Workspace

_LISTED = 20


@dataclass(frozen=True, slots=True)
class Coverage:
    """Which tracked files have which pushed records."""

    files: Mapping[str, tuple[str, ...]]
    """Every tracked file but the registry's own, sorted, with the ids that apply to it, in rank order."""
    scoped: Mapping[str, int]
    """Every pushed record with globs, in rank order, and how many of the files they match."""
    broad: tuple[str, ...]
    """Records that match files of more than 15 % of recent commits."""

    @property
    def uncovered(self) -> list[str]:
        """Files that no record applies to."""
        return [file for file, ids in self.files.items() if not ids]

    @property
    def idle(self) -> list[str]:
        """Records that match no file."""
        return [record_id for record_id, count in self.scoped.items() if not count]

    def as_data(self) -> dict[str, object]:
        """Return the coverage as JSON shows it."""
        return {
            "files": [{"path": file, "records": list(ids)} for file, ids in self.files.items()],
            "covered": len(self.files) - len(self.uncovered),
            "uncovered": self.uncovered,
            "records": [{"id": record_id, "files": count} for record_id, count in self.scoped.items()],
            "matching_nothing": self.idle,
            "broad": list(self.broad),
        }

    def text(self) -> str:
        """Return the coverage as people read it."""
        total, bare = len(self.files), self.uncovered
        if not total:
            return "git tracks no file here"
        lines = [f"{total - len(bare)} of {total} tracked files have a record ({1 - len(bare) / total:.0%})"]
        folders = Counter(file.rpartition("/")[0] or "." for file in bare)
        if folders:
            lines += ["", "Most files without a record:"]
            barest = sorted(folders.items(), key=lambda entry: (-entry[1], entry[0]))[:10]
            lines += [f"  {count:>6}  {folder}" for folder, count in barest]
        if self.idle:
            lines += ["", f"Records whose globs match no tracked file: {_some(self.idle)}"]
        if self.broad:
            lines += ["", f"Records that match files of more than 15 % of recent commits: {_some(self.broad)}"]
        return "\n".join(lines)


def coverage(workspace: Workspace) -> Coverage:
    """Return the coverage of the tracked files, those of the registry itself left out."""
    index = current_index(workspace)
    files = workspace.git.tracked()
    if files is None:
        raise GitError(
            "there is no git repository here", hint="run it in a work tree of git: it asks about tracked files"
        )
    ids: dict[int, str] = {}
    scoped: dict[str, int] = {}
    broad: list[str] = []
    for number in range(index.pushed):
        row = index.row(number)
        if row is None or is_personal(row):  # what one person keeps covers nothing for the others
            continue
        ids[number] = row.values[reader.ID]
        if row.values[reader.GLOBS]:
            scoped[ids[number]] = 0
        if row.flags & reader.BROAD:
            broad.append(ids[number])
    ids_by_file: dict[str, tuple[str, ...]] = {}
    for file in files:
        if file.startswith(f"{ORBIT}/"):
            continue
        ids_by_file[file] = tuple(ids[hit >> 32] for hit in index.match(file) if hit >> 32 in ids)
        for record_id in ids_by_file[file]:
            scoped[record_id] += 1
    return Coverage(ids_by_file, scoped, tuple(broad))


def _some(ids: Sequence[str]) -> str:
    more = len(ids) - _LISTED
    return ", ".join(ids[:_LISTED]) + (f" and {more} more" if more > 0 else "")
