"""Globs as one bare line, parted by commas: how Cursor and Windsurf read them; it knows neither.

How they match is published by neither, so a glob may be looked for below any folder, and what matches a folder may take
all below it: it is said where no tracked file tells these readings apart. The line is no YAML, so that only names which
need no quotes can stand in it, and no space may follow a comma.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from orbit_registry.exporters.rules import EVERYTHING, Language, Unsayable, plain
from orbit_registry.text.globs import Alternative

_BARE = re.compile(r"[\w.*][\w./*?@+~=()!^$%\[\]-]*")


def _say(alternative: Alternative) -> str | Unsayable:
    text = plain(alternative)
    return text if _BARE.fullmatch(text) else Unsayable("a name with such signs can't be said there")


def _wider(alternative: Alternative) -> Sequence[str]:
    text = alternative.text
    anywhere = text if text.startswith((EVERYTHING, "{!}")) else f"{EVERYTHING}/{text}"
    return (anywhere,) if text.endswith(EVERYTHING) else (anywhere, f"{anywhere}/**")


LANGUAGE = Language(_say, _wider)
