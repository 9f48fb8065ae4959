"""Personal records: the live ones of `~/.orbit/`, pushed in every project that does not override
them.

They are in the push index of this machine alone and are marked as personal wherever they are shown:
no snapshot, site, rule file, coverage or other export holds them. Their fingerprints are not
checked, because the paths belong to another project; their globs count from the root of the current
project.
"""

import os
import stat
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from orbit_registry.errors import OrbitError
from orbit_registry.hook.select import folded
from orbit_registry.matching.compile import Origin, part_of
from orbit_registry.matching.pack import Part
from orbit_registry.model import fields
from orbit_registry.model.fields import MORE_LINE, Row
from orbit_registry.model.record import Record
from orbit_registry.repository.guard import free_of_secrets
from orbit_registry.repository.reader import read_collection
from orbit_registry.repository.votes import half_life_days
from orbit_registry.workspace.workspace import ORBIT, Workspace, open_workspace, user_home

HOME = "~/"  # what the path of a personal record begins with among those of the project
_PERSONAL = "personal"  # labels the rows of personal records


@dataclass(frozen=True, slots=True)
class Personal:
    """The personal records that are live, and the state of each one's file."""

    home: Path
    records: Sequence[Record]
    states: Sequence[os.stat_result]

    def lines(self) -> list[str]:
        """Return a line for each record that tells whether it changed."""
        pairs = zip(self.records, self.states, strict=True)
        return [f"~{record.path}\0{state.st_mtime_ns}\0{state.st_size}" for record, state in pairs]


def personal_folders() -> list[str]:
    """Return the folders whose change may mean another personal record;
    the one above them where there are none.
    """
    orbit = user_home() / ORBIT
    try:
        inside = [entry.path for entry in os.scandir(orbit) if entry.is_dir(follow_symlinks=False)]
    except OSError:
        inside = []

    return [str(orbit), *(path for path in inside if not path.endswith("/state"))]


def personal_workspace(workspace: Workspace) -> Workspace | None:
    """Return the workspace in the home folder;
    None where there is none that can be used, or it is this one.
    """
    home = user_home()
    # In a container the home folder is often another user's: what can't be read is not there.
    is_there = os.path.isfile(home / ORBIT / "config.yaml")  # noqa: PTH113
    if home.resolve() == workspace.root.resolve() or not is_there:
        return None

    try:
        return open_workspace(home)
    except OrbitError:  # it is another tool's, or broken: `orbit -C ~ check` says so
        return None


def personal_of(workspace: Workspace) -> Personal | None:
    """Return the personal records that are live and pushed; None without a personal workspace."""
    home = personal_workspace(workspace)
    if home is None:
        return None

    records, states = [], []
    for record in read_collection(home).records:
        if record.phase != "live" or not record.status.pushed or not record.kind.in_record:
            continue
        state = os.lstat(home.root / record.path)
        if stat.S_ISREG(state.st_mode):
            records.append(record)
            states.append(state)

    return Personal(home.root, records, states)


def personal_records(workspace: Workspace, project: Iterable[Record]) -> list[Record]:
    """Return the marked personal records that no record of the project overrides, by id,
    headline or link.
    """
    personal = personal_of(workspace)
    if personal is None or not personal.records:
        return []

    overridden = _overridden(personal, project)
    return [
        replace(
            record,
            path=f"{HOME}{record.path}",
            data={**record.data, record.kind.headline: f"(personal) {record.title}"},
        )
        for record in personal.records
        if record.id not in overridden
    ]


def path_in_index(workspace: Workspace, path: str) -> str:
    """Return the path of a record in the index: of a personal one from the project's root."""
    if not path.startswith(HOME):
        return path

    return os.path.relpath(user_home() / path.removeprefix(HOME), workspace.root)


def _overridden(personal: Personal, project: Iterable[Record]) -> set[str]:
    """Return the ids of personal records whose id or headline a live record of the project has,
    or links to.
    """
    live = [record for record in project if record.phase == "live"]
    names: set[str] = set()
    for record in live:
        names |= {record.id, folded(record.title)}
        names |= {link.to for link in record.links}

    return {
        record.id
        for record in personal.records
        if not names.isdisjoint((record.id, folded(record.title)))
    }


def personal_parts(
    workspace: Workspace, personal: Personal | None, project: Iterable[Record]
) -> list[Part]:
    """Return personal records compiled; those that the project overrides are not pushed."""
    if personal is None:
        return []

    overridden, parts = _overridden(personal, project), []
    for record, state in zip(free_of_secrets(personal.records), personal.states, strict=True):
        origin = Origin(state.st_mtime_ns, state.st_size, label=_PERSONAL)
        part = part_of(record, origin, half_life_days())
        row = list(part.row)
        teaser = row[fields.TEASER].replace(f"{MORE_LINE}{ORBIT}/", f"{MORE_LINE}~/{ORBIT}/")
        row[fields.TEASER] = teaser.replace("] ", "] (personal) ", 1)

        row[fields.PATH] = path_in_index(workspace, f"{HOME}{record.path}")
        parts.append(
            part._replace(row=tuple(row), pushed=part.pushed and record.id not in overridden)
        )

    return parts


def path_in_search(workspace: Workspace, row: Row) -> str:
    """Return the path that a record of the index has in searches."""
    path = row.values[fields.PATH]
    if not is_personal(row):
        return path

    return HOME + os.path.relpath(workspace.root / path, user_home())


def is_personal(row: Row) -> bool:
    """Say whether a record of the index is a personal one,
    which nothing that others read may hold.
    """
    return row.values[fields.ORIGIN] == _PERSONAL
