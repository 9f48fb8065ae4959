"""Reads YAML by ruamel where ryaml is not there: the same values and the same refusals, about a
hundred times slower. A tab within a plain text is refused here, and a line separator is not.
"""

import math
import re

from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from orbit_registry.formats.position import Position, Problem, YamlProblemError
from orbit_registry.formats.yaml_nodes import compose

_MOST_NODES = 100_000
"""Values that a text may have with its aliases written out."""
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\x80-\x84\x86-\x9f\ufffe\uffff]")
_LONGEST = 5_000_000
_SMALLEST, _LARGEST, _BEYOND = -(2**63), 2**64, 2**128
_NULL = frozenset(("", "~", "null", "Null", "NULL"))
_BOOLEANS = {"true": True, "True": True, "TRUE": True}
_BOOLEANS |= {"false": False, "False": False, "FALSE": False}
_INTEGER = re.compile(r"[-+]?(?:[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+|0b[01]+)")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_ENDLESS = re.compile(r"([-+]?)\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")


def loads(text: str) -> object:
    """Return the value of a YAML text.

    Raises:
        ValueError: with the words that ryaml has for it.
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError("surrogates not allowed") from None

    control = _CONTROL.search(text)
    if control is not None:
        offset = len(text[: control.start()].encode())
        raise ValueError(f"control characters are not allowed at position {offset}")

    try:
        node = compose(text, _LONGEST)
    except YamlProblemError as error:
        raise ValueError(_words_of(error.problem)) from None

    return _Reader().value(node)


def _words_of(problem: Problem) -> str:
    if "another document" in problem.message:
        return "more than one document"

    words = problem.message.removeprefix("not valid YAML: ")
    where = problem.position or Position(1)
    return f"{words} at line {where.line} column {where.column}"


class _Reader:
    def __init__(self) -> None:
        self.count = 0

    def value(self, node: Node | None, depth: int = 0) -> object:
        self.count += 1
        if self.count > _MOST_NODES:
            raise ValueError("repetition limit exceeded")
        if depth > 128:
            raise ValueError("recursion limit exceeded")

        if isinstance(node, MappingNode):
            return self._mapping(node, depth)
        if isinstance(node, SequenceNode):
            return [self.value(inner, depth + 1) for inner in node.value]

        if isinstance(node, ScalarNode):
            return _scalar(node)

        return None

    def _mapping(self, node: MappingNode, depth: int) -> dict[object, object]:
        values: dict[object, object] = {}
        for key_node, inner in node.value:
            if not isinstance(key_node, ScalarNode):
                raise ValueError("unhashable type")

            key = _scalar(key_node)
            if isinstance(key, str) and key in values:
                raise ValueError(f'duplicate entry with key "{key_node.value}"')
            values[key] = self.value(inner, depth + 1)

        return values


def _scalar(node: ScalarNode) -> object:
    """Return the value of a text by the core schema, in which a date is a text."""
    text = str(node.value)
    if node.style is not None:
        if any("\ud800" <= letter <= "\udfff" for letter in text):
            raise ValueError(f"found invalid Unicode character escape code {_place(node)}")
        return text

    if text in _NULL:
        return None
    if text in _BOOLEANS:
        return _BOOLEANS[text]

    if _INTEGER.fullmatch(text):
        return _integer(text, node)
    if _FLOAT.fullmatch(text):
        number = float(text)
        if math.isfinite(number):
            return number

        return text

    endless = _ENDLESS.fullmatch(text)
    if endless is not None:
        if endless[1] is None:
            return math.nan

        return float(f"{endless[1]}inf")

    return text


def _integer(text: str, node: ScalarNode) -> object:
    digits = text.lstrip("+-")
    if len(digits) > 1 and digits[0] == "0" and digits.isdigit():
        return text

    number = int(text, 0)
    if _SMALLEST <= number < _LARGEST:
        return number
    if abs(number) >= _BEYOND:
        return float(number)

    raise ValueError(f"invalid type: integer `{text}` {_place(node)}")


def _place(node: ScalarNode) -> str:
    mark = node.start_mark
    return f"at line {mark.line + 1} column {mark.column + 1}"
