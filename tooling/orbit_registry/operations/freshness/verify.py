"""`orbit verify`: hash a record's inputs again and write down who verified it, and when."""

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from orbit_registry.errors import RefusedError, UsageError
from orbit_registry.judgements.is_moment import is_moment
from orbit_registry.model.freshness import created_at, fingerprint_inputs
from orbit_registry.model.record import Record
from orbit_registry.model.votes import format_time, parse_time
from orbit_registry.operations.freshness.fingerprints import Fingerprints
from orbit_registry.repository.codec import list_in, mapping_in
from orbit_registry.repository.guard import write_step
from orbit_registry.repository.reader import read_collection
from orbit_registry.repository.writer import prepare_edit, writing
from orbit_registry.workspace.author import Author
from orbit_registry.workspace.workspace import Workspace

NEVER = "never"


@dataclass(frozen=True, slots=True)
class Verification:
    """What `verify` changes besides the hashes; None leaves a field unchanged."""

    by: str | None = None  # who verified it; None: the person who runs this
    add: Sequence[str] = ()
    remove: Sequence[str] = ()
    volatility: str | None = None
    expires: str | None = None  # a day, a moment, or `never`


@dataclass(frozen=True, slots=True)
class VerifyResult:
    """A record verified, and the inputs whose hash is new or another one."""

    record: Record
    changed: tuple[str, ...]


def _now(record: Record) -> datetime:
    """Return the time; a clock that is behind would state a day before the record was written."""
    now, created = datetime.now(UTC), created_at(record)
    if now < created - timedelta(days=1):
        raise RefusedError(
            f"this machine's clock says {now:%Y-%m-%d}, but {record.id} is of {created:%Y-%m-%d}",
            hint=f"set the clock, or correct `created_at` in {record.path}",
        )

    return now


def verify(
    workspace: Workspace,
    any_id: str,
    statement: Verification,
    author: Author,
    *,
    dry_run: bool = False,
) -> VerifyResult:
    """Hash a record's inputs anew and note who verified it; nothing else of the record changes,
    and with `dry_run` nothing at all.
    """
    with nullcontext() if dry_run else writing(workspace):
        records = read_collection(workspace).records
        record = records.get(any_id)
        if record.phase == "closed":
            hint = "only a proposed or accepted record can be verified"
            by = ", ".join(successor.id for successor in records.live_successors(record))
            if by:
                hint = f"verify {by} instead"

            raise RefusedError(
                f"{record.id} is {record.status.name}: there is nothing left to verify",
                hint=hint,
            )

        way_out = f"; `orbit verify {record.id} --remove-input INPUT` takes one out"
        entries = _with_hashes(workspace, _fingerprint_entries(record, statement), way_out)
        # A field that is None goes.
        changes: dict[str, object] = {"fingerprint": entries or None}

        if statement.volatility is not None:
            changes["volatility"] = statement.volatility
        if statement.expires is not None:
            changes["expires_at"] = _expiry(statement.expires)

        changes["verified_at"] = format_time(_now(record))
        changes["verified_by"] = statement.by or author.name

        def edit(data: dict[str, object]) -> Mapping[str, object]:
            merged = {**mapping_in(data, "freshness"), **changes}
            freshness = {name: value for name, value in merged.items() if value is not None}
            return {**data, "freshness": freshness}

        change, result = prepare_edit(workspace, record, edit, touch=False)
        if not dry_run:
            write_step(workspace, f"{record.kind.name}-verify", [change], author=author)

        before = _hashes(record)
        after = _hashes(result)
        changed = tuple(text for text, digest in after.items() if before.get(text) != digest)
        return VerifyResult(result, changed)


def _hashes(record: Record) -> dict[str, str | None]:
    return {entry.input: entry.hash for entry in fingerprint_inputs(record)}


def fingerprinted(
    workspace: Workspace, freshness: object, inputs: Sequence[str]
) -> dict[str, object]:
    """Return the freshness that a record states already with inputs added, each hashed."""
    current = {"freshness": freshness}
    entries = _with_hashes(workspace, _with_inputs(_entries(current), inputs), "")
    return {**mapping_in(current, "freshness"), "fingerprint": entries}


def _with_hashes(
    workspace: Workspace, entries: Sequence[Mapping[str, object]], way_out: str
) -> list[dict[str, object]]:
    tracked = workspace.git.files()[0] if entries else None
    fingerprints = Fingerprints(workspace.root, tracked, workspace.git)
    result: list[dict[str, object]] = []

    for entry in entries:
        text = str(entry["input"])
        state = fingerprints.find(text)
        if state.hash is None:
            hint = (
                f"name a file, a folder with tracked files, or FILE#FIELD, from the root{way_out}"
            )
            raise RefusedError(f"`{text}` {state.problem}; nothing was written", hint=hint)

        result.append({**entry, "input": text, "hash": state.hash})

    return result


def _entries(data: Mapping[str, object]) -> list[Mapping[str, object]]:
    listed = list_in(mapping_in(data, "freshness"), "fingerprint")
    return [entry for entry in listed if isinstance(entry, Mapping)]


def _with_inputs(
    current: Sequence[Mapping[str, object]], added: Sequence[str]
) -> list[Mapping[str, object]]:
    names = {str(entry["input"]) for entry in current}
    result = [*current]
    for text in added:
        name = text.removeprefix("./") or "."
        if name not in names:
            names.add(name)
            result.append({"input": name})

    return result


def _fingerprint_entries(record: Record, statement: Verification) -> list[Mapping[str, object]]:
    current = _entries(record.data)
    names = [str(entry["input"]) for entry in current]
    for name in statement.remove:
        if name not in names:
            inputs = ", ".join(names) or "none"
            raise RefusedError(f"{record.id} has no input `{name}`", hint=f"its inputs: {inputs}")

    remaining = [entry for entry in current if entry["input"] not in statement.remove]
    return _with_inputs(remaining, statement.add)


def _expiry(text: str) -> str | None:
    if text == NEVER:
        return None

    moment = text if "T" in text else f"{text}T00:00:00Z"
    if not is_moment(moment):
        hint = "a day (2027-01-31), a moment with its zone (2027-01-31T12:00:00Z), or never"
        raise UsageError(f"{text!r} is not a moment", hint=hint)

    return format_time(parse_time(moment))
