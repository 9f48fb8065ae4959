"""Idempotent write of records by key: insert, update or leave unchanged."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

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
    join: Callable[[Record], EnsureRequest] | None = (
        None  # merges the request with the existing record, under the lock
    )
    # share of the shorter headline's words that makes two records the same; 0: only the key counts
    share: float = 0.0
    line: int = 0  # line in a batch, from 1

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
        record_id, path = (
            (self.record.id, self.record.path) if self.record is not None else (None, None)
        )
        return {
            "kind": self.entry.kind,
            "key": self.entry.key,
            "line": self.entry.line or None,
            "outcome": self.outcome,
            "id": record_id,
            "path": path,
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

        try:
            data = (
                json.loads(line, parse_constant=refuse_constant)
                if len(line) <= LARGEST_LINE
                else None
            )
        except (ValueError, RecursionError):
            data = None

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
        results = [batch.plan(entry) for entry in entries]
        return [
            replace(result, outcome=UPDATED)
            if batch.sets_status(result) and result.outcome == UNCHANGED
            else result
            for result in results
        ]

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
    def __init__(self, workspace: Workspace, author: Author, *, pending: bool) -> None:
        self.workspace, self.author, self.pending = workspace, author, pending
        self.changes: list[FileChange] = []
        self._keys: dict[tuple[str, str], list[Record]] = {}
        self._of_kind: dict[str, dict[str, Record]] = {}
        self._near: dict[tuple[str, str], tuple[str, str]] = {}

        """Path of the record that says nearly the same as a new entry, by kind and key,
        and how it says it.
        """
        self._wordings: dict[
            tuple[str, str], str
        ] = {}  # paths of the batch's records, by kind and normalised wording
        self._touched: set[str] = set()
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
            existing = [*self._of_kind.get(name, {}).values()]
            try:
                neighbour_lists = near_duplicates_of_all(
                    self.workspace, existing, [*by_key.values()]
                )
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
            return EnsureResult(entry, REFUSED, None, f"{error.message}; {error.hint}")

    def _planned(self, entry: EnsureRequest) -> EnsureResult:
        kind = self.workspace.kinds[entry.kind]
        _refuse_invalid(kind, entry)
        matches = self._keys.get((kind.name, entry.key), [])
        preferred = (
            *(match for match in matches if match.phase != "closed"),
            *(match for match in matches if match.is_rejected),
            *matches[-1:],
        )
        record = next(iter(preferred), None)

        if record is not None and record.path in self._touched:
            raise RefusedError(f"{entry.key} is said twice in one batch", hint="say each once")
        if record is None:
            return self._inserted(kind, entry)

        if entry.join is not None and record.phase != "closed":
            entry = entry.join(record)
            _refuse_invalid(kind, entry)

        if record.is_rejected:
            by = record.approval.get("rejected_by")
            return EnsureResult(
                entry,
                UNCHANGED,
                record,
                f"rejected by {by}" if by else f"it was {record.status.name}",
            )

        if record.data.get("ensured") == entry.digest:
            entry = replace(entry, status="")  # a repeated request: later edits stay
            return EnsureResult(
                entry, UNCHANGED, record, record.status.word if record.phase == "closed" else ""
            )

        differs = self._differs(record, entry)
        if record.phase == "closed" and differs:
            return self._inserted(kind, entry)

        if not differs:
            return EnsureResult(
                entry, UNCHANGED, record, record.status.word if record.phase == "closed" else ""
            )

        return (
            EnsureResult(entry, UPDATED, record)
            if kind.in_document
            else self._updated(record, entry)
        )

    def _differs(self, record: Record, entry: EnsureRequest) -> bool:
        if any(
            record.data.get(name) != value
            for name, value in entry.fields.items()
            if not _is_prose(record, name)
        ):
            return True
        return entry.text is not None and entry.text != self._text(record)

    def _text(self, record: Record) -> str | None:
        source = record.source
        return document_text(self.workspace.root, source.path) if source is not None else None

    def _inserted(self, kind: Kind, entry: EnsureRequest) -> EnsureResult:
        if kind.in_document:
            if f"{kind.name} {entry.key}" in self._touched:
                raise RefusedError(f"{entry.key} is said twice in one batch", hint="say each once")
            self._touched.add(f"{kind.name} {entry.key}")
            return EnsureResult(entry, INSERTED)

        text, record = self._drafted(kind, entry)
        if kind.voted and (existing := self._same(entry, record)) is not None:
            return EnsureResult(entry, UNCHANGED, *existing)

        self.changes.append(FileChange(record.path, None, text))

        if entry.text is not None and record.source is not None:
            self.changes.append(FileChange(record.source.path, None, entry.text))

        self._remember(record)
        self._touched.add(record.path)
        self._ids.add(record.id)

        return EnsureResult(entry, INSERTED, record)

    def _drafted(self, kind: Kind, entry: EnsureRequest) -> tuple[str, Record]:
        status = {"status": kind.initial["agent"]} if self.pending else {}
        uid = new_uid()
        record_id = writer.free_code_id(self.workspace, kind, uid)
        while record_id in self._ids:
            record_id = code_id(kind.prefix, uid, len(record_id) - len(kind.prefix) + 1)

        data = writer.new_data(
            kind, record_id, uid, self.author, {**entry.fields, **_identity_fields(entry), **status}
        )
        return writer.build_record(self.workspace, kind, self.author, record_id, data)

    def _same(self, entry: EnsureRequest, new: Record) -> tuple[Record, str] | None:
        """Return the pending, live or rejected record that says the same, and in which sense."""
        existing, name = self._of_kind.get(new.kind.name, {}), new.kind.name
        path, how = self._near.get((name, entry.key), ("", "the same, word for word"))
        path = path or self._wordings.get((name, normalised(wording(new))), "")
        if entry.share and not path:
            alike = (
                other
                for other in existing.values()
                if says_the_same(other.title, new.title, entry.share)
            )
            path = next(
                (other.path for other in alike if other.phase != "closed" or other.is_rejected), ""
            )
            how = "in other words"

        record = existing.get(path)
        if record is None or (record.phase == "closed" and not record.is_rejected):
            self._wordings[name, normalised(wording(new))] = new.path
            return None

        if record.is_rejected:
            how = f"rejected by {record.approval.get('rejected_by', 'somebody')}"

        return record, f"{record.id} says so already, {how}"

    def _updated(self, record: Record, entry: EnsureRequest) -> EnsureResult:
        fields = {**entry.fields, **_identity_fields(entry)}
        change, result = writer.prepare_edit(
            self.workspace, record, lambda data: {**data, **fields}
        )
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
        entry = result.entry

        if result.outcome == REFUSED:
            return result

        try:
            result = (
                self._decision(result) if self.workspace.kinds[entry.kind].in_document else result
            )
        except OrbitError as error:
            return replace(result, outcome=REFUSED, reason=f"{error.message}; {error.hint}")

        try:
            if result.record is None or not self.sets_status(result):
                return result

            moved = lifecycle.transition(
                self.workspace, result.record.id, entry.status, self.author
            )
            return replace(
                result, record=moved, outcome=INSERTED if result.outcome == INSERTED else UPDATED
            )
        except OrbitError as error:
            reason = f"{error.message}; {error.hint}"
            return replace(
                result,
                outcome=REFUSED if result.outcome == UNCHANGED else result.outcome,
                reason=reason,
            )

    def sets_status(self, result: EnsureResult) -> bool:
        """Say whether a request sets another status of its record."""
        entry, record = result.entry, result.record
        if (
            not entry.status
            or record is None
            or str(record.data["status"]) == entry.status
            or record.is_rejected
        ):
            return False

        return result.outcome != UNCHANGED or record.text("key") == entry.key

    def _decision(self, result: EnsureResult) -> EnsureResult:
        entry, record = result.entry, result.record
        if result.outcome == INSERTED:
            status = (
                "proposed" if self.pending or self.author.role == "agent" else entry.status or None
            )
            request = adrs.new_adr(entry.fields, **_identity_fields(entry), status=status)
            added = adrs.add_adr(self.workspace, request, self.author, self._is_new(entry))
            return replace(result, record=added.record)

        if result.outcome != UPDATED or record is None:
            return result

        fields = {
            name: value for name, value in entry.fields.items() if not _is_prose(record, name)
        }
        title = (
            str(fields.pop("title")) if fields.get("title") != record.data.get("title") else None
        )
        fields |= _identity_fields(entry)
        changed = edits.change_fields(
            self.workspace, record.id, lambda data: {**data, **fields}, title, author=self.author
        )
        return replace(result, record=changed)

    def _is_new(self, entry: EnsureRequest) -> writer.PreWriteHook:

        def admit(new: Record) -> None:
            for other in writer.records_added(
                self.workspace, new.kind, self._of_kind.get(new.kind.name, {})
            ):
                if other.text("key") == entry.key:
                    raise RefusedError(
                        f"{other.id} says {entry.key} since just now",
                        hint=f"`orbit show {other.id}`",
                    )

        return admit


def _with_headline(workspace: Workspace, entry: EnsureRequest) -> EnsureRequest:
    if entry.kind not in workspace.kinds or "title" not in entry.fields:
        return entry
    headline = workspace.kinds[entry.kind].headline
    fields = {name: value for name, value in entry.fields.items() if name != "title"}
    return replace(entry, fields={headline: entry.fields["title"], **fields})


def _identity_fields(entry: EnsureRequest) -> dict[str, str]:
    return {"key": entry.key, "ensured": entry.digest}


def _is_prose(record: Record, name: str) -> bool:
    return record.kind.in_document and name == "body"


def _refuse_invalid(kind: Kind, entry: EnsureRequest) -> None:
    if not entry.key.strip() or any(map(str.isspace, entry.key)):
        called = f"{entry.key[:80]!r} is not a key" if entry.key.strip() else "it has no `key`"
        raise UsageError(called, hint="give each thing a name without spaces: meeting/7/1")

    fixed = sorted(
        {*entry.fields}
        & (writer.FIXED | (kind.schema.managed - {"file"} if entry.text else kind.schema.managed))
    )
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
