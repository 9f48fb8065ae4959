"""Builds the site of a case of `tests/cases/site`, for those who look at what comes of it."""

from __future__ import annotations

import shutil
from pathlib import Path

from orbit_registry.registry import Registry
from orbit_registry.site.build import build_site

CASES = Path(__file__).parents[1] / "cases" / "site"


def copied(name: str, root: Path) -> Path:
    """Copy a case to a folder, which becomes a workspace."""
    shutil.copytree(CASES / name, root)
    (root / "dot_orbit").rename(root / ".orbit")
    return root


def site_of(name: str, folder: Path, base_url: str | None = None) -> Path:
    """Copy a case below a folder, build its site there and return the site."""
    build_site(Registry.open(copied(name, folder / "repo")), folder / "site", base_url, snapshot=False)
    return folder / "site"
