"""Signs of a decision: what of a project looks like one, read from one file at a time.

A sign is a package, a service, a folder, a schema, a licence or a permission. A person decided on
it once; whether a record says so is another question.
"""

import posixpath
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from itertools import islice
from typing import Any

from orbit_registry.formats import yaml
from orbit_registry.formats.manifests import ADDRESS, ManifestError, dependencies, is_manifest
from orbit_registry.formats.position import YamlProblemError
from orbit_registry.formats.sources import Purpose, is_foreign, purposes
from orbit_registry.formats.syntax import language_of


class SignKind(StrEnum):
    """What a sign is."""

    DEPENDENCY = "dependency"
    SERVICE = "service"
    FOLDER = "folder"
    SCHEMA = "schema"
    LICENCE = "licence"
    PERMISSION = "permission"
    OWN = "own"
    """A name that the project gives to a package: depending on that is no decision."""


@dataclass(frozen=True, slots=True)
class Sign:
    """A sign, by the name that people use, and where a file has it."""

    kind: SignKind
    name: str
    path: str
    line: int = 0
    """0: the file itself."""
    group: str = ""
    """Of a dependency: as its manifest calls it, empty for what the project runs with."""


LONGEST_FILE = 1_000_000
"""Characters of a manifest that are read; a longer one is made by a program."""
MOST_OF_A_FILE = 500
"""Services or permissions of a file that are read; each costs a search for its line."""

_FOR_TESTS = re.compile(r"(?:^|[-_./])(?:dev|test|tests|lint|docs?|ci|typing|bench)(?=[-_./]|$)")
_MAY_HAVE_SCHEMAS = frozenset((Purpose.PROSE, Purpose.SPEC))

_NO_CODE = (None, "bash", "css", "html", "json", "markdown", "yaml")
"""Languages of files that make a folder no package."""

_COMPOSE = re.compile(r"(?:docker-)?compose[\w.-]*\.ya?ml|[\w.-]*docker-compose\.ya?ml")
_WORKFLOW = re.compile(r"(?:.*/)?\.(?:github|forgejo|gitea)/workflows/[^/]+\.ya?ml")
_PIPELINE = re.compile(r"(?:.*/)?(?:\.gitlab-ci[\w.-]*\.ya?ml|\.circleci/[^/]+\.ya?ml)")

_LICENCE_FILE = re.compile(r"(?:licen[cs]e|copying)(?:[.-](?:md|txt|rst|mit|apache[\w.-]*|bsd))?")
_PACKAGE_ENDS = (".csproj", ".fsproj", ".gemspec", ".gradle", ".gradle.kts", "mix.exs")
"""Ends of the other manifests that make a folder a package."""

_VARIABLE = re.compile(r"\$\{[^}]*\}|\$\w+")
_MERGE = re.compile(r"(?m)(?<=[ {])<<[ ]*:")
_TAG = re.compile(r"(?<=[:,\[-])[ ]+![\w!./-]*")


def has_text(path: str) -> bool:
    """Say whether a file's text may hold signs; of another file its path is enough."""
    if _is_aside(path):
        return False

    name = posixpath.basename(path).lower()
    if is_manifest(path) or _COMPOSE.fullmatch(name) or _LICENCE_FILE.fullmatch(name):
        return True

    return _WORKFLOW.fullmatch(path) is not None or _PIPELINE.fullmatch(path) is not None


def signs_in(path: str, text: str = "") -> list[Sign]:
    """Return the signs of a file; `text` may stay empty where `has_text` is false."""
    signs = list(_schemas(path))
    if _is_aside(path):
        return signs

    signs += _folders(path)
    if len(text) > LONGEST_FILE or not has_text(path):
        return signs

    name = posixpath.basename(path).lower()
    if is_manifest(path):
        signs += _packages(path, text)
    elif _LICENCE_FILE.fullmatch(name):
        signs += _licence(path, text)
    else:
        signs += islice(_services(path, text), MOST_OF_A_FILE)
        if _WORKFLOW.fullmatch(path):
            signs += islice(_permissions(path, text), MOST_OF_A_FILE)

    return signs


def _is_aside(path: str) -> bool:
    """Say whether a file is for tests, examples or readers, or is others' code."""
    return is_foreign(path) or bool(_purposes_of_folder(path))


def _purposes_of_folder(path: str) -> frozenset[Purpose]:
    # `requirements-test.txt` is for tests, but it is a manifest of the project.
    return purposes(path[: path.rfind("/") + 1])


def _schemas(path: str) -> Iterator[Sign]:
    lower = path.lower()
    if is_foreign(path) or _purposes_of_folder(path) - _MAY_HAVE_SCHEMAS:
        return

    for name, pattern in _patterns("schemas").items():
        if pattern.fullmatch(lower):
            yield Sign(SignKind.SCHEMA, name, path)
            return


def _folders(path: str) -> Iterator[Sign]:
    """Yield the folder at the top that has code, and the folder of a package."""
    folder = posixpath.dirname(path)
    if not folder or folder.startswith("."):
        return

    name = posixpath.basename(path).lower()
    is_package = name in _patterns("names") or name.endswith(_PACKAGE_ENDS)
    if is_package and folder.lower() not in _words("usual"):
        yield Sign(SignKind.FOLDER, folder, path)
        return

    top = folder.partition("/")[0]
    is_code = language_of(path) not in _NO_CODE
    if is_code and top.lower() not in _words("usual"):
        yield Sign(SignKind.FOLDER, top, path)


def _packages(path: str, text: str) -> Iterator[Sign]:
    name = posixpath.basename(path).lower()
    own = _patterns("names").get(name)
    match = own.search(text) if own is not None else None
    if match is not None:
        yield Sign(SignKind.OWN, match[1].strip(), path)

    # `requirements-dev.txt` has no groups: its name says it.
    is_for_tests = name.endswith((".txt", ".in")) and _FOR_TESTS.search(name) is not None
    try:
        for row in dependencies(path, text):
            if row.group == ADDRESS:
                continue

            is_aside = is_for_tests or row.group.lower() in _words("groups")
            group = (row.group or "dev") if is_aside else ""
            yield Sign(SignKind.DEPENDENCY, row.name, path, row.line, group)
    except ManifestError:
        return


def _licence(path: str, text: str) -> Iterator[Sign]:
    if "/" in path:
        return

    head = " ".join(text[:3_000].split())
    for name, pattern in _patterns("licences").items():
        if pattern.search(head):
            yield Sign(SignKind.LICENCE, name, path)
            return

    if head:
        yield Sign(SignKind.LICENCE, "its own terms", path)


def _services(path: str, text: str) -> Iterator[Sign]:
    """Yield the images of `services:`, and of CircleCI those after the first in `docker:`."""
    for value in _mappings(_yaml(text)):
        services = value.get("services")
        rows = list(services.values()) if isinstance(services, dict) else services
        rows = rows if isinstance(rows, list) else []
        docker = value.get("docker")
        if isinstance(docker, list):
            rows = [*rows, *docker[1:]]

        for row in rows:
            written = row.get("image", row.get("name")) if isinstance(row, dict) else row
            is_own = isinstance(row, dict) and "build" in row
            image = _image(written) if isinstance(written, str) and not is_own else ""
            if image:
                yield Sign(SignKind.SERVICE, image, path, _line_of(text, image))


def _image(written: str) -> str:
    """Return the name of an image without its registry, version and digest; empty for a variable.

    Of `${REGISTRY:-docker.io}/bitnami/redis:7@sha256:…` it is `bitnami/redis`.
    """
    name = _VARIABLE.sub("", written.partition("@")[0])
    host, slash, tail = name.partition("/")
    if slash and (not host or "." in host or ":" in host or host == "localhost"):
        name = tail

    name = name.removeprefix("library/").partition(":")[0]
    if re.fullmatch(r"[\w./-]*\w", name):
        return name

    return ""


def _permissions(path: str, text: str) -> Iterator[Sign]:
    """Yield what a workflow may write."""
    for value in _mappings(_yaml(text)):
        permissions = value.get("permissions")
        if permissions == "write-all":
            yield Sign(SignKind.PERMISSION, "write-all", path, _line_of(text, "write-all"))
        for name, access in permissions.items() if isinstance(permissions, dict) else ():
            if access == "write":
                yield Sign(SignKind.PERMISSION, f"{name}: write", path, _line_of(text, f"{name}:"))


def _yaml(text: str) -> object:
    """Return the value of a text whose merge keys and tags don't matter; None of broken YAML."""
    plain = _MERGE.sub("x-merge:", _TAG.sub(" ", text))
    try:
        return yaml.load(plain)
    except YamlProblemError:
        return None


def _mappings(value: object) -> Iterator[dict[str, Any]]:
    """Yield the mappings of a value, at any depth."""
    values = [value]
    while values:
        current = values.pop()
        if isinstance(current, dict):
            yield current
            values += reversed(current.values())
        elif isinstance(current, list):
            values += reversed(current)


def _line_of(text: str, word: str) -> int:
    start = text.find(word)
    if start < 0:
        return 0

    return text.count("\n", 0, start) + 1


@cache
def _words(name: str) -> frozenset[str]:
    return frozenset(str(_data()[name]).split())


@cache
def _patterns(name: str) -> Mapping[str, re.Pattern[str]]:
    flags = re.IGNORECASE if name == "licences" else 0
    return {key: re.compile(text, flags) for key, text in _data()[name].items()}


@cache
def _data() -> Mapping[str, Any]:
    data: Mapping[str, Any] = yaml.table_of(__file__, "signs.yaml")
    return data
