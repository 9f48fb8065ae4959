"""The one record that a name in code means: an id, an earlier name, or the file of a document."""

import posixpath
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import chain

from orbit_registry.formats.adr.file_names import GENERIC_NAMES, number_of_path
from orbit_registry.formats.citations import numbered_name
from orbit_registry.formats.links import is_markdown, split_link
from orbit_registry.model.record import Record
from orbit_registry.model.record_set import RecordSet
from orbit_registry.operations.link_targets import Targets, location_of
from orbit_registry.workspace.git import Git

_WIDTH = 3
"""Digits that an id here has at least."""


class NamedRecords:
    """Finds records by the names that code has for them."""

    def __init__(self, git: Git, records: Sequence[Record], tracked: Iterable[str]) -> None:
        self._git = git
        self._set = RecordSet(records)
        self._found: dict[str, Record | None] = {}
        in_documents = [record for record in records if record.kind.in_document]
        self._targets = Targets(map(location_of, in_documents))

        documents = {record.source.path for record in in_documents if record.source is not None}
        self._by_file_name: defaultdict[str, list[str]] = defaultdict(list)
        for path in {*documents, *filter(is_markdown, tracked)}:
            self._by_file_name[posixpath.basename(path)].append(path)

        self._by_series: defaultdict[tuple[str, int], list[Record]] = defaultdict(list)
        for record in records:
            for name in (record.id, *record.legacy_ids):
                if numbered := numbered_name(name):
                    self._by_series[numbered.word, numbered.number].append(record)

    def find(self, name: str) -> Record | None:
        """Return the record; None where none or several answer to the name."""
        if name not in self._found:
            is_document = is_markdown(name.partition("#")[0])
            self._found[name] = self._of_document(name) if is_document else self._of_id(name)
        return self._found[name]

    def is_missing(self, name: str) -> bool:
        """Say whether a name has the form of one of a decision here, and nothing answers to it.

        An id has three digits at least, as ids and file names here do; a document is named with a
        folder of decisions. A name in a namespace or at another address is that of another project.
        """
        file = name.partition("#")[0]
        if is_markdown(file):
            parts = self._parts(file)
            is_decision = len(parts) > 1 and number_of_path(parts[-1]) is not None
            is_ours = is_decision and parts[-2] in self._folder_names
            return is_ours and parts[-1] not in self._by_file_name

        numbered = numbered_name(name)
        if numbered is None or numbered.word not in self._words or len(numbered.digits) < _WIDTH:
            return False
        if self._set.candidates(name):
            return False

        is_in_series = (numbered.word, numbered.number) in self._by_series
        return not is_in_series and numbered.number not in self._numbers

    def _of_id(self, name: str) -> Record | None:
        records = self._set.candidates(name)
        numbered = numbered_name(name)
        if not records and numbered is not None:
            records = self._by_series.get((numbered.word, numbered.number), [])

        unique = {record.path: record for record in records}
        if len(unique) == 1:
            return unique.popitem()[1]

        return None

    def _of_document(self, name: str) -> Record | None:
        file, anchor = split_link(name)
        parts = self._parts(file)
        if len(parts) == 1 and parts[0].partition(".")[0].lower() in GENERIC_NAMES:
            return None

        paths = [path for path in self._by_file_name.get(parts[-1], ()) if _is_named(path, parts)]
        if len(paths) != 1:
            return None

        ids = self._targets.at(paths[0], anchor)
        records = self._set.with_id(ids[0]) if len(ids) == 1 else []
        if len(records) == 1:
            return records[0]

        return None

    @cached_property
    def _words(self) -> frozenset[str]:
        """What the ids of decisions here begin with: `ADR`."""
        kinds = (record.kind for record in self._set if record.kind.numbering == "sequence")
        return frozenset(kind.prefix.removesuffix("-") for kind in kinds)

    @cached_property
    def _folders(self) -> frozenset[str]:
        """The folders of the decisions' documents."""
        sources = (record.source for record in self._set if record.kind.in_document)
        return frozenset(posixpath.dirname(source.path) for source in sources if source is not None)

    @cached_property
    def _folder_names(self) -> frozenset[str]:
        return frozenset(map(posixpath.basename, self._folders)) - {""}

    @cached_property
    def _numbers(self) -> frozenset[int]:
        """The numbers of documents in these folders, those without a record too."""
        paths = chain.from_iterable(self._by_file_name.values())
        inside = (path for path in paths if posixpath.dirname(path) in self._folders)
        numbers = map(number_of_path, inside)
        return frozenset(int(number) for number in numbers if number and number.isdigit())

    def _parts(self, file: str) -> list[str]:
        """Return the folders and the name in a text.

        An address of another project has the name of no file.
        """
        _, separator, address = file.rpartition("://")
        if not separator:
            file = file.rpartition(":")[2]
        elif address.casefold().startswith(self._web_addresses):
            file = address
        else:
            file = ""

        return [part for part in file.split("/") if part not in ("", ".", "..")] or [""]

    @cached_property
    def _web_addresses(self) -> tuple[str, ...]:
        return tuple(f"{address}/" for address in self._git.web_addresses())


def _is_named(path: str, parts: Sequence[str]) -> bool:
    """Say whether the parts are a path or the end of it, or end with all of a path in a folder."""
    own = path.split("/")
    shared = min(len(own), len(parts))
    if own[-shared:] != [*parts[-shared:]]:
        return False
    return len(parts) <= len(own) or len(own) > 1
