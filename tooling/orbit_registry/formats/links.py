"""What the words of a path or of a link say: whether it is Markdown, its file and its anchor."""

import posixpath
from urllib.parse import unquote

SUFFIXES = (".md", ".markdown", ".mdown", ".mkd")  # suffixes of Markdown files, in lower case


def is_markdown(name: str) -> bool:
    """Say by its name whether a file is Markdown."""
    return name.lower().endswith(SUFFIXES)


def split_link(target: str) -> tuple[str, str]:
    """Return the file that a link's target names, without its query, and the anchor there."""
    file, _, anchor = target.partition("#")
    return unquote(file.partition("?")[0]), unquote(anchor)


def path_from_root(file: str, folder: str) -> str:
    """Return the path from the root of a file that a text in a folder names.

    A leading slash is the root.
    """
    if file.startswith("/"):
        folder = ""

    return posixpath.normpath(posixpath.join(folder, file.lstrip("/")))
