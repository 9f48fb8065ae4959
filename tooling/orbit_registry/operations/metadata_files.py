"""Statuses of decisions in files next to their documents: metadata that other tools keep apart.

They are quoted, not taken: a person says what holds.
"""

import os
import posixpath
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache

from orbit_registry.errors import OrbitError
from orbit_registry.formats import yaml
from orbit_registry.formats.adr.file_names import GENERIC_NAMES, number_of_path
from orbit_registry.formats.adr.front_matter import read_front_matter, read_toml
from orbit_registry.formats.adr.vocabulary import field_of
from orbit_registry.formats.position import Span, YamlProblemError
from orbit_registry.repository.documents import Document
from orbit_registry.workspace.files import DOCUMENT_LIMIT, inside, read_text
from orbit_registry.workspace.workspace import Workspace

_SUFFIXES = (".yaml", ".yml", ".json", ".toml")
_OF_ONE = ("metadata", "meta", "adr", "decision", "index", "rfc", "kep", "tep", "vep")
"""Names of the file about the document that has a folder for itself."""
_OF_ALL = (
    "index",
    "adrs",
    "adr",
    "decisions",
    "metadata",
    "meta",
    "status",
    "statuses",
    "manifest",
)
"""Names of the file about all documents of a folder."""
_FOLDERS = ("", "meta", "metadata", ".meta", ".metadata", "_meta", "_metadata")
_MORE = re.compile(r"^\.|\.(?:md|markdown|meta|metadata|status)$", re.IGNORECASE)
"""What the name of such a file has besides the document's: `.0001-x`, `0001-x.md.yaml`."""
_NUMBER = re.compile(r"(?:adr[-_ ]?)?0*(?P<number>\d{1,6})", re.IGNORECASE)
_NAMING = ("adr", "document", "file", "filename", "href", "id", "key", "name", "number", "path")
"""Keys of a list that name a document."""
_DEEPEST = 5


def statuses_next_to(
    workspace: Workspace, documents: Iterable[Document]
) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield each silent document with the status that a file next to it states, and its name."""

    @cache
    def names_in(folder: str) -> list[str]:
        try:
            return sorted(os.listdir(workspace.root / folder))
        except OSError:
            return []

    for document in documents:
        entries = document.entries
        if not any(entry.status == "unknown" and not entry.status_raw for entry in entries):
            continue

        about = _About.of(document.path)
        folder = posixpath.dirname(document.path)
        for near in (posixpath.join(folder, name) for name in _FOLDERS):
            paths = [posixpath.join(near, name) for name in names_in(near)]
            statuses = (_status_in(workspace, path, about) for path in paths)
            status = next(filter(None, statuses), None)
            if status is not None:
                yield document.path, status
                break


@dataclass(frozen=True, slots=True)
class _About:
    """A document as other files name it."""

    stem: str
    number: int | None
    has_folder: bool
    """Whether it has a folder for itself."""

    @classmethod
    def of(cls, path: str) -> "_About":
        folder, _, name = posixpath.splitext(path)[0].rpartition("/")
        number = number_of_path(path)
        is_generic = name.lower() in GENERIC_NAMES
        stem = posixpath.basename(folder) if is_generic and folder else name
        digits = number or ""
        return cls(stem, int(digits) if digits.isdecimal() else None, is_generic and bool(folder))

    def is_named(self, text: str) -> bool:
        """Say whether a text is the name, the path or the number of the document."""
        name = posixpath.basename(text.strip())
        if self.stem in (name, posixpath.splitext(name)[0]):
            return True

        number = _NUMBER.fullmatch(name)
        return self.number is not None and number is not None and int(number[1]) == self.number


def _status_in(workspace: Workspace, path: str, about: _About) -> tuple[str, str] | None:
    """Return the status of a document that a file of metadata states, and the file's name."""
    name = posixpath.basename(path)
    stem, suffix = posixpath.splitext(name)
    if suffix.lower() not in _SUFFIXES:
        return None

    stem = _MORE.sub("", stem)
    is_alone = about.is_named(stem) or (about.has_folder and stem.lower() in _OF_ONE)
    if not is_alone and stem.lower() not in _OF_ALL:
        return None

    try:
        text = read_text(inside(workspace.root, path), limit=DOCUMENT_LIMIT)
    except OrbitError:
        return None

    status = _status_of_one(text, suffix) if is_alone else ""
    if not status and suffix.lower() != ".toml":
        status = _status_among(text, about)

    if status.strip():
        return (" ".join(status.split()), name)

    return None


def _status_of_one(text: str, suffix: str) -> str:
    read = read_toml if suffix.lower() == ".toml" else read_front_matter
    fields = read(text, Span(0, len(text))).fields
    return next((each.value for each in fields if field_of(each.key) == "status"), "")


def _status_among(text: str, about: _About) -> str:
    """Return the status that a list of all documents states of one."""
    try:
        data = yaml.load(text)
    except YamlProblemError:
        return ""

    return next(_statuses(data, about, is_about=False, depth=0), "")


def _statuses(data: object, about: _About, *, is_about: bool, depth: int) -> Iterator[str]:
    if depth > _DEEPEST:
        return

    if isinstance(data, list):
        for item in data:
            yield from _statuses(item, about, is_about=False, depth=depth + 1)

    if not isinstance(data, dict):
        return

    texts = {str(key): str(value) for key, value in data.items() if isinstance(value, str | int)}
    names = (text for key, text in texts.items() if key.lower() in _NAMING)
    if is_about or any(map(about.is_named, names)):
        yield from (text for key, text in texts.items() if field_of(key) == "status")

    for key, value in data.items():
        is_named = about.is_named(str(key))
        if is_named and isinstance(value, str):
            yield value

        yield from _statuses(value, about, is_about=is_named, depth=depth + 1)
