"""Manifests: the packages that a project says it depends on, each with its place and its group.

Everything that asks what a project depends on reads it here. A new manifest is a row of
`manifests.yaml`, or a reader and a line of `_READERS`.
"""

import ast
import configparser
import json
import posixpath
import re
from bisect import bisect_left
from collections import defaultdict, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cache, lru_cache
from typing import Any, NamedTuple

from orbit_registry.formats.position import YamlProblemError
from orbit_registry.formats.syntax import comments_and_strings
from orbit_registry.formats.toml import load_toml
from orbit_registry.formats.yaml import load, table_of


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
    """As the manifest calls it: `dev`, `build`, the name of an extra; empty: needed to run;
    `ADDRESS` of a name that the package has where it comes from.
    """


class _Named(NamedTuple):
    """A package as a reader yields it: its name, and the text that has it."""

    name: str
    spelling: str
    table: str = ""
    """Of a key: the last word of the table that has it, by which its place is known."""
    group: str = ""


_Names = Iterator[_Named]

ADDRESS = "address"
"""The group of a name in the address of a package, which has another one here."""
_REQUIREMENT = re.compile(r"\s*([A-Za-z0-9][\w.-]*)")
_NAME_ALONE = re.compile(r"\s*(?![a-z]+:/)(@?[A-Za-z][\w./:@-]*)\s*")
"""An example of a check; no manifest is a name alone."""

_TOML_KEY = re.compile(
    r"""(?m)^[ \t]*(?:\[\[?(?P<table>[^\]\n]*)\]|(?P<key>"[^"\n]+"|'[^'\n]+'|[\w-]+)[ \t]*[.=])"""
)
_JSON_KEY = re.compile(r'(?P<text>"(?:\\[\s\S]?|[^"\\])*+"?)(?P<colon>\s*+:)?|[{}]')
"""A text without an end goes up to the end of the file, so that nothing is read twice."""
_LONGEST_LINE = 500
"""Characters ahead of a name, and after it, that say whether it is for tests."""
_MOST_UNPLACED = 1_000
"""Names whose spelling is not where it is expected; those beyond have no place."""


def is_manifest(path: str) -> bool:
    """Say whether a file has the name of a manifest that can be read here."""
    return _reader(path) is not None


def is_requirements(path: str) -> bool:
    """Say whether a file has the name of requirements or constraints, as pip reads them."""
    return path.lower().endswith((".txt", ".in")) and _reader(path) in (_requirements, _constraints)


def dependencies(path: str, text: str) -> Iterator[Dependency]:
    """Yield the packages that a manifest names; none of a file that is no manifest.

    Raises:
        ManifestError: It can't be parsed.
    """
    names = list(_names(path, text))
    if not names:
        return

    offset = unplaced = 0
    keys = _keys_by_table(path, text)
    ends = [match.start() for match in re.finditer("\n", text)]
    for name, spelling, table, group in names:
        if starts := keys[table, spelling]:
            start = starts.popleft()
        elif unplaced < _MOST_UNPLACED:
            start = text.find(spelling, offset)
            unplaced += start < 0
            offset = start = start if start >= 0 else max(text.find(spelling), 0)
        else:
            start = 0

        yield Dependency(name, spelling, start, bisect_left(ends, start) + 1, group)


_SCRIPT_HEADER = re.compile(
    r"(?m)^# /// script[ \t]*\n(?P<lines>(?:#(?: [^\n]*)?\n)*?)^# ///[ \t]*$"
)


def script_dependencies(text: str) -> Iterator[tuple[str, int]]:
    """Yield the packages that the header of a script of Python names, each with its line."""
    header = _SCRIPT_HEADER.search(text)
    if header is None:
        return

    lines = re.sub(r"(?m)^# ?", "", header["lines"])
    try:
        names = list(_requirement(load_toml(lines).get("dependencies")))
    except ValueError:
        return

    for name, spelling, *_ in names:
        at = text.find(spelling, header.start())
        yield name, text.count("\n", 0, max(at, header.start())) + 1


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
                keys[table, match["text"].replace("\\/", "/")].append(match.start())

    return keys


def _names(path: str, text: str) -> _Names:
    reader = _reader(path)
    if reader is None:
        return

    if match := _NAME_ALONE.fullmatch(text):
        yield _Named(match[1], match[1])
        return

    try:
        for row in reader(text):
            if not all(isinstance(value, str) for value in row):
                raise TypeError("a name of a package is a text")

            yield row
    except (
        ValueError,
        AttributeError,
        IndexError,
        KeyError,
        MemoryError,  # Python's parser, of an expression that is too deep
        TypeError,
        RecursionError,
        SyntaxError,
        configparser.Error,
        YamlProblemError,
    ):
        raise ManifestError("the manifest can't be parsed") from None


@lru_cache(maxsize=100_000)  # several checks ask it of each file
def _reader(path: str) -> Callable[[str], _Names] | None:
    folder, _, name = path.lower().rpartition("/")
    if folder.rpartition("/")[2] == "requirements" and name.endswith((".txt", ".in")):
        return _requirements

    for pattern, reader in _readers().items():
        if re.fullmatch(pattern, name):
            return reader

    return None


def _requirement(texts: Any, group: str = "") -> _Names:
    for text in texts if isinstance(texts, list) else ():
        if isinstance(text, str) and (match := _REQUIREMENT.match(text)):
            yield _Named(match[1], text, group=group)
            address = text.partition("@")[2].partition(";")[0].strip()
            yield from _in_address(match[1], address, text)


_MOVED = re.compile(r"/(?:-/)?(?:archive|releases|tarball|tree|zipball)/.*|/-/[^/]*$|[?#].*")
"""What follows the name of a repository, or of a package, in an address."""
_ARCHIVE = re.compile(r"\.(?:git|tgz|zip|whl|tar(?:\.\w+)?)$")
_IS_ADDRESS = re.compile(
    r"(?:[a-z]+\+)?(?:https?|ssh|git|file|github|gitlab|bitbucket|link|portal):|git@|\.{0,2}/"
)


def _in_address(name: str, address: object, spelling: str, table: str = "") -> _Names:
    """Yield the name that a package has where it comes from, if that is another one."""
    if not isinstance(address, str) or not _IS_ADDRESS.match(address):
        return

    last = re.split("[/:]", _MOVED.sub("", address).rstrip("/"))[-1]
    there = _FILE_NAME.match(_ARCHIVE.sub("", last.partition("@")[0]))
    if there is not None and _compared(there[0]) != _compared(name):
        yield _Named(there[0], spelling, table, ADDRESS)


def _compared(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).casefold()


_COMPILED = re.compile(r"(?m)pip-compile|pip compile|^[ \t]+# via |--hash=")
_FROZEN = re.compile(r"(?i)#.*added by pip freeze")


def _requirements(text: str) -> _Names:
    """Yield the lines of requirements; those that a program worked out are indirect."""
    group = "indirect" if _COMPILED.search(text) else ""
    for line, first in joined_lines(text):
        if _FROZEN.match(line):
            group = "indirect"

        address = _ADDRESS.match(line)
        if address is not None:
            name = address["egg"] or _FILE_NAME.findall(address["file"])[0]
            yield _Named(name, name, group=group)
            yield from _in_address(name, address["place"], address["place"])
            continue

        local = _LOCAL.match(line)
        if local is not None:
            yield from _in_address("", local[1], local[1])
            continue

        for row in _requirement([line.partition("#")[0].strip()], group):
            yield row._replace(spelling=first.partition("#")[0].strip())


def _constraints(text: str) -> _Names:
    """Yield the lines of constraints: they say which version, and not that it is needed."""
    for row in _requirements(text):
        yield row._replace(group="indirect")


def joined_lines(text: str) -> Iterator[tuple[str, str]]:
    """Yield the lines of requirements as pip joins them, each with its first line in the text."""
    parts: list[str] = []
    first = ""
    for line in text.splitlines():
        if not parts:
            first = line

        is_comment = line.lstrip().startswith("#")
        if line.endswith("\\") and not is_comment:
            parts.append(line.strip("\\"))
            continue

        # A comment ends what is joined.
        parts.append(f" {line}" if is_comment and parts else line)
        yield "".join(parts), first
        parts = []

    if parts:
        yield "".join(parts), first


@lru_cache(maxsize=4_096)  # requirements that name each other are asked for many times
def _files_named(path: str, text: str) -> frozenset[str]:
    """Return the files of the project that requirements name by `-r` and `-c`."""
    folder = posixpath.dirname(path)
    files: set[str] = set()
    for line, _ in joined_lines(text):
        if not line.lstrip().startswith("-"):
            continue

        for match in _INCLUDED.finditer(line):
            file = match["quoted"] or match["plain"]
            if "://" not in file:
                files.add(posixpath.normpath(posixpath.join(folder, file)))

    # Files outside of the project are not of this change.
    return frozenset(file for file in files if not file.startswith(("/", "../"))) - {".", ".."}


_MOST_LEVELS = 20
"""Requirements that name requirements: those of a project do so two or three times."""


def files_included(
    requirements: Collection[str], read: Callable[[Iterable[str]], Mapping[str, str]]
) -> frozenset[str]:
    """Return the files that requirements name, and those that these name in turn; `read` returns
    the texts of files.
    """
    included: set[str] = set()
    seen: set[str] = set()
    waiting = {*requirements}
    for _ in range(_MOST_LEVELS):
        seen |= waiting
        includes: set[str] = set()
        for path, text in read(sorted(waiting)).items():
            includes |= _files_named(path, text)

        included |= includes
        waiting = includes - seen

    return frozenset(included)


_INCLUDED = re.compile(
    r"(?:^|(?<=\s))(?:-[rc]\s*|--(?:requirem[a-z]*|cons[a-z]*)(?:\s*=\s*|\s+))"
    r"(?:(?P<quote>[\"'])(?P<quoted>[^\"'\s][^\"']*)(?P=quote)|(?P<plain>[^\s\"'=#]\S*))"
)
"""Options of pip, which takes the start of a long one, too."""

_ADDRESS = re.compile(
    r"(?:-e\s+|--editable[ =])?"
    r"(?P<place>(?:git\+|https?:|file:)[^\s#]*/(?P<file>[A-Za-z0-9][^\s#/]*))"
    r"(?:#\S*?egg=(?P<egg>[\w.-]+))?"
)
"""A requirement that is an address: the name that it says, else the name of its file."""
_LOCAL = re.compile(r"\s*(?:-e\s+|--editable[ =])?(\.{1,2}/[^\s#;]+)")
_FILE_NAME = re.compile(r"[A-Za-z0-9]+(?:[_.-](?!git\b|\d|zip\b|tar\b|whl\b)[A-Za-z0-9]+)*")


def _setup_cfg(text: str) -> _Names:
    parser = configparser.RawConfigParser(strict=False)
    parser.read_string(text)
    for section, name, group in (
        ("options", "setup_requires", "build"),
        ("options", "install_requires", ""),
        ("options", "tests_require", "test"),
    ):
        yield from _lines(parser.get(section, name, fallback=""), group)

    if parser.has_section("options.extras_require"):
        for group, value in parser.items("options.extras_require"):
            yield from _lines(value, group)


def _lines(value: str, group: str = "") -> _Names:
    texts = [line.partition("#")[0].strip() for line in re.split(r"[\n;]", value)]
    yield from _requirement([text for text in texts if text], group)


def _setup_py(text: str) -> _Names:
    groups = {
        "install_requires": "",
        "setup_requires": "build",
        "tests_require": "test",
        "extras_require": "extra",
    }
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.keyword) or node.arg not in groups:
            continue

        # Of extras the keys name the extra.
        value = node.value
        parts = value.values if isinstance(value, ast.Dict) else [value]
        for part in parts:
            texts = [row.value for row in ast.walk(part) if isinstance(row, ast.Constant)]
            yield from _requirement(texts, groups[node.arg])


_GEM = re.compile(
    r"\s*(?:group\s*\(?(?P<group>[^#]*?)\)?\s*do\b|(?P<end>end\b)"
    r"|gem[ \t(]+(?P<text>['\"](?P<name>[\w.-]+)['\"])(?P<tail>.*))"
)
_GEM_GROUP = re.compile(r":groups?\s*=>|groups?:")


def _gemfile(text: str) -> _Names:
    """Yield the gems, each with the first group of its block or its line."""
    block = ""
    for line in _without_comments("a.rb", text).splitlines():
        match = _GEM.match(line)
        if match is None:
            continue
        if match["name"] is None:
            block = match["group"] or ""
            continue

        _, *tail = _GEM_GROUP.split(match["tail"])
        groups = re.findall(r"\w+", tail[0] if tail else block)
        yield _Named(match["name"], match["text"], group=groups[0] if groups else "")


def _conda(text: str) -> _Names:
    data = load(text)
    entries = data.get("dependencies", []) if isinstance(data, dict) else []
    for entry in entries:
        if isinstance(entry, dict):
            yield from _requirement(entry.get("pip"))
        else:
            yield _Named(str(entry).rpartition("::")[2].split("=")[0].split(" ")[0], str(entry))


def _deno(text: str) -> _Names:
    data = json.loads(_without_comments("a.ts", text))
    for table in (data.get("imports", {}), *data.get("scopes", {}).values()):
        for value in table.values():
            match = _SPECIFIER.match(str(value))
            if match is not None:
                yield _Named(match[1], json.dumps(value, ensure_ascii=False))


_SPECIFIER = re.compile(r"(?:npm:|jsr:|https?://[^/]+/(?:npm/|x/|v\d+/)?)/?(@?[^@?]+)")


def _pom(text: str) -> _Names:
    for block in _without_comments("a.xml", text).split("<dependency>")[1:]:
        block, end, _ = block.partition("</dependency>")
        if not end:
            continue

        group = re.search(r"<groupId>\s*([^<\s]+)", block)
        artifact = re.search(r"<artifactId>\s*([^<\s]+)", block)
        if artifact is not None:
            name = f"{group[1]}:{artifact[1]}" if group is not None else artifact[1]
            scope = re.search(r"<scope>\s*([^<\s]+)", block)
            tested = "test" if scope is not None and scope[1] == "test" else ""
            yield _Named(name, artifact[0], group=tested)


def _catalogue(text: str) -> _Names:
    for value in load_toml(text).get("libraries", {}).values():
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


_FOR_TESTS = re.compile(
    r"\b(?:androidTest|test|kapt|ksp|detekt)[A-Z(]\w*|development_dependency|PrivateAssets="
    r"|only:\s*\[?\s*:(?:dev|test)|%\s*\"?[Tt]est\b"
)
"""A line whose package is for those who work on the project: of Gradle, Ruby, .NET, Elixir, sbt."""


_Row = Mapping[str, Any]
_PARSERS: Mapping[str, Callable[[str], Any]] = {"json": json.loads, "toml": load_toml, "yaml": load}


def _by_tables(row: _Row) -> Callable[[str], _Names]:
    """Return a reader of the keys of tables, and of the entries of lists, that a row names."""

    def read(text: str) -> _Names:
        data = _PARSERS[row["parser"]](text)
        for path, group in row.get("requirements", {}).items():
            for star, texts in _values_at(data, path):
                yield from _requirement(texts, group.replace("*", star))

        for path, group in row.get("names", {}).items():
            for _, entries in _values_at(data, path):
                for entry in entries:
                    name = entry["name"] if isinstance(entry, dict) else entry
                    yield _Named(name, _spelled(row, name), group=group)

        for path, group in row.get("keys", {}).items():
            table = path.rpartition("/")[2]
            for star, entries in _values_at(data, path):
                for key in entries:
                    name = _alias(row, entries[key]) or key
                    spelling = _spelled(row, key)
                    yield _Named(name, spelling, table, group.replace("*", star))
                    for address in _addresses(row, entries[key]):
                        yield from _in_address(name, address, spelling, table)

    return read


def _values_at(data: Any, path: str, star: str = "") -> Iterator[tuple[str, Any]]:
    """Yield what a path leads to, each with the name that `*` is."""
    name, _, below = path.partition("/")
    for key, value in data.items() if name == "*" else [(star, data.get(name))]:
        if value and below:
            yield from _values_at(value, below, key)
        elif value:
            yield key, value


def _alias(row: _Row, value: object) -> Any:
    """Return the package that a key is an alias of; None if it is none."""
    if isinstance(value, dict):
        return value.get(row.get("package"))

    alias = re.match(row["alias"], value) if "alias" in row and isinstance(value, str) else None
    if alias:
        return alias[1]

    return None


_PLACES = ("git", "url", "path", "github", "file")


def _addresses(row: _Row, value: object) -> Iterator[str]:
    """Yield the addresses in the value of a key of a table."""
    for part in value if isinstance(value, list) else [value]:
        if isinstance(part, Mapping):
            places = (part[place] for place in _PLACES if place in part)
            yield from (_with_scheme(place) for place in places if isinstance(place, str))
        elif isinstance(part, str):
            # A text of this form may as well be a branch.
            is_place = "address" in row and re.match(row["address"], part)
            yield _with_scheme(part) if is_place else part


def _with_scheme(place: str) -> str:
    if _IS_ADDRESS.match(place):
        return place

    return f"file:{place}"


def _spelled(row: _Row, name: str) -> str:
    if row["parser"] == "json":
        return json.dumps(name, ensure_ascii=False)

    return name


def _by_regex(row: _Row) -> Callable[[str], _Names]:
    """Return a reader of what the pattern of a row finds outside of comments."""
    compiled = re.compile(row["finds"])
    syntax = f"a.{row.get('comments', '')}"

    def read(text: str) -> _Names:
        plain = _without_comments(syntax, text)
        for match in compiled.finditer(plain):
            name = ":".join(group for group in match.groups() if group)
            is_for_tests = _FOR_TESTS.search(_line_around(plain, match)) is not None
            yield _Named(name, match[match.lastindex or 0], group="test" if is_for_tests else "")

    return read


def _line_around(text: str, match: re.Match[str]) -> str:
    start = max(match.start(1) - _LONGEST_LINE, 0)
    before = text[start : match.start(1)].rpartition("\n")[2]
    after = text[match.end() : match.end() + _LONGEST_LINE].partition("\n")[0]
    return f"{before}{text[match.start(1) : match.end()]}{after}"


def _without_comments(syntax: str, text: str) -> str:
    """Return a text with blanks for its comments; `syntax` is a file name that has such."""
    parts, last = [], 0
    for start, end, what in comments_and_strings(syntax, text):
        if what == "comment":
            parts += [text[last:start], re.sub(r"\S", " ", text[start:end])]
            last = end

    return "".join((*parts, text[last:]))


_READERS: Mapping[str, Callable[[str], _Names]] = {
    r"(.*[-_.])?requirements([-_.].*)?\.(txt|in)": _requirements,
    r"(.*[-_.])?constraints([-_.].*)?\.(txt|in)": _constraints,
    r"go\.mod": _go_mod,
    r".*\.versions\.toml": _catalogue,
    r"pom\.xml": _pom,
    r"setup\.cfg": _setup_cfg,
    r"setup\.py": _setup_py,
    r"(.*[-_.])?environment([-_.].*)?\.ya?ml|conda\.ya?ml": _conda,
    r"gemfile|gems\.rb": _gemfile,
    r"deno\.jsonc?|import_map\.json": _deno,
}


@cache
def _readers() -> Mapping[str, Callable[[str], _Names]]:
    """Return the readers by the pattern of a manifest's name in lower case."""
    readers = dict(_READERS)
    for row in table_of(__file__, "manifests.yaml"):
        readers[row["files"]] = _by_tables(row) if "parser" in row else _by_regex(row)

    return readers
