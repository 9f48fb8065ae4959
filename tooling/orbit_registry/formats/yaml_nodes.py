"""Positions in a YAML text, and explanations of what is wrong with it, from ruamel's node tree."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from ruamel.yaml import YAML, tokens
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from orbit_registry.formats.position import (
    MALFORMED,
    Position,
    Problem,
    YamlProblemError,
    position_at,
)

LONGEST = 150_000
"""Longest text that is composed: the parser takes up to 26 µs a character,
and a hostile file must not hold us.
"""
_DEEPEST = 128  # nesting that ryaml accepts
_OPENS = (tokens.FlowSequenceStartToken, tokens.FlowMappingStartToken)
_CLOSES = (tokens.FlowSequenceEndToken, tokens.FlowMappingEndToken)
_SIMPLE_LINES = re.compile(
    r"""(?:[ ]*+(?:-[ ]++)*+[\w./-]++:"""
    r"""(?:[ ]++(?:"(?:[^"\\\n]|\\.)*+"|[\w./~][^\[\]{}"'\n]*+))?+\n"""
    r"""|[ ]*+(?:\#[^\n\r\x85\u2028\u2029]*+)?\n)*+"""
)
"""Lines at the start of a text that open no bracket and no quotes: most of what a tool wrote."""
_MARK = re.compile(r"(?m)(?:^|\s)#")
"""How a comment begins, and headings and numbers of issues too."""
_PLACE = re.compile(r" at line (\d+) column (\d+)")
_CONFLICT = re.compile(r"(?m)^<{7} ")
_NO_TEXTS = frozenset(f"tag:yaml.org,2002:{name}" for name in ("int", "float", "bool", "null"))


def compose(text: str) -> Node | None:
    """Return the node tree of a text; None for an empty text."""
    if len(text) > LONGEST:
        message = f"the text has {len(text):,} characters; places are told in up to {LONGEST:,}"
        raise YamlProblemError(
            Problem(MALFORMED, message, Position(1), "move long text into a document")
        )

    reader = YAML(typ="safe", pure=True)
    reader.allow_duplicate_keys = True
    reader.composer.warn_double_anchors = False

    try:
        node: Node | None = reader.compose(text)
    except (YAMLError, RecursionError, ValueError) as error:
        raise YamlProblemError(_parse_stop(error)[0]) from None

    return node


def _parse_stop(error: Exception) -> tuple[Problem, int]:
    if isinstance(error, MarkedYAMLError):
        mark = error.problem_mark or error.context_mark
        position = Position(mark.line + 1, mark.column + 1) if mark else Position(1)
        problem = Problem(MALFORMED, f"not valid YAML: {error.problem or error.context}", position)
        return problem, mark.index if mark else 0
    message = str(error).splitlines()[0] if str(error) else "nested too deeply"
    return Problem(MALFORMED, f"not valid YAML: {message}", Position(1)), 0


def has_comment(text: str) -> bool:
    """Say whether a valid text has a comment; in doubt it has."""
    if not _MARK.search(text):
        return False

    try:
        return len(text) > LONGEST or any(
            "#" in str(token.comment) for token in YAML().scan(text) if token.comment
        )
    except (YAMLError, RecursionError, ValueError):
        return True


def _compose_or_none(text: str) -> Node | None:
    try:
        return compose(text)
    except YamlProblemError:
        return None


def place_of(text: str, pointer: Sequence[str | int]) -> Position:
    """Return the position of a mapping's key or a list's item,
    or of the deepest part of the pointer that exists.
    """
    try:
        node = compose(text)
    except YamlProblemError as error:
        return error.problem.position or Position(1)

    marked = _follow(node, pointer)[0]
    return (
        Position(marked.start_mark.line + 1, marked.start_mark.column + 1)
        if marked is not None
        else Position(1)
    )


def _follow(node: Node | None, pointer: Sequence[str | int]) -> tuple[Node | None, Node | None]:
    marked = node
    for step in pointer:
        if isinstance(node, MappingNode):
            pair = next(
                (
                    (k, v)
                    for k, v in node.value
                    if isinstance(k, ScalarNode) and k.value == str(step)
                ),
                None,
            )
            if pair is None:
                break

            marked, node = pair
        elif isinstance(node, SequenceNode) and isinstance(step, int) and step < len(node.value):
            marked = node = node.value[step]
        else:
            break

    return marked, node


def refuse_tags(text: str) -> None:
    """Raise if the text uses a tag or a merge key, not just their characters."""
    root = compose(text)
    for node in _walk(root) if root is not None else ():
        if isinstance(node, MappingNode):
            for key, _ in node.value:
                if isinstance(key, ScalarNode) and key.value == "<<" and key.style is None:
                    raise YamlProblemError(
                        _problem_at(key, "merge keys (`<<`) are not accepted", "write the keys out")
                    )

        tag = text[node.start_mark.index : node.start_mark.index + 1]
        if tag == "!":
            raise YamlProblemError(
                _problem_at(
                    node, "YAML tags are not accepted", "remove the tag, or quote the value"
                )
            )


def refuse_depth(text: str, allowed: int) -> None:
    """Raise if a text with more than `allowed` brackets nests them too deeply.

    ryaml checks each open bracket again at every token before it refuses: a megabyte of brackets
    takes half an hour. A bracket in a quoted text opens nothing, so counting them is not enough.
    """
    simple = _SIMPLE_LINES.match(text)
    if _opening(text, simple.end() if simple else 0) <= allowed:
        return

    depth = 0
    try:
        for token in YAML(typ="safe", pure=True).scan(text):
            depth += isinstance(token, _OPENS) - isinstance(token, _CLOSES)
            if depth > _DEEPEST:
                raise YamlProblemError(
                    _problem_at(token, "nested too deeply", "flatten the structure")
                )
    except YAMLError as error:
        problem, offset = _parse_stop(error)
        if _opening(text, offset) > allowed:
            raise YamlProblemError(problem) from None


def _opening(text: str, start: int) -> int:
    return text.count("[", start) + text.count("{", start)


def _walk(node: Node) -> Iterator[Node]:
    visited: set[int] = set()
    stack = [node]
    while stack:
        current = stack.pop()
        if id(current) in visited:
            continue

        visited.add(id(current))
        yield current

        if isinstance(current, MappingNode):
            stack += (part for pair in reversed(current.value) for part in reversed(pair))
        elif isinstance(current, SequenceNode):
            stack += reversed(current.value)


def _problem_at(node: Node | tokens.Token, message: str, hint: str | None) -> Problem:
    mark = node.start_mark
    return Problem(MALFORMED, message, Position(mark.line + 1, mark.column + 1), hint)


def explain(text: str, message: str) -> Problem:
    """Return ryaml's error as a problem with a position."""
    if conflict := _CONFLICT.search(text):
        line = text.count("\n", 0, conflict.start()) + 1
        detail = "not valid YAML: a merge left both sides of a conflict in it"
        return Problem(
            MALFORMED,
            detail,
            Position(line, 1),
            "`orbit resolve` repairs it until the merge is committed",
        )

    for words, (locate, detail, hint) in _EXPLANATIONS.items():
        if words in message:
            return Problem(MALFORMED, detail, locate(text, message), hint)

    if "duplicate entry" in message:
        return _explain_duplicate(text, message)

    position = _stated_position(text, message) if _PLACE.search(message) else place_of(text, ())
    detail = _PLACE.sub("", message, count=1).removeprefix("TypeError: ").strip()
    hint = "check indentation, quotes and brackets near that place"
    return Problem(MALFORMED, f"not valid YAML: {detail}", position, hint)


def explain_beyond_json(text: str, pointer: Sequence[object]) -> Problem:
    """Return the problem of a value that JSON can't hold:
    a key that is no text, `.inf` or `.nan`.
    """
    steps = [step if isinstance(step, int) else str(step) for step in pointer]
    node = _follow(_compose_or_none(text), steps[:-1])[1]
    if pointer and isinstance(node, MappingNode) and not isinstance(pointer[-1], str):
        key = next(
            (key for key, _ in node.value if isinstance(key, ScalarNode) and key.tag in _NO_TEXTS),
            node,
        )
        return _problem_at(
            key, f"the key `{getattr(key, 'value', pointer[-1])}` is not a text", "put it in quotes"
        )

    position = place_of(text, steps)
    return Problem(
        MALFORMED,
        "a number without end or value (`.inf`, `.nan`)",
        position,
        "write a number, or quote it",
    )


def _explain_duplicate(text: str, message: str) -> Problem:
    match = re.search(r'key "(.*)"', message)
    key, hint = match[1] if match else "", "keep one of the two"
    root = _compose_or_none(text)
    for node in _walk(root) if root is not None else ():
        if isinstance(node, MappingNode):
            keys = [
                k
                for k, _ in node.value
                if isinstance(k, ScalarNode) and (not key or k.value == key)
            ]
            if len(keys) > 1:
                return _problem_at(keys[1], f"the key `{keys[1].value}` appears twice", hint)

    return Problem(MALFORMED, f"the key `{key}` appears twice", Position(1), hint)


def _last_document(text: str, _: str) -> Position:
    marks = [match.start() for match in re.finditer(r"(?m)^---(?=\s|$)", text)]
    return position_at(text, marks[-1]) if marks else Position(1)


def _byte_position(text: str, message: str) -> Position:
    offset = int(message.rpartition(" ")[2])  # in bytes
    return position_at(text, len(text.encode()[:offset].decode("utf-8", "replace")))


def _first_collection_key(text: str, _: str) -> Position:
    root = _compose_or_none(text)
    for node in _walk(root) if root is not None else ():
        for key, _value in node.value if isinstance(node, MappingNode) else ():
            if not isinstance(key, ScalarNode):
                return Position(key.start_mark.line + 1, key.start_mark.column + 1)
    return Position(1)


def _stated_position(_: str, message: str) -> Position:
    match = _PLACE.search(message)
    return Position(int(match[1]), int(match[2])) if match else Position(1)


def _top(_text: str, _message: str) -> Position:
    return Position(1)


_EXPLANATIONS: Mapping[str, tuple[Callable[[str, str], Position], str, str]] = {
    "more than one document": (
        _last_document,
        "more than one YAML document in the file",
        "keep one",
    ),
    "control characters are not allowed at position ": (
        _byte_position,
        "a control character is here",
        "remove it, or escape it in double quotes",
    ),
    "unhashable type": (_first_collection_key, "a key is a list or a mapping", "keys are texts"),
    "surrogates not allowed": (
        _top,
        "it holds bytes that are not valid UTF-8",
        "give the text in UTF-8",
    ),
    "invalid type: integer": (_stated_position, "a number has too many digits", "put it in quotes"),
    "repetition limit": (
        _top,
        "aliases expand without bound",
        "write the values out instead of aliases",
    ),
    "recursion limit": (_top, "nested too deeply", "flatten the structure"),
}
"""Part of ryaml's message: where the fault is, what it is, and what to do."""
