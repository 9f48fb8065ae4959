"""Names the folders of adopted decision files in the configuration, so that files added there later are found."""

from __future__ import annotations

import json
import posixpath
from collections.abc import Iterator, Sequence

from orbit_registry.errors import OrbitError
from orbit_registry.store.adopt.ids import Candidate
from orbit_registry.store.decisions.paths import LOG_NAME
from orbit_registry.store.files import read_text
from orbit_registry.store.journal import Change
from orbit_registry.store.outcome import Outcome
from orbit_registry.store.workspace import ORBIT, Workspace
from orbit_registry.text.yaml import load
from orbit_registry.text.yaml_edit import rewrite
from orbit_registry.text.yaml_problem import YamlProblemError


def folder_change(workspace: Workspace, adopted: Sequence[Candidate], outcomes: list[Outcome]) -> Iterator[Change]:
    """Yield the change of the configuration that names new folders of decision files, so that later ones are found."""
    config = workspace.config
    known = (config.adr.folder, *config.adr.folders)
    folders = sorted(
        {posixpath.dirname(candidate.path) for candidate in adopted if not _is_log(config.design, candidate)}
    )
    missing: list[str] = []
    for folder in folders:
        covered = any(folder == other or folder.startswith(f"{other}/") for other in (*known, *missing))
        if folder and not covered:
            missing.append(folder)
    if not missing:
        return
    path = f"{ORBIT}/config.yaml"
    try:
        text = read_text(workspace.root / path)
        data = load(text)
        if not isinstance(data, dict):
            return
        adr = data.get("adr")
        section = dict(adr) if isinstance(adr, dict) else {}
        home = None if "folder" in section or (workspace.root / config.adr.folder).exists() else _home(missing, adopted)
        folders = [*config.adr.folders, *(folder for folder in missing if folder != home)]
        wanted = {**({"folder": home} if home else {}), **({"folders": folders} if folders else {})}
        after = rewrite(text, {**data, "adr": {**section, **wanted}})
    except (OrbitError, YamlProblemError) as error:
        outcomes.append(Outcome("left", path, None, f"name {', '.join(missing)} in adr.folders by hand: {error}"))
        return
    said = [f"adr.folder is {json.dumps(home)}: new decisions go beside those that are there"] if home else []
    said += [f"adr.folders names {json.dumps(folders)}"] if folders else []
    outcomes.append(Outcome("changed", path, None, "; ".join(said)))
    yield Change(path, text, after)


def _home(folders: Sequence[str], adopted: Sequence[Candidate]) -> str | None:
    """Return the folder that holds more than half of the decisions, where there is one."""
    counts = {folder: sum(one.path.startswith(f"{folder}/") for one in adopted) for folder in folders}
    best = max(folders, key=lambda folder: counts[folder])
    return best if counts[best] * 2 > len(adopted) else None


def _is_log(design: str, candidate: Candidate) -> bool:
    return candidate.path.startswith(f"{design}/") and posixpath.basename(candidate.path) == LOG_NAME
