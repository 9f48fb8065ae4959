"""Takes a text for a shell apart into words, breaks, redirections and here-documents; it knows no command.

A text that ends inside of quotes is read to its end. No shell is asked, and nothing is expanded.
"""

from orbit_registry.hook.call import PROJECT

UNKNOWN = "\0"
"""Stands in a word for what only a running shell knows."""
_ESCAPED = frozenset(" \t'\"$`\\()[]{}<>|&;*?#~!=")
_ENDS = frozenset(" \t\n;|&()<>'\"\\$`")


class Scanner:
    """Takes a text for a shell apart into words, breaks, redirections and here-documents."""

    __slots__ = ("at", "found", "inner", "parts", "text", "waiting")

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0
        self.found: list[tuple[str, str]] = []
        self.inner: list[str] = []
        self.parts: list[str] | None = None
        self.waiting: list[tuple[int, bool]] = []

    def run(self) -> tuple[list[tuple[str, str]], list[str]]:
        """Return the tokens, and the texts of commands that stand inside of words."""
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
        """Take what begins with a dollar sign: known are the folder one is in and the project's own."""
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
        """Read the here-documents that were announced on the line above: the word after the mark ends each one."""
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
