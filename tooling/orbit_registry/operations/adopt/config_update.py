"""Decides where decisions are kept from now on, by where those just adopted stand; it reads none of them."""

from __future__ import annotations

import contextlib
import json
import os
import posixpath
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePosixPath

from orbit_registry.errors import OrbitError
from orbit_registry.formats.adr.file_names import GENERIC_NAMES, home_folder, is_archive_folder, is_decision_folder
from orbit_registry.formats.markdown import is_markdown
from orbit_registry.formats.position import YamlProblemError
from orbit_registry.formats.yaml import load
from orbit_registry.formats.yaml_edit import rewrite
from orbit_registry.operations.adopt.ids import Candidate, is_of_feature
from orbit_registry.operations.import_report import Outcome
from orbit_registry.workspace.files import read_text
from orbit_registry.workspace.journal import FileChange
from orbit_registry.workspace.workspace import ORBIT, Workspace

_FEW = 4
"""A folder in which not even one document in four is a decision is no place for decisions."""
_MANY = 5
"""Folders side by side that are named one by one; of more, the folder above them is."""


def config_changes(workspace: Workspace, adopted: Sequence[Candidate], outcomes: list[Outcome]) -> Iterator[FileChange]:
    """Yield the change of the configuration that names new folders of decision files, so that later ones are found.

    Where most of what was adopted stands in one folder, or in one log, and nobody chose another place, it becomes the
    place of new decisions.
    """
    config = workspace.config
    folders_before = (config.adr.folder, *config.adr.folders)
    missing: list[str] = []
    for folder in _folders([candidate.path for candidate in adopted if not candidate.in_log]):
        covered = any(folder == other or folder.startswith(f"{other}/") for other in (*folders_before, *missing))
        if not covered and _is_decision_folder(workspace, folder, adopted):
            missing.append(folder)
    log = _main_log(config.design, adopted)
    if not missing and not log:
        return
    path = f"{ORBIT}/config.yaml"
    try:
        text = read_text(workspace.root / path)
        data = load(text)
        if not isinstance(data, dict):
            return
        adr = data.get("adr")
        section = dict(adr) if isinstance(adr, dict) else {}
        is_free = not section.keys() & {"folder", "log"} and not (workspace.root / config.adr.folder).exists()
        log = log if is_free and "style" not in section else None
        home = _home(missing, adopted) if is_free and not log else None
        folders = [*config.adr.folders, *(folder for folder in missing if folder != home)] if missing else []
        settings = {key: value for key, value in (("folder", home), ("folders", folders), ("log", log)) if value}
        if not settings:
            return
        after = rewrite(text, {**data, "adr": {**section, **settings}})
    except (OrbitError, YamlProblemError) as error:
        names = [*(f"{folder} in adr.folders" for folder in missing), *([f"{log} in adr.log"] if log else [])]
        outcomes.append(Outcome("left", path, None, f"name {', '.join(names)} by hand: {error}"))
        return
    changes = [f"adr.log is {json.dumps(log)}: new decisions become entries of it"] if log else []
    changes += [f"adr.folder is {json.dumps(home)}: new decisions go beside those that are there"] if home else []
    changes += [f"adr.folders names {json.dumps(folders)}"] if folders else []
    outcomes.append(Outcome("changed", path, None, "; ".join(changes)))
    yield FileChange(path, text, after)


def _main_log(design: str, adopted: Sequence[Candidate]) -> str | None:
    """Return the log that holds more than half of the decisions, where there is one that is not a feature's."""
    counts = Counter(
        candidate.path for candidate in adopted if candidate.in_log and not is_of_feature(candidate.path, design)
    )
    best, count = counts.most_common(1)[0] if counts else ("", 0)
    return best if 2 * count > len(adopted) and best.endswith(".md") and "\\" not in best else None


def _is_decision_folder(workspace: Workspace, folder: str, adopted: Sequence[Candidate]) -> bool:
    """Say whether decisions are kept in a folder: by its name, or because they are not few among its documents."""
    if any(map(is_decision_folder, folder.split("/"))):
        return True
    with contextlib.suppress(OSError):
        documents = sum(is_markdown(name) for name in os.listdir(workspace.root / folder))
        return _FEW * sum(_is_in(candidate.path, folder) for candidate in adopted) >= documents
    return True


def _folders(paths: Iterable[str]) -> list[str]:
    """Return the folders that decisions are kept in: above a decision's own (`0042-x/README.md`), and one for many."""
    units = (posixpath.dirname(path) if PurePosixPath(path).stem.lower() in GENERIC_NAMES else path for path in paths)
    folders = {home_folder(posixpath.dirname(unit)) for unit in units}
    siblings = Counter(map(posixpath.dirname, folders))
    many = {above for above, count in siblings.items() if above and count > _MANY}
    return sorted({above if (above := posixpath.dirname(folder)) in many else folder or "." for folder in folders})


def _is_in(path: str, folder: str) -> bool:
    return "/" not in path if folder == "." else path.startswith(f"{folder}/")


def _home(folders: Sequence[str], adopted: Sequence[Candidate]) -> str | None:
    """Return the folder that holds more than half of the decisions, where there is one."""
    current = [folder for folder in folders if not any(map(is_archive_folder, folder.split("/")))]
    counts = {folder: sum(_is_in(candidate.path, folder) for candidate in adopted) for folder in current}
    if not counts:
        return None
    best = max(folders, key=lambda folder: counts[folder])
    return best if counts[best] * 2 > len(adopted) else None
