"""Texts of source files in the encodings that programs read: UTF-8, UTF-16, UTF-32,
and what a line `coding:` of Python declares.

A file must not hide from a search for words because it is saved in another encoding.
"""

import codecs
import re

_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
"""Marks at the start of a file; the one of UTF-32 begins with the one of UTF-16."""
_LEAST_NULS = 0.25
"""Share of zero bytes in a text of UTF-16: with fewer it may as well be ASCII behind a mark."""
_MOST_NULS = 0.9
"""Share of zero bytes on one side of the pairs from which on a file without a mark is UTF-16."""
_LOOKED_AT = 4_000
_PYTHON = (".py", ".pyi", ".pyw")
_DECLARED = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_PLAIN = frozenset({"utf-8", "utf8", "utf-8-sig", "ascii", "us-ascii"})


class UndecodableError(Exception):
    """A file is in an encoding that can't be read."""


def source_text(content: bytes, path: str = "") -> str:
    """Return the text of a source file; a byte that UTF-8 does not have becomes U+FFFD.

    Raises:
        UndecodableError: its encoding is another one, and it can't be read in it.
    """
    encoding = _encoding_of(content, path)
    if encoding is None:
        return content.decode("utf-8", "replace")

    try:
        return content.decode(encoding)
    except (LookupError, ValueError):
        raise UndecodableError(f"it is not valid {encoding.upper()}") from None


def wide_encoding(content: bytes) -> str | None:
    """Return the name of an encoding of several bytes a letter, such as UTF-16; else None."""
    if content.count(0) < _LEAST_NULS * len(content):
        return None

    name = _marked(content) or _unmarked(content)
    if name is None:
        return None

    return re.sub(r"-(?=[LB]E)", "", name.upper())


def _marked(content: bytes) -> str | None:
    return next((name for mark, name in _MARKS if content.startswith(mark)), None)


def _encoding_of(content: bytes, path: str) -> str | None:
    """Return the encoding that a file states or shows; None for UTF-8, good or bad."""
    marked = _marked(content)
    if marked is not None:
        if content.count(0) < _LEAST_NULS * len(content):
            raise UndecodableError("it begins like UTF-16, and the rest is not UTF-16")
        return marked

    return _declared(content, path) or _unmarked(content)


def _declared(content: bytes, path: str) -> str | None:
    """Return the encoding that one of the first two lines of a Python file declares."""
    if not path.endswith(_PYTHON):
        return None

    for line in content[:_LOOKED_AT].splitlines()[:2]:
        match = _DECLARED.match(line)
        if match is None:
            continue

        name = match[1].decode("ascii").lower().replace("_", "-")
        if name in _PLAIN:
            return None

        return name

    return None


def _unmarked(content: bytes) -> str | None:
    """Return UTF-16 for a file without a mark in which every second byte is zero."""
    start = content[:_LOOKED_AT]
    if b"\0" not in start:
        return None

    for first, name in ((1, "utf-16-le"), (0, "utf-16-be")):
        half = start[first::2]
        other = start[1 - first :: 2]
        if half.count(0) >= _MOST_NULS * len(half) and other.count(0) < len(other) / 10:
            return name

    return None
