"""Makes the anchors that a forge gives to headings; which link needs one is its writer's business."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from orbit_registry.text.markdown import parse_markdown
from orbit_registry.text.structure import Heading

_NOT_SLUG = re.compile(r"[^\w\- ]")


def slug(text: str) -> str:
    """Return a heading's anchor the way forges make it, without leading underscores: `ADR-1 — A` is `adr-1--a`."""
    return _NOT_SLUG.sub("", text.strip().lower()).replace(" ", "-").lstrip("_")


def anchor_at(text: str, start: int) -> str | None:
    """Return the anchor of the heading that begins at the offset `start`; None where there is none.

    An explicit `{#id}` is taken as it stands; of headings with the same words the later ones are numbered.
    """
    return anchors_of(parse_markdown(text).headings).get(start)


def anchors_of(headings: Iterable[Heading]) -> dict[int, str]:
    """Return the anchor of each heading of a text by where its section begins; see `anchor_at`."""
    taken: Counter[str] = Counter()
    found: dict[int, str] = {}
    for heading in headings:
        name = heading.id or slug(heading.text)
        found[heading.section.start] = f"{name}-{taken[name]}" if taken[name] else name
        taken[name] += 1
    return found
