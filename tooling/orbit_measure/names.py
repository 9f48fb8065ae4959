"""Which records a message names: by id, by an earlier id, or by one of their tasks."""

import re
from collections.abc import Iterable, Mapping
from itertools import chain

from orbit_registry.formats.citations import IdForms, find_citations
from orbit_registry.model.ids import as_written_here
from orbit_registry.model.record import Record

BY_ID, BY_TASK = "id", "task"
_WORD = re.compile(r"[^\s\[\](){},;:'\"`<>|=]+")
_AROUND = ".!?*_/"
_SHORTEST = 3


class NameResolver:
    """Records by id, earlier id, last part of an earlier id, and task."""

    def __init__(self, records: Iterable[Record], forms: IdForms) -> None:
        self._forms = forms
        legacy: dict[str, set[str]] = {}
        tails: dict[str, set[str]] = {}
        self._ids: dict[str, set[str]] = {}
        self._tasks: dict[str, set[str]] = {}

        for record in records:
            self._ids.setdefault(as_written_here(record.id), set()).add(record.uid)
            for name in record.legacy_ids:
                legacy.setdefault(as_written_here(name), set()).add(record.uid)
                tails.setdefault(as_written_here(name.rpartition("/")[2]), set()).add(record.uid)
            for name in tasks_of(record):
                self._tasks.setdefault(name, set()).add(record.uid)

        for earlier in (legacy, tails):
            self._ids = {**earlier, **self._ids}

    def cited(self, message: str) -> Mapping[str, str]:
        """Return the uids of the records that a message cites, and how: `BY_ID` or `BY_TASK`."""
        matches: dict[str, str] = {}
        words = {token.strip(_AROUND) for token in _WORD.findall(message)}
        words |= set(chain.from_iterable(word.split("/") for word in words))
        for word in words:
            for uid in self._tasks.get(word, ()):
                matches[uid] = BY_TASK

        ids = {as_written_here(word) for word in words} | {
            as_written_here(citation.id) for citation in find_citations(message, self._forms)
        }
        for name in ids:
            for uid in self._ids.get(name, ()):
                matches[uid] = BY_ID

        return matches


def tasks_of(record: Record) -> list[str]:
    """Return the ids of tasks that a record names, without words that could be anything."""
    evidence = [reference for kind, reference in record.evidence if kind == "task"]
    task_ids = dict.fromkeys([*record.words("tasks"), *record.scope.tasks, *evidence])
    return [
        name
        for name in task_ids
        if len(name) >= _SHORTEST and any(map(str.isdigit, name)) and not name.isdigit()
    ]
