"""The ways a document states its metadata, one module each; the order of the table says which one wins.

A style module has `NAME`, `read(header)` yielding facts, `written(fact, value)` giving the text that replaces a
fact's span, and `insertion(header, key, value)` giving (offset, text) for a fact that is not there yet, or None
where the style is not in use. A new style is one more module and one more row.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from orbit_registry.text.adr.header import Header
from orbit_registry.text.adr.model import Fact
from orbit_registry.text.adr.styles import (
    badge,
    bullets,
    front_matter,
    line,
    section,
    table,
)


class Style(Protocol):
    """What each module of this package offers."""

    NAME: str

    def read(self, header: Header) -> Iterator[Fact]:
        """Yield the facts that the header states in this style."""

    def written(self, fact: Fact, value: str) -> str:
        """Return the text that stands in place of the fact's span when its value becomes `value`."""

    def insertion(self, header: Header, key: str, value: str) -> tuple[int, str] | None:
        """Return where and what to insert so that the header states `key`, or None if the style is not in use."""


STYLES: tuple[Style, ...] = (front_matter, bullets, line, table, section, badge)
BY_NAME: dict[str, Style] = {style.NAME: style for style in STYLES}
