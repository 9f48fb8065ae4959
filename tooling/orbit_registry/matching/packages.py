"""Packages that a decision is about: its title or its decision names them, and files import them.

It knows packages of others only: a module of the project is a folder, which a glob names better.
"""

import json
import posixpath
import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from itertools import zip_longest
from pathlib import Path

from orbit_registry.errors import OrbitError
from orbit_registry.formats.adr.sentence import section_of
from orbit_registry.formats.sources import SOURCE_LIMIT, is_readable_source
from orbit_registry.formats.syntax import language_of
from orbit_registry.model.record import Record
from orbit_registry.search.rejected import accepted_part, is_common_word
from orbit_registry.workspace.files import read_text
from orbit_registry.workspace.workspace import Workspace

LONGEST_DECISION = 1_500
"""Characters of a decision that are read for names; what it does is said in its first ones."""

SHORTEST = 3
"""Characters of a word of prose that may be a package: `JS` and `Go` are no package's name."""

_NODE = """
assert buffer child_process cluster console crypto dns events fs http http2 https module net os path
perf_hooks process querystring readline stream test timers tls tty url util v8 vm worker_threads
zlib
"""
_STANDARD_WORDS = {
    "rust": "alloc core crate self std super",
    "java": "java javax jdk sun",
    "kotlin": "java javax kotlin",
    "scala": "java javax scala",
    "csharp": "System Microsoft",
    "javascript": _NODE,
    "typescript": _NODE,
    "tsx": _NODE,
    "python": " ".join(sys.stdlib_module_names),
}
_STANDARD = {language: frozenset(words.split()) for language, words in _STANDARD_WORDS.items()}
"""First words of modules that belong to a language."""

_HOSTS = frozenset(("com", "org", "net", "io", "dev", "github", "gitlab", "bitbucket", "golang"))
"""First words of an import that say where it comes from."""

_SEPARATOR = re.compile(r"::|[./\\:]")
_WORD = re.compile(r"(?P<code>`[^`\n]+`)|(?P<scoped>@[\w.-]+/[\w.-]*\w)|[@\w][\w+#.-]*[\w+#]|\w")
_TAIL = re.compile(r"[.]?(?:js|py|rs)$")
_ADOPTING = re.compile(
    r"\b(?:adopt|adopting|choose|introduce|pick|switch to|migrate to|move to|use|uses|using)\s+",
    re.IGNORECASE,
)
"""The words before a package that is adopted, up to its name."""


@dataclass(frozen=True, slots=True)
class Package:
    """A package as `scope.uses` names it, how many files import it, and where the record does."""

    name: str
    files: int
    word: str
    place: str


@dataclass(frozen=True)
class Imports:
    """What the source files of a project import from elsewhere: the files of each full name."""

    workspace: Workspace
    sources: Sequence[str]
    tracked: Sequence[str]

    @cached_property
    def files(self) -> Mapping[str, set[str]]:
        """The files that import each name, as its language writes it."""
        rows = self.workspace.cache.files(
            f"imports {find_spec('ast_grep_py') is not None}",
            self.workspace.root,
            self.sources,
            _imports_in,
            limit=SOURCE_LIMIT,
        )

        files: defaultdict[str, set[str]] = defaultdict(set)
        for path, row in rows.items():
            for name in row.value or ():
                if not self._is_own(path, name):
                    files[name].add(path)

        return files

    @cached_property
    def by_word(self) -> Mapping[str, Mapping[str, set[str]]]:
        """By a word in lower case: the packages of that name, each with its files.

        A package is the part of an import up to the word: `github.com/redis/go-redis` of
        `github.com/redis/go-redis/v9`.
        """
        packages: defaultdict[str, dict[str, set[str]]] = defaultdict(dict)
        depths: dict[str, int] = {}
        for name, files in self.files.items():
            for depth, word, package in _words_of(name):
                # React is `react`, not `@storybook/react`.
                if depth < depths.get(word, depth + 1):
                    depths[word] = depth
                    packages[word].clear()
                if depth == depths[word]:
                    packages[word].setdefault(package, set()).update(files)

        return packages

    def _is_own(self, path: str, name: str) -> bool:
        """Say whether a name is a module of the project."""
        if any(name == own or name.startswith((f"{own}/", f"{own}.")) for own in self._own_names):
            return True

        parts = _parts(name)
        if language_of(path) == "python":
            return parts[0] in self._python_roots

        return len(parts) > 1 and "/".join(parts) in self._folder_ends

    @cached_property
    def _own_names(self) -> frozenset[str]:
        """The names that manifests give to the packages of the project."""
        names = {_manifest_name(self.workspace.root, path) for path in self.tracked}
        scopes = {name.partition("/")[0] for name in names if name.startswith("@")}
        return frozenset(names | scopes) - {""}

    @cached_property
    def _python_roots(self) -> frozenset[str]:
        """The modules of Python that are in no package."""
        folders = {posixpath.dirname(path) for path in self.sources if path.endswith(".py")}
        packages = {
            posixpath.dirname(path) for path in self.sources if path.endswith("/__init__.py")
        }

        roots: set[str] = set()
        for path in self.sources:
            if path.endswith(".py") and posixpath.dirname(path) not in packages:
                roots.add(posixpath.basename(path).removesuffix(".py"))

        for folder in folders:
            if posixpath.dirname(folder) not in packages:
                roots.add(posixpath.basename(folder))

        return frozenset(roots)

    @cached_property
    def _folder_ends(self) -> frozenset[str]:
        """Each end of each path, without an extension."""
        ends: set[str] = set()
        for path in self.sources:
            parts = posixpath.splitext(path)[0].split("/")
            for start in range(len(parts)):
                ends.add("/".join(parts[start:]))
                ends.add("/".join(parts[start:-1]))

        return frozenset(ends)


def packages_named(record: Record, imports: Imports) -> Iterator[Package]:
    """Yield the packages that a record's title names, or if it names none, its decision."""
    title = list(_named(accepted_part(record.title), "title", imports, is_title=True))
    if title:
        yield from title
        return

    ruled_out: set[str] = set()
    for option in record.rejected:
        ruled_out.update(option.option.lower().split())

    decision = section_of(record.prose, "decision")[:LONGEST_DECISION]
    sentences = re.split(r"(?<=[.!?])\s+|\n\s*\n", decision)
    text = "\n".join(accepted_part(sentence) for sentence in sentences)
    for package in _named(text, "decision", imports, is_title=False):
        if package.word.lower() not in ruled_out:
            yield package


def _named(text: str, place: str, imports: Imports, *, is_title: bool) -> Iterator[Package]:
    if not imports.by_word:
        return

    packages: dict[str, Package] = {}
    end = 0
    words = list(_WORD.finditer(text))
    adopted = {match.end() for match in _ADOPTING.finditer(text)}
    for match, following in zip_longest(words, words[1:]):
        if match.start() < end:
            continue

        word = match[0].strip("`")
        candidates: Mapping[str, set[str]] = {}
        if following is not None:
            # Of "React Query" it is the package of both words, if there is one.
            candidates = imports.by_word.get(f"{_plain(word)}-{_plain(following[0])}", {})

        if candidates and following is not None:
            end = following.end()
            word = text[match.start() : end]
        elif (
            match["code"]
            or match["scoped"]
            or _is_name(word, is_title=is_title, is_adopted=match.start() in adopted)
        ):
            candidates = imports.by_word.get(_plain(word), {})

        for name, files in candidates.items():
            packages.setdefault(name, Package(name, len(files), word, place))

    # `redis.asyncio` adds nothing to `redis`.
    for name, package in packages.items():
        if not any(name != other and _is_below(name, other) for other in packages):
            yield package


def _is_name(word: str, *, is_title: bool, is_adopted: bool) -> bool:
    """Say whether a word of prose may be a package: no usual word, or one that is adopted."""
    if len(word) < SHORTEST:
        return False
    if is_adopted:
        return True
    if is_common_word(word):
        return False

    # In running text a package is written as a name.
    return is_title or not word.islower()


def _is_below(name: str, other: str) -> bool:
    return name.startswith(other) and _SEPARATOR.match(name, len(other)) is not None


def _plain(word: str) -> str:
    """Return a word as names of packages are compared: `Next.js` is `next`."""
    return _TAIL.sub("", word.lower().replace("_", "-")).strip("@")


def _parts(name: str) -> list[str]:
    return [part for part in _SEPARATOR.split(name) if part]


def _words_of(name: str) -> Iterator[tuple[int, str, str]]:
    """Yield the words by which people call an import, each with how deep in the name it is, and
    with the package that it ends.
    """
    if name.startswith("@"):
        yield 0, _plain(name), name

    parts = _parts(name)
    if "/" in name and "." not in name.partition("/")[0]:
        # Below a package of Node, Ruby or C are its own files.
        is_scoped = name.startswith("@")
        parts = parts[: 1 + is_scoped]

    start = depth = 0
    for part in parts:
        end = name.index(part, start) + len(part)
        start = end
        word = _plain(part)
        if word in _HOSTS:
            continue

        # A go-redis is a client of Redis; but `react-query` is not React.
        words = {word, re.sub(r"^(?:go|py|node|lib)-|-(?:go|py|rs)$", "", word)}
        for each in words:
            yield depth, each, name[:end]

        depth += 1


def _imports_in(path: str, content: bytes) -> list[str]:
    """Return what the cache keeps of a file: the names that it imports from elsewhere."""
    if not is_readable_source(path, content):
        return []

    from orbit_registry.formats.imports import all_imports, code_language

    language = code_language(path) or ""
    standard = _STANDARD.get(language, frozenset())
    names: set[str] = set()
    for name in all_imports(path, content.decode("utf-8-sig", "replace")):
        first = _parts(name)[:1]
        is_internal = name.startswith((".", "/", "@/", "~", "#", "node:"))
        is_standard = not first or first[0] in standard or (language == "go" and "." not in name)
        if not is_internal and not is_standard:
            names.add(name)

    return sorted(names)


def _manifest_name(root: Path, path: str) -> str:
    """Return the name that a manifest gives to its package; empty where it gives none."""
    file = posixpath.basename(path)
    if file not in ("package.json", "go.mod"):
        return ""

    try:
        text = read_text(root / path)
        data = json.loads(text) if file == "package.json" else {}
    except (OrbitError, ValueError, RecursionError):
        return ""

    if file == "go.mod":
        line = re.search(r"^module\s+(\S+)", text, re.MULTILINE)
        if line is None:
            return ""

        return line[1]

    name = data.get("name") if isinstance(data, dict) else None
    if isinstance(name, str):
        return name

    return ""
