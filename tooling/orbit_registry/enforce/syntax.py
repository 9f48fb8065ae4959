"""Languages by file name, what of a text is comment, string or code, and comments that allow something."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

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
EXTENSIONS = {
    name: tuple(rest.split()) for name, _, rest in (line.partition(": ") for line in _NAMES.split("\n")[1:-1])
}
"""Languages that ast-grep parses, and their extensions; it panics at any other name."""
_BY_EXTENSION = {extension: name for name, extensions in EXTENSIONS.items() for extension in extensions}
SAME_PATTERNS = {"typescript": ("typescript", "tsx")}
"""Languages whose patterns hold in another one too."""

_BLOCK = r"/\*(?:[\s\S]*?\*/|[\s\S]*)"
_QUOTED = r"\"(?:\\.|[^\"\\\n])*\"?|'(?:\\.|[^'\\\n])*'?"
_TRIPLE = r"\"\"\"(?:[\s\S]*?\"\"\"|[\s\S]*)|'''(?:[\s\S]*?'''|[\s\S]*)"
_BACKTICK = r"`(?:\\[\s\S]|[^`\\])*`?"
_SYNTAX: dict[str, tuple[str, str]] = {
    **dict.fromkeys(("python", "elixir"), (r"\#[^\n]*", f"{_TRIPLE}|{_QUOTED}")),
    **dict.fromkeys(("bash", "ruby", "nix"), (r"(?:^|(?<=[\s;]))\#[^\n]*", _QUOTED)),
    **dict.fromkeys(("yaml", "toml", "txt", "properties", "dockerfile"), (r"(?:^|(?<=\s))\#[^\n]*", "")),
    **dict.fromkeys(("javascript", "typescript", "tsx", "go"), (rf"//[^\n]*|{_BLOCK}", f"{_QUOTED}|{_BACKTICK}")),
    **dict.fromkeys(("java", "kotlin", "scala", "swift"), (rf"//[^\n]*|{_BLOCK}", f"{_TRIPLE}|{_QUOTED}")),
    **dict.fromkeys(("c", "cpp", "csharp", "solidity"), (rf"//[^\n]*|{_BLOCK}", _QUOTED)),
    "rust": (rf"//[^\n]*|{_BLOCK}", r"\"(?:\\[\s\S]|[^\"\\])*\"?"),  # `'a` is a lifetime
    "php": (rf"//[^\n]*|\#[^\n]*|{_BLOCK}", _QUOTED),
    "css": (_BLOCK, _QUOTED),
    "hcl": (rf"\#[^\n]*|//[^\n]*|{_BLOCK}", ""),
    "sql": (rf"--[^\n]*|{_BLOCK}", r"'[^']*'?"),
    **dict.fromkeys(("lua", "haskell"), (r"--[^\n]*", _QUOTED)),
    "html": (r"<!--(?:[\s\S]*?-->|[\s\S]*)", ""),
}
"""Regular expressions of comments and of strings; an open one ends with the text, so that each is linear."""
_OTHERS = {"toml": "toml", "sql": "sql", "txt": "txt", "properties": "properties", "gradle": "java", "xml": "html",
           "vue": "html", "svelte": "html", "csproj": "html", "dockerfile": "dockerfile"}  # fmt: skip


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
    return re.compile(f"(?P<comment>{comment})" + (f"|(?P<string>{string})" if string else ""), re.MULTILINE)


def comments_and_strings(path: str, text: str) -> Iterator[tuple[int, int, str]]:
    """Yield start, end and `comment` or `string` of each, in order; nothing for a file without a known syntax."""
    syntax = syntax_of(path)
    if syntax in _SYNTAX:
        for match in _tokens(syntax).finditer(text):
            yield match.start(), match.end(), str(match.lastgroup)


MARK = "orbit: allow "
_FORM = re.compile(
    r"orbit: allow (?P<name>[A-Za-z]+-[0-9A-Za-z]+(?:/[A-Za-z0-9_-]+)?)"
    r"(?:[ \t]+because[ \t]+(?P<reason>\w[^\n]*?))?[ \t\r]*(?:\*/|-->|\*\)|$)",
    re.MULTILINE,
)


class Allow(NamedTuple):
    """An allowance: its line, the record or check that it names, and the reason; empty where it has none."""

    line: int
    name: str
    reason: str

    def is_for(self, check: str, first: int, last: int) -> bool:
        """Say whether it allows a match of a check: it is on one of its lines, or on the line before."""
        is_named = self.name in (check, check.partition("/")[0])
        return is_named and first - 1 <= self.line <= last


def allows_in(path: str, text: str) -> Iterator[Allow]:
    """Yield the allowances in a text, those in strings left out."""
    if MARK in text:
        strings = [(start, end) for start, end, what in comments_and_strings(path, text) if what == "string"]
        for match in _FORM.finditer(text):
            if any(start <= match.start() < end for start, end in strings):
                continue
            yield Allow(text.count("\n", 0, match.start()) + 1, match["name"], match["reason"] or "")
