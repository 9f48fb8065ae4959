"""Makes the anchors that a forge gives to headings; which link needs one is its writer's business."""

from __future__ import annotations

import re

from orbit_registry.text.markdown import parse_markdown

_NOT_SLUG = re.compile(r"[^\w\- ]")


def slug(text: str) -> str:
    """Return a heading's anchor the way forges make it, without leading underscores: `ADR-1 — A` is `adr-1--a`."""
    return _NOT_SLUG.sub("", text.strip().lower()).replace(" ", "-").lstrip("_")


def anchor_at(text: str, start: int) -> str | None:
    """Return the anchor of the heading that begins at the offset `start`; None where there is none.

    An explicit `{#id}` is taken as it stands; of headings with the same words the later ones are numbered.
    """
    taken: dict[str, int] = {}
    for heading in parse_markdown(text).headings:
        name = heading.id or slug(heading.text)
        count = taken.get(name, 0)
        taken[name] = count + 1
        if heading.section.start == start:
            return f"{name}-{count}" if count else name
    return None
