"""Matcher of one canonical glob (no braces) for the hook, which has no `re`.

It agrees with `formats.globs`.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeVar

    Part = TypeVar("Part", "Chunk", "tuple[Segment, ...]")
    Whole = TypeVar("Whole", str, list[str])

MAX_PATH = 4096

# One character of a name: itself, None for any, or a class (negated, ranges).
Unit = str | tuple[bool, tuple[tuple[str, str], ...]] | None
Chunk = str | tuple[Unit, ...]
Segment = tuple[Chunk, ...]
Program = tuple[tuple[Segment, ...], ...]


def program(text: str) -> Program:
    """Return the groups of segments between the `**` of a canonical glob.

    A segment is the chunks between its `*`.
    """
    groups: list[list[Segment]] = [[]]
    names = text.split("/")
    for name in names:
        if name == "**":
            groups.append([])
        else:
            groups[-1].append(_segment(name))

    if names[-1] == "**":  # at the end it takes one segment at least
        groups[-1].append(("", ""))

    return tuple(map(tuple, groups))


def _segment(name: str) -> Segment:
    chunks: list[list[Unit]] = [[]]
    at = 0
    while at < len(name):
        character = name[at]
        at += 1
        if character == "*":
            chunks.append([])
        elif character == "?":
            chunks[-1].append(None)
        elif character == "[":
            negated = name[at] == "!"
            first = at + negated
            end = name.index("]", first + 1)
            chunks[-1].append(_class(name[first:end], negated))
            at = end + 1
        elif character == "{":  # only ever `{!}`, a literal exclamation mark at the start
            chunks[-1].append(name[at])
            at += 2
        else:
            chunks[-1].append(character)

    return tuple(_chunk(chunk) for chunk in chunks)


def _class(members: str, negated: bool) -> Unit:
    if len(members) == 1 and not negated:
        return members

    ranges = []
    at = 0
    while at < len(members):
        is_range = members[at + 1 : at + 2] == "-" and at + 2 < len(members)
        width = 2 if is_range else 0
        ranges.append((members[at], members[at + width]))
        at += width + 1

    return negated, tuple(ranges)


def _chunk(units: list[Unit]) -> Chunk:
    literal = [unit for unit in units if isinstance(unit, str)]
    if len(literal) == len(units):
        return "".join(literal)

    return tuple(units)


def fits(compiled: Program, path: str) -> bool:
    """Say whether a path matches.

    Each inner part is tried at its leftmost place, which fits if any placement does.
    """
    return len(path) <= MAX_PATH and _fit(compiled, path.split("/"), _names_at)


def _fit(parts: "Sequence[Part]", text: "Whole", at: "Callable[[Part, Whole, int], bool]") -> bool:
    """Say whether `text` is the parts in order with anything in between; `at` tries one part."""
    first, last = parts[0], parts[-1]
    if len(parts) == 1:
        return len(first) == len(text) and at(first, text, 0)

    start, end = len(first), len(text) - len(last)
    if start > end or not at(last, text, end) or not at(first, text, 0):
        return False

    for part in parts[1:-1]:
        while start + len(part) <= end and not at(part, text, start):
            start += 1

        start += len(part)
        if start > end:
            return False

    return True


def _names_at(group: tuple[Segment, ...], names: list[str], start: int) -> bool:
    for segment in group:
        if not _fit(segment, names[start], _characters_at):
            return False
        start += 1

    return True


def _characters_at(chunk: Chunk, name: str, start: int) -> bool:
    if isinstance(chunk, str):
        return name.startswith(chunk, start)

    for position, unit in enumerate(chunk, start):
        character = name[position]
        if isinstance(unit, str):
            if unit != character:
                return False
        elif unit is not None:
            negated, ranges = unit
            if any(low <= character <= high for low, high in ranges) == negated:
                return False

    return True
