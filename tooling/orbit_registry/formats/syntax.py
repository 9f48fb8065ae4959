"""Languages by file name, and what of a text is comment, string or code."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache

_NAMES = """
bash: sh bash zsh
c: c h
cpp: cc cpp cxx hh hpp hxx
csharp: cs
css: css
elixir: ex exs
go: go
haskell: hs
hcl: tf hcl
html: html htm
java: java
javascript: js jsx mjs cjs
json: json
kotlin: kt kts
lua: lua
nix: nix
php: php
python: py pyi
ruby: rb
rust: rs
scala: scala sc sbt
solidity: sol
swift: swift
tsx: tsx
typescript: ts mts cts
yaml: yaml yml
"""
_LINES = [line.partition(": ") for line in _NAMES.split("\n")[1:-1]]
EXTENSIONS = {name: tuple(rest.split()) for name, _, rest in _LINES}
"""Languages that ast-grep parses, and their extensions; it panics at any other name."""
_BY_EXTENSION: dict[str, str] = {}
for _name, _extensions in EXTENSIONS.items():
    _BY_EXTENSION.update(dict.fromkeys(_extensions, _name))
SAME_PATTERNS = {"typescript": ("typescript", "tsx")}
"""Languages whose patterns hold in another one too."""

_BLOCK = r"/\*(?:[\s\S]*?\*/|[\s\S]*)"
_QUOTED = r"\"(?:\\.|[^\"\\\n])*\"?|'(?:\\.|[^'\\\n])*'?"
_TRIPLE = r"\"\"\"(?:[\s\S]*?\"\"\"|[\s\S]*)|'''(?:[\s\S]*?'''|[\s\S]*)"
_BACKTICK = r"`(?:\\[\s\S]|[^`\\])*`?"
# any other `'` starts a lifetime or is part of a name
_CHARACTER = r"'(?:\\(?:[^\w\n]|\w[^'\n]{0,10})|[^'\\\n])'"
_REGEX = (
    r"(?:\A|(?<=[(,=:\[!&|?{;])|(?<==>)|(?<=\breturn))\s*/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n"
    r"])*\]?|[^/\\\n\[])*/?"
)
_HASH = r"\#[^\n]*"
_SLASHES = rf"//[^\n]*|{_BLOCK}"
_RAW_QUOTED = r"\b[bc]?r(?P<hashes>\#*)\"[\s\S]*?(?:\"(?P=hashes)|\Z)|\"(?:\\[\s\S]|[^\"\\])*\"?|"
_ROWS: tuple[tuple[str, str, str], ...] = (
    ("python elixir", _HASH, f"{_TRIPLE}|{_QUOTED}"),
    ("bash ruby nix", rf"(?:^|(?<=[\s;])){_HASH}", _QUOTED),
    ("yaml toml txt properties dockerfile", rf"(?:^|(?<=\s)){_HASH}", ""),
    ("javascript typescript tsx", _SLASHES, f"{_QUOTED}|{_BACKTICK}|{_REGEX}"),
    ("go", _SLASHES, f"{_QUOTED}|{_BACKTICK}"),
    ("java kotlin scala swift", _SLASHES, f"{_TRIPLE}|{_QUOTED}"),
    ("c cpp csharp solidity", _SLASHES, _QUOTED),
    ("rust", _SLASHES, _RAW_QUOTED + _CHARACTER),
    ("php", rf"//[^\n]*|{_HASH}|{_BLOCK}", _QUOTED),
    ("css", _BLOCK, _QUOTED),
    ("hcl", rf"{_HASH}|{_SLASHES}", ""),
    ("sql", rf"--[^\n]*|{_BLOCK}", r"'[^']*'?"),
    ("lua", r"--[^\n]*", _QUOTED),
    ("haskell", r"--[^\n]*", rf"\"(?:\\.|[^\"\\\n])*\"?|(?<![\w'])(?:{_CHARACTER})"),
    ("html", r"<!--(?:[\s\S]*?-->|[\s\S]*)", ""),
)
_SYNTAX: dict[str, tuple[str, str]] = {}
for _languages, _comment, _string in _ROWS:
    _SYNTAX.update(dict.fromkeys(_languages.split(), (_comment, _string)))
"""Regular expressions of comments and of strings;
an open one ends with the text, so that each is linear.
"""
_FORMAT_PREFIX = re.compile(r"(?<!\w)(?:[fF][rR]?|[rR][fF])\Z")
_OTHERS = {
    "toml": "toml",
    "sql": "sql",
    "txt": "txt",
    "properties": "properties",
    "gradle": "java",
    "xml": "html",
    "vue": "html",
    "svelte": "html",
    "csproj": "html",
    "dockerfile": "dockerfile",
}


def language_of(path: str) -> str | None:
    """Return the language of a file by its name; None where ast-grep has none."""
    return _BY_EXTENSION.get(path.rpartition(".")[2].lower())


def syntax_of(path: str) -> str | None:
    """Return the language by whose comments and strings a file is read."""
    extension = path.rpartition("/")[2].rpartition(".")[2].lower()
    return _BY_EXTENSION.get(extension) or _OTHERS.get(extension)


@cache
def _tokens(syntax: str) -> re.Pattern[str]:
    comment, string = _SYNTAX[syntax]
    return re.compile(
        f"(?P<comment>{comment})" + (f"|(?P<string>{string})" if string else ""), re.MULTILINE
    )


def comments_and_strings(path: str, text: str) -> Iterator[tuple[int, int, str]]:
    """Yield start, end and `comment` or `string` of each, in order; nothing for a file without a
    known syntax.

    What an f-string or a template string has in braces is code.
    """
    syntax = syntax_of(path)
    if syntax in _SYNTAX:
        for match in _tokens(syntax).finditer(text):
            start, end, what = match.start(), match.end(), str(match.lastgroup)
            opening = _opening(syntax, text, start) if what == "string" else ""
            yield from (
                _literal_parts(text, start, end, opening) if opening else ((start, end, what),)
            )


def part_at(spans: Sequence[tuple[int, int, str]], offset: int) -> str:
    """Return whether an offset is in a `comment` or a `string`; empty for code."""
    number = bisect_right(spans, offset, key=lambda span: span[0]) - 1
    return spans[number][2] if number >= 0 and offset < spans[number][1] else ""


@lru_cache(maxsize=2)  # asked for each match in a file
def line_starts(text: str) -> Sequence[int]:
    """Return the offset of each line of a text."""
    return [0, *(match.end() for match in re.finditer("\n", text))]


def _opening(syntax: str, text: str, start: int) -> str:
    """Return what begins code in a string; empty where nothing does."""
    if text[start] == "`" and syntax in ("javascript", "typescript", "tsx"):
        return "${"
    is_format = syntax == "python" and _FORMAT_PREFIX.search(text, max(start - 3, 0), start)
    return "{" if is_format else ""


def _literal_parts(text: str, start: int, end: int, opening: str) -> Iterator[tuple[int, int, str]]:
    """Yield the parts of a string between the code in it; doubled braces are text."""
    at = start
    while (brace := text.find(opening, at, end)) >= 0:
        if opening == "{" and text.startswith("{{", brace):
            at = brace + 2
            continue

        yield start, brace, "string"
        depth, at = 1, brace + len(opening)
        while at < end and depth:
            depth += (text[at] == "{") - (text[at] == "}")
            at += 1

        start = at

    yield start, end, "string"
