"""The status as a badge image (`![Status](https://img.shields.io/badge/status-accepted-green)`)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import quote, unquote

from orbit_registry.text.adr.header import Header
from orbit_registry.text.adr.model import Fact
from orbit_registry.text.markdown import within

NAME = "badge"
_URL = re.compile(r"/badge/status-(?P<status>(?:[^-/?#]|--){1,60})(?P<tail>-[\w]{1,30})?(?=[.?#]|$)", re.IGNORECASE)


def read(header: Header) -> Iterator[Fact]:
    """Yield the status of the first status badge in the header."""
    links = header.document.links
    for link in (link for zone in header.zone for link in within(links, zone, lambda link: link.span.start)):
        if link.kind != "image" or link.target_span is None:
            continue
        match = _URL.search(link.target_span.of(header.text))
        if match:
            raw = unquote(match["status"]).replace("--", "\0").replace("_", " ").replace("\0", "-")
            yield Fact("status", raw, link.target_span, NAME, (link.target_span.of(header.text),))
            return


def written(fact: Fact, value: str) -> str:
    """Return the badge's address with the new status in it."""
    encoded = quote(value.replace("-", "--").replace(" ", "_"), safe="")
    return _URL.sub(lambda match: f"/badge/status-{encoded}{match['tail'] or ''}", fact.values[0], count=1)


def insertion(header: Header, key: str, value: str) -> tuple[int, str] | None:
    """Badges are never added."""
    return None
