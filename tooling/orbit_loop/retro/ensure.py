"""Idempotent write of records by key: insert, update or leave unchanged."""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from orbit_registry.checks.duplicates import near_duplicates_of_all, says_the_same, wording
from orbit_registry.errors import InvalidRecordError, OrbitError, RefusedError, UsageError
from orbit_registry.formats.secrets import without_secrets
from orbit_registry.formats.wording import normalised
from orbit_registry.hook.events import ENSURED
from orbit_registry.model.ids import code_id, new_uid
from orbit_registry.model.kind import Kind
from orbit_registry.model.record import Record
from orbit_registry.operations import adr as adrs
from orbit_registry.operations import edits, lifecycle
from orbit_registry.repository import writer
from orbit_registry.repository.guard import refuse_for_agent, refuse_secrets, write_step
from orbit_registry.repository.reader import read_collection
from orbit_registry.workspace.author import Author
from orbit_registry.workspace.event_log import write_event
from orbit_registry.workspace.files import document_text
from orbit_registry.workspace.journal import FileChange
from orbit_registry.workspace.workspace import Workspace

INSERTED, UPDATED, UNCHANGED, REFUSED = "inserted", "updated", "unchanged", "refused"
MOST_ENTRIES = 10_000
LARGEST_LINE = 1_000_000
_NAMED = ("kind", "key", "status", "fields")
_LINE = 'a line is an object: {"kind": "learning", "key": "meeting/7/1", "summary": "…"}'


@dataclass(frozen=True, slots=True)
class EnsureRequest:
    """Record that a producer asks for: kind, key, fields,
    and a status or a prose file if needed.
    """

    kind: str
    key: str
    fields: Mapping[str, object] = field(default_factory=dict)
    status: str = ""
    text: str | None = None
    join: Callable[[Record], EnsureRequest] | None = None
    """Merges the request with the existing record, under the lock."""
    share: float = 0.0
    """Share of the shorter headline's words that makes two records the same; of 0 the key alone."""
    line: int = 0
    """Line in a batch, from 1."""

    @property
    def digest(self) -> str:
        """Return a hash of the request, by which a repeated one is recognised."""
        content = json.dumps([self.fields, self.status, self.text], sort_keys=True, default=str)
        return f"sha256:{hashlib.sha256(content.encode('utf-8', 'surrogatepass')).hexdigest()[:32]}"


@dataclass(frozen=True, slots=True)
class EnsureResult:
    """Outcome of a request, its record, and the reason if nothing was written."""

    entry: EnsureRequest
    outcome: str
    record: Record | None = None
    reason: str = ""

    def as_data(self) -> dict[str, object]:
        """Return it for JSON."""
        record = self.record
        return {
            "kind": self.entry.kind,
            "key": self.entry.key,
            "line": self.entry.line or None,
            "outcome": self.outcome,
            "id": record.id if record is not None else None,
            "path": record.path if record is not None else None,
            "why": self.reason or None,
        }


def counts(results: Iterable[EnsureResult]) -> dict[str, int]:
    """Count the results by outcome."""
    outcomes = [result.outcome for result in results]
    return {name: outcomes.count(name) for name in (INSERTED, UPDATED, UNCHANGED, REFUSED)}


def read_entries(lines: Iterable[str], kind: str = "") -> Iterator[EnsureRequest | UsageError]:
    """Yield the request of each JSON line, or what is wrong with it; `kind` is the default kind."""
    for number, line in enumerate(lines, 1):
        if number > MOST_ENTRIES:
            yield UsageError(
                f"line {number}: a batch has at most {MOST_ENTRIES:,} lines", hint="split it"
            )
            return

        if not line.strip():
            continue

        data: Any = None
        if len(line) <= LARGEST_LINE:
            with contextlib.suppress(ValueError, RecursionError):
                data = json.loads(line, parse_constant=refuse_constant)

        if not isinstance(data, dict) or not isinstance(data.get("fields", {}), dict):
            yield UsageError(f"line {number} holds no entry", hint=_LINE)
            continue

        extra = {name: value for name, value in data.items() if name not in _NAMED}
        kind_name = str(data.get("kind") or kind)
        fields = {**data.get("fields", {}), **extra}
        yield EnsureRequest(
            kind_name,
            str(data.get("key") or ""),
            fields,
            str(data.get("status") or ""),
            line=number,
        )


def refuse_constant(name: str) -> None:
    """Refuse NaN and Infinity, which Python reads as JSON."""
    raise ValueError(name)


def ensure_all(
    workspace: Workspace,
    entries: Sequence[EnsureRequest],
    author: Author,
    *,
    pending: bool = False,
    dry_run: bool = False,
) -> list[EnsureResult]:
    """Insert, update or skip each record under one lock and in one step;
    return the results in order.
    """
    entries = [_with_headline(workspace, entry) for entry in entries]
    batch = _Batch(workspace, author, pending=pending)
    batch.read()
    batch.compare(entries)  # slow, so outside of the lock

    if dry_run:
        return [batch.foreseen(batch.plan(entry)) for entry in entries]

    with writer.writing(workspace):
        batch.read()
        results = [batch.plan(entry) for entry in entries]
        if batch.changes:
            write_step(workspace, "ensure", batch.changes, author=author)

    results = [batch.finish(result) for result in results]
    records = [result.record for result in results if result.outcome in (INSERTED, UPDATED)]
    if ids := [record.id for record in records if record is not None]:
        write_event(workspace, ENSURED, ids, counts(results))

    return results


class _Batch:
    """Requests that are planned one by one, written together, and then finished one by one."""

    def __init__(self, workspace: Workspace, author: Author, *, pending: bool) -> None:
        self.workspace, self.author, self.pending = workspace, author, pending
        self.changes: list[FileChange] = []

        self._keys: dict[tuple[str, str], list[Record]] = {}
        """The records that have a key, by kind and key."""
        self._of_kind: dict[str, dict[str, Record]] = {}
        """The records by kind and path."""
        self._near: dict[tuple[str, str], tuple[str, str]] = {}
        """The path of the record that says nearly the same as a new entry, by kind and key, and how
        it says it.
        """
        self._wordings: dict[tuple[str, str], str] = {}
        """Paths of the batch's records, by kind and normalised wording."""
        self._touched: set[str] = set()
        """Paths of the records that the batch changes; of decisions, their kind and key."""
        self._ids: set[str] = set()

    def read(self) -> None:
        """Index the records by key and kind."""
        self._keys.clear()
        self._of_kind.clear()
        for record in read_collection(self.workspace).records:
            self._remember(record)

    def compare(self, entries: Sequence[EnsureRequest]) -> None:
        """Find near duplicates of new records; slow, so outside of the lock."""
        drafts: dict[str, dict[str, Record]] = {}
        for entry in entries:
            if entry.kind not in self.workspace.kinds or (entry.kind, entry.key) in self._keys:
                continue

            kind = self.workspace.kinds[entry.kind]
            if not kind.voted:
                continue

            try:
                _refuse_invalid(kind, entry)
                drafts.setdefault(kind.name, {})[entry.key] = self._drafted(kind, entry)[1]
            except OrbitError:
                continue  # `plan` refuses it with a reason

        for name, by_key in drafts.items():
            existing = list(self._of_kind.get(name, {}).values())
            new = list(by_key.values())
            try:
                neighbour_lists = near_duplicates_of_all(self.workspace, existing, new)
            except (OrbitError, OSError, ValueError):
                continue  # a broken index must not stop a producer

            for key, near in zip(by_key, neighbour_lists, strict=True):
                same = next((neighbour for neighbour in near if neighbour.is_duplicate), None)
                if same is not None:
                    self._near[name, key] = (same.record.path, same.rejection or same.words)

    def _remember(self, record: Record) -> None:
        key = record.text("key")
        if key is not None:
            self._keys.setdefault((record.kind.name, key), []).append(record)
        self._of_kind.setdefault(record.kind.name, {})[record.path] = record

    def plan(self, entry: EnsureRequest) -> EnsureResult:
        """Plan the change of one request; return a refusal with its reason."""
        try:
            return self._planned(entry)
        except OrbitError as error:
            return EnsureResult(entry, REFUSED, None, _reason(error))

    def _planned(self, entry: EnsureRequest) -> EnsureResult:
        kind = self.workspace.kinds[entry.kind]
        _refuse_invalid(kind, entry)
        record = self._with_key(kind, entry.key)
        if record is None:
            return self._inserted(kind, entry)
        if record.path in self._touched:
            raise _twice(entry)

        if entry.join is not None and record.phase != "closed":
            entry = entry.join(record)
            _refuse_invalid(kind, entry)

        if record.is_rejected:
            by = record.approval.get("rejected_by")
            reason = f"rejected by {by}" if by else f"it was {record.status.name}"
            return EnsureResult(entry, UNCHANGED, record, reason)

        is_repeated = record.data.get("ensured") == entry.digest
        if is_repeated or not self._differs(record, entry):
            if is_repeated:
                entry = replace(entry, status="")  # later edits stay
            reason = record.status.word if record.phase == "closed" else ""
            return EnsureResult(entry, UNCHANGED, record, reason)

        if record.phase == "closed":
            return self._inserted(kind, entry)
        if kind.in_document:  # `finish` writes it, with its document
            return EnsureResult(entry, UPDATED, record)

        return self._updated(record, entry)

    def _with_key(self, kind: Kind, key: str) -> Record | None:
        """Return the record that a request is about: an open one, else a rejected one, else the
        last.
        """
        matches = self._keys.get((kind.name, key), [])
        preferred = [match for match in matches if match.phase != "closed"]
        preferred += [match for match in matches if match.is_rejected]
        preferred += matches[-1:]
        if preferred:
            return preferred[0]

        return None

    def _differs(self, record: Record, entry: EnsureRequest) -> bool:
        for name, value in entry.fields.items():
            if record.data.get(name) != value and not _is_prose(record, name):
                return True

        return entry.text is not None and entry.text != self._text(record)

    def _text(self, record: Record) -> str | None:
        source = record.source
        if source is not None:
            return document_text(self.workspace.root, source.path)

        return None

    def _inserted(self, kind: Kind, entry: EnsureRequest) -> EnsureResult:
        if kind.in_document:
            name = f"{kind.name} {entry.key}"
            if name in self._touched:
                raise _twice(entry)

            self._touched.add(name)
            return EnsureResult(entry, INSERTED)

        text, record = self._drafted(kind, entry)
        same = self._same(entry, record) if kind.voted else None
        if same is not None:
            return EnsureResult(entry, UNCHANGED, *same)

        self.changes.append(FileChange(record.path, None, text))

        if entry.text is not None and record.source is not None:
            self.changes.append(FileChange(record.source.path, None, entry.text))

        self._remember(record)
        self._touched.add(record.path)
        self._ids.add(record.id)

        return EnsureResult(entry, INSERTED, record)

    def _drafted(self, kind: Kind, entry: EnsureRequest) -> tuple[str, Record]:
        fields = {**entry.fields, **_identity_fields(entry)}
        if self.pending:
            fields["status"] = kind.initial["agent"]

        uid = new_uid()
        record_id = writer.free_code_id(self.workspace, kind, uid)
        while record_id in self._ids:
            record_id = code_id(kind.prefix, uid, len(record_id) - len(kind.prefix) + 1)

        data = writer.new_data(kind, record_id, uid, self.author, fields)
        return writer.build_record(self.workspace, kind, self.author, record_id, data)

    def _same(self, entry: EnsureRequest, new: Record) -> tuple[Record, str] | None:
        """Return the pending, live or rejected record that says the same, and in which sense."""
        kind_name = new.kind.name
        existing = self._of_kind.get(kind_name, {})
        words = normalised(wording(new))

        path, how = self._near.get((kind_name, entry.key), ("", "the same, word for word"))
        path = path or self._wordings.get((kind_name, words), "")
        if entry.share and not path:
            how = "in other words"
            for other in filter(_counts, existing.values()):
                if says_the_same(other.title, new.title, entry.share):
                    path = other.path
                    break

        record = existing.get(path)
        if record is None or not _counts(record):
            self._wordings[kind_name, words] = new.path
            return None

        if record.is_rejected:
            how = f"rejected by {record.approval.get('rejected_by', 'somebody')}"

        return record, f"{record.id} says so already, {how}"

    def _updated(self, record: Record, entry: EnsureRequest) -> EnsureResult:
        fields = {**entry.fields, **_identity_fields(entry)}
        change, result = writer.prepare_edit(self.workspace, record, _taking(fields))
        changes = [change]
        if entry.text is not None and record.source is not None:
            changes.append(FileChange(record.source.path, self._text(record), entry.text))

        changes = [step for step in changes if step.before != step.after]
        refuse_for_agent(self.workspace, [change], author=self.author)

        if not changes:
            return EnsureResult(entry, UNCHANGED, record)

        self.changes += changes
        self._touched.add(record.path)
        return EnsureResult(entry, UPDATED, result)

    def finish(self, result: EnsureResult) -> EnsureResult:
        """Do what takes its own lock: decisions with their documents, and status changes."""
        if result.outcome == REFUSED:
            return result

        if self.workspace.kinds[result.entry.kind].in_document:
            try:
                result = self._decision(result)
            except OrbitError as error:
                return replace(result, outcome=REFUSED, reason=_reason(error))

        if not self._sets_status(result):
            return result

        try:
            return self._with_status(result)
        except OrbitError as error:
            outcome = REFUSED if result.outcome == UNCHANGED else result.outcome
            return replace(result, outcome=outcome, reason=_reason(error))

    def foreseen(self, result: EnsureResult) -> EnsureResult:
        """Return what `finish` would make of a plan."""
        if result.outcome == UNCHANGED and self._sets_status(result):
            return replace(result, outcome=UPDATED)

        return result

    def _with_status(self, result: EnsureResult) -> EnsureResult:
        entry, record = result.entry, result.record
        if record is None:
            return result

        moved = lifecycle.transition(self.workspace, record.id, entry.status, self.author)
        outcome = INSERTED if result.outcome == INSERTED else UPDATED
        return replace(result, record=moved, outcome=outcome)

    def _sets_status(self, result: EnsureResult) -> bool:
        """Say whether a request sets another status of its record."""
        entry, record = result.entry, result.record
        if record is None or record.is_rejected or not entry.status:
            return False
        if str(record.data["status"]) == entry.status:
            return False

        return result.outcome != UNCHANGED or record.text("key") == entry.key

    def _decision(self, result: EnsureResult) -> EnsureResult:
        """Write a decision and its document."""
        entry, record = result.entry, result.record
        if result.outcome == INSERTED:
            status = entry.status or None
            if self.pending or self.author.role == "agent":
                status = "proposed"

            request = adrs.new_adr(entry.fields, **_identity_fields(entry), status=status)
            added = adrs.add_adr(self.workspace, request, self.author, self._is_new(entry))
            return replace(result, record=added.record)

        if result.outcome != UPDATED or record is None:
            return result

        fields = {**entry.fields, **_identity_fields(entry)}
        fields.pop("body", None)
        title: str | None = None
        if fields.get("title", record.title) != record.title:
            title = str(fields.pop("title"))

        changed = edits.change_fields(
            self.workspace, record.id, _taking(fields), title, author=self.author
        )
        return replace(result, record=changed)

    def _is_new(self, entry: EnsureRequest) -> writer.PreWriteHook:
        def admit(new: Record) -> None:
            before = self._of_kind.get(new.kind.name, {})
            for other in writer.records_added(self.workspace, new.kind, before):
                if other.text("key") == entry.key:
                    raise RefusedError(
                        f"{other.id} says {entry.key} since just now",
                        hint=f"`orbit show {other.id}`",
                    )

        return admit


def _reason(error: OrbitError) -> str:
    return f"{error.message}; {error.hint}"


def _twice(entry: EnsureRequest) -> RefusedError:
    return RefusedError(f"{entry.key} is said twice in one batch", hint="say each once")


def _counts(record: Record) -> bool:
    """Say whether a record keeps others from saying the same: one that is open, or rejected."""
    return record.phase != "closed" or record.is_rejected


def _with_headline(workspace: Workspace, entry: EnsureRequest) -> EnsureRequest:
    if entry.kind not in workspace.kinds or "title" not in entry.fields:
        return entry
    headline = workspace.kinds[entry.kind].headline
    fields = {name: value for name, value in entry.fields.items() if name != "title"}
    return replace(entry, fields={headline: entry.fields["title"], **fields})


def _identity_fields(entry: EnsureRequest) -> dict[str, str]:
    return {"key": entry.key, "ensured": entry.digest}


def _taking(fields: Mapping[str, object]) -> Callable[[Mapping[str, object]], dict[str, object]]:
    """Return what gives a record new values of some fields."""

    def taken(data: Mapping[str, object]) -> dict[str, object]:
        return {**data, **fields}

    return taken


def _is_prose(record: Record, name: str) -> bool:
    return record.kind.in_document and name == "body"


def _refuse_invalid(kind: Kind, entry: EnsureRequest) -> None:
    if not entry.key.strip() or any(map(str.isspace, entry.key)):
        called = f"{entry.key[:80]!r} is not a key" if entry.key.strip() else "it has no `key`"
        raise UsageError(called, hint="give each thing a name without spaces: meeting/7/1")

    managed = writer.FIXED | kind.schema.managed
    if entry.text:
        managed -= {"file"}

    fixed = sorted(managed.intersection(entry.fields))
    if fixed:
        raise UsageError(
            f"`{fixed[0]}` can't be given",
            hint="the registry sets it; `status` is a field of the call",
        )

    if entry.status and entry.status not in kind.statuses:
        message = f"{kind.with_article} has no status {entry.status[:80]!r}"
        raise InvalidRecordError(message, hint=f"statuses: {', '.join(kind.statuses)}")

    if kind.in_file and entry.text is None:
        raise RefusedError(
            f"{kind.with_article} needs the file that it is about", hint="`orbit import --help`"
        )

    called = without_secrets(entry.key)
    refuse_secrets(
        f"{kind.name} {called}",
        json.dumps([entry.key, entry.fields], ensure_ascii=False, default=str),
    )
    refuse_secrets(f"the text of {called}", entry.text or "")
