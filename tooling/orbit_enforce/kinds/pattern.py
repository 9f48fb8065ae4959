"""Kind `pattern`: the shape of code, as ast-grep finds it."""

import re
from collections.abc import Iterator
from math import comb
from typing import Any, NamedTuple

from orbit_enforce.kind import (
    CheckKind,
    Fields,
    Finder,
    InvalidCheckError,
    Match,
    match_at,
)
from orbit_registry.formats.code_tree import NotRunError, parsed
from orbit_registry.formats.syntax import EXTENSIONS, SAME_PATTERNS, language_of
from orbit_registry.formats.untrusted import cut

MOST_STEPS = 60_000_000  # take 1 to 2 s
_SIBLING_STEPS = 10  # a step to a sibling takes as long as so many up or down
_MOST_PARTS = 1_000  # of a rule with its utils put in: each node may be compared with all of them
MOST_RELATIONS = 3
_UP, _SIBLINGS = ("has", "inside"), ("precedes", "follows")
_LONGEST_REASON = 200
_WORD = re.compile(r"\$*\w{3,}")


def check_steps(root: Any, up: int, siblings: int, turns: int) -> None:
    """Refuse a tree in which a rule compares too many nodes.

    So many of its relations in one another go from a node to all above or below it, and to all
    siblings. A turn from `inside` to `has` leads to all nodes, but few nodes of a file start there;
    without `stopBy` it leads to children.
    """
    pending, steps, nodes, widest = [(root, 1, 0)], 0, 0, 1
    while pending:
        node, level, furthest = pending.pop()
        children = node.children()
        nodes, widest = nodes + len(children), max(widest, len(children))
        above = comb(level, up)

        for number, child in enumerate(children):
            distance = max(number, furthest) if up and siblings else 0
            pending.append((child, level + 1, distance))
            steps += above * (
                _SIBLING_STEPS * comb(number, siblings) + distance**siblings if siblings else 1
            )

        reach, most = (nodes, 10 * MOST_STEPS) if up or siblings else (widest, MOST_STEPS)
        if steps > MOST_STEPS or (turns and nodes * reach**turns > most):
            raise NotRunError(
                "its syntax is too deep, or too much is side by side, for the relations of the rule"
            )


def _make(fields: Fields, must: str) -> Finder:
    language = fields["language"]
    languages = SAME_PATTERNS.get(language, (language,))

    if "find" in fields:
        config: dict[str, Any] = {"rule": {"pattern": fields["find"]}}
    else:
        config = {name: fields[name] for name in ("rule", "constraints", "utils") if name in fields}

    empty = parsed("", language)
    try:
        empty.find_all(config=config)
    except Exception as error:  # ast-grep raises plain ones  # noqa: BLE001
        raise InvalidCheckError(f"ast-grep can't read the pattern: {_reason(str(error))}") from None

    up, siblings, turns = _relations(config)
    needle = max(
        (word for word in _WORD.findall(fields.get("find", "")) if word[0] != "$"),
        key=len,
        default="",
    )

    def find(path: str, text: str) -> Iterator[Match]:
        if needle and needle not in text:
            return
        root = parsed(text, language_of(path) or language)
        if up or siblings or turns:
            check_steps(root, up, siblings, turns)
        for node in root.find_all(config=config):
            span = node.range()
            yield match_at(text, span.start.index, span.end.index)

    return Finder(find, lambda path: language_of(path) in languages)


def _reason(message: str) -> str:
    """Return the innermost cause that ast-grep names."""
    lines = message.partition("Stack backtrace")[0].strip().splitlines()
    return cut(
        " ".join(lines[-1].split()).rstrip(".") if lines else "no reason given", _LONGEST_REASON
    )


def _relations(config: Fields) -> tuple[int, int, int]:
    """Return how many relations up or down, to siblings, and turns are in one another;
    refuse too many.
    """
    rules = [config["rule"], *config.get("constraints", {}).values()]
    try:
        size = _size(rules, dict(config.get("utils", {})))
    except RecursionError:
        size = _Size(parts=_MOST_PARTS + 1)

    if size.far > MOST_RELATIONS:
        raise InvalidCheckError(
            f"more than {MOST_RELATIONS} relations with `stopBy` in one another take too long"
        )

    if size.parts > _MOST_PARTS:
        raise InvalidCheckError(
            f"a rule of more than {_MOST_PARTS:,} parts, with its utils put in, takes too long"
        )

    return size.up, size.siblings, size.turns // 2


class _Size(NamedTuple):
    """The parts of a rule, and how many of its relations at any distance are in one another."""

    parts: int = 0
    far: int = 0
    up: int = 0
    siblings: int = 0
    turns: int = 0  # twice the turns, and 1 more if it starts with `has`


def _size(rule: object, utils: dict[str, Any]) -> _Size:
    """Return the size of a rule; sizes replace rules in `utils`."""
    sizes: list[_Size] = []
    if isinstance(rule, list):
        sizes = [_size(part, utils) for part in rule]
    elif isinstance(rule, dict):
        sizes = [_Size(1), _size_of_util(str(rule.get("matches", "")), utils)]
        for key, part in rule.items():
            parts, far, up, siblings, turns = _size(part, utils)
            is_far = isinstance(part, dict) and part.get("stopBy", "neighbor") != "neighbor"
            is_up, is_sibling = (
                is_far and key in _UP,
                (is_far and key in _SIBLINGS) or key == "nthChild",
            )
            up += is_up if turns % 2 == 0 else key == "has" or (is_up and up == 0)
            turns += key == ("has", "inside")[turns % 2]
            sizes.append(
                _Size(
                    parts,
                    far + (is_far and key in (*_UP, *_SIBLINGS)),
                    up,
                    siblings + is_sibling,
                    turns,
                )
            )

    parts = sum(size.parts for size in sizes)
    _, *deepest = map(max, zip(*sizes, _Size(), strict=True))
    return _Size(parts, *deepest)


def _size_of_util(name: str, utils: dict[str, Any]) -> _Size:
    size = utils.get(name, _Size())
    if size is None:  # deep code would overflow the stack and end the process
        raise InvalidCheckError(f"`{cut(name, _LONGEST_REASON)}` of `utils` is recursive")
    if not isinstance(size, _Size):
        utils[name] = None
        utils[name] = size = _size(size, utils)
    return size


KIND = CheckKind(
    name="pattern",
    properties={
        "language": {"enum": sorted(EXTENSIONS)},
        "find": {"type": "string", "minLength": 1, "maxLength": 5000},
        **{name: {"type": "object"} for name in ("rule", "constraints", "utils")},
    },
    required=("language",),
    forms=("find", "rule"),
    make=_make,
    library="ast-grep-py",
)
