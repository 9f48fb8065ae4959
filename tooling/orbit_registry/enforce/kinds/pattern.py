"""Kind `pattern`: the shape of code, as ast-grep finds it."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from orbit_registry.enforce.kind import CheckKind, Fields, Finder, InvalidCheckError, Match, NotRunError, match_at
from orbit_registry.enforce.syntax import EXTENSIONS, SAME_PATTERNS, language_of

DEEPEST = 2_000  # nested brackets above which a file is not parsed: errors and relations take quadratic time in them
_WORD = re.compile(r"\$*\w{3,}")
_BRACKET = re.compile(r"[\[({})\]]")


@lru_cache(maxsize=1)  # several checks look at one file in a row
def parsed(text: str, language: str) -> Any:
    """Return the root node of a text, as ast-grep parses it."""
    try:
        from ast_grep_py import SgRoot
    except ImportError:
        raise NotRunError("code patterns need ast-grep: install `orbit-registry[enforce]`") from None
    if sum(map(text.count, "([{")) > DEEPEST and _depth(text) > DEEPEST:
        raise NotRunError(f"more than {DEEPEST:,} nested brackets")
    return SgRoot(text, language).root()


def _make(fields: Fields, must: str) -> Finder:
    if ("find" in fields) == ("rule" in fields):
        raise InvalidCheckError("`pattern` has either `find` or `rule`")
    language = fields["language"]
    languages = SAME_PATTERNS.get(language, (language,))
    if "find" in fields:
        config: dict[str, Any] = {"rule": {"pattern": fields["find"]}}
    else:
        config = {name: fields[name] for name in ("rule", "constraints", "utils") if name in fields}
    try:
        parsed("", language).find_all(config=config)
    except NotRunError:
        raise
    except Exception as error:  # ast-grep raises plain ones  # noqa: BLE001
        raise InvalidCheckError(f"ast-grep can't read the pattern: {_reason(str(error))}") from None
    literals = [word for word in _WORD.findall(fields.get("find", "")) if not word.startswith("$")]
    needle = max(literals, key=len, default="")

    def find(path: str, text: str) -> Iterator[Match]:
        if needle and needle not in text:
            return
        for node in parsed(text, language_of(path) or language).find_all(config=config):
            span = node.range()
            yield match_at(text, span.start.index, span.end.index)

    return Finder(find, lambda path: language_of(path) in languages)


def _reason(message: str) -> str:
    """Return the innermost cause that ast-grep names."""
    lines = message.partition("Stack backtrace")[0].strip().splitlines()
    return " ".join(lines[-1].split()).rstrip(".") if lines else "no reason given"


def _depth(text: str) -> int:
    depth = deepest = 0
    for match in _BRACKET.finditer(text):
        depth = max(depth + (1 if match[0] in "([{" else -1), 0)
        deepest = max(deepest, depth)
    return deepest


KIND = CheckKind(
    name="pattern",
    properties={
        "language": {"enum": sorted(EXTENSIONS)},
        "find": {"type": "string", "minLength": 1, "maxLength": 5000},
        "rule": {"type": "object"},
        "constraints": {"type": "object"},
        "utils": {"type": "object"},
    },
    required=("language",),
    make=_make,
    library="ast-grep-py",
)
