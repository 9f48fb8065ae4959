"""Front matter of a document: its top-level fields, by the reader of YAML or of TOML, each with
the place where it is written.

It does not say what a field means.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import pairwise

from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from orbit_registry.formats.position import Position, Problem, Span, YamlProblemError, text_lines
from orbit_registry.formats.toml import load_toml
from orbit_registry.formats.yaml import double_quoted
from orbit_registry.formats.yaml_nodes import compose, what_stops

KEY_TWICE = "adr-key-twice"
"""Code of the problem of a key that is written twice."""
BROKEN = "adr-front-matter-broken"
"""Code of the problem of a front matter that its reader refuses."""

Data = str | list["Data"] | dict[str, "Data"]
"""A value of the front matter. Scalars are texts as they are written: `0042` keeps its zeros."""

_KEY_LINE = re.compile(
    r"""^(?P<quote>["']?)(?P<key>[^\W\d][\w .-]{0,60}?)(?P=quote)[ \t]*:(?!//)""", re.MULTILINE
)
_ANY_KEY = re.compile(r"""^[ \t]*(?:-[ \t]+)?["']?[^\W\d][\w .-]{0,60}["']?[ \t]*:""", re.MULTILINE)
_TOML_KEY = re.compile(
    r"""^[ \t]*(?P<quote>["']?)(?P<key>[\w.-]{1,60})(?P=quote)[ \t]*=[ \t]*""", re.MULTILINE
)
_TOML_PLACE = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)$")
_TOML_TABLE = re.compile(r"""^[ \t]*\[{1,2}[ \t]*(?P<name>[\w."'-]{1,80})""", re.MULTILINE)
_FENCE = re.compile(r"^(?:[ \t]*(?:```|~~~)[^\n]*|---[ \t]*)$", re.MULTILINE)
_COMMENT = re.compile(r"(?:^|[ \t])#.*$")
_HANDLE = re.compile(r"[&!][^\s]*[ \t]+")
"""An anchor or a tag in front of a value."""
_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
_CONTAINERS = frozenset({"extra", "params", "metadata", "meta", "taxonomies", "adr", "decision"})
"""Fields that generators have for a document's own fields."""
_NAMES = ("target", "name", "id", "adr", "ref", "number", "path", "file", "url", "title", "value")
"""Which entry of a mapping says what the mapping is about."""
_HIDDEN = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufeff\u2028\u2029]")
_DEEPEST, _MOST = 6, 5_000
"""Levels and values that are read of a field: a text of a few lines can mean millions."""


@dataclass(frozen=True, slots=True)
class Field:
    """One field: its value as text and as a list, and the span of the value as written, quotes
    included.
    """

    key: str
    value: str
    values: tuple[str, ...]
    span: Span
    line: Span  # all lines of the field
    data: Data = ""
    alone: Span | None = None  # the only text of a list or of a mapping that names one
    places: tuple[Span, ...] = ()  # of the items of a list, or of what each is about

    @property
    def is_list(self) -> bool:
        """Whether the value is a list of texts, so that a comma in one of them separates
        nothing.
        """
        return isinstance(self.data, list)

    @property
    def pairs(self) -> tuple[str, ...]:
        """The items of the value, a mapping of one key as `key: value`: `path: src/**`."""
        items = self.data if isinstance(self.data, list) else [self.data]
        if not any(isinstance(item, dict) for item in items):
            return self.values

        return tuple(_pair(item) for item in items)


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """The fields of a front matter in their order, and what is wrong with it."""

    fields: tuple[Field, ...] = ()
    problems: tuple[Problem, ...] = ()


NO_FRONT_MATTER = FrontMatter()


def read_fields(text: str, span: Span) -> tuple[Field, ...]:
    """Return the fields of the YAML at `span`, in order."""
    return read_front_matter(text, span).fields


def read_front_matter(text: str, span: Span) -> FrontMatter:
    """Return the fields of the YAML at `span`; what is no YAML is read line by line, with a
    problem that says where the reader of YAML stopped.
    """
    block = _FENCE.sub(lambda match: " " * len(match.group()), span.of(text))
    problems: list[Problem] = []
    try:
        fields = _from_tree(block)
    except YamlProblemError:
        fields = [*_line_by_line(block)]
        if _ANY_KEY.search(block):
            problems.append(_not_yaml(text, span, what_stops(block)))

    fields = [_moved(field, span.start) for field in fields if field.key]
    return FrontMatter(tuple(fields), (*problems, *_repeated(text, fields)))


def _not_yaml(text: str, span: Span, problem: Problem) -> Problem:
    at = problem.position or Position(1)
    line = text_lines(text).position(span.start).line + at.line - 1
    reason = problem.message.removeprefix("not valid YAML: ")
    message = f"not read: front matter is not YAML at line {line}: {reason}"
    hint = "its lines are read one by one: correct that line, often with quotes around its value"
    return Problem(BROKEN, message, Position(line, at.column), hint)


def _line_by_line(block: str) -> Iterator[Field]:
    for part in _parts(block):
        yield from _from_part(block, part)


def _from_tree(block: str) -> list[Field]:
    """Return the fields of a YAML mapping.

    Raises:
        YamlProblemError: the text is none.
    """
    node = compose(block)
    if node is None:
        return []

    if not isinstance(node, MappingNode):
        raise YamlProblemError(Problem(BROKEN, "no mapping"))

    fields = _fields_of(block, node, len(block))
    names = {field.key for field in fields}
    for key, value in node.value:
        if _key_text(key).lower() in _CONTAINERS and isinstance(value, MappingNode):
            inner = _fields_of(block, value, value.end_mark.index)
            fields += (field for field in inner if field.key not in names)

    return fields


def _fields_of(block: str, node: MappingNode, end: int) -> list[Field]:
    starts = [key.start_mark.index for key, _ in node.value]
    lines = map(Span, starts, [*starts[1:], end])
    pairs = zip(node.value, lines, strict=True)
    return [_field(block, key, value, line) for (key, value), line in pairs]


class _Budget:
    """How many more values are read: aliases can mean a million."""

    def __init__(self) -> None:
        self.left = _MOST


def _field(block: str, key: Node, value: Node, line: Span) -> Field:
    data = _data(value, _Budget(), 0)
    span = _written(block, key, value, line)
    written = span.of(block)
    text = _text(data)

    # A bracket that the document writes is part of the status or the name as it states them.
    if isinstance(value, (SequenceNode, MappingNode)) and value.flow_style:
        text = " ".join(written.split())

    if isinstance(value, ScalarNode) and value.style == '"' and _HIDDEN.search(value.value):
        text = _paired(value.value) or " ".join(written[1:-1].split())
        data = text

    line = Span(line.start, max(span.end, line.start + len(line.of(block).rstrip())))
    only = _only(value)
    alone = None if only is None else _written(block, only, only, line)
    places = tuple(_places(block, value, line))
    return Field(_key_text(key), text, _values(data, text), span, line, data, alone, places)


def _places(block: str, node: Node, line: Span) -> Iterator[Span]:
    for item in node.value if isinstance(node, SequenceNode) else ():
        about = _only(item) or item
        yield _written(block, about, about, line)


def _only(node: Node) -> ScalarNode | None:
    """Return the only text of a list, or the one that a mapping names."""
    if isinstance(node, SequenceNode) and len(node.value) == 1:
        only = node.value[0]
        if isinstance(only, ScalarNode):
            return only

        return None

    if not isinstance(node, MappingNode):
        return None

    by_key = {_key_text(key): value for key, value in node.value}
    texts = (value for name in _NAMES if isinstance(value := by_key.get(name), ScalarNode))
    return next(texts, None)


def _key_text(key: Node) -> str:
    return key.value if isinstance(key, ScalarNode) else ""


def _data(node: Node, budget: _Budget, depth: int) -> Data:
    budget.left -= 1
    if budget.left < 0 or depth > _DEEPEST:
        return ""

    if isinstance(node, ScalarNode):
        is_null = node.style is None and node.value in _NULLS
        if is_null:
            return ""

        return str(node.value)

    if isinstance(node, SequenceNode):
        return [_data(item, budget, depth + 1) for item in node.value]

    return {_key_text(key): _data(value, budget, depth + 1) for key, value in node.value}


def _written(block: str, key: Node, value: Node, line: Span) -> Span:
    """Return the span of a value as written; one that is an alias or empty is right of its key."""
    colon = block.find(":", key.end_mark.index, line.end) + 1
    start, end = value.start_mark.index, value.end_mark.index

    is_alias = not line.start <= start <= line.end
    if is_alias:
        start = colon + len(block[colon : line.end]) - len(block[colon : line.end].lstrip(" \t"))
        end = start + len(block[start : line.end].split("\n", 1)[0].rstrip())

    if isinstance(value, (SequenceNode, MappingNode)) and not value.flow_style:
        start = colon + len(block[colon:start]) - len(block[colon:start].lstrip(" \t"))

    handle = _HANDLE.match(block, start, end)
    if handle is not None and not is_alias:
        start = handle.end()

    if start >= end:
        if colon:
            return Span(colon, colon)

        return Span(start, start)

    return Span(start, start + len(block[start:end].rstrip()))


def _text(data: Data) -> str:
    if isinstance(data, str):
        if "\n" in data:
            return " ".join(part.strip() for part in data.split("\n")).strip()

        return data

    if isinstance(data, list):
        return ", ".join(filter(None, map(_about, data)))

    return name_in(data) or ", ".join(filter(None, map(_about, data.values())))


def _paired(value: str) -> str:
    """Return a text whose pairs of surrogates are one character each; empty if it hides others."""
    try:
        text = value.encode("utf-16", "surrogatepass").decode("utf-16")
    except UnicodeDecodeError:
        return ""

    if _HIDDEN.search(text):
        return ""

    return text


def _values(data: Data, text: str) -> tuple[str, ...]:
    """Return a value as a list: `{a, b}` counts as one, and a list in a list is a link to a
    page.
    """
    return tuple(item for item in _items_of(data, text) if item)


def _items_of(data: Data, text: str) -> list[str]:
    if isinstance(data, list):
        return [_about(item) for item in data]

    if isinstance(data, str):
        return [text]

    if not any(data.values()):
        if len(data) > 1:
            return [*data]

        return [text]

    if name_in(data):
        return [_about(data)]

    return [_about(value) for value in data.values()]


def _about(data: Data) -> str:
    """Return the text that says what a value is about."""
    if isinstance(data, str):
        return _text(data)

    if isinstance(data, list):
        inner = ", ".join(filter(None, map(_about, data)))
        is_link = len(data) == 1 and isinstance(data[0], str)
        if is_link:
            return f"[[{inner}]]"

        return inner

    name = name_in(data)
    if name:
        return name

    if len(data) == 1:  # `- ADR-0001: the first`
        key, value = next(iter(data.items()))
        if value:
            return f"{key}: {_about(value)}"

        return key

    return ", ".join(filter(None, map(_about, data.values())))


def _pair(data: Data) -> str:
    if not isinstance(data, dict) or len(data) != 1:
        return _about(data)

    key, value = next(iter(data.items()))
    return f"{key}: {_about(value)}"


def name_in(data: Mapping[str, Data]) -> str:
    """Return the entry of a mapping that says what it is about, empty if none does."""
    texts = (value for name in _NAMES if isinstance(value := data.get(name), str) and value)
    return next(texts, "")


def _parts(block: str) -> Iterator[Span]:
    """Yield the lines of each key of a text that is no YAML as a whole."""
    starts = [match.start() for match in _KEY_LINE.finditer(block)]
    for start, end in pairwise([*starts, len(block)]):
        yield Span(start, end)


def _from_part(block: str, part: Span) -> Iterator[Field]:
    """Yield the field in some lines, whose value is plain text where it is no YAML."""
    lines = part.of(block)
    with suppress(YamlProblemError):
        yield from (_moved(field, part.start) for field in _from_tree(lines))
        return

    key = _KEY_LINE.match(lines)
    if key is None:
        return

    first, *others = lines[key.end() :].split("\n")
    value = " ".join(filter(None, (_COMMENT.sub("", line).strip() for line in (first, *others))))
    start = key.end() + len(first) - len(first.lstrip())
    written = lines[start:].rstrip()
    if not others or not "".join(others).strip():
        written = _COMMENT.sub("", written).rstrip()

    span = Span(start, start + len(written)) if value else Span(key.end(), key.end())
    line = Span(0, len(lines.rstrip()))
    if value[:1] in "\"'" and value.count(value[:1]) == 1:  # a quote that is never closed
        value = value[1:].strip()

    values = tuple(_items(value)) or ((value,) if value else ())
    data: Data = [*values] if values != (value,) else value
    yield _moved(Field(key["key"], value, values, span, line, data), part.start)


def _items(value: str) -> Iterator[str]:
    """Yield the items of a list that is no YAML, such as `[@ada, @bob]`; `[a](b.md)` is a link."""
    if value.startswith("- "):
        yield from (item.strip() for item in value[2:].split(" - "))
    elif value.startswith("[") and "](" not in value and "," in value:
        items = value[1:].removesuffix("]").split(",")
        yield from (item.strip(" \"'") for item in items if item.strip())


def _moved(field: Field, by: int) -> Field:
    def moved(span: Span) -> Span:
        return Span(span.start + by, span.end + by)

    alone = None if field.alone is None else moved(field.alone)
    places = tuple(map(moved, field.places))
    return replace(
        field, span=moved(field.span), line=moved(field.line), alone=alone, places=places
    )


def _repeated(text: str, fields: Sequence[Field]) -> Iterator[Problem]:
    first: dict[str, Field] = {}
    for field in fields:
        other = first.setdefault(field.key, field)
        if other is field:
            continue

        position = text_lines(text).position
        line = position(other.line.start).line
        yield Problem(
            KEY_TWICE,
            f"the front matter states `{field.key[:60]}` twice",
            position(field.line.start),
            f"line {line} counts: delete one of the two",
        )


def read_toml(text: str, span: Span) -> FrontMatter:
    """Return the fields of the TOML at `span`; what is none has a problem, and no fields."""
    block = span.of(text)
    try:
        data = load_toml(block.replace("\r\n", "\n"))
    except (ValueError, RecursionError) as error:
        return FrontMatter(problems=(_not_toml(text, span, str(error)),))

    tables = [(match["name"], match.end()) for match in _TOML_TABLE.finditer(block)]
    starts = [match.start() for match in _TOML_TABLE.finditer(block)]
    sections = zip([("", 0), *tables], [*starts, len(block)], strict=True)
    fields: list[Field] = []
    for (name, start), end in sections:
        for match in _TOML_KEY.finditer(block, start, end):
            path, _, key = match["key"].rpartition(".")  # `extra.status = "accepted"`
            table = ".".join(filter(None, (name, path)))
            section: object = data.get(table) if table in _CONTAINERS else None
            if not table:
                section = data

            if isinstance(section, dict) and key in section:
                fields.append(_toml_field(block, match, key, section[key]))

    return FrontMatter(tuple(_moved(field, span.start) for field in fields))


def _not_toml(text: str, span: Span, reason: str) -> Problem:
    at = _TOML_PLACE.search(reason)
    last = span.of(text).rstrip().count("\n")
    line = text_lines(text).position(span.start).line + (int(at[1]) - 1 if at else last)
    message = f"not read: front matter is not TOML at line {line}: {_TOML_PLACE.sub('', reason)}"
    return Problem(BROKEN, message, Position(line), "none of its fields is read: correct that line")


def _toml_field(block: str, match: re.Match[str], key: str, value: object) -> Field:
    line_end = block.find("\n", match.end())
    written = block[match.end() : line_end if line_end >= 0 else len(block)]
    span = Span(match.end(), match.end() + len(_COMMENT.sub("", written).rstrip()))
    if isinstance(value, str):
        span = _toml_string(block, Span(match.end(), match.end() + len(written.rstrip())))

    data = _plain(value, 0)
    text = _text(data)
    return Field(key, text, _values(data, text), span, Span(match.start(), span.end), data)


def _toml_string(block: str, span: Span) -> Span:
    """Return the span of a string, without a comment behind it."""
    quote = block[span.start : span.start + 1]
    closing = span.start + 1
    while closing < span.end and block[closing] != quote:
        closing += 2 if block[closing] == "\\" and quote == '"' else 1

    return Span(span.start, min(closing + 1, span.end))


def _plain(value: object, depth: int) -> Data:
    if depth > _DEEPEST:
        return ""

    if isinstance(value, list):
        return [_plain(item, depth + 1) for item in value]

    if isinstance(value, dict):
        return {str(key): _plain(item, depth + 1) for key, item in value.items()}

    if isinstance(value, bool):
        return str(value).lower()

    return str(value)


_PLAIN_SAFE = re.compile(r"[A-Za-z0-9_][^\x00-\x1f\x7f-\x9f\ufeff\u2028\u2029]*")
_NOT_PLAIN = re.compile(
    r"(?:true|false|null|yes|no|on|off|~|[-+.0-9][-+.0-9_eExXoO:]*|\d{4}-\d\d-\d\d.*)",
    re.IGNORECASE,
)
_DATE = re.compile(r"\d{4}-\d\d(?:-\d\d)?")


def scalar(value: str, like: str = "") -> str:
    """Return `value` as a YAML scalar on one line, quoted as `like` is, or where it has to be."""
    if like[:1] == "'" and "'" not in value and value.isprintable():
        return f"'{value}'"
    if like[:1] == '"' or not _is_plain(value):
        return double_quoted(value)
    return value


def _is_plain(value: str) -> bool:
    return (
        _PLAIN_SAFE.fullmatch(value) is not None
        and (_NOT_PLAIN.fullmatch(value) is None or _DATE.fullmatch(value) is not None)
        and ": " not in value
        and " #" not in value
        and not value.endswith((":", " "))
    )
