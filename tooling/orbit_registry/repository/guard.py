"""Guard of writing: no new secrets, and agents change no live records; records without secrets for
readers.

It can't stop anyone who edits the files; it keeps this package's commands from being a way round
review.
"""

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace

from orbit_registry.errors import InvalidRecordError, RefusedError, UsageError, listed
from orbit_registry.formats.adr.rejected_option import RejectedOption
from orbit_registry.formats.conflicts import conflict_line
from orbit_registry.formats.dates import is_iso_date
from orbit_registry.formats.position import YamlProblemError
from orbit_registry.formats.secrets import (
    disguised_secrets,
    find_secrets,
    may_hold_secret,
    without_escapes,
    without_secrets,
)
from orbit_registry.formats.untrusted import RETYPE, first_hidden
from orbit_registry.formats.values import with_texts
from orbit_registry.formats.yaml import load
from orbit_registry.model.freshness import freshness_fields
from orbit_registry.model.kind import Kind
from orbit_registry.model.record import Record
from orbit_registry.model.review import Condition
from orbit_registry.repository.codec import decode_record
from orbit_registry.repository.inherited import source_of
from orbit_registry.repository.record_path import record_path
from orbit_registry.workspace.author import Author, acting_role
from orbit_registry.workspace.journal import FileChange, apply_step
from orbit_registry.workspace.workspace import ORBIT, Workspace

BY_A_PERSON = (
    "a person runs this, or decides in review (ORBIT_ACTOR=human says that a person runs it)"
)
REVOKE = "revoke it, take it out of the text, then try again"
UPDATE = "fleet-update"  # name of the one step that writes inherited records
_LISTED = 3
LONGEST_DAYS = 30  # longest life in days of an agent's unreviewed record
AGENT_EDITABLE = frozenset(("attempts", "freshness", "status", "updated_at"))
"""Fields that an agent may change in a person's record of such a kind."""


def write_step(
    workspace: Workspace,
    name: str,
    changes: Iterable[FileChange],
    *,
    author: Author | None = None,
    taken_over: bool = False,
) -> None:
    """Make all changes as one step under the caller's lock, unless refused;
    `taken_over` texts may have secrets.
    """
    step_changes = list(changes)
    if name != UPDATE:
        refuse_inherited(workspace, *(change.path for change in step_changes))

    refuse_unmerged(workspace, step_changes)
    refuse_for_agent(workspace, step_changes, author=author)

    if not taken_over:
        existing_secrets: set[str] = set()
        for change in step_changes:
            existing_secrets.update(_secrets(_content(change.path, change.before)))

        refuse_secrets_in(step_changes, existing_secrets)

    apply_step(workspace, name, step_changes)


def refuse_unmerged(workspace: Workspace, changes: Iterable[FileChange]) -> None:
    """Raise where a merge has left both sides in a file: what is added now is of neither."""
    for path in [each.path for each in changes if conflict_line(each.before or "", in_code=True)]:
        if workspace.git.ask("ls-files", "-u", "--", f":(literal){path}"):
            raise RefusedError(
                f"{path} is in conflict, and a merge left both sides in it; nothing was written",
                hint="`orbit resolve` repairs it; or choose in the file, then `git add` it",
            )


def refuse_inherited(workspace: Workspace, *paths: str) -> None:
    """Raise where a path is that of an inherited record, which is changed where it comes from."""
    for source in filter(None, map(source_of, paths)):
        addresses = {each.name: each.public_address for each in workspace.config.extends}
        address = addresses.get(source, "elsewhere")
        hint = (
            "to decide otherwise here, add a record and link it: `orbit link ID overrides ID "
            "--reason TEXT`"
        )
        raise RefusedError(
            f"records of {source} are inherited from {address}; change them there",
            hint=hint,
        )


def refuse_secrets_in(changes: Iterable[FileChange], allowed: Collection[str] = ()) -> None:
    """Raise where a file would get a secret that is not among the allowed ones."""
    for change in changes:
        content = _content(change.path, change.after)
        name = change.path
        if isinstance(content, Mapping):
            name = ""  # the key of the text names it

        _refuse_spelled(name, content, allowed)


def refuse_secrets(name: str, value: object) -> None:
    """Raise, without quoting it, where a text, labelled `name` or by its key in a value,
    has a secret or disguises one.
    """
    _refuse_spelled(name, value)
    for label, text in _texts(name, value):
        _refuse_disguised(label, text)


def _refuse_disguised(label: str, text: str) -> None:
    for kind in disguised_secrets(text):
        message = f"{label} disguises a secret: {kind}; nothing was written"
        raise RefusedError(message, hint=REVOKE)


def _refuse_spelled(name: str, value: object, allowed: Collection[str] = ()) -> None:
    for label, text in _texts(name, value):
        for secret in find_secrets(text):
            if text[secret.start : secret.end] in allowed:
                continue

            where = label
            if "\n" in text:
                line = text.count("\n", 0, secret.start) + 1
                where = f"{label}:{line}"

            raise RefusedError(
                f"{where} holds a secret: {secret.kind}; nothing was written",
                hint=REVOKE,
            )


def refuse_hidden(value: object, before: object = None) -> None:
    """Raise where a text in a value holds hidden characters, or disguises a secret;
    texts that were there before are left to the checks.
    """
    existing = {text for _, text in _texts("", before)}
    for label, text in _texts("", value):
        if text in existing:
            continue

        if hidden := first_hidden(text):
            raise InvalidRecordError(f"{label} holds {hidden[1]}; nothing was written", hint=RETYPE)

        _refuse_disguised(label, text)


def _content(path: str, text: str | None) -> object:
    if text is None or not may_hold_secret(text):
        return ""

    if path.startswith(f"{ORBIT}/") and path.endswith(".yaml"):
        try:
            return load(text)
        except YamlProblemError:
            return text

    return text


def _secrets(value: object) -> Iterator[str]:
    for _, text in _texts("", value):
        for secret in find_secrets(text):
            yield text[secret.start : secret.end]


def _texts(name: str, value: object) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield name, value
    elif isinstance(value, Mapping):
        for key, part in value.items():
            label = name or f"`{key}`"
            yield name or "a key", str(key)
            yield from _texts(label, part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _texts(name, part)


def refuse_for_agent(
    workspace: Workspace, changes: Iterable[FileChange], *, author: Author | None = None
) -> None:
    """Raise where an agent would put a record live, reject or change one;
    failures have limits of their own.
    """
    role = author.role if author is not None else acting_role()
    if role != "agent":
        return

    decided: list[Record] = []
    pending_uids: set[str] = set()
    for change in changes:
        at = record_path(workspace.kinds, change.path)
        if at is None or not at.is_record:
            continue

        kind = at.kind
        before = _record(change.before, kind, change.path)
        after = _record(change.after, kind, change.path)
        if kind.status(kind.initial["agent"]).phase == "live":
            _refuse_overreach(before, after)
            continue

        if before is not None and before.phase == "live":
            message = f"{before.id} is {before.status.name}; an agent may not change it"
            raise RefusedError(message, hint=f"propose a new record; {BY_A_PERSON}")

        if before is not None and before.phase == "pending":
            pending_uids.add(before.uid)
        if after is not None and (after.phase == "live" or after.is_rejected):
            decided.append(after)

    # An import may bring rejected records.
    decided = [record for record in decided if record.phase == "live" or record.uid in pending_uids]
    if decided:
        first = decided[0]
        names = listed([f"{record.id} ({record.title})" for record in decided], _LISTED)
        message = f"an agent may not make a {first.kind.label.lower()} {first.status.name}: {names}"
        raise RefusedError(message, hint=BY_A_PERSON)


def _refuse_overreach(before: Record | None, after: Record | None) -> None:
    """Raise where an agent's live record would be shown without a review, outrank or outlast
    reviewed ones, or change one that a person wrote or accepted.
    """
    if after is None or after.phase != "live":
        return

    if before is not None and (before.role == "human" or before.status.pushed):
        old, new = before.data, after.data
        changed = {name for name in {*old, *new} if old.get(name) != new.get(name)}
        forbidden = ", ".join(sorted(changed - AGENT_EDITABLE))
        if forbidden:
            whose = "what a person said" if before.role == "human" else before.status.name
            message = f"{before.id} is {whose}; an agent may not change its {forbidden}"
            raise RefusedError(message, hint=BY_A_PERSON)

        return

    if after.status.pushed:
        message = f"an agent may not make a {after.kind.label.lower()} {after.status.name}"
        raise RefusedError(message, hint=BY_A_PERSON)

    days = after.data.get("ttl_days")
    is_long = "expires_at" in freshness_fields(after) or (
        isinstance(days, int) and not 0 < days <= LONGEST_DAYS
    )
    if is_long or after.data.get("priority") or after.legacy_ids:
        what = f"an agent's {after.kind.label.lower()}"
        message = f"{what} holds {LONGEST_DAYS} days at most, without priority or earlier ids"
        raise RefusedError(message, hint=BY_A_PERSON)


def _record(text: str | None, kind: Kind, path: str) -> Record | None:
    if text is not None:
        return decode_record(text, kind, path)[0]

    return None


_UNTOUCHED = frozenset(("id", "uid", "status", "schema_version", "created_at", "updated_at"))


def free_of_secrets(
    records: Iterable[Record], clean: Collection[str] = frozenset()
) -> list[Record]:
    """Return the records, those with a secret redacted; `clean` are paths of such as have none."""
    result: list[Record] = []
    for record in records:
        if record.path not in clean and may_hold_secret(_text_of(record)):
            record = redacted(record, without_secrets)

        result.append(record)

    return result


def redacted(record: Record, redact: Callable[[str], str]) -> Record:
    """Return a record with every text redacted, votes and names of keys included;
    ids and times stay.
    """
    data: dict[str, object] = {}
    for name, value in record.data.items():
        if name not in _UNTOUCHED:
            value = with_texts(value, redact)

        data[redact(name)] = value

    votes = tuple(
        replace(vote, voter_model=redact(vote.voter_model), task_id=redact(vote.task_id))
        for vote in record.votes
    )
    suggested = tuple(
        RejectedOption(redact(option.option), redact(option.reason)) for option in record.suggested
    )
    terms = record.document_terms
    conditions = [Condition(each.kind, redact(each.value)) for each in terms.when]
    terms = replace(terms, when=tuple(conditions), unread=redact(terms.unread))

    return replace(
        record,
        data=data,
        prose=redact(record.prose),
        votes=votes,
        suggested=suggested,
        document_terms=terms,
    )


def _text_of(record: Record) -> str:
    data = without_escapes(json.dumps(record.data, ensure_ascii=False, default=str))
    votes = [f"{vote.voter_model}\n{vote.task_id}" for vote in record.votes]
    return "\n".join([data, record.prose, *votes])


def refuse_closed(record: Record, hint: str = "add a new record instead") -> None:
    """Raise when a record is closed."""
    if record.phase == "closed":
        raise RefusedError(f"{record.id} is {record.status.name} and is kept as it was", hint=hint)


def refuse_date(text: str) -> None:
    """Raise when a text is not a date as decisions write it: YYYY-MM-DD or YYYY-MM."""
    if not is_iso_date(text):
        raise UsageError(f"{text!r} is not a date", hint="YYYY-MM-DD or YYYY-MM")
