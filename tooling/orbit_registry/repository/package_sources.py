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
_PACKAGE = re.compile(r"(?i)orbit[-_.]registry")
_OF_PACKAGE = re.compile(r"(?i)\s*orbit[-_.]registry\s*(?:$|[\[(<>=!~@;])")
"""A requirement of Orbit."""
_EXTRAS = "project.entry-points.orbit_registry"
"""The tables of what Orbit loads where the project is installed."""
_PLACE = re.compile(
    r"(?i)(?:^|\.)(?:(?:default-|extra-)?index(?:-urls?)?|no-index|index-strategy|find-links"
    r"|channels?|source|registry)(?:\.|$)"
)
"""The name of a setting that says where packages come from."""
_OF_TOOL = re.compile(r"tool\.(?:uv|poetry|pdm|pixi)\.")
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


def package_sources(path: str, text: str, rows: Collection[Row]) -> Iterator[Row]:
    """Yield what in a file says where packages come from, and which Orbit is installed."""
    if is_requirements(path):
        for line, _ in joined_lines(text):
            requirement = " ".join(_COMMENT.sub("", line).split())
            if _OPTION.match(requirement) or _PACKAGE.search(requirement):
                yield (0,), requirement
    elif is_installer(path) or is_lock(path) or _PACKAGE.search(text):
        yield from _of_rows(path, rows)


def _of_rows(path: str, rows: Collection[Row]) -> Iterator[Row]:
    entries = {_entry(names) for names, text in rows if _names_package(names, text)}
    explicit = {_entry(names) for names, text in rows if _is_explicit(names, text)}
    for names, text in rows:
        if len(names) == 1:
            is_option = is_installer(path) and _OPTION.match(text)
            if is_option or _OF_PACKAGE.match(text) or _SET_VARIABLE.search(text):
                yield names, text
            continue

        words = [name for name in names if isinstance(name, str)]
        is_of_package = any(map(_PACKAGE.fullmatch, words)) or _is_within(names, entries)
        is_place = _is_place(path, ".".join(words)) and not _is_within(names, explicit)
        if is_of_package or is_place or _OF_PACKAGE.match(text):
            yield names, text


def _is_place(path: str, key: str) -> bool:
    if is_lock(path):
        return key.endswith("source.registry")
    if not path.endswith("pyproject.toml"):
        return _PLACE.search(key) is not None

    is_of_tool = _OF_TOOL.match(key) is not None and _PLACE.search(key) is not None
    return is_of_tool or key.startswith(_EXTRAS)


def _entry(names: Names) -> Names:
    """Return the entry that a value belongs to: without its own name and the number of its line."""
    return names[:-2]


def _names_package(names: Names, text: str) -> bool:
    """Say whether a value names the package that an entry of a lock is about."""
    is_entry = len(names) > 2 and names[-2] == "name" and names[:-2] != ("project",)
    return is_entry and _PACKAGE.fullmatch(text) is not None


def _is_explicit(names: Names, text: str) -> bool:
    """Say whether an index is only for the packages that name it."""
    return names[-2:-1] in (("explicit",), ("priority",)) and text in ("True", "explicit")


def _is_within(names: Names, entries: Collection[Names]) -> bool:
    return any(names[:end] in entries for end in range(len(names)))
