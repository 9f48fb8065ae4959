"""Says which records help with an error: those whose pattern its text holds; loaded only where a tool has failed.

A pattern is a plain text, in which `*` stands for anything. It is looked for anywhere, small and capital letters and
the kind of space are alike. That takes one pass over the text, whatever the pattern: no pattern can hold a hook up.
"""

from orbit_registry.hook.index import DAMAGE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from orbit_registry.hook.index import Index

MIN_CHARACTERS = 4
"""Characters beside stars and spaces; a shorter pattern would be found nearly everywhere, and is none."""
LONGEST_ERROR = 16_000
"""Of a longer text its first and last halves of so many characters are looked at."""
AXIS = "e"


def normalized(text: str) -> str:
    """Return a text as it is compared."""
    return " ".join(text.casefold().split())


def compiled_pattern(pattern: str) -> str:
    """Return a pattern as the index holds it; empty for one that says too little."""
    text = normalized(pattern).strip("* ")
    return text if sum(character not in "* " for character in text) >= MIN_CHARACTERS else ""


def contains_pattern(pattern: str, text: str) -> bool:
    """Say whether a text holds a pattern, both as they are compared: each piece is taken where it comes first.

    A star that stands for nothing takes the spaces beside it along: `a * b` is found in `a b`.
    """
    at = 0
    for piece in map(str.strip, pattern.split("*")):
        at = text.find(piece, at)
        if at < 0:
            return False
        at += len(piece)
    return True


def error_matches(index: "Index", error: str) -> "Iterator[tuple[int, str]]":
    """Yield the number of each pushed record that helps with an error, and its pattern."""
    if len(error) > LONGEST_ERROR:
        error = f"{error[: LONGEST_ERROR // 2]} {error[-LONGEST_ERROR // 2 :]}"
    text = normalized(error)
    try:
        for number in index.lookup(AXIS)[1]:
            pattern = index.pattern_text(number)
            if contains_pattern(pattern, text):
                start, end = index.range_of(number)
                yield from ((hit >> 32, pattern) for hit in index.hits[start:end] if hit < index.pushed << 32)
    except DAMAGE:
        index.damaged = True
