"""Strict YAML reader, and writer of new YAML text.

ryaml reads. ruamel, in `yaml_nodes`, is imported only where a problem needs a position: it is about
a hundred times slower, and its import costs more than reading a hundred records.
"""

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence

import ryaml

from orbit_registry.formats.position import Pointer, Position, YamlProblemError, position_at

_MANY = 1_000  # opening brackets above which the nesting of a text is checked
_SUSPECT = re.compile(r"(?m)(?:^[ \t]*(?:-[ \t]+)*|[:?,\[{][ \t]+|[\[{,])!|<<[ \t]*:")
_PLAIN = re.compile(r"[A-Za-z_/][A-Za-z0-9_./()+@~\- ]*\Z")
_RESERVED = frozenset(("null", "true", "false", "yes", "no", "on", "off", "y", "n", "nan", "inf"))
_UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\x80-\x9f\u2028\u2029\ufeff\ufffe\uffff]")


def load(text: str) -> object:
    """Return the value of a YAML text.

    Refuses duplicate keys, several documents, alias bombs, tags and `<<`, and what JSON can't hold:
    keys that are no texts, `.nan` and `.inf`. Dates stay strings.
    """
    if text.startswith("\ufeff"):
        text = text[1:]

    if ("!" in text or "<<" in text) and _SUSPECT.search(
        text
    ):  # the two looks cost a tenth of the pattern
        from orbit_registry.formats.yaml_nodes import refuse_tags

        refuse_tags(text)

    if text.count("[") + text.count("{") > _MANY:
        from orbit_registry.formats.yaml_nodes import refuse_depth

        refuse_depth(text, _MANY)

    try:
        value: object = ryaml.loads(text)
    except ValueError as error:
        from orbit_registry.formats.yaml_nodes import explain

        raise YamlProblemError(explain(text, str(error))) from None

    pointer = _beyond_json(value)
    if pointer is not None:
        from orbit_registry.formats.yaml_nodes import explain_beyond_json

        raise YamlProblemError(explain_beyond_json(text, pointer))

    return value


def _beyond_json(value: object) -> tuple[object, ...] | None:
    """Return the pointer to a key or number that JSON can't hold;
    the last step may be a key that is no text.
    """
    stack: list[tuple[tuple[object, ...], object]] = [((), value)]
    while stack:
        at, current = stack.pop()
        if isinstance(current, dict):
            for key, inner in current.items():
                if not isinstance(key, str):
                    return (*at, key)
                if not isinstance(inner, str):
                    stack.append(((*at, key), inner))
        elif isinstance(current, list):
            stack += (
                ((*at, index), inner)
                for index, inner in enumerate(current)
                if not isinstance(inner, str)
            )
        elif isinstance(current, float) and not math.isfinite(current):
            return at

    return None


def position_of(text: str, pointer: Sequence[str | int]) -> Position:
    """Return the position of the value at `pointer`:
    of its key in a mapping, of itself in a list.
    """
    from orbit_registry.formats.yaml_nodes import place_of

    return place_of(text, pointer)


def position_in(text: str, pointer: Pointer) -> Position:
    """Return the position of the value at `pointer`, as `position_of` does,
    but quickly for block style.
    """
    position = _by_lines(text, pointer) if pointer else Position(1)
    return position or position_of(text, pointer)


def _by_lines(text: str, pointer: Pointer) -> Position | None:
    """Follow keys and list items by their indentation;
    None where the text's form is not that plain.
    """
    start, end, column = 0, len(text), 0
    offset: int | None = None
    for step in pointer:
        if isinstance(step, int):
            items = _items(text, start, end)
            if items is None or step >= len(items):
                return None
            offset = items[step]
            start = offset
            column = offset - (text.rfind("\n", 0, offset) + 1)
            end = next((text.rfind("\n", 0, item) for item in items[step + 1 :]), end)
        else:
            key = re.compile(rf"^{' ' * column}{re.escape(step)}[ ]*:(?=[ \r\n])", re.MULTILINE)
            matches = list(key.finditer(text, start, end))
            if len(matches) != 1:
                return None

            offset = matches[0].start() + column
            start = matches[0].end()
            following = re.compile(rf"^ {{0,{column}}}(?!- )[^\s#]", re.MULTILINE).search(
                text, start, end
            )
            end = following.start() if following else end
            inner = re.compile(r"^( *)[^\s#]", re.MULTILINE).search(text, start, end)
            column = len(inner[1]) if inner else column + 2

    return position_at(text, offset) if offset is not None else None


def _items(text: str, start: int, end: int) -> list[int] | None:
    first = re.compile(r"^( *)-[ ]", re.MULTILINE).search(text, start, end)
    if first is None or text[start : first.start()].strip(" \r\n"):
        return None
    if re.compile(rf"^{first[1]}-[ ]*\r?$", re.MULTILINE).search(text, start, end):
        return None  # an entry that starts on the next line, or holds nothing
    dashes = re.compile(rf"^{first[1]}-[ ]+", re.MULTILINE)
    return [match.end() for match in dashes.finditer(text, start, end)]


def scalar_text(value: object, indent: int = 0) -> str:
    """Return a value as YAML after `key: ` or `- ` at `indent` spaces;
    several lines become a literal block.
    """
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return json.dumps(value)

    if isinstance(value, float):
        return (
            json.dumps(value) if math.isfinite(value) else ".nan"
        )  # which `load` refuses; JSON's word is a text

    text = str(value)
    if "\n" in text and _block_safe(text):
        body = text.rstrip("\n")
        trailing = len(text) - len(body)
        style = {0: "|-", 1: "|"}.get(trailing, "|+")
        lines = body.split("\n") + [""] * max(0, trailing - 1)
        pad = " " * (indent + 2)
        return style + "".join(f"\n{pad}{line}" if line else "\n" for line in lines)

    bare = _PLAIN.match(text) and text.strip() == text and text.lower() not in _RESERVED
    return text if bare else double_quoted(text)


def double_quoted(text: str) -> str:
    """Return a text in double quotes, with what doesn't print escaped."""
    escaped = json.dumps(text, ensure_ascii=False)
    return _UNPRINTABLE.sub(lambda match: f"\\u{ord(match[0]):04x}", escaped)


def _block_safe(text: str) -> bool:
    lines = text.split("\n")
    if (
        not text.strip()
        or lines[0].startswith((" ", "\t"))
        or not lines[0]
        or "\r" in text
        or "\t" in text
    ):
        return False

    return _UNPRINTABLE.search(text) is None and not any(
        line != "" and not line.strip() for line in lines
    )


def dump(data: Mapping[str, object], *, comment: str | None = None) -> str:
    """Return a mapping as a new YAML text in block style, keys in their order,
    with an optional first-line comment.
    """
    head = f"# {comment}\n" if comment else ""
    return head + "".join(f"{line}\n" for line in entry_lines(data, 0))


def entry_lines(data: Mapping[str, object], indent: int) -> Iterator[str]:
    """Yield the lines of a mapping in block style at `indent`."""
    for key, value in data.items():
        yield f"{' ' * indent}{scalar_text(key)}:{after_key(value, indent)}"


def after_key(value: object, indent: int) -> str:
    """Return what follows `key:`, with its leading space or line break."""
    if isinstance(value, Mapping):
        return "".join(f"\n{line}" for line in entry_lines(value, indent + 2)) if value else " {}"

    if isinstance(value, (list, tuple)):
        return (
            "".join(f"\n{' ' * (indent + 2)}{list_item(entry, indent + 2)}" for entry in value)
            if value
            else " []"
        )

    return f" {scalar_text(value, indent)}"


def list_item(value: object, indent: int) -> str:
    """Return `- value` for a list whose dash is at `indent`."""
    if isinstance(value, Mapping) and value:
        lines = "\n".join(entry_lines(value, indent + 2))
        return "- " + lines.lstrip()

    if isinstance(value, (list, tuple)) and value:
        return "-" + "".join(
            f"\n{' ' * (indent + 2)}{list_item(entry, indent + 2)}" for entry in value
        )

    return "-" + after_key(value, indent)
