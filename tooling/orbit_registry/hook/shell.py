"""Finds the paths that a shell command names: a small reader of what people and agents write, not a shell.

Quotes, escapes, `cd x && …`, redirections, here-documents, substitutions and braces are understood; what only a running
shell could know (variables, globs' matches) is left open. It opens no file, knows no agent, and never fails on a text.
"""

from orbit_registry.hook.call import LONGEST_PATH, MOST_PATHS, PROJECT, joined
from orbit_registry.hook.shell_tokens import UNKNOWN, Scanner
from orbit_registry.hook.words import LONGEST_TEXT, PATCH, looks_like_path, patch_paths

DEEPEST = 4
"""How many shells inside each other are read."""
_RESERVED = frozenset(("if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac", "in"))
_BEFORE = frozenset(
    ("sudo", "env", "time", "nice", "nohup", "command", "exec", "builtin", "xargs", "timeout", "!", "{", "}", "stdbuf")
)  # fmt: skip
_NESTING = frozenset(("sh", "bash", "zsh", "dash", "ksh", "eval"))
_SAYING = frozenset(("echo", "printf"))
_SEEKING = frozenset(("sed", "awk", "gawk", "grep", "egrep", "fgrep", "rg", "ag", "jq", "yq", "perl", "ssh"))
_READING = frozenset(
    ("cat", "less", "more", "head", "tail", "bat", "view", "nl", "sed", "awk", "grep", "rg", "jq", "yq", "batcat", "wc")
)  # fmt: skip
_FOLDERS = frozenset(("git", "make", "tar", "ninja", "gmake"))


class Words:
    """What a command names: `paths`; `maybe`, words that are paths only where such a file is; `reads`, those of both
    that a command reads; `patched`, whether it holds a patch of files."""

    __slots__ = ("maybe", "patched", "paths", "reads")

    def __init__(self) -> None:
        self.paths: list[str] = []
        self.maybe: list[str] = []
        self.reads: list[str] = []
        self.patched = False

    def add(self, said: str, folder: str | None, sure: bool = True, read: bool = False) -> None:
        """Take a word, seen from a folder; one that counts from a folder nobody knows is left out."""
        if len(self.paths) + len(self.maybe) >= MOST_PATHS or not said.strip("./\\") or len(said) > LONGEST_PATH:
            return
        if "://" in said and not said.startswith("file://"):
            return
        place = joined(folder or "", said)
        if folder is None and place == said and said[:1] not in "/~" and said[1:2] != ":" and said[:1] != PROJECT:
            return
        kept = self.paths if sure and looks_like_path(said.replace(PROJECT, "")) else self.maybe
        if place not in kept:
            kept.append(place)
        if read:
            self.reads.append(place)


def words_in(command: str | list[str]) -> Words:
    """Return what a command names: a text for a shell, or the words of one command."""
    found = Words()
    if isinstance(command, str):
        _read(found, command[:LONGEST_TEXT], "", 0)
        if len(command) > LONGEST_TEXT and PATCH in command:
            _patch(found, command, "")
    elif command:
        _simple(found, [*command], "", 0)
    return found


def _read(found: Words, text: str, folder: str | None, depth: int) -> None:
    """Read a text for a shell: its commands one after another, with the folder that each of them is run in."""
    outer: list[str | None] = []
    words: list[str] = []
    tokens, inner = Scanner(text).run()
    at = 0
    while at < len(tokens):
        kind, said = tokens[at]
        at += 1
        if kind == "word":
            words.append(said)
        elif kind == "body":
            _body(found, said, words, folder, depth)
        elif kind in ("<", ">"):
            if at < len(tokens) and tokens[at][0] == "word":
                for one in _braced(tokens[at][1]):
                    found.add(_known(one), folder, read=kind == "<")
                at += 1
        elif kind != "mark":
            folder = _simple(found, words, folder, depth)
            words = []
            if kind == "(":
                outer.append(folder)
            elif kind == ")" and outer:
                folder = outer.pop()
    folder = _simple(found, words, folder, depth)
    if depth < DEEPEST:
        for one in inner:
            _read(found, one, folder, depth + 1)


def _body(found: Words, body: str, words: list[str], folder: str | None, depth: int) -> None:
    """Read a here-document: a patch, or what a shell is given to run; any other is data."""
    name = words[0].rpartition("/")[2] if words else ""
    if PATCH in body or name in ("patch", "git"):
        _patch(found, body, folder)
    elif name in _NESTING and depth < DEEPEST:
        _read(found, body, folder, depth + 1)


def _patch(found: Words, text: str, folder: str | None) -> None:
    for path in patch_paths(text):
        found.patched = True
        found.add(path, folder)
        if not looks_like_path(path) and folder is not None:  # a patch says what is a file: `Makefile`
            found.maybe.remove(joined(folder, path))
            found.paths.append(joined(folder, path))


def _simple(found: Words, words: list[str], folder: str | None, depth: int) -> str | None:
    """Take the paths of one command, and return the folder that the next one is run in."""
    at = 0
    while at < len(words) and (words[at] in _RESERVED or words[at] in _BEFORE or _assigned(words[at])):
        if words[at] == "for":
            at += 2
        elif words[at] == "timeout":
            at += 1
        elif _assigned(words[at]):
            found.add(_known(words[at].partition("=")[2]), folder)
        at += 1
        while at < len(words) and words[at].startswith("-") and words[at - 1] in _BEFORE:
            at += 1
    if at >= len(words):
        return folder
    name, rest = words[at].rpartition("/")[2], words[at + 1 :]
    if "/" in words[at]:
        found.add(_known(words[at]), folder)  # a script of the project
    if name in ("cd", "pushd", "chdir", "Set-Location"):
        return _moved(folder, rest)
    if name in ("apply_patch", "applypatch"):
        _patch(found, "\n".join(rest), folder)
    elif name in _NESTING and depth < DEEPEST:
        _nested(found, name, rest, folder, depth)
    elif name not in _SAYING:
        _arguments(found, name, rest, folder)
    return folder


def _nested(found: Words, name: str, rest: list[str], folder: str | None, depth: int) -> None:
    """Read what a shell is told to run: `sh -c TEXT`, `eval TEXT`, `sh FILE`."""
    if name == "eval":
        _read(found, " ".join(rest), folder, depth + 1)
        return
    for place, word in enumerate(rest):
        if word.startswith("-") and "c" in word and not word.startswith("--"):
            if place + 1 < len(rest):
                _read(found, rest[place + 1], folder, depth + 1)
            return
    _arguments(found, name, rest, folder)


def _moved(folder: str | None, rest: list[str]) -> str | None:
    """Return the folder that a `cd` leads to; None where only the shell knows."""
    wanted = [word for word in rest if word == "-" or not word.startswith("-")]
    if not wanted or wanted[0] == "-" or UNKNOWN in wanted[0]:
        return None
    if folder is None and wanted[0][0] not in "/~\x01" and wanted[0][1:2] != ":":
        return None
    return joined(folder or "", wanted[0])


def _arguments(found: Words, name: str, rest: list[str], folder: str | None) -> None:
    """Take the paths among a command's arguments."""
    unsure = name in _SEEKING and "-f" not in rest
    read = name in _READING and not any(word.startswith(("-i", "--in-place")) for word in rest)
    here = folder
    at = 0
    while at < len(rest):
        word = rest[at]
        at += 1
        if name == "find" and word.startswith("-"):
            return  # what follows are conditions
        if word == "-C" and name in _FOLDERS and at < len(rest):
            here = _moved(here, [rest[at]])
            at += 1
        elif (
            word in ("-m", "--message", "-e") and at < len(rest) and name in ("git", "gh", "sed", "grep", "rg", "perl")
        ):
            unsure = unsure and word != "-e"
            at += 1
        elif word.startswith("-"):
            value = word.partition("=")[2]
            found.add("" if "*" in value else _known(value), here)
        elif unsure and word:  # what is sought, or a script: a path only by chance
            unsure = False
            found.add(_known(word), here, sure=False)
        else:
            for one in _braced(word):
                for said in _parts(name, one):
                    found.add(_known(said), here, read=read)


def _parts(name: str, word: str) -> list[str]:
    """Return what of an argument may be a path: without a line's number, a test's name, a revision, a key."""
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


def _assigned(word: str) -> bool:
    key, equals, _ = word.partition("=")
    return bool(equals) and key.replace("_", "a").isalnum() and not key[0].isdigit()


def _known(word: str) -> str:
    """Return a word as far as it is known: the folder before what only the shell knows."""
    if UNKNOWN not in word:
        return word
    return word[: word[: word.index(UNKNOWN)].rfind("/") + 1]


def _braced(word: str) -> list[str]:
    """Return the words that braces stand for: `a/{b,c}.py` is two."""
    left = [word]
    found: list[str] = []
    while left and len(found) + len(left) <= MOST_PATHS:
        one = left.pop(0)
        start = one.find("{")
        end = one.find("}", start)
        if start < 0 or end < 0 or "," not in one[start:end] or one.rfind("{", 0, end) != start:
            found.append(one)
        else:
            left[:0] = [f"{one[:start]}{middle}{one[end + 1 :]}" for middle in one[start + 1 : end].split(",")]
    return found + left
