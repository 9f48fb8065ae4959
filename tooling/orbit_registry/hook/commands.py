"""Commands of a shell text as they were typed: the one reader of quotes, marks and here-documents.

The hook and capture both read with it. What a command means is not decided here.
"""

from orbit_registry.hook.call import PROJECT

UNKNOWN = "\0"  # placeholder in a word for what only a running shell knows
_VARIABLES = {"PWD": ".", "CLAUDE_PROJECT_DIR": PROJECT}
_BEFORE_WORDS = "export local readonly declare typeset env do then else if while until ! {"
_BEFORE = frozenset(_BEFORE_WORDS.split())
"""Words behind which `NAME=value` still sets a variable."""


class Command:
    """One command as it was typed: its words without quotes, and the files of its redirections.

    `mark` is what follows it: `|`, `&&`, `;`, … or nothing. `opens` and `closes` count the
    subshells that begin before it and end behind it. `files` are pairs of `<` or `>` and a file,
    `bodies` are here-documents.
    """

    def __init__(self) -> None:
        self.words: list[str] = []
        self.files: list[tuple[str, str]] = []
        self.bodies: list[str] = []
        self.mark = ""
        self.opens = self.closes = 0

    @property
    def is_empty(self) -> bool:
        """Whether nothing was typed."""
        return not (self.words or self.files or self.bodies)


class Line:
    """The commands of a text, and the texts of its substitutions.

    `is_whole` is false where a quote or a substitution has no end, or where a parenthesis is none
    of a subshell.
    """

    def __init__(self, commands: list[Command], inner: list[str], is_whole: bool) -> None:
        self.commands, self.inner, self.is_whole = commands, inner, is_whole


def commands_in(text: str, variables: dict[str, str] | None = None) -> Line:
    """Return the commands of a shell's text, in their order.

    With `variables` their values replace them, and those that the text sets are added.
    """
    scanner = Scanner(text, variables)
    commands: list[Command] = []
    current = Command()
    is_whole = True

    for kind, content in [*scanner.run(), ("\n", "")]:
        if kind == "word":
            current.words.append(content)
        elif kind == "body":
            current.bodies.append(content)
        elif kind in "<>":
            current.files.append((kind, content))
        else:
            if not current.is_empty:
                commands.append(current)
                current = Command()
                is_whole &= kind != "("
            _add_mark(kind, commands, current)

    is_whole &= sum(command.opens - command.closes for command in commands) == 0
    return Line(commands, scanner.inner, is_whole and scanner.is_whole)


def _add_mark(mark: str, commands: list[Command], following: Command) -> None:
    if mark == "(":
        following.opens += 1
    elif mark == ")" and following.opens:
        following.opens -= 1
    elif mark == ")" and commands:
        commands[-1].closes += 1
    elif commands and mark == "\n":
        commands[-1].mark = commands[-1].mark or ";"
    elif commands:
        commands[-1].mark += mark


_BREAKS = " \t\n;|&()<>"
_ESCAPED = frozenset(" \t\n'\"$`\\()[]{}<>|&;*?#~!=")
_ESCAPED_IN_QUOTES = frozenset('"\\$`\n')


class Scanner:
    """Scanner of a shell text; `inner` are the texts of command substitutions."""

    def __init__(self, text: str, variables: dict[str, str] | None = None) -> None:
        self.text = text
        self.variables = variables
        self.at = 0
        self.inner: list[str] = []
        self.is_whole = True
        self._tokens: list[tuple[str, str]] = []
        self._words: list[str] = []  # of the command that is read

        # Here-documents: token, end word, whether tabs are stripped.
        self._waiting: list[tuple[int, str, bool]] = []

    def run(self) -> list[tuple[str, str]]:
        """Return the tokens: words, redirections with their file, here-documents and breaks.

        The kinds are "word", "<" and ">", "body", and a break's own sign.
        """
        text = self.text
        while self.at < len(text):
            character = text[self.at]
            if character in " \t":
                self.at += 1
            elif text.startswith("\\\n", self.at):
                self.at += 2
            elif character == "#":
                self._until("\n")
                self.at -= self.at < len(text)
            elif character in "<>" or text.startswith("&>", self.at):
                self._redirection(">" if character == "&" else character)
            elif character in _BREAKS:
                self._end_command(character)
                self.at += 1
                if character == "\n":
                    self._bodies()
            else:
                word = self._word(_BREAKS)
                self._tokens.append(("word", word))
                if self.variables is not None:
                    self._note_word(word, self.variables)

        return self._tokens

    def _end_command(self, mark: str) -> None:
        self._tokens.append((mark, ""))
        words, self._words = self._words, []
        if self.variables is not None and words[:1] == ["for"] and words[2:3] == ["in"]:
            values = words[3:]
            # The paths of a word in braces are all of them.
            several = f"{{{','.join(values)}}}"
            self.variables[words[1]] = several if len(values) > 1 else "".join(values)

    def _note_word(self, word: str, variables: dict[str, str]) -> None:
        """Note a word of the command, or the variable that it sets if no program precedes it."""
        name, equals, value = word.partition("=")
        is_first = not self._words
        if is_first and equals and name.isidentifier():
            variables[name] = value
        elif not is_first or (word not in _BEFORE and word[:1] != "-"):
            self._words.append(word)

    def _word(self, ends: str) -> str:
        """Return the text up to one of some characters, without quotes.

        In quotes the end is the quote.
        """
        text = self.text
        is_quoted = ends == '"'
        escaped = _ESCAPED_IN_QUOTES if is_quoted else _ESCAPED

        parts: list[str] = []
        while self.at < len(text) and text[self.at] not in ends:
            character = text[self.at]
            self.at += 1

            if character == "'" and not is_quoted:
                parts.append(self._quoted("'"))
            elif character == '"':
                parts.append(self._word('"'))
                self.is_whole &= self.at < len(text)
                self.at += 1
            elif character == "`":
                parts.append(self._substituted(self._quoted("`")))
            elif character == "$":
                parts.append(self._variable(is_quoted=is_quoted))
            elif character == "\\" and text[self.at : self.at + 1] in escaped:
                parts.append(text[self.at].strip("\n"))
                self.at += 1
            else:
                parts.append(character)

        return "".join(parts)

    def _until(self, sign: str) -> str:
        """Return the text up to a sign, and go on behind it."""
        start = self.at
        end = self.text.find(sign, start)
        if end < 0:
            end = len(self.text)

        self.at = min(end + 1, len(self.text))
        return self.text[start:end]

    def _quoted(self, sign: str) -> str:
        self.is_whole &= self.text.find(sign, self.at) >= 0
        return self._until(sign)

    def _variable(self, *, is_quoted: bool) -> str:
        text, start = self.text, self.at
        if text.startswith("(", start):
            depth = 1
            while self.at + 1 < len(text) and depth:
                self.at += 1
                depth += (text[self.at] == "(") - (text[self.at] == ")")

            self.is_whole &= not depth
            self.at += 1
            return self._substituted(text[start + 1 : self.at - (not depth)])

        if text.startswith(("'", '"'), start):  # $'…' is quoted text
            return ""

        default = UNKNOWN
        if text.startswith("{", start):
            name, colon, other = self._until("}")[1:].partition(":-")
            if colon and self.variables is not None and "$" not in other:
                default = other
        else:
            while self.at < len(text) and (text[self.at].isalnum() or text[self.at] == "_"):
                self.at += 1

            name = text[start : self.at]

        value = _VARIABLES.get(name, default)
        if self.variables is None:
            return value

        value = self.variables.get(name, value)
        words = value.split()
        if len(words) > 1 and not is_quoted:
            return f"{{{','.join(words)}}}"

        return value

    def _substituted(self, command: str) -> str:
        normalized = " ".join(command.split())
        if normalized == "pwd":
            return "."

        self.inner.append(command)
        if normalized == "git rev-parse --show-toplevel":
            return PROJECT

        return UNKNOWN

    def _redirection(self, character: str) -> None:
        text, start = self.text, self.at
        if self._tokens and self._tokens[-1][1].isdigit() and text[start - 1].isdigit():
            self._tokens.pop()  # the number of a file that is open

        while self.at < len(text) and text[self.at] in "<>|&":
            self.at += 1

        sign = text[start : self.at]
        if sign == "<<<" or text.startswith("(", self.at):
            return

        is_stripped = sign == "<<" and text.startswith("-", self.at)
        self.at += is_stripped
        while text[self.at : self.at + 1] in (" ", "\t"):
            self.at += 1

        word = self._word(_BREAKS)
        is_open = sign[-1] == "&" and (word == "-" or word.isdigit())  # a file that is open
        if sign == "<<":
            self._waiting.append((len(self._tokens), word, is_stripped))
            self._tokens.append(("body", ""))
        elif not is_open:
            self._tokens.append((character, word))

    def _bodies(self) -> None:
        """Read the here-documents announced on the line above, each up to its end word."""
        for position, name, is_stripped in self._waiting:
            lines: list[str] = []
            while self.at < len(self.text):
                line = self._until("\n")
                end = line.lstrip("\t") if is_stripped else line
                if end == name:
                    break

                lines.append(line)

            self._tokens[position] = ("body", "\n".join(lines))

        self._waiting = []
