"""Plain words that are looked for before a pattern: most texts have none of them."""

from collections.abc import Iterable


def needles_of(words: Iterable[str]) -> tuple[str, ...]:
    """Return the words of which a text has one if it has any: those without another one in them."""
    unique = set(words)
    shortest: list[str] = []
    for word in sorted(unique):
        others = unique - {word}
        if not any(other in word for other in others):
            shortest.append(word)

    return tuple(shortest)


def needles_in(text: str, needles: Iterable[str]) -> list[str]:
    """Return the needles in a text in lower case; one in ASCII has none with other letters."""
    possible = filter(str.isascii, needles) if text.isascii() else needles
    return [needle for needle in possible if needle in text]
