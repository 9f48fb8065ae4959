"""Links by a name: `[[name]]`, `[[name#heading|words]]`, and `![[name]]`, which embeds."""

import re
from urllib.parse import quote, unquote

from orbit_registry.formats.adr.patterns import pattern

WIKI = "#wiki:"
"""Begins the target of a link by a name; the link as it was written follows."""
LINK_BY_NAME = pattern("link_by_name")


def words_of(link: re.Match[str]) -> str:
    """Return what a reader sees of a link: its words, or its name and the place there."""
    if link["shown"]:
        return link["shown"]

    return f"{link['wiki']}{link['place'] or ''}".replace("#", " § ")


def target_of(link: re.Match[str]) -> str:
    """Return the target of a link by a name."""
    return WIKI + quote(link[0], safe="[]!#|")


def written(target: str) -> str:
    """Return a link as it was written, by its target."""
    return unquote(target.removeprefix(WIKI))


def name_of(target: str) -> str:
    """Return the name that a target has; an empty one of a target of another kind."""
    if not target.startswith(WIKI):
        return ""

    link = LINK_BY_NAME.fullmatch(written(target))
    if link:
        return link["wiki"].strip()

    return ""
