"""Kind `pattern`: the shape of code, as ast-grep finds it."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from orbit_registry.enforce.kind import CheckKind, Fields, Finder, InvalidCheckError, Match, NotRunError, match_at
from orbit_registry.enforce.syntax import EXTENSIONS, SAME_PATTERNS, language_of
from orbit_registry.formats.untrusted import cut

NO_AST_GREP = "code patterns need ast-grep: install `orbit-registry[enforce]`"
MOST_BRACKETS = 2_000  # in one another: errors in a text take quadratic time
DEEPEST = (1 << 30, 2_000, 280, 100)
"""Levels that a tree may have, by the relations in one another that a rule looks for at any distance.

Each such relation raises the power of the time: 5 of them take 13 s on 60 nested calls, these limits 1 s.
"""
_LONGEST_LEAF = 40  # characters: nodes below it add few levels
_MOST_EXAMINED = 10_000  # nodes: one in a line of 1 MB takes 40 µs
_MOST_PARTS = 1_000  # of a rule with its utils put in: each node may be compared with all of them
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
        raise NotRunError(NO_AST_GREP) from None
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
    relations = _relations(config)
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


def _relations(config: Fields) -> int:
    """Return how many relations at any distance are in one another; refuse a rule without a bound on its time."""
    rules = [config["rule"], *config.get("constraints", {}).values()]
    try:
        relations, parts = _size(rules, dict(config.get("utils", {})))
    except RecursionError:
        relations, parts = 0, _MOST_PARTS + 1
    if relations >= len(DEEPEST):
        raise InvalidCheckError(f"more than {len(DEEPEST) - 1} relations with `stopBy` in one another take too long")
    if parts > _MOST_PARTS:
        raise InvalidCheckError(f"a rule of more than {_MOST_PARTS:,} parts, with its utils put in, takes too long")
    return relations


def _size(rule: object, utils: dict[str, Any]) -> tuple[int, int]:
    """Return the relations at any distance in one another and the parts of a rule; sizes replace rules in `utils`."""
    if not isinstance(rule, dict):
        rows = [_size(part, utils) for part in rule] if isinstance(rule, list) else []
        return max((relations for relations, _ in rows), default=0), sum(parts for _, parts in rows)
    name = str(rule.get("matches", ""))
    if (util := utils.get(name, (0, 0))) is None:  # deep code would overflow the stack and end the process
        raise InvalidCheckError(f"`{cut(name, _LONGEST_REASON)}` of `utils` is recursive")
    if isinstance(util, dict):
        utils[name] = None
        utils[name] = util = _size(util, utils)
    most, total = util[0], util[1] + 1
    for key, part in rule.items():
        is_far = key in _RELATIONS and isinstance(part, dict) and part.get("stopBy", "neighbor") != "neighbor"
        relations, parts = _size(part, utils)
        most, total = max(most, is_far + relations), total + parts
    return most, total


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
