"""New number of a record: its folder, its document and what cites it change in one step."""

import contextlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from orbit_registry.errors import GitError, RecordNotFoundError, RefusedError
from orbit_registry.formats.adr.file_names import number_of_path
from orbit_registry.formats.adr.model import AdrDocument
from orbit_registry.formats.adr.reader import read_document
from orbit_registry.formats.adr.writer import (
    insert_entry,
    remove_entry,
    set_number,
    split_separator,
)
from orbit_registry.formats.yaml_edit import rewrite
from orbit_registry.model.ids import sequence_id
from orbit_registry.model.record import Record
from orbit_registry.model.record_set import RecordSet
from orbit_registry.operations.adr_style import slug
from orbit_registry.operations.citation_rewrite import (
    ChangedFile,
    DocumentMoves,
    Unclear,
    number_of,
    rewrite_everywhere,
)
from orbit_registry.operations.lifecycle import other_files
from orbit_registry.repository.codec import list_in, mapping_in
from orbit_registry.repository.documents import LOG_NAME, Document
from orbit_registry.repository.guard import refuse_inherited, write_step
from orbit_registry.repository.ids import (
    IN_THE_TREE,
    allocate,
    branches_with_another,
    seen_numbers,
)
from orbit_registry.repository.reader import read_collection
from orbit_registry.repository.votes import NAME as VOTES
from orbit_registry.repository.writer import ChangeSet, validated, writing
from orbit_registry.workspace.workspace import ORBIT, Workspace

_UID = re.compile(r"[0-9a-f]{32}\Z")
_LONGEST_NAME = 40  # characters of a title's words in an alias


@dataclass(frozen=True, slots=True)
class Renumbered:
    """A record's new number: what it was, what it is,
    and the names under which it is still found.
    """

    uid: str
    title: str
    old: str
    new: str
    aliases: tuple[str, ...]
    path: str  # the record's file now, from the root
    document: str | None  # its document now
    reason: str = ""
    """Where the highest number before it came from, or why this record and not the other."""

    def lines(self, *, dry_run: bool, because: str = "") -> list[str]:
        """Return the change for people."""
        would = "would become" if dry_run else "is now"
        return [
            f"{self.old} ({self.title}) {would} {self.new}{because}",
            f"  still found as {', '.join(self.aliases)}",
        ]

    def as_dict(self) -> dict[str, object]:
        """Return the change as JSON shows it."""
        return {
            "title": self.title,
            "from": self.old,
            "to": self.new,
            "aliases": list(self.aliases),
            "path": self.path,
            "document": self.document,
            "why": self.reason,
        }


@dataclass(frozen=True, slots=True)
class RenumberReport:
    """What a renumbering did, or with `dry_run` would do."""

    record: Renumbered
    files: tuple[ChangedFile, ...]
    unclear: tuple[Unclear, ...]
    dry_run: bool = False
    next_commands: ClassVar = ("git diff", "orbit check")

    def as_data(self) -> dict[str, object]:
        """Return the report as JSON shows it."""
        return {
            **self.record.as_dict(),
            "dry_run": self.dry_run,
            "files": [file.as_dict() for file in self.files],
            "unclear": [mention.as_dict() for mention in self.unclear],
        }

    def text(self) -> str:
        """Return the report for people."""
        lines = self.record.lines(dry_run=self.dry_run)
        lines += [f"  {file}" for file in self.files]
        lines += unclear_lines(self.unclear)
        return "\n".join(lines)


def unclear_lines(unclear: Sequence[Unclear]) -> list[str]:
    """Return the mentions left for a person, with what to do."""
    if not unclear:
        return []

    lines = [
        "",
        "left as they are, because nothing tells which record they mean; correct them by hand:",
    ]
    for mention in unclear:
        at = mention.position
        lines.append(f"  {mention.path}:{at.line}:{at.column}: {mention.id} in: {mention.line}")

    return lines


def renumber(
    workspace: Workspace,
    any_id: str,
    number: int | None = None,
    *,
    dry_run: bool = False,
) -> RenumberReport:
    """Give a record, by id, uid or path, a new number, the next free one if not given;
    the old id still resolves.
    """
    if dry_run:
        return _plan(workspace, any_id, number, dry_run=True)[0]

    with writing(workspace):
        report, draft = _plan(workspace, any_id, number, dry_run=False)
        write_step(workspace, "renumber", draft.changes)
        return report


def _plan(
    workspace: Workspace,
    any_id: str,
    number: int | None,
    *,
    dry_run: bool,
) -> tuple[RenumberReport, ChangeSet]:
    if workspace.git.top is None:
        raise RefusedError(
            "outside git nothing finds the citations",
            hint="run `git init`, then try again",
        )

    if workspace.git.run("ls-files", "-u", "--", ORBIT):
        raise RefusedError("a merge waits to be resolved", hint="run `orbit resolve` first")

    records = read_collection(workspace).records
    record = _find_record(records, any_id)
    refuse_inherited(workspace, record.path)

    if record.kind.numbering != "sequence":
        raise RefusedError(
            f"{record.id} has a code, not a number",
            hint="codes are never renumbered",
        )

    new, reason = _new_id(workspace, record, number, dry_run=dry_run)
    alone = len(records.with_id(record.id)) == 1
    bare = alone and not _default_branch_has_other(workspace, record)
    aliases = alias_ids(record.title, record.uid, record.id, records, bare=bare)
    draft = ChangeSet(workspace)
    done = _move_record(workspace, draft, record, new, aliases, reason)

    def meaning(path: str, line: str, cited: str) -> str | None:
        del path, line
        if cited == record.id:
            if alone:
                return done.new

            return None
        if records.candidates(cited):
            return cited

        return None

    document = done.document
    moves = DocumentMoves()
    if record.source and document and document != record.source.path:
        moves = DocumentMoves({record.source.path: document})

    files, unclear = rewrite_everywhere(workspace, draft, frozenset({record.id}), meaning, moves)

    text = draft.readable(document) if document else None
    if document and text is not None:
        draft.put(document, in_order(text, document, done.new))

    return RenumberReport(done, files, unclear, dry_run), draft


def _find_record(records: RecordSet, any_id: str) -> Record:
    path = any_id.removeprefix("./").rstrip("/")
    uid = any_id if _UID.match(any_id) else None
    for record in records:
        if path in (record.path, record.folder) or record.uid == uid:
            return record

    if path.startswith(f"{ORBIT}/"):
        raise RecordNotFoundError(
            f"there is no valid record at {path}",
            hint="`orbit check` says what is wrong there",
        )

    return records.get(any_id)


def _new_id(
    workspace: Workspace,
    record: Record,
    number: int | None,
    *,
    dry_run: bool,
) -> tuple[str, str]:
    kind = record.kind
    if number is None:
        allocation = allocate(workspace, kind, dry_run=dry_run)[0]
        reason = "" if dry_run else f"the next above {allocation.above}"
        return allocation.id, reason

    requested = sequence_id(kind.prefix, number)
    if requested == record.id:
        raise RefusedError(
            f"{record.id} has that number already",
            hint="leave --to out to get the next free number",
        )

    numbers = list(seen_numbers(workspace, kind))
    location = _branch_with(workspace, record, requested)
    earlier_ids = {name.rpartition("/")[2] for name in record.legacy_ids}
    if location is None and requested not in earlier_ids:
        location = next(
            (other.where.strip(" ,") for other in numbers if other.number == number), None
        )

    if location is None and (workspace.folder_of(kind) / requested).exists():
        location = IN_THE_TREE

    if location is not None:
        raise RefusedError(
            f"{requested} is taken: {location}",
            hint="leave --to out to get the next free number",
        )

    if not dry_run and number > max((other.number for other in numbers), default=0):
        allocate(workspace, kind, above=number - 1)

    return requested, "as asked for"


def _branch_with(workspace: Workspace, record: Record, record_id: str) -> str | None:
    with contextlib.suppress(GitError):
        branches = branches_with_another(workspace.git, record.kind, {record_id: record.uid})
        if branches:
            return f"on {branches[record_id][0]}"

    return None


def _default_branch_has_other(workspace: Workspace, record: Record) -> bool:
    """Say whether the default branch has another record under this id,
    so that the bare id will be that one's.
    """
    commit = workspace.default_commit()
    theirs = workspace.git.read(commit, record.path) if commit else None
    return theirs is not None and record.uid.encode() not in theirs


def _move_record(
    workspace: Workspace,
    draft: ChangeSet,
    record: Record,
    new: str,
    aliases: tuple[str, ...],
    reason: str,
) -> Renumbered:
    old, kind = record.id, record.kind
    folder = f"{record.folder.rpartition('/')[0]}/{new}"
    path = f"{folder}/{kind.name}.yaml"

    if (workspace.root / folder).exists():
        raise RefusedError(f"{folder} is there already", hint="run `orbit check`")

    source = record.source
    document = moved_document(mapping_in(record.data, "source"), old, new)
    if source and document and document != source.path and draft.readable(document) is not None:
        raise RefusedError(f"{document} is there already", hint="move it away, then try again")

    data = renumbered_data(record.data, old, new, aliases, document)
    result = rewrite(draft.text(record.path) or "", data, order=kind.schema.properties)
    validated(result, kind, path)

    for name, content in other_files(workspace, record):
        draft.move(f"{record.folder}/{name}", f"{folder}/{name}")
        if name == VOTES:
            draft.put(f"{folder}/{name}", renamed_votes(content, old, new))

    draft.move(record.path, path)
    draft.put(path, result)

    if source and document:
        prose = draft.readable(source.path)
        if prose is not None:
            numbered = renumbered_document(
                prose,
                source.path,
                source.heading,
                record.title,
                old,
                new,
            )
            draft.put(source.path, numbered)
            draft.move(source.path, document)

    return Renumbered(record.uid, record.title, old, new, aliases, path, document, reason)


def alias_ids(
    title: str,
    uid: str,
    old: str,
    records: Iterable[Record],
    *,
    bare: bool,
) -> tuple[str, ...]:
    """Return the names that lead to a renumbered record:
    `title-words/ADR-0007`, and the bare id if it is free.
    """
    name = slug(title)
    if len(name) > _LONGEST_NAME:
        name = name[: _LONGEST_NAME + 1].rpartition("-")[0] or name[:_LONGEST_NAME]

    alias = f"{name}/{old}"
    if any(alias in record.legacy_ids and record.uid != uid for record in records):
        alias = f"{name}-{uid[:6]}/{old}"

    if bare:
        return (alias, old)

    return (alias,)


def moved_document(source: Mapping[str, object], old: str, new: str) -> str | None:
    """Return where a renumbered record's document goes: `0007-use-x.md` → `0008-use-x.md`;
    a log stays.
    """
    path = str(source.get("path") or "")
    if not path or source.get("heading") is not None or path.rpartition("/")[2] == LOG_NAME:
        return path or None

    folder, slash, name = path.rpartition("/")
    number = number_of_path(path)
    if number is None or int(number) != number_of(old) or number not in name:
        return path

    digits = str(number_of(new)).zfill(len(number))
    return f"{folder}{slash}{name.replace(number, digits, 1)}"


def renumbered_data(
    data: Mapping[str, object],
    old: str,
    new: str,
    aliases: Sequence[str],
    document: str | None,
) -> dict[str, object]:
    """Return a record's data under a new id, with its old names and where its document now is."""
    earlier_ids = [name for name in list_in(data, "legacy_ids") if name != new]
    names = dict.fromkeys((*earlier_ids, *aliases))
    result = {**data, "id": new, "legacy_ids": [*names]}

    source = mapping_in(data, "source")
    if source:
        moved = {**source, "path": document or source["path"]}
        if "heading" in source:
            moved["heading"] = _renumbered_heading(str(source["heading"]), old, new)

        result["source"] = moved

    return result


def _renumbered_heading(heading: str, old: str, new: str) -> str:
    match = re.match(r"(ADR[- ]?)(\d{1,9})\Z", heading, re.IGNORECASE)
    if match is None or int(match[2]) != number_of(old):
        return heading
    return match[1] + str(number_of(new)).zfill(len(match[2]))


def entry_of(text: str, path: str, heading: str | None, title: str) -> AdrDocument | None:
    """Return a record's decision in its document;
    of several with its number, the one with its title.
    """
    document = Document(path, text)
    first = document.entry(heading)
    if first is None or first.number is None:
        return first

    number = int(first.number)
    for entry in document.file.entries:
        if entry.number and int(entry.number) == number and entry.title == title:
            return entry

    return first


def renumbered_document(
    text: str,
    path: str,
    heading: str | None,
    title: str,
    old: str,
    new: str,
) -> str:
    """Return a document with the number in its decision's own heading and front matter replaced."""
    entry = entry_of(text, path, heading, title)
    if entry is None or entry.number is None or int(entry.number) != number_of(old):
        return text
    return set_number(text, entry, str(number_of(new)))


def renamed_votes(text: str, old: str, new: str) -> str:
    """Return votes given to a record under its old id as votes for the new one."""
    return re.sub(rf'("learning_id":\s*)"{re.escape(old)}"', rf'\g<1>"{new}"', text)


def in_order(text: str, path: str, *record_ids: str) -> str:
    """Return a log with the entries of these ids moved to their places;
    a log that did not ascend stays unchanged.
    """
    file = read_document(text, path)
    numbers = [int(entry.number or 0) for entry in file.entries]
    moved = {number_of(record_id) for record_id in record_ids}
    unmoved = [number for number in numbers if number not in moved]

    if (
        file.format != "log"
        or numbers == sorted(numbers)
        or unmoved != sorted(unmoved)
        or len(set(numbers)) < len(numbers)
    ):
        return text

    for record_id in record_ids:
        number = number_of(record_id)
        for entry in read_document(text, path).entries:
            if int(entry.number or 0) == number:
                content = split_separator(entry.span.of(text))[0]
                text = insert_entry(remove_entry(text, entry), content, record_id)
                break

    return text
