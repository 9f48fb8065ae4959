"""Owns where things stand in a YAML text: the node tree with its marks, and what it alone tells; opens no file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from orbit_registry.text.position import Position, Problem
from orbit_registry.text.yaml import MALFORMED, YamlProblemError


def compose(text: str) -> Node | None:
    """Return the node tree of a text, whose marks give the place of each value; None for an empty text."""
    reader = YAML(typ="safe", pure=True)
    reader.allow_duplicate_keys = True
    try:
        node: Node | None = reader.compose(text)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = Position(mark.line + 1, mark.column + 1) if mark else Position(1)
        raise YamlProblemError(Problem(MALFORMED, f"not valid YAML: {error.problem or error.context}", place)) from None
    except (YAMLError, RecursionError, ValueError) as error:
        said = str(error).splitlines()[0] if str(error) else "nested too deeply"
        raise YamlProblemError(Problem(MALFORMED, f"not valid YAML: {said}", Position(1))) from None
    return node


def place_of(text: str, pointer: Sequence[str | int]) -> Position:
    """Return where the value at `pointer` stands: its key in a mapping, itself in a list.

    A pointer that leads nowhere gives the place of the deepest part that exists.
    """
    try:
        node = compose(text)
    except YamlProblemError as error:
        return error.problem.position or Position(1)
    found = node
    for step in pointer:
        if isinstance(node, MappingNode):
            pair = next(((k, v) for k, v in node.value if isinstance(k, ScalarNode) and k.value == str(step)), None)
            if pair is None:
                break
            found, node = pair
        elif isinstance(node, SequenceNode) and isinstance(step, int) and step < len(node.value):
            found = node = node.value[step]
        else:
            break
    return Position(found.start_mark.line + 1, found.start_mark.column + 1) if found is not None else Position(1)


def place_of_problem(text: str) -> Position:
    """Return where the composing reader stops at a text that the fast one can't read."""
    try:
        compose(text)
    except YamlProblemError as error:
        return error.problem.position or Position(1)
    return Position(1)


def refuse_tags(text: str) -> None:
    """Raise when the text really uses a tag or a merge key, and not just the characters of one."""
    root = compose(text)
    for node in _walk(root) if root is not None else ():
        if isinstance(node, MappingNode):
            for key, _ in node.value:
                if isinstance(key, ScalarNode) and key.value == "<<" and key.style is None:
                    raise YamlProblemError(_problem_at(key, "merge keys (`<<`) are not accepted", "write the keys out"))
        tag = text[node.start_mark.index : node.start_mark.index + 1]
        if tag == "!":
            raise YamlProblemError(
                _problem_at(node, "YAML tags are not accepted", "remove the tag, or quote the value")
            )


def _walk(node: Node) -> Iterator[Node]:
    """Yield the node and all below it, each shared node once."""
    seen: set[int] = set()
    stack = [node]
    while stack:
        current = stack.pop()
        if id(current) in seen:
            continue
        seen.add(id(current))
        yield current
        if isinstance(current, MappingNode):
            stack += (part for pair in reversed(current.value) for part in reversed(pair))
        elif isinstance(current, SequenceNode):
            stack += reversed(current.value)


def _problem_at(node: Node, message: str, hint: str | None) -> Problem:
    mark = node.start_mark
    return Problem(MALFORMED, message, Position(mark.line + 1, mark.column + 1), hint)


def explain_duplicate(text: str, message: str) -> Problem:
    """Return which key stands twice in a text, and where the second one is; `message` is the fast reader's."""
    named = re.search(r'key "(.*)"', message)
    key = named[1] if named else ""
    try:
        root = compose(text)
    except YamlProblemError as error:
        return error.problem
    for node in _walk(root) if root is not None else ():
        if isinstance(node, MappingNode):
            places = [k for k, _ in node.value if isinstance(k, ScalarNode) and (not key or k.value == key)]
            if len(places) > 1:
                return _problem_at(places[1], f"the key `{places[1].value}` stands here twice", "keep one of the two")
    return Problem(MALFORMED, f"the key `{key}` stands there twice", Position(1), "keep one of the two")
