"""What a new number changes in a record's own texts: its data, its document, its file's name, its votes; pure text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from orbit_registry.formats.adr.file_names import number_of_path
from orbit_registry.formats.adr.model import AdrDocument
from orbit_registry.formats.adr.reader import read_document
from orbit_registry.formats.adr.writer import insert_entry, remove_entry, set_number, split_separator
from orbit_registry.model.record import Record
from orbit_registry.operations.adr_files import slug
from orbit_registry.operations.citation_rewrite import number_of
from orbit_registry.repository.documents import LOG_NAME, Document


def alias_ids(title: str, uid: str, old: str, records: Iterable[Record], *, bare: bool) -> tuple[str, ...]:
    """Return the names that keep leading to a renumbered record: `title-words/ADR-0007`, and the bare id if no other
    record has it. The first part comes from the title, so that it is the same on every branch.
    """
    words = slug(title)
    name = words if len(words) <= 40 else words[:41].rpartition("-")[0] or words[:40]
    alias = f"{name}/{old}"
    if any(alias in record.legacy_ids and record.uid != uid for record in records):
        alias = f"{name}-{uid[:6]}/{old}"
    return (alias, old) if bare else (alias,)


def moved_document(source: Mapping[str, object], old: str, new: str) -> str | None:
    """Return where a renumbered record's document goes: `0007-use-x.md` → `0008-use-x.md`; None where it has none.

    A log stays, whatever number its name begins with.
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
    data: Mapping[str, object], old: str, new: str, aliases: Sequence[str], document: str | None
) -> dict[str, object]:
    """Return a record's data under a new id, with its old names and where its document now is."""
    legacy_ids = data.get("legacy_ids")
    names = [str(name) for name in legacy_ids] if isinstance(legacy_ids, list) else []
    result = {**data, "id": new, "legacy_ids": list(dict.fromkeys((*(n for n in names if n != new), *aliases)))}
    source = data.get("source")
    if isinstance(source, Mapping):
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
    """Return a record's decision in its document; of several with its number, the one with its title."""
    document = Document(path, text)
    first = document.entry(heading)
    if first is None or first.number is None:
        return first
    same = [entry for entry in document.file.entries if entry.number and int(entry.number) == int(first.number)]
    return next((entry for entry in same if entry.title == title), first)


def renumbered_document(text: str, path: str, heading: str | None, title: str, old: str, new: str) -> str:
    """Return a document with the number in its decision's own heading and front matter replaced."""
    entry = entry_of(text, path, heading, title)
    if entry is None or entry.number is None or int(entry.number) != number_of(old):
        return text
    return set_number(text, entry, str(number_of(new)))


def renamed_votes(text: str, old: str, new: str) -> str:
    """Return votes given to a record under its old id as votes for the new one."""
    return text.replace(f'"learning_id": "{old}"', f'"learning_id": "{new}"')


def in_order(text: str, path: str, *record_ids: str) -> str:
    """Return a log with the entries of these ids moved to their places; one that did not ascend stays as it is."""
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
        entries = read_document(text, path).entries
        entry = next((candidate for candidate in entries if int(candidate.number or 0) == number_of(record_id)), None)
        if entry is not None:
            content = split_separator(entry.span.of(text))[0]
            text = insert_entry(remove_entry(text, entry), content, record_id)
    return text
