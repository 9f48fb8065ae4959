"""Import of documents and scripts as resources:
a document is copied, a script stays where it is.
"""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import IO

from orbit_registry.errors import GitError, RefusedError, UsageError
from orbit_registry.formats.links import is_markdown
from orbit_registry.formats.markdown import parse_markdown
from orbit_registry.model.record import Record
from orbit_registry.model.scope import UNVERSIONED
from orbit_registry.repository.guard import refuse_secrets
from orbit_registry.repository.reader import read_collection
from orbit_registry.repository.writer import create_record, draft_record
from orbit_registry.search.chunks import Cut, chunking_from, cut
from orbit_registry.workspace.author import Author
from orbit_registry.workspace.files import decode, inside, read_bytes
from orbit_registry.workspace.workspace import ORBIT, Workspace

KIND = "resource"
DOC, SCRIPT = "doc", "script"
SHARED = "shared"
# bytes of a text that is taken over: a larger one is a data set, or a book that wants to be split
LARGEST = 1_000_000
_VERSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,63}\Z")
_NAME = re.compile(r"[^/\\\n\r\x00]{1,200}\Z")


@dataclass(frozen=True, slots=True)
class IntakeSource:
    """Current text of a file: path (None: standard input), hash of its bytes, last commit."""

    path: str | None
    content: str
    digest: str
    commit: str | None = None
    is_dirty: bool = False  # whether the file differs from that commit, or git does not track it


@dataclass(frozen=True, slots=True)
class IntakeRequest:
    """A document or script to import; `fields` are further fields of the record."""

    type: str
    text: IntakeSource
    name: str
    title: str | None = None
    versions: Sequence[str] = ()
    chunking: Mapping[str, object] = field(default_factory=dict)
    fields: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class IntakeResult:
    """Result of an import: the record, new or existing, its chunks, and notes for the user."""

    record: Record
    is_new: bool
    cut: Cut
    notes: tuple[str, ...] = ()


def source_at(workspace: Workspace, path: str) -> IntakeSource:
    """Return the current text of a project file, with its last commit."""
    if path == ORBIT or path.startswith(f"{ORBIT}/"):
        raise UsageError(f"{path} is the registry's own", hint="name a file of the project")
    content = read_bytes(inside(workspace.root, path), limit=LARGEST)
    commit, is_dirty = _git_facts(workspace, path)
    return replace(_source(path, content), commit=commit, is_dirty=is_dirty)


def source_from_stream(stream: IO[bytes]) -> IntakeSource:
    """Return a text that comes over standard input, which may have no end;
    raises what `source_at` does.
    """
    content = stream.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise RefusedError(
            f"the text has more than {LARGEST:,} bytes, the most that is taken",
            hint="split it",
        )

    return _source(None, content)


def raw_digest(content: bytes) -> str:
    """Return the hash that `content_hash` states of some bytes."""
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def _source(path: str | None, content: bytes) -> IntakeSource:
    name = path or "the standard input"
    text = decode(content, name)
    if "\x00" in text:
        raise RefusedError(
            f"{name} is not text",
            hint="import text; name other files as evidence of a record",
        )

    if not text.strip():
        raise RefusedError(f"{name} is empty", hint="take it over when it says something")

    refuse_secrets(name, text)
    return IntakeSource(path, text, raw_digest(content))


def _git_facts(workspace: Workspace, path: str) -> tuple[str | None, bool]:
    git = workspace.git
    if git.top is None:
        return None, False

    pathspec = f":(literal){path}"
    try:
        answer = git.ask("log", "-1", "--format=%H %P", "--", pathspec) or ""
        status = git.run("status", "--porcelain=v1", "-z", "--ignored", "--", pathspec)
    except GitError:
        return None, True

    commit, _, parents = answer.partition(" ")
    is_dirty = bool(status) or not commit
    # A shallow clone's first commit need not have touched the file.
    is_known = bool(parents) or not git.is_shallow
    if not commit or not is_known:
        return None, is_dirty

    return commit, is_dirty


def versions_of(requested: Sequence[str]) -> list[str]:
    """Return the versions that a record states: those asked for, else that it has none."""
    versions = list(dict.fromkeys(requested)) or [UNVERSIONED]
    for version in versions:
        if not _VERSION.match(version) or version == SHARED:
            hint = (
                "letters, digits, `.`, `_`, `+` and `-`: 2.1; `shared` is the folder of what "
                "several have"
            )
            raise UsageError(f"{version!r} can't be a version", hint=hint)

    if UNVERSIONED in versions and len(versions) > 1:
        raise UsageError(
            "an unversioned resource has no other version",
            hint="leave `unversioned` out, or name it alone",
        )

    return versions


def stored_path(versions: Sequence[str], name: str) -> str:
    """Return where a text of some versions is kept in its record's folder."""
    folder = versions[0] if len(versions) == 1 else SHARED
    return f"{folder}/{name}"


def import_resource(
    workspace: Workspace,
    request: IntakeRequest,
    author: Author,
    *,
    dry_run: bool = False,
) -> IntakeResult:
    """Make a record of a text, unless there is one with its path and, for a document,
    its versions.
    """
    kind, text = workspace.kinds[KIND], request.text
    versions = versions_of(request.versions)

    if not _NAME.match(request.name) or request.name.startswith("."):
        raise UsageError(
            f"{request.name!r} can't be the name of a text",
            hint="give another with --name",
        )

    if request.type == SCRIPT and text.path is None:
        raise UsageError(
            "a script needs a path: it stays the file that it is",
            hint="orbit import script PATH",
        )

    name = text.path or request.name
    chunking = chunking_from(request.chunking)
    parts = cut(text.content, chunking, markdown=is_markdown(name))

    existing = existing_resource(workspace, request.type, text, versions)
    if existing is not None:
        notes = _differences(existing, request, versions)
        return IntakeResult(existing, False, parts, tuple(notes))

    fields: dict[str, object] = {
        **request.fields,
        "title": request.title or _title_in(text.content, name),
        "type": request.type,
        "versions": versions,
        "path": text.path,
        "source_ref": text.commit,
        "content_hash": text.digest,
        "chunking": dict(request.chunking),
    }

    attachments: dict[str, str] = {}
    if request.type == DOC:
        fields["file"] = file_path = stored_path(versions, request.name)
        attachments = {file_path: text.content}

    if dry_run:
        _, draft = draft_record(workspace, kind, author, fields)
        return IntakeResult(draft, True, parts, tuple(_doubts(text)))

    def admit(_: Record) -> None:  # another process may have imported it meanwhile
        meanwhile = existing_resource(workspace, request.type, text, versions)
        if meanwhile is not None:
            raise RefusedError(
                f"{meanwhile.id} has just taken it over",
                hint=f"orbit show {meanwhile.id}",
            )

    record = create_record(workspace, kind, author, fields, admit, attachments=attachments)
    return IntakeResult(record, True, parts, tuple(_doubts(text)))


def _title_in(text: str, name: str) -> str:
    if is_markdown(name):
        for heading in parse_markdown(text).headings:
            title = " ".join(heading.text.split())
            if title:
                return title[:300]

    return PurePosixPath(name).name


def existing_resource(
    workspace: Workspace,
    type_: str,
    text: IntakeSource,
    versions: Sequence[str],
    but: Record | None = None,
) -> Record | None:
    """Return the live or pending resource of a text, other than `but`; None if there is none."""
    for record in read_collection(workspace).records.of_kind(KIND):
        if record.phase == "closed" or (but is not None and record.uid == but.uid):
            continue

        if record.text("type") != type_ or record.text("path") != text.path:
            continue

        is_same = text.path is not None or record.text("content_hash") == text.digest
        if type_ == SCRIPT or (is_same and set(record.words("versions")) == set(versions)):
            return record

    return None


def _differences(record: Record, request: IntakeRequest, versions: Sequence[str]) -> list[str]:
    differences, text = [], request.text
    if record.text("content_hash") != text.digest:
        differences.append(
            f"{text.path} has changed since: `orbit refresh {record.id}` shows how, and takes "
            f"it over"
        )

    current = record.words("versions")
    if set(current) != set(versions):
        options = " ".join(f"--version {version}" for version in versions)
        differences.append(
            f"its versions are {', '.join(current)}: `orbit refresh {record.id} {options}`"
        )

    arguments = {**request.fields, "title": request.title, "chunking": request.chunking}
    ignored = sorted(
        name for name, value in arguments.items() if value and record.data.get(name) != value
    )
    if ignored:
        message = f"{', '.join(ignored)}: as before, not as given here"
        differences.append(
            f"{message}; `orbit {record.kind.name} update {record.id} --help` names what changes it"
        )

    return differences


def _doubts(text: IntakeSource) -> list[str]:
    path, commit = text.path, text.commit
    if path is None or not text.is_dirty:
        return []

    if commit is None:
        return [f"{path} is in no commit yet, so the source of this text is unknown"]

    return [f"{path} has changes that are not committed; {commit[:12]} has another text"]
