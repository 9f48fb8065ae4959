"""Folders of decisions that the configurations of other tools name: adr-tools, log4brains, adrs,
adrkit, adr-kit and their like.
"""

import posixpath
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

from orbit_registry.errors import OrbitError
from orbit_registry.formats import yaml
from orbit_registry.formats.position import YamlProblemError
from orbit_registry.workspace.files import inside, read_text

_LIMIT = 100_000
_PLAIN = ".adr-dir"
"""The file of adr-tools, whose text is the folder."""
_FILES = (
    ".log4brains.yml",
    ".log4brains.yaml",
    "adrs.toml",
    ".adrs.toml",
    ".adr.json",
    "adr.config.json",
    ".adrkit.yaml",
    ".adrkit.yml",
    ".adrkit.json",
    "adrkit.yaml",
    "adrkit.yml",
    "adrkit.json",
    "adrkit.config.json",
    ".adr-kit.yaml",
    ".adr-kit.yml",
    ".adr-kit.json",
    "adr-kit.yaml",
    "adr-kit.json",
    ".adr-kit/config.yaml",
    ".adr-kit/config.json",
    ".madr.yaml",
    ".madr.json",
)
_KEY = re.compile(
    r"(?:adrs?|decisions?|docs?)?[-_]?(?:dir|folder|path|directory|root|location)s?|adrs?|decisions",
    re.IGNORECASE,
)


def named_folders(root: Path) -> tuple[str, ...]:
    """Return the folders, from the root, that such files name and that are there."""
    folders = (posixpath.normpath(name.replace("\\", "/")) for name in _names(root) if name)
    return tuple(dict.fromkeys(folder for folder in folders if _is_folder(root, folder)))


def _is_folder(root: Path, folder: str) -> bool:
    try:
        path = inside(root, folder)
    except OrbitError:
        return False

    return folder != "." and path.is_dir() and not path.is_symlink()


def _names(root: Path) -> Iterator[str]:
    yield _text(root, _PLAIN).strip().partition("\n")[0].strip()

    for name in _FILES:
        text = _text(root, name)
        if text:
            yield from _folders_in(_data(name, text), 0)


def _text(root: Path, name: str) -> str:
    if not (root / name).is_file():
        return ""

    try:
        return read_text(inside(root, name), limit=_LIMIT)
    except OrbitError:
        return ""


def _data(name: str, text: str) -> object:
    try:
        if name.endswith(".toml"):
            return tomllib.loads(text)

        return yaml.load(text)
    except (tomllib.TOMLDecodeError, YamlProblemError, RecursionError):
        return None


def _folders_in(data: object, depth: int) -> Iterator[str]:
    """Yield the texts below keys that name a folder, such as `adrFolder`."""
    if depth > 4:  # a configuration is not that deep
        return

    if isinstance(data, list):
        for item in data:
            yield from _folders_in(item, depth + 1)

    for key, value in data.items() if isinstance(data, dict) else ():
        values = value if isinstance(value, list) else [value]
        if _KEY.fullmatch(str(key)):
            yield from (item for item in values if isinstance(item, str))

        yield from _folders_in(value, depth + 1)
