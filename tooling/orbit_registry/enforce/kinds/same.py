"""Kind `same`: several files state one value, such as a version."""

import re
from collections.abc import Iterator, Mapping, Sequence

from orbit_registry.enforce.kind import FILE_LIMIT, CheckKind, Fields, InvalidCheckError, NotRunError, Survey, Tree

_VALUE = "{}"
_MOST_TRIED = 1_000  # places in a text that begin as the shape does
_IN_WORD = re.compile(r"[\w-]")


def _make(fields: Fields, must: str) -> Survey:
    if must == "have":
        raise InvalidCheckError("`same` says itself what must be: leave out `must`")
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

    return Survey(
        find,
        lambda path, text: Tree([*shapes], lambda _: path),
        "state the same value in each file",
        has_exceptions=False,
    )


def _value(text: str, shape: str) -> str | None:
    """Return what is in the place of `{}` in the first line that a shape fits."""
    before, _, after = shape.partition(_VALUE)
    start = text.find(before)
    for _ in range(_MOST_TRIED):
        if start < 0:
            break
        is_inside = start > 0 and _IN_WORD.match(before) and _IN_WORD.match(text[start - 1])
        start += len(before)
        if not is_inside:
            end = text.find("\n", start)
            line_end = len(text) if end < 0 else end
            stop = text.find(after, start, line_end) if after else line_end
            if stop >= 0:
                return text[start:stop].strip()
            start = max(start, line_end - len(before))  # the rest of the line lacks `after` too
        start = text.find(before, start)
    return None


KIND = CheckKind(
    name="same",
    properties={
        "of": {
            "type": "object", "maxProperties": 20,
            "additionalProperties": {"type": "string", "maxLength": 200, "pattern": r"\S\s*\{\}"},
        },
    },
    required=("of",),
    make=_make,
    everywhere=lambda fields: True,
    needs_tree=True,
)  # fmt: skip
