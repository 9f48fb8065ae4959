"""Writer of records: lock, schema, then one step of the journal; change sets of many files."""

import contextlib
import posixpath
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from itertools import count

from orbit_registry.errors import (
    InvalidRecordError,
    LockTimeoutError,
    OrbitError,
    RefusedError,
    UnreadableFileError,
)
from orbit_registry.formats.globs import parse_glob
from orbit_registry.formats.position import Problem, YamlProblemError
from orbit_registry.formats.yaml import dump, load
from orbit_registry.formats.yaml_edit import rewrite
from orbit_registry.judgements.is_moment import MOST_YEARS, is_too_far
from orbit_registry.model.diagnostic import Diagnostic
from orbit_registry.model.ids import CODE_LENGTH, code_id, new_uid
from orbit_registry.model.kind import Kind
from orbit_registry.model.record import Record
from orbit_registry.model.review import meant_condition
from orbit_registry.model.schema import SCHEMA_VERSION
from orbit_registry.model.scope import Scope, symbol_problem
from orbit_registry.model.votes import format_time
from orbit_registry.repository.codec import MISPLACED, decode_record, list_in, ordered
from orbit_registry.repository.guard import (
    refuse_for_agent,
    refuse_hidden,
    refuse_secrets_in,
    write_step,
)
from orbit_registry.repository.reader import read_collection, record_paths, refuse_legacy_layout
from orbit_registry.workspace.author import Author
from orbit_registry.workspace.files import DOCUMENT_LIMIT, inside, read_bytes, read_text
from orbit_registry.workspace.journal import FileChange, recover
from orbit_registry.workspace.lock import locked
from orbit_registry.workspace.workspace import ORBIT, Workspace

Edit = Callable[[dict[str, object]], Mapping[str, object]]
PreWriteHook = Callable[[Record], None]
"""Called under the write lock with a new record; raises to refuse it."""
FIXED = frozenset(
    (
        "schema_version",
        "id",
        "uid",
        "status",
        "created_at",
        "updated_at",
        "created_by",
        "supersedes",
        "superseded_by",
        "key",
        "ensured",
        "source",
        "approval",
    )
)
"""Fields of all kinds that only verbs change; a kind's own are `readOnly` in its schema."""
_SHORTLY = 0.5
EDITED = f"{ORBIT}/state/edits/new"  # path of a text in an editor, for the schema it names


@contextlib.contextmanager
def writing(workspace: Workspace, *, wait: float | None = None) -> Iterator[None]:
    """Hold the write lock for up to `wait` seconds of waiting, unfinished steps recovered."""
    with locked(workspace.lock, wait=wait):
        recover(workspace)
        yield


def finish_steps(workspace: Workspace) -> list[str]:
    """Recover unfinished steps, and return what was done, in words; a writer at work is waited for
    shortly.
    """
    with contextlib.suppress(LockTimeoutError), locked(workspace.lock, wait=_SHORTLY):
        return recover(workspace)
    return []


def new_data(
    kind: Kind,
    record_id: str,
    uid: str,
    author: Author,
    fields: Mapping[str, object],
) -> dict[str, object]:
    """Return the data of a new record in the schema's order, empty fields left out."""
    now = format_time(datetime.now(UTC))
    envelope = {
        "schema_version": SCHEMA_VERSION,
        "id": record_id,
        "uid": uid,
        "status": kind.initial.get(author.role, kind.initial["agent"]),
        "created_at": now,
        "updated_at": now,
        "created_by": author.as_data(),
    }

    filled = {name: value for name, value in fields.items() if value not in (None, "", [], (), {})}
    return ordered({**envelope, **filled}, kind.schema.properties)


def render(workspace: Workspace, kind: Kind, data: Mapping[str, object], path: str) -> str:
    """Return the text of a new record file; it names the kind's schema to editors,
    if the project has the file.
    """
    schema = workspace.root / workspace.config.schemas / f"{kind.name}.schema.json"
    comment = schema_line(workspace, kind, path) if schema.is_file() else None
    return dump(data, comment=comment)


def schema_line(workspace: Workspace, kind: Kind, path: str) -> str:
    """Return the comment that names a kind's schema to editors."""
    # Absolute, or the current folder would be looked up.
    schema = f"/{workspace.config.schemas}/{kind.name}.schema.json"
    link = posixpath.relpath(schema, posixpath.dirname(f"/{path}"))
    return f"yaml-language-server: $schema={link}"


def record_path(
    workspace: Workspace,
    kind: Kind,
    record_id: str,
    *,
    pending_review: bool = False,
) -> str:
    """Return the path of a record's file, from the root."""
    folder = workspace.inbox if pending_review else workspace.orbit
    return workspace.relative(folder / kind.file_of(record_id))


def free_code_id(workspace: Workspace, kind: Kind, uid: str) -> str:
    """Return the shortest free id for a uid."""
    live, pending = workspace.folder_of(kind), workspace.folder_of(kind, pending=True)
    for length in count(CODE_LENGTH):
        record_id = code_id(kind.prefix, uid, length)
        if not (live / record_id).exists() and not (pending / record_id).exists():
            break

    return record_id


def draft_record(
    workspace: Workspace,
    kind: Kind,
    author: Author,
    fields: Mapping[str, object],
) -> tuple[str, Record]:
    """Return the file text and the record that `create_record` would write; nothing is written."""
    record_id, data = _new_record(workspace, kind, author, fields, dry_run=True)
    return build_record(workspace, kind, author, record_id, data)


def draft_text(
    workspace: Workspace,
    kind: Kind,
    author: Author,
    fields: Mapping[str, object],
) -> str:
    """Return the text of a new record for an editor, with its empty headline to fill in."""
    _, data = _new_record(workspace, kind, author, fields, dry_run=True)
    full_data = {kind.headline: "", kind.prose: "", **fields, **data}
    return render(workspace, kind, ordered(full_data, kind.schema.properties), EDITED)


def fields_of(kind: Kind, text: str, file: str) -> dict[str, object]:
    """Return the fields of a text from an editor without those that only verbs set."""
    _, problems = decode_record(text, kind, file)
    errors = [problem for problem in problems if problem.code != MISPLACED]
    if errors:
        message = "; ".join(f"{problem.location}: {problem.message}" for problem in errors)
        raise InvalidRecordError(message, hint=_hint(errors, kind))

    data = load(text)
    if not isinstance(data, dict):
        return {}

    fixed = FIXED | kind.schema.managed
    return {name: value for name, value in data.items() if name not in fixed}


def create_record(
    workspace: Workspace,
    kind: Kind,
    author: Author,
    fields: Mapping[str, object],
    admit: PreWriteHook | None = None,
    attachments: Mapping[str, str] | None = None,
) -> Record:
    """Write a new record with a code as id; `attachments` are further files in its folder,
    by name.
    """
    if kind.in_document:
        raise RefusedError(
            f"a {kind.name} needs its document too",
            hint=f"`orbit {kind.name} new` writes both",
        )

    if kind.in_file and attachments is None:
        raise RefusedError(
            f"a {kind.name} needs the file that it is about",
            hint="`orbit import --help`",
        )

    with writing(workspace):
        record_id, data = _new_record(workspace, kind, author, fields, dry_run=False)
        text, record = build_record(workspace, kind, author, record_id, data)
        if admit is not None:
            admit(record)

        changes = [FileChange(record.path, None, text)]
        for name, content in (attachments or {}).items():
            changes.append(FileChange(f"{record.folder}/{name}", None, content))

        write_step(workspace, f"{kind.name}-add", changes, author=author)
        return record


def records_added(
    workspace: Workspace, kind: Kind, existing_paths: Collection[str]
) -> Iterator[Record]:
    """Yield a kind's records whose paths are not among the existing ones."""
    # Few commands run while another one writes, and to list takes a sixth of the time to read.
    if record_paths(workspace, kind).issubset(existing_paths):
        return

    for record in read_collection(workspace).records.of_kind(kind.name):
        if record.path not in existing_paths:
            yield record


def build_record(
    workspace: Workspace,
    kind: Kind,
    author: Author,
    record_id: str,
    data: Mapping[str, object],
) -> tuple[str, Record]:
    """Return the file text and the record of new data, checked as for writing;
    nothing is written.
    """
    refuse_legacy_layout(workspace, kind)
    waits = not kind.in_document and kind.status(str(data["status"])).phase == "pending"
    path = record_path(workspace, kind, record_id, pending_review=waits)
    text = render(workspace, kind, data, path)
    record = validated(text, kind, path, is_new=True)
    refuse_bad_values(record)

    change = FileChange(path, None, text)
    refuse_for_agent(workspace, [change], author=author)
    refuse_secrets_in([change])
    return text, record


def _new_record(
    workspace: Workspace,
    kind: Kind,
    author: Author,
    fields: Mapping[str, object],
    *,
    dry_run: bool,
) -> tuple[str, dict[str, object]]:
    uid = new_uid()
    if kind.numbering == "code":
        record_id = free_code_id(workspace, kind, uid)
    else:
        # Slow to import, and codes don't need it.
        from orbit_registry.repository.ids import allocate

        record_id = allocate(workspace, kind, dry_run=dry_run)[0].id

    return record_id, new_data(kind, record_id, uid, author, fields)


def prepare_edit(
    workspace: Workspace,
    record: Record,
    edit: Edit,
    *,
    touch: bool = True,
) -> tuple[FileChange, Record]:
    """Return file change and record after an edit, which leaves other bytes;
    the caller holds the write lock.
    """
    path, kind = record.path, record.kind
    text = read_text(workspace.root / path)
    current = validated(text, kind, path)
    data = dict(edit(dict(current.data)))
    if data == dict(current.data):
        return FileChange(path, text, text), current

    if touch:
        data["updated_at"] = format_time(datetime.now(UTC))

    try:
        result = rewrite(text, data, order=kind.schema.properties)
    except YamlProblemError as error:
        remedy = f"repair {path} by hand; `orbit check` says when it is right"
        raise InvalidRecordError(
            error.problem.at(path),
            hint=error.problem.hint or remedy,
        ) from None

    changed = validated(result, kind, path)
    refuse_bad_values(changed, previous=current)
    return FileChange(path, text, result), changed


def refuse_bad_values(record: Record, *, previous: Record | None = None) -> None:
    """Raise for hidden characters, and a bad glob, symbol, evidence path, date or condition of a
    review, that the `previous` record did not have.
    """
    data: Mapping[str, object] | None = None
    scope, evidence = Scope(), frozenset[tuple[str, str]]()
    if previous is not None:
        data, scope, evidence = previous.data, previous.scope, frozenset(previous.evidence)

    refuse_hidden(record.data, data)
    _refuse_bad_review(record.data, data or {})

    for path in record.scope.paths:
        parsed = parse_glob(path) if path not in scope.paths else None
        if isinstance(parsed, Problem):
            hint = parsed.hint or "write it from the project's root: `src/**`, `docs/*.md`"
            raise InvalidRecordError(
                f"`{path}` can't be a scope's path: {parsed.message}",
                hint=hint,
            )

    for symbol in record.scope.symbols:
        problem = symbol_problem(symbol) if symbol not in scope.symbols else None
        if problem is not None:
            hint = "for example src/app/session.py::open_session"
            raise InvalidRecordError(f"`{symbol}` can't be a scope's symbol: {problem}", hint=hint)

    for kind, file in record.evidence:
        if kind != "file" or (kind, file) in evidence:
            continue

        if file.startswith("/") or ".." in file.split("/"):
            hint = "name a file of the project from its root; for one elsewhere write `external:`"
            raise InvalidRecordError(
                f"`{file}` can't be evidence: it does not stay inside the project",
                hint=hint,
            )


def _refuse_bad_review(data: Mapping[str, object], previous: Mapping[str, object]) -> None:
    day = data.get("review_by")
    is_new = isinstance(day, str) and day != previous.get("review_by")
    if is_new and is_too_far(str(day), datetime.now(UTC).date()):
        raise InvalidRecordError(
            f"`review_by` is {day}, which is more than {MOST_YEARS} years ahead",
            hint=f"write a month within {MOST_YEARS} years, such as 2027-03",
        )

    known = list_in(previous, "revisit_when")
    for condition in list_in(data, "revisit_when"):
        meant = meant_condition(condition) if condition not in known else ""
        if meant:
            raise InvalidRecordError(
                f"`{condition}` can't say when to look again: a condition begins with `path:` "
                "or `uses:`, or is words of a commit",
                hint=f"did you mean `{meant}`? Words of a commit are written without a colon",
            )


def validated(text: str, kind: Kind, path: str, *, is_new: bool = False) -> Record:
    """Return the record in a text that is about to be written, or raise with all problems."""
    record, problems = decode_record(text, kind, path)
    if record is None:
        message = "; ".join(problem.message for problem in problems)
        subject = f"the new {kind.label.lower()}" if is_new else str(problems[0].location)
        raise InvalidRecordError(f"{subject}: {message}", hint=_hint(problems, kind))

    return record


def _hint(problems: Iterable[Diagnostic], kind: Kind) -> str:
    hints = (problem.hint for problem in problems if problem.hint)
    return next(hints, f"`orbit {kind.name} new --help` names the fields")


class ChangeSet:
    """New texts of many files, to be written as one step; bytes that are not UTF-8 survive."""

    def __init__(self, workspace: Workspace) -> None:
        self._root = workspace.root
        self._before: dict[str, str | None] = {}
        self._after: dict[str, str | None] = {}
        self.came_from: dict[str, str] = {}  # new path → old path of moved files, for reports

    def text(self, path: str) -> str | None:
        """Return a file's new text, else the one on disk."""
        if path in self._after:
            return self._after[path]

        return self.on_disk(path)

    def on_disk(self, path: str) -> str | None:
        """Return a file's text on disk."""
        if path not in self._before:
            file = inside(self._root, path)
            text = None
            if file.exists():
                content = read_bytes(file, limit=DOCUMENT_LIMIT)
                text = content.decode("utf-8", "surrogateescape")

            self._before[path] = text

        return self._before[path]

    def readable(self, path: str) -> str | None:
        """Return a file's text, or None where it can't be read."""
        try:
            return self.text(path)
        except OrbitError:
            return None

    def put(self, path: str, text: str | None) -> None:
        """Set a file's text; None removes it."""
        self.on_disk(path)
        self._after[path] = text

    def move(self, old: str, new: str) -> None:
        """Move a file."""
        text = self.text(old)
        if text is None or old == new:
            return

        if self.text(new) not in (None, text):
            raise UnreadableFileError(
                f"{new} is there already",
                hint="move it away, then try again",
            )

        self.put(new, text)
        self.put(old, None)
        self.came_from[new] = old

    @property
    def changes(self) -> list[FileChange]:
        """The file changes, what is new before what goes,
        so that a reader in between misses nothing.
        """
        changes: list[FileChange] = []
        for path, after in self._after.items():
            before = self._before[path]
            if before != after:
                changes.append(FileChange(path, before, after))

        return sorted(changes, key=_order)


def _order(change: FileChange) -> int:
    is_record = change.path.startswith(f"{ORBIT}/")
    if change.after is None:
        if is_record:
            return 3

        return 4
    if change.before is not None:
        return 1

    if is_record:
        return 2

    return 0
