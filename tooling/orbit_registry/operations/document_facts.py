"""Facts of a decision's document as a record holds them: id, fields and dates."""

import hashlib
import posixpath
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import PurePosixPath
from types import MappingProxyType

from orbit_registry.formats.adr.file_names import (
    GENERIC_NAMES,
    is_decision_folder,
    read_name,
    read_series_name,
)
from orbit_registry.formats.adr.model import AdrDocument
from orbit_registry.formats.adr.options import rejected_data
from orbit_registry.formats.position import Span
from orbit_registry.formats.untrusted import cut
from orbit_registry.model.ids import SEQUENCE_WIDTH, sequence_id, sequence_number
from orbit_registry.model.record import BY_COMMIT, BY_IMPORT, CREATED_FROM, UNREAD_STATUS
from orbit_registry.model.votes import format_time
from orbit_registry.repository.documents import LOG_NAME, Document, entry_span, heading_of

HIGHEST = 999_999
_OF_THE_DAY = re.compile(r"\d{1,3}(?=[-_])")
_PLAIN_SERIES = (
    "",
    "adr",
    "decision",
)  # what files begin with whose decisions have no name but their number
_ZEROS = re.compile(r"0\d{2,}")
_CODE = re.compile(r"\A(?!ADR-)[A-Z]{2,8}-\d{2,9}\Z")  # `TEP-0107`, as a title begins
_ONLY_DIGITS = re.compile(r"\d{1,9}\Z")


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
        digits = self.entry.number or ""
        if _ONLY_DIGITS.match(digits) and int(digits) <= HIGHEST:
            return int(digits)

        return None

    @property
    def label(self) -> str:
        """How a report names it."""
        if self.in_log:
            return f"{self.path} · {self.called}"

        return self.path

    @property
    def called(self) -> str | None:
        """What the heading calls a decision: `D1`, `ADR-001`, `4`;
        its title where it has no number.
        """
        entry = self.entry
        is_coded = entry.heading_span is None or entry.number is None  # a row, or `D-API-01`
        if self.in_log and is_coded and entry.legacy_ids:
            return entry.legacy_ids[0]

        if entry.heading_span is None or not entry.number_spans:
            return heading_of(entry, "log")
        lead = self.document.text[entry.heading_span.start : entry.number_spans[-1].end]
        return re.sub(r"^[\W_]+", "", lead) or entry.number

    @property
    def feature(self) -> str | None:
        """The folder of a log, which is the feature it belongs to."""
        if self.in_log:
            return posixpath.basename(posixpath.dirname(self.path)) or None

        return None

    def is_local(self, design: str) -> bool:
        """Say whether the number counts within its own log only."""
        return (
            self.in_log
            and is_of_feature(self.path, design)
            and len(self.entry.number or "") < SEQUENCE_WIDTH
        )

    @property
    def local_name(self) -> str | None:
        """The name of a log's entry that is unique among logs: `feature/ADR-001`."""
        if self.feature and self.entry.number:
            return f"{self.feature}/ADR-{self.entry.number}"

        return None


@dataclass(frozen=True, slots=True)
class NumberedDecision:
    """A candidate with the id and the earlier names it gets."""

    candidate: Candidate
    id: str
    legacy_ids: tuple[str, ...]
    renumber_reason: str | None = (
        None  # why the number in the document did not become the id; empty where it has none
    )


def is_of_feature(path: str, design: str) -> bool:
    """Say whether a document is the log of a feature."""
    return path.startswith(f"{design}/") and posixpath.basename(path) == LOG_NAME


def number_candidates(
    candidates: Sequence[Candidate],
    used: Collection[int],
    prefix: str,
    design: str,
    take: Callable[[int, Collection[int]], list[str]],
    remembered: Mapping[str, str] = MappingProxyType({}),
) -> list[NumberedDecision]:
    """Return every candidate with its id; `take(count,
    avoid)` gives new ids whose numbers are none of `avoid`. `remembered` has ids that decisions had
    before, by their uids and, of documents without a number, by their paths.
    """
    holder: dict[int, Candidate] = {}
    reasons: dict[int, str | None] = {}
    claims: dict[int, int] = defaultdict(int)
    earlier_numbers = dict(_earlier_numbers(candidates, prefix, remembered))
    used = {*used, *earlier_numbers.values()}
    for index, candidate in enumerate(candidates):
        number = candidate.number
        if number is None:
            if candidate.entry.number is None:
                reasons[index] = ""
            else:
                reasons[index] = f"{candidate.entry.number} is not sequential"

            continue

        claims[number] += 1

        if earlier_numbers.get(index) == number:
            reasons[index] = None
        elif candidate.is_local(design):
            reasons[index] = f"ADR-{candidate.entry.number} counts within its log only"
        elif number in used:
            reasons[index] = f"{sequence_id(prefix, number)} is taken by another record"
        elif number in holder:
            reasons[index] = (
                f"{candidate.entry.number} is also the number of {holder[number].label}, which "
                f"comes first"
            )
        else:
            holder[number] = candidate
            reasons[index] = None

    renumbered = [
        index
        for index, reason in reasons.items()
        if reason is not None and index not in earlier_numbers
    ]
    known = filter(None, (sequence_number(each, prefix) for each in remembered.values()))
    ids = take(len(renumbered), {*used, *holder, *known}) if renumbered else []
    fresh = {index: sequence_id(prefix, number) for index, number in earlier_numbers.items()}
    fresh.update(zip(renumbered, ids, strict=True))
    folders = {
        posixpath.dirname(candidate.path) for candidate in candidates if not candidate.in_log
    }
    series = _series_of(candidates)

    numbered = []
    for index, candidate in enumerate(candidates):
        record_id = fresh.get(index) or sequence_id(prefix, candidate.number or 0)
        shared = candidate.number is not None and (
            claims[candidate.number] > 1 or candidate.number in used
        )
        names = _legacy_names(candidate, record_id, folders, series, shared=shared)
        numbered.append(NumberedDecision(candidate, record_id, names, reasons[index]))

    return numbered


def _earlier_numbers(
    candidates: Sequence[Candidate], prefix: str, remembered: Mapping[str, str]
) -> Iterator[tuple[int, int]]:
    """Yield the number that a candidate had before, with its place; none gets another one's."""
    taken: set[int] = set()
    for index, candidate in enumerate(candidates):
        record_id = remembered.get(uid_of(candidate))
        number = sequence_number(record_id or remembered.get(candidate.path, ""), prefix)
        # A document with another title keeps its number, unless it states another one.
        is_same = record_id is not None or candidate.number in (None, number)
        if number is not None and is_same and number not in taken:
            taken.add(number)
            yield index, number


def _legacy_names(
    candidate: Candidate,
    record_id: str,
    folders: Collection[str],
    series: Collection[tuple[str, str]],
    *,
    shared: bool,
) -> tuple[str, ...]:
    entry = candidate.entry
    names: list[str] = [*entry.legacy_ids]
    if candidate.in_log:
        if candidate.local_name and f"ADR-{entry.number}" != record_id:
            names.append(candidate.local_name)
    else:
        pure = PurePosixPath(candidate.path)
        folder = posixpath.dirname(candidate.path)
        parents = (
            "" if parent == PurePosixPath() else str(parent) for parent in pure.parent.parents
        )
        nested = any(parent in folders for parent in parents)

        if entry.number:
            names.append(entry.number)
            if folder and (nested or shared):
                names.append(f"{posixpath.basename(folder)}/ADR-{entry.number}")

        names += _series_name(
            pure.stem, entry.number, [code for above, code in series if above == folder]
        )
        names += _CODE.findall(candidate.called or "")
        names += [
            fact.raw
            for fact in entry.facts
            if fact.key == "number" and fact.style == "front-matter"
        ]
        names += [
            fact.raw.strip("/ ").rpartition("/")[2] for fact in entry.facts if fact.key == "page"
        ]
        names.append(
            posixpath.basename(folder) if pure.stem.lower() in GENERIC_NAMES else pure.stem
        )

    tidy = (re.sub(r"[\s\x00-\x1f\x7f]+", "-", name.strip().strip("\"'`"))[:300] for name in names)
    return tuple(dict.fromkeys(name for name in tidy if name and name != record_id))


def _series_of(candidates: Sequence[Candidate]) -> set[tuple[str, str]]:
    """Two numbers, or one with zeros, are a series: `use-http-404-pages` alone is a title."""
    numbers: dict[tuple[str, str], set[str]] = defaultdict(set)
    for candidate in candidates:
        if not candidate.in_log:
            file_name = read_series_name(PurePosixPath(candidate.path).stem)
        else:
            file_name = None

        if file_name is not None and file_name.number is not None:
            numbers[posixpath.dirname(candidate.path), file_name.lead.lower()].add(file_name.number)

    return {
        key
        for key, distinct in numbers.items()
        if len(distinct) > 1 or any(map(_ZEROS.match, distinct))
    }


def _series_name(stem: str, number: str | None, series: Collection[str]) -> list[str]:
    """`OPS-ADR-0001-queues` is called `OPS-ADR-0001`, `20260401-02-queues` `ADR-20260401-02`."""
    file_name = read_name(stem)
    if file_name is None:
        file_name = read_series_name(stem)
        digits = number or ""
        is_same = (
            file_name
            and file_name.number
            and digits.isdigit()
            and int(file_name.number) == int(digits)
        )
        if file_name is None or not (is_same or file_name.lead.lower() in series):
            return []

    counter = _OF_THE_DAY.match(file_name.title) if file_name.date else None
    if file_name.date and counter:
        return [f"ADR-{file_name.date.replace('-', '')}-{counter.group()}"]

    is_plain = file_name.number is None or file_name.lead.strip("-_ ").lower() in _PLAIN_SERIES
    if is_plain:
        return []

    return [f"{file_name.lead}{file_name.number}"]


STATUS_LIMIT = 2000  # characters of a status, as written, that a record keeps
FEATURE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}\Z")


_NO_FEATURES = frozenset(
    {"doc", "docs", "documentation", "architecture", "design", "memory-bank", "memory_bank"}
)
"""Folders that are called after what all projects have:
a log in `docs/` is the project's, and of no feature.
"""


def document_fields(decision: NumberedDecision) -> dict[str, object]:
    """Return the fields of a record that a document states;
    a status it doesn't state is `unknown`.
    """
    entry, candidate = decision.candidate.entry, decision.candidate
    form = "log" if candidate.in_log else "file"
    source = {
        "path": candidate.path,
        "heading": heading_of(entry, form),
        "format": form,
        "authority": "document",
    }

    feature = candidate.feature
    is_feature = (
        feature is not None and FEATURE.match(feature) and feature.lower() not in _NO_FEATURES
    )
    is_feature = is_feature and not is_decision_folder(feature or "")
    fields: dict[str, object] = {
        "title": cut_line(entry.title, 300) or posixpath.basename(candidate.path),
        "status": entry.status,
        "status_raw": entry.status_raw.strip()[:STATUS_LIMIT],
        UNREAD_STATUS: entry.status_syntax,
        "date": (entry.date or "")[:40],
    }
    fields["rejected"] = rejected_data(candidate.document.text, Span(*entry_span(entry)))
    fields["tasks"] = words(entry.tasks)
    fields["deciders"] = words(entry.deciders)
    fields["labels"] = words(entry.tags)
    fields["scope"] = {"paths": list(entry.paths)} if entry.paths else {}
    fields["feature"] = feature if is_feature else None
    fields["legacy_ids"] = list(decision.legacy_ids)
    fields["source"] = {name: value for name, value in source.items() if value is not None}
    return fields


def document_dates(entry: AdrDocument, history: tuple[float, float] | None) -> dict[str, str]:
    """Return `created_at` and `updated_at` by the days in the document, else by its first commit
    and last change, and where the first is from if no document states it.
    """
    moments = [datetime.fromtimestamp(max(0, time), UTC) for time in history or ()]
    source = BY_COMMIT if moments else BY_IMPORT
    day = _midnight(entry.date)
    if day is not None:
        moments = [day, max([day, *moments[1:]])]
        source = ""

    change = _midnight(entry.updated)
    if change is not None and moments:
        moments[1:] = [max(moments[0], change)]

    now = datetime.now(UTC)
    names = ("created_at", "updated_at")
    dates = {
        name: format_time(min(moment, now)) for name, moment in zip(names, moments, strict=False)
    }
    if source:
        return {**dates, CREATED_FROM: source}

    return dates


def _midnight(date: str | None) -> datetime | None:
    """Return the start of a day; a month has none."""
    is_day = date is not None and len(date) == len("2026-04-01")
    if is_day:
        return datetime.fromisoformat(f"{date}T00:00:00+00:00")

    return None


def uid_of(candidate: Candidate) -> str:
    """Return the uid of the record for a document's decision,
    the same in every clone that adopts it.
    """
    entry = candidate.entry
    return stable_uid("adr", candidate.path, entry.number or "", entry.title)


def stable_uid(*parts: str) -> str:
    """Return a uid made of what identifies a thing at its origin,
    so that two clones that import it make one record.
    """
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogateescape")).hexdigest()[:32]


def cut_line(text: str, limit: int) -> str:
    """Return a text as one line of at most `limit` characters."""
    return cut(" ".join(text.split()), limit)


def words(values: Iterable[str]) -> list[str]:
    """Return texts as a record's list of words: one line each, none twice."""
    return list(dict.fromkeys(word for value in values if (word := cut_line(value, 200))))[:200]
