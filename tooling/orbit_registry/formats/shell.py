"""What a shell script leaves open ahead of a line: a condition, a loop, a bracket, a text."""

import re
from collections.abc import Collection, Mapping

_TOKEN = re.compile(
    r"""(?sx)
      (?P<nothing>[^\S\n]+ | \\\r?\n | (?<![^\s;&|()])\#[^\n]*)
    | (?P<line>\n)
    | (?P<quoted>\\. | '[^']*' | "(?:\\.|[^"\\])*+")
    | (?P<quote>['"])
    | (?P<bracket>\(\(|\)\)|[()])
    | (?P<operator>&&|\|\|?|;;?|&)
    | <<< | <<(?P<tabs>-?)[ \t]*(?P<end>\\?[\w.-]+|'[^'\n]+'|"[^"\n]+")
    | (?P<word>[^\s;&|()<>'"\\]+)
    | .
    """
)
_CLOSES: Mapping[str, Collection[str]] = {
    "fi": ("if",),
    "esac": ("case",),
    "done": ("for", "select", "until", "while"),
    "}": ("{",),
}
_OPENING = frozenset(("if", "case", "for", "select", "until", "while"))
_BEFORE_COMMAND = frozenset(("!", "do", "elif", "else", "if", "then", "until", "while", "{"))
_JOINING = ("&&", "||", "|")
_DEEPEST = 50
"""Things that may be open at once; what is deeper is not read."""
_IN_TEXT = "a text or a line that is continued"


def left_open(script: str, starts: Collection[int]) -> Mapping[int, str]:
    """Return what the text ahead of some starts of lines leaves open there; empty where the line is
    a command that always runs.
    """
    reading = _Reading(script)
    open_at = dict.fromkeys(starts, _IN_TEXT)
    at: int | None = 0
    while at is not None and len(reading.open) <= _DEEPEST:
        if at in open_at:
            open_at[at] = " ".join((*reading.open, reading.joined)).strip()
        at = reading.next_line(at)

    return open_at


class _Reading:
    """Where the reading of a script is."""

    def __init__(self, script: str) -> None:
        self.script = script
        self.open: list[str] = []
        """The words and brackets that are open, the innermost last."""
        self.joined = ""
        """What joins the next command to the one before."""
        self.texts: list[tuple[str, str]] = []
        """Texts that begin on the next line: a dash where tabs are left out, and the last line."""
        self.is_command = True
        """Whether the next word is a command."""
        self.last = ""

    def next_line(self, at: int) -> int | None:
        """Read up to the next line that is no text, and return its start; None if there is none."""
        while (match := _TOKEN.match(self.script, at)) is not None and not match["quote"]:
            at = match.end()
            if match["line"]:
                self.is_command = True
                return self._after_texts(at)
            if not match["nothing"]:
                self._read(match)

        return None

    def _after_texts(self, at: int) -> int | None:
        for tabs, last in self.texts:
            line = None
            while line != last:
                if at >= len(self.script):
                    return None

                end = self.script.find("\n", at) + 1 or len(self.script)
                line = self.script[at:end].rstrip("\r\n")
                line = line.lstrip("\t") if tabs else line
                at = end

        self.texts = []
        return at

    def _read(self, match: re.Match[str]) -> None:
        token = match[0]
        if match["operator"]:
            self.joined = token if token in _JOINING else ""
            self.is_command = True
            self.last = token
            return

        self.joined = ""
        if match["end"] and "((" not in self.open:
            self.texts.append((match["tabs"], match["end"].strip("\\'\"")))
        elif match["bracket"]:
            self._bracket(token)
        else:
            self._word(token)

        self.last = token

    def _bracket(self, token: str) -> None:
        self.is_command = True
        if token in ("(", "(("):
            self.open.append(token)
            return

        for bracket in [token] if token == "))" and self.open[-1:] == ["(("] else token:
            self._close_bracket(bracket)

    def _close_bracket(self, token: str) -> None:
        # The pattern of a case has a bracket alone.
        if self.open[-1:] == ["case"]:
            return
        if token == ")" and self.open[-1:] == ["(("]:
            self.open[-1] = "("
        elif "(" in self.open or "((" in self.open:
            while not self.open.pop().startswith("("):
                pass

    def _word(self, word: str) -> None:
        if word == "{":
            # In PowerShell and JavaScript, brackets belong to a condition or a loop.
            if self.last == ")" and self.open[-1:] in (["if"], ["for"], ["while"]):
                self.open.pop()
            self.open.append(word)
        elif self.is_command and word in _OPENING:
            self.open.append(word)
        elif self.is_command and self.open and self.open[-1] in _CLOSES.get(word, ()):
            self.open.pop()

        self.is_command = self.is_command and word in _BEFORE_COMMAND
