"""Owns what the configuration says of publishing: kinds, statuses, tags, what is struck out; it applies nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from orbit_registry.kinds.schema import SchemaProblem
from orbit_registry.kinds.table import KindTable

SECTION = ("site", "publish")
_KEY = ".".join(SECTION)
CHOICES = ("kinds", "statuses", "tags")


@dataclass(frozen=True, slots=True)
class Choice:
    """Names that are wanted, and names that are never: `internal` and `!internal`; case makes no difference."""

    only: frozenset[str] = frozenset()
    never: frozenset[str] = frozenset()

    def admits(self, names: Iterable[str]) -> bool:
        """Say whether something with these names is wanted; where none is asked for, all are."""
        held = {name.casefold() for name in names}
        return not held & self.never and (not self.only or bool(held & self.only))


@dataclass(frozen=True, slots=True)
class PublishConfig:
    """The section `site.publish`; without one everything that the site shows is published."""

    kinds: Choice = field(default_factory=Choice)
    statuses: Choice = field(default_factory=Choice)
    tags: Choice = field(default_factory=Choice)
    redact: tuple[re.Pattern[str], ...] = ()
    stated: bool = False
    """Whether anything is said at all."""


def publish_config(data: Mapping[str, Any]) -> PublishConfig:
    """Return the values of a section in which `publish_problems` found nothing."""
    chosen = {name: _choice(data.get(name, ())) for name in CHOICES}
    patterns = tuple(re.compile(pattern) for pattern in data.get("redact", ()))
    stated = any(data.get(name) for name in (*CHOICES, "redact"))
    return PublishConfig(**chosen, redact=patterns, stated=stated)


def _choice(names: Iterable[str]) -> Choice:
    held = [name.strip().casefold() for name in names]
    never = frozenset(name[1:].strip() for name in held if name.startswith("!"))
    return Choice(frozenset(name for name in held if not name.startswith("!")), never)


def publish_problems(data: Mapping[str, Any], kinds: KindTable | None = None) -> Iterator[SchemaProblem]:
    """Yield what is wrong with a section that the schema accepts.

    A misspelt kind or status would publish what it was to keep back; where the kinds are given, that is a problem.
    """
    for place, pattern in enumerate(data.get("redact", ())):
        said = _refused(pattern)
        if said:
            hint = "write a regular expression of Python's that matches what must not be read: `(?i)project falcon`"
            yield SchemaProblem((*SECTION, "redact", place), f"{_KEY}.redact: {pattern!r} {said}", hint)
    if kinds is None:
        return
    statuses = {status for kind in kinds for status in kind.statuses}
    for name, known in (("kinds", {kind.name for kind in kinds}), ("statuses", statuses)):
        for place, written in enumerate(data.get(name, ())):
            if written.removeprefix("!").strip().casefold() not in known:
                said = f"{_KEY}.{name}: there is no {written.removeprefix('!')!r}"
                yield SchemaProblem((*SECTION, name, place), said, f"known are {', '.join(sorted(known))}")


def _refused(pattern: str) -> str | None:
    try:
        matches_nothing = re.compile(pattern).search("")
    except (re.error, OverflowError, RecursionError) as error:
        return f"is no regular expression: {error}"
    return "matches the empty text, so it would strike out everything" if matches_nothing else None
