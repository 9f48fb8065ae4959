"""What each step of an import makes of one document: what is read and where, what it states, and
what would become of it. Nothing is written.
"""

import posixpath
from collections.abc import Iterator
from dataclasses import dataclass

from orbit_registry.formats.adr.model import AdrDocument
from orbit_registry.formats.position import TextLines
from orbit_registry.formats.untrusted import cut
from orbit_registry.judgements.status_evidence import status_evidence
from orbit_registry.operations.adoption import Order, adopt
from orbit_registry.operations.document_choice import choose
from orbit_registry.operations.import_report import Outcome
from orbit_registry.repository.documents import Document
from orbit_registry.workspace.files import DOCUMENT_LIMIT, inside, read_text
from orbit_registry.workspace.workspace import Workspace

_QUOTED = 70


@dataclass(frozen=True, slots=True)
class Explanation:
    """One document: its decisions as read, and what an import would do with each."""

    document: Document
    folder: str
    """The folder whose import this is."""
    outcomes: tuple[Outcome, ...]

    def as_data(self) -> dict[str, object]:
        """Return it as JSON shows it."""
        file = self.document.file
        return {
            "path": self.document.path,
            "folder": self.folder,
            "form": file.format,
            "skipped": file.skipped_reason,
            "decisions": [_data(self.document.text, entry) for entry in self.document.entries],
            "outcomes": [{"what": each.what, **each.as_dict()} for each in self.outcomes],
        }

    def text(self) -> str:
        """Return it for people, a step below the other."""
        file = self.document.file
        skipped = f": {file.skipped_reason}" if file.skipped_reason else ""
        lines = [f"{self.document.path}", f"  read as    {file.format}{skipped}"]
        for entry in self.document.entries:
            lines += _lines(self.document.text, entry)

        lines.append(f"  with the other documents of {self.folder}:")
        for outcome in self.outcomes:
            record = f" → {outcome.record}" if outcome.record else ""
            reason = f": {outcome.reason}" if outcome.reason else ""
            lines.append(f"    {outcome.what:<10} {outcome.source}{record}{reason}")

        return "\n".join(lines)


def explain(workspace: Workspace, path: str) -> Explanation:
    """Return what an import of the document's folder makes of it: its neighbours decide its
    number, and what its links lead to.
    """
    text = read_text(inside(workspace.root, path), limit=DOCUMENT_LIMIT)
    folder = posixpath.dirname(path) or "."
    neighbours = choose(workspace, folder).documents
    outcomes = adopt(workspace, {path, *neighbours}, Order(by_name=[path], dry_run=True))
    about = (outcome for outcome in outcomes if _path_of(outcome, workspace) == path)
    return Explanation(Document(path, text), folder, tuple(about))


def _path_of(outcome: Outcome, workspace: Workspace) -> str:
    """Return the document that an outcome is about: one of a log names its entry, or a line."""
    path = outcome.source.partition(" · ")[0]
    if (workspace.root / path).is_file():
        return path

    return path.rpartition(":")[0]


def _stated(text: str, entry: AdrDocument) -> Iterator[tuple[str, str, str, int]]:
    """Yield key, value, style and line of each fact."""
    position = TextLines(text).position
    for fact in entry.facts:
        if fact.key == "statement":
            continue

        value = ", ".join(fact.values) if fact.is_list else fact.raw
        line = position(fact.span.start).line
        yield fact.key, cut(" ".join(value.split()), _QUOTED), fact.style, line


def _data(text: str, entry: AdrDocument) -> dict[str, object]:
    facts = [
        {"key": key, "value": value, "style": style, "line": line}
        for key, value, style, line in _stated(text, entry)
    ]
    return {
        "title": entry.title,
        "number": entry.number,
        "status": entry.status,
        "date": entry.date,
        "facts": facts,
        "relations": [f"{each.rel} {each.target_raw}" for each in entry.relations],
        "sections": [section.key for section in entry.sections],
        "problems": [problem.message for problem in entry.problems],
    }


def _lines(text: str, entry: AdrDocument) -> Iterator[str]:
    yield f"  decision   {entry.title}"
    for key, value, style, line in _stated(text, entry):
        yield f"    line {line:<4} {key}: {value} ({style})"

    evidence = status_evidence(entry.status, entry.status_raw, entry.status_syntax)
    yield f"    number    {entry.number or 'none'}"
    yield f"    status    {entry.status}: {evidence}"
    yield f"    date      {entry.date or 'none'}{f' ({entry.date_source})' if entry.date else ''}"
    for relation in entry.relations:
        kind = "mentions" if relation.weak else relation.rel
        yield f"    line {relation.position.line:<4} {kind} {relation.target_raw}"

    sections = ", ".join(f"{each.heading} ({each.key})" for each in entry.sections)
    yield f"    sections  {sections or 'none'}"
    for problem in entry.problems:
        line = problem.position.line if problem.position else 1
        yield f"    line {line:<4} {problem.message}; {problem.hint}"
