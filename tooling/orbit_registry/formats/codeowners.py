"""A file of code owners, read as GitHub and GitLab read it; who approves is not its business."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from orbit_registry.formats.globs import Glob, match_any, parse_glob

OWNER_FILES = (".github/CODEOWNERS", ".gitlab/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS")
"""Where forges look for code owners; the first that exists counts, also if it is empty."""
_LARGEST = 3_000_000
"""Bytes; forges read no larger file, so that nothing has an owner."""
_LINE = re.compile(r"(!?(?:\\.|[^\s\\])+)(?:\s+(.*))?")
_HEADING = re.compile(r"(?P<optional>\^)?\[(?P<name>[^\]]+)\](?:\[(?P<count>\d+)\])?(?P<owners>.*)")
"""The heading of a section of GitLab; `^` makes it optional, a number says how many approve."""


@dataclass(frozen=True, slots=True)
class OwnerLine:
    """A pattern of paths from the repository's top, and its owners; none if the line takes them
    away.
    """

    glob: Glob
    owners: tuple[str, ...]
    is_exclusion: bool = False


@dataclass(frozen=True, slots=True)
class OwnerSection:
    """The lines below a heading of GitLab, or below none."""

    name: str = ""
    needed: int = 1
    """How many owners have to approve; 0 in an optional section."""
    lines: tuple[OwnerLine, ...] = ()

    def owners_of(self, path: str) -> tuple[str, ...]:
        """Return the owners of a file: the last line that matches it names them."""
        matching = [line for line in self.lines if match_any((line.glob,), path)]
        if not matching or any(line.is_exclusion for line in matching):
            return ()

        return matching[-1].owners


@dataclass(frozen=True, slots=True)
class OwnerGroup:
    """Owners of a file, and how many of them a forge asks to approve a change of it."""

    owners: frozenset[str]
    needed: int
    """0 if all sections are optional; a proof needs one owner even so."""


def owner_sections(content: bytes) -> tuple[OwnerSection, ...]:
    """Return the sections with the lines that can be read; sections of one name are one."""
    if len(content) > _LARGEST:
        return ()

    name = ""
    defaults: tuple[str, ...] = ()
    needed: dict[str, int] = {"": 1}
    lines: dict[str, list[OwnerLine]] = {"": []}
    for line in content.decode("utf-8-sig", "replace").splitlines():
        heading = _HEADING.fullmatch(line.strip())
        if heading is not None:
            name = heading["name"].strip().casefold()
            defaults = _owners_in(heading["owners"])
            count = int(heading["count"] or 1)
            needed.setdefault(name, 0 if heading["optional"] else count)
            lines.setdefault(name, [])
            continue

        read = _line(line.strip(), defaults)
        if read is not None:
            lines[name].append(read)

    return tuple(OwnerSection(name, needed[name], tuple(lines[name])) for name in lines)


def owners_of_file(sections: Iterable[OwnerSection], path: str) -> tuple[str, ...]:
    """Return all owners of a file."""
    owners: dict[str, None] = {}
    for section in sections:
        owners |= dict.fromkeys(section.owners_of(path))

    return tuple(owners)


def owner_groups(sections: Sequence[OwnerSection], path: str) -> tuple[OwnerGroup, ...]:
    """Return the groups whose approval a change of a file needs; where all are optional, one of
    all owners.
    """
    groups: list[OwnerGroup] = []
    for section in sections:
        owners = frozenset(map(str.casefold, section.owners_of(path)))
        if owners and section.needed:
            groups.append(OwnerGroup(owners, section.needed))

    if groups:
        return tuple(groups)

    everyone = frozenset(map(str.casefold, owners_of_file(sections, path)))
    if everyone:
        return (OwnerGroup(everyone, 0),)

    return ()


def _line(text: str, defaults: tuple[str, ...]) -> OwnerLine | None:
    match = _LINE.fullmatch(text)
    if match is None or match[1].startswith("#"):
        return None

    is_exclusion = match[1].startswith("!")
    glob = _glob(match[1].removeprefix("!"))
    if glob is None:
        return None

    owners = _owners_in(match[2] or "") or defaults
    return OwnerLine(glob, owners, is_exclusion)


def _owners_in(text: str) -> tuple[str, ...]:
    words = text.partition("#")[0].split()
    return tuple(word for word in words if "@" in word)


def _glob(pattern: str) -> Glob | None:
    text = pattern.replace("\\ ", " ")
    is_anchored = text.startswith("/") or "/" in text.removesuffix("/")
    text = text.removeprefix("/") if is_anchored else f"**/{text}"

    if text.endswith("/"):
        text += "**"
    elif not text.rpartition("/")[2].startswith("*"):
        text = f"{{{text},{text}/**}}"  # the path may be a file or a folder

    glob = parse_glob(text)
    if isinstance(glob, Glob) and not glob.exclude:
        return glob

    return None
