"""Words, links and code as Markdown, in which no text means more than itself."""

import re
from functools import lru_cache

from orbit_registry.site.sanitize import MARKED

_SPECIAL = re.compile(r"[\\`*\[\]<]|(?<![^\W_])_|_(?![^\W_])|&(?=#?\w{1,32};)|~(?=~)")
_BLOCK = re.compile(r"(\d{1,9}(?=[.)](?:\s|$)))|(?=#{1,6}(?:\s|$)|[-+](?:\s|$)|>|[=-]+$)")
"""What would begin a block at the start of a line."""
_TICKS = re.compile(r"`+")
_UNSAFE = {ord(character): f"%{ord(character):02X}" for character in " ()<>\\\"'\n\r\t"}
SAFE = ("https://", "http://", "mailto:")
SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//")


def escaped(text: str) -> str:
    """Return plain text as Markdown that means it."""
    text = _SPECIAL.sub(r"\\\g<0>", text)
    opening = _BLOCK.match(text)
    if opening is None:
        return text

    return f"{opening[0]}\\{text[opening.end() :]}"


@lru_cache(maxsize=1 << 14)
def inline(text: str) -> str:
    """Return one line of a record as Markdown, with code, strong text, and the words alone of
    links.
    """
    out = []
    at = 0
    for match in MARKED.finditer(text):
        span, words, strong, stressed = match.groups()
        if span:
            marked = code(span)
        elif strong:
            marked = f"**{escaped(strong)}**"
        else:
            marked = escaped(words or stressed)

        out += [escaped(text[at : match.start()]), marked]
        at = match.end()

    return _line("".join([*out, escaped(text[at:])]))


def code(text: str) -> str:
    """Return a span of code."""
    text = _line(text)
    ticks = _longer_ticks(text, 1)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    if text:
        return f"{ticks}{pad}{text}{pad}{ticks}"

    return ""


def fenced(text: str) -> str:
    """Return a block of code."""
    ticks = _longer_ticks(text, 3)
    text = text.strip("\n")
    return f"{ticks}\n{text}\n{ticks}"


def _line(text: str) -> str:
    return " ".join(text.split())


def _longer_ticks(text: str, fewest: int) -> str:
    longest = max(map(len, _TICKS.findall(text)), default=0)
    return "`" * max(fewest, longest + 1)


def link(words: str, address: str) -> str:
    """Return a link; its words alone, if a page would have no link to such an address."""
    if not address or (SCHEME.match(address) and not address.lower().startswith(SAFE)):
        return words

    return f"[{words}]({address.translate(_UNSAFE)})"
