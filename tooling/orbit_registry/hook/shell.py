"""Paths in a shell command, and what its programs are for.

It reads quotes, `cd x && …`, redirections, here-documents, substitutions and braces; variables and globs stay unknown.
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
from orbit_registry.hook.purpose import purpose_of

DEEPEST = 4  # most shells inside each other
_RESERVED = frozenset(("if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac", "in"))
_PREFIXES = frozenset(
    ("sudo", "env", "time", "nice", "nohup", "command", "exec", "builtin", "xargs", "timeout", "!", "{", "}", "stdbuf")
)  # fmt: skip
_SHELLS = frozenset(("sh", "bash", "zsh", "dash", "ksh", "eval"))
_PRINTERS = frozenset(("echo", "printf"))
_SEARCHERS = frozenset(("sed", "awk", "gawk", "grep", "egrep", "fgrep", "rg", "ag", "jq", "yq", "perl", "ssh"))
_READERS = frozenset(
    ("cat", "less", "more", "head", "tail", "bat", "view", "nl", "sed", "awk", "grep", "rg", "jq", "yq", "batcat", "wc")
)  # fmt: skip
_WITH_FOLDER_OPTION = frozenset(("git", "make", "tar", "ninja", "gmake"))


class CommandPaths:
    """Paths of a command: `paths`, `candidate_paths` (paths only where such a file exists), `reads` of both.

    `texts` are here-documents that it writes: file and text.
    """

    def __init__(self) -> None:
        self.paths: list[str] = []
        self.candidate_paths: list[str] = []
        self.reads: list[str] = []
        self.purposes: list[str] = []
        self.texts: list[tuple[str, str]] = []
        self.is_patch = False

    def add(self, word: str, folder: str | None, sure: bool = True, read: bool = False) -> None:
        """Add a word that is relative to a folder; it is dropped if the folder is unknown."""
        is_full = len(self.paths) + len(self.candidate_paths) >= MOST_PATHS
        if is_full or not word.strip("./\\") or len(word) > LONGEST_PATH:
            return
        if "://" in word and not word.startswith("file://"):
            return
        path = resolve_path(folder or "", word)
        if folder is None and path == word and word[:1] not in "/~" and word[1:2] != ":" and word[:1] != PROJECT:
            return
        target = self.paths if sure and looks_like_path(word.replace(PROJECT, "")) else self.candidate_paths
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


def _read_text(result: CommandPaths, text: str, folder: str | None, depth: int) -> None:
    outer: list[str | None] = []
    words: list[str] = []
    bodies: list[str] = []
    targets: list[str] = []
    tokens, inner = Scanner(text).run()
    at = 0
    while at < len(tokens):
        kind, content = tokens[at]
        at += 1
        if kind == "word":
            words.append(content)
        elif kind == "body":
            bodies.append(content)
            _read_here_document(result, content, words, folder, depth)
        elif kind in ("<", ">"):
            if at < len(tokens) and tokens[at][0] == "word":
                for word in _expand_braces(tokens[at][1]):
                    result.add(_known_part(word), folder, read=kind == "<")
                    targets += [_known_part(word)] if kind == ">" else []
                at += 1
        elif kind != "mark":
            _note_texts(result, words, bodies, targets, folder)
            folder = _read_command(result, words, folder, depth)
            words, bodies, targets = [], [], []
            if kind == "(":
                outer.append(folder)
            elif kind == ")" and outer:
                folder = outer.pop()
    _note_texts(result, words, bodies, targets, folder)
    folder = _read_command(result, words, folder, depth)
    if depth < DEEPEST:
        for word in inner:
            _read_text(result, word, folder, depth + 1)


def _note_texts(
    result: CommandPaths, words: list[str], bodies: list[str], targets: list[str], folder: str | None
) -> None:
    """Add the here-documents that a command writes to files."""
    if bodies and words and words[0] in ("cat", "tee") and folder is not None:
        names = words[1:] if words[0] == "tee" else targets
        result.texts += [(resolve_path(folder, name), body) for name in names if name[:1] != "-" for body in bodies]


def _read_here_document(result: CommandPaths, body: str, words: list[str], folder: str | None, depth: int) -> None:
    """Read a here-document that is a patch or a shell's input; any other is data."""
    name = words[0].rpartition("/")[2] if words else ""
    if PATCH in body or name in ("patch", "git"):
        _read_patch(result, body, folder)
    elif name in _SHELLS and depth < DEEPEST:
        _read_text(result, body, folder, depth + 1)


def _read_patch(result: CommandPaths, text: str, folder: str | None) -> None:
    for path in patch_paths(text):
        result.is_patch = True
        result.add(path, folder)
        if not looks_like_path(path) and folder is not None:  # a patch says what is a file: `Makefile`
            result.candidate_paths.remove(resolve_path(folder, path))
            result.paths.append(resolve_path(folder, path))


def _read_command(result: CommandPaths, words: list[str], folder: str | None, depth: int) -> str | None:
    """Add the paths of one command, and return the folder that the next one runs in."""
    at = 0
    while at < len(words) and (words[at] in _RESERVED or words[at] in _PREFIXES or _is_assignment(words[at])):
        if words[at] == "for":
            at += 2
        elif words[at] == "timeout":
            at += 1
        elif _is_assignment(words[at]):
            result.add(_known_part(words[at].partition("=")[2]), folder)
        at += 1
        while at < len(words) and words[at].startswith("-") and words[at - 1] in _PREFIXES:
            at += 1
    if at >= len(words):
        return folder
    name, arguments = words[at].rpartition("/")[2], words[at + 1 :]
    purpose = purpose_of(words[at:])
    if purpose and purpose not in result.purposes:
        result.purposes.append(purpose)
    if "/" in words[at]:
        result.add(_known_part(words[at]), folder)  # a script of the project
    if name in ("cd", "pushd", "chdir", "Set-Location"):
        return _changed_folder(folder, arguments)
    if name in ("apply_patch", "applypatch"):
        _read_patch(result, "\n".join(arguments), folder)
    elif name in _SHELLS and depth < DEEPEST:
        _read_nested_shell(result, name, arguments, folder, depth)
    elif name not in _PRINTERS:
        _read_arguments(result, name, arguments, folder)
    return folder


def _read_nested_shell(result: CommandPaths, name: str, arguments: list[str], folder: str | None, depth: int) -> None:
    """Read the commands of a shell: `sh -c TEXT`, `eval TEXT`, `sh FILE`."""
    if name == "eval":
        _read_text(result, " ".join(arguments), folder, depth + 1)
        return
    for position, word in enumerate(arguments):
        if word.startswith("-") and "c" in word and not word.startswith("--"):
            if position + 1 < len(arguments):
                _read_text(result, arguments[position + 1], folder, depth + 1)
            return
    _read_arguments(result, name, arguments, folder)


def _changed_folder(folder: str | None, arguments: list[str]) -> str | None:
    """Return the folder after a `cd`; None if only the shell knows it."""
    folders = [word for word in arguments if word == "-" or not word.startswith("-")]
    if not folders or folders[0] == "-" or UNKNOWN in folders[0]:
        return None
    if folder is None and folders[0][0] not in "/~\x01" and folders[0][1:2] != ":":
        return None
    return resolve_path(folder or "", folders[0])


def _read_arguments(result: CommandPaths, name: str, arguments: list[str], folder: str | None) -> None:
    unsure = name in _SEARCHERS and "-f" not in arguments
    read = name in _READERS and not any(word.startswith(("-i", "--in-place")) for word in arguments)
    here = folder
    at = 0
    while at < len(arguments):
        word = arguments[at]
        at += 1
        if name == "find" and word.startswith("-"):
            return  # what follows are conditions
        if word == "-C" and name in _WITH_FOLDER_OPTION and at < len(arguments):
            here = _changed_folder(here, [arguments[at]])
            at += 1
        elif (
            word in ("-m", "--message", "-e")
            and at < len(arguments)
            and name in ("git", "gh", "sed", "grep", "rg", "perl")
        ):
            unsure = unsure and word != "-e"
            at += 1
        elif word.startswith("-"):
            value = word.partition("=")[2]
            result.add("" if "*" in value else _known_part(value), here)
        elif unsure and word:  # what is sought, or a script: a path only by chance
            unsure = False
            result.add(_known_part(word), here, sure=False)
        else:
            for path in _expand_braces(word):
                for part in _argument_paths(name, path):
                    result.add(_known_part(part), here, read=read)


def _argument_paths(name: str, word: str) -> list[str]:
    """Return what may be a path in an argument: without line numbers, test names, revisions, keys."""
    if "://" in word or word[1:3] in (":\\", ":/"):
        return [word]
    if word.startswith("@"):
        word = word[1:]
    key, equals, value = word.partition("=")
    if equals and "/" not in key:
        return [value]
    head, colon, tail = word.partition(":")
    if not colon:
        return [word]
    if tail.startswith(":") or tail[:1].isdigit() or not tail:
        return [head]
    if name in ("scp", "rsync"):
        return []
    return [tail] if name == "git" else [head, tail]


def _is_assignment(word: str) -> bool:
    key, equals, _ = word.partition("=")
    return bool(equals) and key.replace("_", "a").isalnum() and not key[0].isdigit()


def _known_part(word: str) -> str:
    """Return the folder of a word before its first unknown part, or the whole word."""
    if UNKNOWN not in word:
        return word
    return word[: word[: word.index(UNKNOWN)].rfind("/") + 1]


def _expand_braces(word: str) -> list[str]:
    """Return the words that braces expand to: `a/{b,c}.py` is two."""
    pending = [word]
    words: list[str] = []
    while pending and len(words) + len(pending) <= MOST_PATHS:
        current = pending.pop(0)
        start = current.find("{")
        end = current.find("}", start)
        if start < 0 or end < 0 or "," not in current[start:end] or current.rfind("{", 0, end) != start:
            words.append(current)
        else:
            alternatives = current[start + 1 : end].split(",")
            pending[:0] = [f"{current[:start]}{each}{current[end + 1 :]}" for each in alternatives]
    return words + pending


UNKNOWN = "\0"  # placeholder in a word for what only a running shell knows
_ESCAPED = frozenset(" \t'\"$`\\()[]{}<>|&;*?#~!=")
_ENDS = frozenset(" \t\n;|&()<>'\"\\$`")


class Scanner:
    """Scanner of a shell text: words, breaks, redirections and here-documents, without expansion."""

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0
        self.found: list[tuple[str, str]] = []
        self.inner: list[str] = []
        self.parts: list[str] | None = None
        self.waiting: list[tuple[int, bool]] = []

    def run(self) -> tuple[list[tuple[str, str]], list[str]]:
        """Return the tokens, and the texts of command substitutions."""
        text = self.text
        while self.at < len(text):
            character = text[self.at]
            if character not in _ENDS:
                self._plain(character)
            elif character in " \t":
                self._end()
                self.at += 1
            elif character in "'\"\\$`":
                self._special(character)
            elif character in "<>":
                self._redirection(character)
            else:
                self._end()
                self.found.append((character, ""))
                self.at += 1
                if character == "\n" and self.waiting:
                    self._bodies()
        self._end()
        return self.found, self.inner

    def _put(self, piece: str) -> None:
        if self.parts is None:
            self.parts = []
        self.parts.append(piece)

    def _end(self) -> None:
        if self.parts is not None:
            self.found.append(("word", "".join(self.parts)))
            self.parts = None

    def _plain(self, character: str) -> None:
        text, start = self.text, self.at
        if character == "#" and self.parts is None:
            end = text.find("\n", start)
            self.at = end if end >= 0 else len(text)
            return
        while self.at < len(text) and text[self.at] not in _ENDS:
            self.at += 1
        self._put(text[start : self.at])

    def _special(self, character: str) -> None:
        text, at = self.text, self.at
        if character == "\\":
            after = text[at + 1 : at + 2]
            if after != "\n":
                self._put(after if after in _ESCAPED else character)
            self.at += 2 if after in _ESCAPED or after == "\n" else 1
        elif character == "'":
            end = text.find("'", at + 1)
            self.at = len(text) if end < 0 else end + 1
            self._put(text[at + 1 : end if end >= 0 else None])
        elif character == "`":
            end = text.find("`", at + 1)
            self.at = len(text) if end < 0 else end + 1
            self._inside(text[at + 1 : end if end >= 0 else None])
        elif character == "$":
            self._variable()
        else:
            self._quoted()

    def _quoted(self) -> None:
        self.at += 1
        self._put("")
        text = self.text
        while self.at < len(text) and text[self.at] != '"':
            character = text[self.at]
            if character == "$":
                self._variable()
            elif character == "\\" and text[self.at + 1 : self.at + 2] in ('"', "\\", "$", "`", "\n"):
                self._put(text[self.at + 1])
                self.at += 2
            elif character == "`":
                self._special(character)
            else:
                start = self.at
                self.at += 1
                while self.at < len(text) and text[self.at] not in '"$\\`':
                    self.at += 1
                self._put(text[start : self.at])
        self.at += 1

    def _variable(self) -> None:
        text, at = self.text, self.at + 1
        after = text[at : at + 1]
        if after == "(":
            depth, end = 1, at + 1
            while end < len(text) and depth:
                depth += (text[end] == "(") - (text[end] == ")")
                end += 1
            self.at = end
            self._inside(text[at + 1 : end - 1 if not depth else end])
            return
        if after == "'":  # $'…' is quoted text
            self.at = at
            return
        end = at
        if after == "{":
            end = text.find("}", at)
            name, self.at = (text[at + 1 :], len(text)) if end < 0 else (text[at + 1 : end], end + 1)
        else:
            while end < len(text) and (text[end].isalnum() or text[end] == "_"):
                end += 1
            name, self.at = text[at:end], end
        self._put("." if name == "PWD" else PROJECT if name == "CLAUDE_PROJECT_DIR" else UNKNOWN)

    def _inside(self, command: str) -> None:
        normalized = " ".join(command.split())
        self._put("." if normalized == "pwd" else PROJECT if normalized == "git rev-parse --show-toplevel" else UNKNOWN)
        if normalized != "pwd":
            self.inner.append(command)

    def _redirection(self, character: str) -> None:
        text, at = self.text, self.at
        if self.parts is not None and "".join(self.parts).isdigit():
            self.parts = None  # the number of a file that is open
        self._end()
        if text.startswith("<<<", at):
            self.at += 3
            return
        if text.startswith("<<", at):
            self.waiting.append((len(self.found), text.startswith("-", at + 2)))
            self.found.append(("body", ""))
            self.at += 3 if text.startswith("-", at + 2) else 2
            return
        while self.at < len(text) and text[self.at] in "<>|&":
            self.at += 1
        if text[self.at - 1] == "&" and text[self.at : self.at + 1] in ("-", "0", "1", "2"):
            self.at += 1  # another name of a file that is open
        elif text[self.at : self.at + 1] != "(":
            self.found.append((character, ""))

    def _bodies(self) -> None:
        """Read the here-documents announced on the line above, each up to its end word."""
        for position, stripped in self.waiting:
            name = self.found[position + 1][1] if position + 1 < len(self.found) else ""
            if position + 1 < len(self.found) and self.found[position + 1][0] == "word":
                self.found[position + 1] = ("mark", "")
            lines: list[str] = []
            while self.at < len(self.text):
                end = self.text.find("\n", self.at)
                line = self.text[self.at : end if end >= 0 else None]
                self.at = end + 1 if end >= 0 else len(self.text)
                if (line.lstrip("\t") if stripped else line) == name:
                    break
                lines.append(line)
            self.found[position] = ("body", "\n".join(lines))
        self.waiting = []
