"""The lines of a file of code owners, read as GitHub and GitLab read them."""

import re
from collections.abc import Sequence

from orbit_registry.formats.globs import Glob, match_any, parse_glob

OWNER_FILES = (".github/CODEOWNERS", ".gitlab/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS")
"""Where forges look for code owners; the first that exists counts."""
_LINE = re.compile(r"((?:\\.|[^\s\\])+)(?:\s+(.*))?")

OwnerLine = tuple[Glob, tuple[str, ...]]
"""A glob of paths from the repository's top, and its owners;
none where the line takes them away.
"""


def owner_lines(text: str) -> list[OwnerLine]:
    """Return the lines that can be read; comments and headings of sections are left out."""
    lines = [_LINE.fullmatch(line.strip()) for line in text.splitlines()]
    return [
        (glob, tuple(word for word in (match[2] or "").partition("#")[0].split() if "@" in word))
        for match in lines
        if match and match[1][0] not in "#[^" and (glob := _glob(match[1])) is not None
    ]


def owners_of_file(lines: Sequence[OwnerLine], path: str) -> tuple[str, ...]:
    """Return the owners of a file: the last line that matches it names them."""
    return next((owners for glob, owners in reversed(lines) if match_any((glob,), path)), ())


def _glob(pattern: str) -> Glob | None:
    text = pattern.replace("\\ ", " ")
    is_anchored = "/" in text.removesuffix("/")
    text = text.removeprefix("/") if is_anchored or text.startswith("/") else f"**/{text}"
    name = text.removesuffix("/").rpartition("/")[2]
    ends = (
        [f"{text}**"]
        if text.endswith("/")
        else [text]
        if name.startswith("*")
        else [text, f"{text}/**"]
    )
    glob = parse_glob(ends[0] if len(ends) == 1 else f"{{{','.join(ends)}}}")

    return glob if isinstance(glob, Glob) and not glob.exclude else None
