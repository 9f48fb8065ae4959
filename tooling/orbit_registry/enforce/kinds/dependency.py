"""Kind `dependency`: what the manifests of a project name."""

import json
import re
import tomllib
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from orbit_registry.enforce.kind import (
    WORDS,
    CheckKind,
    Fields,
    Finder,
    Match,
    UnreadableError,
    match_at,
)
from orbit_registry.enforce.kinds.path import parse
from orbit_registry.formats.globs import Glob, matches
from orbit_registry.formats.syntax import comments_and_strings

Names = Iterator[
    tuple[str, str, str]
]  # names of packages, each with its text and, for a key, the table that has it
_REQUIREMENT = re.compile(r"\s*([A-Za-z0-9][\w.-]*)")
_NAME_ALONE = re.compile(r"\s*(@?[A-Za-z][\w./:@-]*)\s*")  # an example; no manifest is a name alone


def _make(fields: Fields, must: str) -> Finder:
    globs = [parse(_plain(text)) for text in fields.get("of") or fields["only"]]

    def find(path: str, text: str) -> Iterator[Match]:
        for name, spelling, start in _located(path, text):
            if any(_is_named(glob, _plain(name)) for glob in globs) == ("of" in fields):
                yield match_at(text, start, start + len(spelling))._replace(
                    text=name, lines=_plain(name)
                )

    return Finder(find, lambda path: _reader(path) is not None)


def _located(path: str, text: str) -> Iterator[tuple[str, str, int]]:
    """Yield the packages that a manifest names, each with its text and the offset of that."""
    offset = 0
    keys = _keys_by_table(path, text)
    for name, spelling, table in _names(path, text):
        if starts := keys[table, spelling]:
            start = starts.popleft()
        else:
            start = text.find(spelling, offset)
            offset = start = start if start >= 0 else max(text.find(spelling), 0)

        yield name, spelling, start


def manifest_names(path: str, text: str) -> list[tuple[str, int]] | None:
    """Return the packages that a manifest names, each with its line; None of a file that is no
    manifest which is known here, or which can't be parsed.
    """
    if _reader(path) is None:
        return None

    try:
        rows = list(_located(path, text))
    except UnreadableError:
        return None

    return [(name, text.count("\n", 0, start) + 1) for name, _, start in rows]


_TOML_KEY = re.compile(
    r"""(?m)^[ \t]*(?:\[\[?(?P<table>[^\]\n]*)\]|(?P<key>"[^"\n]+"|'[^'\n]+'|[\w-]+)[ \t]*[.=])"""
)
_JSON_KEY = re.compile(r'(?P<text>"(?:\\.|[^"\\])*")(?P<colon>\s*:)?|[{}]')


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


def _is_named(glob: Glob, name: str) -> bool:
    """Say whether a glob names a package; one with a wildcard and no group is about the part after
    the group.
    """
    return matches(
        glob, name if "/" in glob.text or "*" not in glob.text else name.rpartition("/")[2]
    )


def _plain(name: str) -> str:
    """Return the form in which names are compared:
    case, `_` and the colon between group and artifact don't count.
    """
    return name.lower().replace("_", "-").replace(":", "/")


def _names(path: str, text: str) -> Names:
    reader = _reader(path)
    if reader is not None and (match := _NAME_ALONE.fullmatch(text)):
        yield match[1], match[1], ""
        return

    try:
        yield from reader(text) if reader else ()
    except (
        ValueError,
        AttributeError,
        KeyError,
        TypeError,
        RecursionError,
    ):  # its own tool would refuse it too
        raise UnreadableError("the manifest can't be parsed") from None


@lru_cache(maxsize=100_000)  # several checks ask it of each file
def _reader(path: str) -> Callable[[str], Names] | None:
    folder, _, name = path.lower().rpartition("/")
    if folder.rpartition("/")[2] == "requirements" and name.endswith((".txt", ".in")):
        return _requirements
    return next(
        (reader for pattern, reader in _READERS.items() if re.fullmatch(pattern, name)), None
    )


def _requirement(texts: Any) -> Names:
    for text in texts if isinstance(texts, list) else ():
        if isinstance(text, str) and (match := _REQUIREMENT.match(text)):
            yield match[1], text, ""


def _pyproject(text: str) -> Names:
    data: Mapping[str, Any] = tomllib.loads(text)
    project = data.get("project", {})
    yield from _requirement(project.get("dependencies"))
    yield from _requirement(data.get("build-system", {}).get("requires"))

    for group in (
        *project.get("optional-dependencies", {}).values(),
        *data.get("dependency-groups", {}).values(),
    ):
        yield from _requirement(group)

    poetry = data.get("tool", {}).get("poetry", {})
    for table in (poetry, *poetry.get("group", {}).values()):
        for name in ("dependencies", "dev-dependencies"):
            yield from ((key, key, name) for key in table.get(name) or ())


def _requirements(text: str) -> Names:
    yield from _requirement([line.partition("#")[0].strip() for line in text.splitlines()])


def _package_json(text: str) -> Names:
    data = json.loads(text)
    for table in ("dependencies", "devDependencies", "peerDependencies", "optionalDependencies"):
        for key, value in data.get(table, {}).items():
            alias = re.match(r"npm:(@?[^@]+)", value) if isinstance(value, str) else None
            yield (alias[1] if alias else key), json.dumps(key, ensure_ascii=False), table


def _cargo(text: str) -> Names:
    data: Mapping[str, Any] = tomllib.loads(text)
    for table in (data, data.get("workspace", {}), *data.get("target", {}).values()):
        for name in ("dependencies", "dev-dependencies", "build-dependencies"):
            for key, value in table.get(name, {}).items():
                yield (value.get("package", key) if isinstance(value, dict) else key), key, name


def _catalogue(text: str) -> Names:
    for value in tomllib.loads(text).get("libraries", {}).values():
        if isinstance(value, str):
            yield ":".join(value.split(":")[:2]), value, ""
        else:
            name = value.get("module") or f"{value['group']}:{value['name']}"
            yield name, value.get("module") or value["name"], ""


def _by_regex(pattern: str, syntax: str = "") -> Callable[[str], Names]:
    """Return a reader of what a pattern finds outside of comments;
    `syntax` is a file name that has such comments.
    """
    compiled = re.compile(pattern)

    def read(text: str) -> Names:
        parts, last = [], 0
        for start, end, what in comments_and_strings(syntax, text):
            if what == "comment":
                parts += [text[last:start], re.sub(r"\S", " ", text[start:end])]
                last = end

        for match in compiled.finditer("".join((*parts, text[last:]))):
            yield (
                ":".join(group for group in match.groups() if group),
                match[match.lastindex or 0],
                "",
            )

    return read


_READERS: Mapping[str, Callable[[str], Names]] = {
    r"pyproject\.toml": _pyproject,
    r"(.*[-_.])?requirements([-_.].*)?\.(txt|in)": _requirements,
    r"package\.json": _package_json,
    r"cargo\.toml": _cargo,
    r"go\.mod": _by_regex(r"(?m)^(?:require)?[ \t]+([\w.-]+\.[\w.-]+/\S+) v"),
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

KIND = CheckKind(
    name="dependency",
    properties={"of": WORDS, "only": WORDS},
    make=_make,
    forms=("of", "only"),
    demands=("of",),
    example_names=("requirements.txt", "package.json", "pyproject.toml"),
    needs_all=False,
    everywhere=lambda fields: True,
)
