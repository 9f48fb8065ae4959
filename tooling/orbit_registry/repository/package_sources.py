"""What says where a project's packages come from, and so which Orbit is installed."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from orbit_registry.formats.manifests import is_requirements, joined_lines

Names = tuple[str | int, ...]
"""What leads to a value: names of mappings, numbers in lists and of lines."""
Row = tuple[Names, str]

_INSTALLERS = re.compile(
    r"(?:.*/)?(?:pip\.(?:conf|ini)|uv\.toml|poetry\.toml|\.?pdm\.toml|\.condarc)|pyproject\.toml"
)
"""Settings that an installer reads in the folder in which it runs."""
_LOCKS = re.compile(
    r"(?:.*/)?(?:(?:uv|poetry|pdm|pixi)\.lock|pylock(?:\.[\w-]+)?\.toml|Pipfile\.lock)"
)
_NAME = "orbit[-_.]registry"
PACKAGE = re.compile(rf"(?i)(?<![\w.-]){_NAME}(?!\w|-[a-z])")
"""The name of the package in a text."""
_OF_PACKAGE = re.compile(rf"(?i)\s*{_NAME}\s*(?:$|[\[(<>=!~@;])")
"""A requirement of Orbit."""
_OF_RELEASE_WORDS = "file git hash hashes index path ref revision sha256 source url version"
_OF_RELEASE = frozenset(_OF_RELEASE_WORDS.split())
"""What an entry of a lock says of a release; other words come and go with versions of a tool."""
_INDEX = r"(?:(?:default-|extra-)?index(?:-urls?)?|no-index|index-strategy|find-links)(?:\.|$)"
_PLACE = re.compile(rf"(?:.*\.)?(?:{_INDEX}|(?:channels|source)(?:\.|$))")
"""A setting of an installer's file that says where packages come from."""
_PLACES = {
    "pyproject.toml": re.compile(
        rf"tool\.uv\.(?:pip\.)?{_INDEX}|tool\.(?:poetry|pdm)\.source\b"
        r"|tool\.pixi\.(?:workspace|project)\.channels\b|project\.entry-points\.orbit_registry"
    ),
    "Pipfile": re.compile(r"source\b"),
    "environment.yml": re.compile(r"channels\b"),
    "environment.yaml": re.compile(r"channels\b"),
}
"""The same of a file that says much else; and what Orbit loads where a project is installed."""
_IN_ORDER = ("channels", "extra-index-url", "find-links", "url")
"""Places of which an installer takes the first that has a package."""
_OPTION = re.compile(
    r"(?i)\s*(?:-[if]\b|--(?:extra-?\w*|ind[\w-]*|no-ind\w*|find[\w-]*|trust[\w-]*)"
    r"|(?:extra-|no-)?index(?:-url)?\s*=|(?:find-links|trusted-host|constraint|requirement)\s*=)"
)
"""A line of requirements or of pip's settings that says where packages come from."""
_COMMENT = re.compile(r"(?:^|\s)#.*")
VARIABLE = (
    r"(?:PIP|UV|PDM|POETRY|PIPENV|CONDA)_\w*(?:CHANNEL|CONFIG|CONSTRAINT|FIND_LINKS|INDEX"
    r"|MIRROR|OVERRIDE|PREFIX|REPOS\w*|REQUIREMENT|SOURCE|TARGET|TRUSTED)\w*"
)
"""A variable that says where an installer finds packages, or where it puts them."""
_SET_VARIABLE = re.compile(rf"(?i)(?:^|[\s;&|\"'.])({VARIABLE})[\"']?\s*[:?]?=")


def is_installer(path: str) -> bool:
    """Say whether a file has settings that an installer reads where it runs."""
    return _INSTALLERS.fullmatch(path) is not None


def is_lock(path: str) -> bool:
    """Say whether a file says which releases are installed."""
    return _LOCKS.fullmatch(path) is not None


def requirement_rows(text: str) -> Iterator[Row]:
    """Yield the lines of requirements as pip joins them, without comments."""
    for line, _ in joined_lines(text):
        requirement = " ".join(_COMMENT.sub("", line).split())
        if requirement:
            yield (0,), requirement


def package_sources(path: str, text: str, rows: Collection[Row]) -> Iterator[Row]:
    """Yield what in a file says where packages come from, and which Orbit is installed."""
    if is_requirements(path):
        for names, requirement in rows:
            if _OPTION.match(requirement) or PACKAGE.search(requirement):
                yield names, requirement
    elif is_lock(path):
        yield from _of_lock(rows)
    elif is_installer(path) or PACKAGE.search(text):
        yield from _of_lines(path, rows)
        yield from _of_settings(path, rows)


def _of_lock(rows: Collection[Row]) -> Iterator[Row]:
    """Yield what a lock says of the release of Orbit; of others it says much that changes."""
    entries = {names[:-2] for names, text in rows if _names_package(names, text)}
    for names, text in rows:
        is_line = len(names) == 1 and PACKAGE.search(text)
        is_of_package = _has_package(names) or _is_within(names, entries)
        if is_line or (is_of_package and not _OF_RELEASE.isdisjoint(names)):
            yield names, text


def _names_package(names: Names, text: str) -> bool:
    return names[-2:-1] == ("name",) and _OF_PACKAGE.fullmatch(text) is not None


def _of_lines(path: str, rows: Collection[Row]) -> Iterator[Row]:
    """Yield the same of a file of which only lines can be read."""
    for names, text in rows:
        if len(names) > 1:
            continue

        is_option = is_installer(path) and _OPTION.match(text)
        if is_option or _OF_PACKAGE.match(text) or _SET_VARIABLE.search(text):
            yield names, text


def _of_settings(path: str, rows: Collection[Row]) -> Iterator[Row]:
    place = _PLACES.get(path.rpartition("/")[2], _PLACE if is_installer(path) else None)
    explicit = {names[:-2] for names, text in rows if _is_explicit(names, text)}
    places: list[str] = []
    for names, text in rows:
        if len(names) == 1:
            continue

        words = [name for name in names if isinstance(name, str)]
        is_named = place is not None and place.match(".".join(words)) is not None
        is_place = is_named and not _is_within(names, explicit)
        if is_place or _has_package(names) or _OF_PACKAGE.match(text):
            yield names, text
        if is_place and words[-1] in _IN_ORDER:
            places.append(text)

    if len(places) > 1:
        yield ("order", 0), " ".join(places)


def _has_package(names: Names) -> bool:
    return any(_OF_PACKAGE.fullmatch(str(name)) for name in names)


def _is_explicit(names: Names, text: str) -> bool:
    """Say whether an index is only for the packages that name it."""
    return names[-2:-1] in (("explicit",), ("priority",)) and text in ("True", "explicit")


def _is_within(names: Names, entries: Collection[Names]) -> bool:
    return any(names[:end] in entries for end in range(len(names)))
