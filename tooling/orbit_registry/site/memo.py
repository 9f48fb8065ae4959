"""Page cache: a digest of the inputs of each file of the last build; only files whose inputs
changed are rendered.

Rendering a record's page takes 2 to 3 ms, comparing its inputs 0.3 ms.
"""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from orbit_registry.formats.position import Position
from orbit_registry.model.diagnostic import Diagnostic
from orbit_registry.site.output import Output
from orbit_registry.site.sitemap import Question, SiteMap
from orbit_registry.workspace.cache import Cache, row_reader, to_row

_encode = json.JSONEncoder(sort_keys=True, ensure_ascii=True, default=str).encode


def key_of(*parts: object) -> str:
    """Return a digest of values that JSON can hold."""
    return hashlib.blake2b(_encode(parts).encode(), digest_size=12).hexdigest()


def _as_stored(value: list[Any]) -> list[Any]:
    return list(json.loads(json.dumps(value)))  # as the cache gives it back: tuples become lists


def _below(problem: Diagnostic, above: int) -> Diagnostic:
    position = problem.location.position
    if position is None or not above:
        return problem

    location = replace(problem.location, position=Position(position.line + above, position.column))
    return replace(problem, location=location)


@dataclass(frozen=True, slots=True)
class Content:
    """A rendered file: its content, its diagnostics, and a value that is stored with it."""

    data: str | bytes
    value: Any = None
    diagnostics: tuple[Diagnostic, ...] = ()


class PageCache:
    """The files of one output folder.

    Its entries hold for the finished build that wrote the folder, and no other.
    """

    def __init__(
        self, values: Cache, namespace: str, version: str, out: Output, site: SiteMap
    ) -> None:
        """Read the entries of the last build; `version` is a digest of what all pages depend on."""
        self.out, self.site, self.diagnostics = out, site, list[Diagnostic]()
        self._values, self._namespace, self._version = values, namespace, version
        self._stored: dict[str, list[Any]] = (
            values.recall(namespace, key_of(version, out.seal)) or {}
        )
        self._entries: dict[str, list[Any]] = {}

    def page(
        self, path: str, inputs: object, make: Callable[[], Content | None], above: int = 0
    ) -> Any:
        """Return the value of a file; write what `make` returns if its inputs, or the site map's
        answers, changed.

        A file of which `make` returns None has no entry, and no value. What is wrong with it is
        in a text that begins so many lines further down.
        """
        key, entry = key_of(inputs), self._stored.get(path)
        if entry is None or entry[:2] != [key, self._answers(entry[2])] or not self.out.keep(path):
            self.site.questions.clear()
            content = make()
            if content is None:
                return None
            self.out.write(path, content.data)
            questions, problems = [*self.site.questions], [*map(to_row, content.diagnostics)]
            entry = _as_stored([key, self._answers(questions), questions, content.value, problems])

        self._entries[path] = entry
        read = row_reader(Diagnostic)
        self.diagnostics += [_below(read(row), above) for row in entry[4]]
        return entry[3]

    def value(self, name: str, inputs: object, make: Callable[[], Any]) -> Any:
        """Return a value that belongs to no file; `make` it if its inputs changed, and each time
        if it is None.
        """
        key, entry = key_of(inputs), self._entries.get(name) or self._stored.get(name)
        if entry is None or entry[0] != key:
            value = make()
            if value is None:
                return None
            entry = _as_stored([key, "", [], value, []])
        self._entries[name] = entry
        return entry[3]

    def save(self) -> None:
        """Keep what this build used for the next one; the output is finished."""
        key = key_of(self._version, self.out.seal)
        # Pages, and so what is stored of them, are made from texts without secrets.
        self._values.remember(self._namespace, key, self._entries, is_clean=True)

    def _answers(self, questions: Sequence[Question]) -> str:
        if questions:
            return key_of([self.site.answer(question) for question in questions])

        return ""
