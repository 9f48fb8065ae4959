"""Finds which records a commit's message speaks of: by id, by an earlier id, or by a task of the record."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from orbit_registry.records.record import Record
from orbit_registry.text.citations import IdForms, find_citations

BY_ID, BY_TASK = "id", "task"
_WORD = re.compile(r"[^\s\[\](){},;:'\"`<>|=]+")
_AROUND = ".!?*_/"
_SHORTEST = 3


class Names:
    """What records are called: their ids, else their earlier ids, else the last part of those; and their tasks."""

    def __init__(self, records: Iterable[Record], forms: IdForms) -> None:
        self._forms = forms
        held = list(records)
        legacy: dict[str, set[str]] = {}
        tails: dict[str, set[str]] = {}
        self._ids: dict[str, set[str]] = {}
        self._tasks: dict[str, set[str]] = {}
        for record in held:
            self._ids.setdefault(_plain(record.id), set()).add(record.uid)
            for name in record.legacy_ids:
                legacy.setdefault(_plain(name), set()).add(record.uid)
                tails.setdefault(_plain(name.rpartition("/")[2]), set()).add(record.uid)
            for name in tasks_of(record):
                self._tasks.setdefault(name, set()).add(record.uid)
        for earlier in (legacy, tails):
            self._ids = {**earlier, **self._ids}

    def cited(self, message: str) -> Mapping[str, str]:
        """Return the lasting ids of the records that a message speaks of, and by what: `BY_ID` or `BY_TASK`."""
        found: dict[str, str] = {}
        words = {whole.strip(_AROUND) for whole in _WORD.findall(message)}
        words |= {part for word in words for part in word.split("/")}
        for word in words:
            for uid in self._tasks.get(word, ()):
                found[uid] = BY_TASK
        ids = {_plain(word) for word in words} | {_plain(one.id) for one in find_citations(message, self._forms)}
        for name in ids:
            for uid in self._ids.get(name, ()):
                found[uid] = BY_ID
        return found


def tasks_of(record: Record) -> list[str]:
    """Return the ids of tasks that a record names: its own, its scope's, its evidence's; words that may be anything
    are left out."""
    evidence = [reference for kind, reference in record.evidence if kind == "task"]
    named = dict.fromkeys([*record.words("tasks"), *record.scope.tasks, *evidence])
    return [name for name in named if len(name) >= _SHORTEST and any(map(str.isdigit, name)) and not name.isdigit()]


def _plain(name: str) -> str:
    """Return an id without the zeros before its number: `ADR 12` means ADR-0012."""
    word, dash, rest = name.rpartition("-")
    return f"{word}{dash}{int(rest)}" if dash and rest.isdecimal() and rest.isascii() else name
