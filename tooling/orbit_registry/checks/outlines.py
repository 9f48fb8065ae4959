"""What was found in documents and citing files that did not change: decisions without their sections, and citations."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Sequence
from typing import get_args

from orbit_registry.checks.citing import cited_in
from orbit_registry.checks.inputs import Inputs
from orbit_registry.text.adr import AdrDocument, AdrFile, Status, read_document
from orbit_registry.text.citations import IdForms
from orbit_registry.text.position import Position, Problem, Span

_STATUSES: dict[str, Status] = {status: status for status in get_args(Status)}


class Outlines:
    """The memory of one run; `whole` names the documents whose decisions are needed with everything in them."""

    def __init__(self, inputs: Inputs, whole: Collection[str]) -> None:
        self._inputs = inputs
        self._whole = whole
        self._found: dict[str, dict[str, object]] = {}

    def parse(self, text: str, path: str) -> AdrFile:
        """Return what `text.adr.read_document` does, for a known text without sections, relations and facts."""
        held = self._held(path)
        rows = held.get("outline")
        state = self._inputs.texts.get(path)
        if rows is not None and path not in self._whole and state is not None and state.sha256 == _sha256(text):
            known = _file(rows)
            if known is not None:
                return known
        file = read_document(text, path)
        held["outline"] = _rows(file)
        return file

    def cite(self, path: str, forms: IdForms, read: Callable[[str], str | None]) -> Sequence[tuple[str, int, int]]:
        """Return what `citing.cited_in` does, reading only files that changed."""
        held = self._held(path)
        rows = held.get("cited")
        if isinstance(rows, list):
            return [(str(cited), int(line), int(column)) for cited, line, column in rows]
        found = cited_in(path, forms, read)
        held["cited"] = [list(row) for row in found]
        return found

    def save(self) -> None:
        """Remember what was found; the caller knows that the files are those the inputs saw."""
        for path, held in self._found.items():
            state = self._inputs.texts.get(path)
            if state is not None and held != self._inputs.cache.value(state):
                self._inputs.cache.keep(state, held)
        self._inputs.cache.save()

    def _held(self, path: str) -> dict[str, object]:
        if path not in self._found:
            state = self._inputs.texts.get(path)
            known = self._inputs.cache.value(state) if state is not None else None
            self._found[path] = dict(known) if isinstance(known, dict) else {}
        return self._found[path]


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _rows(file: AdrFile) -> list[object]:
    entries = [
        [
            entry.title, entry.number, entry.status_raw, entry.status, entry.date, entry.date_raw, entry.has_cost,
            _place(entry.position), [entry.span.start, entry.span.end],
            [entry.heading_span.start, entry.heading_span.end] if entry.heading_span else None,
            [_problem(problem) for problem in entry.problems],
        ]
        for entry in file.entries
    ]  # fmt: skip
    return [file.format, file.skipped_reason, [_problem(problem) for problem in file.problems], entries]


def _place(position: Position | None) -> list[int] | None:
    return [position.line, position.column] if position is not None else None


def _problem(problem: Problem) -> list[object]:
    return [problem.code, problem.message, _place(problem.position), problem.hint]


def _file(rows: object) -> AdrFile | None:
    """Return the file that `_rows` wrote down; None for rows of another form."""
    match rows:
        case ["log" | "file" | "none" as form, None | str() as reason, list(problems), list(entries)]:
            read = [_entry(row) for row in entries]
            found = tuple(entry for entry in read if entry is not None)
            if len(found) == len(read):
                return AdrFile(form, found, tuple(_problem_of(row) for row in problems), reason)
    return None


def _entry(row: object) -> AdrDocument | None:
    match row:
        case [str(title), None | str() as number, str(status_raw), str(status), None | str() as date, str(date_raw),
              bool(has_cost), [int(line), int(column)], [int(start), int(end)], heading, list(problems)]:  # fmt: skip
            heading_span = Span(*heading) if isinstance(heading, list) else None
            return AdrDocument(
                title=title, number=number, status_raw=status_raw, status=_STATUSES.get(status, "unknown"), date=date,
                date_raw=date_raw, date_source=None, deciders=(), people=(), tasks=(), legacy_ids=(), tags=(),
                relations=(), sections=(), has_cost=has_cost, cost_position=None, format="", anchor="",
                position=Position(line, column), span=Span(start, end), heading_span=heading_span, title_spans=(),
                number_spans=(), status_span=None, superseding_spans=(), date_span=None, facts=(),
                problems=tuple(_problem_of(one) for one in problems),
            )  # fmt: skip
    return None


def _problem_of(row: object) -> Problem:
    match row:
        case [str(code), str(message), place, None | str() as hint]:
            return Problem(code, message, Position(*place) if isinstance(place, list) else None, hint)
    raise ValueError(f"a remembered problem has another form: {row!r}")
