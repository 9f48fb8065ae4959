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
python: py pyi pyw
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

# Comments and strings that are closed. What stays open to the end is code, and so is what only a
# parser could tell apart: a check that looks at code finds too much rather than too little.
_BLOCK, _OPEN_BLOCK = r"/\*[\s\S]*?\*/", r"/\*[\s\S]*"
_DOUBLE = r"\"(?:\\.|[^\"\\\n])*\""
_SINGLE = r"'(?:\\.|[^'\\\n])*'"
_QUOTED = rf"{_DOUBLE}|{_SINGLE}"
_NOT_THREE = r"(?!\"\"\"|''')"
_TRIPLE, _OPEN_TRIPLE = r"\"\"\"[\s\S]*?\"\"\"|'''[\s\S]*?'''", r"(?:\"\"\"|''')[\s\S]*"
# any other `'` starts a lifetime, parts the digits of a number or is part of a name
_CHARACTER = r"(?<!\w)'(?:\\(?:[^\w\n]|\w[^'\n]{0,10})|[^'\\\n])'"
_REGEX_TEXT = r"/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*+\]|[^/\\\n\[])++/"
_REGEX = r"(?:\A|(?<=[(,=:\[!&|?{;])|(?<==>)|(?<=\breturn))\s*" + _REGEX_TEXT
# After `)` a slash divides, or begins a regular expression: with a quote in it, it counts as code.
_REGEX_OR_CODE = r"(?<=\))\s*(?=/[^/\n]*[`'\"])" + _REGEX_TEXT
_INNER_TEMPLATE = r"`(?:\\[\s\S]|[^`\\])*+`"
_INNER_CODE = rf"{_QUOTED}|{_INNER_TEMPLATE}|{_BLOCK}|{_REGEX}|\{{[^{{}}]*+\}}|[^{{}}`]"
_SUBSTITUTED = rf"\{{(?>{_INNER_CODE})*+\}}"
_TEMPLATE = rf"`(?:\\[\s\S]|\${_SUBSTITUTED}|\$(?!\{{)|[^`\\$])*+`"
_OPEN_BACKTICK = r"`[\s\S]*"
_ELEMENT_TEXT = r"(?<=>)[^<>{};]++(?=<[/A-Za-z])"
_HASH = r"\#[^\n]*"
_SHELL_HASH = rf"(?:^|(?<=[\s;])){_HASH}"
_SLASHES = rf"//[^\n]*|{_BLOCK}"
_RAW_QUOTED = r"\b[bc]?r(?P<hashes>\#*)\"[\s\S]*?\"(?P=hashes)|\"(?:\\[\s\S]|[^\"\\])*+\"|"
_HEREDOC = (
    r"<<[-~<]?(?P<mark>['\"]?)(?P<word>[A-Za-z_]\w*)(?P=mark)[^\n]*\n[\s\S]{0,1000}?^\s*(?P=word)\b"
)
_DOLLAR_QUOTED = r"\$(?P<tag>\w*)\$[\s\S]*?\$(?P=tag)\$"
_PERCENT = r"%[qQwWiI]?(?:\([^()]*\)|\[[^\[\]]*\]|\{[^{}]*\})"
_SCRIPT = r"<(?P<element>script|style)\b[^>]*>[\s\S]*?</(?P=element)"
_LONG_DOUBLE, _LONG_SINGLE = r"\"(?:\\[\s\S]|[^\"\\])*+\"", r"'(?:\\[\s\S]|[^'\\])*+'"
_ROWS: tuple[tuple[str, str, str, str], ...] = (
    ("python elixir", _HASH, f"{_TRIPLE}|{_NOT_THREE}(?:{_QUOTED})", _OPEN_TRIPLE),
    ("bash", _SHELL_HASH, rf"{_DOUBLE}|'[^'\n]*'", rf"\\.|{_HEREDOC}"),
    ("ruby", _SHELL_HASH, rf"{_QUOTED}|(?<![\w)]){_PERCENT}", _HEREDOC),
    ("nix", _SHELL_HASH, _QUOTED, ""),
    ("yaml toml txt properties dockerfile", rf"(?:^|(?<=\s)){_HASH}", "", ""),
    (
        "javascript typescript tsx",
        _SLASHES,
        f"{_QUOTED}|{_TEMPLATE}|{_REGEX}",
        f"{_REGEX_OR_CODE}|{_OPEN_BACKTICK}|{_OPEN_BLOCK}",
    ),
    ("go", _SLASHES, f"{_DOUBLE}|{_CHARACTER}|`[^`]*`", f"{_OPEN_BACKTICK}|{_OPEN_BLOCK}"),
    (
        "java kotlin scala swift",
        _SLASHES,
        rf"\"\"\"[\s\S]*?\"{{3,}}|{_NOT_THREE}(?:{_QUOTED})",
        rf"\"\"\"[\s\S]*|{_OPEN_BLOCK}",
    ),
    ("c", _SLASHES, f"{_DOUBLE}|{_CHARACTER}", _OPEN_BLOCK),
    (
        "cpp",
        _SLASHES,
        rf"R\"(?P<limit>[^\s()\\]{{0,16}})\([\s\S]*?\)(?P=limit)\"|{_DOUBLE}|{_CHARACTER}",
        rf"R\"[^\s()\\]{{0,16}}\([\s\S]*|{_OPEN_BLOCK}",
    ),
    (
        "csharp",
        _SLASHES,
        rf"\"{{3}}[\s\S]*?\"{{3,}}|(?:@\$?|\$@)\"(?:\"\"|[^\"])*+\"|{_DOUBLE}|{_CHARACTER}",
        _OPEN_BLOCK,
    ),
    ("solidity", _SLASHES, _QUOTED, _OPEN_BLOCK),
    ("rust", _SLASHES, _RAW_QUOTED + _CHARACTER, rf"(?:\b[bc]?r\#*)?\"[\s\S]*|{_OPEN_BLOCK}"),
    (
        "php",
        rf"//[^\n]*|\#(?!\[)[^\n]*|{_BLOCK}",
        f"{_LONG_DOUBLE}|{_LONG_SINGLE}",
        rf"{_HEREDOC}|\"[\s\S]*|'[\s\S]*|{_OPEN_BLOCK}",
    ),
    ("css", _BLOCK, _QUOTED, _OPEN_BLOCK),
    ("hcl", rf"{_HASH}|{_SLASHES}", "", _OPEN_BLOCK),
    (
        "sql",
        rf"--[^\n]*|{_BLOCK}",
        r"'[^']*'",
        rf"{_DOLLAR_QUOTED}|\$\w*\$[\s\S]*|'[\s\S]*|{_OPEN_BLOCK}",
    ),
    ("lua", r"--[^\n]*", _QUOTED, ""),
    ("haskell", r"--[^\n]*", rf"{_DOUBLE}|(?<![\w'])(?:{_CHARACTER})", ""),
    ("html", r"<!--[\s\S]*?-->", "", rf"{_SCRIPT}|<(?:script|style)\b[\s\S]*|<!--[\s\S]*"),
)
_SYNTAX = {}
for _languages, *_parts in _ROWS:
    _SYNTAX.update(dict.fromkeys(_languages.split(), _parts))
"""Regular expressions of comments, of strings, and of code that has quotes or signs of comments
in it.
"""
_ELEMENTS = frozenset({"jsx", "tsx", "js"})
"""Extensions of files in which text is between elements."""
_CODE_IN_TEXT = re.compile(_SUBSTITUTED)
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
def _tokens(syntax: str, has_elements: bool) -> re.Pattern[str]:
    comment, string, code = _SYNTAX[syntax]
    parts = {"text": _ELEMENT_TEXT if has_elements else ""}
    parts |= {"comment": comment, "string": string, "code": code}
    groups = (f"(?P<{name}>{pattern})" for name, pattern in parts.items() if pattern)
    return re.compile("|".join(groups), re.MULTILINE)


def comments_and_strings(path: str, text: str) -> Iterator[tuple[int, int, str]]:
    """Yield start, end and `comment` or `string` of each, in order; nothing for a file without a
    known syntax.

    What an f-string or a template string has in braces is code, and so is what is never closed.
    """
    syntax = syntax_of(path)
    if syntax not in _SYNTAX:
        return

    has_elements = path.rpartition(".")[2].lower() in _ELEMENTS
    for match in _tokens(syntax, has_elements).finditer(text):
        start, end, what = match.start(), match.end(), str(match.lastgroup)
        opening = _opening(syntax, text, start) if what == "string" else ""
        if opening:
            yield from _literal_parts(text, start, end, opening)
        elif what in ("comment", "string"):
            yield start, end, what


def part_at(spans: Sequence[tuple[int, int, str]], offset: int) -> str:
    """Return whether an offset is in a `comment` or a `string`; empty for code."""
    number = bisect_right(spans, offset, key=lambda span: span[0]) - 1
    if number >= 0 and offset < spans[number][1]:
        return spans[number][2]

    return ""


@lru_cache(maxsize=2)  # asked for each match in a file
def line_starts(text: str) -> Sequence[int]:
    """Return the offset of each line of a text."""
    return [0, *(match.end() for match in re.finditer("\n", text))]


def _opening(syntax: str, text: str, start: int) -> str:
    """Return what begins code in a string; empty where nothing does."""
    if text[start] == "`" and syntax in ("javascript", "typescript", "tsx"):
        return "${"
    is_format = syntax == "python" and _FORMAT_PREFIX.search(text, max(start - 3, 0), start)
    if is_format:
        return "{"

    return ""


def _literal_parts(text: str, start: int, end: int, opening: str) -> Iterator[tuple[int, int, str]]:
    """Yield the parts of a string between the code in it; doubled braces are text."""
    at = start
    while (brace := text.find(opening, at, end)) >= 0:
        if opening == "{" and text.startswith("{{", brace):
            at = brace + 2
            continue

        yield start, brace, "string"
        code = _CODE_IN_TEXT.match(text, brace + len(opening) - 1, end)
        if code is None:  # braces that are not closed
            return

        start = at = code.end()

    yield start, end, "string"
