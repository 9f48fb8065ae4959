"""Builds the site of a case of `tests/cases/site`, for those who look at what comes of it."""

import shutil
from pathlib import Path

from orbit_registry.registry import Registry
from orbit_registry.site.build import build_site

CASES = Path(__file__).parents[1] / "cases" / "site"


def copied(name: str, root: Path) -> Path:
    shutil.copytree(CASES / name, root)
    (root / "dot_orbit").rename(root / ".orbit")
    return root


def with_every_kind(root: Path) -> Path:
    """Add the records of the case `kinds` to a workspace:
    one at least of each kind that comes after the first two.
    """
    for source, name in (("dot_orbit", ".orbit"), ("docs", "docs"), ("tools", "tools")):
        shutil.copytree(CASES / "kinds" / source, root / name, dirs_exist_ok=True)
    return root


def site_of(
    name: str, folder: Path, base_url: str | None = None, *, every_kind: bool = False
) -> Path:
    """Copy a case below a folder, build its site there and return the site;
    if told to, with a record of every kind.
    """
    root = copied(name, folder / "repo")
    build_site(
        Registry.open(with_every_kind(root) if every_kind else root),
        folder / "site",
        base_url,
        snapshot=False,
    )
    return folder / "site"
