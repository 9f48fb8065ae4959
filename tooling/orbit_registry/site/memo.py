"""Remembers what a page was made from, so that only pages whose inputs changed are made again; a mere cache."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from orbit_registry.records.diagnostic import Diagnostic, diagnostic_of, row_of
from orbit_registry.site.output import replace_file

_encode = json.JSONEncoder(sort_keys=True, ensure_ascii=True, default=str).encode
Lookup = tuple[str, str, str]
"""A question asked of the site map (kind, name) and the answer's token."""


def key_of(*parts: object) -> str:
    """Return a digest of values that JSON can hold."""
    return hashlib.blake2b(_encode(parts).encode(), digest_size=12).hexdigest()


@dataclass(frozen=True, slots=True)
class Made:
    """What one page was made from, and what was found on the way."""

    key: str
    path: str
    """The document whose links were looked up."""
    lookups: tuple[Lookup, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    extra: Any = None
    """What the maker wants back when the page is taken over: a document's title."""


@dataclass
class Memo:
    """The pages of the last build; a damaged or old file is an empty one."""

    file: Path
    version: str
    held: dict[str, Made] = field(default_factory=dict)
    used: dict[str, Made] = field(default_factory=dict)

    def fresh(self, page: str, key: str, ask: Callable[[str, str, str], str]) -> Made | None:
        """Return what is known of a page if its key and every answer it rested on are the same."""
        made = self.held.get(page)
        if made is None or made.key != key:
            return None
        if any(ask(kind, made.path, name) != token for kind, name, token in made.lookups):
            return None
        self.used[page] = made
        return made

    def put(self, page: str, made: Made) -> None:
        """Remember a page that was made."""
        self.used[page] = made

    def save(self) -> None:
        """Write what this build used, for the next one."""
        rows = {page: _row(made) for page, made in sorted(self.used.items())}
        text = json.dumps({"version": self.version, "pages": rows}, separators=(",", ":"))
        replace_file(self.file, text.encode())


def open_memo(file: Path, version: str) -> Memo:
    """Return what the last build left in `file`, if the same version of everything made it."""
    try:
        data = json.loads(file.read_text("utf-8"))
        if data["version"] != version:
            return Memo(file, version)
        return Memo(file, version, {page: _made(row) for page, row in data["pages"].items()})
    except (OSError, ValueError, KeyError, TypeError, IndexError):
        return Memo(file, version)


def _row(made: Made) -> list[Any]:
    return [made.key, made.path, made.lookups, [row_of(one) for one in made.diagnostics], made.extra]


def _made(row: list[Any]) -> Made:
    lookups = tuple((kind, name, token) for kind, name, token in row[2])
    return Made(row[0], row[1], lookups, tuple(diagnostic_of(one) for one in row[3]), row[4])


def all_diagnostics(memos: Iterable[Memo]) -> list[Diagnostic]:
    """Return what was found while making the pages of a build, those taken over among them."""
    return [found for memo in memos for made in memo.used.values() for found in made.diagnostics]
