"""The lines of a file of code owners, read as GitHub and GitLab read them."""

import re
from collections.abc import Sequence

from orbit_registry.formats.globs import Glob, match_any, parse_glob

OWNER_FILES = (".github/CODEOWNERS", ".gitlab/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS")
"""Where forges look for code owners; the first that exists counts."""
_LINE = re.compile(r"((?:\\.|[^\s\\])+)(?:\s+(.*))?")

OwnerLine = tuple[Glob, tuple[str, ...]]
"""A glob of paths from the repository's top, and its owners; none if the line takes them away."""


def owner_lines(text: str) -> list[OwnerLine]:
    """Return the lines that can be read; comments and headings of sections are left out."""
    lines = []
    for line in text.splitlines():
        match = _LINE.fullmatch(line.strip())
        if match is None or match[1][0] in "#[^":
            continue

        glob = _glob(match[1])
        if glob is not None:
            words = (match[2] or "").partition("#")[0].split()
            lines.append((glob, tuple(word for word in words if "@" in word)))

    return lines


def owners_of_file(lines: Sequence[OwnerLine], path: str) -> tuple[str, ...]:
    """Return the owners of a file: the last line that matches it names them."""
    for glob, owners in reversed(lines):
        if match_any((glob,), path):
            return owners

    return ()


def _glob(pattern: str) -> Glob | None:
    text = pattern.replace("\\ ", " ")
    is_anchored = text.startswith("/") or "/" in text.removesuffix("/")
    text = text.removeprefix("/") if is_anchored else f"**/{text}"

    if text.endswith("/"):
        text += "**"
    elif not text.rpartition("/")[2].startswith("*"):
        text = f"{{{text},{text}/**}}"  # the path may be a file or a folder

    glob = parse_glob(text)
    if isinstance(glob, Glob) and not glob.exclude:
        return glob

    return None
