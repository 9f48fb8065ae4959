"""Which files are code or configuration, and what in them is written for people to read."""

import re
from collections.abc import Mapping
from enum import StrEnum
from functools import cache

from orbit_registry.formats.position import Span
from orbit_registry.formats.syntax import EXTENSIONS, comments_and_strings, syntax_of

SOURCE_LIMIT = 1_000_000  # bytes of a file of code that is read
DATA_LIMIT = 64_000  # of a format that dumps of data have too; a larger one is a dump
_DATA = frozenset(("json", "json5", "jsonc", "yaml", "yml", "xml", "toml", "html", "htm"))
_MORE = """
asm astro awk bat bzl cfg clj cljs cljc cmake cmd cnf coffee conf cr csproj cu cue d dart dhall
edn el env erb erl f90 fish fs fsproj fsx glsl gql gradle graphql groovy gvy hbs hjson hrl
htaccess ini j2 jinja jinja2 jl json5 jsonc jsonnet ksh kql less libsonnet liquid m mk ml mli
mm mustache nim nu pas pl plist pm podspec prisma properties proto ps1 psm1 purs pyx pxd r rake
rego rkt robot sass sbt scm scss service sql star styl sv svelte tcl templ thrift tmpl toml tpl
twig vb vbproj vhd vim vue wgsl wsdl xml xsd zig
"""
_EXTENSIONS = frozenset(_MORE.split()).union(*EXTENSIONS.values())
"""Those of the languages that we parse, and more."""
_NAMES = re.compile(
    r"(?:\w+\.)?(?:Dockerfile|Containerfile|Makefile|GNUmakefile|Justfile)(?:\.\w+)?"
    r"|BUILD|WORKSPACE|Brewfile|CODEOWNERS|Caddyfile|Fastfile|Gemfile|Jenkinsfile|Kconfig|Podfile"
    r"|Procfile|Rakefile|Snakefile|Tiltfile|Vagrantfile|meson\.build|CMakeLists\.txt"
    r"|requirements[\w.-]*\.(?:txt|in)|constraints[\w.-]*\.txt"
    r"|\.(?:editorconfig|gitattributes|gitignore|gitmodules|dockerignore|npmrc|nvmrc|env[\w.-]*)"
    r"|\.[a-z]+rc",
    re.IGNORECASE,
)
_FOREIGN = frozenset(
    (
        ".git",
        ".orbit",
        "bower_components",
        "node_modules",
        "site-packages",
        "third-party",
        "third_party",
        "vendor",
    )
)
"""Folders of others' code, and of records."""
_SMALL = re.compile(r"[.-]min\.(?:js|mjs|css)$|\.bundle\.(?:js|css)$", re.IGNORECASE)
_MADE = re.compile(
    r"(?:^|/)(?:coverage|htmlcov|test-results|allure-results|[\w-]*reports?)(?:/|\.\w+$)"
    r"|(?:^|/)(?:changelogs?(?:\.d)?|\.changeset|\.changes|releasenotes|newsfragments)/"
    r"|(?:^|/)(?:_*fixtures_*|test[_-]?data|_*snapshots_*|golden)/"
    r"|(?:^|/)(?:changelog|changes|history|news|release[_-]?notes|npm-shrinkwrap)\.\w+$"
    r"|(?:^|[/._-])lock\.\w+$",
    re.IGNORECASE,
)
"""Data that a program writes or a test reads: reports, change logs, lock files, fixtures."""
_TEMPLATE = re.compile(r"(?:^|/)(?:templates?|layouts?|partials?|views?)/", re.IGNORECASE)
_LONG_TEXT, _LONG_LINE = 20_000, 500  # bytes; a text of such lines, at the mean, is minified

_WHOLE = frozenset(("yaml", "toml", "txt", "properties", "dockerfile", "hcl"))
_WHOLE_EXTENSIONS = frozenset(("vue", "svelte"))
_SETTINGS = re.compile(r"(?:^|/)(?:\.[\w.-]*rc\.\w+|[\w.-]*\.config\.[cm]?[jt]s)$")
"""Configuration that is written in a language of code."""
_DOCUMENTED = frozenset(("python", "elixir"))  # languages whose docstrings are strings
_OPEN = frozenset("([{,=+%|&*<>\\")  # before a string that is a value, and no docstring
_KEYWORD = re.compile(r"\b(?:return|yield|in|is|and|or|not|if|else|assert|raise|await)\s*\Z")


class Purpose(StrEnum):
    """What a file is for that the users of a project don't run."""

    TEST = "test"
    SPEC = "spec"
    """Tests, or what an interface is like."""
    MADE_UP = "made up"
    """What tests read."""
    EXAMPLE = "example"
    PROSE = "prose"


_FOLDERS = {
    Purpose.TEST: r"__tests__|bench|benchmarks?|e2e|tests?|testing",
    Purpose.SPEC: r"specs?",
    Purpose.MADE_UP: r"__mocks__|__snapshots__|golden|mocks?|snapshots|test[-_]?data",
    Purpose.EXAMPLE: r"boilerplate|demos?|examples?|playground|samples?|scratch|templates?",
    Purpose.PROSE: r"docs?|documentation|site|website",
}
_PATHS = {
    Purpose.TEST: r"(?:^|[-_./])tests?(?=[-_./][^/]*/|/)|(?:^|/)(?:tests?_[^/]*|conftest\.py)$"
    r"|[._-](?:tests?|spec|stories)\.\w+$"
    r"|(?:^|/)src/it/",  # Maven
    Purpose.MADE_UP: r"(?:^|/)[\w-]*fixtures?_*/|[._-]fixtures?\.\w+$",
}
"""Names with more than such a word."""


@cache
def _patterns() -> Mapping[Purpose, re.Pattern[str]]:
    patterns: dict[Purpose, re.Pattern[str]] = {}
    for purpose, words in _FOLDERS.items():
        more = f"|{_PATHS[purpose]}" if purpose in _PATHS else ""
        patterns[purpose] = re.compile(f"(?:^|/)(?:{words})/{more}")

    return patterns


def purposes(path: str) -> frozenset[Purpose]:
    """Return what a file is for, by its name and its folders; a folder ends with a slash."""
    lower = path.lower()
    return frozenset(purpose for purpose, pattern in _patterns().items() if pattern.search(lower))


def is_test(path: str) -> bool:
    """Say whether a file is a test, by its name and its folders."""
    return not purposes(path).isdisjoint((Purpose.TEST, Purpose.SPEC))


def is_foreign(path: str) -> bool:
    """Say whether a file is in a folder of others' code, or of records."""
    return not _FOREIGN.isdisjoint(path.split("/")[:-1])


def is_source(path: str) -> bool | None:
    """Say whether a file is code or configuration, by its name; None where its first line tells."""
    *folders, name = path.split("/")
    if not _FOREIGN.isdisjoint(folders):
        return False

    stem, dot, extension = name.rpartition(".")
    extension = extension.lower()
    if not stem or not dot or extension not in _EXTENSIONS:
        if _NAMES.fullmatch(name):
            return True
        if not dot:
            return None

        return False

    if extension in ("js", "mjs", "css") and _SMALL.search(name):
        return False
    if extension in (*_DATA, "hcl") and _MADE.search(path):
        return False
    if extension in ("html", "htm"):
        return _TEMPLATE.search(path) is not None

    return True


def is_readable_source(path: str, content: bytes) -> bool:
    """Say whether the content of a file that may be code is: no dump, no minified text, no data."""
    limit = SOURCE_LIMIT
    if path.rpartition(".")[2].lower() in _DATA:
        limit = DATA_LIMIT

    if len(content) > limit or b"\0" in content[:8_000]:
        return False
    if is_source(path) is None and not content.startswith(b"#!"):
        return False
    if len(content) <= _LONG_TEXT:
        return True

    return len(content) < _LONG_LINE * (content.count(b"\n") + 1)


def spoken_spans(path: str, text: str) -> list[Span] | None:
    """Return the comments and docstrings of a text, sorted; None where all of it counts.

    All of it counts in a configuration, and in a language whose comments are not known.
    """
    syntax = syntax_of(path)
    extension = path.rpartition(".")[2].lower()
    if syntax is None or syntax in _WHOLE or syntax == "json":
        return None
    if extension in _WHOLE_EXTENSIONS or _SETTINGS.search(path):
        return None

    return [
        Span(start, end)
        for start, end, what in comments_and_strings(path, text)
        if what == "comment" or (syntax in _DOCUMENTED and _is_docstring(text, start))
    ]


def _is_docstring(text: str, start: int) -> bool:
    """Say whether the string at an offset, in three quotes, is all of a statement."""
    if not text.startswith(('"""', "'''"), start):
        return False

    line = text.rfind("\n", 0, start) + 1
    before = text[line:start].strip()
    if before.startswith("@"):  # Elixir's `@doc """`
        return True
    if before.rstrip("rRuU"):
        return False

    end = line
    while end > 0 and text[end - 1].isspace():
        end -= 1

    above = text[max(0, end - 80) : end]
    return not above or (above[-1] not in _OPEN and _KEYWORD.search(above) is None)
