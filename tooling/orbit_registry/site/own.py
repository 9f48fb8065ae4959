"""Reads what we need of a repository's own mkdocs.yml, and completes its navigation; the generator reads the rest."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mkdocs.exceptions import ConfigurationError
from mkdocs.utils.yaml import yaml_load

from orbit_registry.errors import ConfigError

FILE = "mkdocs.yml"


@dataclass(frozen=True, slots=True)
class OwnConfig:
    """A repository's own site: its file, the folder of its pages, and the settings that we add to."""

    file: Path
    docs: str
    """The folder of pages, from the repository's root."""
    data: dict[str, Any]

    def words(self, name: str) -> list[Any]:
        """Return a setting that is a list; empty where it is absent."""
        value = self.data.get(name)
        return list(value) if isinstance(value, list) else []


def read_own(root: Path, file: Path | None = None) -> OwnConfig | None:
    """Return the repository's own configuration, or None where it has none.

    Raises:
        ConfigError: it can't be read, or its pages lie outside the repository.
    """
    file = file or root / FILE
    if not file.is_file():
        return None
    try:
        with file.open("rb") as opened:
            data = yaml_load(opened)
    except (ConfigurationError, OSError) as error:
        said = " ".join(str(error).split())
        raise ConfigError(f"{FILE}: {said}", hint="`mkdocs build` says more") from None
    docs = os.path.relpath(file.parent / str(data.get("docs_dir", "docs")), root)
    if docs == "." or docs.startswith(".."):
        raise ConfigError(f"{FILE}: docs_dir {docs!r} is not a folder inside the repository")
    return OwnConfig(file, docs.replace(os.sep, "/"), data)


def completed_nav(own: Sequence[object], pages: Sequence[str], generated: Sequence[object]) -> list[object]:
    """Return a repository's navigation, or one of its `pages` where it states none, with what it lacks of ours."""
    nav = list(own) or _nav_of(pages)
    named = set(_files(nav))
    for entry in generated:
        files = list(_files([entry]))
        if files and not named & set(files):
            nav.append(entry)
    return nav


def _files(entries: Sequence[object]) -> Iterator[str]:
    """Yield every page that a navigation names."""
    for entry in entries:
        if isinstance(entry, str):
            yield entry
        elif isinstance(entry, dict):
            for value in entry.values():
                yield from _files(value if isinstance(value, list) else [value])


def without_missing(entries: Sequence[object], known: Set[str]) -> tuple[list[object], list[str]]:
    """Return a navigation without the pages that do not exist, and those; addresses elsewhere stay."""
    kept: list[object] = []
    missing: list[str] = []
    for entry in entries:
        if isinstance(entry, str):
            (kept if _exists(entry, known) else missing).append(entry)
        elif isinstance(entry, dict):
            inner: dict[object, object] = {}
            for title, value in entry.items():
                below, lost = without_missing(value if isinstance(value, list) else [value], known)
                missing += lost
                if below:
                    inner[title] = below if isinstance(value, list) else below[0]
            if inner:
                kept.append(inner)
    return kept, missing


def _exists(page: str, known: Set[str]) -> bool:
    return page in known or "://" in page or page.startswith("/")


def _nav_of(pages: Sequence[str]) -> list[object]:
    top: list[object] = []
    folders: dict[str, list[object]] = {}
    for page in sorted(pages, key=lambda name: ("/" in name, name != "index.md", name)):
        folder, _, _name = page.partition("/")
        if "/" not in page:
            top.append(page)
            continue
        if folder not in folders:
            folders[folder] = []
            top.append({folder.replace("-", " ").replace("_", " ").capitalize(): folders[folder]})
        folders[folder].append(page)
    return top
