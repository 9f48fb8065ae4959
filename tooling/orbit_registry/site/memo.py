"""Remembers what a page was made from, so that only pages whose inputs changed are made again; a mere cache.

Two things are compared: a page's key, a digest of all it is made from, and before that, for it costs nothing, what
records show to each other (`Shown.is_as_before`): where that is as it was, a page depends on its own part alone.
Both speak of the files of one build: where another has written to the folder since, nothing is known.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from orbit_registry.records.diagnostic import Diagnostic, diagnostic_of, row_of
from orbit_registry.site.output import replace_file
from orbit_registry.store.manifest import compact

_encode = json.JSONEncoder(sort_keys=True, ensure_ascii=True, default=str).encode
Lookup = tuple[str, str, str]
"""A question asked of the site map (kind, name) and the answer's token."""
Ask = Callable[[str, str, str], str]
"""Answers such a question, of a document, with the token of now."""


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
    own: str = ""
    """What of the key no other page depends on: a digest of the record's own files, of the generator's page."""


@dataclass
class Memo:
    """The pages of the last build; a damaged or old file is an empty one.

    The file is a line of JSON for what is said of all, one for each page and one for each text: those that stay are
    written as they were read, as making them again takes three times as long.
    """

    file: Path
    version: str
    held: dict[str, Made] = field(default_factory=dict)
    lines: tuple[dict[str, str], dict[str, str]] = ({}, {})
    """The lines of the last build, by page and by text."""
    used: dict[str, Made] = field(default_factory=dict)
    notes_before: dict[str, list[Any]] = field(default_factory=dict)
    notes: dict[str, list[Any]] = field(default_factory=dict)
    """Of each text its stamp, and what was found in it."""
    rest: str = ""
    """A digest of what pages depend on beside records and files."""

    def noted(self, name: str, stamp: str, look: Callable[[], list[Any]]) -> list[Any]:
        """Return what the last build found in a text, if its stamp is the same; else what `look` finds."""
        note = self.notes.get(name)
        if note is None:
            held = self.notes_before.get(name)
            note = self.notes[name] = held if held is not None and held[0] == stamp else [stamp, *look()]
        return note[1:]

    def fresh(self, page: str, key: str, ask: Ask) -> Made | None:
        """Return what is known of a page if its key and every answer it rested on are the same."""
        made = self.held.get(page)
        return None if made is None or made.key != key else self.as_answered(page, ask)

    def as_answered(self, page: str, ask: Ask) -> Made | None:
        """Return what is known of a page, whatever its key, if every answer it rested on is the same."""
        made = self.held.get(page)
        if made is None or any(ask(kind, made.path, name) != token for kind, name, token in made.lookups):
            return None
        self.used[page] = made
        return made

    def put(self, page: str, made: Made) -> None:
        """Remember a page that was made."""
        self.used[page] = made

    def save(self, seal: str) -> None:
        """Write what this build used, for the next one; `seal` is that of the finished output."""
        head = compact({"version": self.version, "seal": seal, "rest": self.rest, "pages": len(self.used)})
        pages = sorted(self.used.items())
        notes = self.notes.items()
        of_pages, of_notes = self.lines
        lines = [
            *(of_pages[at] if self.held.get(at) is made else compact([at, *_row(made)]) for at, made in pages),
            *(of_notes[at] if self.notes_before.get(at) is note else compact([at, *note]) for at, note in notes),
        ]
        replace_file(self.file, "\n".join([head, *lines]).encode())


def open_memo(file: Path, version: str, seal: str) -> Memo:
    """Return what the last build left in `file`, if the same version of everything made it.

    `seal` is that of the output: of files that another build wrote nothing is known.
    """
    try:
        head, *lines = file.read_text("utf-8").split("\n")
        data = json.loads(head)
        if (data["version"], data["seal"]) != (version, seal):
            return Memo(file, version)
        rows, number = json.loads(f"[{','.join(lines)}]"), data["pages"]
        held = {name: _made(row) for name, *row in rows[:number]}
        notes = {name: note for name, *note in rows[number:]}
        as_read = (
            dict(zip(held, lines[:number], strict=True)),
            dict(zip(notes, lines[number:], strict=True)),
        )
        return Memo(file, version, held, as_read, notes_before=notes, rest=str(data["rest"]))
    except (OSError, ValueError, KeyError, TypeError, IndexError):
        return Memo(file, version)


def _row(made: Made) -> list[Any]:
    return [made.key, made.path, made.lookups, [row_of(one) for one in made.diagnostics], made.extra, made.own]


def _made(row: list[Any]) -> Made:
    key, path, lookups, found, extra, own = row
    asked = tuple((kind, name, token) for kind, name, token in lookups) if lookups else ()
    return Made(key, path, asked, tuple(map(diagnostic_of, found)) if found else (), extra, own)


def all_diagnostics(memos: Iterable[Memo]) -> list[Diagnostic]:
    """Return what was found while making the pages of a build, those taken over among them."""
    return [found for memo in memos for made in memo.used.values() for found in made.diagnostics]
