"""Paths in a shell command, and what its programs are for.

`hook/commands.py` reads the shell's text; variables and globs stay unknown.
"""

from orbit_registry.hook.call import (
    LONGEST_PATH,
    LONGEST_TEXT,
    MOST_PATHS,
    PATCH,
    PROJECT,
    looks_like_path,
    patch_paths,
    resolve_path,
)
from orbit_registry.hook.commands import UNKNOWN, Command, commands_in
from orbit_registry.hook.purpose import name_of, program_at, purpose_of

DEEPEST = 4  # most shells inside each other
_GRAMMAR = "if then else elif fi for while until do done case esac in ! { }"
_RESERVED = frozenset(_GRAMMAR.split())
_SHELLS = frozenset(("sh", "bash", "zsh", "dash", "ksh", "eval"))
_PRINTERS = frozenset(("echo", "printf"))
_INTERPRETERS = frozenset(("python", "node", "bun", "deno", "ruby", "php"))
_CODE_OPTIONS = frozenset(("-c", "-e", "-E", "-r", "-p", "--eval", "--print"))
_FORGES = frozenset(("gh", "glab"))
_TEXT_WORDS = "--body -b --title -t --notes -n --description -d -m --message"
_TEXT_OPTIONS = frozenset(_TEXT_WORDS.split())
_SEARCHING = "sed awk gawk grep egrep fgrep rg ag jq yq perl"
_SEARCHERS = frozenset(_SEARCHING.split())
_READING = "cat less more head tail bat view nl sed awk grep rg jq yq batcat wc"
_READERS = frozenset(_READING.split())


class CommandPaths:
    """Paths of a command; `candidate_paths` are paths only where such a file exists.

    `reads` are those of both that it reads, `texts` here-documents that it writes: file and text.
    """

    def __init__(self) -> None:
        self.paths: list[str] = []
        self.candidate_paths: list[str] = []
        self.reads: list[str] = []
        self.purposes: list[str] = []
        self.texts: list[tuple[str, str]] = []
        self.is_patch = False

    def add(self, word: str, folder: str | None, sure: bool = True, read: bool = False) -> None:
        """Add the known part of a word; one that is relative to an unknown folder is dropped."""
        word = _known_part(word)
        is_full = len(self.paths) + len(self.candidate_paths) >= MOST_PATHS
        if is_full or not word.strip("./\\") or len(word) > LONGEST_PATH:
            return
        if "://" in word and not word.startswith("file://"):
            return

        path = resolve_path(folder or "", word)
        if folder is None and path == word and not _is_absolute(word):
            return

        target = self.candidate_paths
        if sure and looks_like_path(word.replace(PROJECT, "")):
            target = self.paths

        if path not in target:
            target.append(path)
        if read:
            self.reads.append(path)


def paths_in_command(command: str | list[str]) -> CommandPaths:
    """Return the paths of a command: a text for a shell, or the words of one command."""
    words = CommandPaths()
    if isinstance(command, str):
        _read_text(words, command[:LONGEST_TEXT], "", 0)
        if len(command) > LONGEST_TEXT and PATCH in command:
            _read_patch(words, command, "")
    elif command:
        _read_command(words, [*command], "", 0)

    return words


def _read_text(
    result: CommandPaths, text: str, folder: str | None, depth: int, *, is_value: bool = False
) -> None:
    """Read a shell's text; with `is_value` another command gets what it prints."""
    line = commands_in(text)
    outer: list[str | None] = []

    for command in line.commands:
        outer += [folder] * command.opens
        _read_redirections(result, command, folder, depth)
        folder = _read_command(result, command.words, folder, depth)
        if is_value and command.words and command.words[0] in _PRINTERS:
            for word in command.words[1:]:
                result.add(word, folder, sure=False)

        for _ in range(min(command.closes, len(outer))):
            folder = outer.pop()

    if depth < DEEPEST:
        for inner in line.inner:
            _read_text(result, inner, folder, depth + 1, is_value=True)


def _read_redirections(
    result: CommandPaths, command: Command, folder: str | None, depth: int
) -> None:
    for sign, path in command.files:
        result.add(path, folder, read=sign == "<")

    written = [path for sign, path in command.files if sign == ">"]
    for body in command.bodies:
        _read_here_document(result, body, command.words, written, folder, depth)


def _read_here_document(
    result: CommandPaths,
    body: str,
    words: list[str],
    targets: list[str],
    folder: str | None,
    depth: int,
) -> None:
    """Read a here-document that is a patch or a shell's input; note one that goes to files."""
    program = words[program_at(words) :]
    name = name_of(program[0]) if program else ""
    if PATCH in body or name in ("patch", "git"):
        _read_patch(result, body, folder)
    elif name in _SHELLS and depth < DEEPEST:
        _read_text(result, body, folder, depth + 1)
    elif name in _INTERPRETERS:
        _read_code(result, body, folder)
    elif name in ("cat", "tee") and folder is not None:
        for file in program[1:] if name == "tee" else targets:
            if file[:1] != "-":
                result.texts.append((resolve_path(folder, _known_part(file)), body))


def _read_code(result: CommandPaths, text: str, folder: str | None) -> None:
    """Add the texts in the quotes of a program's code that may be paths."""
    for part in text.replace('"', "'").replace("`", "'").split("'"):
        if looks_like_path(part):
            result.add(part, folder, sure=False)


def _read_patch(result: CommandPaths, text: str, folder: str | None) -> None:
    for path in patch_paths(text):
        result.is_patch = True
        result.add(path, folder)
        if folder is not None and not looks_like_path(path):
            # A patch says what is a file: `Makefile`.
            file = resolve_path(folder, path)
            # A command with many paths takes none of the others.
            if file in result.candidate_paths:
                result.candidate_paths.remove(file)
                result.paths.append(file)


def _read_command(
    result: CommandPaths, words: list[str], folder: str | None, depth: int
) -> str | None:
    """Add the paths of one command, and return the folder that the next one runs in."""
    at = 0
    while at < len(words) and (words[at] in _RESERVED or _is_assignment(words[at])):
        if _is_assignment(words[at]):
            result.add(words[at].partition("=")[2], folder)
        at += 3 if words[at] == "for" else 1

    words = words[at:]
    if not words:
        return folder

    purpose = purpose_of(words)
    if purpose and purpose not in result.purposes:
        result.purposes.append(purpose)
    if "/" in words[0] or "\\" in words[0]:
        result.add(words[0], folder)  # a script of the project

    at = program_at(words)
    _read_arguments(result, "", words[1 : at + 1], folder)
    words = words[at:]
    if not words:
        return folder

    name, arguments = words[0].rpartition("/")[2], words[1:]
    if name in ("cd", "pushd", "popd", "chdir", "Set-Location"):
        return _changed_folder(folder, arguments)

    if name in ("apply_patch", "applypatch"):
        _read_patch(result, "\n".join(arguments), folder)
    elif name in _SHELLS and depth < DEEPEST:
        _read_nested_shell(result, name, arguments, folder, depth)
    elif name not in _PRINTERS and name != "ssh":  # its files are another machine's
        _read_arguments(result, name, arguments, folder)

    return folder


def _read_nested_shell(
    result: CommandPaths, name: str, arguments: list[str], folder: str | None, depth: int
) -> None:
    """Read the commands of a shell: `sh -c TEXT`, `eval TEXT`, `sh FILE`."""
    if name == "eval":
        _read_text(result, " ".join(arguments), folder, depth + 1)
        return

    words = iter(arguments)
    for word in words:
        if word.startswith("-") and not word.startswith("--") and "c" in word:
            _read_text(result, next(words, ""), folder, depth + 1)
            return

    _read_arguments(result, name, arguments, folder)


def _changed_folder(folder: str | None, arguments: list[str]) -> str | None:
    """Return the folder after a `cd`; None if only the shell knows it."""
    folders = [word for word in arguments if word == "-" or not word.startswith("-")]
    if not folders or folders[0] == "-" or UNKNOWN in folders[0]:
        return None
    if folder is None and not _is_absolute(folders[0]):
        return None

    return resolve_path(folder or "", folders[0])


def _read_arguments(
    result: CommandPaths, name: str, arguments: list[str], folder: str | None
) -> None:
    # Whether the next plain argument is sought, or a script: a path only by chance.
    is_sought = name in _SEARCHERS and "-f" not in arguments
    read = name in _READERS and not any(word.startswith(("-i", "--in-place")) for word in arguments)

    words = iter(arguments)
    for word in words:
        if name == "find" and word.startswith("-"):
            return  # what follows are conditions

        if word == "-C" and name in ("git", "make", "gmake", "ninja", "tar"):
            changed = next(words, "-")
            if name != "git":
                result.add(changed, folder)
            folder = _changed_folder(folder, [changed])
        elif word in _CODE_OPTIONS and name_of(name) in _INTERPRETERS:
            _read_code(result, next(words, ""), folder)
        elif word in _TEXT_OPTIONS and name in _FORGES:
            next(words, "")
        elif word in ("-m", "--message", "-e") and (name in _SEARCHERS or name == "git"):
            next(words, "")
            is_sought = is_sought and word != "-e"
        elif word.startswith("-"):
            value = word.partition("=")[2]
            if "*" not in value:
                result.add(value, folder)
        elif is_sought and word:
            is_sought = False
            result.add(word, folder, sure=False)
        else:
            for path in _expand_braces(word):
                for part in _argument_paths(name, path):
                    result.add(part, folder, read=read)


def _argument_paths(name: str, word: str) -> list[str]:
    """Return what may be a path in an argument.

    Line numbers, names of tests, revisions and keys are taken off.
    """
    if "://" in word or word[1:3] in (":\\", ":/"):
        return [word]

    word = word.removeprefix("@")
    key, equals, value = word.partition("=")
    if equals and "/" not in key:
        return [value]

    head, colon, tail = word.partition(":")
    if not colon or tail.startswith(":") or tail[:1].isdigit() or not tail:
        return [head]
    if name in ("scp", "rsync"):
        return []

    return [tail] if name == "git" else [head, tail]


def _is_assignment(word: str) -> bool:
    key, equals, _ = word.partition("=")
    return bool(equals) and key.isidentifier()


def _is_absolute(word: str) -> bool:
    return word[0] in f"/~{PROJECT}" or word[1:2] == ":"


def _known_part(word: str) -> str:
    """Return the folder of a word before its first unknown part, or the whole word."""
    known, unknown, _ = word.partition(UNKNOWN)
    return known[: known.rfind("/") + 1] if unknown else word


def _expand_braces(word: str) -> list[str]:
    """Return the words that braces expand to: `a/{b,c}.py` is two."""
    pending = [word]
    words: list[str] = []
    while pending and len(words) + len(pending) <= MOST_PATHS:
        current = pending.pop(0)
        start = current.find("{")
        end = current.find("}", start)
        is_innermost = 0 <= start < end and current.rfind("{", 0, end) == start
        if is_innermost and "," in current[start:end]:
            alternatives = current[start + 1 : end].split(",")
            pending[:0] = [f"{current[:start]}{each}{current[end + 1 :]}" for each in alternatives]
        else:
            words.append(current)

    return words + pending
