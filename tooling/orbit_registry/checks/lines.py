"""A finding as lines of text, for who runs no check."""

from collections.abc import Iterator

from orbit_registry.model.diagnostic import Diagnostic


def diagnostic_lines(diagnostic: Diagnostic) -> Iterator[str]:
    """Yield the lines that report a finding as text."""
    where = printable(str(diagnostic.location))
    yield f"{where}: {diagnostic.severity} {diagnostic.rule} {printable(diagnostic.message)}"
    if diagnostic.hint:
        hint = printable(diagnostic.hint)
        if diagnostic.fixable and "--fix" not in diagnostic.hint:
            hint += " (--fix does it)"
        yield f"    {hint}"


def printable(text: str) -> str:
    """Return a text in one line that no terminal acts on:
    control and direction characters are shown as escapes.
    """
    if text.isprintable():  # nearly all are, and ten thousand findings have millions of characters
        return text
    return "".join(
        character if character.isprintable() else f"\\u{ord(character):04x}" for character in text
    )
