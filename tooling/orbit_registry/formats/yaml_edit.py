"""Edits of YAML text that leave every other byte alone."""

import difflib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from orbit_registry.formats.position import MALFORMED, Position, Problem, YamlProblemError
from orbit_registry.formats.yaml import (
    Data,
    after_key,
    double_quoted,
    entry_lines,
    list_item,
    load,
    position_of,
    scalar_text,
)
from orbit_registry.formats.yaml_nodes import compose


@dataclass(frozen=True, slots=True)
class _Splice:
    """A stretch of the text, and what takes its place."""

    start: int
    end: int
    text: str


def _in_place(node: Node, text: str) -> _Splice:
    return _Splice(node.start_mark.index, node.end_mark.index, text)


def rewrite(text: str, new: Data, *, order: Sequence[str] = ()) -> str:
    """Return `text` changed to mean `new`, in its form elsewhere; `order` places top-level keys."""
    old = load(text)
    if not isinstance(old, dict):
        hint = "start it with `key: value`"
        raise YamlProblemError(Problem(MALFORMED, "the file holds no mapping", Position(1), hint))

    plain = dict(new)
    if old == plain:
        return text

    newline = "\r\n" if "\r\n" in text else "\n"
    body = text.removeprefix("\ufeff")
    mark = text[: len(text) - len(body)]
    if body and not body.endswith("\n"):
        body += newline

    root = compose(body)
    if not isinstance(root, MappingNode):
        raise YamlProblemError(Problem(MALFORMED, "the file holds no mapping", Position(1)))

    splices = list(_edit_mapping(body, root, old, plain, 0, list(order)))
    splices.sort(key=lambda edit: (edit.start, edit.end))
    result = body
    # From the end, so that offsets hold; at one offset the last one first, so that the first ends
    # up in front of it.
    for splice in reversed(splices):
        result = result[: splice.start] + splice.text.replace("\n", newline) + result[splice.end :]

    if not means(result, plain):
        changed = next((key for key in plain if old.get(key) != plain[key]), "")
        position = position_of(body, (changed,))
        message = "this file's form can't be edited without touching other lines"
        raise YamlProblemError(Problem(MALFORMED, message, position, "edit it by hand"))

    return mark + result


def means(text: str, value: object) -> bool:
    """Say whether a text is YAML of this value."""
    try:
        return load(text) == value
    except YamlProblemError:
        return False


def _edit_mapping(
    text: str,
    node: MappingNode,
    old: Data,
    new: Data,
    indent: int,
    order: list[str],
) -> Iterator[_Splice]:
    """Yield the edits that give a mapping its new keys and values."""
    if node.flow_style:
        if old != new:
            yield _in_place(node, _flow(new))

        return

    pairs = {key.value: (key, value) for key, value in node.value}
    for name, (key, value) in pairs.items():
        if name not in new:
            start = _line_start(text, key.start_mark.index)
            yield _Splice(start, _after_line(text, _content_end(text, value, key)), "")
        elif old.get(name) != new[name]:
            yield from _edit_value(text, key, value, old.get(name), new[name], indent)

    added = [name for name in new if name not in pairs]
    for anchor, names in _group_by_anchor(added, list(pairs), order, list(new)):
        if anchor is not None:
            key, value = pairs[anchor]
            start = _after_line(text, _content_end(text, value, key))
        elif node.value:
            start = _line_start(text, node.value[0][0].start_mark.index)
        else:
            start = len(text)

        entries = {name: new[name] for name in names}
        lines = "".join(f"{line}\n" for line in entry_lines(entries, indent))
        yield _Splice(start, start, lines)


def _group_by_anchor(
    added: list[str], present: list[str], order: list[str], new_order: list[str]
) -> Iterator[tuple[str | None, list[str]]]:
    """Group new keys by the existing key that they follow, in `order` or else in the new value."""
    groups: dict[str | None, list[str]] = {}
    for name in added:
        sequence = order if name in order else new_order
        before = sequence[: sequence.index(name)]
        anchor = next((key for key in reversed(before) if key in present), None)
        if anchor is None and present and name not in order:
            anchor = present[-1]

        groups.setdefault(anchor, []).append(name)

    yield from groups.items()


def _edit_value(
    text: str, key: ScalarNode, node: Node, old: object, new: object, indent: int
) -> Iterator[_Splice]:
    """Yield the edits that give a key its new value, in the form of the old one if that can be."""
    if (
        isinstance(node, MappingNode)
        and isinstance(old, dict)
        and isinstance(new, Mapping)
        and (new and not node.flow_style)
    ):
        inner = node.value[0][0].start_mark.column if node.value else indent + 2
        yield from _edit_mapping(text, node, old, new, inner, [])
    elif (
        isinstance(node, SequenceNode)
        and isinstance(old, list)
        and isinstance(new, (list, tuple))
        and new
        and node.value
    ):
        yield from _edit_sequence(text, node, old, list(new))
    elif (
        isinstance(node, (MappingNode, SequenceNode)) and node.flow_style and not _is_one_line(new)
    ):
        yield _in_place(node, _flow(new))
    elif (
        isinstance(node, ScalarNode)
        and _has_text(node)
        and node.style not in ("|", ">")
        and _is_one_line(new)
    ):
        start = node.start_mark.index
        rendered = _render_like(text[start : start + 1], new, indent)
        yield _in_place(node, rendered)
    else:
        # Another form: all that follows the colon is written anew.
        start = text.index(":", key.end_mark.index) + 1
        written = after_key(new, key.start_mark.column)
        yield _Splice(start, _content_end(text, node, key), written)


def _has_text(node: Node) -> bool:
    """Say whether a value has characters; the marks of an empty one point at what follows it."""
    return bool(node.end_mark.index > node.start_mark.index)


def _is_one_line(value: object) -> bool:
    if isinstance(value, str):
        return "\n" not in value

    return not isinstance(value, (Mapping, list, tuple))


def _render_like(quote: str, value: object, indent: int) -> str:
    """Return a value in the quotes of the old one."""
    if isinstance(value, str) and quote == "'" and value.isprintable():
        return "'" + value.replace("'", "''") + "'"
    if isinstance(value, str) and quote == '"':
        return double_quoted(value)

    return scalar_text(value, indent)


def _edit_sequence(
    text: str, node: SequenceNode, old: list[object], new: list[object]
) -> Iterator[_Splice]:
    """Yield the edits that turn a list into a new one; items that stay are not touched."""
    if node.flow_style:
        yield _in_place(node, _flow(new))
        return

    dash = node.start_mark.column
    matcher = difflib.SequenceMatcher(None, _comparable(old), _comparable(new), autojunk=False)
    for tag, first, last, start, stop in matcher.get_opcodes():
        if tag == "equal":
            continue

        rows: list[Any] = list(
            zip(node.value[first:last], old[first:last], new[start:stop], strict=False)
        )
        if last - first == stop - start and all(_is_editable(*row) for row in rows):
            for item, earlier, later in rows:
                yield from _edit_mapping(text, item, earlier, later, item.start_mark.column, [])
            continue

        lines = "".join(f"{' ' * dash}{list_item(value, dash)}\n" for value in new[start:stop])
        if first == last:
            at = _item_end(text, node, first - 1) if first else _item_start(text, node, 0)
            yield _Splice(at, at, lines)
            continue

        # The new items take the place of the first one, the others go.
        for index in range(first, last):
            yield _Splice(_item_start(text, node, index), _item_end(text, node, index), lines)
            lines = ""


def _comparable(values: Sequence[object]) -> list[str]:
    return [json.dumps(value, sort_keys=True, default=str) for value in values]


def _is_editable(item: Node, old: object, new: object) -> bool:
    """Say whether an item of a list can be edited in its place.

    It can if it is a mapping that keeps its keys, and its first one where it is.
    """
    if not isinstance(item, MappingNode):
        return False
    if not isinstance(old, dict) or not isinstance(new, Mapping):
        return False

    return set(old) <= set(new) and [*old][:1] == [*new][:1] != []


def _item_start(text: str, node: SequenceNode, index: int) -> int:
    """Return the start of the line with an item's dash."""
    dash = text.rfind("-", 0, node.value[index].start_mark.index + 1)
    while dash > 0 and text[_line_start(text, dash) : dash].strip():
        dash = text.rfind("-", 0, dash)

    return _line_start(text, dash)


def _item_end(text: str, node: SequenceNode, index: int) -> int:
    return _after_line(text, _content_end(text, node.value[index], None))


def _flow(value: object) -> str:
    """Return a value in flow style, on one line."""
    if isinstance(value, Mapping):
        entries = ", ".join(f"{scalar_text(key)}: {_flow(entry)}" for key, entry in value.items())
        return f"{{{entries}}}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_flow, value))}]"
    if isinstance(value, str) and "\n" in value:
        return json.dumps(value)

    return scalar_text(value)


def _content_end(text: str, node: Node, key: Node | None) -> int:
    """Return the offset after a value's last character, before comments and blank lines."""
    while isinstance(node, (MappingNode, SequenceNode)) and not node.flow_style and node.value:
        if isinstance(node, MappingNode):
            key, node = node.value[-1]
        else:
            key = None
            node = node.value[-1]

    if isinstance(node, ScalarNode) and node.style in ("|", ">"):
        block = text[node.start_mark.index : node.end_mark.index]
        return int(node.start_mark.index) + len(block.rstrip("\r\n"))
    if not _has_text(node) and key is not None:
        return text.index(":", key.end_mark.index) + 1

    return int(node.end_mark.index)


def _line_start(text: str, offset: int) -> int:
    return text.rfind("\n", 0, offset) + 1


def _after_line(text: str, offset: int) -> int:
    end = text.find("\n", offset)
    if end < 0:
        return len(text)

    return end + 1
