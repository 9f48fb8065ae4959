"""Manifests: the packages that a project says it depends on, each with its place and its group.

Everything that asks what a project depends on reads it here. A new manifest is a reader and a line
of `_READERS`.
"""

import json
import re
import tomllib
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from orbit_registry.formats.syntax import comments_and_strings


class ManifestError(Exception):
    """A manifest can't be parsed; its own tool would refuse it too."""


class Dependency(NamedTuple):
    """A package that a manifest names, with the text that names it."""

    name: str
    spelling: str
    start: int
    """The offset of the spelling."""
    line: int
    group: str
    """As the manifest calls it: `dev`, `build`, the name of an extra; empty: needed to run."""


class _Named(NamedTuple):
    """A package as a reader yields it: its name, and the text that has it."""

    name: str
    spelling: str
    table: str = ""
    """Of a key: the last word of the table that has it, by which its place is known."""
    group: str = ""


_Names = Iterator[_Named]

_REQUIREMENT = re.compile(r"\s*([A-Za-z0-9][\w.-]*)")
_NAME_ALONE = re.compile(r"\s*(@?[A-Za-z][\w./:@-]*)\s*")
"""An example of a check; no manifest is a name alone."""

_TOML_KEY = re.compile(
    r"""(?m)^[ \t]*(?:\[\[?(?P<table>[^\]\n]*)\]|(?P<key>"[^"\n]+"|'[^'\n]+'|[\w-]+)[ \t]*[.=])"""
)
_JSON_KEY = re.compile(r'(?P<text>"(?:\\.|[^"\\])*")(?P<colon>\s*:)?|[{}]')


def is_manifest(path: str) -> bool:
    """Say whether a file has the name of a manifest that can be read here."""
    return _reader(path) is not None


def dependencies(path: str, text: str) -> Iterator[Dependency]:
    """Yield the packages that a manifest names; none of a file that is no manifest.

    Raises:
        ManifestError: It can't be parsed.
    """
    offset = 0
    keys = _keys_by_table(path, text)
    for name, spelling, table, group in _names(path, text):
        if starts := keys[table, spelling]:
            start = starts.popleft()
        else:
            start = text.find(spelling, offset)
            offset = start = start if start >= 0 else max(text.find(spelling), 0)

        yield Dependency(name, spelling, start, text.count("\n", 0, start) + 1, group)


def _keys_by_table(path: str, text: str) -> defaultdict[tuple[str, str], deque[int]]:
    """Return where a TOML or JSON manifest has the keys of its tables,
    by the last word of a table and the key.
    """
    keys: defaultdict[tuple[str, str], deque[int]] = defaultdict(deque)
    table, depth = "", 0
    if path.lower().endswith(".toml"):
        for match in _TOML_KEY.finditer(text):
            if match["table"] is None:
                keys[table, match["key"].strip("\"'")].append(match.start("key"))
                continue
            above, _, table = match["table"].strip().rpartition(".")
            keys[above.rpartition(".")[2], table.strip("\"'")].append(match.end() - 1 - len(table))
    elif path.lower().endswith(".json"):
        for match in _JSON_KEY.finditer(text):
            depth += (match[0] == "{") - (match[0] == "}")
            if match["colon"] and depth == 1:
                table = match["text"][1:-1]
            elif match["colon"] and depth == 2:
                keys[table, match["text"]].append(match.start())

    return keys


def _names(path: str, text: str) -> _Names:
    reader = _reader(path)
    if reader is None:
        return

    if match := _NAME_ALONE.fullmatch(text):
        yield _Named(match[1], match[1])
        return

    try:
        yield from reader(text)
    except (ValueError, AttributeError, KeyError, TypeError, RecursionError):
        raise ManifestError("the manifest can't be parsed") from None


@lru_cache(maxsize=100_000)  # several checks ask it of each file
def _reader(path: str) -> Callable[[str], _Names] | None:
    folder, _, name = path.lower().rpartition("/")
    if folder.rpartition("/")[2] == "requirements" and name.endswith((".txt", ".in")):
        return _requirements

    for pattern, reader in _READERS.items():
        if re.fullmatch(pattern, name):
            return reader

    return None


def _requirement(texts: Any, group: str = "") -> _Names:
    for text in texts if isinstance(texts, list) else ():
        if isinstance(text, str) and (match := _REQUIREMENT.match(text)):
            yield _Named(match[1], text, group=group)


def _pyproject(text: str) -> _Names:
    data: Mapping[str, Any] = tomllib.loads(text)
    project = data.get("project", {})
    yield from _requirement(project.get("dependencies"))
    yield from _requirement(data.get("build-system", {}).get("requires"), "build")

    for tables in (project.get("optional-dependencies", {}), data.get("dependency-groups", {})):
        for group, texts in tables.items():
            yield from _requirement(texts, group)

    poetry = data.get("tool", {}).get("poetry", {})
    for group, table in (("", poetry), *poetry.get("group", {}).items()):
        for key in table.get("dependencies") or ():
            yield _Named(key, key, "dependencies", group)
        for key in table.get("dev-dependencies") or ():
            yield _Named(key, key, "dev-dependencies", "dev")


_EGG = re.compile(r"[#&]egg=([\w.-]+)")
_ADDRESS = re.compile(r"(?:-e\s+|--editable[ =])?(?:[a-z]+\+)?[a-z]+://")
_COMPILED = re.compile(r"(?m)pip-compile|pip compile|^\s+# via |--hash=")
_FROZEN = re.compile(r"(?i)#.*added by pip freeze")


def _requirements(text: str) -> _Names:
    """Yield the lines of requirements; those that a program worked out are indirect."""
    group = "indirect" if _COMPILED.search(text) else ""
    for line in text.splitlines():
        if _FROZEN.match(line):
            group = "indirect"

        plain = line.partition("#")[0].strip()
        if not _ADDRESS.match(plain):
            yield from _requirement([plain], group)
        elif egg := _EGG.search(line):
            yield _Named(egg[1], egg[1], group=group)


def _package_json(text: str) -> _Names:
    data = json.loads(text)
    for group, table in (
        ("", "dependencies"),
        ("dev", "devDependencies"),
        ("peer", "peerDependencies"),
        ("optional", "optionalDependencies"),
    ):
        for key, value in data.get(table, {}).items():
            alias = re.match(r"npm:(@?[^@]+)", value) if isinstance(value, str) else None
            name = alias[1] if alias else key
            yield _Named(name, json.dumps(key, ensure_ascii=False), table, group)


def _cargo(text: str) -> _Names:
    data: Mapping[str, Any] = tomllib.loads(text)
    for table in (data, data.get("workspace", {}), *data.get("target", {}).values()):
        for group, name in (
            ("", "dependencies"),
            ("dev", "dev-dependencies"),
            ("build", "build-dependencies"),
        ):
            for key, value in table.get(name, {}).items():
                package = value.get("package", key) if isinstance(value, dict) else key
                yield _Named(package, key, name, group)


def _catalogue(text: str) -> _Names:
    for value in tomllib.loads(text).get("libraries", {}).values():
        if isinstance(value, str):
            yield _Named(":".join(value.split(":")[:2]), value)
        else:
            name = value.get("module") or f"{value['group']}:{value['name']}"
            yield _Named(name, value.get("module") or value["name"])


def _go_mod(text: str) -> _Names:
    for match in _GO_MODULE.finditer(text):
        yield _Named(match[1], match[1], group="indirect" if match[2] else "")


_GO_MODULE = re.compile(
    r"(?m)^(?:require)?[ \t]+([\w.-]+\.[\w.-]+/\S+) v[^\s/]*(?:[ \t]*(//[ \t]*indirect))?"
)


def _by_regex(pattern: str, syntax: str = "") -> Callable[[str], _Names]:
    """Return a reader of what a pattern finds outside of comments;
    `syntax` is a file name that has such comments.
    """
    compiled = re.compile(pattern)

    def read(text: str) -> _Names:
        parts, last = [], 0
        for start, end, what in comments_and_strings(syntax, text):
            if what == "comment":
                parts += [text[last:start], re.sub(r"\S", " ", text[start:end])]
                last = end

        for match in compiled.finditer("".join((*parts, text[last:]))):
            name = ":".join(group for group in match.groups() if group)
            yield _Named(name, match[match.lastindex or 0])

    return read


_READERS: Mapping[str, Callable[[str], _Names]] = {
    r"pyproject\.toml": _pyproject,
    r"(.*[-_.])?requirements([-_.].*)?\.(txt|in)": _requirements,
    r"package\.json": _package_json,
    r"cargo\.toml": _cargo,
    r"go\.mod": _go_mod,
    r".*\.versions\.toml": _catalogue,
    r".*\.gradle(\.kts)?": _by_regex(r"['\"]([\w.-]+:[\w.-]+)(?::[^'\"\n]*)?['\"]", "a.gradle"),
    r"pom\.xml": _by_regex(
        r"<dependency>\s*<groupId>\s*([^<\s]+)\s*</groupId>\s*<artifactId>\s*"
        r"([^<\s]+)\s*</artifactId>",
        "a.xml",
    ),
    r".*\.sbt": _by_regex(r"\"([\w.-]+)\"\s*%{1,3}\s*\"([\w.-]+)\"\s*%", "a.sbt"),
    r".*\.csproj|directory\.packages\.props": _by_regex(
        r"<Package(?:Reference|Version)\s+Include=\"([^\"]+)\"", "a.xml"
    ),
}
"""Readers by the pattern of a manifest's name in lower case."""
