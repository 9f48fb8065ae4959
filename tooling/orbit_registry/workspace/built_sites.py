"""Built sites among the files of a project: folders that Orbit or MkDocs wrote."""

import posixpath
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from orbit_registry.errors import OrbitError
from orbit_registry.workspace.files import read_text

SITE_MANIFEST = ".orbit-site.json"  # the file that marks a folder as a built site
_SITE_MARK, _MKDOCS_MARK = f"/{SITE_MANIFEST}", "/search/search_index.json"
_MKDOCS_PAGES = ("404.html", "sitemap.xml")  # one of them is in each site that MkDocs built
_SITE_DIR = re.compile(r"^site_dir:[ \t]*(['\"]?)([^'\"#\s][^'\"#\n]*?)\1[ \t]*(?:#.*)?\r?$", re.MULTILINE)


def without_sites(paths: Iterable[str], root: Path) -> list[str]:
    """Return paths, from `root`, that are not in a built site, of Orbit or of MkDocs."""
    paths = list(paths)
    sites = built_sites(paths, root)
    return [path for path in paths if not path.startswith(sites)] if sites else paths


def built_sites(paths: Sequence[str], root: Path) -> tuple[str, ...]:
    """Return the folders of built sites among the paths, each with a slash at its end."""
    sites = {path.removesuffix(SITE_MANIFEST) for path in paths if path.endswith(_SITE_MARK)}
    if folders := {path.removesuffix(_MKDOCS_MARK) for path in paths if path.endswith(_MKDOCS_MARK)}:
        pages = {path for path in paths if path.endswith(_MKDOCS_PAGES)}
        sites |= {f"{folder}/" for folder in folders if any(f"{folder}/{page}" in pages for page in _MKDOCS_PAGES)}
    with suppress(OrbitError):  # a site without its search has no mark, but `mkdocs.yml` may name it
        if (configured := _SITE_DIR.search(read_text(root / "mkdocs.yml"))) is not None:
            folder = posixpath.normpath(configured[2])
            sites |= {f"{folder}/"} if f"{folder}/index.html" in paths else set()
    return tuple(sorted(sites))
