"""Command lines of a session, as commands of the project:
what each is for, and what makes it work.
"""

import posixpath
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

from orbit_registry.formats.yaml import load
from orbit_registry.hook.purpose import (
    ACTIONS,
    RUNNERS,
    SHELLS,
    TOOLS,
    WITH_VALUE,
    WRAPPERS,
    name_of,
    program_at,
    purpose_of,
    script_of,
)


@cache
def table(file: str) -> Any:
    """Return the tables in a file of this folder."""
    return load(Path(__file__).with_name(file).read_text("utf-8"))


COMMANDS: Mapping[str, Any] = table("commands.yaml")
_PARTS, _CLIENTS, _DROPPED, _FILTERS, _NEUTRAL, _OF_THE_MACHINE, _STARTERS, _STARTING, _SERVICES = (
    frozenset(COMMANDS[name])
    for name in (
        "part_options",
        "clients",
        "dropped",
        "filters",
        "neutral",
        "machine_variables",
        "starters",
        "starting",
        "services",
    )
)
_WRAPPER_WORDS = frozenset(word for phrase in WRAPPERS for word in phrase.split())
_VERBS = frozenset(("run", "compose", "pip"))  # words of a runner before its script
_OUTSIDE = ("/", "~", "$")  # how the folder of an option begins that may be outside the project
_SCRIPT_NAME = re.compile(r":?[a-zA-Z]{1,20}(?:[:_.-][a-zA-Z0-9]{1,20}){0,2}\Z")
_FOLDER_PREFIX = re.compile(r"(?:\./)?[\w.-]{1,30}(?:/[\w.-]{1,30}){0,3}/\Z")
_FOLDER = re.compile(r"(?!\.\.)[\w.-]{1,30}(?:/(?!\.\.)[\w.-]{1,30}){0,3}\Z")
_SETTING = re.compile(r"([A-Z][A-Z0-9_]{1,30})=(0|1|true|false|\.|src|lib|test)\Z")
_ANY_SETTING = re.compile(r"([A-Za-z_]\w*)=")
VARIABLE = re.compile(r"[A-Z][A-Z0-9_]{1,40}\Z")
_ENVIRONMENT = re.compile(r"(?:(?:[\w.-]{1,20}/){1,3}bin/activate|\.env(?:\.[a-z]{1,12})?)\Z")
_FLAG = re.compile(r"(?:--?|\+)[a-zA-Z][\w.-]{0,30}\Z")
_REDIRECTION = re.compile(r"\d?>&?\d?\Z")
_MARKS = frozenset("|&;()")
_PLAIN = re.compile(r"@?[A-Za-z0-9][\w.-]{0,30}(?:/(?!\.\.)[\w.-]{1,30}){0,4}\Z")


@dataclass(frozen=True, slots=True)
class ProjectCommand:
    """Command of a project: `words` start it, `tool` does it, `script` is what a runner was given.

    `names` are words in it that only the project knows: a service, a group, a variable whose value
    is left out.
    """

    purpose: str
    words: str
    tool: str
    script: str = ""
    names: tuple[str, ...] = ()
    folder: str = ""
    arguments: tuple[str, ...] = field(default=(), compare=False)
    """Options with their values, paths and parts of the project: each may be what made it work."""


@dataclass(frozen=True, slots=True)
class CommandLine:
    """Commands of one line; the exit code of a piped one, or of one before `;`,
    is not that of its commands.
    """

    ways: tuple[ProjectCommand, ...]
    is_piped: bool = False


def read_command(text: str, root: str = "") -> CommandLine:
    """Return the commands of a line; none where it holds a program that is not known."""
    try:
        text = text[1:-1] if text[:1] + text[-1:] == "()" else text
        lexer = shlex.shlex(text.replace("\n", " ; "), posix=True, punctuation_chars=True)
        lexer.whitespace_split = True
        words = list(lexer)
    except ValueError:
        return CommandLine(())

    if any(word and set(word) <= _MARKS and word not in ("|", "&&", ";", "&") for word in words):
        return CommandLine(())

    ways: list[ProjectCommand] = []
    prefix: list[str] = []
    names: list[str] = []
    folder, hides_code = "", words[-1:] == ["&"]

    for mark, piece in _pieces(words):
        hides_code |= bool(ways) and mark in ("|", ";", "&")
        program = piece[0]
        if mark == "|":
            if program not in _FILTERS:
                return CommandLine(())
        elif program == "cd" and len(piece) == 2:
            if (path := _folder(folder, piece[1], root)) is None:
                return CommandLine(())
            folder = path
        elif program == "export" or all(map(_ANY_SETTING.match, piece)):
            settings = _settings(piece[program == "export" :])
            prefix, names = prefix + settings[0], names + settings[1]
        elif program in ("source", ".") and len(piece) == 2 and _ENVIRONMENT.match(piece[1]):
            prefix = [f"source {piece[1]} &&", *prefix]
        elif (
            way := _project_command(_from_root(piece, root) if not folder else piece)
        ) is not None:
            command = " ".join([*prefix, way.words])
            ways.append(replace(way, words=command, names=(*names, *way.names), folder=folder))
        elif program not in _NEUTRAL:
            return CommandLine(())

    return CommandLine(tuple(ways), hides_code)


def _folder(folder: str, path: str, root: str) -> str | None:
    """Return the folder, from the root, that `cd` leads to;
    nothing if it may be outside the project.
    """
    top = root or "/-"
    result = posixpath.relpath(posixpath.join(top, folder, path), top)
    if result == ".":
        return ""
    return result if _FOLDER.match(result) and (root or path[:1] != "/") else None


def _from_root(words: Sequence[str], root: str) -> list[str]:
    """Return the words of a command with the folder of a part from the root;
    the root itself is no part.
    """
    result: list[str] = []
    words = [
        part
        for word in words
        for part in (("-C", word[2:]) if re.match(r"-C[\w./]", word) else (word,))
    ]
    separate = (
        word.split("=", 1) if word.partition("=")[0] in _PARTS else [word] for word in words
    )
    for option, word in pairwise(("", *chain.from_iterable(separate))):
        path = (
            _folder("", word, root) if option in _PARTS and word.startswith(("/", "./")) else None
        )
        if path == "":
            result.pop()
        else:
            result.append(path or word)

    return result


def _settings(words: Iterable[str]) -> tuple[list[str], list[str]]:
    settings: list[str] = []
    names: list[str] = []
    for word in words:
        name = word.partition("=")[0]
        if _SETTING.match(word):
            settings.append(word)
        elif "=" in word and VARIABLE.match(name) and name not in _OF_THE_MACHINE:
            settings.append(f"{name}=…")
            names.append(name)

    return settings, names


def _pieces(words: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    piece: list[str] = []
    mark, skip = "", False
    for word in words:
        if skip:
            skip = False
        elif _REDIRECTION.match(word) or word in (">", ">>", "<", ">&", "&>"):
            skip = not word.endswith(("&1", "&2"))
        elif word and set(word) <= _MARKS:
            if piece:
                yield mark, piece
            mark, piece = word, []
        else:
            piece.append(word)

    if piece:
        yield mark, piece


def _project_command(words: Sequence[str]) -> ProjectCommand | None:
    position = 0
    while position < len(words) and _ANY_SETTING.match(words[position]):
        position += 1

    prefix, names = _settings(words[:position])
    command = words[position + (words[position : position + 1] == ["sudo"]) :]
    if (
        name_of((command or [""])[0]) in _STARTERS
        and (way := _service_command(command)) is not None
    ):
        return way

    start = program_at(command)
    if start >= len(command) or not _take_prefix(command[:start], prefix, names):
        return None

    raw = command[start]
    name = _name(raw)
    if name is None or (prefix[-1:] == ["-m"] and raw != name):
        return None

    purpose = purpose_of(command)
    if name in TOOLS:
        action = [word for word in command[start + 1 : start + 2] if word in ACTIONS.get(name, ())]
        arguments = tuple(_arguments(command[start + 1 + len(action) :]))
        return ProjectCommand(
            purpose, " ".join([*prefix, raw, *action]), name, "", tuple(names), "", arguments
        )

    file = command[start + 1] if name in SHELLS and len(command) > start + 1 else raw
    if file.endswith(".sh") and purpose and _FOLDER.match(file := file.removeprefix("./")):
        return ProjectCommand(purpose, " ".join([*prefix, f"./{file}"]), file, "", tuple(names))

    if prefix[-1:] == ["-m"] and _PLAIN.match(name):
        return ProjectCommand(
            f"python -m {name}", " ".join([*prefix, name]), "python", name, (*names, name)
        )

    if name not in RUNNERS:
        return None

    return _runner_command(command[start:], name, purpose, prefix, names)


def _runner_command(
    words: Sequence[str], name: str, purpose: str, prefix: list[str], names: list[str]
) -> ProjectCommand | None:
    """Return what a runner is given; without a purpose of the table,
    the program with its script is one.
    """
    script = script_of(words) if name not in _CLIENTS else ""
    position = words.index(script) if script else 0
    if not _SCRIPT_NAME.match(script):
        if purpose or "run" in words[:position]:
            return None
        script = ""

    verbs = ["-s"] if name == "nox" else [word for word in words[:position] if word in _VERBS]
    if name.startswith("docker"):
        if not purpose:
            return None
        details = ["-d"] if "-d" in words else []
        details += (parts := [word for word in words[position + 1 :] if _PLAIN.match(word)])
        arguments = []
    else:
        pairs = [pair for pair in pairwise(words) if pair[0] in _PARTS and _PLAIN.match(pair[1])]
        details, parts = [word for pair in pairs for word in pair], [value for _, value in pairs]
        arguments = [
            argument
            for argument in _arguments([*words[1:position], *words[position + 1 :]])
            if argument.partition(" ")[0] not in _PARTS
        ]

    options = [*pairwise(words), *(word.partition("=")[::2] for word in words)]
    if any(option in _PARTS and value.startswith(_OUTSIDE) for option, value in options):
        return None

    line = [*prefix, words[0], *verbs, *filter(None, (script,)), *details]
    own = f"{name} {script}".strip()
    return ProjectCommand(
        purpose or own, " ".join(line), name, script, (*names, *parts), "", tuple(arguments)
    )


def _arguments(words: Sequence[str]) -> Iterator[str]:
    """Yield options, with a value that is a plain word,
    and operands that may be a path or a part of the project.
    """
    value_of = ""
    for word, following in pairwise([*words, ""]):
        option, has_value, value = word.partition("=")
        if value_of:
            value_of = ""
        elif word[:1] not in "-+":
            if _PLAIN.match(word.removeprefix("./").removesuffix("/...")):
                yield word
        elif _FLAG.match(option) and not has_value:
            value_of = (
                following
                if _PLAIN.match(following) and (word in WITH_VALUE or word[:2] == "--")
                else ""
            )
            yield f"{word} {value_of}".strip()
        elif _FLAG.match(option) and _PLAIN.match(value):
            yield word


def _service_command(words: Sequence[str]) -> ProjectCommand | None:
    plain = [word.rpartition("/")[2].partition(":")[0].partition("@")[0] for word in words]
    plain = [word for word in plain if word in _STARTING or word in _SERVICES]
    starts = {"start", "restart", "-d"}.intersection(plain) and _SERVICES.intersection(plain[1:])
    return (
        ProjectCommand("start", " ".join(plain), plain[0])
        if starts and "compose" not in words
        else None
    )


def _take_prefix(words: Sequence[str], prefix: list[str], names: list[str]) -> bool:
    value_follows = False
    for position, word in enumerate(words):
        if value_follows or word[:1] != "-":
            setting = _settings([word]) if _ANY_SETTING.match(word) else None
            plain = (
                _name(word) is not None
                if position == 0
                else bool(_PLAIN.match(word)) or setting is not None
            )
            if not plain:
                return False

            if setting is not None:
                prefix += setting[0]
                names += setting[1]
            elif word not in _DROPPED:
                prefix.append(word)
                if name_of(word) not in _WRAPPER_WORDS or value_follows:
                    names.append(word)

            value_follows = False
        elif word == "-m":
            prefix.append(word)
        elif word in WITH_VALUE:
            prefix.append(word)
            value_follows = True

    return True


def _name(word: str) -> str | None:
    folder, slash, name = word.rpartition("/")
    return (
        name if not slash or (_FOLDER_PREFIX.match(f"{folder}/") and ".." not in folder) else None
    )
