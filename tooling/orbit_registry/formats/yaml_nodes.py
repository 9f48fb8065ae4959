"""Positions in a YAML text, and explanations of what is wrong with it, from ruamel's node tree."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain

from ruamel.yaml import YAML, events, tokens
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
"""Longest text that is composed.

The parser takes up to 26 µs a character, and a hostile file must not hold us.
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
_OPENED = {
    "while scanning a quoted scalar": "a quote",
    "while parsing a flow sequence": "a bracket",
    "while parsing a flow mapping": "a brace",
}
"""What the parser was in, and what of it is open."""
_NO_TEXTS = frozenset(f"tag:yaml.org,2002:{name}" for name in ("int", "float", "bool", "null"))


def compose(text: str, longest: int = LONGEST) -> Node | None:
    """Return the node tree of a text; None for an empty text."""
    if len(text) > longest:
        message = f"the text has {len(text):,} characters; places are told in up to {longest:,}"
        hint = "move long text into a document"
        raise YamlProblemError(Problem(MALFORMED, message, Position(1), hint))

    reader = YAML(typ="safe", pure=True, plug_ins=[])  # to look for some takes a tenth of the time
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


def what_stops(text: str) -> Problem:
    """Return why a text is no YAML: the quote or the bracket that is never closed, else what the
    parser did not expect.
    """
    try:
        YAML(typ="safe", pure=True).compose(text)
    except MarkedYAMLError as error:
        opened = _OPENED.get(str(error.context))
        if opened is not None and error.context_mark is not None:
            message = f"{opened} that opens here is never closed"
            position = Position(error.context_mark.line + 1, error.context_mark.column + 1)
            return Problem(MALFORMED, message, position)

        return _parse_stop(error)[0]
    except (YAMLError, RecursionError, ValueError) as error:
        return _parse_stop(error)[0]

    return Problem(MALFORMED, "it is a list or a text, and has no keys", Position(1))


def has_comment(text: str) -> bool:
    """Say whether a valid text has a comment; in doubt it has."""
    if not _MARK.search(text):
        return False

    if len(text) > LONGEST:
        return True

    try:
        comments = (token.comment for token in YAML().scan(text) if token.comment)
        return any("#" in str(comment) for comment in comments)
    except (YAMLError, RecursionError, ValueError):
        return True


def _compose_or_none(text: str) -> Node | None:
    try:
        return compose(text)
    except YamlProblemError:
        return None


@lru_cache(maxsize=4)  # one file may have many findings
def _composed(text: str) -> Node | None:
    return compose(text)


def place_of(text: str, pointer: Sequence[str | int]) -> Position:
    """Return the position of a mapping's key or a list's item.

    It is that of the deepest part of the pointer that exists.
    """
    try:
        node = _composed(text)
    except YamlProblemError as error:
        return error.problem.position or Position(1)

    marked, _ = _follow(node, pointer)
    if marked is not None:
        return _start_of(marked)

    return Position(1)


def _start_of(node: Node | tokens.Token | events.Event) -> Position:
    mark = node.start_mark
    return Position(mark.line + 1, mark.column + 1)


def _follow(node: Node | None, pointer: Sequence[str | int]) -> tuple[Node | None, Node | None]:
    """Return the node that a pointer leads to: its key or itself, and its value."""
    marked = node
    for step in pointer:
        if isinstance(node, MappingNode):
            pairs = [pair for pair in node.value if _is_key(pair[0], str(step))]
            if not pairs:
                break

            marked, node = pairs[0]
        elif isinstance(node, SequenceNode) and isinstance(step, int) and step < len(node.value):
            marked = node = node.value[step]
        else:
            break

    return marked, node


def _is_key(node: Node, name: str) -> bool:
    return isinstance(node, ScalarNode) and node.value == name


def refuse_tags(text: str) -> None:
    """Raise if the text uses a tag or a merge key, not just their characters."""
    for node in _walk(compose(text)):
        for key in _keys_of(node):
            if isinstance(key, ScalarNode) and key.value == "<<" and key.style is None:
                message = "merge keys (`<<`) are not accepted"
                raise YamlProblemError(_problem_at(key, message, "write the keys out"))

        start = node.start_mark.index
        if text[start : start + 1] == "!":
            message = "YAML tags are not accepted"
            raise YamlProblemError(_problem_at(node, message, "remove the tag, or quote the value"))


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
                problem = _problem_at(token, "nested too deeply", "flatten the structure")
                raise YamlProblemError(problem)
    except YAMLError as error:
        problem, offset = _parse_stop(error)
        if _opening(text, offset) > allowed:
            raise YamlProblemError(problem) from None


def refuse_growth(text: str, allowed: int) -> None:
    """Raise if a text has more than `allowed` characters with its aliases written out.

    ryaml counts the values that aliases copy, and not how long each is.
    """
    if len(text) > LONGEST:
        raise YamlProblemError(Problem(MALFORMED, _GROWTH[0], Position(1), _GROWTH[1]))

    sizes: dict[str | None, int] = {}
    starts: list[tuple[str | None, int]] = []
    total = 0
    try:
        for event in YAML(typ="safe", pure=True).parse(text):
            before = total
            if isinstance(event, events.AliasEvent):
                total += sizes.get(event.anchor, 0)
            elif isinstance(event, events.ScalarEvent):
                total += len(event.value) + 1
                sizes[event.anchor] = total - before
            elif isinstance(event, events.CollectionStartEvent):
                starts.append((event.anchor, before))
            elif isinstance(event, events.CollectionEndEvent):
                anchor, start = starts.pop()
                sizes[anchor] = total - start

            if total > allowed:
                raise YamlProblemError(_problem_at(event, *_GROWTH))
    except YAMLError:
        return  # the reader says what is wrong


def _opening(text: str, start: int) -> int:
    return text.count("[", start) + text.count("{", start)


def _walk(root: Node | None) -> Iterator[Node]:
    """Yield the nodes of a tree in the order of the text, each once."""
    visited = set()
    stack = [] if root is None else [root]
    while stack:
        current = stack.pop()
        if id(current) in visited:
            continue

        visited.add(id(current))
        yield current

        if isinstance(current, MappingNode):
            stack += reversed([*chain.from_iterable(current.value)])
        elif isinstance(current, SequenceNode):
            stack += reversed(current.value)


def _keys_of(node: Node | None) -> list[Node]:
    if not isinstance(node, MappingNode):
        return []

    return [key for key, _ in node.value]


_GROWTH = ("aliases expand without bound", "write the values out instead of aliases")


def _problem_at(
    node: Node | tokens.Token | events.Event, message: str, hint: str | None
) -> Problem:
    return Problem(MALFORMED, message, _start_of(node), hint)


def explain(text: str, message: str) -> Problem:
    """Return ryaml's error as a problem with a position."""
    if conflict := _CONFLICT.search(text):
        line = text.count("\n", 0, conflict.start()) + 1
        detail = "not valid YAML: a merge left both sides of a conflict in it"
        hint = "`orbit resolve` repairs it until the merge is committed"
        return Problem(MALFORMED, detail, Position(line), hint)

    for words, (locate, detail, hint) in _EXPLANATIONS.items():
        if words in message:
            return Problem(MALFORMED, detail, locate(text, message), hint)

    if "duplicate entry" in message:
        return _explain_duplicate(text, message)
    if "cannot start any token" in message:
        return _explain_first_sign(text, _stated_position(text, message))

    position = _stated_position(text, message) if _PLACE.search(message) else place_of(text, ())
    detail = _PLACE.sub("", message, count=1).removeprefix("TypeError: ").strip()
    hint = "check indentation, quotes and brackets near that place"
    return Problem(MALFORMED, f"not valid YAML: {detail}", position, hint)


def explain_beyond_json(text: str, pointer: Sequence[object]) -> Problem:
    """Return the problem of a value that JSON can't hold: a key that is no text, `.inf`, `.nan`."""
    steps = [step if isinstance(step, int) else str(step) for step in pointer]
    _, node = _follow(_compose_or_none(text), steps[:-1])
    if pointer and isinstance(node, MappingNode) and not isinstance(pointer[-1], str):
        keys = [key for key in _keys_of(node) if key.tag in _NO_TEXTS]
        key = keys[0] if keys else node
        name = getattr(key, "value", pointer[-1])
        return _problem_at(key, f"the key `{name}` is not a text", "put it in quotes")

    message = "a number without end or value (`.inf`, `.nan`)"
    return Problem(MALFORMED, message, place_of(text, steps), "write a number, or quote it")


def _explain_duplicate(text: str, message: str) -> Problem:
    match = re.search(r'key "(.*)"', message)
    name = match[1] if match else ""
    hint = "keep one of the two"
    for node in _walk(_compose_or_none(text)):
        keys = [key for key in _keys_of(node) if isinstance(key, ScalarNode)]
        if name:
            keys = [key for key in keys if key.value == name]
        if len(keys) > 1:
            return _problem_at(keys[1], f"the key `{keys[1].value}` appears twice", hint)

    return Problem(MALFORMED, f"the key `{name}` appears twice", Position(1), hint)


def _explain_first_sign(text: str, position: Position) -> Problem:
    lines = text.split("\n")
    line = lines[position.line - 1] if position.line <= len(lines) else ""
    sign = line[position.column - 1 : position.column]
    if sign == "\t":
        return Problem(MALFORMED, _TAB, position, _SPACES)

    detail = f"not valid YAML: a value can't begin with `{sign}`" if sign != "`" else _BACKTICK
    return Problem(MALFORMED, detail, position, "put it in quotes")


def _last_document(text: str, _: str) -> Position:
    marks = [match.start() for match in re.finditer(r"(?m)^---(?=\s|$)", text)]
    if marks:
        return position_at(text, marks[-1])

    return Position(1)


def _byte_position(text: str, message: str) -> Position:
    offset = int(message.rpartition(" ")[2])  # in bytes
    return position_at(text, len(text.encode()[:offset].decode("utf-8", "replace")))


def _first_collection_key(text: str, _: str) -> Position:
    for node in _walk(_compose_or_none(text)):
        for key in _keys_of(node):
            if not isinstance(key, ScalarNode):
                return _start_of(key)

    return Position(1)


def _stated_position(_: str, message: str) -> Position:
    match = _PLACE.search(message)
    if match:
        return Position(int(match[1]), int(match[2]))

    return Position(1)


def _top(_text: str, _message: str) -> Position:
    return Position(1)


_TAB, _SPACES = "not valid YAML: a tab is in the indentation", "indent with spaces"
_BACKTICK = "not valid YAML: a value can't begin with a backtick"
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
    "found a tab character": (_stated_position, _TAB, _SPACES),
    "unhashable type": (_first_collection_key, "a key is a list or a mapping", "keys are texts"),
    "surrogates not allowed": (
        _top,
        "it holds bytes that are not valid UTF-8",
        "give the text in UTF-8",
    ),
    "invalid type: integer": (_stated_position, "a number has too many digits", "put it in quotes"),
    "repetition limit": (
        _top,
        *_GROWTH,
    ),
    "recursion limit": (_top, "nested too deeply", "flatten the structure"),
}
"""Part of ryaml's message: where the fault is, what it is, and what to do."""
