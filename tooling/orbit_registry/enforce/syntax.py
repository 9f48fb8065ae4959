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
    """Yield start, end and `comment` or `string` of each, in order; nothing for a file without a known syntax.

    What an f-string or a template string has in braces is code.
    """
    syntax = syntax_of(path)
    if syntax in _SYNTAX:
        for match in _tokens(syntax).finditer(text):
            start, end, what = match.start(), match.end(), str(match.lastgroup)
            opening = _opening(syntax, text, start) if what == "string" else ""
            yield from _literal_parts(text, start, end, opening) if opening else ((start, end, what),)


def _opening(syntax: str, text: str, start: int) -> str:
    """Return what begins code in a string; empty where nothing does."""
    if text[start] == "`" and syntax in ("javascript", "typescript", "tsx"):
        return "${"
    is_format = syntax == "python" and _FORMAT_PREFIX.search(text, max(start - 3, 0), start)
    return "{" if is_format else ""


_FORMAT_PREFIX = re.compile(r"(?<![\w])(?:[fF][rR]?|[rR][fF])\Z")


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


MARK = "orbit: allow"
_FORM = re.compile(
    rf"{MARK}[ \t]+(?P<name>(?:[a-z][a-z0-9-]*:)?[A-Za-z]+-[0-9A-Za-z]+(?:/[A-Za-z0-9_-]+)?)"
    r"(?:[ \t]+because[ \t]+(?P<reason>(?!\*/|-->|\*\))\S[^\n]*?))?[ \t\r]*(?:\*/|-->|\*\)|$)",
    re.MULTILINE,
)


class Allow(NamedTuple):
    """An allowance: its line, the record or check that it names, and the reason; each is empty if it can't be read."""

    line: int
    name: str
    reason: str
    is_alone: bool = False
    """Whether its line has nothing else; it is about the next line too."""

    def is_for(self, check: str, first: int, last: int) -> bool:
        """Say whether it allows a match of a check: it is on one of its lines, or alone on the line before."""
        is_named = self.name in (check, check.partition("/")[0])
        return is_named and first - self.is_alone <= self.line <= last


def allows_in(path: str, text: str) -> Iterator[Allow]:
    """Yield the allowances in a text, those in strings left out; one that can't be read only from a comment."""
    if MARK not in text:
        return
    spans = [*comments_and_strings(path, text)]
    for mark in re.finditer(re.escape(MARK), text):
        where = next((what for start, end, what in spans if start <= mark.start() < end), "")
        match = _FORM.match(text, mark.start())
        if where != "string" and (match or where == "comment"):
            line = text.count("\n", 0, mark.start()) + 1
            is_alone = not text[text.rfind("\n", 0, mark.start()) + 1 : mark.start()].strip(" \t#/*<!-;%{(")
            yield Allow(line, match["name"], match["reason"] or "", is_alone) if match else Allow(line, "", "")
