"""Paths in a shell command, and what its programs are for.

`hook/commands.py` reads the shell's text; globs, and variables that the command does not set, stay
unknown.
"""

from itertools import pairwise

from orbit_registry.hook.call import (
    LONGEST_PATH,
    LONGEST_TEXT,
    MOST_PATHS,
    PATCH,
    PROJECT,
    is_patch,
    looks_like_path,
    patch_paths,
    resolve_path,
)
from orbit_registry.hook.commands import UNKNOWN, Command, commands_in
from orbit_registry.hook.purpose import name_of, program_at, purpose_of

DEEPEST = 4  # most shells inside each other
_GRAMMAR = "if then else elif fi for while until do done case esac in ! { }"
_RESERVED = frozenset(_GRAMMAR.split())
_WINDOWS_SHELLS = frozenset(("powershell", "pwsh", "cmd"))
_SHELLS = frozenset(("sh", "bash", "zsh", "dash", "ksh", "eval", *_WINDOWS_SHELLS))
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
_WRITERS = frozenset(("touch", "tee", "cp", "mv", "ln"))  # each plain argument is a file
_IN_WORDS = "--directory --cwd --chdir --cd --dir --working-directory --working-dir --work-tree"
_WITH_C = "git make gmake ninja pnpm env go cargo poetry mise meson"
_FOLDER_OPTIONS = {
    **dict.fromkeys(_WITH_C.split(), ("-C",)),
    **dict.fromkeys(("just", "task", "composer", "patch"), ("-d",)),
    **dict.fromkeys(("npm", "npx"), ("--prefix",)),
    **dict.fromkeys(("gradle", "gradlew"), ("-p", "--project-dir")),
    "sudo": ("-D",),
    "terraform": ("-chdir",),
    "tofu": ("-chdir",),
    "": tuple(_IN_WORDS.split()),
}
"""Options with the folder that a program works in; those of the empty name are any program's."""
_MEMBER_OPTIONS = {
    "npm": ("-w", "--workspace"),
    "npx": ("-w", "--workspace"),
    "pnpm": ("-F", "--filter"),
    "bun": ("-F", "--filter"),
    "yarn": ("workspace",),
}
"""Options with the name or the folder of the package, of several in a repository, to work in."""
_MEMBER_FOLDERS = ("", "packages/", "apps/", "libs/", "services/")


class CommandPaths:
    """Paths of a command; `candidate_paths` are paths only where such a file exists.

    `reads` are those of both that it reads, `texts` here-documents that it writes: file and text.
    `variables` are those that are set, `left` the folders that `pushd` has left.
    """

    def __init__(self) -> None:
        self.paths: list[str] = []
        self.candidate_paths: list[str] = []
        self.reads: list[str] = []
        self.purposes: list[str] = []
        self.texts: list[tuple[str, str]] = []
        self.is_patch = False
        self.variables = {"HOME": "~"}
        self.left: list[str | None] = []

    def add(
        self,
        word: str,
        folder: str | None,
        sure: bool = True,
        read: bool = False,
        written: bool = False,
    ) -> None:
        """Add the known part of a word; one that is relative to an unknown folder is dropped.

        What is `written` is a path whatever it looks like.
        """
        word = _known_part(word)
        if not word.strip("./\\") or len(word) > LONGEST_PATH:
            return
        if "://" in word and not word.startswith("file://"):
            return

        if folder is None and not _is_absolute(word):
            return

        target = self.candidate_paths
        if written or (sure and looks_like_path(word.replace(PROJECT, ""))):
            target = self.paths

        for path in _expand_braces(resolve_path(folder or "", word)):
            if len(self.paths) + len(self.candidate_paths) >= MOST_PATHS:
                return
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
    line = commands_in(text, result.variables)
    outer: list[str | None] = []
    commands = [*line.commands, Command()]

    for command, receiver in pairwise(commands):
        outer += [folder] * command.opens
        _read_redirections(result, command, folder, depth)
        folder = _read_command(result, command.words, folder, depth)
        is_passed = is_value or (command.mark == "|" and receiver.words[:1] == ["xargs"])
        if is_passed and command.words and command.words[0] in _PRINTERS:
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
    is_comparison = command.words[:1] == ["[["]
    for sign, path in command.files:
        is_written = sign == ">" and not is_comparison
        result.add(path, folder, read=sign == "<", written=is_written)

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
    outer = folder
    words, folder, _ = _without_folders(CommandPaths(), words, folder)
    program = words[program_at(words) :]
    name = name_of(program[0]) if program else ""
    if PATCH in body or is_patch(body) or name in ("patch", "git"):
        _read_patch(result, body, folder)
    elif name in _SHELLS and name != "cmd" and depth < DEEPEST:
        _read_text(result, body, folder, depth + 1)
    elif name in _INTERPRETERS:
        _read_code(result, body, folder)
    elif name in ("cat", "tee") and outer is not None:
        for file in program[1:] if name == "tee" else targets:
            if file[:1] != "-":
                result.texts.append((resolve_path(outer, _known_part(file)), body))


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

    # The folder that this command alone works in.
    outer = folder
    words, folder, member = _without_folders(result, words[at:], folder)
    if not words:
        return outer

    purpose = purpose_of(words)
    if purpose and purpose not in result.purposes:
        result.purposes.append(purpose)
    if "/" in words[0] or "\\" in words[0]:
        result.add(words[0], folder)  # a script of the project

    at = program_at(words)
    _read_arguments(result, "", words[1 : at + 1], folder)
    words = words[at:]
    if not words:
        return outer

    name, arguments = words[0].rpartition("/")[2], words[1:]
    if name in ("pushd", "Push-Location"):
        result.left.append(folder)
    if name in ("popd", "Pop-Location"):
        return result.left.pop() if result.left else None
    if name in ("cd", "pushd", "chdir", "Set-Location", "Push-Location"):
        return _changed_folder(folder, arguments)

    if name in ("apply_patch", "applypatch"):
        _read_patch(result, "\n".join(arguments), folder)
    elif name_of(name) in _SHELLS and depth < DEEPEST:
        _read_nested_shell(result, name_of(name), arguments, folder, depth)
    elif member:
        _read_in_member(result, name, arguments, folder, member)
    elif name not in _PRINTERS and name != "ssh":  # its files are another machine's
        _read_arguments(result, name, arguments, folder)

    return outer


def _without_folders(
    result: CommandPaths, words: list[str], folder: str | None
) -> tuple[list[str], str | None, str]:
    """Take the options off a command that say where it works.

    Return its other words, that folder, and the package whose folder only its name tells.
    """
    others: list[str] = []
    member = name = ""
    pending = iter(words)
    for word in pending:
        option, equals, value = word.partition("=")
        short = _FOLDER_OPTIONS.get(name, ())
        if word[:2] == "-C" and word[2:] and "-C" in short and not equals:
            option, equals, value = "-C", "=", word[2:]

        if option in short or option in _FOLDER_OPTIONS[""]:
            value = value if equals else next(pending, "-")
            if name != "git":
                result.add(value, folder)
            folder = _changed_folder(folder, [value])
        elif option in _MEMBER_OPTIONS.get(name, ()):
            value = (value if equals else next(pending, "")).removesuffix("...").strip("{}^!")
            if "/" in value and value[0] != "@":
                result.add(value, folder)
                folder = _changed_folder(folder, [value])
            else:
                member = value.rpartition("/")[2]
        else:
            others.append(word)
            if word == "--" or word in _SEARCHERS or word in _PRINTERS:
                break
            if name == "git" and word == "-c":
                others.append(next(pending, ""))
            elif word[:1] != "-":
                program = name_of(word)
                is_program = program in _FOLDER_OPTIONS or program in _MEMBER_OPTIONS
                # What follows a word of git is of its command.
                name = program if is_program else name * (name != "git")

    return [*others, *pending], folder, member


def _read_in_member(
    result: CommandPaths, name: str, arguments: list[str], folder: str | None, member: str
) -> None:
    """Add the arguments of a command for one package: paths where a folder has such a file."""
    for start in _MEMBER_FOLDERS:
        inside = CommandPaths()
        _read_arguments(inside, name, arguments, resolve_path(folder or "", start + member))
        result.candidate_paths += [*inside.paths, *inside.candidate_paths]

    del result.candidate_paths[MOST_PATHS - len(result.paths) :]


def _read_nested_shell(
    result: CommandPaths, name: str, arguments: list[str], folder: str | None, depth: int
) -> None:
    """Read the commands of a shell: `sh -c TEXT`, `eval TEXT`, `sh FILE`."""
    if name == "eval":
        _read_text(result, " ".join(arguments), folder, depth + 1)
        return

    words = iter(arguments)
    for word in words:
        if name in _WINDOWS_SHELLS:
            if word.casefold() in ("-command", "-c", "/c", "/k"):
                _read_text(result, " ".join(words), folder, depth + 1)
                return
        elif word.startswith("-") and not word.startswith("--") and "c" in word:
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
    written = name in _WRITERS
    read = name in _READERS and not any(word.startswith(("-i", "--in-place")) for word in arguments)

    words = iter(arguments)
    for word in words:
        if name == "find" and word.startswith("-"):
            return  # what follows are conditions

        if word == "-C" and name == "tar":  # for what follows, not for the archive before it
            changed = next(words, "-")
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
                    result.add(part, folder, read=read, written=written)


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

    if name == "git":
        return [tail]

    return [head, tail]


def _is_assignment(word: str) -> bool:
    key, equals, _ = word.partition("=")
    return bool(equals) and key.isidentifier()


def _is_absolute(word: str) -> bool:
    return word[0] in f"/~{PROJECT}" or word[1:2] == ":"


def _known_part(word: str) -> str:
    """Return the folder of a word before its first unknown part, or the whole word."""
    known, unknown, _ = word.partition(UNKNOWN)
    if unknown:
        return known[: known.rfind("/") + 1]

    return word


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
