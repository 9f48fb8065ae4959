"""Reads a shell command as a way to do one thing of a project: test, lint, build; it runs nothing, and keeps few words.

What is kept is a program of a closed table, how it was started, and the name of a script. Paths, options and all that
somebody else may have put into a command are left out, so that what is learned from it can't hold an instruction.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_PURPOSES = {
    "test": "test tests spec specs unit units e2e integration pytest jest vitest nextest",
    "lint": "lint lints linter check checks eslint ruff clippy vet",
    "types": "types type typecheck typing tsc mypy pyright",
    "build": "build compile bundle dist",
    "format": "format fmt prettier black",
    "install": "install setup bootstrap sync ci",
}
PURPOSE = {word: purpose for purpose, words in _PURPOSES.items() for word in words.split()}
DONE = {"test": "Tests run", "lint": "The linter runs", "types": "Types are checked", "build": "The project is built",
        "format": "Code is formatted", "install": "Dependencies are installed"}  # fmt: skip
"""What each purpose comes to, in words."""
_TOOLS = {
    tool: purpose
    for purpose, tools in {
        "test": "pytest py.test unittest nose2 jest vitest mocha ava rspec phpunit ctest tox",
        "types": "mypy pyright tsc pyrefly",
        "lint": "ruff eslint flake8 pylint golangci-lint shellcheck biome oxlint",
        "format": "black prettier isort gofmt rustfmt",
        "build": "webpack rollup esbuild tsup",
    }.items()
    for tool in tools.split()
}
_RUNNERS = frozenset(
    ("npm", "pnpm", "yarn", "bun", "make", "just", "nox", "task", "rake", "cargo", "go", "mvn", "mvnw", "gradle",
     "gradlew", "dotnet", "mix", "deno", "composer", "swift")
)  # fmt: skip
_WRAPPERS = {
    "uv": ("run",), "poetry": ("run",), "pdm": ("run",), "hatch": ("run",), "pipenv": ("run",), "rye": ("run",),
    "bundle": ("exec",), "pnpm": ("exec", "dlx"), "yarn": ("exec", "dlx"), "npm": ("exec",), "npx": (), "bunx": (),
}  # fmt: skip
_FILTERS = frozenset(["tail", "head", "grep", "cat", "tee", "less", "sed", "awk", "sort", "uniq", "wc", "cut"])
_PYTHON = re.compile(r"(?:python|python3(?:\.\d{1,2})?|py)\Z")
_SCRIPT = re.compile(r"[a-z]{1,12}(?:[:_-][a-z0-9]{1,12}){0,2}\Z")
_PLACE = re.compile(r"(?:\./)?[\w.-]{1,30}(?:/[\w.-]{1,30}){0,3}/\Z")
_SETTING = re.compile(r"([A-Z][A-Z0-9_]{1,30})=(0|1|true|false|\.|src|lib|test)\Z")
_ANY_SETTING = re.compile(r"[A-Za-z_]\w*=")
_NUMBER = re.compile(r"\d?>&?\d?\Z")


@dataclass(frozen=True, slots=True)
class Way:
    """How something of a project was done: `words` start it, `tool` does it, `script` is what a runner was given."""

    purpose: str
    words: str
    tool: str
    script: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """A command line: its ways in their order; where it is piped, the exit code is not that of the last."""

    ways: tuple[Way, ...]
    is_piped: bool = False


def read_command(text: str) -> Line:
    """Return the ways that a command line goes; none where it is more than programs one after another."""
    try:
        lexer = shlex.shlex(text, posix=True, punctuation_chars=True)
        lexer.whitespace_split = True
        words = list(lexer)
    except ValueError:
        return Line(())
    pieces = list(_pieces(words))
    if any(mark in ("||", ";", "&", "(", ")") for mark, _ in pieces):
        return Line(())
    found: list[Way] = []
    piped = other = 0
    for mark, piece in pieces:
        if mark == "|":
            piped += 1
            other += piece[0] not in _FILTERS
        elif piece[0] == "cd":
            continue
        elif (way := way_of(piece)) is not None:
            found.append(way)
        else:
            other += 1
    return Line(() if other else tuple(found), is_piped=piped > 0)


def _pieces(words: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield the commands of a line, each with the mark before it; redirections are left out."""
    piece: list[str] = []
    mark, skip = "", False
    for word in words:
        if skip:
            skip = False
        elif _NUMBER.match(word) or word in (">", ">>", "<", ">&", "&>"):
            skip = not word.endswith(("&1", "&2"))
        elif word and set(word) <= set("|&;()"):
            if piece:
                yield mark, piece
            mark, piece = word, []
        else:
            piece.append(word)
    if piece:
        yield mark, piece


def way_of(words: Sequence[str]) -> Way | None:
    """Return the way that one command goes; None where its program, its script or a setting is none that is known."""
    left = list(words)
    kept: list[str] = []
    while left and _ANY_SETTING.match(left[0]):
        if not _SETTING.match(left[0]):
            return None
        kept.append(left.pop(0))
    while left and (verbs := _WRAPPERS.get(left[0])) is not None and (not verbs or set(left[1:2]) & set(verbs)):
        count = 2 if verbs else 1
        kept += left[:count]
        del left[:count]
    if len(left) > 2 and _PYTHON.match(_name(left[0]) or "") and left[1] == "-m":
        kept += [left[0], "-m"]
        del left[:2]
    name = _name(left[0]) if left else None
    if name is None or (kept[-1:] == ["-m"] and left[0] != name):
        return None
    rest = [word for word in left[1:] if not word.startswith("-")]
    if name in _TOOLS:
        action = rest[0] if name in ("ruff", "biome") and rest and rest[0] in ("check", "format", "lint") else ""
        purpose = "format" if action == "format" else _TOOLS[name]
        return Way(purpose, " ".join([*kept, left[0], *([action] if action else [])]), name)
    return _script(name, left, rest, kept) if name in _RUNNERS else None


def _script(name: str, left: Sequence[str], rest: Sequence[str], kept: Sequence[str]) -> Way | None:
    runs = ["run"] if rest[:1] == ["run"] else []
    flagged = [left[at + 1] for at, word in enumerate(left[1:-1], 1) if word in ("-s", "-e", "--session", "--sessions")]
    script = next(iter(flagged if name == "nox" else rest[len(runs) :]), "")
    if not _SCRIPT.match(script):
        return None
    purpose = next((PURPOSE[part] for part in re.split("[:_-]", script) if part in PURPOSE), None)
    if purpose is None:
        return None
    words = [*kept, left[0], *(["-s"] if name == "nox" else runs), script]
    return Way(purpose, " ".join(words), name, script)


def _name(word: str) -> str | None:
    """Return the program that a word starts; None for one that stands outside of the project, or nowhere."""
    folder, slash, name = word.rpartition("/")
    return name if not slash or (_PLACE.match(f"{folder}/") and ".." not in folder) else None
