"""Strict YAML reader, and writer of new YAML text.

ryaml reads, or `yaml_fallback` where it is missing. ruamel, in `yaml_nodes`, is imported only where
a problem needs a position: it is about a hundred times slower, and its import costs more than
reading a hundred records.
"""

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from orbit_registry.formats.position import Pointer, Position, YamlProblemError, position_at

Data = Mapping[str, object]

_MANY = 1_000  # opening brackets above which the nesting of a text is checked
_MOST_COPIED = 5_000_000  # characters that a text may have with its aliases written out
_NAME = r"([\w-]+|[^\s\w*&,\[\]{}])"
_ANCHOR = re.compile(f"&{_NAME}")
_ALIAS = re.compile(rf"\*{_NAME}")
"""Whatever is ahead of it: readers differ in where a name may be."""
_SUSPECT = re.compile(r"(?m)(?:^[ \t]*(?:-[ \t]+)*|[:?,\[{][ \t]+|[\[{,])!|<<[ \t]*:")
_PLAIN = re.compile(r"[A-Za-z_/][A-Za-z0-9_./()+@~\- ]*\Z")
_RESERVED = frozenset(("null", "true", "false", "yes", "no", "on", "off", "y", "n", "nan", "inf"))
_UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\x80-\x9f\u2028\u2029\ufeff\ufffe\uffff]")


def _reader() -> ModuleType:
    try:
        import ryaml
    except ImportError:  # there is no wheel of it for this machine
        from orbit_registry.formats import yaml_fallback

        return yaml_fallback

    return ryaml


reader = _reader()
"""What has `loads`: a text in, a value out, or ValueError."""


def load(text: str) -> object:
    """Return the value of a YAML text.

    Refuses duplicate keys, several documents, alias bombs, tags and `<<`, and what JSON can't hold:
    keys that are no texts, `.nan` and `.inf`. Dates stay strings.
    """
    text = text.removeprefix("\ufeff")

    # The two looks cost a tenth of the pattern.
    if ("!" in text or "<<" in text) and _SUSPECT.search(text):
        from orbit_registry.formats.yaml_nodes import refuse_tags

        refuse_tags(text)

    if text.count("[") + text.count("{") > _MANY:
        from orbit_registry.formats.yaml_nodes import refuse_depth

        refuse_depth(text, _MANY)

    if "*" in text and "&" in text and _has_alias(text):
        from orbit_registry.formats.yaml_nodes import refuse_growth

        refuse_growth(text, _MOST_COPIED)

    try:
        value: object = reader.loads(text)
    except ValueError as error:
        from orbit_registry.formats.yaml_nodes import explain

        raise YamlProblemError(explain(text, str(error))) from None

    pointer = _beyond_json(value)
    if pointer is not None:
        from orbit_registry.formats.yaml_nodes import explain_beyond_json

        raise YamlProblemError(explain_beyond_json(text, pointer))

    return value


def _has_alias(text: str) -> bool:
    """Say whether a text may have an alias, and not only words between stars."""
    return not set(_ALIAS.findall(text)).isdisjoint(_ANCHOR.findall(text))


def table_of(module: str, name: str) -> Any:
    """Return what a file of data next to a module says: `table_of(__file__, "signs.yaml")`."""
    return load(Path(module).with_name(name).read_text("utf-8"))


def _beyond_json(value: object) -> tuple[object, ...] | None:
    """Return the pointer to a key or number that JSON can't hold.

    The last step may be a key that is no text.
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
            for index, inner in enumerate(current):
                if not isinstance(inner, str):
                    stack.append(((*at, index), inner))
        elif isinstance(current, float) and not math.isfinite(current):
            return at

    return None


def position_of(text: str, pointer: Sequence[str | int]) -> Position:
    """Return the position of the value at `pointer`: of its key, or of the item of a list."""
    from orbit_registry.formats.yaml_nodes import place_of

    return place_of(text, pointer)


def position_in(text: str, pointer: Pointer) -> Position:
    """Return what `position_of` does, but quickly for block style."""
    if not pointer:
        return Position(1)

    return _by_lines(text, pointer) or position_of(text, pointer)


def _by_lines(text: str, pointer: Pointer) -> Position | None:
    """Follow keys and list items by their indentation.

    Return None where the text's form is not that plain.
    """
    start = 0
    end = len(text)
    column = 0
    offset: int | None = None

    for step in pointer:
        if isinstance(step, int):
            items = _items(text, start, end)
            if items is None or step >= len(items):
                return None

            offset = items[step]
            start = offset
            column = offset - (text.rfind("\n", 0, offset) + 1)
            if step + 1 < len(items):
                end = text.rfind("\n", 0, items[step + 1])
        else:
            key = re.compile(rf"^{' ' * column}{re.escape(step)}[ ]*:(?=[ \r\n])", re.MULTILINE)
            matches = list(key.finditer(text, start, end))
            if len(matches) != 1:
                return None

            offset = matches[0].start() + column
            start = matches[0].end()
            next_key = re.compile(rf"^ {{0,{column}}}(?!- )[^\s#]", re.MULTILINE)
            following = next_key.search(text, start, end)
            if following:
                end = following.start()

            inner = re.compile(r"^( *)[^\s#]", re.MULTILINE).search(text, start, end)
            column = len(inner[1]) if inner else column + 2

    if offset is None:
        return None

    return position_at(text, offset)


def _items(text: str, start: int, end: int) -> list[int] | None:
    """Return where the items of a list begin, after their dashes; None if it is not that plain."""
    first = re.compile(r"^( *)-[ ]", re.MULTILINE).search(text, start, end)
    if first is None or text[start : first.start()].strip(" \r\n"):
        return None
    if re.compile(rf"^{first[1]}-[ ]*\r?$", re.MULTILINE).search(text, start, end):
        return None  # an entry that starts on the next line, or holds nothing

    dashes = re.compile(rf"^{first[1]}-[ ]+", re.MULTILINE)
    return [match.end() for match in dashes.finditer(text, start, end)]


def scalar_text(value: object, indent: int = 0) -> str:
    """Return a value as YAML after `key: ` or `- ` at `indent` spaces.

    Several lines become a literal block.
    """
    if value is None:
        return "null"
    if isinstance(value, bool):
        if value:
            return "true"

        return "false"
    if isinstance(value, int):
        return json.dumps(value)

    if isinstance(value, float) and not math.isfinite(value):
        return ".nan"  # `load` refuses it, and would take JSON's word for a text
    if isinstance(value, float):
        return json.dumps(value)

    text = str(value)
    if "\n" in text and _block_safe(text):
        return _literal_block(text, indent)
    if _PLAIN.match(text) and text.strip() == text and text.lower() not in _RESERVED:
        return text

    return double_quoted(text)


def _literal_block(text: str, indent: int) -> str:
    body = text.rstrip("\n")
    trailing = len(text) - len(body)
    block = {0: "|-", 1: "|"}.get(trailing, "|+")
    pad = " " * (indent + 2)
    for line in body.split("\n"):
        block += f"\n{pad}{line}" if line else "\n"

    return block + "\n" * (trailing - 1)


def double_quoted(text: str) -> str:
    """Return a text in double quotes, with what doesn't print escaped."""
    escaped = json.dumps(text, ensure_ascii=False)
    return _UNPRINTABLE.sub(lambda match: f"\\u{ord(match[0]):04x}", escaped)


def _block_safe(text: str) -> bool:
    """Say whether a literal block holds a text unchanged."""
    if not text.strip() or text.startswith((" ", "\n")) or "\r" in text or "\t" in text:
        return False
    if any(line.isspace() for line in text.split("\n")):
        return False

    return _UNPRINTABLE.search(text) is None


def dump(data: Data, *, comment: str | None = None) -> str:
    """Return a mapping as a new YAML text in block style; `comment` becomes its first line."""
    lines = [f"# {comment}"] if comment else []
    lines += entry_lines(data, 0)
    return "".join(f"{line}\n" for line in lines)


def entry_lines(data: Data, indent: int) -> Iterator[str]:
    """Yield the lines of a mapping in block style at `indent`."""
    for key, value in data.items():
        yield f"{' ' * indent}{scalar_text(key)}:{after_key(value, indent)}"


def after_key(value: object, indent: int) -> str:
    """Return what follows `key:`, with its leading space or line break."""
    if isinstance(value, Mapping):
        return "".join(f"\n{line}" for line in entry_lines(value, indent + 2)) or " {}"
    if isinstance(value, (list, tuple)):
        return _items_text(value, indent + 2) or " []"

    return f" {scalar_text(value, indent)}"


def list_item(value: object, indent: int) -> str:
    """Return `- value` for a list whose dash is at `indent`."""
    if isinstance(value, Mapping) and value:
        lines = "\n".join(entry_lines(value, indent + 2))
        return f"- {lines.lstrip()}"

    return f"-{after_key(value, indent)}"


def _items_text(values: Iterable[object], indent: int) -> str:
    pad = " " * indent
    return "".join(f"\n{pad}{list_item(value, indent)}" for value in values)
