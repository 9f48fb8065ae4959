"""What the links and pictures of a text lead to: a page of the site, an address elsewhere, or
nothing, and then why.
"""

import os
import posixpath
import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol
from urllib.parse import unquote, urlsplit

from orbit_registry.errors import UnsafePathError
from orbit_registry.formats.hosting import Forge
from orbit_registry.formats.links import is_markdown
from orbit_registry.formats.wiki_links import name_of
from orbit_registry.site.urls import relative
from orbit_registry.snapshot.redact import is_masked
from orbit_registry.workspace.files import inside

IMAGES = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".avif", ".svg")
ASSETS = "files/"
HEADING_PREFIX = "s-"
"""Precedes the id of every heading we render,
so that no text can take an id that the theme or a form uses.
"""
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")


def anchor_of(fragment: str) -> str:
    """Return the anchor of a heading that a link names:
    forges write `user-content-x`, browsers letters as `%C3%BC`.
    """
    return unquote(fragment).removeprefix("user-content-")


@dataclass(frozen=True, slots=True)
class Destination:
    """What a link's target is: a site URL, an address elsewhere, or nothing, and then why."""

    url: str | None
    outside: bool = False
    problem: str | None = None
    broken: bool = False  # the target does not exist; otherwise it only has no place on the site

    def address(self, page: str) -> str | None:
        """Return the target as a link on a page names it."""
        if self.outside or self.url is None:
            return self.url

        return relative(page, self.url)


class Places(Protocol):
    """What a site map has to know for this; its fields are described there."""

    root: Path
    forge: Forge
    records: Mapping[str, str]
    documents: Mapping[str, str]
    mirrored: Mapping[str, str]
    curated: Mapping[str, str]
    folders: Mapping[str, str]
    homes: Mapping[str, str]
    listed: Sequence[str] | None
    assets: set[str]
    probed: set[str]

    def named(self, name: str, origin: str) -> str | None:
        """Return the one page that a name means in the document `origin`."""

    def titled(self, path: str, fragment: str) -> str | None:
        """Return the page of the decision whose title an anchor in a document means."""

    def entry(self, path: str, anchor: str) -> str | None:
        """Return the page of the record at an anchor of a log."""


def target_of(site: Places, origin: str, href: str) -> Destination:
    """Return what a link written in the file `origin` leads to."""
    if is_masked(unquote(href)):
        return Destination(None)
    if name := name_of(href):
        return Destination(site.named(name, origin))
    if _SCHEME.match(href) or href.startswith("//"):
        return Destination(href, outside=True)

    parts = urlsplit(href)
    fragment = anchor_of(parts.fragment)
    if not parts.path:
        return Destination(f"#{fragment}")

    destination = Destination(
        None, problem=f"the link `{href}` leads out of the repository", broken=True
    )
    for path in _paths(site, origin, unquote(parts.path)):
        destination = _destination_of(site, path, fragment, href)
        if not destination.broken:
            break

    return destination


def image_of(site: Places, origin: str, href: str) -> Destination:
    """Return the URL of a picture in the file `origin`."""
    if is_masked(unquote(href)):
        return Destination(None)
    if _SCHEME.match(href) or href.startswith("//"):
        return Destination(href, outside=True)

    path = _path(site, origin, unquote(urlsplit(href).path))
    if path is None or not _is_file(site, path):
        return Destination(None, problem=f"the picture `{href}` does not exist", broken=True)

    if not path.lower().endswith(IMAGES) or any(part.startswith(".") for part in path.split("/")):
        return Destination(None, problem=f"the picture `{href}` is of no kind that a page can show")

    site.assets.add(path)
    return Destination(ASSETS + path)


def _destination_of(site: Places, path: str, fragment: str, href: str) -> Destination:
    if fragment and path not in site.mirrored and (titled := site.titled(path, fragment)):
        return Destination(titled)
    if fragment and (entry := site.entry(path, fragment)):
        return Destination(entry)

    for candidate in (path, f"{path}/README.md", f"{path}/index.md"):
        if candidate in site.documents:
            if fragment and is_markdown(candidate):
                mark = f"#{HEADING_PREFIX}{fragment.lower()}"
            else:
                mark = ""

            return Destination(site.documents[candidate] + mark)

        if candidate in site.curated:
            return Destination(site.curated[candidate] + (f"#{fragment}" if fragment else ""))

    parts = path.split("/")
    if len(parts) >= 3 and parts[0] == ".orbit" and parts[2] in site.records:
        return Destination(site.records[parts[2]])
    if path in site.folders:
        return Destination(site.folders[path])

    full = site.root / path
    site.probed.add(path)

    if not os.path.lexists(full):
        return Destination(None, problem=f"the link `{href}` leads to nothing", broken=True)

    if not _is_in_git(site, path):
        return Destination(
            None,
            problem=f"the link `{href}` leads to what git does not hold: {path}",
            broken=True,
        )

    address = site.forge.linked(path, fragment, folder=full.is_dir())
    if address is None:
        return Destination(
            None, problem=f"the link `{href}` leads to a file that is no page: {path}"
        )

    return Destination(address, outside=True)


def _paths(site: Places, origin: str, target: str) -> Iterator[str]:
    origins = [origin]
    # In a record people write paths from the root; text out of a design document still names
    # its neighbours there.
    if origin.startswith(".orbit/"):
        origins.append("")
        if origin in site.homes:
            origins.append(f"{site.homes[origin]}/")

    for base in origins:
        path = _path(site, base, target)
        if path is not None:
            yield path

    if target.startswith("/") and site.forge.folder:  # people mean the root of the repository, too
        above = "../" * site.forge.folder.rstrip("/").count("/") + ".."
        yield posixpath.normpath(f"{above}{target}")


def _path(site: Places, origin: str, target: str) -> str | None:
    if target.startswith("/"):
        joined = posixpath.normpath(target.lstrip("/") or ".")
    else:
        joined = posixpath.normpath(posixpath.join(posixpath.dirname(origin), target))
    if site.forge.holds(joined) and "\x00" not in joined:
        return joined

    return None


def _is_in_git(site: Places, path: str) -> bool:
    """Say whether git holds a file or folder, or would:
    not what it ignores, nor what is in a submodule.
    """
    if site.listed is None or path == "." or path.startswith(".."):
        return True

    index = bisect_left(site.listed, path)
    if site.listed[index : index + 1] == [path]:
        return True

    below = f"{path}/"
    index = bisect_left(site.listed, below)
    return any(candidate.startswith(below) for candidate in site.listed[index : index + 1])


def _is_file(site: Places, path: str) -> bool:
    site.probed.add(path)
    try:
        return inside(site.root, path).is_file()
    except UnsafePathError:
        return False
