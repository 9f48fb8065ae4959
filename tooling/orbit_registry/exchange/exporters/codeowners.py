"""The block of `CODEOWNERS` that says who owns the files of each accepted decision.

The last line that matches a file decides on GitHub and GitLab, so wide scopes come first, and a
narrow one names the owners of the scopes around it too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass

from orbit_registry.errors import GitError, UsageError
from orbit_registry.exchange.exporters import rules
from orbit_registry.formats.codeowners import OWNER_FILES
from orbit_registry.formats.globs import Alternative, Glob
from orbit_registry.matching.pack import SYMBOL
from orbit_registry.model.record import Record
from orbit_registry.repository.reader import Reading
from orbit_registry.workspace.workspace import Workspace

NEW = "CODEOWNERS"  # where a new file is made: both forges read it there
BEGIN = "# orbit:begin: made by `orbit export codeowners`, changes in here are lost"
END = "# orbit:end"
_MARKS = (b"# orbit:begin", END.encode())
OWNERS = "deciders"  # the field that names the owners of a decision
_OWNER = re.compile(r"@[\w.-]+(?:/[\w.-]+)*|[\w.+-]+@[\w-]+(?:\.[\w-]+)+", re.ASCII)
"""An account, a team or an e-mail address."""
_UNSUPPORTED = re.compile(r"[\[\]#{}\\]|^!")


@dataclass(frozen=True, slots=True)
class OwnersExport:
    """The file, its change, and what it leaves out."""

    path: str
    lines: Sequence[str]
    changes: Sequence[rules.Change]
    unsupported: Sequence[rules.UnsupportedGlob]
    unowned: Sequence[str]  # decisions with a scope whose deciders are no accounts
    # deciders that are no accounts, of decisions with other owners
    unusable: Mapping[str, Sequence[str]]

    @property
    def count(self) -> int:
        """How many patterns the block has."""
        return len(self.lines)

    def as_data(self) -> dict[str, object]:
        """Return it as JSON shows it; the changes are apart."""
        return {
            "file": self.path,
            "lines": [line.partition("\n")[2] for line in self.lines],
            "unsaid": list(map(asdict, self.unsupported)),
            "unowned": list(self.unowned),
            "unusable": {record_id: list(names) for record_id, names in self.unusable.items()},
        }


@dataclass(frozen=True, slots=True)
class _Line:
    pattern: str
    owners: tuple[str, ...]
    files: frozenset[str]
    ids: tuple[str, ...]


def _spell(alternative: Alternative) -> str:
    text = rules.plain(alternative)
    if sign := _UNSUPPORTED.search(text):
        raise rules.UnsupportedError(f"`{sign[0]}` in a name can't be said there")

    if text == "**":
        text = "*"
    elif not text.startswith("**"):
        text = f"/{text}"

    if text.endswith("/**"):
        text = text.removesuffix("**")
    return text.replace(" ", "\\ ")


def _owners_of(record: Record, default: Sequence[str]) -> tuple[str, ...]:
    accounts = [name for name in record.words(OWNERS) if _OWNER.fullmatch(name)]
    return tuple(dict.fromkeys(accounts)) or tuple(default)


def plan(workspace: Workspace, default: Sequence[str] = ()) -> OwnersExport:
    """Return what the file should be.

    `default` owns the decisions whose deciders are no accounts.
    """
    for owner in default:
        if not _OWNER.fullmatch(owner):
            raise UsageError(
                f"{owner!r} is no owner",
                hint="write @account, @organisation/team or an e-mail address",
            )

    workspace.git.require_git()
    top = workspace.git.top
    if top is None:
        raise GitError(
            "there is no git repository here",
            hint="forges read CODEOWNERS at the top of a repository",
        )

    path = next((name for name in OWNER_FILES if (top / name).is_file()), NEW)
    records = [
        record
        for record in Reading(workspace).collection.records
        if record.phase == "live" and OWNERS in record.kind.schema.document["properties"]
    ]

    owned = {record.id: owners for record in records if (owners := _owners_of(record, default))}
    unowned = [
        record.id
        for record in records
        if record.id not in owned and (record.globs or record.symbols)
    ]
    with_owners = [record for record in records if record.id in owned]

    unusable: dict[str, Sequence[str]] = {}
    for record in with_owners:
        names = [name for name in record.words(OWNERS) if not _OWNER.fullmatch(name)]
        if names:
            unusable[record.id] = names

    lines, unsupported = _lines(workspace, with_owners, owned)
    text = ""
    if lines:
        text = "\n".join([BEGIN, *lines, END])

    current = rules.current_files(top, [path])
    expected = {path: rules.with_block(current[path], text, path, _MARKS)}
    changes = rules.differences(current, expected)
    return OwnersExport(path, lines, changes, unsupported, unowned, unusable)


def _lines(
    workspace: Workspace, records: Iterable[Record], owned: Mapping[str, Sequence[str]]
) -> tuple[list[str], list[rules.UnsupportedGlob]]:
    files, prefix = workspace.git.tracked() or [], workspace.git.prefix
    unsupported: list[rules.UnsupportedGlob] = []
    merged: dict[str, _Line] = {}
    for record in records:
        patterns: dict[str, frozenset[str]] = {f"/{record.folder}/": frozenset()}
        try:
            patterns |= _patterns(record, files)
        except rules.UnsupportedError as reason:
            globs = ", ".join((*record.globs, *record.symbols))
            unsupported.append(rules.UnsupportedGlob(record.id, globs, str(reason)))

        for pattern, matched in patterns.items():
            earlier = merged.get(pattern, _Line(pattern, (), matched, ()))
            owners = tuple(dict.fromkeys((*earlier.owners, *owned[record.id])))
            merged[pattern] = _Line(pattern, owners, matched, (*earlier.ids, record.id))

    ordered = sorted(merged.values(), key=lambda line: (-len(line.files), line.pattern))
    return [_text(line, _owners(line, ordered), prefix) for line in ordered], unsupported


def _patterns(record: Record, files: Iterable[str]) -> dict[str, frozenset[str]]:
    patterns: dict[str, frozenset[str]] = {}
    symbols = [f"{SYMBOL}{symbol}" for symbol in record.symbols]
    for glob in map(rules.parsed, (*record.globs, *symbols)):
        for alternative in glob.alternatives:
            spelled = rules.spelled(Glob(glob.text, glob.exclude, (alternative,)), _spell)
            matched = frozenset(filter(alternative.matches, files))
            patterns |= dict.fromkeys(spelled, matched)

    return patterns


def _owners(line: _Line, lines: Iterable[_Line]) -> Iterable[str]:
    """Return the owners of a line, then those of the lines with the same or more files, which it
    would hide.
    """
    owners = [*line.owners]
    for other in lines:
        if line.files and line.files <= other.files:
            owners += other.owners

    return dict.fromkeys(owners)


def _text(line: _Line, owners: Iterable[str], prefix: str) -> str:
    folder = prefix.replace(" ", "\\ ")
    pattern = line.pattern
    if prefix and pattern == "*":
        pattern = f"/{folder}"
    elif prefix:
        pattern = f"/{folder}{pattern.removeprefix('/')}"

    return f"# {', '.join(line.ids)}\n{pattern} {' '.join(owners)}"
