"""Decides which id and which earlier names a document's decision gets; takes no number itself and writes nothing.

A number in a file's name, front matter or heading becomes the id where it is free: `0042` is `ADR-0042`. Where several
documents claim one number, the first by path gets it and the others get new ones. A log below the design folder
counts for itself, so `ADR-001` to `ADR-999` there are local names: `feature/ADR-001`.
"""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from orbit_registry.formats.adr.file_names import GENERIC_NAMES, read_name, read_series_name
from orbit_registry.formats.adr.model import AdrDocument
from orbit_registry.model.ids import SEQUENCE_WIDTH, sequence_id
from orbit_registry.repository.documents import LOG_NAME, Document, heading_of

HIGHEST = 999_999
_OF_THE_DAY = re.compile(r"\d{1,3}(?=[-_])")
_PLAIN_SERIES = ("", "adr", "decision")
"""What files begin with whose decisions have no name but their number."""
_ZEROS = re.compile(r"0\d{2,}")
_DIGITS = re.compile(r"\d{1,9}\Z")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A decision in a document that no record points at yet."""

    document: Document
    entry: AdrDocument

    @property
    def path(self) -> str:
        """The document, from the root."""
        return self.document.path

    @property
    def in_log(self) -> bool:
        """Say whether the document holds several decisions."""
        return self.document.file.format == "log"

    @property
    def number(self) -> int | None:
        """The number the text gives the decision, where it is one that ids are made of."""
        digits = self.entry.number
        if digits is None or not _DIGITS.match(digits):
            return None
        return int(digits) if int(digits) <= HIGHEST else None

    @property
    def label(self) -> str:
        """How a report names it."""
        return f"{self.path} · {self._called}" if self.in_log else self.path

    @property
    def _called(self) -> str | None:
        """What the log's own heading calls an entry: `D1`, `ADR-001`, `4`; its title where it has no number."""
        entry = self.entry
        if entry.heading_span is None or not entry.number_spans:
            return heading_of(entry, "log")
        lead = self.document.text[entry.heading_span.start : entry.number_spans[-1].end]
        return re.sub(r"^[\W_]+", "", lead) or entry.number

    @property
    def feature(self) -> str | None:
        """The folder of a log, which is the feature it belongs to."""
        return posixpath.basename(posixpath.dirname(self.path)) or None if self.in_log else None

    def is_local(self, design: str) -> bool:
        """Say whether the number counts within its own log only."""
        return self.in_log and is_of_feature(self.path, design) and len(self.entry.number or "") < SEQUENCE_WIDTH

    @property
    def local_name(self) -> str | None:
        """The name of a log's entry that is unique among logs: `feature/ADR-001`."""
        return f"{self.feature}/ADR-{self.entry.number}" if self.feature and self.entry.number else None


@dataclass(frozen=True, slots=True)
class NumberedDecision:
    """A candidate with the id and the earlier names it gets."""

    candidate: Candidate
    id: str
    legacy_ids: tuple[str, ...]
    renumber_reason: str | None = None
    """Why the number in the document did not become the id; empty where it has none."""


def is_of_feature(path: str, design: str) -> bool:
    """Say whether a document is the log of a feature."""
    return path.startswith(f"{design}/") and posixpath.basename(path) == LOG_NAME


def number_candidates(
    candidates: Sequence[Candidate],
    used: Collection[int],
    prefix: str,
    design: str,
    take: Callable[[int, Collection[int]], list[str]],
) -> list[NumberedDecision]:
    """Return every candidate with its id; `take(count, avoid)` gives new ids whose numbers are none of `avoid`."""
    holder: dict[int, Candidate] = {}
    reasons: dict[int, str | None] = {}
    claims: dict[int, int] = defaultdict(int)
    for index, candidate in enumerate(candidates):
        number = candidate.number
        if number is None:
            reasons[index] = "" if candidate.entry.number is None else f"{candidate.entry.number} is no running number"
            continue
        claims[number] += 1
        if candidate.is_local(design):
            reasons[index] = f"ADR-{candidate.entry.number} counts within its log only"
        elif number in used:
            reasons[index] = f"{sequence_id(prefix, number)} is taken by another record"
        elif number in holder:
            reasons[index] = f"{candidate.entry.number} is also the number of {holder[number].label}, which comes first"
        else:
            holder[number] = candidate
            reasons[index] = None
    wanting = [index for index, reason in reasons.items() if reason is not None]
    fresh = dict(zip(wanting, take(len(wanting), {*used, *holder}), strict=True)) if wanting else {}
    folders = {posixpath.dirname(candidate.path) for candidate in candidates if not candidate.in_log}
    series = _series_of(candidates)
    numbered = []
    for index, candidate in enumerate(candidates):
        record_id = fresh.get(index) or sequence_id(prefix, candidate.number or 0)
        shared = candidate.number is not None and (claims[candidate.number] > 1 or candidate.number in used)
        names = _legacy_names(candidate, record_id, folders, series, shared=shared)
        numbered.append(NumberedDecision(candidate, record_id, names, reasons[index]))
    return numbered


def _legacy_names(
    candidate: Candidate,
    record_id: str,
    folders: Collection[str],
    series: Collection[tuple[str, str]],
    *,
    shared: bool,
) -> tuple[str, ...]:
    """Return the names a decision was known by, the most specific last."""
    entry = candidate.entry
    names: list[str] = [*entry.legacy_ids]
    if candidate.in_log:
        if candidate.local_name and f"ADR-{entry.number}" != record_id:
            names.append(candidate.local_name)
    else:
        folder = posixpath.dirname(candidate.path)
        pure = PurePosixPath(candidate.path)
        nested = any(above in folders for above in _above(folder))
        if entry.number:
            names.append(entry.number)
            if folder and (nested or shared):
                names.append(f"{posixpath.basename(folder)}/ADR-{entry.number}")
        names += [
            *_series_name(pure.stem, entry.number, [code for series_folder, code in series if series_folder == folder])
        ]
        names += [fact.raw for fact in entry.facts if fact.key == "number" and fact.style == "front-matter"]
        names += [fact.raw.strip("/ ").rpartition("/")[2] for fact in entry.facts if fact.key == "page"]
        names.append(posixpath.basename(folder) if pure.stem.lower() in GENERIC_NAMES else pure.stem)
    tidy = (re.sub(r"[\s\x00-\x1f\x7f]+", "-", name.strip().strip("\"'`"))[:300] for name in names)
    return tuple(dict.fromkeys(name for name in tidy if name and name != record_id))


def _series_of(candidates: Sequence[Candidate]) -> set[tuple[str, str]]:
    """Return (folder, `framework-`) of the series whose names only their files have: two numbers, or one with zeros.

    `use-http-404-pages` alone is a title.
    """
    numbers: dict[tuple[str, str], set[str]] = defaultdict(set)
    for candidate in candidates:
        file_name = read_series_name(PurePosixPath(candidate.path).stem) if not candidate.in_log else None
        if file_name is not None and file_name.number is not None:
            numbers[posixpath.dirname(candidate.path), file_name.lead.lower()].add(file_name.number)
    return {
        key
        for key, distinct in numbers.items()
        if len(distinct) > 1 or any(_ZEROS.match(number) for number in distinct)
    }


def _series_name(stem: str, number: str | None, series: Collection[str]) -> list[str]:
    """Return what people call a decision of a series with its own name: `OPS-ADR-0001` of `OPS-ADR-0001-queues`.

    `series` are those of its folder whose names only the files have. Where names begin with a date and a counter,
    `20260401-02-queues`, that is `ADR-20260401-02`.
    """
    file_name = read_name(stem)
    counter = _OF_THE_DAY.match(file_name.title) if file_name is not None and file_name.date else None
    if file_name is not None and file_name.date and counter:
        return [f"ADR-{file_name.date.replace('-', '')}-{counter.group()}"]
    series_name = read_series_name(stem) if file_name is None else None
    same = (
        series_name is not None
        and series_name.number is not None
        and (number or "").isdigit()
        and int(series_name.number) == int(number or 0)
    )
    file_name = series_name if series_name is not None and (same or series_name.lead.lower() in series) else file_name
    if file_name is None or file_name.number is None or file_name.lead.strip("-_ ").lower() in _PLAIN_SERIES:
        return []
    return [f"{file_name.lead}{file_name.number}"]


def _same(number: str | None, other: str | None) -> bool:
    return None not in (number, other) and (number or "").lstrip("0") == (other or "").lstrip("0")


def _above(folder: str) -> list[str]:
    parts = folder.split("/") if folder else []
    return ["/".join(parts[:length]) for length in range(len(parts))]
