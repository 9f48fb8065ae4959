"""Kind `pattern`: the shape of code, as ast-grep finds it."""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from orbit_registry.enforce.kind import CheckKind, Fields, Finder, InvalidCheckError, Match, NotRunError, match_at
from orbit_registry.enforce.syntax import EXTENSIONS, SAME_PATTERNS, language_of
from orbit_registry.formats.untrusted import cut

MOST_BRACKETS = 2_000  # in one another: errors in a text take quadratic time
DEEPEST = (1 << 30, 2_000, 280, 100)
"""Levels that a tree may have, by the relations in one another that a rule looks for at any distance.

Each such relation raises the power of the time: 5 of them take 13 s on 60 nested calls, these limits 1 s.
"""
_LONGEST_LEAF = 40  # characters: nodes below it add few levels
_MOST_EXAMINED = 10_000  # nodes: one in a line of 1 MB takes 40 µs
_RELATIONS = ("has", "inside", "precedes", "follows")
_LONGEST_REASON = 200
_WORD = re.compile(r"\$*\w{3,}")
_BRACKET = re.compile(r"[\[({})\]]")


@lru_cache(maxsize=1)  # several checks look at one file in a row
def parsed(text: str, language: str) -> Any:
    """Return the root node of a text, as ast-grep parses it."""
    try:
        from ast_grep_py import SgRoot
    except ImportError:
        raise NotRunError("code patterns need ast-grep: install `orbit-registry[enforce]`") from None
    if sum(map(text.count, "([{")) > MOST_BRACKETS and _depth(text) > MOST_BRACKETS:
        raise NotRunError(f"more than {MOST_BRACKETS:,} nested brackets")
    return SgRoot(text, language).root()


def check_levels(root: Any, most: int) -> None:
    """Refuse a tree with more levels than a rule searches in bounded time; a sum of many parts has as many."""
    pending, examined = [(root, 1)], 0
    while pending:
        node, level = pending.pop()  # the deepest first
        if level > most:
            raise NotRunError(f"more than {most:,} levels of syntax, too many for the relations of the rule")
        children = node.children()[: _MOST_EXAMINED - examined]
        examined += len(children)
        for child in children:
            span = child.range()
            if span.end.index - span.start.index > _LONGEST_LEAF:
                pending.append((child, level + 1))


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
    relations = _nested(config["rule"], fields.get("utils", {}), ())
    if relations >= len(DEEPEST):
        message = f"more than {len(DEEPEST) - 1} relations with `stopBy` in one another take too long"
        raise InvalidCheckError(message)
    literals = [word for word in _WORD.findall(fields.get("find", "")) if not word.startswith("$")]
    needle = max(literals, key=len, default="")

    def find(path: str, text: str) -> Iterator[Match]:
        if needle and needle not in text:
            return
        root = parsed(text, language_of(path) or language)
        if relations:
            check_levels(root, DEEPEST[relations])
        for node in root.find_all(config=config):
            span = node.range()
            yield match_at(text, span.start.index, span.end.index)

    return Finder(find, lambda path: language_of(path) in languages)


def _reason(message: str) -> str:
    """Return the innermost cause that ast-grep names."""
    lines = message.partition("Stack backtrace")[0].strip().splitlines()
    return cut(" ".join(lines[-1].split()).rstrip(".") if lines else "no reason given", _LONGEST_REASON)


def _nested(rule: object, utils: Mapping[str, object], above: tuple[str, ...]) -> int:
    """Return how many relations at any distance are in one another; `above` are the utils that the rule is part of."""
    if isinstance(rule, list):
        return max((_nested(part, utils, above) for part in rule), default=0)
    if not isinstance(rule, dict):
        return 0
    name = str(rule.get("matches", ""))
    if name in above:  # a rule in itself
        return len(DEEPEST)
    depths = [_nested(utils.get(name), utils, (*above, name))]
    for key, part in rule.items():
        is_far = key in _RELATIONS and isinstance(part, dict) and part.get("stopBy", "neighbor") != "neighbor"
        depths.append(is_far + _nested(part, utils, above))
    return max(depths)


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
