"""Command lines of a session, as commands of the project:
what each is for, and what makes it work.

A command is quoted: words are left out, and a value that may be private is `…`, but no word is
moved or added.
"""

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

from orbit_registry.formats.yaml import table_of
from orbit_registry.hook.commands import UNKNOWN, commands_in
from orbit_registry.hook.purpose import (
    ACTIONS,
    RUNNERS,
    SCRIPTS,
    SESSIONS,
    SHELLS,
    TOOLS,
    WINDOWS,
    WITH_VALUE,
    WRAPPERS,
    name_of,
    program_at,
    purpose_of,
    script_file,
    script_of,
)

COMMANDS: Mapping[str, Any] = table_of(__file__, "commands.yaml")
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
_OF_TOOLCHAINS, _HOSTS, _WRITING_OPTIONS, _CHANGING, _ASKING = (
    frozenset(COMMANDS[name])
    for name in (
        "toolchain_managers",
        "hosts",
        "writing_options",
        "changing_options",
        "asking_options",
    )
)
_HARMLESS = {program: frozenset(words) for program, words in COMMANDS["harmless"].items()}
_ELSEWHERE = ("/dev/", "/tmp/", "&")  # files of a redirection that are none of the project
_FAMILIES: dict[str, str] = {}
for _language, _programs in COMMANDS["families"].items():
    _FAMILIES |= dict.fromkeys(_programs, _language)

_CHOOSING = ("use", "shell", "local")  # words by which a toolchain is chosen
_WRAPPER_WORDS = frozenset(" ".join(WRAPPERS).split())
_VERBS = frozenset(("run", "compose", "pip"))  # words of a runner before its script
_END = "--"  # behind it no word is an option of the program
_MARKS = frozenset(("", ";", "&&", "|", "&"))
_OUTSIDE = ("/", "~", "$", UNKNOWN)  # how the folder of an option begins that may be outside
_SCRIPT_NAME = re.compile(r":?[a-zA-Z][a-zA-Z0-9]{0,19}(?:[:_.-][a-zA-Z0-9]{1,20}){0,2}\Z")
_FOLDER_PREFIX = re.compile(r"(?:\.[/\\])?[\w.-]{1,30}(?:[/\\][\w.-]{1,30}){0,3}[/\\]\Z")
_FOLDER = re.compile(r"(?!\.\.)[\w.-]{1,30}(?:/(?!\.\.)[\w.-]{1,30}){0,3}\Z")
_SETTING = re.compile(r"([A-Z][A-Z0-9_]{1,30})=(0|1|true|false|\.|src|lib|test)\Z")
_ANY_SETTING = re.compile(r"([A-Za-z_]\w*)=")
VARIABLE = re.compile(r"[A-Z][A-Z0-9_]{1,40}\Z")
_ENVIRONMENT = re.compile(
    r"(?:(?:[\w.-]{1,20}/){1,3}bin/activate|\.env(?:\.[a-z]{1,12})?|~/\.nvm/nvm\.sh)\Z"
)
_RELEASE = re.compile(r"v?\d+(?:\.\d+){0,2}\Z")
_FLAG = re.compile(r"(?:--?|\+)[a-zA-Z][\w.-]{0,30}\Z")
_TOOLCHAIN = re.compile(r"\+[a-z0-9][\w.-]{0,30}\Z")
_VERSION = re.compile(r"-\d(?:\.\d{1,2})?\Z")  # `py -3.12`
_PLAIN = re.compile(r"@?[A-Za-z0-9][\w.-]{0,30}(?:/(?!\.\.)[\w.-]{1,30}){0,4}\Z")
_PROGRAM = re.compile(r"[a-z][a-z0-9_+-]{1,30}")
_IMAGE = re.compile(r"[a-z0-9][\w./:@-]{0,60}\Z")


@dataclass(frozen=True, slots=True)
class Part:
    """Typed words of a command that stay together, and `mark`, which parts them from the next.

    `argument` is what they state if the command may do without: an option with its value, an
    operand. `names` are words in them that only the project knows; of a `setting` the value is
    left out, and it goes if the project does not know its name.
    """

    text: str
    names: tuple[str, ...] = ()
    argument: str = ""
    is_setting: bool = False
    mark: str = ""


@dataclass(frozen=True, slots=True)
class ProjectCommand:
    """Command of a project.

    `words` start it, `tool` does it, `script` is what a runner was given.
    """

    purpose: str
    words: str
    tool: str
    script: str = ""
    folder: str = ""
    parts: tuple[Part, ...] = field(default=(), compare=False)

    @property
    def names(self) -> tuple[str, ...]:
        """Words that only the project knows: a service, a group, a variable without its value."""
        names = (part.names for part in self.parts if not part.argument)
        return tuple(chain.from_iterable(names))

    @property
    def place(self) -> tuple[str, ...]:
        """The part of the project that it is run for: a folder, and the values of options."""
        values = [part.names for part in self.parts if part.text.partition(" ")[0] in _PARTS]
        return (*filter(None, [self.folder]), *chain.from_iterable(values))

    @property
    def arguments(self) -> tuple[str, ...]:
        """Options with their values, and operands: each may be what made it work."""
        return tuple(part.argument for part in self.parts if part.argument)

    def with_arguments(self, shown: Mapping[str, str]) -> "ProjectCommand":
        """Return the command with some of its arguments, each at its place, in the form given."""
        parts: list[Part] = []
        for at, part in enumerate(self.parts):
            if part.argument in shown:
                parts.append(Part(shown[part.argument]))
            elif part.argument == _END and any(
                behind.argument in shown for behind in self.parts[at:]
            ):
                parts.append(Part(_END))  # what follows is for the script, not for its runner
            else:
                parts.append(part)

        return self.of(parts)

    def without_settings(self, names: frozenset[str]) -> "ProjectCommand":
        """Return the command without the assignments of some variables."""
        parts: list[Part] = []
        for part in self.parts:
            if not part.is_setting or names.isdisjoint(part.names):
                parts.append(part)
            elif part.mark and parts:
                last = parts.pop()
                if last.text != "export":
                    parts.append(replace(last, mark=part.mark))

        return self.of(parts)

    def of(self, parts: Sequence[Part]) -> "ProjectCommand":
        """Return the command with other parts."""
        return replace(self, words=_quoted(parts), parts=tuple(parts))


def _quoted(parts: Sequence[Part]) -> str:
    return " ".join(f"{part.text}{part.mark}" for part in parts if not part.argument)


@dataclass(frozen=True, slots=True)
class CommandLine:
    """Commands of one line; the exit code of a piped one, or of one before `;`,
    is not that of its commands.
    """

    ways: tuple[ProjectCommand, ...]
    is_piped: bool = False
    unknown: str = ""
    """The program that no table has, for which nothing of the line is judged."""


NOTHING = CommandLine(())


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a command runs: the folder from the root, and what was typed to set it up."""

    folder: str = ""
    prefix: tuple[Part, ...] = ()


@dataclass(frozen=True, slots=True)
class _Unit:
    """A word of a command, or an option with its value, as typed; `joint` is what is between."""

    at: int
    option: str
    joint: str = ""
    value: str = ""

    @property
    def text(self) -> str:
        return f"{self.option}{self.joint}{self.value}"


def read_command(text: str, root: str = "") -> CommandLine:
    """Return the commands of a line; none where it holds a program that is not known."""
    line = commands_in(text)
    if not line.is_whole or line.inner or any(each.mark not in _MARKS for each in line.commands):
        return NOTHING

    ways: list[ProjectCommand] = []
    place, outer = _Place(), []
    mark, hides_code = "", False

    for command in line.commands:
        outer += [place] * command.opens
        hides_code |= bool(ways) and mark in ("|", ";", "&")

        if mark == "|":
            is_known = command.words[:1] != [] and command.words[0] in _FILTERS
        else:
            way = _way(command.words, place, root)
            changed = (
                place if way is not None else _changed(place, command.words, command.mark, root)
            )
            is_known = changed is not None
            place = changed or place
            if way is not None:
                ways.append(way)

        if not is_known:
            return CommandLine((), unknown=_program(command.words))

        mark = command.mark
        for _ in range(command.closes):
            place = outer.pop()

    return CommandLine(tuple(ways), hides_code or mark == "&")


def _changed(place: _Place, words: Sequence[str], mark: str, root: str) -> _Place | None:
    """Return where the next command runs; None after a program that is not known."""
    program = words[0] if words else ""
    if program == "cd" and len(words) == 2:
        folder = _folder(place.folder, words[1], root)
        if folder is None:
            return None

        return replace(place, folder=folder)

    following = "" if mark == "|" else mark
    if following in ("&&", "&"):
        following = f" {mark}"

    if words and (program == "export" or all(map(_ANY_SETTING.match, words))):
        settings = _settings(words[program == "export" :])
        if not settings:
            return place
        if program == "export":
            settings = [Part("export"), *settings]

        settings[-1] = replace(settings[-1], mark=following)
        return replace(place, prefix=(*place.prefix, *settings))

    if program in ("source", ".") and len(words) == 2 and _ENVIRONMENT.match(words[1]):
        part = Part(f"{program} {words[1]}", mark=following)
        return replace(place, prefix=(*place.prefix, part))

    chooses = program in _OF_TOOLCHAINS and len(words) == 3 and words[1] in _CHOOSING
    if chooses and _RELEASE.match(words[2]):
        part = Part(" ".join(words), mark=following)
        return replace(place, prefix=(*place.prefix, part))

    if program in _NEUTRAL:
        return place

    return None


def is_other_family(program: str, other: str) -> bool:
    """Say whether two programs are for code of different languages."""
    families = _FAMILIES.get(program, ""), _FAMILIES.get(other, "")
    return "" not in families and families[0] != families[1]


def may_change(text: str) -> bool:
    """Say whether a line may change more than what its commands of the project are for.

    What is not known to be harmless may be why another command works after it.
    """
    for command in commands_in(text).commands:
        into = [file for sign, file in command.files if sign == ">"]
        if not all(file.startswith(_ELSEWHERE) for file in into):
            return True
        if not _is_harmless(command.words):
            return True

    return False


def _is_harmless(words: Sequence[str]) -> bool:
    program = name_of((*words, "")[0])
    harmless_words = _HARMLESS.get(program)
    if harmless_words is not None and (not harmless_words or not harmless_words.isdisjoint(words)):
        return _CHANGING.isdisjoint(words)
    if not _ASKING.isdisjoint(words) or _changed(_Place(), words, "", "") is not None:
        return True

    way = _way(words, _Place(), "")
    return way is not None


def changes_files(text: str) -> bool:
    """Say whether a command of a line is for changing the project's files."""
    words: list[str] = []
    for command in commands_in(text).commands:
        words += command.words

    is_format = any(way.purpose == "format" for way in read_command(text).ways)
    return is_format or not _WRITING_OPTIONS.isdisjoint(words)


def _folder(folder: str, path: str, root: str) -> str | None:
    """Return the folder, from the root, that `cd` leads to;
    nothing if it may be outside the project.
    """
    top = root or "/-"
    result = posixpath.relpath(posixpath.join(top, folder, path.replace("\\", "/")), top)
    if result == ".":
        return ""
    if _FOLDER.match(result) and (root or path[:1] != "/"):
        return result

    return None


def _settings(words: Sequence[str]) -> list[Part]:
    """Return assignments, without those of the machine; a value that is not plain is left out."""
    settings: list[Part] = []
    for word in words:
        name = word.partition("=")[0]
        if _SETTING.match(word):
            settings.append(Part(word))
        elif "=" in word and VARIABLE.match(name) and name not in _OF_THE_MACHINE:
            settings.append(Part(f"{name}=…", (name,), is_setting=True))

    return settings


def _way(words: Sequence[str], place: _Place, root: str) -> ProjectCommand | None:
    """Return a command of the project; None for a program that is not known."""
    at = 0
    while at < len(words) and _ANY_SETTING.match(words[at]):
        at += 1

    settings, words = _settings(words[:at]), words[at:]
    way = _service_command(words) or _project_command(words, "" if place.folder else root)
    if way is None:
        return None

    return replace(way, folder=place.folder).of([*place.prefix, *settings, *way.parts])


def _project_command(words: Sequence[str], root: str) -> ProjectCommand | None:
    start = program_at(words)
    if start >= len(words):
        return None

    prefix = _wrapper_parts(words[:start], root)
    raw = words[start]
    name = _name(raw)
    is_module = words[start - 1 : start] == ["-m"]
    if prefix is None or name is None or (is_module and raw != name):
        return None

    purpose = purpose_of(words)
    if name in TOOLS:
        return _tool_command(words[start:], name, purpose, prefix, root)

    file = script_file(words[start:]) if name in SHELLS else raw
    if file.endswith(".sh") and purpose:
        return _script_command(words[start:], file, purpose, prefix)

    if is_module and _PLAIN.match(name):
        parts = [*prefix, Part(raw, (name,))]
        return _command(f"python -m {name}", parts, "python", name)

    if name not in RUNNERS:
        return None

    return _runner_command(words[start:], name, purpose, prefix, root)


def _command(purpose: str, parts: Sequence[Part], tool: str, script: str = "") -> ProjectCommand:
    return ProjectCommand(purpose, _quoted(parts), tool, script, "", tuple(parts))


def _tool_command(
    words: Sequence[str], name: str, purpose: str, prefix: Sequence[Part], root: str
) -> ProjectCommand:
    has_action = len(words) > 1 and words[1] in ACTIONS.get(name, ())
    opening = [Part(word) for word in words[: 1 + has_action]]
    parts = [*prefix, *opening, *_arguments(words, len(opening), root)]
    return _command(purpose, parts, name)


def _script_command(
    words: Sequence[str], file: str, purpose: str, prefix: Sequence[Part]
) -> ProjectCommand | None:
    path = file.removeprefix("./")
    if not _FOLDER.match(path):
        return None

    opening = [Part(word) for word in words[: words.index(file) + 1]]
    return _command(purpose, [*prefix, *opening], path)


def _runner_command(
    words: Sequence[str], name: str, purpose: str, prefix: Sequence[Part], root: str
) -> ProjectCommand | None:
    """Return what a runner is given; without a purpose of the table,
    the program with its script is one.
    """
    script = script_of(words) if name not in _CLIENTS else ""
    at = words.index(script) if script else 0
    if not _SCRIPT_NAME.match(script):
        if purpose or "run" in words[:at]:
            return None
        script, at = "", 0

    is_docker = name.startswith("docker")
    if is_docker and not purpose:
        return None

    parts = [*prefix, Part(words[0])]
    for typed in _units(words, 1, at, guesses=not is_docker):
        unit = _local(typed, root)
        if unit is None:
            continue
        if unit.option in _PARTS and unit.value.startswith(_OUTSIDE):
            return None

        is_service = is_docker and unit.at > at and unit.option[:1] != "-"
        names_part = unit.option in _PARTS and not unit.value.isdigit()  # `-p 3001` is a port
        if is_docker and unit.at < at:
            names_part |= unit.option in WITH_VALUE

        if _is_kept(unit, at, name, purpose):
            parts.append(Part(unit.text))
        elif names_part and _PLAIN.match(unit.value):
            parts.append(Part(unit.text, (unit.value,)))
        elif is_service and _PLAIN.match(unit.option) and not unit.option.isdigit():
            parts.append(Part(unit.option, (unit.option,)))
        else:
            parts += _argument(unit)

    return _command(purpose or f"{name} {script}".strip(), parts, name, script)


def _is_kept(unit: _Unit, at: int, name: str, purpose: str) -> bool:
    """Say whether a runner needs a word whatever the project.

    These are its script, a verb, a toolchain before the script, and the purpose behind a script
    that has none: `cargo miri test`.
    """
    option, distance = unit.option, unit.at - at
    is_script = bool(at) and distance == 0
    is_verb = option in _VERBS and distance <= 1
    is_toolchain = bool(_TOOLCHAIN.match(option)) and distance < 0
    is_session = name == "nox" and option in SESSIONS and distance == -1
    is_detached = name.startswith("docker") and option == "-d"
    is_told = not purpose and option in SCRIPTS and distance == 1
    return is_script or is_verb or is_toolchain or is_session or is_detached or is_told


def _units(
    words: Sequence[str], first: int = 0, script_at: int = -1, *, guesses: bool = True
) -> Iterator[_Unit]:
    """Yield the words of a command from the position `first` on, options with their values.

    With `guesses` a plain word behind a long option of no table counts as its value. The script
    never does.
    """
    at = first
    while at < len(words):
        word = words[at]
        following = words[at + 1] if at + 1 < len(words) else "-"
        option, equals, value = word.partition("=")
        attached = re.match(r"(-C)([\w./].*)", word)

        takes = word in WITH_VALUE or word in _PARTS
        if guesses and word[:2] == "--" and _FLAG.match(word):
            takes |= bool(_PLAIN.match(following))
        if following[:1] in ("-", "+") or at + 1 == script_at:
            takes = False

        if word[:1] == "-" and equals:
            yield _Unit(at, option, "=", value)
        elif attached is not None:
            yield _Unit(at, attached[1], "", attached[2])
        elif takes:
            yield _Unit(at, word, " ", following)
            at += 1
        else:
            yield _Unit(at, word)

        at += 1


def _arguments(words: Sequence[str], first: int, root: str) -> Iterator[Part]:
    """Yield the words from a position on as arguments."""
    for unit in _units(words, first):
        local = _local(unit, root)
        if local is not None:
            yield from _argument(local)


def _argument(unit: _Unit) -> Iterator[Part]:
    """Yield an option with its value, or an operand that may be a path or a part of the project.

    A value that is not plain is left out.
    """
    if unit.option == _END:
        yield Part(_END, argument=_END)
    elif unit.option[:1] not in ("-", "+"):
        if _PLAIN.match(unit.option.removeprefix("./").removesuffix("/...")):
            yield Part(unit.option, argument=unit.option)
    elif not _FLAG.match(unit.option):
        return
    elif not unit.value:
        yield Part(unit.option, argument=unit.option)
    elif _PLAIN.match(unit.value):
        yield Part(unit.text, argument=f"{unit.option} {unit.value}")
    else:
        yield Part(f"{unit.option}{unit.joint}…", argument=unit.option)


def _local(unit: _Unit, root: str) -> _Unit | None:
    """Return a unit with the folder of a part from the root; None for the root itself."""
    if unit.option not in _PARTS or not unit.value.startswith(("/", "./")):
        return unit

    path = _folder("", unit.value, root)
    if path == "":
        return None

    return replace(unit, value=path or unit.value)


def _service_command(words: Sequence[str]) -> ProjectCommand | None:
    """Return a command that starts a service which is not the project's own."""
    start = int([*words[:1]] == ["sudo"])
    while start and words[start : start + 1] and _FLAG.match(words[start]):
        start += 1

    if name_of((*words[start:], "")[0]) not in _STARTERS or "compose" in words:
        return None

    parts: list[Part] = []
    plain: list[str] = []
    for word in words[start:]:
        name = word.rpartition("/")[2].partition(":")[0].partition("@")[0]
        if name not in _STARTING and name not in _SERVICES:
            continue
        if name != word and not _IMAGE.match(word):
            return None

        plain.append(name)
        host = word.partition("/")[0]
        is_private = name in _SERVICES and "." in host and host not in _HOSTS and "/" in word
        parts.append(Part(word, (word,) if is_private else ()))

    starts = {"start", "restart", "-d"}.intersection(plain)
    if not (starts and _SERVICES.intersection(plain[1:])):
        return None

    return _command("start", [*map(Part, words[:start]), *parts], plain[0])


def _wrapper_parts(words: Sequence[str], root: str) -> list[Part] | None:
    """Return what starts a program: wrappers with their options; None if it may be private."""
    parts: list[Part] = []
    dropped = 0
    for unit in _units(words, guesses=False):
        if unit.at < dropped:
            continue
        if name_of(unit.option) in _DROPPED:
            dropped = _behind(words, unit.at)
            continue

        local = _local(unit, root)
        if local is None:
            continue

        more = _wrapper_part(local, is_first=not parts)
        if more is None:
            return None

        is_toolchain = bool(parts) and name_of(parts[0].text) in _OF_TOOLCHAINS
        parts += [replace(part, names=()) for part in more] if is_toolchain else more

    return parts


def _behind(words: Sequence[str], at: int) -> int:
    """Return where a wrapper that changes nothing ends: `time -p`, `timeout 60`, `env`."""
    operands = WRAPPERS.get(name_of(words[at]), 0)
    at += 1
    while at < len(words):
        word = words[at]
        if word[:1] == "-":
            at += word in WITH_VALUE
        elif operands:
            operands -= 1
        else:
            break

        at += 1

    return at


def _wrapper_part(unit: _Unit, *, is_first: bool) -> list[Part] | None:
    option = unit.option
    if not unit.value and (option in ("-m", "--") or _VERSION.match(option)):
        return [Part(option)]

    if option[:1] == "-" and not unit.value:
        return [*_argument(unit)]

    if option[:1] == "-":
        if _ANY_SETTING.match(unit.value):
            settings = _settings([unit.value])
            return [replace(each, text=f"{option}{unit.joint}{each.text}") for each in settings]

        if option not in WITH_VALUE and option not in _PARTS:
            return [*_argument(unit)]

        if unit.value != "." and not _PLAIN.match(unit.value):
            return None

        is_release = _RELEASE.match(unit.value) is not None
        return [Part(unit.text, () if is_release else (unit.value,))]

    if _ANY_SETTING.match(option):
        return _settings([option])

    is_plain = option == "." or _PLAIN.match(option) is not None
    if is_first:
        is_plain = _name(option) is not None

    if not is_plain:
        return None

    is_public = option == "." or name_of(option) in _WRAPPER_WORDS
    return [Part(option, () if is_public else (option,))]


def _program(words: Sequence[str]) -> str:
    """Return the plain name of the program that a command starts; nothing for any other text."""
    start = program_at(words)
    name = words[start] if start < len(words) else ""
    if _PROGRAM.fullmatch(name):
        return name

    return ""


def _name(word: str) -> str | None:
    """Return the name of a program that may be the project's; None for another folder's."""
    folder, slash, name = word.replace("\\", "/").rpartition("/")
    if slash and (not _FOLDER_PREFIX.match(f"{folder}/") or ".." in folder):
        return None

    stem, _, suffix = name.rpartition(".")
    if suffix.lower() in WINDOWS:
        return stem

    return name
