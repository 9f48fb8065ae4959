"""Records as resources: `orbit://record/ID`, each as the text that `show` gives; it lists those that hold."""

from __future__ import annotations

from dataclasses import dataclass

from orbit_registry.errors import RecordNotFoundError
from orbit_registry.mcp.calls import harmless
from orbit_registry.mcp.reading import clean, show
from orbit_registry.mcp.tool import Asked, Caller
from orbit_registry.registry import Registry

START = "orbit://record/"
TEMPLATE = f"{START}{{id}}"
TYPE = "text/plain"
PAGE = 100


@dataclass(frozen=True, slots=True)
class Entry:
    """A record in the list of resources."""

    uri: str
    name: str
    title: str
    said: str


def page(registry: Registry, start: int) -> tuple[list[Entry], int | None]:
    """Return a page of the records in force, and where the next one starts."""
    held = [record for record in registry.collection.records if record.phase == "live"]
    entries = []
    for found in held[start : start + PAGE]:
        record = clean(found)
        said = f"{record.kind.label}, {record.status.word}"
        entries.append(Entry(f"{START}{record.id}", record.id, str(harmless(record.title)), said))
    following = start + PAGE
    return entries, following if following < len(held) else None


def text_of(registry: Registry, uri: str, caller: Caller) -> str:
    """Return the text behind a URI.

    Raises:
        RecordNotFoundError: it names no record.
    """
    any_id = uri.removeprefix(START)
    if not any_id or any_id == uri:
        raise RecordNotFoundError(f"{uri!r} is no resource here", hint=f"resources are {TEMPLATE}")
    return str(harmless(show(Asked(registry, caller, {"id": any_id})).text))
