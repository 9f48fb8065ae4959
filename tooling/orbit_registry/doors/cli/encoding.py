"""The encoding of the process: names of files and records are UTF-8, whatever the locale says."""

import codecs
import locale
import os
import sys
from collections.abc import Iterable
from io import TextIOWrapper

UTF_8 = "utf-8"
STANDARD_ERROR = 2


def restart_in_utf8() -> None:
    """Start this process again in UTF-8 mode where names of files have another encoding.

    Git's paths are UTF-8: in another encoding a file with an umlaut would not be there.
    """
    if sys.flags.utf8_mode or sys.getfilesystemencoding() == UTF_8:
        return

    words = [_in_utf8(os.fsencode(word)) for word in sys.orig_argv[1:]]
    os.execv(sys.executable, [os.fsencode(sys.executable), b"-X", b"utf8", *words])


def _in_utf8(word: bytes) -> bytes:
    """Return a word of a terminal that may write UTF-8 although its locale has no such name."""
    try:
        word.decode(UTF_8)
    except UnicodeDecodeError:
        return word.decode(locale.getencoding(), "surrogateescape").encode(UTF_8, "surrogateescape")

    return word


def set_streams() -> None:
    """Let the terminal get the letters that it can draw, and the others as escapes."""
    _open_closed_streams()
    encoding = codecs.lookup(locale.getencoding()).name
    is_chosen = not {"PYTHONUTF8", "PYTHONIOENCODING"}.isdisjoint(os.environ)
    is_restarted = bool(sys.flags.utf8_mode) and not is_chosen and encoding != "ascii"

    for stream in _writers():
        used = encoding if is_restarted else stream.encoding
        stream.reconfigure(encoding=used, errors="backslashreplace")


def _open_closed_streams() -> None:
    """Open what a caller closed (`<&-`), such as a service: else the next file gets its number, and
    programs that this one starts would write into that file.
    """
    number = os.open(os.devnull, os.O_RDWR)
    while number <= STANDARD_ERROR:
        os.set_inheritable(number, True)
        number = os.open(os.devnull, os.O_RDWR)

    os.close(number)
    if sys.stdin is None:
        sys.stdin = open(os.devnull, encoding=UTF_8)  # noqa: PTH123, SIM115 - it stays open to the end


def _writers() -> Iterable[TextIOWrapper]:
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            yield stream


def for_program(data: str) -> str | bytes:
    """Return data for a program, which expects UTF-8 where the terminal writes something else."""
    encoding = getattr(sys.stdout, "encoding", None) or UTF_8
    if codecs.lookup(encoding).name == UTF_8:
        return data

    return data.encode(UTF_8)
