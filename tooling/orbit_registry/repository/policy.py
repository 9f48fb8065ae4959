"""The base's policy: what the commit that a change starts from says of the gate, of approvals and
of the records. The change itself has no say in it.
"""

from __future__ import annotations

import posixpath
import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import cached_property
from typing import Any

from orbit_registry.errors import OrbitError
from orbit_registry.formats.codeowners import (
    OWNER_FILES,
    OwnerGroup,
    OwnerSection,
    owner_groups,
    owner_sections,
)
from orbit_registry.formats.manifests import files_included, is_requirements
from orbit_registry.judgements.in_force import read_together
from orbit_registry.model.kind import KindTable
from orbit_registry.model.record import Record
from orbit_registry.repository.codec import data_in, mapping_in, record_of_content
from orbit_registry.repository.inherited import namespaced, source_of, with_overrides
from orbit_registry.repository.reader import Reading
from orbit_registry.repository.record_path import record_path
from orbit_registry.repository.starters import Starts, is_starter, runs_first, starts_in
from orbit_registry.workspace.config import Config, config_of, config_schema, defaults
from orbit_registry.workspace.git import Git
from orbit_registry.workspace.workspace import CONFIG, INHERITED, ORBIT, Workspace, open_workspace

MAILMAP = ".mailmap"
ATTRIBUTES = ".gitattributes"
KINDS = f"{ORBIT}/kinds/"
LISTS = (".txt", ".in")
"""Files that requirements may name."""


@dataclass(frozen=True)
class Policy:
    """What a commit says of the gate and of approvals."""

    git: Git
    commit: str

    @cached_property
    def raw(self) -> Mapping[str, object]:
        """The mapping in the configuration; empty where there is none."""
        content = self.git.read(self.commit, CONFIG) or b""
        return data_in(content.decode("utf-8", "replace")) or {}

    @cached_property
    def config(self) -> Config | None:
        """The configuration: the default one where it can't be read, none where the commit has no
        records.
        """
        if self.raw and not config_schema().problems(dict(self.raw)):
            return config_of(self.raw)
        if self.git.files_at(self.commit, ORBIT):
            return config_of({})

        return None

    def setting(self, key: str) -> Any:
        """Return a setting by its name with dots, with its default."""
        return setting_of(self.raw, key)

    @property
    def require(self) -> str:
        """What proves an approval: `none`, `signed` or `code-owner`."""
        return str(self._approval("require"))

    @cached_property
    def keys(self) -> bytes:
        """The file of allowed keys."""
        return self.git.read(self.commit, self.keys_path) or b""

    @property
    def keys_path(self) -> str:
        """The name of the file of allowed keys."""
        return str(self._approval("allowed_signers"))

    def _approval(self, name: str) -> object:
        return setting_of(self.raw, f"approval.{name}")

    def is_agent(self, signer: str) -> bool:
        """Say whether the keys of a signer never count."""
        patterns = self._approval("agents")
        return isinstance(patterns, list) and any(
            fnmatchcase(signer, str(pattern)) for pattern in patterns
        )

    @cached_property
    def owner_sections(self) -> tuple[OwnerSection, ...]:
        """What CODEOWNERS says, which is at the repository's top."""
        top = Git(self.git.top or self.git.folder)
        for path in OWNER_FILES:
            content = top.read(self.commit, path)
            if content is not None:
                return owner_sections(content)

        return ()

    def owners(self, path: str) -> tuple[OwnerGroup, ...]:
        """Return whose approval a change of a file needs; it is named from the project's root."""
        return owner_groups(self.owner_sections, posixpath.normpath(self.git.prefix + path))

    def starts(self, path: str) -> Starts:
        """Return what in a file of settings starts Orbit; requirements with the files that they
        name.
        """
        texts = self._texts([path, *self.included([path])] if is_requirements(path) else [path])
        return starts_in(path, "\n".join(texts.values()))

    def included(self, requirements: Collection[str]) -> frozenset[str]:
        """Return the files that requirements name."""
        return files_included(requirements, self._texts)

    def _texts(self, paths: Iterable[str]) -> Mapping[str, str]:
        names = list(paths)
        unread = [path for path in names if path not in self._read]
        contents = self.git.contents(self.commit, unread)
        for path in unread:
            self._read[path] = contents.get(path, b"").decode("utf-8", "replace")

        return {path: self._read[path] for path in names}

    @cached_property
    def _read(self) -> dict[str, str]:
        """The texts of files that were read."""
        return {}

    def requires_as(self, other: Policy) -> bool:
        """Say whether both ask for the same approvals."""
        same = mapping_in(self.raw, "approval") == mapping_in(other.raw, "approval")
        return same and self.owner_sections == other.owner_sections


def setting_of(raw: Mapping[str, object], key: str) -> Any:
    """Return a setting of a configuration by its name with dots, with its default, which also
    counts where the setting is of another type.
    """
    section, _, name = key.partition(".")
    value: Any = raw.get(section)
    default: Any = defaults().get(section)
    if name:
        value = value.get(name) if isinstance(value, Mapping) else None
        default = default.get(name) if isinstance(default, Mapping) else None

    is_number = isinstance(default, int | float)
    form = int | float if is_number else type(default)
    is_like = default is None or isinstance(value, form)
    if value is None or not is_like:
        return default

    return value


def concerns_policy(
    workspace: Workspace,
    changed: Collection[str],
    submodules: Collection[str],
    documents: Collection[str],
) -> bool:
    """Say whether a change touches a record, a document of one, or what the gate obeys."""
    keys = str(workspace.config.setting("approval", "allowed_signers"))
    others = {*OWNER_FILES, MAILMAP, keys, *documents}
    for path in changed:
        is_policy = path in others or is_starter(path) or path.endswith((ATTRIBUTES, *LISTS))
        if f"{ORBIT}/" in same_name(path) or is_policy or runs_first(path):
            return True
    for submodule in submodules:
        if any(is_within(path, submodule) for path in (ORBIT, *others)):
            return True

    # Code owners are named at the repository's top, which may be above the project.
    return bool(workspace.git.prefix) and workspace.config.setting("approval", "require") != "none"


def changed_above(git: Git, commit: str) -> list[str]:
    """Return the changed files above the project that may start Orbit for it, or hide its records,
    from the repository's top.
    """
    if not git.prefix:
        return []

    top = Git(git.top or git.folder)
    changed = (path for path in top.differing(commit, "HEAD") if not path.startswith(git.prefix))
    return [path for path in changed if _is_above(path, git.prefix)]


def _is_above(path: str, prefix: str) -> bool:
    folder = posixpath.dirname(path)
    is_for_all = not folder or path.startswith(".") or prefix.startswith(f"{folder}/")
    return is_for_all and (is_starter(path) or path.endswith(ATTRIBUTES))


_UNSEEN = re.compile("[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]")
"""Characters of a name that macOS leaves out."""
_SHORT_NAME = re.compile(r"(?:^|(?<=/))orbit~\d+(?=/)")


def same_name(path: str) -> str:
    """Return the name by which macOS or Windows may find a file: they ignore case, characters
    without a shape, and dots and blanks at the end of a name.
    """
    plain = unicodedata.normalize("NFC", _UNSEEN.sub("", path)).casefold()
    names = (name.rstrip(". ") or name for name in plain.split("/"))
    return _SHORT_NAME.sub(ORBIT, "/".join(names))


def is_within(path: str, folder: str) -> bool:
    """Say whether a path is a folder, or is inside it."""
    return path == folder or path.startswith(f"{folder}/")


def records_before(
    policy: Policy, workspace: Workspace, reading: Reading, changed: Collection[str]
) -> list[Record]:
    """Return the records of the base without their long texts, with what overrides them there."""
    sources = {entry.name for entry in (policy.config or workspace.config).extends}
    records: list[Record] = []
    for entry in reading.entries:
        if entry.path in changed or (entry.source and entry.source not in sources):
            continue

        record = reading.record(entry)
        if record is not None:
            records.append(record)

    paths = [path for path in changed if path.startswith(f"{ORBIT}/")]
    left = sources.difference(entry.name for entry in workspace.config.extends)
    for source in sorted(left):
        paths += policy.git.files_at(policy.commit, f"{INHERITED}/{source}")

    kinds = _kinds_before(policy, workspace, changed)
    records += _records_at(policy, kinds, list(dict.fromkeys(paths)), sources)
    return read_together(with_overrides(records))


def _kinds_before(policy: Policy, workspace: Workspace, changed: Collection[str]) -> KindTable:
    if not any(path.startswith(KINDS) for path in changed):
        return workspace.kinds

    try:
        with policy.git.checked_out(policy.commit) as folder:
            return open_workspace(folder).kinds
    except OrbitError:
        return workspace.kinds


def _records_at(
    policy: Policy, kinds: KindTable, paths: Sequence[str], sources: Collection[str]
) -> Iterator[Record]:
    for path, content in policy.git.contents(policy.commit, paths).items():
        record = record_at(kinds, path, content)
        source = source_of(path)
        if record is not None and (not source or source in sources):
            yield record


def record_at(kinds: KindTable, path: str, content: bytes) -> Record | None:
    """Return the record in the content of a file; None where it is none of a kind."""
    at = record_path(kinds, path)
    if at is None or not at.is_record or at.is_pending:  # what waits is no policy
        return None

    record = record_of_content(content, at.kind, path)
    if record is None or not at.source:
        return record
    return replace(record, data=namespaced(record.data, at.source))
