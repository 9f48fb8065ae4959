"""Kind `same`: several files state one value, such as a version."""

import re
from collections.abc import Iterator, Mapping, Sequence

from orbit_enforce.kind import FILE_LIMIT, CheckKind, Fields, InvalidCheckError, Survey, Tree
from orbit_registry.formats.code_tree import NotRunError


def _make(fields: Fields, must: str) -> Survey:
    shapes: Mapping[str, str] = fields["of"]
    if len(shapes) < 2:
        raise InvalidCheckError("`same` names two files or more")

    def find(tree: Tree, files: Sequence[str]) -> Iterator[tuple[str, str]]:
        paths = frozenset(tree.paths)
        first: tuple[str, str] | None = None
        for path, shape in shapes.items() if files else ():
            text = tree.text(path) if path in paths else ""
            if text is None:
                raise NotRunError(f"{path} can't be read, or is larger than {FILE_LIMIT:,} bytes")

            value = _value(text, shape)
            first = first or (None if value is None else (path, value))
            if value is None:
                yield path if path in paths else "", f"`{path}` without `{shape}`"
            elif first and value != first[1]:
                yield path, f"`{value}` in `{path}`, where `{first[0]}` has `{first[1]}`,"

    return Survey(find, lambda path, text: Tree([*shapes], lambda _: path))


def _value(text: str, shape: str) -> str | None:
    """Return what is in the place of `{}` in the first line that a shape fits."""
    before, _, after = shape.partition("{}")
    border = r"(?<![\w-])" if re.match(r"[\w-]", before) else ""
    for match in re.finditer(
        rf"{border}{re.escape(before)}([^\n]*)", text
    ):  # each line once: linear
        if after in match[1]:
            return (match[1].partition(after)[0] if after else match[1]).strip()

    return None


KIND = CheckKind(
    name="same",
    properties={
        "of": {
            "type": "object",
            "maxProperties": 20,
            "additionalProperties": {"type": "string", "maxLength": 200, "pattern": r"\S\s*\{\}"},
        },
    },
    required=("of",),
    make=_make,
    demands=(),
    everywhere=lambda fields: True,
    needs_tree=True,
    hint="state the same value in each file",
    has_exceptions=False,
)
