"""Records that apply to paths and tags, from a push index that is brought up to date first."""

import contextlib
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import chain
from pathlib import Path

from orbit_registry.errors import GitError, OrbitError, SnapshotError, WriteError, listed, plural
from orbit_registry.formats.untrusted import escaped_line
from orbit_registry.hook import index as reader
from orbit_registry.hook.context import is_other_project, working_project
from orbit_registry.hook.index import Index
from orbit_registry.hook.select import Places, bar_reason, cited, linked_rules
from orbit_registry.matching.index import open_index
from orbit_registry.matching.pack import SYMBOL
from orbit_registry.matching.personal import is_personal, path_in_search
from orbit_registry.matching.sync import Inputs, index_in_memory, inputs_of, sync_index
from orbit_registry.model import fields
from orbit_registry.model.fields import MORE_LINE, Row
from orbit_registry.model.rank import EPOCH
from orbit_registry.model.reach import TRIGGERS, Via, is_cited_only
from orbit_registry.model.scope import USES
from orbit_registry.model.votes import format_time
from orbit_registry.workspace.journal import WRITTEN_ROOTS
from orbit_registry.workspace.workspace import (
    ORBIT,
    Workspace,
    find_workspace,
    open_workspace,
    project_path,
    user_home,
)


@dataclass(frozen=True, slots=True)
class Match:
    """A record that applies; `matched_by` pairs targets, behind a prefix of `TRIGGERS`, with glob,
    symbol or "".
    """

    row: Row
    matched_by: tuple[tuple[str, str], ...]
    expired: bool
    doubt: str = ""  # why it may be out of date
    broad: bool = False  # only wide globs lead to it, and there is no place for it
    review_due: str = ""  # since when someone is to look at it again

    @property
    def is_personal(self) -> bool:
        """Say whether it is the user's own record, and none of the project."""
        return is_personal(self.row)

    def as_data(self) -> dict[str, object]:
        """Return the match as JSON shows it."""
        values = self.row.values
        data = head_of(self.row)
        data["broad"] = self.broad
        data["expired"] = self.expired
        data["stale"] = self.doubt or None
        data["review_due"] = self.review_due or None
        data["untrusted"] = bool(self.row.flags & fields.UNTRUSTED)
        data["votes"] = int(values[fields.VOTES] or 0)
        data["priority"] = int(values[fields.PRIORITY] or 0)
        data["updated_at"] = _updated(self.row)
        data["matched_by"] = [origin_of(target, glob) for target, glob in self.matched_by]
        return data


def origin_of(trigger: str, glob: str) -> dict[str, str]:
    """Return what led to a record as JSON shows it: a trigger of `Via`, with the glob of a path."""
    name = TRIGGERS.get(trigger[:1])
    if name is None:
        return {"way": trigger}
    if trigger[0] != Via.PATH:
        return {name: trigger[1:]}

    for mark, axis in ((SYMBOL, "symbol"), (USES, "uses")):
        if glob.startswith(mark):
            return {name: trigger[1:], axis: glob.removeprefix(mark)}

    return {name: trigger[1:], "glob": glob}


def words_of(trigger: str, glob: str) -> str:
    """Return what led to a record in words; `glob` is that of a path."""
    via, name = trigger[0], trigger[1:]
    if via == Via.CITES:
        return f"{name}: cites it"
    if via != Via.PATH:
        return f"{TRIGGERS[via]} {name}"
    if glob.startswith(SYMBOL):
        return f"{name}: symbol {glob.removeprefix(SYMBOL)}"
    if glob.startswith(USES):
        return f"{name}: imports {glob.removeprefix(USES)}"

    return f"{name}: {glob}"


def current_index(workspace: Workspace, inputs: Inputs | None = None) -> Index:
    """Return the push index, brought up to date; where the disk refuses, it is made in memory.

    `inputs` were read just now.
    """
    index: Index | reader.NoIndex
    try:
        sync_index(workspace, inputs)
    except WriteError:
        index = index_in_memory(workspace)
    else:
        index = open_index(workspace)

    if not isinstance(index, Index):
        raise SnapshotError(index.reason, hint="`orbit sync --rebuild` makes it again")

    return index


def sync_written() -> str:
    """Bring the push index up to date with what this process has written;
    return what went wrong, empty if nothing.
    """
    problem = ""
    while WRITTEN_ROOTS:
        root = WRITTEN_ROOTS.pop()
        try:
            current_index(open_workspace(root))
            if (
                root == user_home().resolve()
            ):  # personal records are in the index of the current project
                current_index(find_workspace(Path.cwd()))
        except FileNotFoundError:
            continue  # the workspace is gone, and its index with it
        except OrbitError as error:
            problem = f"the push index is not up to date: {error.message}; run `orbit sync`"

    return problem


def inputs_after_writing(workspace: Workspace) -> Inputs:
    """Return what the push index is made from; if this process has written, it is made from it."""
    inputs = inputs_of(workspace)
    is_home = workspace.root == user_home().resolve()  # another index has its records, too
    if workspace.root in WRITTEN_ROOTS and not is_home:
        with contextlib.suppress(OrbitError):  # said when it is tried again at the end
            sync_index(workspace, inputs)
            WRITTEN_ROOTS.discard(workspace.root)

    return inputs


def applying_to(workspace: Workspace, path: str) -> frozenset[str]:
    """Return the paths, as searches have them, of the records that apply to a file, whatever their
    phase.
    """
    matches = match(workspace, [path], everything=True)
    return frozenset(path_in_search(workspace, entry.row) for entry in matches)


def match(
    workspace: Workspace,
    paths: Iterable[str] = (),
    tags: Iterable[str] = (),
    *,
    task: str | None = None,
    everything: bool = False,
    project: str = "",
    now: float | None = None,
    inputs: Inputs | None = None,
) -> list[Match]:
    """Return the records that apply to any of the paths or tags, in rank order, each once, with
    every way in.

    Paths are from the root and need not exist; one with "/" at its end asks about a folder. A
    record that names tasks is left out where `task` is given and is none of them, and so is one of
    another project than the current one (`hook.context.working_project`). `everything` adds records
    that are pending, closed or expired. `now` is in seconds since 1970; `inputs` were read just
    now.
    """
    index = current_index(workspace, inputs)
    seconds, current_project = time.time() if now is None else now, working_project(project)
    ways: dict[int, list[tuple[str, str]]] = {}
    for path in dict.fromkeys(project_path(path) for path in paths):
        for hit in index.match(path, everything):
            ways.setdefault(hit >> 32, []).append((f"{Via.PATH}{path}", str(hit & reader.AT)))
        for hit in index.hits_under(reader.REPLACED, path):
            ways.setdefault(hit >> 32, []).append((f"{Via.SUPERSEDED}{path}", ""))
        for number, triggers in cited(index, path):
            ways.setdefault(number, []).extend((trigger, "") for trigger in triggers)

    names = chain.from_iterable(map(workspace.config.names_of, tags))
    for tag in dict.fromkeys(names):
        for hit in index.hits_under("t", tag, everything):
            ways.setdefault(hit >> 32, []).append((f"{Via.TAG}{tag}", ""))

    def valid_matches(ways: Mapping[int, Sequence[tuple[str, str]]]) -> list[Match]:
        matches: list[Match] = []
        places = Places()
        for number in sorted(ways):
            row = index.row(number)
            tasks = row.words(fields.TASKS)

            if is_other_project(row.values[fields.PROJECT], current_project):
                continue

            expired = row.is_expired(seconds)
            is_for_task = task is None or not tasks or task in tasks
            if expired and not everything:
                continue
            if not is_for_task or index.difference(row):
                continue

            by = []
            for way, at in ways[number]:
                glob = index.glob_of(row, int(at)) if at else ""
                by.append((way, glob))

            is_pushed = number < index.pushed and not bar_reason(row, seconds, current_project)
            broad = is_pushed and not places.take(ways[number])
            doubt, since = row.doubt(seconds), row.review_due(seconds)
            matches.append(Match(row, tuple(by), expired, doubt, broad, since))

        return matches

    matches = valid_matches(ways)
    leading = [entry.row for entry in matches if entry.row.number < index.pushed]
    matches += valid_matches(linked_rules(index, leading, {}))
    return sorted(matches, key=lambda entry: (is_cited_only(entry.matched_by), entry.row.number))


def scope_widths(workspace: Workspace, index: Index) -> Mapping[int, int]:
    """Return how many tracked files the scope of each record has, by its number."""
    try:
        files = workspace.git.tracked() or ()
    except GitError:
        return {}
    return Counter(hit >> 32 for hit in chain.from_iterable(map(index.match, files)))


def head_of(row: Row) -> dict[str, object]:
    """Return what JSON shows of a record of the index."""
    values = row.values
    first, _, more = row.teaser.partition(MORE_LINE)
    return {
        "id": values[fields.ID],
        "kind": values[fields.KIND],
        "status": values[fields.STATUS],
        "phase": values[fields.PHASE],
        "title": first.removeprefix(f"- [{values[fields.ID]}] "),
        "record": values[fields.PATH],
        "personal": is_personal(row),
        "more": more or None,
    }


def _updated(row: Row) -> str | None:
    microseconds = row.values[fields.UPDATED_AT]
    if microseconds:
        return format_time(EPOCH + timedelta(microseconds=int(microseconds)))

    return None


def texts(matches: Sequence[Match]) -> str:
    """Return matches as people read them: the teaser, and below it each way in."""
    lines: list[str] = []
    for entry in matches:
        if entry.row.values[fields.PHASE] == "live":
            state = ""
        else:
            state = f"  ({entry.row.values[fields.STATUS]})"

        state += f"  (may be out of date: {entry.doubt})" if entry.doubt else ""
        state += f"  (review due since {entry.review_due})" if entry.review_due else ""
        state += (
            "  (not what the default branch holds)" if entry.row.flags & fields.UNTRUSTED else ""
        )
        state += "  (not shown at an edit: its globs are wide)" if entry.broad else ""
        first, *more_lines = entry.row.teaser.split("\n")
        lines += [first + state, *more_lines]

        for trigger, glob in entry.matched_by:
            lines.append(f"  by {escaped_line(words_of(trigger, glob))}")

    return "\n".join(lines)


_LISTED = 20


@dataclass(frozen=True, slots=True)
class Coverage:
    """Which tracked files have which pushed records."""

    files: Mapping[str, tuple[str, ...]]
    """Every tracked file but the registry's own, sorted, with the ids that apply to it,
    in rank order.
    """
    scoped: Mapping[
        str, int
    ]  # every pushed record with globs, in rank order, and how many of the files they match
    broad: tuple[str, ...]  # records that edits of some files don't show, as their globs are wide

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
        files = [{"path": file, "records": list(ids)} for file, ids in self.files.items()]
        records = [{"id": record_id, "files": count} for record_id, count in self.scoped.items()]
        return {
            "files": files,
            "covered": len(self.files) - len(self.uncovered),
            "uncovered": self.uncovered,
            "records": records,
            "matching_nothing": self.idle,
            "broad": list(self.broad),
        }

    def text(self) -> str:
        """Return the coverage as people read it."""
        total, bare = len(self.files), self.uncovered
        if not total:
            return "git tracks no file here"

        covered = total - len(bare)
        verb = "has" if covered == 1 else "have"
        files = plural(total, "tracked file")
        lines = [f"{covered} of {files} {verb} a record ({covered / total:.0%})"]

        folders = Counter(file.rpartition("/")[0] or "." for file in bare)
        if folders:
            lines += ["", "Most files without a record:"]
            barest = sorted(folders.items(), key=lambda entry: (-entry[1], entry[0]))[:10]
            lines += [f"  {count:>6}  {folder}" for folder, count in barest]

        if self.idle:
            lines += [
                "",
                f"Records whose globs match no tracked file: {listed(self.idle, _LISTED)}",
            ]

        if self.broad:
            ids = listed(self.broad, _LISTED)
            heading = "Records of wide globs that some edits in their scope don't show"
            lines += ["", f"{heading}: {ids}"]

        return "\n".join(lines)


def coverage(workspace: Workspace) -> Coverage:
    """Return the coverage of the tracked files, those of the registry itself left out."""
    workspace.git.require()
    index = current_index(workspace)
    files = workspace.git.tracked() or ()
    ids: dict[int, str] = {}
    scoped: dict[str, int] = {}
    broad: list[str] = []
    for number in range(index.pushed):
        row = index.row(number)
        if is_personal(row):  # what one person keeps covers nothing for the others
            continue

        ids[number] = row.id

        if row.values[fields.GLOBS]:
            scoped[ids[number]] = 0
        if row.flags & fields.BROAD:
            broad.append(ids[number])

    ids_by_file: dict[str, tuple[str, ...]] = {}
    for file in files:
        if file.startswith(f"{ORBIT}/"):
            continue
        matching = [hit >> 32 for hit in index.match(file)]
        citing = [number for number, _ in cited(index, file)]
        numbers = dict.fromkeys([*matching, *citing])
        ids_by_file[file] = tuple(ids[number] for number in numbers if number in ids)
        for number in matching:
            if number in ids:
                scoped[ids[number]] += 1

    return Coverage(ids_by_file, scoped, tuple(broad))
