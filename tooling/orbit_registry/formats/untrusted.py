"""Untrusted text made harmless for a terminal, a report or an agent's context."""

import json
import re
import unicodedata

# Soft hyphens, joiners (U+200C, U+200D) and single variation selectors belong to scripts and emoji,
# so they are allowed. Several of them in a row spell words for a model, and so does a selector for
# ideographs that follows something else.
_SELECTOR = "[\ufe00-\ufe0f\U000e0100-\U000e01ef]"
_SELECTORS = (
    f"(?<={_SELECTOR}){_SELECTOR}"
    "|(?<![\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff])[\U000e0100-\U000e01ef]"
)
_JOINERS = "(?<=[\u00ad\u200c\u200d])[\u00ad\u200c\u200d]"
_FILLERS = (
    "\u034f\u115f\u1160\u17b4\u17b5\u180e\u206a-\u206f\u3164\uffa0\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0000-\U000e00ff\U000e01f0-\U000e0fff"
)
"""Characters without a shape: fillers, old format controls, tags."""
# Patterns are texts here: each takes a millisecond to compile, and few commands need more than one.
HIDDEN = (
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f"
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
    f"\u200b\u2060-\u2064\ufeff\ufff9-\ufffb{_FILLERS}]|{_SELECTORS}|{_JOINERS}"
)
"""Hidden characters, which the gate reports: people don't see them, programs act on them."""
RETYPE = "type the line again, without what was pasted"
_CONTROL_NAMES = {
    "\x1b": "ESCAPE",
    "\x00": "NULL",
    "\x07": "BELL",
    "\x08": "BACKSPACE",
    "\x7f": "DELETE",
}
_HIDDEN = (
    "\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    f"\ud800-\udfff\ufeff\ufff9-\ufffb{_FILLERS}"
)
"""All of `HIDDEN` and more: tags (U+E0000 on) spell words for a model, no file has surrogates."""
_UNSEEN = f"(?:[\x00-\x1f{_HIDDEN}]|{_SELECTORS})+"
_UNSEEN_BUT_LAYOUT = f"(?:[\x00-\x08\x0b-\x1f{_HIDDEN}]|{_SELECTORS})+"
_UNSEEN_IN_JSON = f"[{_HIDDEN}]|{_SELECTORS}"
_STEERS_SCREEN = (
    "[\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f-\\x9f\\u061c\\u200b\\u200e\\u200f\\u2028-\\u202e\\u2060-\\u2069\\ud800-\\udfff\\ufeff\\ufff9-\\ufffb"
    f"{_FILLERS}]|\r(?!\n)"
)
"""Characters that steer a terminal or are invisible on it."""
_TAG = re.compile(r"<(?=[/!?A-Za-z])")
_HOME = re.compile(r"(?:/home/|/Users/|[A-Za-z]:\\Users\\)[^/\\\s\"'`<>|:]+")
_MAIL = re.compile(
    r"(?<![\w.+-])(?!git@)[\w.+-]{1,64}@(?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z]{2,24}(?![\w@])"
)


def first_hidden(text: str) -> tuple[int, str] | None:
    """Return where the first hidden character of a text is, and which it is and how many follow."""
    if text.isascii() and text.replace("\n", " ").isprintable():
        return None

    matches = list(re.finditer(HIDDEN, text))
    if not matches:
        return None

    first = matches[0][0]
    name = unicodedata.name(first, _CONTROL_NAMES.get(first, "control character")).lower()
    words = f"the hidden character U+{ord(first):04X} ({name})"
    if len(matches) > 1:
        words += f" and {len(matches) - 1} more"

    return matches[0].start(), words


def inert_line(text: str) -> str:
    """Return a text as one line without hidden characters, tags, homes and e-mail addresses."""
    words = re.sub(_UNSEEN, " ", _without_personal_data(text)).split()
    return _TAG.sub("&lt;", " ".join(words))


def inert_text(text: str) -> str:
    """Return a text like `inert_line`, with its line ends and tabs."""
    line_text = _without_personal_data(text.replace("\r\n", "\n").replace("\r", "\n"))
    return _TAG.sub("&lt;", re.sub(_UNSEEN_BUT_LAYOUT, " ", line_text))


def inert_json(text: str) -> str:
    """Return equal JSON whose hidden characters, which could steer a terminal, are escaped."""
    return re.sub(_UNSEEN_IN_JSON, lambda match: json.dumps(match[0])[1:-1], text)


def _without_personal_data(text: str) -> str:
    if "/home/" in text or "Users" in text:
        text = _HOME.sub("~", text)
    if "@" in text:
        text = _MAIL.sub("[e-mail]", text)

    return text


def visible(text: str) -> str:
    """Return a text whose hidden characters, but for line ends and tabs, are written as escapes."""
    if text.isascii() and text.replace("\n", " ").isprintable():
        return text

    return re.sub(_STEERS_SCREEN, lambda match: repr(match[0])[1:-1], text)


_RUNNER_COMMAND = re.compile(
    r"(?m)^(?P<indent>[^\S\r\n]*):(?=:[A-Za-z][\w-]*[^\r\n]*?::)"
    r"|#(?=#(?:\[|vso\[|teamcity\[))"
)
"""What begins a command to a runner of CI: `::error …::`, `##[error]`, `##vso[task …]`."""


def shown(text: str) -> str:
    """Return a visible text in which no line is a command to a runner of CI."""

    def escape(match: re.Match[str]) -> str:
        return f"{match['indent'] or ''}\\x{ord(match[0][-1]):02x}"

    return _RUNNER_COMMAND.sub(escape, visible(text))


def cut(text: str, longest: int) -> str:
    """Return a text of at most `longest` characters: a longer one ends with an ellipsis."""
    if len(text) <= longest:
        return text

    return f"{text[: longest - 1].rstrip()}…"


def json_text(data: object) -> str:
    """Return data as indented JSON with hidden characters and commands to runners escaped."""
    text = inert_json(json.dumps(data, ensure_ascii=False, indent=2, default=str))
    return text.replace("##[", "\\u0023#[").replace("##vso[", "\\u0023#vso[")


def escaped_line(text: str) -> str:
    """Return a text with its line breaks as escapes, so that it can't begin a line of output."""
    return text.replace("\r", "\\r").replace("\n", "\\n")
